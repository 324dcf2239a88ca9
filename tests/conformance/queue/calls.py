"""The operations of a queue case.

Most are calls of the queue, of the nominator, of their timers and of the clock. Others reach into a sub-queue, as upstream's
tests do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from podrace.model.environment.objects import Pod, PodObject
from podrace.model.language import NotEnabled
from podrace.model.scheduler.framework.events import ASSIGNED_POD_ADD, ASSIGNED_POD_UPDATE, Action
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from tests.conformance.cases.cases import Case, Differs, NotTranslated, check, keys_of
from tests.conformance.queue.cast import Version, admits, event_of, group_key, nanoseconds, time_span
from tests.conformance.queue.stage import PLACES, QueueExpectations, Stage


class Calls(Stage):
    """An operation that can move pods between sub-queues returns the cause that upstream would count."""

    # --- the queue -------------------------------------------------------------------------------------

    def op_add(self, op: Case) -> str:
        version = self.version(op["pod"])
        self.model.do(lambda: self.queue.add(version.pod, version.object()))
        return "PodAdd"

    def op_update(self, op: Case) -> str:
        new = self.version(op["new"])
        before = self.version(op["old"]) if op.get("old") else None
        old = before.object() if before else PodObject()
        if before is None or before.pod is new.pod:
            self.model.do(lambda: self.queue.update(new.pod, old, new.object()))
        elif new.pod in self.namesakes(before.pod):
            self.model.do(lambda: self.queue.replace(before.pod, new.pod, old, new.object()))
        else:
            raise NotTranslated("an update from one pod to another")
        return "PodUpdate"

    def op_delete(self, op: Case) -> None:
        self.model.do(lambda: self.queue.delete(self.version(op["pod"]).pod))

    def op_pop(self, op: Case) -> None:
        chosen = self.choose(self._heads(), op)
        copy = self.model.do(lambda: self.queue.pop(chosen))
        if op.get("expect") is not None and not self.holds(op["expect"], copy):
            raise Differs(f"popped another version of {op['expect']}: {copy}")
        self.bind(op, chosen, copy)
        if op.get("expect_attempts") is not None:
            check("attempts", self.model.get(lambda: self.clock.attempts[chosen]), op["expect_attempts"])
        if op.get("expect_initial_attempt") is not None:
            found = self.model.get(lambda: self.clock.first_seen[chosen])
            check("initial attempt", found, nanoseconds(op["expect_initial_attempt"]))

    def _heads(self) -> list[Pod]:
        waiting = self.members(SubQueue.ACTIVE)
        is_head = self.model.get(lambda: {p: self.queue.is_head(p) for p in waiting})
        return [p for p in waiting if is_head[p]]

    def op_add_unschedulable(self, op: Case) -> str:
        version, cycle = self.version(op["pod"]), self._cycle(op.get("cycle", "current"))
        plugins = self.rejecting(op)

        def fail() -> Any:
            self.queue.record_rejection(version.pod, plugins)
            self.queue.begin_failure(version.pod)
            if cycle is not None:
                self.queue.attempt_cycle[version.pod] = cycle
            return self.queue.requeue(version.pod, version.object().copy())

        taken = self.model.do(fail)
        if op.get("expect_error") is not None:
            check("an error", not taken, bool(op["expect_error"]))
        return "ScheduleAttemptFailure"

    def _cycle(self, said: int | str) -> int | None:
        """The number of a scheduling cycle; none for the current one."""
        if said == "current":
            return None
        if isinstance(said, int):
            return said
        name = said.removeprefix("saved:")
        if name not in self.saved:
            raise NotTranslated(f"there is no cycle {said}")
        return self.saved[name]

    def op_move_all(self, op: Case) -> str:
        event = event_of(op["event"])
        precheck = op.get("precheck")
        admitted = {p: admits(precheck, said) for p, said in self.priorities().items()} if precheck else None
        self.model.do(lambda: self.queue.move_all(event, admitted))
        return event.label

    def op_assigned_pod_added(self, op: Case) -> str:
        self.model.do(lambda: self.queue.move_matching(self.version(op["pod"]).seen(), ASSIGNED_POD_ADD))
        return ASSIGNED_POD_ADD.label

    def op_assigned_pod_updated(self, op: Case) -> str:
        event = event_of(op["event"]) if op.get("event") else ASSIGNED_POD_UPDATE
        pod = self.version(op["new"] if op.get("new") else op["pod"]).seen()
        if event.action & Action.UPDATE_POD_SCALE_DOWN:  # room becomes free: it concerns every pod
            self.model.do(lambda: self.queue.move_all(event, about=pod))
        else:
            self.model.do(lambda: self.queue.move_matching(pod, event))
        return event.label

    def op_activate(self, op: Case) -> str:
        def activate() -> None:
            for key in keys_of(op.get("pods", op.get("pod"))):
                self.queue.activate(self.version(key).pod)

        self.model.do(activate)
        return "ForceActivate"

    # --- its timers ------------------------------------------------------------------------------------

    def op_flush_backoff(self, _: Case) -> str:
        self._for_each(SubQueue.BACKOFF, self.queue.flush_backoff)
        return "BackoffComplete"

    def op_flush_unschedulable(self, _: Case) -> str:
        self._for_each(SubQueue.UNSCHEDULABLE, self.queue.flush_unschedulable)
        return "UnschedulableTimeout"

    def _for_each(self, place: SubQueue, step: Callable[[Pod], None]) -> None:
        for pod in self.members(place):
            with suppress(NotEnabled):
                self.model.do(partial(step, pod))

    # --- the nominator ---------------------------------------------------------------------------------

    def op_add_nominated(self, op: Case) -> None:
        version, node = self.version(op["pod"]), self.cast.node(op.get("node"))
        self.model.do(lambda: self.nominator.add(version.pod, node, version.nominated))

    def op_delete_nominated(self, op: Case) -> None:
        self.model.do(lambda: self.nominator.delete(self.version(op["pod"]).pod))

    # --- time and cycles -------------------------------------------------------------------------------

    def op_advance(self, op: Case) -> None:
        by = time_span(op["seconds"], self.clock.timing)
        self.model.do(lambda: self.clock.advance(by))

    def op_save_cycle(self, op: Case) -> None:
        self.saved[op["as"]] = self.model.get(lambda: self.queue.cycle)

    def op_increment_cycle(self, op: Case) -> None:
        for _ in range(op.get("by", 1)):
            self.model.do(self.queue.next_cycle)


class RawAccess(QueueExpectations):
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
