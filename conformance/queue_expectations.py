"""What a case of the queue's table expects, compared with what the model holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..model.environment.objects import Node, Pod, PodObject
from ..model.scheduler.queue.scheduling_queue import SubQueue
from .outcome import Case, Differs, NotTranslated, check
from .queue_stage import PLACES, Stage
from .script import REMARKS, keys_of

_UNITS = {"seconds": 10**9, "s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


class Expectations(Stage):
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
        elif not isinstance(expected, str):  # text is a remark
            raise NotTranslated(f"expectation {what}")

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
        check("nominated", found, wanted)

    def expect_nominated_for(self, expected: Mapping[str, Sequence[str]]) -> None:
        """NominatedPodsForNode of some nodes."""
        nominated = {str(node): pods for node, pods in self._nominated().items()}
        for name, keys in expected.items():
            found = [str(p) for p in nominated.get(name, ())]
            check(f"nominated for {name}", found, [str(self.version(k).pod) for k in keys])

    def expect_nominated_node_count(self, expected: int) -> None:
        """How many nodes have nominations."""
        check("nodes with nominations", sum(bool(pods) for pods in self._nominated().values()), expected)
