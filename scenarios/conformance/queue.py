"""Conformance of the scheduling queue: operations on it, and which events concern a waiting pod.

Each operation becomes calls of the model's own queue and nominator; expectations are compared with what the
model then holds. Where several pods may leave a sub-queue next, any of them is accepted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, cast

from ...model.environment.objects import Node, Pod, PodObject
from ...model.history import RELEASES
from ...model.language import NotEnabled
from ...model.scheduler.events import ASSIGNED_POD_ADD, ASSIGNED_POD_UPDATE
from ...model.scheduler.numbered import CountingClock, CountingQueue, OrderedNominator
from ...model.scheduler.queue import Place
from .cluster import NotCovered
from .outcome import Case, Outcome, applies
from .queue_cast import Cast, Version, event_of, gather, group_key, nanoseconds

_PLACES = {"active": Place.ACTIVE, "backoff": Place.BACKOFF, "unschedulable": Place.UNSCHEDULABLE}
_NAMES = {place: name for name, place in _PLACES.items()}


class Differs(Exception):
    """The model does not do what the case expects."""


def run(case: Case, release: str) -> Outcome:
    """Run a case of `queue.json` on a release."""
    if not applies(case, release):
        return Outcome("SKIP", f"does not apply to {release}")
    if release not in RELEASES:
        return Outcome("SKIP", f"release {release} is not modelled")
    try:
        if case["kind"] == "event_match":
            _match(case, release)
        elif case["kind"] == "ops":
            Play(case, gather(case, release)).run()
        else:
            raise NotCovered(f"kind {case['kind']}")
    except NotCovered as error:
        return Outcome("SKIP", f"not covered: {error}")
    except Differs as error:
        return Outcome("FAIL", str(error))
    return Outcome("PASS")


def _check(what: str, found: object, expected: object) -> None:
    if found != expected:
        raise Differs(f"{what}: {found}, expected {expected}")


def _match(case: Case, release: str) -> None:
    cast_ = gather({**case, "pods": {"p": {"name": "p"}}}, release)
    queue, pod = cast_.model.part("queue"), cast_.pods[0]
    rejecting = case.get("unschedulable_plugins") or ()
    cast_.model.do(lambda: queue.record_rejection(pod, {p: n in rejecting for n, p in cast_.plugins.items()}))
    event = event_of(case["event"])
    _check(event.label, cast_.model.get(lambda: queue.matches(pod, event)), case["expected_match"])


class Play:
    """A case being played."""

    def __init__(self, case: Case, cast_: Cast) -> None:
        self.case, self.cast, self.model = case, cast_, cast_.model
        self.queue = cast(CountingQueue, self.model.part("queue"))
        self.clock = cast(CountingClock, self.model.part("clock"))
        self.nominator = cast(OrderedNominator, self.model.part("nominator"))
        self.bound: dict[str, Version] = {}
        self.saved: dict[str, int] = {}
        self.incoming: Counter[tuple[str, str]] = Counter()

    def run(self) -> None:
        """Play all operations; raises Differs at the first difference."""
        self.model.do(self._prepare)
        for number, op in enumerate(self.case["ops"]):
            operation = getattr(self, f"op_{op['op']}", None)
            if operation is None:
                raise NotCovered(f"operation {op['op']}")
            before = self.places()
            try:
                cause = operation(op)
            except Differs as error:
                raise Differs(f"operation {number} ({op['op']}): {error}") from None
            if cause:
                for pod, place in self.places().items():
                    if place != before[pod] and place is not Place.NONE:
                        self.incoming[cause, _NAMES[place]] += 1
        if "expected_incoming" in self.case:
            expected = {(e["event"], e["queue"]): e["count"] for e in self.case["expected_incoming"]}
            _check("entries by cause", dict(self.incoming), {k: n for k, n in expected.items() if n})

    def _prepare(self) -> None:
        params, known = self.case.get("params") or {}, self.case.get("known_pods")
        self.queue.cycle = params.get("start_cycle", 0)
        self.queue.move_cycle = params.get("start_move_request_cycle", -1)
        lister = self.model.part("pod_watch").lister
        for key, version in self.cast.versions.items():
            if known is None:
                lister[version.pod] = PodObject(exists=True)
            elif key in known:
                lister[version.pod] = PodObject(exists=True, node=version.bound_to)

    # --- reading ---------------------------------------------------------------------------------------

    def places(self) -> dict[Pod, Place]:
        """Where every pod is."""
        found = self.model.get(lambda: {p: self.queue.place[p] for p in self.cast.pods})
        return cast(dict[Pod, Place], found)

    def version(self, key: str) -> Version:
        """The object behind a key of the case, or behind a `$name` that an earlier operation bound."""
        if key.startswith("$"):
            return self.bound[key[1:]]
        return self.cast.versions[key]

    def members(self, place: Place) -> list[Pod]:
        """The pods of a sub-queue."""
        return [pod for pod, at in self.places().items() if at is place]

    def holds(self, key: str, copy: Mapping[str, Any]) -> bool:
        """Whether a queue's copy is one of the object behind a key."""
        return key.startswith("$") or self.version(key).is_copied_in(copy)

    def _check_content(self, what: str, pods: Sequence[Pod], keys: Sequence[str]) -> None:
        _check(what, sorted(map(str, pods)), sorted(str(self.version(k).pod) for k in keys))
        copies = self.model.get(lambda: {key: self.queue.copy[self.version(key).pod] for key in keys})
        for key in keys:
            if not self.holds(key, copies[key]):
                raise Differs(f"{what} holds another version of {key}: {copies[key]}")

    # --- the queue's calls -----------------------------------------------------------------------------

    def op_add(self, op: Case) -> str:
        version = self.version(op["pod"])
        self.model.do(lambda: self.queue.add(version.pod, version.object()))
        return "PodAdd"

    def op_update(self, op: Case) -> None:
        new = self.version(op["new"])
        old = self.version(op["old"]).object() if op.get("old") else PodObject()
        self.model.do(lambda: self.queue.update(new.pod, old, new.object()))

    def op_delete(self, op: Case) -> None:
        self.model.do(lambda: self.queue.delete(self.version(op["pod"]).pod))

    def op_pop(self, op: Case) -> None:
        heads = self._heads()
        chosen = self._choose(heads, op)
        copy = self.model.do(lambda: self.queue.pop(chosen))
        if "expect" in op and not self.holds(op["expect"], copy):
            raise Differs(f"popped another version of {op['expect']}: {copy}")
        if "bind" in op:
            known = {name: copy[name] for name in ("nominated", "failed", "terminating", "version")}
            self.bound[op["bind"].lstrip("$")] = Version(chosen, **known)
        if op.get("expect_attempts") is not None:
            _check("attempts", self.model.get(lambda: self.clock.attempts[chosen]), op["expect_attempts"])
        if op.get("expect_initial_attempt") is not None:
            found = self.model.get(lambda: self.clock.first_seen[chosen])
            _check("initial attempt", found, nanoseconds(op["expect_initial_attempt"]))

    def _heads(self) -> list[Pod]:
        waiting = self.members(Place.ACTIVE)
        is_head = self.model.get(lambda: {p: self.queue.is_head(p) for p in waiting})
        return [p for p in waiting if is_head[p]]

    def _choose(self, heads: list[Pod], op: Case) -> Pod:
        if not heads:
            raise Differs("there is nothing to pop")
        if "expect" in op:
            expected = self.version(op["expect"]).pod
            if expected not in heads:
                raise Differs(f"next is {heads[0]}, expected {expected}")
            return expected
        refused = [self.version(k).pod for k in _keys(op.get("expect_not"))]
        allowed = [p for p in heads if p not in refused]
        if not allowed:
            raise Differs(f"next is {heads[0]}")
        return allowed[0]

    def op_add_unschedulable(self, op: Case) -> str:
        version, cycle = self.version(op["pod"]), op.get("cycle", "current")
        plugins = {
            p: name in (op.get("unschedulable_plugins") or ()) for name, p in self.cast.plugins.items()
        }

        def fail() -> Any:
            self.queue.record_rejection(version.pod, plugins)
            self.queue.begin_failure(version.pod)
            if isinstance(cycle, int):
                self.queue.attempt_cycle[version.pod] = cycle
            elif cycle.startswith("saved:"):
                self.queue.attempt_cycle[version.pod] = self.saved[cycle.removeprefix("saved:")]
            return self.queue.requeue(version.pod, version.object().copy())

        taken = self.model.do(fail)
        if op.get("expect_error") is not None:
            _check("an error", not taken, bool(op["expect_error"]))
        return "ScheduleAttemptFailure"

    def op_move_all(self, op: Case) -> str:
        event = event_of(op["event"])
        admitted = _admitted(op.get("precheck"), self.cast.pods)
        self.model.do(lambda: self.queue.move_all(event, admitted))
        return event.label

    def op_assigned_pod_added(self, op: Case) -> str:
        self.model.do(lambda: self.queue.move_matching(self.version(op["pod"]).pod, ASSIGNED_POD_ADD))
        return ASSIGNED_POD_ADD.label

    def op_assigned_pod_updated(self, op: Case) -> str:
        self.model.do(lambda: self.queue.move_matching(self.version(op["pod"]).pod, ASSIGNED_POD_UPDATE))
        return ASSIGNED_POD_UPDATE.label

    def op_activate(self, op: Case) -> str:
        def activate() -> None:
            for key in _keys(op.get("pods", op.get("pod"))):
                self.queue.activate(self.version(key).pod)

        self.model.do(activate)
        return "ForceActivate"

    def op_flush_backoff(self, _: Case) -> str:
        for pod in self.members(Place.BACKOFF):
            self._if_enabled(partial(self.queue.flush_backoff, pod))
        return "BackoffComplete"

    def op_flush_unschedulable(self, _: Case) -> str:
        for pod in self.members(Place.UNSCHEDULABLE):
            self._if_enabled(partial(self.queue.flush_unschedulable, pod))
        return "UnschedulableTimeout"

    def _if_enabled(self, call: Any) -> None:
        with suppress(NotEnabled):
            self.model.do(call)

    # --- the nominator's calls -------------------------------------------------------------------------

    def op_add_nominated(self, op: Case) -> None:
        version, node = self.version(op["pod"]), self.cast.node(op.get("node"))
        self.model.do(lambda: self.nominator.add(version.pod, node, version.nominated))

    def op_delete_nominated(self, op: Case) -> None:
        self.model.do(lambda: self.nominator.delete(self.version(op["pod"]).pod))

    # --- time and cycles -------------------------------------------------------------------------------

    def op_advance(self, op: Case) -> None:
        by, limit = op["seconds"], self.clock.timing.max_parked
        if isinstance(by, str):
            named = {
                "max_in_unschedulable": limit,
                "max_in_unschedulable+1": limit + nanoseconds(1),
                "max_in_unschedulable+1s": limit + nanoseconds(1),
                "max_in_unschedulable+1ns": limit + 1,
            }
            if by not in named:
                raise NotCovered(f"time span {by}")
            self.model.do(lambda: self.clock.advance(named[by]))
        else:
            self.model.do(lambda: self.clock.advance(nanoseconds(by)))

    def op_save_cycle(self, op: Case) -> None:
        self.saved[op["as"]] = self.model.get(lambda: self.queue.cycle)

    def op_increment_cycle(self, op: Case) -> None:
        for _ in range(op.get("by", 1)):
            self.model.do(self.queue.next_cycle)

    # --- test access -----------------------------------------------------------------------------------

    def _put(self, version: Version, op: Case) -> None:
        at = nanoseconds(op.get("timestamp"))
        plugins = op.get("unschedulable_plugins") or ()
        self.queue.record_rejection(version.pod, {p: n in plugins for n, p in self.cast.plugins.items()})
        self.queue.put(version.pod, _PLACES[op["queue"]], version.object().copy())
        self.clock.recorded[version.pod] = True
        self.clock.timestamp[version.pod] = at
        self.clock.first_seen[version.pod] = at
        self.clock.attempts[version.pod] = op.get("attempts") or 0

    def op_put_raw(self, op: Case) -> None:
        self.model.do(lambda: self._put(self.version(op["pod"]), op))

    def _group(self, op: Case) -> list[Version]:
        first = op.get("first", 0)
        return [self.version(group_key(i)) for i in range(first, first + op.get("count", 1))]

    def op_put_raw_group(self, op: Case) -> None:
        def put() -> None:
            for version in self._group(op):
                self._put(version, op)

        self.model.do(put)

    def _take_out(self, pods: Sequence[Pod]) -> None:
        def take() -> None:
            for pod in pods:
                self.queue.put(pod, Place.NONE, PodObject().copy())

        self.model.do(take)

    def op_remove_raw(self, op: Case) -> None:
        group = self._group(op) if "group" in op else []
        meant = {v.pod for v in [*map(self.version, _keys(op.get("pod", op.get("pods")))), *group]}
        places = [_PLACES[op["queue"]]] if "queue" in op else list(_PLACES.values())
        self._take_out([p for place in places for p in self.members(place) if p in meant])

    op_remove_raw_group = op_remove_raw

    def op_clear_raw(self, op: Case) -> None:
        places = [_PLACES[op["queue"]]] if "queue" in op else list(_PLACES.values())
        self._take_out([p for place in places for p in self.members(place)])

    def op_drain_backoff(self, op: Case) -> None:
        if op.get("expect") is not None:
            self._check_backoff_order(_keys(op["expect"]))
        self._take_out(self.members(Place.BACKOFF))

    def op_pop_backoff(self, op: Case) -> None:
        waiting = self.members(Place.BACKOFF)
        ends = self._backoff_ends()
        heads = [p for p in waiting if ends[p] == min(ends[q] for q in waiting)]
        chosen = self._choose(heads, op)
        if "bind" in op:
            self.bound[op["bind"].lstrip("$")] = Version(chosen)
        self._take_out([chosen])

    def _backoff_ends(self) -> dict[Pod, int]:
        found = self.model.get(lambda: {p: self.clock.backoff_end(p) for p in self.cast.pods})
        return cast(dict[Pod, int], found)

    def op_expect_backoff_remaining(self, op: Case) -> None:
        keys, waiting = _keys(op.get("pod")), self.members(Place.BACKOFF)
        pods = [self.version(k).pod for k in keys] or waiting
        units = {"seconds": 10**9, "s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
        numbers = [
            round(value * units.get(name.rsplit("_", 1)[-1], 10**9))
            for name, value in op.items()
            if name not in ("op", "pod") and isinstance(value, (int, float)) and not isinstance(value, bool)
        ]
        if len(numbers) != 1:
            raise NotCovered(f"expect_backoff_remaining {dict(op)}")
        now = self.model.get(lambda: self.clock.now)
        ends = self._backoff_ends()
        for pod in pods:
            _check(f"remaining backoff of {pod} in ns", max(0, ends[pod] - now), numbers[0])

    # --- expectations ----------------------------------------------------------------------------------

    def op_expect(self, op: Case) -> None:
        for what, expected in op.items():
            if what not in ("op", "note"):
                self._expect(what, expected)

    def _expect(self, what: str, expected: Any) -> None:
        place, _, aspect = what.partition("_")
        simple = getattr(self, f"_expect_{what}", None)
        if simple is not None:
            simple(expected)
        elif place in _PLACES and not aspect:
            self._check_content(place, self.members(_PLACES[place]), expected)
        elif place in _PLACES and aspect == "count":
            _check(what, len(self.members(_PLACES[place])), expected)
        elif place in _PLACES and aspect in ("contains", "not_contains", "excludes"):
            found = {p: p in self.members(_PLACES[place]) for p in self.cast.pods}
            for key in _keys(expected):
                _check(f"{key} in {place}", found[self.version(key).pod], aspect == "contains")
        else:
            raise NotCovered(f"expectation {what}")

    def _expect_active_order(self, expected: Sequence[str]) -> None:
        self._check_content("active", self.members(Place.ACTIVE), expected)

        def in_order() -> list[Any]:
            heads = []
            for key in expected:
                pod = self.version(key).pod
                heads.append(self.queue.is_head(pod))
                self.queue.put(pod, Place.NONE, PodObject().copy())
            return heads

        for key, is_head in zip(expected, self.model.get(in_order), strict=True):
            if not is_head:
                raise Differs(f"{key} does not leave active at its turn in {expected}")

    def _expect_backoff_order(self, expected: Sequence[str]) -> None:
        self._check_backoff_order(expected)

    def _check_backoff_order(self, expected: Sequence[str]) -> None:
        self._check_content("backoff", self.members(Place.BACKOFF), expected)
        all_ends = self._backoff_ends()
        ends = [all_ends[self.version(key).pod] for key in expected]
        _check("ends of backoff", ends, sorted(ends))

    def _expect_counts(self, expected: Sequence[int]) -> None:
        _check("counts", [len(self.members(place)) for place in _PLACES.values()], list(expected))

    def _expect_pending(self, expected: Sequence[str]) -> None:
        self._check_content(
            "pending", [p for place in _PLACES.values() for p in self.members(place)], expected
        )

    def _nominated(self) -> dict[Node, list[Pod]]:
        nodes, pods = self.cast.nodes.values(), self.cast.pods
        found = self.model.get(
            lambda: {n: {p: self.nominator.nominated_to(p, n) for p in pods} for n in nodes}
        )
        rank = self.model.get(lambda: {p: self.nominator.rank[p] for p in pods})
        return {n: sorted((p for p in pods if row[p]), key=lambda p: rank[p]) for n, row in found.items()}

    def _expect_nominated(self, expected: Mapping[str, Sequence[str]]) -> None:
        found = {str(node): [str(p) for p in pods] for node, pods in self._nominated().items() if pods}
        wanted = {n: [str(self.version(k).pod) for k in keys] for n, keys in expected.items() if keys}
        _check("nominated", found, wanted)

    def _expect_nominated_for(self, expected: Mapping[str, Sequence[str]]) -> None:
        nominated = {str(node): pods for node, pods in self._nominated().items()}
        for name, keys in expected.items():
            found = [str(p) for p in nominated.get(name, ())]
            _check(f"nominated for {name}", found, [str(self.version(k).pod) for k in keys])

    def _expect_nominated_node_count(self, expected: int) -> None:
        _check("nodes with nominations", sum(bool(pods) for pods in self._nominated().values()), expected)


def _keys(said: str | Sequence[str] | None) -> Sequence[str]:
    return (said,) if isinstance(said, str) else said or ()


def _admitted(precheck: Any, pods: Sequence[Pod]) -> dict[Pod, bool] | None:
    if not precheck:
        return None
    bounds = {"min_priority", "max_priority"}
    if not isinstance(precheck, Mapping) or not set(precheck) <= bounds:
        raise NotCovered(f"precheck {precheck}")
    low, high = precheck.get("min_priority", -(2**31)), precheck.get("max_priority", 2**31)
    return {pod: low <= pod.priority.lo <= high for pod in pods}
