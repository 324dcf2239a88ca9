"""`podrace reproduce` for people: each step of the model with what the real scheduler did, what differs, the verdict, and what followed."""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..reproduction import RealStep, Reproduction, seconds_in_words
from ..step import show
from .findings_text import INDENT, print_headed, print_lines, print_wrapped

STYLES = {"REPRODUCED": "bold red", "HOLDS": "bold green", "NOT THERE": "bold green", "NOT RUN": "bold"}
_OTHERWISE = "bold yellow"

MOST_UNSEEN = 6
"""How many variables that cannot be seen are named."""


def style_of(verdict: str) -> str:
    """How a verdict is printed."""
    return STYLES.get(verdict, _OTHERWISE)


def print_reproductions(console: Console, found: Sequence[Reproduction]) -> None:
    """Print everything that there is to say about these reproductions; of several, a table first."""
    if len(found) > 1:
        print_table(console, found)
    for one in found:
        if len(found) > 1:
            console.print()
        _print(console, one)


def print_table(console: Console, found: Sequence[Reproduction]) -> None:
    """A row for each."""
    table = Table(box=None, pad_edge=False, header_style="dim", show_edge=False)
    for name in ("what", "property", "version", "steps", "differing", "verdict"):
        table.add_column(name, justify="right" if name in ("steps", "differing") else "left", no_wrap=True)
    for one in found:
        forced = f"{one.forced}/{len(one.steps)}" if one.steps else ""
        table.add_row(
            one.name, one.property, one.scheduler, forced, str(one.differences) if one.steps else "",
            Text(one.headline, style_of(one.verdict)),
        )  # fmt: skip
    console.print(table)


def _print(console: Console, one: Reproduction) -> None:
    what = f"{one.name}, {one.scheduler}: {one.property}"
    print_headed(console, what, one.headline, style_of(one.verdict))
    if one.title:
        print_wrapped(console, Text(one.title, "italic"), INDENT)
    if one.sentence:
        print_wrapped(console, f"{one.property}: {one.sentence}", INDENT)
    if one.steps:
        console.print()
        console.print(_steps(one))
        console.print()
        _print_differences(console, one)
    print_wrapped(console, Text(_sentence(one.words), "bold"), INDENT)
    print_lines(console, one.consequence, INDENT)
    print_lines(console, remarks(one), INDENT, style="dim")


def _sentence(words: str) -> str:
    return words if not words or words.endswith((".", "?", "!")) else f"{words}."


def stand_ins(instead: Mapping[str, str]) -> list[str]:
    """A line for each module of which another version was taken."""
    return [
        f"{module} {taken} stands in for the version that upstream asks for, which is not available."
        for module, taken in instead.items()
    ]


def remarks(one: Reproduction) -> list[str]:
    """What is to be said of the run beside its verdict."""
    lines = []
    if one.unseen:
        shown = ", ".join(one.unseen[:MOST_UNSEEN])
        more = f", and {len(one.unseen) - MOST_UNSEEN} more" if len(one.unseen) > MOST_UNSEEN else ""
        lines.append(
            f"{one.property} reads variables that podrace cannot observe. Their values are from the model: {shown}{more}."
        )
    lines += stand_ins(one.instead)
    lines += [f"Ignored: {line}" for line in one.log]
    return lines


def _steps(one: Reproduction) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim", show_edge=False)
    table.add_column("", justify="right")
    table.add_column("model: actor", style="cyan", no_wrap=True)
    table.add_column("step")
    table.add_column("real scheduler")
    table.add_column("", no_wrap=True)
    for step in one.steps:
        if one.loop_from == step.step.number:
            table.add_row("", "", Text("indefinitely:", "italic"), "", "")
        mark, style = _mark(step, one)
        table.add_row(
            str(step.step.number), step.step.actor, step.step.call, real_words(step), Text(mark, style)
        )
    return table


def _mark(step: RealStep, one: Reproduction) -> tuple[str, str]:
    if not step.forced:
        return ("held", "bold yellow") if one.at == step.step.number else ("-", "dim")
    return ("differs", "bold yellow") if step.differs else ("same", "green")


def real_words(step: RealStep) -> str:
    """What the real scheduler did in a step."""
    if not step.forced:
        return ""
    waited = f"after {seconds_in_words(step.wait_ms / 1000)}: " if step.wait_ms else ""
    return waited + (", ".join(step.points) or "nothing has to move")


def _print_differences(console: Console, one: Reproduction) -> None:
    rows = [(0, d) for d in one.initial]
    rows += [(step.step.number, d) for step in one.steps for d in step.differs]
    if not rows:
        return
    table = Table(box=None, pad_edge=False, header_style="dim", show_edge=False)
    for name in ("after step", "variable", "model", "real"):
        table.add_column(name, justify="right" if name == "after step" else "left")
    for number, difference in rows:
        table.add_row(str(number or "-"), difference.variable, show(difference.model), show(difference.real))
    console.print(table)
    console.print()
