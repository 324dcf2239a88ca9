"""Whether anything that was run depends on the changed lines: binaries in which each of them can be damaged, and the runs that execute it, once more.

Some lines only keep tidy what the scheduler has in memory, where nobody looks. Their damage counts if it shows there, and if the code before and after
the change keeps the same of that kind in all these runs.
"""

import re
import shutil
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...analysis.request.method import Watcher
from ...base.structs import Data
from ..case import Case
from ..modules.toolchain import BuildProblem, Go
from ..running import Built, OutOfTime, built_for, taken
from .damage import damaged_texts, is_jump, is_returned, unexercised
from .lines import NOTHING, ChangedLine, Counted
from .replays import replayed_at_once, seen_of
from .sources import Change, tree_with
from .texts import FileChange

MOST = 12
"""In so many batches of runs, those first that execute most of the change, the damage of a line is looked for."""

FEW = 4
"""After so many of them without, it is looked for in memory, too, before the others."""

_SAID = re.compile(r"^(\S+\.go):(\d+):\d+: (missing return)?", re.MULTILINE)
"""What the compiler says of a place: that a `return` is missing, at the end of the function."""

UNDAMAGED = 0
"""The number of no line."""

Kept = dict[tuple[str, str], str]
"""Fingerprints of what is kept in memory in a run, by its name and the kind; empty of what two runs do not agree on."""


class Played(Data, slots=False):
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
    """What is known of the lines of a change: `shown` are those whose damage some run shows, `kept` those of them where only memory does. `both`: the code before and after it."""

    change: Change
    files: Sequence[FileChange]
    lines: Sequence[ChangedLine]
    go: Go
    watcher: Watcher
    both: Sequence[Built] = ()
    shown: set[ChangedLine] = field(default_factory=set)
    kept: set[ChangedLine] = field(default_factory=set)
    looked: set[ChangedLine] = field(default_factory=set)
    _memory: dict[tuple[Path, int], Kept] = field(default_factory=dict)
    _sides: dict[bool, _Side] = field(default_factory=dict)
    _packages: Sequence[str] = ()

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
                built, number = replace(side.built, until=until), side.numbers[line]
                telling = _telling(line, played)
                if self._shows(built, number, line, telling[:FEW]):
                    self.shown.add(line)
                elif self.both and self._is_kept(built, number, telling[:FEW]):
                    self.shown.add(line)
                    self.kept.add(line)
                elif self._shows(built, number, line, telling[FEW:]):
                    self.shown.add(line)
                self.looked.add(line)

    def said_of(self, found: Counted) -> tuple[list[ChangedLine], list[ChangedLine], list[ChangedLine]]:
        """The executed lines of which nothing that was run depends, those that return something and cannot be damaged, and those that were not looked at."""
        idle: list[ChangedLine] = []
        untried: list[ChangedLine] = []
        waiting = found.executed - self.looked
        for removed, side in self._sides.items():
            executed = [line for line in found.executed if line.removed is removed]
            code = {line: side.texts[line.path].splitlines()[line.number - 1] for line in executed}
            told = frozenset(line for line in executed if line.aside)
            jumps = frozenset(line for line in executed if line.removed and is_jump(code[line]))
            tried = frozenset() if side.built is None else frozenset(side.numbers)
            found_here = unexercised(executed, waiting | self.shown, tried, told, jumps)
            returned = {line for line in executed if is_returned(code[line])} - tried - told
            untried += sorted(returned - waiting, key=lambda line: line.shown)
            idle += [line for line in found_here if line not in waiting | returned]
        return idle, untried, sorted(waiting, key=lambda line: line.shown)

    def clear(self) -> None:
        """Delete what was built."""
        for side in self._sides.values():
            if side.built is not None:
                shutil.rmtree(side.built.folder, ignore_errors=True)

    def changed(self, packages: Sequence[str]) -> Built | None:
        """The changed code, of whose `packages` it counts what is executed, and of which each changed line can be damaged; None if that does not compile."""
        self._packages = packages
        return self._side(removed=False).built

    def _side(self, removed: bool) -> _Side:
        """Built when it is first needed, so that all lines of that side can be damaged."""
        if removed not in self._sides:
            texts = {one.path: one.before if removed else one.after for one in self.files}
            known = {path: text for path, text in texts.items() if text is not None}
            lines = [line for line in self.lines if line.removed is removed]
            while True:
                damaged, numbered = damaged_texts(known, lines)
                built, refused = self._built(removed, {**texts, **damaged}, list(numbered.values()))
                if built is not None or not refused:
                    break
                lines = [line for line in lines if line not in refused]
            numbers = {line: number for number, line in numbered.items()}
            self._sides[removed] = _Side(built, known, numbers)
        return self._sides[removed]

    def _built(
        self, removed: bool, texts: dict[str, str | None], damaged: Sequence[ChangedLine]
    ) -> tuple[Built | None, set[ChangedLine]]:
        """The binary of a side with these lines `damaged`; or those of them that do not compile."""
        change, say, counted = self.change, self.watcher.say, () if removed else self._packages
        root = (change.base_tree if removed else change.tree) or change.base
        try:
            with tree_with(root, texts, change.version, say) as tree:
                version = replace(change.version, tree=tree)
                words = f"{change.base_words} {'without' if removed else 'with'} the change, so that its lines can be damaged"
                return taken(built_for(version, self.go, say, counted, words)), set()
        except BuildProblem as problem:
            return None, refused_in(problem.text, damaged)

    def _shows(self, built: Built, number: int, line: ChangedLine, telling: Sequence[Played]) -> bool:
        """Whether runs that execute a line go otherwise if it is damaged, twice in the same way, and as before if none is."""
        side = 0 if line.removed else 1
        for one in telling:
            said = [_seen(built, one, number)]
            if said[0] != one.seen[side]:
                said += (_seen(built, one, again) for again in (number, UNDAMAGED))
                if said[1:] == [said[0], one.seen[side]]:
                    return True
        return False

    def _is_kept(self, built: Built, number: int, telling: Sequence[Played]) -> bool:
        """Whether something else is kept in memory if a line is damaged, of a kind of which both sides keep the same in all these runs; and of no kind do they then keep something else."""
        for one in telling:
            whole, damaged = self._kept(built, one), _kept(built, one, number)
            kinds = {
                at[1]
                for at in whole | damaged
                if _unlike(at, whole, damaged) and "" not in (whole.get(at), damaged.get(at))
            }
            if kinds:
                unlike, unknown = self._unlike_sides(telling, built.until)
                if kinds - unlike - unknown and not kinds & unlike:
                    return True
        return False

    def _unlike_sides(self, played: Sequence[Played], until: float) -> tuple[set[str], set[str]]:
        """The kinds of which the code before and after the change keep something else, and those of which that is not known."""
        unlike, unknown = set[str](), set[str]()
        for one in played:
            before, after = (self._kept(replace(side, until=until), one) for side in self.both)
            for at in before | after:
                if _unlike(at, before, after):
                    (unknown if "" in (before.get(at), after.get(at)) else unlike).add(at[1])
        return unlike, unknown

    def _kept(self, built: Built, one: Played) -> Kept:
        """What is kept of each kind in each case if no line is damaged."""
        key = built.folder, id(one)  # another counterexample of the same question has the same name
        if key not in self._memory:
            self._memory[key] = _kept(built, one, UNDAMAGED)
        return self._memory[key]


def refused_in(text: str, damaged: Sequence[ChangedLine]) -> set[ChangedLine]:
    """Those of the damaged lines that do not compile: where a `return` is missing, the last one before."""
    found: set[ChangedLine] = set()
    for path, number, missing in _SAID.findall(text):
        here = [line for line in damaged if f"/{path}".endswith(f"/{line.path}")]
        at = [line for line in here if line.place[0] <= int(number)]
        last = max(at, key=lambda line: line.place, default=None)
        if last is not None and (missing or last.place[0] == int(number)):
            found.add(last)
    return found


def _kept(built: Built, one: Played, number: int) -> Kept:
    """What is kept in memory of each kind in each case, where two runs of it agree."""
    found = [replayed_at_once(built, one.cases, (), number, keeps=True)[0] for _ in range(2)]
    sides = [
        {(name, kind): said for name, o in side.items() for kind, said in o.keeps.items()} for side in found
    ]
    return {at: sides[0][at] if sides[0].get(at) == sides[1].get(at) else "" for at in sides[0] | sides[1]}


def _unlike(at: tuple[str, str], *sides: Kept) -> bool:
    """Whether two sides do not keep the same there, or that is not known."""
    said = {side.get(at) for side in sides}
    return len(said) > 1 or "" in said


def _telling(line: ChangedLine, played: Sequence[Played]) -> list[Played]:
    """Batches of runs that execute a line, those first that execute most of the change."""
    side = 0 if line.removed else 1
    reached = [one for one in played if line in one.counted[side].executed and one.seen[side]]
    return sorted(reached, key=lambda one: (-len(one.counted[side].executed), one.steps))[:MOST]


def _seen(built: Built, played: Played, number: int) -> tuple[object, ...]:
    outcomes, _ = replayed_at_once(built, played.cases, (), number)
    return tuple(seen_of(outcomes[case.id]) for case in played.cases)
