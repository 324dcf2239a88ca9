"""A counterexample told in prose, in the words of `explanation`: for those who have no page in front of them."""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.text import Text

from ..document import Finding
from ..step import ShownStep
from .explanation import DIVERGES, HOW_IT_ENDS, Explanation, Told, explain
from .lanes_text import COLOURS, actors_of, print_lanes
from .wrapping import INDENT, print_lines, print_wrapped

CLOSES = "What closes it"
GIST = 2
"""How many decisive steps a counterexample is told by in brief."""


def print_story(console: Console, finding: Finding, closing: Sequence[str] = ()) -> None:
    """Print the cluster, the steps, and what is to be said of them; `closing` says what closes the race."""
    told = explain(finding)
    if told.opening:
        console.print()
    print_lines(console, told.opening, INDENT)
    if told.steps:
        _print_heading(console, "What happens")
        print_steps(console, told, actors_of(finding.story))
    for heading, lines in sections(finding, told, closing).items():
        _print_section(console, heading, lines)


def print_counterexample(
    console: Console, finding: Finding, whole: bool = False, closing: Sequence[str] = ()
) -> None:
    """Print a counterexample as every command does: in prose, and as a `whole` with its lanes."""
    print_story(console, finding, closing)
    if whole and finding.story:
        console.print()
        print_lanes(console, finding.story, finding.remarks)


def sections(finding: Finding, told: Explanation, closing: Sequence[str] = ()) -> dict[str, tuple[str, ...]]:
    """What stands after the steps, by headings; `closing` says what closes the race."""
    found = {HOW_IT_ENDS: (), **dict(told.sections), CLOSES: tuple(closing)}
    found[HOW_IT_ENDS] = (*told.outcome, *_rests_on(finding))
    return {heading: lines for heading, lines in found.items() if lines}


def _rests_on(finding: Finding) -> tuple[str, ...]:
    """What the verdict rests on; of what goes on for ever, how everybody has a share in it."""
    lines = [finding.words]
    if finding.lasso is not None and finding.lasso.acts:
        lines.append(f"These act in every round: {', '.join(finding.lasso.acts)}.")
    if finding.lasso is not None and finding.lasso.rests:
        lines.append(f"These cannot always act: {', '.join(finding.lasso.rests)}.")
    return tuple(line for line in lines if line)


def print_steps(console: Console, told: Explanation, actors: Sequence[str]) -> None:
    """Print the steps as a numbered list, each in the colour of its actor; below it, what it brings about."""
    width = len(str(len(told.steps)))
    for one in told.steps:
        _print_remark(console, one.remark)
        _print_step(console, one, width, COLOURS[actors.index(one.actor) % len(COLOURS)])
    _print_remark(console, told.ending)


def print_sentences(
    console: Console, steps: Sequence[ShownStep], remarks: Mapping[int, str] | None = None
) -> None:
    """Print steps that are no counterexample as a numbered list; `remarks` stand before the step of their number, or at the end."""
    said, width = remarks or {}, len(str(len(steps)))
    for step in steps:
        _print_remark(console, said.get(step.number, ""))
        number = f"{INDENT}{step.number:>{width}}. "
        print_wrapped(console, step.sentence, " " * len(number), number)
    _print_remark(console, said.get(len(steps) + 1, ""))


def _print_step(console: Console, told: Told, width: int, colour: str) -> None:
    number = f"{INDENT}{told.number:>{width}}. "
    below = " " * len(number)
    print_wrapped(console, Text(told.text, f"bold {colour}" if told.decisive else colour), below, number)
    for note in told.notes:
        print_wrapped(console, Text(note, "yellow" if note.startswith(DIVERGES) else "dim"), below)


def _print_remark(console: Console, remark: str) -> None:
    if remark:
        print_wrapped(console, Text(f"({remark})", "bold red"), INDENT)


def _print_heading(console: Console, heading: str) -> None:
    console.print()
    console.print(Text(INDENT).append(heading, "bold"), soft_wrap=True)


def _print_section(console: Console, heading: str, lines: Sequence[str]) -> None:
    _print_heading(console, heading)
    print_lines(console, lines, 2 * INDENT)


def print_gist(console: Console, finding: Finding) -> None:
    """Print the counterexample in a few lines: its last decisive steps, how it ends, and what the verdict rests on."""
    told = explain(finding)
    decisive = [one.text for one in told.steps if one.decisive] or [one.text for one in told.steps]
    rests_on = finding.words.partition(" (")[0].rstrip(".")
    lines = [*list(dict.fromkeys(decisive))[-GIST:], *told.outcome, f"{rests_on}."]
    print_wrapped(console, Text(" ".join(lines)), INDENT)
