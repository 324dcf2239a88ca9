"""Random walks: steps a second, and which way to pick a step covers more, on scenarios with their fix put in.

For each scenario, property and way to pick: steps a second on one thread (the median of RUNS runs of WALKS walks, compilation left
out); then what is covered by as many walks from each of SEEDS seeds: steps that ran, values that variables took, witnesses
reached (each a mean).
"""

from __future__ import annotations

import math
import statistics

from podrace.analysis.request.plan import SAFETY
from podrace.checker.core.result import Result
from podrace.checker.simulate import By, Walks, simulate
from podrace.model.history import RELEASES, resolve
from podrace.model.language import TransitionSystem
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import catalogue

RUNS, SEEDS, WALKS = 3, 5, 2000
WAYS: tuple[By, ...] = ("step", "transition")


def systems() -> list[tuple[str, str, TransitionSystem]]:
    """The safety properties of every scenario of the catalogue, with the fixes of its race in."""
    found = []
    for scenario in catalogue():
        fixes = scenario.race.fixes if scenario.race else ()
        composition = resolve(scenario.release or RELEASES[-1], fixes)
        for name in (*scenario.properties, *scenario.also):
            if PROPERTIES[name].kind in SAFETY:
                system = instrument(scenario.spec, composition.classes, [PROPERTIES[name]])
                found.append((f"{scenario.name} {name} {composition.label}", name, system))
    return found


def steps_of(run: Result) -> int:
    """How many steps the walks took."""
    assert run.counts.walks is not None
    return run.counts.walks.steps


def mean_coverage(runs: list[Result]) -> tuple[float, float, float]:
    """Steps that ran, values taken, witnesses reached."""
    steps = statistics.mean(len(r.coverage.fired) for r in runs)
    values = statistics.mean(sum(len(v.values) for v in r.coverage.values) for r in runs)
    return steps, values, statistics.mean(len(r.coverage.witnesses_reached) for r in runs)


def main() -> None:
    """Print one line for each scenario and way to pick."""
    print(f"{'system':<44}{'by':<12}{'steps/s':>12}{'steps':>12}{'ran':>8}{'values':>8}{'witnesses':>7}")
    for label, name, system in systems():
        for by in WAYS:
            speed = statistics.median(
                steps_of(r) / (r.counts.seconds or math.inf)
                for r in (simulate(system, name, Walks(WALKS, by=by)) for _ in range(RUNS))
            )
            runs = [simulate(system, name, Walks(WALKS, seed=seed, by=by)) for seed in range(SEEDS)]
            ran, values, witnesses = mean_coverage(runs)
            total = sum(map(steps_of, runs))
            print(f"{label:<44}{by:<12}{speed:>12,.0f}{total:>12,}{ran:>8.1f}{values:>8.1f}{witnesses:>7.1f}")


if __name__ == "__main__":
    main()
