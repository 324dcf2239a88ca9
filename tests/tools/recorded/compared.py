"""What of the real state is compared with the model, where everybody stands after a turn, and with which of its values.

The model can be ahead of the real scheduler, or behind it, where one of its steps stands for several moments of which only one matters to others.
Then what the step changes is not compared. Each case has its reason: why what happens in between is the same as if it had happened before, so
that no run is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from podrace.reports.step import Value
from tests.tools.recorded.records import Point, Turn

AS_EXPECTED = "as expected"
"""The value of what the observer holds against itself, when it is as it should be."""

CHECKED = ("queue.order", "node_infos.sums[")
"""What the observer holds against itself: no variables of the model's."""

BEFORE_DONE = frozenset({
    "Framework.RunPreBindPreFlights", "Framework.WillWaitOnPermit", "Framework.WaitOnPermit", "Queue.Done", "Client.Patch",
})  # fmt: skip
"""A binding cycle calls Done once its pod need not wait for permission any more; until then it changes nothing that others look at. The model does it
at once where there is nothing to wait for. An Update in between is for a pod in flight, as before; the handler began it before the pod was assumed."""

STARTING = frozenset({
    "Queue.DeleteNominatedPodIfExists", "Framework.RunReservePluginsReserve", "Framework.RunPermitPlugins",
})  # fmt: skip
"""The same while the scheduling cycle has still to start the binding cycle: the model has started it with the deletion of the nomination."""

GIVEN_UP = frozenset({"Client.Patch", "Queue.Done"})
"""A failure handler that finds its pod gone, or assigned, calls Done last, once it has written the status; the model with the write."""

IN_CYCLE = frozenset({
    "Framework.RunFilterPluginsWithNominatedPods", "Framework.RunPostFilterPlugins", "Queue.NominatedPodsForNode", "Extender.ProcessPreemption",
})  # fmt: skip
"""Where a scheduling cycle works on its snapshot and its verdicts: before, and once it has decided, the model has none of them."""

TRIED = {
    "REJECTED": ("REJECTED", "CANDIDATE", "NO_CANDIDATE", "ERROR", "UNTRIED"),
    "UNRESOLVABLE": ("UNRESOLVABLE", "UNTRIED"),
}
"""What a verdict of the filters can be in the model: dry runs say more, and a nominated node that was tried first is tried again among all."""

RUNNING = ("BEGIN", "CLEAR", "EVICT", "LEAVE")
"""The phases in which a preemptor is among those whose preemption runs."""

LAST = ("EVICT_LAST", "EVICTED")
"""Those in which it waits for its last victim: from 1.35 on it is among them still."""


EVENTS = "queue.in_flight_events["
MOVES = ("Queue.MoveAllToActiveOrBackoffQueue", "Queue.AssignedPodUpdated", "Queue.Update")


GOROUTINE = "preemption goroutine"
"""Who patches the condition of victims, and deletes them."""


class OddValue(Exception):
    """A real value that no state of the model has."""


class Compared:
    """What is compared in one record, turn by turn; `values` gives those that a variable of the system can have."""

    def __init__(self, values: Mapping[str, tuple[Value, ...]]) -> None:
        self._values = values
        self._touched = self._moved = False
        self._conditions = _Conditions()

    def after(self, turn: Turn, seen: Mapping[str, Value]) -> dict[str, tuple[Value, ...]]:
        """The values that each variable may have in the model after the next turn. Raises OddValue."""
        ways = [turn.origin, *turn.passed] if turn.origin else turn.passed
        self._conditions.go(ways, seen)
        self._touched = self._touched or any(p.beyond and p.call == "Cache.UpdatePod" for p in ways)
        self._moved = self._moved or any(p.beyond and p.call in MOVES for p in ways)
        hidden = tuple(_hidden(turn, seen))
        # An event that the model does not have touches a NodeInfo all the same: since then another one has changed last.
        hidden += ("node_infos.recent.",) if self._touched else ()
        carried = (f"snapshot.carries[{pod}]" for pod in self._conditions.in_snapshot)
        hidden += tuple(name for name in carried if seen.get(name))
        # And a Permit plugin that did not say which events it waits for waits for it, too.
        moved = (
            tuple(n for n in seen if n.startswith(EVENTS) and n.endswith("[PermitPlugin]"))
            if self._moved
            else ()
        )
        hidden += moved
        found: dict[str, tuple[Value, ...]] = {}
        for name, value in seen.items():
            if name.startswith(CHECKED):
                if value != AS_EXPECTED:
                    raise OddValue(f"{name} is {value}")
            elif name.startswith(hidden):
                continue
            elif name.startswith("async_preemption.preempting["):
                found[name.replace("preempting", "phase")] = self._preempting(name, value, seen)
            elif name in self._values:
                found[name] = self._same(name, value)
            elif name.startswith("queue.rejected_by[") and value:
                raise OddValue(f"{name} is {value}, and the model has no such plugin")
        return found

    def _same(self, name: str, value: Value) -> tuple[Value, ...]:
        if value not in self._values[name]:
            raise OddValue(f"{name} is {value}")
        wanted = TRIED.get(str(value), (value,)) if name.startswith("scheduler.verdict[") else (value,)
        return tuple(one for one in wanted if one in self._values[name])

    def _preempting(self, name: str, value: Value, seen: Mapping[str, Value]) -> tuple[Value, ...]:
        awaits = name.replace("preempting", "awaited") in seen
        running = RUNNING + (LAST if awaits else ())
        phases = self._values.get(name.replace("preempting", "phase"), ())
        return tuple(phase for phase in phases if (phase in running) == value)


class _Conditions:
    """Victims whose condition DisruptionTarget is written, and in the model is not (A-DISRUPTION): it has the condition with the deletion, in one step,
    and none of a pod that terminates already. So a snapshot may show one between PATCH and DELETE, or after a DELETE that has failed, and as long as the cache
    was told of the PATCH alone.

    `in_snapshot`: those whose condition was written so when the snapshot was taken.
    """

    def __init__(self) -> None:
        self._written: set[str] = set()
        self._deleted: set[str] = set()
        self._terminating: set[str] = set()
        self.in_snapshot: frozenset[str] = frozenset()

    def go(self, ways: Iterable[Point], seen: Mapping[str, Value]) -> None:
        """Go on by a turn: the points that actors were at, in their order, and the state after it."""
        for point in ways:
            if point.actor == GOROUTINE and point.after:
                if point.call == "Client.Patch":
                    self._written.add(point.pod)
                elif point.call == "Client.Delete" and point.pod not in self._terminating:
                    now = f"api.pod[{point.pod}]."
                    if seen.get(f"{now}terminating") or not seen.get(f"{now}exists"):
                        self._deleted |= self._written & {point.pod}
                        self._written.discard(point.pod)
            elif point.call == "Cache.UpdateSnapshot" and point.after:
                self.in_snapshot = frozenset(self._written | self._deleted)
        self._deleted = {pod for pod in self._deleted if not seen.get(f"cache.pod[{pod}].terminating")}
        self._terminating = {
            name.removeprefix("api.pod[").removesuffix("].terminating")
            for name, value in seen.items()
            if value and name.startswith("api.pod[") and name.endswith("].terminating")
        }


def _hidden(turn: Turn, seen: Mapping[str, Any]) -> Iterator[str]:
    """The beginnings of the names of variables that are not compared."""
    cycle = False
    for point in turn.standing:
        pod = _ahead_of_done(point)
        if pod:
            yield f"queue.in_flight[{pod}]"
            yield f"queue.in_flight_events[{pod}]"
        cycle = cycle or (point.actor == "scheduler" and point.call in IN_CYCLE)
    if not cycle:
        yield from ("snapshot.", "scheduler.")
    for name, value in seen.items():
        # A NodeInfo without Node object is not copied: in the model's snapshot the pods on it are on a node that no filter looks at.
        if name.startswith("snapshot.pod[") and name.endswith("].node") and value is None:
            yield name.removesuffix("node")
            yield name.removesuffix(".node").replace("snapshot.pod", "snapshot.carries")
            yield name.removesuffix(".node").replace("snapshot.pod", "snapshot.version")
        # A gate that the preemption plugin closes is a phase of its goroutine; upstream notes the plugin as one that rejected the pod.
        elif name.startswith("queue.rejected_by[") and name.endswith("[DefaultPreemption]") and value:
            yield name


def _ahead_of_done(point: Point) -> str:
    """The pod that the model may have taken out of flight before Done is called."""
    if point.call == "Queue.Done" and point.after:
        return ""
    if point.actor == "binding cycle" and point.call in BEFORE_DONE | GIVEN_UP:
        return point.of
    return point.pod if point.actor == "scheduler" and point.call in STARTING | GIVEN_UP else ""
