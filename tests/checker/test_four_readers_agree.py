"""Explorer, interpreter, Z3 and SPIN on the same random systems: the same verdicts and the same shortest depths.

Z3 is asked up to the diameter, where bounded search has an answer for everything. SPIN searches deep first, so how short
a run can be is put into the system: a clock counts the steps, and stops with the last that matters.

`make campaign` takes thousands of systems, $PODRACE_CAMPAIGN_SYSTEMS says how many.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from podrace.checker.core.result import Verdict
from podrace.model.language import INT, Expr, State, TransitionSystem, Variable, all_of, any_of, equal, negate
from podrace.model.language.expressions.expr import const, less, variable
from tests.checker.export.combined import many_systems, once_each, one_of
from tests.checker.export.test_spin_agrees import agree_together, every_state, spin
from tests.checker.export.tools import require_spin
from tests.checker.symbolic.test_engines_agree import BIT_VECTORS, shortest
from tests.profiles import by_profile
from tests.random_systems import coupled
from tests.tools.symbolic.bounded import search

AT_ONCE = by_profile(fast=8, full=40)
"""Systems per run of SPIN."""

SYSTEMS = int(os.environ.get("PODRACE_CAMPAIGN_SYSTEMS", "2000"))
DEEPEST = 30
"""Bounded search goes no further: few random systems have a run that is as long and no shorter one to the same state."""


@dataclass
class Answers:
    """What was found about the invariants of some systems: how long a shortest run is that breaks it, or None."""

    lengths: list[dict[str, int | None]] = field(default_factory=list)
    beyond: int = 0
    """How many diameters were out of reach for bounded search."""

    @property
    def violated(self) -> list[int]:
        """The lengths that there are."""
        return [length for found in self.lengths for length in found.values() if length is not None]

    def __str__(self) -> str:
        invariants = sum(map(len, self.lengths))
        longest = max(self.violated, default=0)
        return (
            f"{len(self.lengths)} systems, {invariants} invariants, {len(self.violated)} violated, "
            f"longest {longest}, {self.beyond} beyond the bound"
        )


def some_systems(seed: int) -> list[TransitionSystem]:
    """Random systems, half of them processes, each with invariants that are broken late beside its own."""
    half = AT_ONCE // 2
    return [
        with_late_violations(system)
        for system in (
            *many_systems(half, seed),
            *many_systems(AT_ONCE - half, seed, coupled(resettabilities=0)),
        )
    ]


def with_late_violations(system: TransitionSystem) -> TransitionSystem:
    """Also: never in the state that is found last, and never in one that is like another as far as some variables go.

    Most invariants that are drawn are broken at once, or hold.
    """
    states = every_state(system)

    def never(state: State, seen: int) -> Expr:
        known = list(zip(system.variables, state, strict=True))[:seen]
        return negate(all_of(equal(variable(v), const(v.sort, code)) for v, code in known))

    late = {
        "last": never(states[-1], len(system.variables)),
        "like another": never(states[len(states) * 2 // 3], (len(system.variables) + 1) // 2),
    }
    return replace(system, invariants={**system.invariants, **late})


def answers(systems: list[TransitionSystem]) -> Answers:
    """What explorer and interpreter find, and bounded search agrees with."""
    found = Answers()
    for system in systems:
        lengths: dict[str, int | None] = {}
        for invariant in system.invariants:
            length, diameter = shortest(system, invariant)
            bound = min(diameter, DEEPEST)
            bounded = search(system, invariant, bound, theory=BIT_VECTORS)
            if length is None or length > bound:
                assert (bounded.verdict, bounded.counts.depth, bounded.stopped) == (
                    Verdict.INCONCLUSIVE,
                    bound,
                    "steps",
                )
            else:
                assert (bounded.verdict, bounded.counts.depth) == (Verdict.VIOLATED, length)
            found.beyond += diameter > DEEPEST
            lengths[invariant] = length
        found.lengths.append(lengths)
    return found


def timed(
    system: TransitionSystem, lengths: dict[str, int | None], harmless: Callable[[Expr, int], Expr]
) -> TransitionSystem:
    """The system up to the longest of the lengths, and each violated invariant, with when it may be broken.

    `harmless` gives a condition on the clock for the length of an invariant.
    """
    violated = {name: length for name, length in lengths.items() if length is not None}
    most = max(violated.values(), default=0)
    clock = Variable("clock", INT, 0, most + 1, 0)
    steps = variable(clock)
    return replace(
        system,
        variables=(clock, *system.variables),
        transitions=tuple(
            replace(t, guard=all_of((less(steps, most), t.guard)), updates={**t.updates, clock: steps + 1})
            for t in system.transitions
        ),
        invariants={
            name: any_of((system.invariants[name], harmless(steps, length)))
            for name, length in violated.items()
        },
    )


def agree(systems: list[TransitionSystem]) -> Answers:
    """What all four find."""
    found = answers(systems)
    agree_together(systems)  # states, transitions, and how often invariants are broken
    assert errors(systems, found, sooner) == 0
    assert errors(systems, found, at_last) == len(found.violated)
    return found


def sooner(clock: Expr, length: int) -> Expr:
    """Counts what is broken before this moment."""
    return negate(less(clock, length))


def at_last(clock: Expr, length: int) -> Expr:
    """Counts what is broken at this moment."""
    return negate(clock == length)


def errors(systems: list[TransitionSystem], found: Answers, harmless: Callable[[Expr, int], Expr]) -> int:
    """How many invariants SPIN finds broken by then."""
    pairs = zip(systems, found.lengths, strict=True)
    return spin(once_each(one_of([timed(s, lengths, harmless) for s, lengths in pairs])), 100_000).errors


def test_on_random_systems() -> None:
    require_spin()
    found = agree(some_systems(7))
    assert len(found.lengths) == AT_ONCE
    assert max(found.violated) > 1


@pytest.mark.campaign
@pytest.mark.parametrize("batch", range(-(-SYSTEMS // AT_ONCE)))
def test_on_thousands_of_random_systems(batch: int) -> None:
    require_spin()
    found = agree(some_systems(5000 + batch))
    print(found)  # shown with -rP
    assert len(found.lengths) == AT_ONCE


def test_a_wrong_length_would_be_noticed() -> None:
    """One less is not yet, one more is too late."""
    require_spin()
    systems = some_systems(7)
    right = answers(systems)

    def wrong(by: int) -> Answers:
        return Answers([{name: n + by if n else n for name, n in found.items()} for found in right.lengths])

    later_than_at_once = sum(length > 0 for length in right.violated)
    assert errors(systems, wrong(-1), at_last) == len(right.violated) - later_than_at_once
    assert errors(systems, wrong(1), sooner) == later_than_at_once > 0
