"""The numbered interleaving: one lane per actor, each step's number in the lane of its actor.

    scheduler
    │  queue handler
    │  │
    1  │  pop(p)  NextPod: take the head of activeQ
    │  2  add(q)  A new pod

Where the lanes leave too little room for words, the actor stands in brackets instead.
"""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.text import Text

from ...base.structs import Data
from ..document import ShownStep

COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "bright_red", "bright_cyan", "bright_magenta")
MIN_WORDS = 36
"""The least room for words beside the lanes."""


class LaneMarks(Data):
    """The characters that the lanes are drawn with."""

    lane: str
    arrow: str
    star: str


NO_REMARKS: Mapping[int, str] = {}
UNICODE = LaneMarks("│", "→", "●")
ASCII = LaneMarks("|", "->", "*")


def actors_of(steps: Sequence[ShownStep]) -> list[str]:
    """The actors, in the order in which they first act."""
    return list(dict.fromkeys(step.actor for step in steps))


def print_lanes(
    console: Console, steps: Sequence[ShownStep], remarks: Mapping[int, str] = NO_REMARKS
) -> None:
    """Print the steps, fitted to the console's width; `remarks` stand before the steps of their numbers."""
    marks = ASCII if console.options.ascii_only else UNICODE
    actors = actors_of(steps)
    cell = max(3, len(str(len(steps))) + 2)
    gutter = cell * len(actors)
    if console.width - gutter < MIN_WORDS:
        _print_list(console, steps, marks, remarks)
        return
    for i, actor in enumerate(actors):
        row = _bars(actors[:i], cell, marks).append(actor, f"bold {COLOURS[i % len(COLOURS)]}")
        console.print(row, soft_wrap=True)
    below = _bars(actors, cell, marks)
    below.rstrip()
    console.print(below, soft_wrap=True)
    for step in steps:
        for line in _remark(console, remarks.get(step.number, ""), console.width - gutter):
            console.print(_bars(actors, cell, marks).append_text(line), soft_wrap=True)
        for number, line in enumerate(_words(console, step, marks, console.width - gutter)):
            row = _bars(actors, cell, marks, step if number == 0 else None)
            console.print(row.append_text(line), soft_wrap=True)


def _remark(console: Console, text: str, width: int) -> list[Text]:
    return _wrap(console, Text(text, "bold red"), width, "") if text else []


def _bars(actors: Sequence[str], cell: int, marks: LaneMarks, step: ShownStep | None = None) -> Text:
    row = Text()
    for i, actor in enumerate(actors):
        colour = COLOURS[i % len(COLOURS)]
        if step is not None and step.actor == actor:
            row.append(str(step.number).ljust(cell), f"bold {colour}")
        else:
            row.append(marks.lane.ljust(cell), f"dim {colour}")
    return row


def _words(console: Console, step: ShownStep, marks: LaneMarks, width: int, prefix: str = "") -> list[Text]:
    head = Text(prefix, "cyan").append(step.call, "bold")
    if step.summary:
        head.append(f"  {step.summary}", "dim")
    lines = _wrap(console, head, width, "  ")
    for change in step.spoken:
        style = "bold yellow" if change.decisive else ""
        bullet = marks.star if change.decisive else marks.arrow
        text = change.phrase if marks is UNICODE else change.phrase.replace("→", "->")
        lines += _wrap(console, Text(f"{bullet} {text}", style), width - 2, "  ", first="  ")
    if step.reason:
        lines += _wrap(console, Text(f"{marks.arrow} {step.reason}"), width - 2, "  ", first="  ")
    return lines


def _wrap(console: Console, text: Text, width: int, indent: str, first: str = "") -> list[Text]:
    lines = list(text.wrap(console, max(width - len(indent), 10)))
    for line in lines:
        line.rstrip()
    return [Text(first if i == 0 else first + indent).append_text(line) for i, line in enumerate(lines)]


def _print_list(
    console: Console, steps: Sequence[ShownStep], marks: LaneMarks, remarks: Mapping[int, str]
) -> None:
    for step in steps:
        for line in _remark(console, remarks.get(step.number, ""), console.width):
            console.print(line, soft_wrap=True)
        prefix = f"{step.number}. [{step.actor}] "
        for line in _words(console, step, marks, max(console.width, 20), prefix):
            console.print(line, soft_wrap=True)
