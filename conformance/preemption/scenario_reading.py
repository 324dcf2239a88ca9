"""Scenario rows: what `expected` or `steps` say, read as a test: pods that come one after the other, and claims on what becomes of them.

Such a row has no fixed fields: what a field claims is told by the words of its name (`preemptor_nominated`, `never_bound`,
`pending_scheduled: false`), and whom it is about by its value, or by those words again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from ..cases.cases import REMARKS, Case, NotTranslated
from ..cases.shapes import POD

MOST_PODS = 1000


class Fate(Enum):
    """What a claim says of a pod."""

    BOUND = "is bound"
    NEVER_BOUND = "is never bound"
    NOMINATED = "is nominated"
    CLEARED = "is not nominated any more"
    EVICTED = "is evicted"
    SPARED = "is never evicted"


_OPPOSITE = {
    Fate.BOUND: Fate.NEVER_BOUND, Fate.NOMINATED: Fate.CLEARED, Fate.EVICTED: Fate.SPARED,
}  # fmt: skip
OPPOSITE = {**_OPPOSITE, **{b: a for a, b in _OPPOSITE.items()}}
SAFETY = (Fate.NEVER_BOUND, Fate.SPARED)


@dataclass(frozen=True, slots=True)
class Claim:
    """What becomes of a pod, on a node if one is named, once the first `after` batches of pods were made."""

    pod: str
    fate: Fate
    node: str | None = None
    after: int = 0

    def __str__(self) -> str:
        return f"{self.pod} {self.fate.value}" + (f" ({self.node})" if self.node else "")


@dataclass
class Plot:
    """A scenario row as a test. `groups` are the pods by the field that names them; `batches` come one after the other, each when
    what was claimed before it is so.
    """

    pods: dict[str, Case] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)
    batches: list[list[str]] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    nodes: tuple[str, ...] = ()
    preemptor: str | None = None

    def add(self, group: str, facts: Case) -> str:
        """Another pod; of one name there is one."""
        name = facts.get("name")
        if not isinstance(name, str) or not name:
            raise NotTranslated(f"a pod of {group} has no name")
        if name in self.pods and self.pods[name] != facts:
            raise NotTranslated(f"two pods are called {name}")
        self.pods[name] = facts
        members = self.groups.setdefault(group, [])
        if name not in members:
            members.append(name)
        return name

    @property
    def made(self) -> set[str]:
        """The pods that come later."""
        return {name for batch in self.batches for name in batch}


# --- words -------------------------------------------------------------------------------------------------

_NO = {"never", "not", "no", "nobody", "none", "without"}
_BOUND = {"bound", "bind", "binds", "scheduled", "schedule", "schedules", "placed", "assigned"}
_UNBOUND = {"unbound", "unscheduled", "unschedulable", "pending", "waiting", "waits", "wait"}
_NOMINATED = {"nominated", "nominate", "nomination", "nominations", "nominatednodename"}
_CLEARED = {"cleared", "clear", "removed", "withdrawn", "dropped", "unset", "lost", "empty"}
_EVICTED = {"evicted", "evict", "evictions", "preempted", "victims", "victim", "deleted", "terminating"}
_SPARED = {"spared", "kept", "survive", "survives", "surviving"}
_CREATE = {"create", "creates", "created", "add", "adds", "submit", "run"}
_OTHERS = {"others", "other", "rest", "lower"}


def words(text: str) -> list[str]:
    """The words of a name or a phrase, in lower case."""
    return re.findall(r"[a-z0-9]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower())


def fate_of(said: Sequence[str]) -> Fate | None:
    """What these words claim; None if they claim nothing."""
    has, no = set(said), bool(set(said) & _NO)
    if has & _NOMINATED:
        return Fate.CLEARED if no or has & _CLEARED else Fate.NOMINATED
    if has & _SPARED:
        return Fate.SPARED
    if has & _BOUND:
        return Fate.NEVER_BOUND if no else Fate.BOUND
    if has & _EVICTED:
        return Fate.SPARED if no else Fate.EVICTED
    return Fate.NEVER_BOUND if has & _UNBOUND else None


# --- pods --------------------------------------------------------------------------------------------------


def _is_pod(value: Any) -> bool:
    return isinstance(value, Mapping) and ("requests" in value or ("name" in value and "priority" in value))


def pods_in(at: str, value: Any) -> list[Case] | None:
    """The pods of a field: one, a list, an object by key, or some with a `count`; None if it is about something else."""
    if _is_pod(value):
        POD(at, value)
        number = value.get("count")
        if number is None:
            return [value]
        if not isinstance(number, int) or not 0 < number <= MOST_PODS:
            raise NotTranslated(f"{at}.count is {number!r}, not a number of pods up to {MOST_PODS}")
        stem = value.get("name") or at
        plain = {name: said for name, said in value.items() if name != "count"}
        return [{**plain, "name": f"{stem}-{i}", "uid": f"{stem}-{i}"} for i in range(number)]
    if isinstance(value, Mapping) and "count" in value:
        inner = next((value[name] for name in ("pod", "template") if _is_pod(value.get(name))), None)
        return None if inner is None else pods_in(at, {**inner, "count": value["count"]})
    entries = list(value.values()) if isinstance(value, Mapping) else value
    if not isinstance(entries, list) or not entries or not all(map(_is_pod, entries)):
        return None
    return [pod for index, entry in enumerate(entries) for pod in pods_in(f"{at}[{index}]", entry) or ()]


def read_plot(case: Case) -> Plot:
    """The test that a scenario row describes. Raises NotTranslated for what it says in other words."""
    plot = Plot(nodes=tuple(node["name"] for node in case.get("nodes") or ()))
    for name, value in case.items():
        if name in ("steps", "expected", "nodes", "cycles"):
            continue
        for facts in pods_in(name, value) or ():
            made = plot.add(name, facts)
            if name == "preemptor":
                plot.preemptor = made
    expected, steps = case.get("expected"), case.get("steps")
    if steps is not None:
        if not isinstance(steps, list):
            raise NotTranslated("steps is no list")
        for number, step in enumerate(steps, 1):
            _step(plot, f"step {number}", step)
    if expected is not None:
        _claims(plot, "expected", "", expected, ())
    if not plot.claims:
        raise NotTranslated("a scenario that expects nothing of any pod")
    return plot


# --- steps -------------------------------------------------------------------------------------------------

_VERBS = ("op", "action", "do", "kind", "type")


def _step(plot: Plot, where: str, said: Any) -> None:
    if isinstance(said, str):
        _sentence(plot, where, said)
        return
    if not isinstance(said, Mapping):
        raise NotTranslated(f"{where} is neither a sentence nor an object")
    verb = next((said[name] for name in _VERBS if isinstance(said.get(name), str)), "")
    rest = {name: value for name, value in said.items() if name not in (*_VERBS, *REMARKS, "step")}
    creates = bool(set(words(verb)) & _CREATE)
    batch: list[str] = []
    for name, value in list(rest.items()):
        if (creates and name in ("pod", "pods")) or set(words(name)) & _CREATE:
            batch += _named_or_new(plot, f"{where}.{name}", name, value)
            del rest[name]
    if creates and not batch:
        raise NotTranslated(f"{where} creates no pod")
    if batch:
        plot.batches.append(batch)
    if batch and not rest:
        return
    if verb and not creates:
        subjects = [p for name in ("pod", "pods") for p in _names(plot, where, rest.pop(name, None))]
        node = rest.pop("node", None)
        claimed = fate_of(words(verb))
        if claimed is not None:
            for pod in subjects or batch:
                _claim(plot, where, pod, claimed, node)
            if rest:
                _claims(plot, where, "", rest, subjects)
            return
        if not set(words(verb)) & {"expect", "wait", "check", "assert", "verify"}:
            raise NotTranslated(f"{where}: there is no operation {verb}")
        _claims(plot, where, "", {**rest, **({"node": node} if node else {})}, subjects)
        return
    subject = rest.pop("pod", rest.pop("pods", None))
    subjects = _names(plot, where, subject) or batch or [p for p in (plot.preemptor,) if p]
    _claims(plot, where, "", rest, subjects)


def _named_or_new(plot: Plot, where: str, group: str, value: Any) -> list[str]:
    new = pods_in(where, value)
    if new is not None:
        return [plot.add(group, facts) for facts in new]
    return _names(plot, where, value)


def _sentence(plot: Plot, where: str, said: str) -> None:
    """A step in words: it names pods, and creates them or claims something of them."""
    named = [p for p in plot.pods if re.search(rf"(?<![\w-]){re.escape(p)}(?![\w-])", said)]
    left = said
    for name in named:
        left = left.replace(name, " ")
    named = named or _spoken_of(plot, words(left))
    claimed, spoken = fate_of(words(left)), set(words(left))
    node = next((n for n in plot.nodes if re.search(rf"(?<![\w-]){re.escape(n)}(?![\w-])", said)), None)
    if not named or not (claimed or spoken & _CREATE):
        raise NotTranslated(f"{where}: nobody can play the sentence `{said}`")
    if spoken & _CREATE:
        plot.batches.append(named)
    if claimed is not None:
        for pod in named:
            _claim(plot, where, pod, claimed, node)


# --- claims ------------------------------------------------------------------------------------------------


def _claims(plot: Plot, where: str, name: str, said: Any, subjects: Sequence[str]) -> None:
    """What a field claims, of the pods that it names, or of these."""
    if isinstance(said, Mapping):
        for key, value in said.items():
            if key in REMARKS or key.startswith("note"):
                continue
            if key in plot.pods or (fate_of(words(key)) is None and _spoken_of(plot, words(key))):
                own = [key] if key in plot.pods else _spoken_of(plot, words(key))
                _claims(plot, f"{where}.{key}", name, value, own)
            else:
                _claims(plot, f"{where}.{key}", f"{name} {key}", value, subjects)
        return
    if name.split()[-1:] == ["node"] and fate_of(words(name)) is None:
        raise NotTranslated(f"{where}: what is expected of the node is not said")
    fate = fate_of(words(name))
    if fate is None:
        _by_value(plot, where, said, subjects)
        return
    about = subjects or _spoken_of(plot, words(name))
    for pod, node, so in _told(plot, where, said, about):
        _claim(plot, where, pod, fate if so else OPPOSITE[fate], node)


def _by_value(plot: Plot, where: str, said: Any, subjects: Sequence[str]) -> None:
    """The value says in words what is claimed: `bound`, or a list of sentences."""
    if isinstance(said, str) and subjects and (fate := fate_of(words(said))) is not None:
        for pod in subjects:
            _claim(plot, where, pod, fate, None)
    elif isinstance(said, str):
        _sentence(plot, where, said)
    elif isinstance(said, list) and said:
        for index, entry in enumerate(said):
            if isinstance(entry, Mapping):
                entry = dict(entry)
                own = _names(plot, where, entry.pop("pod", None) or entry.pop("pods", None))
                _claims(plot, f"{where}[{index}]", "", entry, own or subjects)
            else:
                _by_value(plot, f"{where}[{index}]", entry, subjects)
    else:
        raise NotTranslated(f"{where}: nobody compares it")


def _told(plot: Plot, where: str, said: Any, about: Sequence[str]) -> Iterator[tuple[str, str | None, bool]]:
    """Each pod that a value names, its node if it says one, and whether the claim is so."""
    if said is None or isinstance(said, bool) or said == 0 or said in plot.nodes:
        if not about:
            raise NotTranslated(f"{where} does not say of which pod")
        for pod in about:
            yield pod, said if isinstance(said, str) else None, bool(said)
    elif isinstance(said, str):
        for pod in _names(plot, where, said):
            yield pod, None, True
    elif isinstance(said, list) and all(isinstance(entry, str) for entry in said):
        if not said and not about:
            raise NotTranslated(f"{where} does not say of which pod")
        for pod in about if not said else ():
            yield pod, None, False
        for entry in said:
            for pod in _names(plot, where, entry):
                yield pod, None, True
    else:
        raise NotTranslated(f"{where} names no pods")


def _names(plot: Plot, where: str, said: Any) -> list[str]:
    """The pods that a name, or each of a list, stands for: a pod, a key, or a group."""
    if said is None:
        return []
    if isinstance(said, list):
        return [pod for entry in said for pod in _names(plot, where, entry)]
    if not isinstance(said, str):
        raise NotTranslated(f"{where}: {said!r} is no name of a pod")
    if said in plot.pods:
        return [said]
    found = plot.groups.get(said) or _spoken_of(plot, words(said))
    if not found:
        raise NotTranslated(f"{where}: there is no pod {said}")
    return list(found)


def _spoken_of(plot: Plot, said: Sequence[str]) -> list[str]:
    """The pods of the group whose name shares a word with these; `others` are all that wait but the preemptor."""
    spoken = (
        set(said)
        - _NO
        - _BOUND
        - {"pods", "pod", "all", "node", "be", "is", "are", "must", "the", "to", "on", "expect"}
    )
    for group, members in plot.groups.items():
        if (set(words(group)) - {"pods", "pod"}) & spoken:
            return list(members)
    if spoken & _OTHERS or spoken & _UNBOUND:
        waiting = [p for p, facts in plot.pods.items() if not facts.get("nodeName")]
        return [p for p in waiting if p != plot.preemptor]
    if spoken & {"running", "existing", "initial"}:
        return [p for p, facts in plot.pods.items() if facts.get("nodeName")]
    return []


def _claim(plot: Plot, where: str, pod: str, fate: Fate, node: Any) -> None:
    if node is not None and node not in plot.nodes:
        raise NotTranslated(f"{where}: there is no node {node}")
    if pod not in plot.pods:
        raise NotTranslated(f"{where}: there is no pod {pod}")
    plot.claims.append(Claim(pod, fate, node, len(plot.batches)))
