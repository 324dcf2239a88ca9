"""podrace's answers about random systems, compared with those of the oracles: `make compare`.

Systems are numbered, so a range of numbers says what was compared, and the same numbers give the same table. A batch has so
many systems of each kind that all kinds take about as long.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from tests.independent.kinds import livenesses, pairs, parametric, searches, symbolic
from tests.independent.question import Compare, Tally


@dataclass(frozen=True, slots=True)
class Kind:
    """What is compared, in words, and how many systems make a batch: about as long for each kind."""

    title: str
    compare: Compare
    size: int


KINDS: dict[str, Kind] = {
    "search": Kind("native search: counts, shortest runs, AG EF", searches.search, 100),
    "verdicts": Kind("`check` with slicing: safety and AG EF", searches.verdicts, 20),
    "liveness": Kind("liveness", livenesses.few, 60),
    "liveness-sets": Kind("liveness with 65 to 130 fair sets", livenesses.many_sets, 30),
    "liveness-conditions": Kind("liveness with 65 to 130 conditions", livenesses.many_conditions, 40),
    "liveness-both": Kind("liveness with 65 to 130 of each", livenesses.both_many, 30),
    "liveness-verdicts": Kind("`check` with slicing: liveness", livenesses.verdicts, 20),
    "minimal-sets": Kind("smallest sets of patches and causes", pairs.sets, 500),
    "diff": Kind("where two systems differ (`diff`)", pairs.difference, 60),
    "bounded": Kind("bounded search with Z3", symbolic.bounded_search, 20),
    "parametric": Kind("parametric proofs (`prove`)", parametric.clusters, 12),
}


COLUMNS = ("kind", "first", "last", "systems", "skipped", "comparisons", "telling", "disagreements")
JOBS_OF_A_PROCESS = 30
"""Then another process goes on: compiled code is kept as long as a process lives."""


def compare(kind: str, seeds: Iterable[int]) -> Tally:
    """What the comparisons of one kind on these systems come to."""
    tally = Tally()
    for seed in seeds:
        tally.add(KINDS[kind].compare, seed)
    return tally


def _batch(job: tuple[str, int]) -> tuple[str, Tally]:
    kind, batch = job
    size = KINDS[kind].size
    return kind, compare(kind, range(batch * size, (batch + 1) * size))


@dataclass(slots=True)
class Table:
    """All that was compared in the batches from `first` up to `end`."""

    tallies: dict[str, Tally]
    first: int
    end: int

    def rows(self) -> list[tuple[str | int, ...]]:
        """A line for each kind, as COLUMNS says."""
        return [
            (
                kind, self.first * KINDS[kind].size, self.end * KINDS[kind].size - 1, t.systems, t.skipped,
                t.comparisons, t.telling, len(t.disagreements),
            )
            for kind, t in self.tallies.items()
        ]  # fmt: skip

    def text(self) -> str:
        """As tab-separated values."""
        return "".join("\t".join(map(str, line)) + "\n" for line in (COLUMNS, *self.rows()))

    def disagreements(self) -> list[str]:
        """Each with its kind and the number of its system."""
        return [f"{kind}: {one}" for kind, t in self.tallies.items() for one in t.disagreements]

    def __str__(self) -> str:
        lines = [f"{'kind':22}{'systems':>10}{'comparisons':>13}{'telling':>11}{'disagreements':>15}"]
        counts = {k: (t.systems, t.comparisons, t.telling, len(t.disagreements)) for k, t in self.tallies.items()}  # fmt: skip
        counts["all"] = tuple(map(sum, zip(*counts.values(), strict=True)))  # type: ignore[assignment]
        for kind, (systems, comparisons, telling, wrong) in counts.items():
            lines.append(f"{kind:22}{systems:10,}{comparisons:13,}{telling:11,}{wrong:15,}")
        return "\n".join([*lines, *self.disagreements()[:20]])


def run(kinds: list[str], first: int, batches: int, seconds: float, processes: int, file: Path | None) -> Table:  # fmt: skip
    """Compare batch by batch until the time is over; the table is written after each."""
    started = time.monotonic()
    table = Table({kind: Tally() for kind in kinds}, first, first)
    with get_context("spawn").Pool(processes, maxtasksperchild=JOBS_OF_A_PROCESS) as pool:
        while table.end < first + batches and time.monotonic() - started < seconds:
            for kind, tally in pool.imap_unordered(_batch, [(kind, table.end) for kind in kinds]):
                table.tallies[kind].include(tally)
            table.end += 1
            if file is not None:
                file.write_text(table.text())
    return table


def main(arguments: list[str] | None = None) -> int:
    """Compare and print the table; 1 if anything disagreed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="begin no batch after so long")
    parser.add_argument("--first", type=int, default=0, help="the first batch")
    parser.add_argument("--batches", type=int, default=sys.maxsize, help="how many batches at most")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--kind", action="append", choices=[*KINDS], help="only this kind; can be repeated")
    parser.add_argument("--table", type=Path, help="where to write the table, tab-separated")
    asked = parser.parse_args(arguments)
    table = run(
        asked.kind or [*KINDS], asked.first, asked.batches, asked.seconds, asked.processes, asked.table
    )
    print(table)
    print(f"--first {table.end} goes on from here")
    return 1 if table.disagreements() else 0


if __name__ == "__main__":
    sys.exit(main())
