"""States and time with and without reductions, for every scenario that comes with podrace, in one run.

Compilation is left out of the search times; working out which transitions interfere is the column `prepare`.
"""

from __future__ import annotations

import statistics
import time

from podrace.checker.core.exploration import Exploration
from podrace.checker.explicit import explore
from podrace.checker.reduction.dependence import Dependence, dependence_of
from podrace.checker.reduction.slicing import slice_system
from podrace.model.history import resolve
from podrace.model.language import TransitionSystem
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import catalogue

RUNS = 3
LARGE = 1_000_000
LARGEST = 4_000_000


def systems() -> list[tuple[str, TransitionSystem]]:
    """Every scenario with its fix in, so that the whole of it is explored."""
    found = []
    for scenario in catalogue():
        if scenario.race is None or scenario.release is None:
            continue
        composition = resolve(scenario.release, scenario.race.after)
        for name in scenario.properties:
            system = slice_system(instrument(scenario.spec, composition.classes, [PROPERTIES[name]]))
            found.append((f"{scenario.race.issue} {name} {composition.label}", system))
    return found


def median(system: TransitionSystem, dependence: Dependence | None) -> tuple[Exploration, float]:
    """One answer, and the median time to it; a large system is searched only once."""
    runs = [explore(system, dependence=dependence)]
    if runs[0].states < LARGE:  # the first run may have compiled the kernels
        runs = [explore(system, dependence=dependence) for _ in range(RUNS)]
    return runs[0], statistics.median(r.seconds for r in runs)


def main() -> None:
    """Print one line for each scenario."""
    print(
        f"{'system':<34}{'states':>11}{'s':>8}{'prepare':>9}{'reduced':>11}{'s':>8}{'left':>7}   (medians of {RUNS}, large ones once)"
    )
    for name, system in systems():
        full, seconds = median(system, None)
        if full.states > LARGEST:
            print(
                f"{name:<34}{full.states:>11,}{seconds:>8.2f}   (more than {LARGEST:,} states: not compared)"
            )
            continue
        began = time.monotonic()
        dependence = dependence_of(system)
        prepare = time.monotonic() - began
        reduced, reduced_seconds = median(system, dependence)
        assert full.violations.keys() == reduced.violations.keys()
        assert full.no_way_back.keys() == reduced.no_way_back.keys()
        assert full.witnesses.keys() == reduced.witnesses.keys()
        assert full.constraints_hit == reduced.constraints_hit
        print(
            f"{name:<34}{full.states:>11,}{seconds:>8.2f}{prepare:>9.2f}"
            f"{reduced.states:>11,}{reduced_seconds:>8.2f}{reduced.states / full.states:>7.0%}"
        )


if __name__ == "__main__":
    main()
