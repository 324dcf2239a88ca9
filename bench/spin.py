"""podrace against SPIN, on the same systems, in one run. Needs `make tools`.

First: distinct states a second on one core, podrace without reductions against SPIN compiled with -O3 and without
its partial-order reduction. Both search all of the same system, and must find as many states and transitions.

Second: a whole check. podrace as it is, from an empty cache, start-up included; SPIN with its partial-order
reduction, its own compilation and the C compiler's included, but not the time to write the Promela file. SPIN's
total is the smaller of two: compiled with -O0, which is ready sooner, and with -O3.

Every figure is the median of RUNS runs, which alternate between the two. Arguments: names of scenarios to take.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from podrace.checker.exploration import Budget
from podrace.checker.export import spin
from podrace.checker.native import explore
from podrace.checker.search import explored_slice
from podrace.model.history import resolve
from podrace.model.language import TransitionSystem
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import catalogue

RUNS = int(os.environ.get("RUNS", "3"))
ENOUGH = 1_000_000
"""Speed is measured where there are so many states: SPIN's clock is coarse."""


@dataclass(frozen=True)
class Case:
    """One property of one scenario on one release."""

    scenario: str
    property: str
    release: str
    fixes: tuple[str, ...]
    system: TransitionSystem

    @property
    def name(self) -> str:
        return f"{self.scenario} {self.property} " + " + ".join((self.release, *self.fixes))

    @property
    def arguments(self) -> list[str]:
        """What `podrace check` has to be told."""
        fixes = [word for fix in self.fixes for word in ("--with-fix", fix)]
        return [self.scenario, "--release", self.release, "--property", self.property, *fixes]


def cases(wanted: list[str]) -> Iterator[Case]:
    """Every race before and after its fix, and what the fix leaves open, with what closes that."""
    for scenario in catalogue():
        race, release = scenario.race, scenario.release
        if race is None or release is None or (wanted and not {*scenario.selectors} & {*wanted}):
            continue
        plans = [(p, fixes) for p in scenario.properties for fixes in ((), race.fixes)]
        if race.residual is not None:
            closed = (*race.fixes, *race.residual.closed_by)
            plans += [(race.residual.property, race.fixes), (race.residual.property, closed)]
        for name, fixes in plans:
            model = instrument(scenario.spec, resolve(release, fixes).classes, [PROPERTIES[name]])
            yield Case(str(race.issue), name, release, tuple(fixes), explored_slice(model, name))


def speed(case: Case) -> tuple[int, float, float] | None:
    """The number of states, and the seconds that podrace and SPIN need for them."""
    # Without predicates, or a search that finds all its answers ends early.
    system = replace(case.system, invariants={}, goals={}, recoveries={})
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
            assert (other.states, other.transitions) == (found.states, found.transitions), "they disagree"
            ours.append(found.seconds)
            theirs.append(other.search)
    return graph.states, median(ours), median(theirs)


def checked(case: Case) -> tuple[str, int, float]:
    """podrace's verdict, how many states it needed, and the seconds from start to end."""
    command = [str(Path(sys.executable).with_name("podrace")), "check", *case.arguments, "-o", "json"]
    with tempfile.TemporaryDirectory() as cache:
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


def spun(case: Case, states: int, option: str) -> tuple[str, int, float]:
    """The same of SPIN, which has no verdict on what must stay possible."""
    system = replace(case.system, goals={})
    with tempfile.TemporaryDirectory() as place:
        began = time.perf_counter()
        spin.build(system, Path(place), reduction=True, options=[option])
        found = spin.search(Path(place), states=states, to_first_error=True)
        seconds = time.perf_counter() - began
    verdict = "-" if system.recoveries else "HOLDS" if found.holds else "VIOLATED"
    return verdict, found.states, seconds


def report_speed(chosen: list[Case]) -> None:
    """Print the first table."""
    print(
        f"{'all states, no reduction':<62}{'states':>11}{'podrace':>9}{'SPIN':>9}{'ratio':>7}   (M states/s)"
    )
    for case in chosen:
        found = speed(case)
        if found is not None:
            states, ours, theirs = found
            rates = f"{states / ours / 1e6:>9.2f}{states / theirs / 1e6:>9.2f}{theirs / ours:>7.1f}"
            print(f"{case.name:<62}{states:>11,}{rates}", flush=True)


def report_checks(chosen: list[Case]) -> None:
    """Print the second table."""
    print(
        f"\n{'a whole check':<62}{'verdict':>10}{'states: podrace':>17}{'SPIN':>11}{'s: podrace':>12}{'SPIN':>8}"
    )
    totals = [0.0, 0.0]
    for case in chosen:
        states = explore(replace(case.system, invariants={}, goals={}, recoveries={})).states
        ours, quick, fast = [], [], []
        for _ in range(RUNS):
            ours.append(checked(case))
            quick.append(spun(case, states, "-O0"))
            fast.append(spun(case, states, "-O3"))
        verdict, seen, _ = ours[0]
        assert quick[0][0] in ("-", verdict), "they disagree"
        seconds = median(s for _, _, s in ours)
        theirs = min(median(s for _, _, s in quick), median(s for _, _, s in fast))
        totals = [totals[0] + seconds, totals[1] + theirs]
        print(
            f"{case.name:<62}{verdict:>10}{seen:>17,}{quick[0][1]:>11,}{seconds:>12.2f}{theirs:>8.2f}",
            flush=True,
        )
    print(f"{'in total':<62}{'':>38}{totals[0]:>12.2f}{totals[1]:>8.2f}")


def main() -> None:
    """Print both tables."""
    missing = spin.missing_tools()
    if missing:
        print(f"not installed: {', '.join(missing)}: run `make tools`", file=sys.stderr)
        return
    chosen = list(cases(sys.argv[1:]))
    report_speed(chosen)
    report_checks(chosen)


if __name__ == "__main__":
    main()
