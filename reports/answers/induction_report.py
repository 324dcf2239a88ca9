"""The report of `podrace induct`: what was proved, or the states in which induction fails."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from ..document import Answer, ShownStep, Value, show
from ..text.findings_text import INDENT, print_versions, print_wrapped
from ..text.lanes_text import print_lanes
from ..text.table import seconds

STYLES = {"PROVED": "bold green", "VIOLATED": "bold red", "INCONCLUSIVE": "bold yellow"}


class Induction(Answer, frozen=True):
    """The verdict of an induction on one property.

    `trace` is a counterexample, with `parameters` that were unknown. `states` are a counterexample to induction:
    for each state what is not as in the initial one, and `between` the steps that lead from one to the next.
    """

    heading: str
    verdict: str
    words: str
    seconds: float
    parameters: tuple[tuple[str, int], ...] = ()
    trace: tuple[ShownStep, ...] = ()
    states: tuple[tuple[tuple[str, Value], ...], ...] = ()
    between: tuple[str, ...] = ()


def print_induction(console: Console, found: Induction) -> None:
    """Print everything that there is to say."""
    print_wrapped(console, Text(f"{found.heading} ", "bold").append(found.verdict, STYLES[found.verdict]))
    print_wrapped(console, Text(found.sentence), INDENT)
    if found.parameters:
        print_wrapped(console, Text(", ".join(f"{n} = {v}" for n, v in found.parameters), "cyan"), INDENT)
    if found.trace:
        console.print()
        print_lanes(console, found.trace)
        console.print()
    _print_states(console, found)
    print_wrapped(console, Text(f"{found.words} ({seconds(found.seconds)})", "bold"), INDENT)
    print_versions(console, [found.version], INDENT)


def _print_states(console: Console, found: Induction) -> None:
    for i, state in enumerate(found.states):
        print_wrapped(console, Text(f"state {i + 1}, which perhaps nothing reaches:", "dim"), INDENT)
        print_wrapped(console, Text(_listed(state)), 2 * INDENT)
        if i < len(found.between):
            print_wrapped(console, Text(f"then {found.between[i]}", "bold"), INDENT)


def _listed(state: Sequence[tuple[str, Value]]) -> str:
    return ", ".join(f"{name} = {show(value)}" for name, value in state) or "as in the initial state"
