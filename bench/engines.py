"""The native engine against the reference interpreter: distinct states and transitions per second, in one run.

The interpreter is given the first STATES states of each system; the native engine takes all of it, and its figures
leave out compilation. The last column is the ratio of states per second.
"""

from __future__ import annotations

import statistics
from dataclasses import replace

from podrace.checker.core.exploration import Budget, Exploration
from podrace.checker.explicit import explore as explore_natively
from podrace.checker.explicit.reference import explore
from podrace.checker.reduction.slicing import slice_system
from podrace.model.history import resolve
from podrace.model.language import TransitionSystem
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import catalogue

RUNS = 3
STATES = 3000


def systems() -> list[tuple[str, TransitionSystem]]:
    """Every seed scenario with its fix in, so that the whole of it is explored."""
    found = []
    for scenario in catalogue():
        if scenario.race is None or not scenario.race.seed or scenario.release is None:
            continue
        composition = resolve(scenario.release, scenario.race.after)
        for name in scenario.properties:
            system = slice_system(instrument(scenario.spec, composition.classes, [PROPERTIES[name]]))
            found.append((f"{scenario.race.issue} {name} {composition.label}", system))
    return found


def rates(runs: list[Exploration]) -> tuple[float, float]:
    """Median states and transitions per second."""
    states = statistics.median(r.states / r.seconds for r in runs)
    return states, statistics.median(r.transitions / r.seconds for r in runs)


def main() -> None:
    """Print one line for each seed scenario."""
    header = (
        f"{'system':<34}{'states':>10}{'native st/s':>13}{'native tr/s':>13}{'interp. st/s':>14}{'ratio':>8}"
    )
    print(f"{header}   (medians of {RUNS} runs)")
    for name, system in systems():
        explore_natively(system)  # compiles
        native = [explore_natively(system) for _ in range(RUNS)]
        slow = [explore(system, Budget(max_states=STATES)) for _ in range(RUNS)]
        first = explore_natively(system, Budget(max_states=STATES))
        assert replace(first, seconds=0.0) == replace(slow[0], seconds=0.0)
        (states, transitions), (reference, _) = rates(native), rates(slow)
        print(
            f"{name:<34}{native[0].states:>10,}{states:>13,.0f}{transitions:>13,.0f}"
            f"{reference:>14,.0f}{states / reference:>8,.0f}"
        )


if __name__ == "__main__":
    main()
