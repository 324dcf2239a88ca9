"""Runs in which what the real scheduler does within one call is not torn apart.

The model has a step for each thing that a plugin reads or assumes: the allocated devices and those in flight, a pod's claims of volumes one after the other and then the volumes, what
Reserve and Unreserve of VolumeBinding do claim after claim. A shortest run may have others in between. Where these steps can be moved together, and the run violates its property all
the same, that run is the one that can be forced.
"""

from collections.abc import Iterator

import msgspec

from ..analysis.stored.replayed import Replayed, replayed
from ..reports.stored import StoredStep, StoredTrace

LISTS, ADDS = "dynamic_resources.list_devices", "dynamic_resources.add_in_flight"

READS = ("volume_binding.read_claim", "volume_binding.list_volumes")
ASSUMES = ("volume_binding.look_again", "volume_binding.assume_volume", "volume_binding.assume_claim")
RESTORES = ("volume_binding.restore",)
CALLS = (READS, ASSUMES, RESTORES)
"""Steps that VolumeBinding takes within one call, one after the other."""
FILTERS = ("scheduler.filter", "scheduler.filter_nominated")
CYCLES = ((*READS, *FILTERS), ASSUMES, RESTORES)
"""The same with PreFilter and Filter in one piece: VolumeZone, which the model does not have, reads claims and volumes after VolumeBinding (A-VOLUME-KINDS)."""

OF_CYCLES = ("scheduler.", "binding.", "volume_binding.")
"""Whose steps are those of a pod's cycles."""

Steps = tuple[StoredStep, ...]


def with_whole_calls(trace: StoredTrace, found: Replayed, name: str) -> Replayed:
    """The run with each call in one piece, as far as it can be; else as it was found."""
    for change in (_whole_cycles, _both, moved_listings, moved_up):
        moved = change(trace.steps)
        if moved == trace.steps:
            continue
        other = replayed(msgspec.structs.replace(trace, steps=moved), file=name)
        if other.violated:
            return other
    return found


def _both(steps: Steps) -> Steps:
    return moved_up(moved_listings(steps))


def _whole_cycles(steps: Steps) -> Steps:
    return moved_up(moved_listings(steps), CYCLES)


def moved_listings(steps: Steps) -> Steps:
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


def moved_up(steps: Steps, calls: tuple[tuple[str, ...], ...] = CALLS) -> Steps:
    """The steps, those of one call right behind the first of them."""
    left, made = list(steps), []
    while left:
        step = left.pop(0)
        made.append(step)
        call = next((names for names in calls if step.step in names and step.step not in FILTERS), None)
        if call is not None:
            rest = list(_of_call(left, call, _pod(step)))
            left = [other for other in left if not any(other is one for one in rest)]
            made += rest
    return tuple(made)


def _of_call(steps: list[StoredStep], call: tuple[str, ...], pod: str) -> Iterator[StoredStep]:
    """The steps of the same call that follow: up to another step of the pod's own goroutine."""
    for step in steps:
        if _pod(step) != pod:
            continue
        if step.step in call:
            yield step
        elif step.step.startswith(OF_CYCLES):
            return


def _pod(step: StoredStep) -> str:
    use = step.args.get("use")
    return str(step.args.get("pod", "")) if use is None else str(use).partition(" of ")[2]
