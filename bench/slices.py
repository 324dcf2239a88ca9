"""What is left out of each search of the catalogue: the system as it was traced, beside what is explored of it.

For each race, its property before and after the fix (and what the fix leaves open, with what closes that):

    whole       states of all that runs, as traced with the monitor of that property: no more than MOST are looked for (`>`)
    bits        of a state; transitions of the system: of the whole, after constant propagation alone, and after the cone of influence as well
    slice       states of what is explored for the property, and how many times fewer that is. Constant propagation alone takes away
                variables with one value and transitions that never happen, so it takes away no state; that is asserted
    seen        transitions of all states of the slice; of these, how many were computed and looked up, for the others slept (docs/notebook/engine.md). A search of fewer than
                65,536 transitions has no sleep sets: `-`. One that has them leaves them again where they do not pay

All without predicates, so that no search ends early. At the end the best, the worst and the geometric means; one of a ratio that is only known to be larger
counts as the least that it can be. Counts are the same in every run, and on every machine.

    python bench/slices.py [NAME...]

The names are those of scenarios; without one, all, which takes some minutes.
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from typing import NamedTuple

from podrace.checker.codegen.mixed_radix import in_fewer_words
from podrace.checker.codegen.program import generate
from podrace.checker.core.exploration import Budget
from podrace.checker.explicit.engine import Search
from podrace.checker.explicit.states.budget import SearchBudget
from podrace.checker.explicit.states.sleep_sets import SleepSets
from podrace.checker.explicit.states.workers import Workers
from podrace.checker.reduction.constant_propagation import ConstantPropagation
from podrace.model.language import TransitionSystem

if __package__:
    from bench.spin import cases
else:  # run as a script
    from spin import cases  # type: ignore[no-redef,import-not-found]

MOST = 2_000_000


class Found(NamedTuple):
    """What a search found; `slept` is None if it had no sleep sets."""

    states: int
    complete: bool
    seen: int
    slept: int | None


class Row(NamedTuple):
    """How many times fewer states there are, and whether that is all that is known; what share of the transitions is computed.

    And what is left of the bits of a state and of the system's transitions: after constant propagation, and of that after the cone.
    """

    name: str
    fewer: float
    at_least: bool
    executed: float | None
    bits: tuple[float, float]
    transitions: tuple[float, float]


def searched(system: TransitionSystem, most: int | None) -> Found:
    """Search a system without its predicates."""
    bare = replace(system, invariants={}, witnesses={}, resettabilities={}, livenesses={})
    sets = SleepSets(bare)
    bound = SearchBudget(Budget(max_states=most), None)
    search = Search(generate(in_fewer_words(bare)), bound, Workers(1), sleep_sets=sets)
    found = search.run()
    slept = int(search.batch.tally[1]) if search.batch.tally[0] else None
    return Found(found.states, found.complete, found.transitions, slept)


def mean(numbers: list[float]) -> float:
    """The geometric one."""
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def summary(rows: list[Row]) -> None:
    """Print best, worst and means."""
    rows.sort(key=lambda row: row.fewer)
    for word, row in (("least", rows[0]), ("median", rows[len(rows) // 2]), ("most", rows[-1])):
        print(f"{word}: {row.fewer:,.1f} times fewer states, {row.name}")
    bounds = sum(row.at_least for row in rows)
    exact = [row.fewer for row in rows if not row.at_least]
    print(
        f"geometric means: {mean([row.fewer for row in rows]):.2f} times fewer states in all {len(rows)} ({bounds} of them at least)"
        + (f", {mean(exact):.2f} in the {len(exact)} that were searched whole" if exact else "")
    )
    for what, shares in (
        ("bits", [row.bits for row in rows]),
        ("transitions", [row.transitions for row in rows]),
    ):
        first, then = (mean([share[i] for share in shares]) for i in range(2))
        print(
            f"{what} left, geometric means: {first:.0%} by constant propagation, {then:.0%} of these by the cone, {first * then:.0%} in all"
        )
    executed = [row.executed for row in rows if row.executed is not None]
    if executed:
        print(
            f"transitions computed of those seen, {len(executed)} searches with sleep sets: {min(executed):.0%} to {max(executed):.0%}, geometric mean {mean(executed):.0%}"
        )


def main() -> None:
    """Print a row for each search, and what they come to."""
    print(
        f"{'':<68}{'whole':>11}{'bits':>15}{'transitions':>17}{'slice':>12}{'fewer':>10}{'seen':>13}{'computed':>13}{'':>6}"
    )
    rows = []
    for case in cases(sys.argv[1:]):
        constants = ConstantPropagation(case.whole).propagated
        whole, alone, part = (
            searched(case.whole, MOST),
            searched(constants, MOST),
            searched(case.system, None),
        )
        assert (whole.states, whole.complete) == (alone.states, alone.complete)
        forms = (case.whole, constants, case.system)
        computed = None if part.slept is None else 1 - part.slept / part.seen
        at_least = not whole.complete
        fewer = max(1.0, whole.states / part.states)
        bits = [form.bits for form in forms]
        steps = [len(form.transitions) for form in forms]
        left = [(numbers[1] / numbers[0], numbers[2] / numbers[1]) for numbers in (bits, steps)]
        rows.append(Row(case.name, fewer, at_least, computed, *left))
        sign = ">" if at_least else ""
        print(
            f"{case.name:<68}{sign + format(whole.states, ','):>11}"
            f"{'/'.join(map(str, bits)):>15}{'/'.join(map(str, steps)):>17}"
            f"{part.states:>12,}{sign + format(fewer, ',.1f'):>10}{part.seen:>13,}"
            f"{'-' if part.slept is None else format(part.seen - part.slept, ','):>13}"
            f"{'' if computed is None else format(computed, '.0%'):>6}",
            flush=True,
        )
    if rows:
        summary(rows)


if __name__ == "__main__":
    main()
