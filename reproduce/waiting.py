"""Steps during which the scheduler waits in Pop: that a pod comes into an empty activeQ has to wake it.

The driver lets the scheduler call Pop only where the model has it pop, when a pod is there. A lost signal would not be seen.
"""

from collections.abc import Mapping
from itertools import pairwise

import msgspec

from ..reports.step import Value
from .case import Case

POP = "scheduler.pop"
_PLACES = ("ACTIVE", "BACKOFF")


def waiting(case: Case, most: int | None = None) -> Case:
    """The case, with the steps marked that have a Pop waiting until they give the queue its only pod; of the first `most` steps, if that is said.

    The Pop itself is the next step. In between, the queue's state is not compared, since the scheduler does not wait for it. An idle scheduler also pops from backoffQ, so both have to be empty before.
    Entries of groups are left out.
    """
    if case.groups:
        return case
    state, steps = dict(case.initial), list(case.steps)
    for number, (step, pop) in enumerate(pairwise(case.steps[:most])):
        before = _queued(state)
        state |= step.changes
        wakes = not before and _queued(state) == [pop.args.get("pod")]
        if wakes and pop.step == POP and pop.wait_ms == 0 and pop.changes.get("scheduler.pod"):
            if step.actor != pop.actor and not step.step.startswith("process."):
                steps[number] = msgspec.structs.replace(step, waiting=True)
    return msgspec.structs.replace(case, steps=steps) if steps != case.steps else case


def _queued(state: Mapping[str, Value]) -> list[str]:
    """The pods that a Pop could take."""
    prefix = "queue.sub_queue["
    return [
        name[len(prefix) : -1]
        for name, value in state.items()
        if name.startswith(prefix) and value in _PLACES
    ]
