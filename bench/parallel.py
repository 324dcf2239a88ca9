"""Two cores against one: the same search by one thread, by JOBS threads, and by JOBS processes each on its own, in turn, within one run.

The last is what the machine allows: so much less does a search get done while another one uses the same memory and the same caches. Prints the
medians, the ratio, how much of that limit it is, and every ratio. All must give the same answer. Compilation is left out. The machine should have nothing else to do: threads
that share a core with other programs wait for one another.

    python bench/parallel.py [--jobs JOBS] [--runs RUNS] [NAME...]

The names are those of `SYSTEMS`; without one, all of them, which takes some minutes.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
from collections.abc import Callable
from dataclasses import replace

from podrace.checker.core.exploration import Budget, Exploration
from podrace.checker.explicit import explore
from podrace.checker.reduction.slicing import slice_system
from podrace.model.history import resolve
from podrace.model.language import TransitionSystem
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import find_scenarios

if __package__:
    from bench.systems import SYSTEMS as OTHERS
    from bench.systems.leases import leases
    from bench.systems.synthetic import synthetic
else:  # run as a script
    from systems import SYSTEMS as OTHERS  # type: ignore[no-redef,import-not-found]
    from systems.leases import leases  # type: ignore[no-redef,import-not-found]
    from systems.synthetic import synthetic  # type: ignore[no-redef,import-not-found]

STATES = 12_000_000
"""How many states are visited of a system that has more."""


def scenario(name: str, release: str, fixes: tuple[str, ...], property_id: str) -> TransitionSystem:
    """A scenario as the search sees it, with these fixes put in."""
    (found,) = find_scenarios(name)
    composition = resolve(release, fixes)
    system = slice_system(instrument(found.spec, composition.classes, [PROPERTIES[property_id]]))
    return replace(system, name=f"{name} on {composition.label}")


SYSTEMS: dict[str, Callable[[], TransitionSystem]] = {
    "one-word": lambda: synthetic(1, jobs=7),
    "three-words": lambda: synthetic(3, jobs=7),
    **OTHERS,
    "leases": lambda: leases(3),
    "72124": lambda: scenario("72124", "1.14", (), "S-NOMVIS"),
    "73309": lambda: scenario("73309", "1.13", ("73309",), "S-STUCK"),
}


def searched(system: TransitionSystem, jobs: int) -> Exploration:
    """A search of at most STATES states."""
    return explore(system, Budget(max_states=STATES, jobs=jobs))


def side_by_side(system: TransitionSystem, jobs: int) -> float:
    """The seconds that a search by one thread takes while others do the same, on average."""
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        found = pool.starmap(searched, [(system, 1)] * jobs, chunksize=1)
    return statistics.mean(one.seconds for one in found)


def report(system: TransitionSystem, jobs: int, runs: int) -> None:
    """Print the line of one system."""
    explore(system, Budget(jobs=jobs, max_states=1_000_000))  # compiles
    rows = []
    states = 0
    for _ in range(runs):
        alone, together = searched(system, 1), searched(system, jobs)
        assert replace(alone, seconds=0.0) == replace(together, seconds=0.0)
        rows.append((alone.seconds, together.seconds, side_by_side(system, jobs)))
        states = alone.states
    ratios, limits = [a / b for a, b, _ in rows], [jobs * a / c for a, _, c in rows]
    one, many, each = (statistics.median(column) for column in zip(*rows, strict=True))
    ratio, limit = statistics.median(ratios), statistics.median(limits)
    print(
        f"{system.name:<34}{states:>12,}{one:>9.2f}s{many:>11.2f}s{each:>11.2f}s{ratio:>8.2f}{limit:>7.2f}"
        f"   {' '.join(f'{r:.2f}' for r in ratios)}",
        flush=True,
    )


def main() -> None:
    """Print one line for each system."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", choices=[*SYSTEMS, []], metavar="NAME")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    jobs = asked.jobs
    print(
        f"{'system':<34}{'states':>12}{'1 thread':>10}{f'{jobs} threads':>12}{f'{jobs} alone':>12}{'ratio':>8}{'limit':>7}   all ratios"
    )
    for name in asked.names or SYSTEMS:
        report(SYSTEMS[name](), jobs, asked.runs)


if __name__ == "__main__":
    main()
