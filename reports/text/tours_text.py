"""Tours for people: what became of the transitions, and what differs."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from ...base.text import counted
from ..tours import Tour
from .findings_text import INDENT, print_headed, print_lines, print_wrapped
from .reproduction_text import stand_ins

STYLES = {"IN STEP": "bold green", "DIFFERS": "bold yellow", "INCOMPLETE": "bold yellow"}
_BOUNDS = {
    "states": "a bound on states",
    "timeout": "the time",
    "memory": "the memory",
    "disk": "the room on disk",
}


def print_tours(
    console: Console, tours: Sequence[Tour], holds: Sequence[str], violated: Sequence[str]
) -> None:
    """Print what came of the tours. `holds` are the scenarios in which all that was asked holds in the model, `violated` those in which something is violated."""
    for tour in tours:
        _print_tour(console, tour)
        print_wrapped(
            console, Text(conclusion(tour, tour.scenario in holds, tour.scenario in violated), "bold"), INDENT
        )


def _print_tour(console: Console, tour: Tour) -> None:
    what = f"{tour.scenario} on the code of {where_of(tour)}:"
    print_headed(console, what, tour.verdict, STYLES[tour.verdict])
    own = (tour.own,) if tour.own else ()
    print_lines(console, (*own, *account_of(tour), *stand_ins(tour.instead)), INDENT)
    for departure in tour.departures:
        words = f"{counted(departure.runs, 'run')} at {counted(departure.transitions, 'transition')}: {departure.name}"
        print_wrapped(console, words, INDENT)
        shrunk = "" if departure.shrunk else " (not shrunk to the end: time was up)"
        print_wrapped(console, Text(f"{departure.words}{shrunk}", "dim"), 2 * INDENT)
        for number, step in enumerate(departure.steps, 1):
            print_wrapped(console, Text(f"{number}. {step}", "dim"), 2 * INDENT)


def where_of(tour: Tour) -> str:
    """Whose code was run."""
    where = f"{tour.tree} (compared with {tour.scheduler})" if tour.tree else tour.scheduler
    return f"{where} with your plugins" if tour.own else where


def account_of(tour: Tour) -> list[str]:
    """What became of the transitions, in lines."""
    lines = [
        f"{counted(tour.transitions, 'transition')} of {counted(tour.states, 'state')}, in {counted(tour.runs, 'run')} of {tour.steps:,} steps, {tour.seconds:,.0f} s."
    ]
    if tour.bound:
        lines.append(f"{_BOUNDS.get(tour.bound, tour.bound)} cut the graph there: there are more.")
    known = f"; {tour.known:,} of these by an earlier tour" if tour.known else ""
    rows = [
        (tour.taken, f"taken by the real scheduler, and nothing that can be seen differed{known}"),
        (tour.within_lock, "within one lock, where nobody can be held"),
        *((count, f"not to be forced: {why}") for why, count in tour.not_forced.items()),
        (tour.behind, "behind those"),
        (tour.differing, "differing"),
        *((count, f"decided by {what}") for what, count in tour.decided.items()),
        (
            tour.behind_differing,
            "behind a difference"
            if not tour.plugins_decide
            else "behind a decision of your plugins, or a difference",
        ),
        (tour.left, "not taken: time was up, or no way to them was found"),
    ]
    width = max(len(f"{count:,}") for count, _ in rows)
    return lines + [f"{count:>{width},} {words}" for count, words in rows if count or words is rows[0][1]]


def conclusion(tour: Tour, holds: bool, violated: bool) -> str:
    """What the tour says of the code, in one sentence."""
    where = where_of(tour)
    if tour.verdict == "DIFFERS":
        return f"The code of {where} differs from the model of {tour.release}: the model's verdict is not its own."
    if tour.plugins_decide and tour.verdict == "INCOMPLETE":
        return "Your plugins decide what the model does not know: of the transitions behind such a decision, the tour says nothing."
    if tour.verdict == "INCOMPLETE":
        return "The tour is not complete: of the rest of the transitions it says nothing."
    but = "" if tour.is_whole else ", but for those named above"
    if holds:
        return f"HOLDS on the code of {where}: it has taken every transition as the model does{but}."
    model = "the model's verdict is open"
    if violated:
        model = (
            "what is violated is violated there, too"
            if tour.is_whole
            else "`podrace reproduce` says whether what is violated is violated there, too"
        )
    return f"The code of {where} has taken every transition as the model does{but}; {model}."
