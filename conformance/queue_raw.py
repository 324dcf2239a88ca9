"""The operations of a case that reach into a sub-queue, as upstream's tests do."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.environment.objects import Pod, PodObject
from ..model.scheduler.queue.scheduling_queue import SubQueue
from .outcome import Case, Differs
from .queue_cast import Version, group_key
from .queue_expectations import Expectations
from .queue_stage import PLACES
from .queue_words import nanoseconds
from .script import keys_of


class RawAccess(Expectations):
    """Puts pods into a sub-queue and takes them out, without the queue's own logic."""

    def _put(self, version: Version, op: Case) -> None:
        at = nanoseconds(op.get("timestamp"))
        self.queue.record_rejection(version.pod, self.rejecting(op))
        self.queue.put(version.pod, self.place(op["queue"]), version.object().copy())
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
                self.queue.put(pod, SubQueue.NONE, PodObject().copy())

        self.model.do(take)

    def _places_of(self, op: Case) -> list[SubQueue]:
        return [self.place(op["queue"])] if op.get("queue") else list(PLACES.values())

    def op_remove_raw(self, op: Case) -> None:
        group = self._group(op) if "group" in op else []
        meant = {v.pod for v in [*map(self.version, keys_of(op.get("pod", op.get("pods")))), *group]}
        self._take_out([p for place in self._places_of(op) for p in self.members(place) if p in meant])

    op_remove_raw_group = op_remove_raw

    def op_clear_raw(self, op: Case) -> None:
        self._take_out([p for place in self._places_of(op) for p in self.members(place)])

    def op_drain_backoff(self, op: Case) -> None:
        if op.get("expect") is not None:
            self.expect_backoff_order(keys_of(op["expect"]))
        self._take_out(self.members(SubQueue.BACKOFF))

    def op_pop_backoff(self, op: Case) -> None:
        waiting, ends = self.members(SubQueue.BACKOFF), self.backoff_ends()
        chosen = self.choose([p for p in waiting if ends[p] == min(ends[q] for q in waiting)], op)
        copy = self.model.get(lambda: self.queue.copy[chosen])
        if op.get("expect") is not None and not self.holds(op["expect"], copy):
            raise Differs(f"popped another version of {op['expect']}: {copy}")
        self.bind(op, chosen, copy)
        self._take_out([chosen])
