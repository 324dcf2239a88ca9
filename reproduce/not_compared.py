"""Where a step of the model is over before, or after, what it stands for: then what it changes is not compared.

Each row has its reason: why no run of the real scheduler is lost, and none is added.
"""

from __future__ import annotations

from .records import Turn

BEFORE_DONE = frozenset({
    "Framework.RunPreBindPreFlights", "Framework.WillWaitOnPermit", "Framework.WaitOnPermit", "Queue.Done", "Client.Patch",
})  # fmt: skip
"""A binding cycle calls Done once its pod need not wait for permission any more; until then it changes nothing that others look at. The model does it
at once where there is nothing to wait for. What Update and others see in between they would have seen before the cycle began."""


def hidden(turn: Turn) -> tuple[str, ...]:
    """The beginnings of the names of variables that are not compared where everybody stands after a turn."""
    found: list[str] = []
    for point in turn.standing:
        if (
            point.actor == "binding cycle"
            and point.call in BEFORE_DONE
            and not (point.call == "Queue.Done" and point.after)
        ):
            found += [f"queue.in_flight[{point.of}]", f"queue.in_flight_events[{point.of}]"]
    return tuple(found)
