"""A comparison of two schedulers for people: the outcomes, then a counterexample of all that is not good news, then what
else is different.
"""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from ...base.text import counted
from ..ci_outcome import subject
from ..document import Finding
from ..step import ShownStep, Value
from ..text.findings_text import INDENT, print_headed, print_lines, print_versions, print_wrapped
from ..text.lanes_text import print_lanes
from ..text.story_text import print_counterexample, print_sentences
from .comparison import Comparison, Decided, Lost, Net, Parted, alone_words, bad_news, nets_that, shown_net
from .comparison_rows import STYLES

MOST_PLACES = 3
"""So many scenarios are named of a safety net."""


def print_comparison(console: Console, comparison: Comparison, whole: bool = False) -> None:
    """Print everything that there is to say below the rows (`Rows`); as a `whole`, counterexamples also in lanes."""
    print_lines(console, summary(comparison))
    print_versions(console, (side.version for pair in comparison.pairs for side in (pair.before, pair.after)))
    print_lines(console, (f"note: {note}" for note in comparison.notes), style="dim")
    for pair in bad_news(comparison):
        console.print()
        _print_violation(console, pair.after, pair.outcome, whole, pair.remark)
    if (finding := shown_net(comparison)) is not None:
        console.print()
        _print_violation(console, finding, "REGRESSED", whole)
    if comparison.difference is not None:
        console.print()
        _print_difference(console, comparison, comparison.difference, whole)


def summary(comparison: Comparison) -> list[str]:
    """What the table says of each property, and what changed without being a violation, a line each."""
    decided = {pair.property for pair in comparison.compared}
    lines = [f"{name}: {outcome}" for name, outcome in comparison.outcomes.items() if name in decided]
    lines += [
        f"{pair.property} in {pair.scenario}: {pair.remark}"
        for pair in comparison.pairs
        if pair.outcome == "inconclusive" and pair.after.verdict == "HOLDS"
    ]
    lines += stopped_words(comparison)
    lines += net_words(comparison)
    changed = {
        "OUT OF REACH after it, and reached before without a violation": _places(comparison.witnesses_lost),
        "reached before, not found after it within the budget": _places(comparison.undecided),
        "steps that ran before, and never after it": ", ".join(comparison.steps_lost),
        "steps that run only after it": ", ".join(comparison.steps_gained),
        "no difference at all in": ", ".join(comparison.alike),
    }
    lines += [f"{what}: {which}" for what, which in changed.items() if which]
    lines += [f"{one.property} in {one.scenario}: {one.words}" for one in comparison.ignored]
    if comparison.left_out:
        lines.append(
            f"left out, as they need plugins that one of the two lacks: {', '.join(comparison.left_out)}"
        )
    return lines


def stopped_words(comparison: Comparison) -> list[str]:
    """What was not compared, where podrace was stopped."""
    if comparison.left is None:
        return []
    places: dict[str, list[str]] = {}
    for pair in comparison.not_compared:
        places.setdefault(pair.property, []).append(pair.scenario)
    left = ", ".join(f"{name} ({_few(where)})" for name, where in places.items())
    what = (
        f"; not decided: {left}" if left else "; regression checks and outcomes were not compared to the end"
    )
    return [
        f"STOPPED before all was compared: {len(comparison.compared)} of {len(comparison.pairs)} decided{what}"
    ]


def net_words(comparison: Comparison) -> list[str]:
    """What the safety nets say, or that they were left out."""
    lines = []
    if broken := nets_that(comparison, "REGRESSED"):
        shortest = "; the shortest counterexample of them is below" if len(broken) > 1 else ""
        lines.append(f"REGRESSION CHECKS FAILED, which held before: {_nets(broken)}{shortest}")
    without = nets_that(comparison, "inconclusive")
    if other := [net for net in without if net.altered]:
        lines.append(
            f"regression checks that show nothing, because the change alters a query that they read: {_nets(other)}; do not override this query, or leave the checks out (--alone)"
        )
    if open_ := [net for net in without if not net.altered]:
        lines.append(
            f"regression checks whose search did not end: {_nets(open_)}; --max-states lets them search further, "
            "--alone leaves them out"
        )
    if known := nets_that(comparison, "violated before"):
        lines.append(
            f"regression checks that show nothing, because they are violated before the change, too: {_nets(known)}"
        )
    if good := nets_that(comparison, "holds"):
        lines.append(f"regression checks that hold after it: {_nets(good)}")
    if same := nets_that(comparison, "no difference"):
        lines.append(f"regression checks that the change cannot affect: {_nets(same)}")
    if comparison.alone:
        lines.append(alone_words(comparison.outcomes, comparison.alone))
    return lines


def _nets(nets: Sequence[Net]) -> str:
    """S-CONS (one, two), L-PEND (one); of many scenarios, how many."""
    places: dict[str, list[str]] = {}
    for net in nets:
        places.setdefault(net.property, []).append(net.scenario + (", vacuous" if net.vacuous else ""))
    return ", ".join(f"{name} ({_few(where)})" for name, where in places.items())


def _few(scenarios: Sequence[str]) -> str:
    if len(scenarios) <= MOST_PLACES:
        return "; ".join(scenarios)
    return f"{'; '.join(scenarios[:MOST_PLACES])} and {len(scenarios) - MOST_PLACES} more"


def decision_words(decided: Decided, before: str, after: str) -> str:
    """What the two do at one step, in the words of counterexamples; where the model has none, by the values of variables."""
    first, second = decided.first, decided.second
    if first is None or second is None:
        only, other = (before, after) if decided.kind == "only before" else (after, before)
        step = first or second
        return f"Possible next on {only}, not on {other}: {step.sentence if step else decided.step}"
    if first.sentence != second.sentence:
        return f"Next on {before}: {first.sentence} On {after}: {second.sentence}"
    effects = [
        *_effects(first, decided.before, decided.then, before),
        *_effects(second, decided.after, decided.otherwise, after),
    ]
    bare = f"The two change {counted(len(decided.before), 'variable')} of the model differently: see -o json."
    return " ".join([f"Next on both: {first.sentence}", *(effects or [bare])])


def parted_words(parted: Parted) -> str:
    """What the run is, in a sentence."""
    count = len(parted.steps)
    where = (
        f"after {counted(count, 'step')} in {parted.scenario}"
        if count
        else f"at the start of {parted.scenario}"
    )
    least = ", at the earliest" if parted.shortest and count else ""
    return f"The two decide differently {where}{least}"


def _effects(
    step: ShownStep, values: Mapping[str, Value], then: Sequence[str], release: str
) -> Iterator[str]:
    """What a step does to the variables whose new values differ, or else what can follow it on this release alone."""
    if said := [change.said for change in step.changes if change.variable in values and change.said]:
        yield f"On {release}: {', '.join(said)}."
    elif then:
        yield f"After it, only on {release}: {' Or: '.join(then[:MOST_PLACES])}"


def _places(lost: Sequence[Lost]) -> str:
    return "; ".join(f"{one.witness} ({one.scenario})" for one in lost)


def _print_violation(console: Console, after: Finding, outcome: str, whole: bool, remark: str = "") -> None:
    print_headed(console, subject(after), outcome, STYLES[outcome])
    if after.sentence:
        print_wrapped(console, f"Property {after.property}: {after.sentence}", INDENT)
    if after.for_users:
        print_wrapped(console, after.for_users, INDENT)
    if remark:
        print_wrapped(console, remark, INDENT)
    print_counterexample(console, after, whole)


def _print_difference(console: Console, comparison: Comparison, parted: Parted, whole: bool) -> None:
    print_wrapped(console, Text(f"{parted_words(parted)}:", "bold"))
    if parted.steps and not whole:
        print_sentences(console, parted.steps)
    elif parted.steps:
        console.print()
        print_lanes(console, parted.steps)
        console.print()
    for decided in parted.decisions:
        print_wrapped(console, decision_words(decided, comparison.before, comparison.after), INDENT)
