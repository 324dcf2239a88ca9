"""A case of the queue's table being played: the model's parts, what its sub-queues hold, and what the case expects of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from podrace.model.environment.names import namesakes
from podrace.model.environment.objects import Node, Pod, PodObject
from podrace.model.scheduler.framework.events import Plugin
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from tests.conformance.cases.cases import (
    REMARKS,
    Case,
    Differs,
    NotTranslated,
    Script,
    check,
    keys_of,
    says_nothing,
)
from tests.conformance.queue.cast import QueueCast, Version
from tests.conformance.queue.numbered import CountedCycles, CountingClock, OrderedNominator

PLACES = {"active": SubQueue.ACTIVE, "backoff": SubQueue.BACKOFF, "unschedulable": SubQueue.UNSCHEDULABLE}
NAMES = {place: name for name, place in PLACES.items()}

READ = {
    "add": {"pod"}, "update": {"old", "new"}, "delete": {"pod"}, "activate": {"pod", "pods"},
    "pop": {"expect", "expect_not", "expect_attempts", "expect_initial_attempt", "bind"},
    "add_unschedulable": {"pod", "cycle", "unschedulable_plugins", "expect_error"},
    "move_all": {"event", "precheck"}, "assigned_pod_added": {"pod"}, "assigned_pod_updated": {"pod", "old", "new", "event"},
    "advance": {"seconds"}, "flush_backoff": set(), "flush_unschedulable": set(),
    "add_nominated": {"pod", "node"}, "delete_nominated": {"pod"}, "save_cycle": {"as"}, "increment_cycle": {"by"},
    "put_raw": {"queue", "pod", "timestamp", "attempts", "unschedulable_plugins"},
    "put_raw_group": {"queue", "group", "first", "count", "timestamp", "attempts", "unschedulable_plugins"},
    "remove_raw": {"queue", "pod", "pods", "group", "first", "count"},
    "remove_raw_group": {"queue", "pod", "pods", "group", "first", "count"},
    "clear_raw": {"queue"}, "drain_backoff": {"expect"}, "pop_backoff": {"expect", "expect_not", "bind"},
}  # fmt: skip
"""What is read of an operation; those that expect only look at all of theirs themselves."""


class Stage(Script):
    """What every operation needs."""

    def __init__(self, case: Case, cast_: QueueCast) -> None:
        self.case, self.cast, self.model = case, cast_, cast_.model
        self.queue = cast(CountedCycles, self.model.part("queue"))
        self.clock = cast(CountingClock, self.model.part("clock"))
        self.nominator = cast(OrderedNominator, self.model.part("nominator"))
        self.bound: dict[str, Version] = {}
        self.saved: dict[str, int] = {}

    def perform(self, number: int, op: Case) -> Any:
        read = READ.get(str(op.get("op"))) if isinstance(op, Mapping) else None
        for name, value in op.items() if read is not None else ():
            if name in (read or ()) or name in REMARKS or says_nothing(value):
                continue
            if name.startswith("expect"):
                raise NotTranslated(f"operation {number} ({op['op']}): nobody compares {name}")
            if not isinstance(value, str) or value in self.cast.versions or value in self.cast.nodes:
                raise NotTranslated(f"operation {number} ({op['op']}): unknown field {name}")
        return super().perform(number, op)

    def prepare(self) -> None:
        """The cycle numbers, and the pods that the lister knows (all, unless the case names them)."""
        params, known = self.case.get("params") or {}, self.case.get("known_pods")
        told = {name: value for name, value in params.items() if value is not None}
        self.queue.cycle = told.get("start_cycle", 0)
        self.queue.move_cycle = told.get("start_move_request_cycle", -1)
        lister = self.model.part("pod_watch").lister
        for key, version in self.cast.versions.items():
            if known is None:
                lister[version.pod] = PodObject(exists=True)
            elif key in known:
                lister[version.pod] = PodObject(exists=True, node=version.bound_to)

    def places(self) -> dict[Pod, SubQueue]:
        """Where every pod is."""
        found = self.model.get(lambda: {p: self.queue.sub_queue[p] for p in self.cast.pods})
        return cast(dict[Pod, SubQueue], found)

    def place(self, name: str) -> SubQueue:
        """A sub-queue by name."""
        if name not in PLACES:
            raise NotTranslated(f"there is no queue {name}")
        return PLACES[name]

    def members(self, place: SubQueue) -> list[Pod]:
        """The pods of a sub-queue."""
        return [pod for pod, at in self.places().items() if at is place]

    def version(self, key: str) -> Version:
        """The object behind a key of the case, or behind a `$name` that an earlier operation bound."""
        known = self.bound if key.startswith("$") else self.cast.versions
        if key.removeprefix("$") not in known:
            raise NotTranslated(f"there is no pod {key}")
        return known[key.removeprefix("$")]

    def holds(self, key: str, copy: Mapping[str, Any]) -> bool:
        """Whether a queue's copy is one of the object behind a key."""
        return key.startswith("$") or self.version(key).is_copied_in(copy)

    def namesakes(self, pod: Pod) -> tuple[Pod, ...]:
        """The other pods of its namespace and name."""
        return namesakes(self.model.part("queue").universe, pod)

    def priorities(self) -> dict[Pod, int]:
        """The priority that each pod has in the version which the queue holds."""
        numbers = self.model.get(lambda: {p: self.queue.copy[p].version for p in self.cast.pods})
        return {p: self.cast.priorities[p][number] for p, number in numbers.items()}

    def rejecting(self, op: Case) -> dict[Plugin, bool]:
        """For each plug-in whether it rejected the pod."""
        named = op.get("unschedulable_plugins") or ()
        return {plugin: name in named for name, plugin in self.cast.plugins.items()}

    def choose(self, heads: Sequence[Pod], op: Case) -> Pod:
        """Of the pods that may leave next, the one that the operation names, or one that it does not refuse."""
        if not heads:
            raise Differs("there is nothing to pop")
        if op.get("expect") is not None:
            expected = self.version(op["expect"]).pod
            if expected not in heads:
                raise Differs(f"next is {heads[0]}, expected {expected}")
            return expected
        refused = [self.version(k).pod for k in keys_of(op.get("expect_not"))]
        allowed = [p for p in heads if p not in refused]
        if not allowed:
            raise Differs(f"next is {heads[0]}")
        return allowed[0]

    def bind(self, op: Case, pod: Pod, copy: Mapping[str, Any]) -> None:
        """A name for the popped object, if the operation gives one."""
        if op.get("bind"):
            known = {name: copy[name] for name in ("nominated", "failed", "terminating", "version")}
            self.bound[op["bind"].removeprefix("$")] = Version(pod, **known)

    def backoff_ends(self) -> dict[Pod, int]:
        """When the backoff of each pod ends."""
        found = self.model.get(lambda: {p: self.clock.backoff_end(p) for p in self.cast.pods})
        return cast(dict[Pod, int], found)


_UNITS = {"seconds": 10**9, "s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


class QueueExpectations(Stage):
    """`expect` with what it may say of the queue and the nominator, and `expect_backoff_remaining`."""

    def op_expect(self, op: Case) -> None:
        for what, expected in op.items():
            if what not in REMARKS and expected is not None:
                self._expect(what, expected)

    def _expect(self, what: str, expected: Any) -> None:
        place, _, aspect = what.partition("_")
        simple = getattr(self, f"expect_{what}", None)
        if simple is not None:
            simple(expected)
        elif place in PLACES and not aspect:
            self._check_content(place, self.members(PLACES[place]), expected)
        elif place in PLACES and aspect == "count":
            check(what, len(self.members(PLACES[place])), expected)
        elif place in PLACES and aspect in ("contains", "not_contains", "excludes"):
            found = self.members(PLACES[place])
            for key in keys_of(expected):
                check(f"{key} in {place}", self.version(key).pod in found, aspect == "contains")
        elif not isinstance(expected, str) or expected in {*self.cast.versions, *self.cast.nodes}:
            raise NotTranslated(f"expectation {what}")  # other text is a remark

    def _check_content(self, what: str, pods: Sequence[Pod], keys: Sequence[str]) -> None:
        check(what, sorted(map(str, pods)), sorted(str(self.version(k).pod) for k in keys))
        copies = self.model.get(lambda: {key: self.queue.copy[self.version(key).pod] for key in keys})
        for key in keys:
            if not self.holds(key, copies[key]):
                raise Differs(f"{what} holds another version of {key}: {copies[key]}")

    # --- sub-queues ------------------------------------------------------------------------------------

    def expect_active_order(self, expected: Sequence[str]) -> None:
        """The order in which Pop would take the pods of activeQ."""
        self._check_content("active", self.members(SubQueue.ACTIVE), expected)

        def in_order() -> list[Any]:
            heads = []
            for key in expected:
                pod = self.version(key).pod
                heads.append(self.queue.is_head(pod))
                self.queue.put(pod, SubQueue.NONE, PodObject().copy())
            return heads

        for key, is_head in zip(expected, self.model.get(in_order), strict=True):
            if not is_head:
                raise Differs(f"{key} does not leave active at its turn in {expected}")

    def expect_backoff_order(self, expected: Sequence[str]) -> None:
        """The pods of backoffQ, by the ends of their backoffs."""
        self._check_content("backoff", self.members(SubQueue.BACKOFF), expected)
        all_ends = self.backoff_ends()
        ends = [all_ends[self.version(key).pod] for key in expected]
        check("ends of backoff", ends, sorted(ends))

    def expect_counts(self, expected: Sequence[int]) -> None:
        """The lengths of activeQ, backoffQ and unschedulableQ."""
        check("counts", [len(self.members(place)) for place in PLACES.values()], list(expected))

    def expect_pending(self, expected: Sequence[str]) -> None:
        """The pods of all three."""
        self._check_content(
            "pending", [p for place in PLACES.values() for p in self.members(place)], expected
        )

    def op_expect_backoff_remaining(self, op: Case) -> None:
        pods = [self.version(k).pod for k in keys_of(op.get("pod"))] or self.members(SubQueue.BACKOFF)
        wanted = [
            round(value * _UNITS.get(name.rpartition("_")[2], _UNITS["s"]))
            for name, value in op.items()
            if isinstance(value, (int, float)) and not isinstance(value, bool)
        ]
        if len(wanted) != 1:
            raise NotTranslated(f"{len(wanted)} times instead of one")
        if not pods:
            raise Differs("no pod is backing off")
        now, ends = self.model.get(lambda: self.clock.now), self.backoff_ends()
        for pod in pods:
            check(f"remaining backoff of {pod} in ns", max(0, ends[pod] - now), wanted[0])

    # --- nominations -----------------------------------------------------------------------------------

    def _nominated(self) -> dict[Node, list[Pod]]:
        nodes, pods = self.cast.nodes.values(), self.cast.pods
        found = self.model.get(
            lambda: {n: {p: self.nominator.nominated_to(p, n) for p in pods} for n in nodes}
        )
        rank = self.model.get(lambda: {p: self.nominator.rank[p] for p in pods})
        return {n: sorted((p for p in pods if row[p]), key=lambda p: rank[p]) for n, row in found.items()}

    def expect_nominated(self, expected: Mapping[str, Sequence[str]]) -> None:
        """All nominations: for each node its pods in order."""
        found = {str(node): [str(p) for p in pods] for node, pods in self._nominated().items() if pods}
        wanted = {n: [str(self.version(k).pod) for k in keys] for n, keys in expected.items() if keys}
        check("nominated", dict(sorted(found.items())), dict(sorted(wanted.items())))

    def expect_nominated_for(self, expected: Mapping[str, Sequence[str]]) -> None:
        """NominatedPodsForNode of some nodes."""
        nominated = {str(node): pods for node, pods in self._nominated().items()}
        for name, keys in expected.items():
            found = [str(p) for p in nominated.get(name, ())]
            check(f"nominated for {name}", found, [str(self.version(k).pod) for k in keys])

    def expect_nominated_node_count(self, expected: int) -> None:
        """How many nodes have nominations."""
        check("nodes with nominations", sum(bool(pods) for pods in self._nominated().values()), expected)
