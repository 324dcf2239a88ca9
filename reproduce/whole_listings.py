"""Runs in which PreFilter reads the allocated devices and those in flight at once, as the real one does within one call.

The model has two steps there, and a shortest run may have others in between. Where the first step can come just before the second, and the run violates its property all the
same, that run is the one that can be forced.
"""

from __future__ import annotations

import msgspec

from ..analysis.stored.replayed import Replayed, replayed
from ..reports.stored import StoredStep, StoredTrace

LISTS, ADDS = "dynamic_resources.list_devices", "dynamic_resources.add_in_flight"


def with_whole_listings(trace: StoredTrace, found: Replayed, name: str) -> Replayed:
    """The run with each listing moved to where its second half is, if it can be; else as it was found."""
    moved = moved_listings(trace.steps)
    if moved == trace.steps:
        return found
    other = replayed(msgspec.structs.replace(trace, steps=moved), file=name)
    return other if other.violated else found


def moved_listings(steps: tuple[StoredStep, ...]) -> tuple[StoredStep, ...]:
    """The steps, each listing just before the one that ends it."""
    made: list[StoredStep] = []
    waiting: list[StoredStep] = []
    for step in steps:
        if step.step == LISTS:
            waiting.append(step)
            continue
        if step.step == ADDS:
            made += waiting
            waiting = []
        made.append(step)
    return (*made, *waiting)
