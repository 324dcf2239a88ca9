"""Whether an order of steps can happen: the document of `podrace ask -o json`, and the report for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec
from rich.console import Console
from rich.text import Text

from ..document import Finding, Told
from ..reproduction import Reproduction
from ..step import ShownStep
from ..text.findings_text import INDENT, print_headed, print_lines, print_versions, print_wrapped, scope_words
from ..text.story_text import print_counterexample, print_sentences
from ..text.table import seconds

AnswerWord = Literal["POSSIBLE", "IMPOSSIBLE", "INCONCLUSIVE", "NOT THERE"]
STYLES = {
    "POSSIBLE": "bold green",
    "IMPOSSIBLE": "bold red",
    "INCONCLUSIVE": "bold yellow",
    "NOT THERE": "bold magenta",
}


class UnderstoodItem(msgspec.Struct, frozen=True):
    """An item of the question, and what it was taken for: sentences of steps, or a state."""

    asked: str
    meant: tuple[str, ...]


class Obstacle(msgspec.Struct, frozen=True):
    """What keeps a step from coming next: a condition of it that is false.

    `always`: it is false in every state after the beginning; otherwise it is false in each of these in which the conditions before it hold.
    `needed` says the condition, `there` what it meets after a run of `after` steps, which is the shortest beginning or one in which the conditions before it hold, `since` which steps of
    that run made it so, and `changed_by` which steps can change it. `constraint` is the bound of the scope that it is, if it is one.
    """

    step: str
    needed: str
    always: bool
    there: tuple[str, ...]
    after: int
    since: tuple[str, ...] = ()
    changed_by: tuple[str, ...] = ()
    constraint: str = ""


class NearOrder(msgspec.Struct, frozen=True):
    """A question that differs by one change and whose answer is POSSIBLE, after so many steps."""

    change: str
    question: tuple[str, ...]
    steps: int


class AskAnswer(Told, frozen=True, kw_only=True):
    """Whether an order of steps can happen in one scenario in one release.

    POSSIBLE: `finding` has the shortest run. IMPOSSIBLE: every interleaving was explored; `possible` says how many of the steps can happen, `beginning` is a shortest
    run in which they do, `obstacles` is what keeps the next one from coming, and `nearest` an order close to it that is possible. INCONCLUSIVE: a budget ran out.
    NOT THERE: the release does not have what was asked about, as `words` say. `on_code`: what became of the run on kube-scheduler, with `--run`.
    """

    answer: AnswerWord
    question: tuple[str, ...]
    understood: tuple[UnderstoodItem, ...]
    states: int
    transitions: int
    depth: int
    seconds: float | None
    finding: Finding | None = None
    possible: int = 0
    asked_steps: int = 0
    beginning: tuple[ShownStep, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    nearest: NearOrder | None = None
    on_code: Reproduction | msgspec.UnsetType = msgspec.UNSET

    def untimed(self) -> AskAnswer:
        """The same without what depends on the clock."""
        finding = None if self.finding is None else msgspec.structs.replace(self.finding, seconds=None)
        return msgspec.structs.replace(self, seconds=None, finding=finding)

    def print(self, console: Console, whole: bool = False) -> None:
        """Print everything that there is to say; as a `whole`, the steps of a run also in lanes."""
        print_headed(console, f"{self.scenario}, {self.label}:", self.answer, STYLES[self.answer])
        for number, item in enumerate(self.understood, 1):
            print_wrapped(console, Text(f"{number}. {item.asked}", "italic"), f"{INDENT}   ", INDENT)
            for line in _meant(item.meant):
                print_wrapped(console, Text(line, "dim"), f"{INDENT}      ", f"{INDENT}   = ")
        if self.finding is not None:
            print_counterexample(console, self.finding, whole)
        elif self.answer == "IMPOSSIBLE":
            self._print_why(console)
        console.print()
        elapsed = "" if self.seconds is None else f" ({seconds(self.seconds)})"
        print_wrapped(console, Text(f"{self.words}{elapsed}", "bold"), INDENT)
        if self.on_code is not msgspec.UNSET:
            here = self.on_code
            said = f"kube-scheduler {here.scheduler}: {here.headline}: {here.words}"
            print_wrapped(console, Text(said, "bold"), INDENT)
        if self.scope:
            print_wrapped(console, f"Scope: {scope_words(self.scope)}.", INDENT)
        print_versions(console, [self.version], INDENT)
        print_lines(console, (f"note: {note}" for note in self.notes), INDENT, style="dim")

    def _print_why(self, console: Console) -> None:
        console.print()
        print_wrapped(console, self.how_far, INDENT)
        if self.beginning:
            print_sentences(console, self.beginning)
        for heading, obstacles in self.by_step():
            console.print()
            print_wrapped(console, f"Then this is impossible: {heading}", INDENT)
            for one in obstacles:
                self._print_obstacle(console, one)
        console.print()
        near = self.nearest
        if near is None:
            print_wrapped(
                console,
                "Nearest order: none of those that differ by one change is known to be possible.",
                INDENT,
            )
        else:
            asked = "; ".join(near.question)
            print_wrapped(
                console,
                f"Nearest order: possible {near.change}, after {near.steps} steps: {asked}",
                INDENT,
            )

    @property
    def how_far(self) -> str:
        """How much of the question is possible."""
        if not self.asked_steps:
            return "No run leads to the state at the end."
        if self.possible == self.asked_steps:
            return "All steps are possible in this order, and the state at the end is not. The shortest run of the steps:"
        if not self.possible:
            return "The first step is not possible."
        said = (
            "The first step is possible"
            if self.possible == 1
            else f"The first {self.possible} steps are possible"
        )
        return f"{said}, and step {self.possible + 1} is not. The shortest run so far:"

    def by_step(self) -> list[tuple[str, list[Obstacle]]]:
        """The obstacles, by the steps that they are in the way of."""
        found: dict[str, list[Obstacle]] = {}
        for one in self.obstacles:
            found.setdefault(one.step, []).append(one)
        return list(found.items())

    def _print_obstacle(self, console: Console, one: Obstacle) -> None:
        where = "false from there on" if one.always else "false wherever the conditions before it hold"
        what = f"the scope bounds `{one.constraint}`" if one.constraint else f"it needs: {one.needed}"
        print_wrapped(console, f"- {what} ({where})", 3 * INDENT, 2 * INDENT)
        here = "there" if one.always else f"after {one.after} steps of a run to there"
        for label, lines in ((here, one.there), ("since", one.since), ("changed by", one.changed_by)):
            if lines:
                print_wrapped(console, Text(f"{label}: {'; '.join(lines)}", "dim"), 4 * INDENT, 3 * INDENT)


def _meant(said: Sequence[str]) -> list[str]:
    shown = list(said[:3])
    return [*shown, f"or {len(said) - 3} more"] if len(said) > 3 else shown


def since_when(found: Iterable[tuple[str, str]]) -> str:
    """In which of several releases, in their order, the order is possible, by their names and answers: `possible in 1.13 to 1.20; impossible in 1.21`."""
    groups: list[tuple[str, list[str]]] = []
    for release, answer in found:
        if groups and groups[-1][0] == answer:
            groups[-1][1].append(release)
        else:
            groups.append((answer, [release]))
    return "; ".join(
        f"{answer.lower()} in {labels[0]}" + (f" to {labels[-1]}" if len(labels) > 1 else "")
        for answer, labels in groups
    )
