"""Liveness against safety on the same graph, in one run: seconds, and their ratio.

Each system is explored once more without its liveness: the same slice, the same states and transitions, one
invariant (that no run comes to rest in violation). Compilation is left out. The liveness holds in all of them, so nothing
ends early; the aim is a ratio below 4 at a million states.
"""

from __future__ import annotations

import statistics

from podrace.checker.core.exploration import Exploration
from podrace.checker.explicit import explore
from podrace.checker.reduction.slicing import slice_system
from podrace.checker.trace.lasso import at_rest
from podrace.model.history import resolve
from podrace.model.language import TransitionSystem
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import find_scenarios

RUNS = 3
SYSTEMS = (
    ("72124", "L-PEND", "1.19"),
    ("73309", "L-PEND", "1.19"),
    ("72124", "L-PEND", "1.18"),
    ("72124", "L-PROG", "1.13"),
)


def system_of(race: str, name: str, release: str) -> TransitionSystem:
    """The slice that decides the property."""
    (scenario,) = find_scenarios(race)
    sliced = slice_system(
        instrument(scenario.spec, resolve(release).classes, [PROPERTIES[name]]), livenesses=[name]
    )
    return sliced.with_predicates(invariants=at_rest(sliced))


def seconds(system: TransitionSystem) -> tuple[Exploration, float]:
    """The answer, and the median time of some runs after one that compiles."""
    explore(system)
    runs = [explore(system) for _ in range(RUNS)]
    return runs[0], statistics.median(r.seconds for r in runs)


def main() -> None:
    """Print one line for each system."""
    print(f"{'system':<24}{'states':>12}{'transitions':>14}{'safety':>10}{'liveness':>10}{'ratio':>8}")
    for race, name, release in SYSTEMS:
        system = system_of(race, name, release)
        safe, safety = seconds(system.with_predicates(livenesses={}))
        live, liveness = seconds(system)
        assert (live.states, live.transitions) == (safe.states, safe.transitions)
        assert live.complete
        assert not live.lassos
        print(
            f"{f'{race} {name} {release}':<24}{live.states:>12,}{live.transitions:>14,}"
            f"{safety:>9.2f}s{liveness:>9.2f}s{liveness / safety:>8.2f}"
        )


if __name__ == "__main__":
    main()
