"""Whether anything that was run depends on the changed lines: binaries in which each of them can be damaged, and the runs that execute it, once more."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from ...analysis.request.method import Watcher
from ..case import Case
from ..modules.toolchain import BuildProblem, Go
from ..running import Built, OutOfTime, built_for, taken
from .damage import damaged_texts, is_jump, is_told_only, unexercised
from .lines import NOTHING, ChangedLine, Counted
from .replays import replayed_at_once, seen_of
from .sources import Change, tree_with
from .texts import FileChange

MOST = 12
"""In so many batches of runs, those first that execute most of the change, the damage of a line is looked for."""

UNDAMAGED = 0
"""The number of no line."""


@dataclass(frozen=True)
class Played:
    """Cases on the code before and after the change: what was seen of each side, and the changed lines that it executed."""

    cases: Sequence[Case]
    seen: tuple[tuple[object, ...], tuple[object, ...]]
    counted: tuple[Counted, Counted]

    @property
    def steps(self) -> int:
        """In all cases."""
        return sum(len(case.steps) for case in self.cases)


def executed_by(played: Iterable[Played]) -> Counted:
    """What they executed, all together."""
    found = NOTHING
    for one in played:
        found |= one.counted[0] | one.counted[1]
    return found


@dataclass
class _Side:
    """The code before or after the change: the binary, None if it does not compile, and the lines that can be damaged, with their numbers."""

    built: Built | None
    texts: dict[str, str]
    numbers: dict[ChangedLine, int]


@dataclass
class Damage:
    """What is known of the lines of a change: `shown` are those whose damage some run shows."""

    change: Change
    files: Sequence[FileChange]
    lines: Sequence[ChangedLine]
    go: Go
    watcher: Watcher
    shown: set[ChangedLine] = field(default_factory=set)
    looked: set[ChangedLine] = field(default_factory=set)
    _sides: dict[bool, _Side] = field(default_factory=dict)

    def look(self, played: Sequence[Played], until: float) -> None:
        """Look for the damage of each executed line that is not known to show, until then."""
        found = executed_by(played)
        for line in sorted(found.executed - self.shown, key=lambda one: (one.removed, one.path, one.number)):
            side = self._side(line.removed)
            if time.monotonic() >= until:
                return
            if side.built is None or line not in side.numbers:
                self.looked.add(line)
                continue
            self.watcher.say(f"damaging {line.shown}")
            with suppress(OutOfTime):
                if self._shows(replace(side.built, until=until), side.numbers[line], line, played):
                    self.shown.add(line)
                self.looked.add(line)

    def said_of(self, found: Counted) -> tuple[list[ChangedLine], list[ChangedLine]]:
        """The executed lines of which nothing that was run depends, and those that were not looked at."""
        idle: list[ChangedLine] = []
        for removed, side in self._sides.items():
            executed = [line for line in found.executed & self.looked if line.removed is removed]
            code = {line: side.texts[line.path].splitlines()[line.number - 1] for line in executed}
            told = frozenset(line for line in executed if is_told_only(code[line]))
            jumps = frozenset(line for line in executed if line.removed and is_jump(code[line]))
            tried = frozenset() if side.built is None else frozenset(side.numbers)
            idle += unexercised(executed, frozenset(self.shown), tried, told, jumps)
        return idle, [line for line in found.executed if line not in self.looked]

    def clear(self) -> None:
        """Delete what was built."""
        for side in self._sides.values():
            if side.built is not None:
                shutil.rmtree(side.built.folder, ignore_errors=True)

    def _side(self, removed: bool) -> _Side:
        """Built when it is first needed, so that all lines of that side can be damaged."""
        if removed not in self._sides:
            texts = {one.path: one.before if removed else one.after for one in self.files}
            known = {path: text for path, text in texts.items() if text is not None}
            lines = [line for line in self.lines if line.removed is removed]
            damaged, numbered = damaged_texts(known, lines)
            numbers = {line: number for number, line in numbered.items()}
            self._sides[removed] = _Side(self._built(removed, {**texts, **damaged}), known, numbers)
        return self._sides[removed]

    def _built(self, removed: bool, texts: dict[str, str | None]) -> Built | None:
        change, say = self.change, self.watcher.say
        root = (change.base_tree if removed else change.tree) or change.base
        try:
            with tree_with(root, texts, change.version, say) as tree:
                return taken(built_for(change.version, self.go, say, tree))
        except BuildProblem:  # no line is known to be needed
            return None

    def _shows(self, built: Built, number: int, line: ChangedLine, played: Sequence[Played]) -> bool:
        """Whether runs that execute a line go otherwise if it is damaged, twice in the same way, and as before if none is."""
        side = 0 if line.removed else 1
        reached = [one for one in played if line in one.counted[side].executed and one.seen[side]]
        for one in sorted(reached, key=lambda one: (-len(one.counted[side].executed), one.steps))[:MOST]:
            said = [_seen(built, one, number)]
            if said[0] != one.seen[side]:
                said += (_seen(built, one, again) for again in (number, UNDAMAGED))
                if said[1:] == [said[0], one.seen[side]]:
                    return True
        return False


def _seen(built: Built, played: Played, number: int) -> tuple[object, ...]:
    outcomes, _ = replayed_at_once(built, played.cases, (), number)
    return tuple(seen_of(outcomes[case.id]) for case in played.cases)
