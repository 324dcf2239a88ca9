"""Stubborn sets: which of the enabled transitions a search may take instead of all of them.

A set T of transitions and observers is stubborn in a state if

- it has an enabled transition, unless the state has none;
- with an enabled transition it has everything that the transition conflicts with;
- with a disabled transition, or an observer that sees nothing here, it has a necessary enabling set of it.

Then whatever run leads from here to something that is observed, either its first member of T can be moved to
its front, or an enabled transition of T can be put before the run without disturbing it (Valmari 1990; with observers as
in Valmari and Hansen: Stubborn set intuition explained, 2017). The run does not get longer by this, so it is
found if it is not put off for ever; that is the business of the search (the cycle condition, see `reduced`).

The closure starts from each enabled transition in turn. This file is the reference; `native/thinning` does the
same with words of bits, and must choose the same sets.
"""

from __future__ import annotations

from collections.abc import Iterator

from .dependence import Dependence


def members(bits: int) -> Iterator[int]:
    """The elements of a set, ascending."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def candidates(dependence: Dependence, enabled: int, true: int, watching: int) -> list[int]:
    """The enabled transitions of each stubborn set found that leaves some out, smallest first, each once.

    `true` are the conditions that hold here, `watching` the observers that still matter.
    """
    found: dict[int, None] = {}
    for seed in members(enabled):
        chosen = closure(dependence, seed, enabled, true, watching) & enabled
        if chosen != enabled:
            found[chosen] = None
    return sorted(found, key=int.bit_count)


def closure(dependence: Dependence, seed: int, enabled: int, true: int, watching: int) -> int:
    """A stubborn set with this enabled transition, as small as a greedy choice makes it."""
    count = len(dependence.system.transitions)
    relevant = (1 << count) - 1 | watching
    chosen = todo = 1 << seed
    while todo:
        first = (
            todo & enabled or todo
        )  # enabled ones first: what they conflict with ends a hopeless closure soonest
        lowest = first & -first
        todo ^= lowest
        t = lowest.bit_length() - 1
        if enabled >> t & 1:
            more = dependence.conflicts[t]
        else:
            missing = [c for c in dependence.needs[t] if not true >> c & 1]
            if not missing:
                continue  # an observer that sees something here: it has been noted
            more = min((dependence.enablers[c] for c in missing), key=lambda e: _cost(e & ~chosen, enabled))
        more &= relevant & ~chosen
        chosen |= more
        todo |= more
    return chosen


def _cost(added: int, enabled: int) -> int:
    """What it costs to add transitions: enabled ones are explored, others only lead to more."""
    return 256 * (added & enabled).bit_count() + added.bit_count()
