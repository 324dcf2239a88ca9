"""Mutants of Go sources, all of them in one copy: a variable of the environment chooses the one that is at work.

A statement is removed, a condition is negated, or two neighbouring statements, one of them a call, change places. Lines that only log or count are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from random import Random

from podrace.reproduce.changes.damage import damageable, damaged_texts
from podrace.reproduce.changes.lines import ChangedLine
from podrace.reproduce.modules import held

REMOVED, NEGATED, SWAPPED = "removed", "negated", "swapped"

_NEGATION = '"1") != ('


_TOLD = re.compile(
    r"(?:logger|ctx) :?= klog\.|(?:defer )?(?:trace|span)\.|.*[mM]etricsRecorder\.|.*Recorder\.(?:Inc|Dec|Clear)\(|if verboseLogs"
)
"""More that only logs or counts."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A line that is changed, or (`swapped`) changes places with the next one."""

    line: ChangedLine
    kind: str
    code: str

    @property
    def package(self) -> str:
        """The folder that it is in."""
        return str(PurePosixPath(self.line.path).parent)

    @property
    def rows(self) -> tuple[int, ...]:
        """The numbers of the lines that it changes."""
        return tuple(range(self.line.number, self.line.number + 1 + (self.kind == SWAPPED)))


def mutants_of(texts: Mapping[str, str], lines: Iterable[ChangedLine]) -> list[Mutant]:
    """All mutants in these lines, those of a file in the order of its lines."""
    found: list[Mutant] = []
    rows = {path: text.splitlines() for path, text in texts.items()}
    told = {path: {n for n, row in enumerate(of, 1) if _TOLD.match(row.strip())} for path, of in rows.items()}
    wanted = sorted(
        (one for one in lines if not one.aside and one.number not in told[one.path]),
        key=lambda one: (one.path, one.number),
    )
    places = {(one.path, one.number) for one in wanted}
    for line in wanted:
        row = rows[line.path][line.number - 1]
        if (made := damageable(row, 1)) is None:
            continue
        found.append(Mutant(line, NEGATED if _NEGATION in made else REMOVED, row.strip()))
        if (line.path, line.number + 1) in places:
            after = rows[line.path][line.number]
            if _changes_places(row, after):
                found.append(Mutant(line, SWAPPED, f"{row.strip()} <-> {after.strip()}"))
    return found


def _changes_places(one: str, other: str) -> bool:
    """Whether two lines are statements of one block, one of them a call, and neither jumps, begins something or puts it off."""
    statements = [damageable(row, 1) is not None and _is_plain(row.strip()) for row in (one, other)]
    return all(statements) and _indent(one) == _indent(other) and (_is_call(one) or _is_call(other))


def _is_plain(text: str) -> bool:
    return not text.startswith(("if ", "} else", "defer ", "go ", "return", "continue", "break"))


def _is_call(row: str) -> bool:
    return row.endswith(")") and "=" not in row.partition("(")[0]


def _indent(row: str) -> str:
    return row[: len(row) - len(row.lstrip())]


def drawn(mutants: Sequence[Mutant], texts: Mapping[str, str], count: int, seed: int) -> list[Mutant]:
    """So many of them at random, in the order of their numbers. None changes a line of an earlier one, or one that the driver's copy of the queue needs as it is."""
    order = list(mutants)
    Random(seed).shuffle(order)
    found: list[Mutant] = []
    taken: set[tuple[str, int]] = set()
    for mutant in order:
        rows = {(mutant.line.path, row) for row in mutant.rows}
        if len(found) < count and not rows & taken and _is_held(mutant, texts[mutant.line.path]):
            found.append(mutant)
            taken |= rows
    return found


def _is_held(mutant: Mutant, text: str) -> bool:
    changed = "\n".join(_mutated(text.splitlines(), [(1, mutant)]))
    return held.with_holds(text) is None or held.with_holds(changed) is not None


def mutated_texts(texts: Mapping[str, str], numbered: Mapping[int, Mutant]) -> dict[str, str]:
    """The files with these mutants, each at work if the variable has its number, and for each package the file that reads the variable."""
    found: dict[str, str] = {}
    for path in sorted({mutant.line.path for mutant in numbered.values()}):
        here = [(number, mutant) for number, mutant in numbered.items() if mutant.line.path == path]
        found |= damaged_texts({path: texts[path]}, [mutant.line for _, mutant in here])[0]
        found[path] = "\n".join([*_mutated(texts[path].splitlines(), here), ""])
    return found


def _mutated(rows: list[str], numbered: Iterable[tuple[int, Mutant]]) -> list[str]:
    for number, mutant in numbered:
        at = mutant.line.number - 1
        made = damageable(rows[at + (mutant.kind == SWAPPED)], number)
        assert made is not None
        if mutant.kind == SWAPPED:
            there = made.replace("!=", "==", 1).strip()
            rows[at], rows[at + 1] = f"{_indent(rows[at])}{there}; {rows[at].strip()}", made
        else:
            rows[at] = made
    return rows
