"""A walk in a terminal, or through a pipe: one command a line."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from ...analysis.request.option_files import refuse_unwritable, write_text
from ...analysis.walk.explorer import Explorer
from ...analysis.walk.nearest import nearest, what_can_go_wrong
from ...analysis.walk.stored_walk import stored_walk
from ...analysis.walk.walk import Walk
from ...base.problems import Problem, UsageProblem
from ...base.text import one_line
from ...reports.answers.walk_report import print_barred
from ...reports.stored import format_trace
from ...reports.text.findings_text import INDENT, print_lines, print_wrapped

if TYPE_CHECKING:
    from rich.console import Console

    from ...analysis.own_systems import Budget

HELP = """\
N               take step N of the list
b, f            back by one step, forward by one
j N             jump to the moment after step N; j 0 is the start
why [WORDS]     why the other steps cannot come next: those with these words
state           the cluster, what each component knows, events on their way
walk            all steps, and the branches that were left
branch N        onto branch N, where it parts from this walk
find STATE      to the nearest state from here: `find p parked`, `find S-CAP`, `find step: scheduler assumes p on n1`
reach STATE     to the nearest state from the start
wrong           the nearest violation from here of each safety property that the scenario names
save FILE       store the walk up to here, for `podrace replay` and `podrace reproduce`
line            the walk up to here in one line, to share
go LINE         walk along such a line
?, help         this list
q, quit         end"""


class TerminalForm:
    """Reads commands until there are no more, and prints where the walk stands after each that moves it."""

    def __init__(
        self, explorer: Explorer, walk: Walk, console: Console, budget: Budget, command: str
    ) -> None:
        self.explorer, self.walk, self.console = explorer, walk, console
        self.budget, self.command = budget, command
        self.failed = False
        self._does: Mapping[str, Callable[[str], object]] = {
            "b": lambda _: self._to(self.walk.to(self.walk.at - 1)),
            "f": lambda _: self._to(self.walk.to(self.walk.at + 1)),
            "j": lambda words: self._to(self.walk.to(_number(words))),
            "why": lambda words: print_barred(self.console, self.explorer.barred(self.walk, words)),
            "state": lambda _: self.explorer.shown(self.walk).print_state(self.console),
            "walk": lambda _: self.explorer.shown(self.walk).print_steps(self.console),
            "branch": lambda words: self._to(self.walk.onto(_number(words))),
            "find": lambda words: self._find(words, from_here=True),
            "reach": lambda words: self._find(words, from_here=False),
            "wrong": lambda _: self._wrong(),
            "save": self._save,
            "line": lambda _: self._line(),
            "go": lambda words: self._to(self.explorer.along(self.walk, words)),
            "?": lambda _: self.console.print(HELP, soft_wrap=True),
        }
        self._same = {"back": "b", "forward": "f", "jump": "j", "help": "?"}

    def run(self, lines: Iterable[str]) -> None:
        """Obey these lines, up to `quit`. A line that cannot be obeyed is answered by one line, and changes nothing."""
        shown = self.explorer.shown(self.walk)
        print_wrapped(self.console, Text(f"{shown.scenario}, {shown.release}", "bold"))
        print_lines(self.console, (*shown.opening, *(f"note: {note}" for note in shown.notes)))
        self._show()
        for line in _until_quit(lines):
            word, _, rest = line.partition(" ")
            try:
                self._obey(self._same.get(word, word), rest.strip())
            except Problem as problem:
                self.failed = True
                print_wrapped(self.console, Text(str(problem), "bold red"))

    def _obey(self, word: str, rest: str) -> None:
        if word.isdecimal():
            choices = self.explorer.shown(self.walk).choices
            if not 1 <= _number(word) <= len(choices):
                raise UsageProblem(f"there is no step {word} in the list: it has {len(choices)}")
            self._to(self.walk.taking(choices[_number(word) - 1].number))
        elif word in self._does:
            self._does[word](rest)
        else:
            raise UsageProblem(f"`{one_line(word)}` is no command: `?` lists them")

    def _to(self, walk: Walk) -> None:
        self.walk = walk
        self._show()

    def _show(self) -> None:
        self.console.print()
        self.explorer.shown(self.walk).print(self.console)

    def _find(self, words: str, from_here: bool) -> None:
        found = nearest(self.explorer, self.walk, words, self.budget, from_here)
        print_wrapped(self.console, Text(found.words, "bold"))
        if found.walk is not None:
            self._to(found.walk)

    def _wrong(self) -> None:
        for found in what_can_go_wrong(self.explorer, self.walk, self.budget).values():
            print_wrapped(self.console, found.words, 2 * INDENT, INDENT)

    def _save(self, words: str) -> None:
        if not words:
            raise UsageProblem("save: write a file behind it")
        text = format_trace(stored_walk(self.explorer, self.walk))
        refuse_unwritable("save", Path(words))
        write_text("save", Path(words), text)
        print_wrapped(self.console, f"wrote {words}: the walk of {self.walk.at} steps")

    def _line(self) -> None:
        self.console.print(line_to_share(self.explorer, self.walk, self.command), soft_wrap=True)


def line_to_share(explorer: Explorer, walk: Walk, command: str) -> str:
    """The command line that opens the same system after the same steps."""
    line = explorer.line(walk)
    return f"{command} --walk {shlex.quote(line)}" if line else command


def _until_quit(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        line = line.strip()
        if line in ("q", "quit", "exit"):
            return
        if line:
            yield line


def _number(words: str) -> int:
    if not words.isdecimal() or len(words) > 6:
        raise UsageProblem(f"`{one_line(words)}` is no number: write that of a step")
    return int(words)
