"""Two cores against one: the same search by one thread and by JOBS, in turn, within one run.

Prints the medians and every ratio. Both must give the same answer. Compilation is left out. The machine should have nothing else to do: threads that share a core with
other programs wait for one another.

    python bench/parallel.py [JOBS]
"""

from __future__ import annotations

import statistics
import sys
from dataclasses import replace

from podrace.checker.core.exploration import Budget
from podrace.checker.explicit import explore
from podrace.checker.reduction.slicing import slice_system
from podrace.model.history import resolve
from podrace.model.language import TransitionSystem
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import find_scenarios

if __package__:
    from bench.native_speed import synthetic
else:  # run as a script
    from native_speed import synthetic  # type: ignore[no-redef,import-not-found]

RUNS = 3
STATES = 12_000_000


def systems() -> list[tuple[TransitionSystem, int | None]]:
    """Systems of one to four words a state, and how many states of them are visited: all of the scenarios'."""
    scenarios = [scenario("72124", "1.14", (), "S-NOMVIS"), scenario("73309", "1.13", ("73309",), "S-STUCK")]
    return [(synthetic(1, jobs=7), STATES), (synthetic(3, jobs=7), STATES), *((s, None) for s in scenarios)]


def scenario(name: str, release: str, fixes: tuple[str, ...], property_id: str) -> TransitionSystem:
    """A scenario as the search sees it, with these fixes put in."""
    (found,) = find_scenarios(name)
    composition = resolve(release, fixes)
    system = slice_system(instrument(found.spec, composition.classes, [PROPERTIES[property_id]]))
    return replace(system, name=f"{name} on {composition.label}")


def main() -> None:
    """Print one line for each system."""
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    print(f"{'system':<34}{'states':>12}{'1 thread':>10}{f'{jobs} threads':>12}{'ratio':>8}   all ratios")
    for system, most in systems():
        explore(system, Budget(jobs=jobs, max_states=1_000_000))  # compiles
        pairs = []
        states = 0
        for _ in range(RUNS):
            alone, together = (explore(system, Budget(max_states=most, jobs=n)) for n in (1, jobs))
            assert replace(alone, seconds=0.0) == replace(together, seconds=0.0)
            pairs.append((alone.seconds, together.seconds))
            states = alone.states
        ratios = [a / b for a, b in pairs]
        one, many = (statistics.median(column) for column in zip(*pairs, strict=True))
        print(
            f"{system.name:<34}{states:>12,}{one:>9.2f}s{many:>11.2f}s{statistics.median(ratios):>8.2f}"
            f"   {' '.join(f'{r:.2f}' for r in ratios)}",
            flush=True,
        )


if __name__ == "__main__":
    main()
