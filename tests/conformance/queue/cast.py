"""The pods, nodes and plugins of a queue case, as entities of a model that counts time and cycles.

Also what the words of such a case mean: events, actions, admission checks and spans of time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from podrace.model.cluster import build_cluster
from podrace.model.environment.cluster.scope import Facts as ScopeFacts
from podrace.model.environment.objects import ClusterSpec, Node, Pod, PodObject, Scope
from podrace.model.history import resolve
from podrace.model.language import Component, Concrete
from podrace.model.scheduler.framework.events import EVENTS, Action, ClusterEvent, Plugin
from tests.conformance.cases.case_cluster import spread, terms
from tests.conformance.cases.cases import Case, NotTranslated
from tests.conformance.cases.shapes import refuse_parts
from tests.conformance.queue.identities import changing_priorities, shared_nominations
from tests.conformance.queue.numbered import SECOND, Timing, counted
from tests.conformance.queue.registered_events import registrations_decide


def nanoseconds(seconds: float | None) -> int:
    """A time of a case; an unset one is the start."""
    return round((seconds or 0) * SECOND)


# --- events ------------------------------------------------------------------------------------------


def event_of(said: str | Mapping[str, Any]) -> ClusterEvent:
    """An event by its label, or spelled out. An unknown label is an event that no plugin registers."""
    if isinstance(said, str):
        return EVENTS.get(said, ClusterEvent(said, said, Action.NONE))
    name = said.get("name") or said.get("label") or ""
    if "resource" not in said:
        return event_of(name)
    action, resource = _action(said.get("action"), EVENTS.get(name)), said["resource"] or ""
    if resource == _UNSCHEDULED and action & _POD_UPDATES:
        action |= Action.UPDATE_POD_OTHER
    return ClusterEvent(name, _PODS.get(resource, resource), action)


_UNSCHEDULED = "UnschedulablePod"
_PODS = {"AssignedPod": "Pod", _UNSCHEDULED: "Pod"}
"""Kinds of pods that upstream's events tell apart; the model does so by the action."""
_POD_UPDATES = (
    Action.UPDATE | Action.UPDATE_POD_LABEL | Action.UPDATE_POD_SCALE_DOWN | Action.UPDATE_POD_TOLERATION
)


def registrations(said: Any) -> list[tuple[ClusterEvent, Sequence[str]]]:
    """Events with the plugins that registered them."""
    if isinstance(said, Mapping):
        return [(event_of(event), plugins) for event, plugins in said.items()]
    return [(event_of(entry["event"]), entry["plugins"]) for entry in said or ()]


def _action(said: str | Sequence[str] | None, known: ClusterEvent | None) -> Action:
    """An action such as `add`, `update node taint` or `add|delete`; else the one of a known event."""
    parts = re.split(r"[|,]", said) if isinstance(said, str) else said or ()
    result = Action.NONE
    for part in parts:
        plain = "".join(c for c in part if c.isalpha()).upper()
        if plain in ("", "NONE"):
            continue
        if plain in _ACTIONS:
            result |= _ACTIONS[plain]
        elif known is not None:
            return known.action
        else:
            raise NotTranslated(f"action {part}")
    return result


def _actions() -> dict[str, Action]:
    """Actions by their names, also without `update`, `update node` or with `change` in its place."""
    names = {}
    for name, action in Action.__members__.items():
        short = name.removeprefix("UPDATE_NODE_")
        names[name.replace("_", "")] = action
        if short != name:
            names |= dict.fromkeys((short, f"NODE{short}", f"UPDATE{short}", f"{short}CHANGE"), action)
    return names


_ACTIONS = _actions()


# --- admission checks --------------------------------------------------------------------------------


def admits(precheck: Any, priority: int) -> bool:
    """Whether a check of a case admits a pod of this priority: every condition that it names must hold."""
    if not isinstance(precheck, Mapping):
        raise NotTranslated(f"precheck {precheck}")
    return all(_holds(name, bound, priority) for name, bound in precheck.items() if name != "note")


def _holds(name: str, bound: Any, priority: int) -> bool:
    divisor, rest = bound if isinstance(bound, Sequence) and len(bound) == 2 else (bound, 0)
    conditions = {
        ("min", "at_least"): lambda: priority >= bound,
        ("max", "at_most"): lambda: priority <= bound,
        ("above", "min_exclusive", "greater_than", "gt"): lambda: priority > bound,
        ("below", "max_exclusive", "less_than", "lt"): lambda: priority < bound,
        ("even", "even_only"): lambda: (priority % 2 == 0) is bool(bound),
        ("odd", "odd_only"): lambda: (priority % 2 == 1) is bool(bound),
        ("parity",): lambda: priority % 2 == ("even", "odd").index(bound),
        ("multiple_of", "divisible_by", "mod", "modulo"): lambda: priority % divisor == rest,
        ("negative", "negative_only"): lambda: (priority < 0) is bool(bound),
        ("never",): lambda: not bound,
    }
    plain = re.sub(r"_?priority_?", "_", name).strip("_")
    for names, condition in conditions.items():
        if plain in names:
            return bool(condition())
    divided = re.fullmatch(r"mod_([1-9]\d*)", plain)
    if divided and isinstance(bound, int) and not isinstance(bound, bool):
        return bool(priority % int(divided[1]) == bound)
    known = ", ".join(names[0] for names in conditions)
    raise NotTranslated(f"precheck {name} is none of {known}, mod_2")


# --- time --------------------------------------------------------------------------------------------


def time_span(said: float | str, timing: Timing) -> int:
    """A span in nanoseconds: seconds, or one of the queue's own times, as in `max_in_unschedulable+1ns`."""
    if not isinstance(said, str):
        return nanoseconds(said)
    own = {
        "max_in_unschedulable": timing.max_parked,
        "initial_backoff": timing.initial_backoff,
        "max_backoff": timing.max_backoff,
    }
    name, _, more = said.replace(" ", "").partition("+")
    amount = re.fullmatch(r"(\d+)(ns|ms|s|)", more or "0")
    if name not in own or amount is None:
        raise NotTranslated(f"time span {said}")
    return own[name] + int(amount[1]) * {"ns": 1, "ms": 10**6}.get(amount[2], SECOND)


Facts = Mapping[str, Any]
Identity = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Version:
    """One object of a case: the pod that it is a version of, and what the model keeps of it."""

    pod: Pod
    nominated: Node | None = None
    bound_to: Node | None = None
    failed: bool = False
    terminating: bool = False
    version: int = 0
    content: Pod | None = None

    def seen(self) -> Pod:
        """The pod with the labels of this version, as those who look for other pods see it."""
        return self.content or self.pod

    def object(self) -> PodObject:
        """As delivered to the queue."""
        return PodObject(
            exists=True,
            nominated=self.nominated,
            failed=self.failed,
            terminating=self.terminating,
            version=self.version,
        )

    def is_copied_in(self, copy: Mapping[str, Any]) -> bool:
        """Whether a queue's copy is one of this object. Conditions do not tell objects apart: upstream's tests
        set them on the very object that the queue holds.
        """
        mine = {"nominated": self.nominated, "version": self.version}
        return all(copy[name] == value for name, value in mine.items())


_STATUS = ("nominatedNodeName", "conditions", "startTime", "generation", "resourceVersion", "managedFields",
           "finalizers", "terminating")  # fmt: skip


def _specification(facts: Facts) -> str:
    """What isPodUpdated compares (deletion, which it compares too, is a field of its own in the model)."""
    kept = {k: v for k, v in facts.items() if k not in _STATUS and v not in (None, "", 0, [], {})}
    return json.dumps(kept, sort_keys=True)


def _identity(facts: Facts) -> Identity:
    return facts.get("namespace") or "", facts["name"]


def _failed(facts: Facts) -> bool:
    return any(
        c.get("type") == "PodScheduled" and c.get("status") == "False" and c.get("reason") == "Unschedulable"
        for c in facts.get("conditions") or ()
    )


def group_key(index: int) -> str:
    """The key of a numbered pod; equal numbers of two groups are the same pod."""
    return f"#{index}"


@dataclass
class QueueCast:
    """Who takes part in a case."""

    versions: dict[str, Version] = field(default_factory=dict)
    pods: list[Pod] = field(default_factory=list)
    nodes: dict[str, Node] = field(default_factory=dict)
    plugins: dict[str, Plugin] = field(default_factory=dict)
    priorities: dict[Pod, list[int]] = field(default_factory=dict)
    model: Concrete = field(init=False)

    def node(self, name: str | None) -> Node | None:
        """A node by name; none for no name."""
        if not name:
            return None
        return self.nodes.setdefault(name, Node(len(self.nodes), name, 0))


def pod_facts(case: Case) -> dict[str, Facts]:
    """Every pod object of a case by key, those of numbered groups included."""
    facts: dict[str, Facts] = dict(case.get("pods") or {})
    for op in case.get("ops") or ():
        if "group" in op:
            for i in range(op.get("first", 0), op.get("first", 0) + op.get("count", 1)):
                facts[group_key(i)] = {"name": group_key(i)}
    return facts


def _node_names(case: Case) -> Iterator[str]:
    for op in case.get("ops") or ():
        yield op.get("node") or ""
        for name in ("nominated", "nominated_for"):
            yield from op.get(name) or ()


def _pod(index: int, name: str, facts: Facts, recreates: str | None = None) -> Pod:
    return Pod(
        index,
        name,
        0,
        facts.get("priority") or 0,
        namespace=facts.get("namespace") or "",
        labels=facts.get("labels") or {},
        terms=terms(facts),
        spread=spread(facts),
        exists=False,
        recreates=recreates,
    )


class _Pods:
    """The pods of a case as its objects come up: one for each name and UID, with the specifications and priorities that it has had.

    An object without UID is of the pod that has its name, as long as there is one only.
    """

    def __init__(self) -> None:
        self.by_name: dict[Identity, dict[str, Pod]] = {}
        self._without_uid: set[Identity] = set()
        self.uids: dict[Pod, str] = {}
        self.specifications: dict[Pod, list[str]] = {}
        self.priorities: dict[Pod, list[int]] = {}
        self._fixed: dict[Pod, tuple[Any, ...]] = {}

    def pod(self, facts: Facts) -> Pod:
        """The pod that an object is of. Raises NotTranslated if it looks like no version of that."""
        who, uid = _identity(facts), facts.get("uid") or ""
        known = self.by_name.setdefault(who, {})
        if not uid:
            self._without_uid.add(who)
        elif "" in known:  # whose UID was not said so far
            known[uid] = known.pop("")
            self.uids[known[uid]] = uid
        pod = known.get(uid) if uid else next(iter(known.values()), None)
        if len(known) + (pod is None) > 1 and who in self._without_uid:
            raise NotTranslated(f"objects of {who[1]} with two UIDs, and one without: it may be of either")
        if pod is None:
            pod = self._make(facts, list(known.values()))
            known[uid] = pod
        fixed = (terms(facts), spread(facts))
        if self._fixed.setdefault(pod, fixed) != fixed:
            raise NotTranslated(f"versions of {who[1]} that differ in affinity")
        return pod

    def _make(self, facts: Facts, before: list[Pod]) -> Pod:
        if len(before) > 1:
            raise NotTranslated(f"more than two UIDs of {facts['name']}")
        name = "/".join(filter(None, _identity(facts)))
        told_apart = f"{name} ({facts.get('uid')})" if before else name
        pod = _pod(len(self.uids), told_apart, facts, before[0].name if before else None)
        self.uids[pod] = facts.get("uid") or ""
        return pod

    def content(self, pod: Pod, facts: Facts) -> Pod | None:
        """The pod as an object with other labels has it; none if the labels are those that it began with."""
        return None if (facts.get("labels") or {}) == pod.labels else _pod(pod.index, pod.name, facts)

    def number(self, pod: Pod, facts: Facts) -> int:
        """Which of the pod's specifications an object has."""
        seen, said = self.specifications.setdefault(pod, []), _specification(facts)
        if said not in seen:
            seen.append(said)
            self.priorities.setdefault(pod, []).append(facts.get("priority") or 0)
        return seen.index(said)


def gather(case: Case, release: str) -> QueueCast:
    """The entities of a case, and a model of `release` made of them, its queue empty."""
    cast, known = QueueCast(), _Pods()
    for key, facts in pod_facts(case).items():
        refuse_parts(f"pods.{key}", facts)
        pod = known.pod(facts)
        cast.versions[key] = Version(
            pod,
            cast.node(facts.get("nominatedNodeName")),
            cast.node(facts.get("nodeName")),
            _failed(facts),
            bool(facts.get("terminating")),
            known.number(pod, facts),
            known.content(pod, facts),
        )
    cast.pods, cast.priorities = list(known.uids), known.priorities
    for name in _node_names(case):
        cast.node(name)
    _gather_plugins(case, cast)
    most = max((len(s) for s in known.specifications.values()), default=1)
    scope = Scope(facts=ScopeFacts(last_version=most - 1))
    spec = ClusterSpec(case["id"], tuple(cast.pods), tuple(cast.nodes.values()), scope)
    hints = (case.get("params") or {}).get("queueing_hints")
    of_release, sharing = resolve(release).classes, shared_nominations(known.uids)
    if hints and sharing:
        raise NotTranslated("two pods of one UID, which with queueing hints are in flight as one")
    own = (*sharing, *changing_priorities(known.priorities, of_release), registrations_decide(release))
    changes: list[type[Component]] = [*own, *of_release, *counted(_timing(case), hints)]
    cast.model = Concrete(build_cluster(spec, changes, tuple(cast.plugins.values())))
    return cast


def _gather_plugins(case: Case, cast: QueueCast) -> None:
    events: dict[str, list[ClusterEvent]] = {}
    for event, names in registrations(case.get("event_registrations") or case.get("registrations")):
        for name in names:
            events.setdefault(name, []).append(event)
    for rejected in (case, *(case.get("ops") or ())):
        for name in rejected.get("unschedulable_plugins") or ():
            events.setdefault(name, [])
    for name, asked in events.items():
        cast.plugins[name] = Plugin(len(cast.plugins), name, asked)


def _timing(case: Case) -> Timing:
    params, default = case.get("params") or {}, Timing()
    given = {
        "initial_backoff": params.get("initial_backoff_s"),
        "max_backoff": params.get("max_backoff_s"),
        "max_parked": params.get("max_in_unschedulable_s"),
    }
    return Timing(**{
        name: getattr(default, name) if seconds is None else nanoseconds(seconds)
        for name, seconds in given.items()
    })  # fmt: skip
