"""Mutants of kube-scheduler, in lines that tours execute: which of them do the tours notice, and which do upstream's own unit tests of the package? Needs Go 1.26 or later.

    python -m tests.tools.go_mutants --count 100 --seed 50 --table FILE

What the table has is not done again.
"""

from __future__ import annotations

import argparse
import resource
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

from podrace.base.problems import Problem
from podrace.reproduce.changes.damaging import refused_in
from podrace.reproduce.changes.lines import ChangedLine, changed_lines
from podrace.reproduce.changes.sources import tree_with, unchanged
from podrace.reproduce.changes.texts import FileChange
from podrace.reproduce.modules.module import KUBERNETES, KubernetesVersion, parse_version
from podrace.reproduce.modules.toolchain import BuildProblem, Go, find_go
from podrace.reproduce.running import Built, alone_in, built_for
from podrace.scenarios import read_scenario

from . import tours, unit_tests
from .mutants import Mutant, drawn, mutants_of, mutated_texts
from .table import NOTHING, Row, put, read, sums, write

VERSION = "v1.36.3"
PACKAGES = (
    "pkg/scheduler",
    "pkg/scheduler/backend/cache",
    "pkg/scheduler/backend/queue",
    "pkg/scheduler/framework/plugins/defaultpreemption",
    "pkg/scheduler/framework/preemption",
    "pkg/scheduler/framework/runtime",
)
SCENARIOS = (
    "heartbeats",
    "gate-outlives-removal",
    "expired-assumption",
    "update-in-flight",
    "scaled-down-under-pre-bind",
    "restart",
    "protected-by-budget",
    "hazards/forced-out",
)
FOLDER = Path(__file__).parents[3] / "scenarios"
TABLE = Path(__file__).parent / "mutants.tsv"
PAGE = Path(__file__).parents[3] / "docs/notebook/tours-table.md"


def main() -> int:
    """Draw, build, play, write; gives the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.go_mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=50)
    parser.add_argument("--table", type=Path, default=TABLE, metavar="FILE")
    asked = parser.parse_args()
    try:
        _measure(asked.count, asked.seed, asked.table)
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 2
    return 0


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _measure(count: int, seed: int, table: Path) -> None:
    go, version = find_go(), parse_version(VERSION)
    root = unchanged(version, go)
    files = [f for package in PACKAGES for f in sorted((root / package).glob("*.go"))]
    texts = {
        file.relative_to(root).as_posix(): file.read_text(encoding="utf-8")
        for file in files
        if not file.name.endswith("_test.go")
    }
    lines = changed_lines([FileChange(path, None, text) for path, text in texts.items()])
    counting = built_for(version, go, _say, (f"{KUBERNETES}/pkg/scheduler/...",))
    began, made = _cpu(), []
    for name in SCENARIOS:
        made.append(tours.recorded(read_scenario(FOLDER / f"{name}.yaml"), version.plain, counting, lines))
        _say(f"{name}: {made[-1].taken:,} of {made[-1].transitions:,} transitions taken")
    batches = [batch for one in made for batch in one.batches]
    executed = frozenset(line for batch in batches for line in batch.executed)
    mutants = mutants_of(texts, executed)
    _say(f"{_cpu() - began:.0f} s of the processor")
    there = Counter(str(Path(line.path).parent) for line in executed)
    possible = Counter(mutant.package for mutant in mutants)
    for package in PACKAGES:
        _say(f"{package}: {there[package]:,} lines executed, {possible[package]:,} mutants in them")
    chosen = dict(enumerate(drawn(mutants, texts, count, seed), 1))
    built, refused = _built(version, go, root, texts, chosen)
    while built is None:
        _say(f"not compiled: {', '.join(line.shown for line in refused)}")
        chosen = {n: mutant for n, mutant in chosen.items() if mutant.line not in refused}
        built, refused = _built(version, go, root, texts, chosen)
    mutated = mutated_texts(texts, chosen)
    place = unit_tests.place(version)
    with alone_in(place, _say):
        tested = unit_tests.built(place, version, go, mutated, PACKAGES)
        for package, tests in tested.items():
            _say(f"{package}: {tests.count} tests, {tests.seconds:.0f} s, without {dict(tests.left_out)}")
        rows = read(table)
        done = {row.number for row in rows}
        left = {number: mutant for number, mutant in chosen.items() if number not in done}
        # One process each: tests mostly wait, while tours work.
        with ProcessPoolExecutor(1) as one, ProcessPoolExecutor(1) as other:
            played = {
                n: one.submit(_timed, tours.first_departure, built, batches, m, n) for n, m in left.items()
            }
            tried = {
                n: other.submit(_timed, unit_tests.first_failure, tested[m.package], n)
                for n, m in left.items()
            }
            for number, mutant in left.items():
                (by_tours, first), (by_tests, second) = played[number].result(), tried[number].result()
                line, kind, code = mutant.line.shown, mutant.kind, mutant.code
                rows.append(Row(number, mutant.package, line, kind, code, by_tours, by_tests, first, second))
                _say(f"{number} {line} {by_tours} | {by_tests}")
                write(table, rows)
    print("\n".join(sums(rows)))
    if table == TABLE:
        PAGE.write_text(put(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")


def _built(
    version: KubernetesVersion, go: Go, root: Path, texts: Mapping[str, str], chosen: Mapping[int, Mutant]
) -> tuple[Built | None, set[ChangedLine]]:
    """The driver with these mutants, or the lines of those that do not compile. Raises BuildProblem for another error."""
    try:
        with tree_with(root, mutated_texts(texts, chosen), version, _say) as tree:
            words = f"{version} with {len(chosen)} mutants"
            return built_for(replace(version, tree=tree), go, _say, (), words), set()
    except BuildProblem as problem:
        refused = refused_in(problem.text, [mutant.line for mutant in chosen.values()])
        if not refused:
            raise
        return None, refused


def _timed(finds: Callable[..., str], *arguments: object) -> tuple[str, int]:
    """What is found, and how many seconds of the processor that took."""
    began = _cpu()
    found = finds(*arguments) or NOTHING
    return found, round(_cpu() - began)


if __name__ == "__main__":
    sys.exit(main())
