"""podrace against SPIN, on the same systems, in one run. Needs `make tools`.

First: distinct states a second on one core, podrace without reductions against SPIN compiled with -O3 and without
its partial-order reduction. Both search all of the same system, and must find as many states and transitions.

Second: a whole check. podrace as it is, start-up and the compilation of the system included: once as on any day (the
engine itself, which is the same for all systems, was compiled before, as SPIN was), once "cold", from an empty
cache. SPIN with its partial-order reduction, its own compilation and the C compiler's included, but not the time to
write the Promela file; the smaller of two: compiled with -O0, which is ready sooner, and with -O3.

Every figure is the median of RUNS runs, which alternate between the two. Arguments: names of scenarios to take.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from podrace.checker.core.exploration import Budget
from podrace.checker.explicit import explore
from podrace.checker.export import spin
from podrace.checker.reduction.questions import explored_slice
from podrace.model.history import resolve
from podrace.model.language import TransitionSystem
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import catalogue

if __package__:
    from bench.leases import leases
else:  # run as a script
    from leases import leases  # type: ignore[no-redef,import-not-found]

RUNS = int(os.environ.get("RUNS", "3"))
ENOUGH = 1_000_000
"""Speed is measured where there are so many states: SPIN's clock is coarse."""


@dataclass(frozen=True)
class Case:
    """One property of one scenario on one release."""

    scenario: str
    prop: str
    release: str
    fixes: tuple[str, ...]
    system: TransitionSystem

    @property
    def name(self) -> str:
        return f"{self.scenario} {self.prop} " + " + ".join((self.release, *self.fixes))

    @property
    def arguments(self) -> list[str]:
        """What `podrace check` has to be told."""
        fixes = [word for fix in self.fixes for word in ("--with-fix", fix)]
        return [self.scenario, "--release", self.release, "--property", self.prop, *fixes]


def cases(wanted: list[str]) -> Iterator[Case]:
    """Every race before and after its fix, and what the fix leaves open, with what closes that."""
    for scenario in catalogue():
        race, release = scenario.race, scenario.release
        if race is None or release is None or (wanted and not {*scenario.selectors} & {*wanted}):
            continue
        plans = [(p, fixes) for p in scenario.properties for fixes in (race.beside, race.after)]
        if race.residual is not None:
            closed = (*race.after, *race.residual.closed_by)
            plans += [(race.residual.property, race.after), (race.residual.property, closed)]
        for name, fixes in plans:
            classes = resolve(release, fixes, (), dict(scenario.feature_gates)).classes
            model = instrument(scenario.spec, classes, [PROPERTIES[name]])
            yield Case(scenario.name, name, release, tuple(fixes), explored_slice(model, name))


def speed(system: TransitionSystem) -> tuple[int, float, float] | None:
    """The number of states, and the seconds that podrace and SPIN need for them."""
    # Without predicates, or a search that finds all its answers ends early; and neither is asked for livenesses.
    system = replace(system, invariants={}, witnesses={}, resettabilities={}, livenesses={})
    graph = explore(system)
    if graph.states < ENOUGH:
        return None
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        spin.build(system, folder, options=["-O3"])
        for _ in range(RUNS):
            found = explore(system, Budget())
            other = spin.search(folder, states=graph.states)
            assert (other.states, other.transitions) == (found.states, found.transitions), (
                system.name,
                other,
            )
            ours.append(found.seconds)
            theirs.append(other.search)
    return graph.states, median(ours), median(theirs)


def checked(case: Case, engine: Path | None) -> tuple[str, int, float]:
    """podrace's verdict, how many states it needed, and the seconds from start to end.

    The search starts with a copy of the cache `engine`, or with an empty one.
    """
    command = [str(Path(sys.executable).with_name("podrace")), "check", *case.arguments, "-o", "json"]
    with tempfile.TemporaryDirectory() as cache:
        if engine is not None:
            shutil.copytree(engine, cache, dirs_exist_ok=True)
        began = time.perf_counter()
        ran = subprocess.run(
            command,
            env={**os.environ, "PODRACE_CACHE": cache},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        seconds = time.perf_counter() - began
    (finding,) = json.loads(ran.stdout)
    return finding["verdict"], finding["states"], seconds


def compile_engine(cache: Path) -> None:
    """Leave in `cache` what any search leaves there: a search of a system that no scenario has."""
    program = (
        "from podrace.checker.explicit import explore\n"
        "from podrace.model.language import TransitionSystem, Universe\n"
        "explore(TransitionSystem(name='', universe=Universe({}), variables=(), transitions=()))\n"
    )
    subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PODRACE_CACHE": str(cache)}, check=True
    )


def spun(case: Case, states: int, option: str) -> tuple[str, int, float]:
    """The same of SPIN, which has no verdict on what must stay possible, and none that a liveness holds."""
    system = replace(case.system, witnesses={})
    with tempfile.TemporaryDirectory() as place:
        began = time.perf_counter()
        spin.build(system, Path(place), reduction=True, options=[option])
        found = spin.search(Path(place), states=states, to_first_error=True)
        seconds = time.perf_counter() - began
    return spin.verdict(system, found) or "-", found.states, seconds


def report_speed(chosen: list[Case]) -> None:
    """Print the first table."""
    print(
        f"{'all states, no reduction':<68}{'states':>11}{'podrace':>9}{'SPIN':>9}{'ratio':>7}   (M states/s)"
    )
    for name, system in [*((case.name, case.system) for case in chosen), ("leases", leases())]:
        found = speed(system)
        if found is not None:
            states, ours, theirs = found
            rates = f"{states / ours / 1e6:>9.2f}{states / theirs / 1e6:>9.2f}{theirs / ours:>7.1f}"
            print(f"{name:<68}{states:>11,}{rates}", flush=True)


def report_checks(chosen: list[Case], engine: Path) -> None:
    """Print the second table."""
    print(f"\n{'a whole check':<78}{'states':>22}{'seconds':>27}")
    print(f"{'':<68}{'verdict':>10}{'podrace':>11}{'SPIN':>11}{'podrace':>9}{'cold':>9}{'SPIN':>9}")
    totals = [0.0, 0.0, 0.0]
    for case in chosen:
        states = explore(replace(case.system, invariants={}, witnesses={}, resettabilities={})).states
        runs = [
            (checked(case, engine), checked(case, None), spun(case, states, "-O0"), spun(case, states, "-O3"))
            for _ in range(RUNS)
        ]
        warm, cold, quick, fast = (median(run[i][2] for run in runs) for i in range(4))
        (verdict, ours, _), _, (other, theirs, _), _ = runs[0]
        assert other in ("-", verdict), f"they disagree on {case.name}: podrace {verdict}, SPIN {other}"
        seconds = (warm, cold, min(quick, fast))
        totals = [total + more for total, more in zip(totals, seconds, strict=True)]
        columns = "".join(f"{s:>9.2f}" for s in seconds)
        print(f"{case.name:<68}{verdict:>10}{ours:>11,}{theirs:>11,}{columns}", flush=True)
    print(f"{'in total':<100}" + "".join(f"{s:>9.2f}" for s in totals))


def main() -> None:
    """Print both tables."""
    missing = spin.missing_tools()
    if missing:
        print(f"not installed: {', '.join(missing)}: run `make tools`", file=sys.stderr)
        return
    chosen = list(cases(sys.argv[1:]))
    report_speed(chosen)
    with tempfile.TemporaryDirectory() as engine:
        compile_engine(Path(engine))
        report_checks(chosen, Path(engine))


if __name__ == "__main__":
    main()
