"""What a property asks of a system: its kind, the witnesses that belong to it, and the slice that decides it.

A witness named `P: ...`, where P is a property, belongs to that property; every other witness belongs to all.
"""

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import combinations

from ...model.language import TransitionSystem
from ..core.result import Kind
from ..trace.lasso import at_rest
from .scales_of_time import with_scales
from .slicing import Slicer


class UnknownProperty(LookupError):
    """A property was named that the system does not have."""


def properties_of(system: TransitionSystem, properties: Sequence[str] | None = None) -> list[str]:
    """The named properties, each once; all that the system has, if none are named.

    Raises UnknownProperty, and ValueError if there are none, or if two kinds of properties have one name.
    """
    known = [*system.invariants, *system.resettabilities, *system.livenesses]
    kinds = {
        "an invariant": system.invariants,
        "a resettability": system.resettabilities,
        "a liveness": system.livenesses,
    }
    for (one, table), (other, further) in combinations(kinds.items(), 2):
        doubled = [name for name in further if name in table]
        if doubled:
            raise ValueError(f"{system.name} has both {one} and {other} `{doubled[0]}`")
    names = known if properties is None else list(dict.fromkeys(properties))
    for name in names:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = f"did you mean `{close[0]}`?" if close else f"it has {', '.join(known) or 'none'}"
            raise UnknownProperty(f"{system.name} has no property `{name}`: {hint}")
    if not names:
        raise ValueError(f"there is no property of {system.name} to check")
    return names


def kind_of(system: TransitionSystem, name: str) -> Kind:
    """What a property of the system is."""
    if name in system.invariants:
        return "invariant"
    return "resettability" if name in system.resettabilities else "liveness"


def witnesses_of(system: TransitionSystem, name: str) -> list[str]:
    """The witnesses that show whether a verdict on this property is vacuous."""
    others = [n for n in (*system.invariants, *system.resettabilities, *system.livenesses) if n != name]
    return [
        witness
        for witness in system.witnesses
        if not any(witness.startswith(f"{other}: ") for other in others)
    ]


def slice_for(slicer: Slicer, kind: Kind, names: Sequence[str], scales: bool = True) -> TransitionSystem:
    """The slice that decides these properties, all of one kind, and reaches their witnesses. Invariants have the scales of time that the system asks for, but not without `scales`."""
    system = slicer.system
    wanted = {witness for name in names for witness in witnesses_of(system, name)}
    found = slicer.slice(
        invariants=names if kind == "invariant" else (),
        resettabilities=names if kind == "resettability" else (),
        livenesses=names if kind == "liveness" else (),
        witnesses=[witness for witness in system.witnesses if witness in wanted],
    )
    if kind == "liveness":
        # A run that comes to rest is found while the search goes on.
        found = found.with_predicates(invariants=at_rest(found))
    # What goes on, or stays possible, for ever takes any time.
    return with_scales(found) if scales and kind == "invariant" else replace(found, scales=False)


def explored_slice(system: TransitionSystem, name: str) -> TransitionSystem:
    """What is explored for this property when it is checked by itself. Raises UnknownProperty."""
    (found,) = properties_of(system, [name])
    return slice_for(Slicer(system), kind_of(system, found), [found])
