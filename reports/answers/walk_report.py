"""A place on a walk through the states of a system: the document of the page of `podrace explore`, and what its terminal prints."""

from collections.abc import Sequence

import msgspec
from rich.console import Console
from rich.text import Text

from ..facts_told import FactTold
from ..picture import Scene
from ..text.findings_text import INDENT, print_lines, print_wrapped
from ..text.lanes_text import COLOURS


class WalkStep(msgspec.Struct, frozen=True):
    """A step of the walk, or one that can come next: by its `number` in the system; `notes` say what else is to be told of the moment after it."""

    number: int
    actor: str
    call: str
    sentence: str
    notes: tuple[str, ...] = ()


class FalseCondition(msgspec.Struct, frozen=True):
    """What a step needs and does not have, and what it meets; `constraint` is the bound of the scope that it is, if it is one."""

    needed: str
    there: tuple[str, ...] = ()
    constraint: str = ""

    @property
    def words(self) -> str:
        """The same in one line."""
        what = f"the scope bounds `{self.constraint}`" if self.constraint else f"it needs: {self.needed}"
        return f"{what} (there: {'; '.join(self.there)})" if self.there else what


class Barred(msgspec.Struct, frozen=True):
    """A step that cannot come next, with all its conditions that are false."""

    number: int
    actor: str
    call: str
    conditions: tuple[FalseCondition, ...]


class ViolatedHere(msgspec.Struct, frozen=True):
    """A property that this state violates; `asked`: the scenario is about it; `wrong` says which objects it is about."""

    property: str
    sentence: str
    asked: bool
    wrong: tuple[str, ...] = ()


class ViewShown(msgspec.Struct, frozen=True):
    """What a component knows, by subject, or that it is not `there` now."""

    name: str
    there: bool
    said: dict[str, tuple[FactTold, ...]] = {}

    @property
    def words(self) -> str:
        """The same in one line."""
        if not self.there:
            return f"{self.name}: not taken"
        parts = [f"{subject}: {', '.join(f.text for f in facts)}" for subject, facts in self.said.items()]
        return f"{self.name}: {'; '.join(parts) or 'nothing'}"


class EventShown(msgspec.Struct, frozen=True):
    """An event on its way."""

    channel: str
    subject: str
    words: str
    waits_for: tuple[str, ...]


class WalkTaken(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A walk as a page sends it back: transitions by number, after how many of them it stands, and the walks that it left."""

    path: tuple[int, ...] = ()
    at: int = 0
    branches: tuple[tuple[int, ...], ...] = ()


class WalkShown(msgspec.Struct, frozen=True, kw_only=True):
    """A place on a walk. `line` is the walk up to here in one line; `branches` are the walks that were left, in words."""

    scenario: str
    release: str
    title: str
    opening: tuple[str, ...]
    notes: tuple[str, ...]
    walk: WalkTaken
    steps: tuple[WalkStep, ...]
    choices: tuple[WalkStep, ...]
    barred: int
    violated: tuple[ViolatedHere, ...]
    subjects: tuple[str, ...]
    views: tuple[ViewShown, ...]
    events: tuple[EventShown, ...]
    scenes: tuple[Scene, ...]
    branches: tuple[str, ...]
    line: str

    def print(self, console: Console) -> None:
        """Print where the walk stands, what is wrong there, and the steps that can come next, by actor."""
        at, size = self.walk.at, len(self.steps)
        if at:
            step = self.steps[at - 1]
            print_wrapped(console, Text(f"After step {at} of {size}: {step.sentence}", "bold"), INDENT, "")
            print_lines(console, step.notes, INDENT, style="dim")
        else:
            print_wrapped(
                console, Text(f"Before step 1 of {size}." if size else "Before the first step.", "bold")
            )
        for one in self.violated:
            said = " ".join(one.wrong) or one.sentence
            print_wrapped(console, Text(f"{one.property} is violated: {said}", "red"), 2 * INDENT, INDENT)
        self._print_choices(console)

    def _print_choices(self, console: Console) -> None:
        width = len(str(len(self.choices)))
        actors = list(dict.fromkeys(one.actor for one in self.choices))
        for actor in actors:
            colour = COLOURS[actors.index(actor) % len(COLOURS)]
            console.print(Text(actor, f"bold {colour}"), soft_wrap=True)
            for number, one in enumerate(self.choices, 1):
                if one.actor == actor:
                    head = f"{INDENT}{number:>{width}}. "
                    print_wrapped(console, Text(one.sentence, colour), " " * len(head), head)
        said = f"{self.barred} other steps cannot come next: `why` says why." if self.barred else ""
        print_wrapped(console, Text(said if self.choices else f"No step can come next. {said}", "dim"))

    def print_steps(self, console: Console) -> None:
        """Print the whole walk; what comes after the place where it stands is marked."""
        width = len(str(len(self.steps)))
        for number, step in enumerate(self.steps, 1):
            head = f"{INDENT}{number:>{width}}. "
            ahead = number > self.walk.at
            print_wrapped(
                console,
                Text(f"{'(ahead) ' if ahead else ''}{step.sentence}", "dim" if ahead else ""),
                " " * len(head),
                head,
            )
        for number, words in enumerate(self.branches, 1):
            print_wrapped(console, Text(f"branch {number}: {words}", "dim"), 2 * INDENT, INDENT)
        if not self.steps:
            print_wrapped(console, Text("The walk has no step yet.", "dim"), INDENT)

    def print_state(self, console: Console) -> None:
        """Print the cluster, what every component knows, and the events on their way."""
        lines = [*(scene.words for scene in self.scenes), *(view.words for view in self.views)]
        lines += [
            f"On its way on the {e.channel}: {e.subject}: {e.words} (still to reach {', '.join(e.waits_for)})"
            for e in self.events
        ]
        for line in lines:
            print_wrapped(console, line, 2 * INDENT, INDENT)


def print_barred(console: Console, barred: Sequence[Barred]) -> None:
    """Print why steps cannot come next, by actor."""
    for actor in dict.fromkeys(one.actor for one in barred):
        console.print(Text(actor, "bold"), soft_wrap=True)
        for one in barred:
            if one.actor != actor:
                continue
            print_wrapped(console, one.call, 2 * INDENT, INDENT)
            for condition in one.conditions:
                print_wrapped(console, Text(condition.words, "dim"), 4 * INDENT, 3 * INDENT)
