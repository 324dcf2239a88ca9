"""The table of all that the survey found, `found.tsv`: one line for what several releases have in common.

A line has the property, the fault, the cluster, the number of steps of a shortest counterexample, the changes with which
it goes away (`-`: none that are known, `?`: undecided), and the releases.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from podrace.model.history import version_of
from podrace.model.history.versions import Version
from podrace.properties import PROPERTIES
from tests.survey.clusters import FAULTS, clusters
from tests.survey.explaining import UNDECIDED, Changes

FILE = Path(__file__).with_name("found.tsv")
NOTHING = "-"


@dataclass(frozen=True)
class Row:
    """One violation on one release. `changes` is None where nothing known is enough."""

    property_id: str
    fault: str
    cluster: str
    steps: int
    changes: Changes | None
    release: str

    @property
    def place(self) -> tuple[str, str, str, str]:
        """What was asked."""
        return self.release, self.property_id, self.fault, self.cluster


def read() -> list[Row]:
    """All rows, in the order of the file, those of one line from the oldest release on."""
    return [row for line in FILE.read_text(encoding="utf-8").splitlines() for row in _parsed(line)]


def _parsed(line: str) -> Iterator[Row]:
    name, fault, cluster, steps, changes, releases = line.split("\t")
    chosen = None if changes == NOTHING else tuple(changes.split(" + "))
    for release in releases.split():
        yield Row(name, fault, cluster, int(steps), chosen, release)


def write(rows: Iterable[Row]) -> None:
    """Store the rows, in an order that does not depend on how they were found."""
    common: dict[tuple[str, str, str, int, Changes | None], list[str]] = {}
    for row in rows:
        key = (row.property_id, row.fault, row.cluster, row.steps, row.changes)
        common.setdefault(key, []).append(row.release)
    names, faults = list(PROPERTIES), list(FAULTS)
    placed = [cluster.name for cluster in clusters()]

    def order(key: tuple[str, str, str, int, Changes | None]) -> tuple[int, int, int, Version]:
        name, fault, cluster, _, _ = key
        oldest = min(map(version_of, common[key]))
        return names.index(name), faults.index(fault), placed.index(cluster), oldest

    lines = []
    for key in sorted(common, key=order):
        name, fault, cluster, steps, changes = key
        releases = sorted(common[key], key=version_of)
        shown = NOTHING if changes is None else " + ".join(changes)
        lines.append("\t".join((name, fault, cluster, str(steps), shown, " ".join(releases))))
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def successes(rows: Iterable[Row]) -> dict[str, list[Changes]]:
    """For each property the sets of changes that explain violations of it, the most frequent first."""
    counted: dict[str, dict[Changes, int]] = {}
    for row in rows:
        if row.changes is not None and row.changes != UNDECIDED:
            of = counted.setdefault(row.property_id, {})
            of[row.changes] = of.get(row.changes, 0) + 1
    return {name: sorted(of, key=lambda changes: (-of[changes], changes)) for name, of in counted.items()}
