"""A slice of a system in one call, and what a slice stands for in its original."""

from __future__ import annotations

from collections.abc import Iterable

from podrace.checker.core.exploration import Path
from podrace.checker.reduction.slicing import Slicer, transition_map
from podrace.model.language import State, TransitionSystem


def slice_system(
    system: TransitionSystem,
    *,
    invariants: Iterable[str] | None = None,
    witnesses: Iterable[str] | None = None,
    resettabilities: Iterable[str] | None = None,
    livenesses: Iterable[str] | None = None,
    values: bool = True,
) -> TransitionSystem:
    """One slice of a system: see `Slicer.slice`, also for what it raises."""
    return Slicer(system, values=values).slice(
        invariants=invariants, witnesses=witnesses, resettabilities=resettabilities, livenesses=livenesses
    )


def map_path(slice_: TransitionSystem, original: TransitionSystem, path: Path) -> Path:
    """The run of the original system that a run of its slice stands for."""
    numbers = transition_map(slice_, original)
    return tuple(numbers[i] for i in path)


def project(slice_: TransitionSystem, original: TransitionSystem, state: State) -> State:
    """What the slice sees of a state of the original system."""
    codes = dict(zip((v.name for v in original.variables), state, strict=True))
    return tuple(codes[v.name] for v in slice_.variables)
