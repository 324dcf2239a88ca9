"""podrace against SPIN, on the same systems, in one run. Needs `make tools`.

First: millions of distinct states a second on one core, podrace without reductions against SPIN compiled with -O3 and without
its partial-order reduction. Both search all of the same system, and must find as many states and transitions. Rates and the first ratio are by the clock. The
others are by the time of the processor, and by what of it is the search's own: the rest is mostly the system's, for memory, which moves from hour to hour. On
a machine that has other things to do, only these two say anything.

Second: a whole check, in seconds of CPU, all processes together (the clock of a shared machine says little about tenths of a second).
podrace as it is, start-up and the compilation of the system included: once as on any day (the engine itself, which is the same for
all systems, was compiled before, as SPIN was), once "cold", from an empty cache, once "again", the same command after the first.
SPIN with its partial-order reduction, its own compilation and the C compiler's included, but not the time to
write the Promela file; the smaller of two: compiled with -O0, which is ready sooner, and with -O3.

Every figure is the median of RUNS runs, which alternate between the two.

    python -m bench.spin [--speed | --checks] [--only TEXT] [NAME...]

The names are those of scenarios to take, and of the systems in bench/systems; without one, all. Of these systems some are written in Promela
by hand as well, as somebody would who uses SPIN: a row of its own compares with that. `--only` takes rows whose name has the text, as "S-NOMVIS 1.13.0 + 72259": one row of the
first table takes a minute or two.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.systems import SYSTEMS as OTHERS
from bench.systems import by_hand
from podrace.base.structs import Data
from podrace.checker.core.exploration import Budget
from podrace.checker.explicit import explore
from podrace.checker.reduction.questions import explored_slice
from podrace.model.history import resolve
from podrace.model.language import TransitionSystem
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import catalogue
from tests.tools import spin
from tests.tools.export.promela import to_promela

RUNS = int(os.environ.get("RUNS", "3"))

ENOUGH = 1_000_000
"""Speed is measured where there are so many states: SPIN's clock is coarse."""


class Case(Data, slots=False):
    """One property of one scenario on one release: all of it as it was traced, and the slice that is explored."""

    scenario: str
    prop: str
    release: str
    fixes: tuple[str, ...]
    whole: TransitionSystem
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
            yield Case(scenario.name, name, release, tuple(fixes), model, explored_slice(model, name))


class Seconds(NamedTuple):
    """What a search takes: by the clock, of the processor, and of the latter in the search's own code alone."""

    clock: float
    cpu: float
    user: float


def speed(system: TransitionSystem, promela: Path | None = None) -> tuple[int, Seconds, Seconds] | None:
    """The number of states, and what podrace and SPIN need for them; SPIN takes what podrace exports, unless given a file."""
    # Without predicates, or a search that finds all its answers ends early; and neither is asked for livenesses.
    system = replace(system, invariants={}, witnesses={}, resettabilities={}, livenesses={})
    graph = explore(system)
    if graph.states < ENOUGH:
        return None
    ours: list[Seconds] = []
    theirs: list[Seconds] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        written = promela.read_text(encoding="utf-8") if promela else None
        spin.build(system, folder, options=["-O3"], promela=written)
        for _ in range(RUNS):
            before = os.times()
            found = explore(system, Budget())
            between = os.times()
            other = spin.search(folder, states=graph.states)
            after = os.times()
            assert (other.states, other.transitions) == (found.states, found.transitions), (
                system.name,
                other,
            )
            user = between.user - before.user
            ours.append(Seconds(found.seconds, user + between.system - before.system, user))
            user = after.children_user - between.children_user
            theirs.append(Seconds(other.search, user + after.children_system - between.children_system, user))
    own, others = (Seconds(*map(median, zip(*runs, strict=True))) for runs in (ours, theirs))
    return graph.states, own, others


def cpu_of_children() -> float:
    """The seconds of CPU of all processes that this one has started and that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def checked(case: Case, engine: Path | None) -> tuple[str, int, float, float]:
    """podrace's verdict, how many states it needed, and the seconds of two runs in a row.

    The first starts with a copy of the cache `engine`, or with an empty one.
    """
    podrace = str(Path(sys.executable).with_name("podrace"))
    command = [podrace, "check", *case.arguments, "--jobs", "1", "-o", "json"]
    seconds, printed = [], ""
    with tempfile.TemporaryDirectory() as cache:
        if engine is not None:
            shutil.copytree(engine, cache, dirs_exist_ok=True)
        environment = {**os.environ, "PODRACE_CACHE": cache}
        for _ in range(2):
            before = cpu_of_children()
            ran = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=False)
            seconds.append(cpu_of_children() - before)
            printed = ran.stdout
    (finding,) = json.loads(printed)
    return finding["verdict"], finding["states"], *seconds


def compile_engine(cache: Path) -> None:
    """Leave in `cache` what searches of any systems leave there: of small ones that no scenario has, with states of one to five words."""
    program = (
        "from podrace.checker.explicit import explore\n"
        "from podrace.model.language import INT, Case, Transition, TransitionSystem, Universe, Variable, as_expr\n"
        "from podrace.model.language.expressions.expr import variable\n"
        "for words in range(1, 6):\n"
        "    held = tuple(Variable(f'v{i}', INT, 0, (1 << 60) - 1, 0) for i in range(words))\n"
        "    one = Transition('p', 's', (), 'a', True, variable(held[0]) < 2, (), {held[0]: variable(held[0]) + 1})\n"
        "    asked = {'q': variable(held[0]) < 1}, {'r': variable(held[0]) < 1}, {'l': (Case('c', as_expr(True), ()),)}\n"
        "    for kind, table in zip(('invariants', 'resettabilities', 'livenesses'), asked):\n"
        "        explore(TransitionSystem('', Universe({}), held, (one,), **{kind: table}))\n"
    )
    subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PODRACE_CACHE": str(cache)}, check=True
    )


def spun(case: Case, states: int, option: str) -> tuple[str, int, float]:
    """The same of SPIN, which has no verdict on what must stay possible, and none that a liveness holds."""
    system = replace(case.system, witnesses={})
    with tempfile.TemporaryDirectory() as place:
        before = cpu_of_children()
        spin.build(system, Path(place), reduction=True, options=[option])
        found = spin.search(Path(place), states=states, to_first_error=True)
        seconds = cpu_of_children() - before
    return spin.verdict(system, found) or "-", found.states, seconds


def report_speed(chosen: list[tuple[str, TransitionSystem, Path | None]]) -> None:
    """Print the first table."""
    print(
        f"{'all states, no reduction':<68}{'states':>11}{'podrace':>9}{'SPIN':>9}{'ratio':>7}{'CPU':>7}{'user':>7}"
    )
    for name, system, promela in chosen:
        found = speed(system, promela)
        if found is not None:
            states, ours, theirs = found
            rates = "".join(f"{states / one.clock / 1e6:>9.2f}" for one in (ours, theirs))
            ratios = "".join(f"{other / own:>7.1f}" for own, other in zip(ours, theirs, strict=True))
            print(f"{name:<68}{states:>11,}{rates}{ratios}", flush=True)


def report_checks(chosen: list[Case], engine: Path) -> None:
    """Print the second table."""
    print(f"\n{'a whole check':<78}{'states':>22}{'seconds of CPU':>36}")
    print(
        f"{'':<68}{'verdict':>10}{'podrace':>11}{'SPIN':>11}{'podrace':>9}{'cold':>9}{'again':>9}{'SPIN':>9}"
    )
    rows: list[tuple[float, ...]] = []
    for case in chosen:
        try:
            to_promela(replace(case.system, witnesses={}))
        except ValueError as refused:
            print(f"{case.name:<68}left out: {refused}", flush=True)
            continue
        states = explore(replace(case.system, invariants={}, witnesses={}, resettabilities={})).states
        runs = [
            (checked(case, engine), checked(case, None), spun(case, states, "-O0"), spun(case, states, "-O3"))
            for _ in range(RUNS)
        ]
        warm, cold, quick, fast = (median(run[i][2] for run in runs) for i in range(4))
        again = median(one[3] for run in runs for one in run[:2])
        (verdict, ours, *_), _, (other, theirs, _), _ = runs[0]
        assert other in ("-", verdict), f"they disagree on {case.name}: podrace {verdict}, SPIN {other}"
        rows.append((warm, cold, again, min(quick, fast)))
        columns = "".join(f"{s:>9.2f}" for s in rows[-1])
        print(f"{case.name:<68}{verdict:>10}{ours:>11,}{theirs:>11,}{columns}", flush=True)
    print(f"{'in total':<100}" + "".join(f"{sum(column):>9.2f}" for column in zip(*rows, strict=True)))
    less = (sum(row[i] < row[3] for row in rows) for i in range(3))
    print(f"{f'less than SPIN, of {len(rows)} rows':<100}" + "".join(f"{number:>9}" for number in less))


def main() -> None:
    """Print both tables."""
    missing = spin.missing_tools()
    if missing:
        print(f"not installed: {', '.join(missing)}: run `make tools`", file=sys.stderr)
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--speed", action="store_true", help="the first table alone")
    parser.add_argument("--checks", action="store_true", help="the second table alone")
    asked = parser.parse_args()
    names = [name for name in asked.names if name not in OTHERS]
    chosen = [c for c in cases(names) if asked.only in c.name] if names or not asked.names else []
    # A row may have a name that others begin with.
    chosen = [c for c in chosen if asked.only == c.name] or chosen
    if not asked.checks:
        others = [n for n in OTHERS if n in asked.names or (not asked.names and asked.only in n)]
        rows: list[tuple[str, TransitionSystem, Path | None]] = [(c.name, c.system, None) for c in chosen]
        for name in others:
            written = by_hand(name)
            rows += [(name, OTHERS[name](), None)]
            rows += [(f"{name}, Promela by hand", OTHERS[name](), written)] if written else []
        report_speed(rows)
    if not asked.speed:
        with tempfile.TemporaryDirectory() as engine:
            compile_engine(Path(engine))
            report_checks(chosen, Path(engine))


if __name__ == "__main__":
    main()
