"""Where a step of the model is over before, or after, what it stands for: then what it changes is not compared.

Each has its reason: why what happens in between is the same as if it had happened before, so that no run is lost.
"""

from __future__ import annotations

from .records import Point, Turn

BEFORE_DONE = frozenset({
    "Framework.RunPreBindPreFlights", "Framework.WillWaitOnPermit", "Framework.WaitOnPermit", "Queue.Done", "Client.Patch",
})  # fmt: skip
"""A binding cycle calls Done once its pod need not wait for permission any more; until then it changes nothing that others look at. The model does it
at once where there is nothing to wait for. An Update in between is for a pod in flight, as before; the handler began it before the pod was assumed."""

GIVEN_UP = frozenset({"Queue.AddNominatedPod", "Client.Patch", "Queue.Done"})
"""A failure handler that finds its pod gone, or assigned, calls Done last; the model when it reads. An Update in between is for a pod in flight, as
before: nobody reads what it leaves there."""


def hidden(turn: Turn) -> tuple[str, ...]:
    """The beginnings of the names of variables that are not compared where everybody stands after a turn."""
    found: list[str] = []
    for point in turn.standing:
        pod = _ahead_of_done(point)
        if pod:
            found += [f"queue.in_flight[{pod}]", f"queue.in_flight_events[{pod}]"]
    return tuple(found)


def _ahead_of_done(point: Point) -> str:
    """The pod that the model may have taken out of flight before Done is called."""
    if point.call == "Queue.Done" and point.after:
        return ""
    if point.actor == "binding cycle" and point.call in BEFORE_DONE | GIVEN_UP:
        return point.of
    return point.pod if point.actor == "scheduler" and point.call in GIVEN_UP else ""
