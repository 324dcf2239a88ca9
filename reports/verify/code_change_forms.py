"""A judgement of a change of kube-scheduler's own code: for people, for programs, and for a comment on a pull request."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from ...base.text import counted
from ..filtered import text_filtered, to_json
from ..formats.markdown import bullets, plain, table
from ..text.findings_text import INDENT, print_headed, print_lines, print_wrapped
from .code_change import CodeChange, Probed, Race, Touched

STYLES = {
    "BREAKS": "bold red",
    "CLOSES": "bold green",
    "NO DIFFERENCE SEEN": "bold green",
    "CANNOT MATTER": "bold green",
    "opens": "bold red",
    "closes": "bold green",
    "left the model": "yellow",
}
MARKS = {"BREAKS": "❌", "CLOSES": "✅", "NO DIFFERENCE SEEN": "✅", "CANNOT MATTER": "✅"}
MOST_PARTED = 4
"""In so many scenarios a comment tells how the code departs."""

MOST_MISSED = 20
"""How many changed lines that were not executed are named."""

MOST_STEPS = 8
"""So many of the steps before a departure are printed as text."""

UNTOURED = "tours: none was made"


def touched_words(one: Touched) -> str:
    """A function, what became of it, and what stands for it."""
    stands = f"in the model: {', '.join(one.elements)}" if one.elements else one.remark
    remark = f" ({one.remark})" if one.elements and one.remark else ""
    return f"{one.place}: {one.what}; {stands}{remark}" if stands else f"{one.place}: {one.what}"


def print_touched(
    console: Console, touched: Sequence[Touched], passed_over: Sequence[tuple[str, str]]
) -> None:
    """What a change touches, before anything is built."""
    print_wrapped(console, Text("what changed", "bold"))
    for file, why in passed_over:
        print_wrapped(console, Text(f"{file}: cannot matter: {why}", "dim"), INDENT)
    for one in touched:
        print_wrapped(console, touched_words(one), INDENT)


def print_row(console: Console, one: Race | Probed) -> None:
    """One row, as soon as it is known. What is open on neither side is no news, nor are runs that do not execute the change."""
    if isinstance(one, Probed):
        print_lines(console, _probe(one) if one.lines else (), INDENT)
    elif one.outcome != "open neither before nor after":
        row = Text(f"{one.label}: ").append(one.verdict_words, STYLES.get(one.outcome, ""))
        print_wrapped(console, row, INDENT)


def print_answer(console: Console, found: CodeChange) -> None:
    """The end of it: lines, counts, tours, and the answer."""
    print_lines(console, _rest(found))
    style = STYLES.get(found.answer, "bold yellow")
    print_headed(console, f"{found.change} on {found.base}:", found.answer, style)
    print_wrapped(console, f"{found.because}.", INDENT)


def _rest(found: CodeChange) -> Iterator[str]:
    if found.lines is not None:
        yield f"lines: {found.lines.words}"
        for place in found.lines.missed[:MOST_MISSED]:
            yield f"  not executed: {place}"
        for place in found.lines.idle[:MOST_MISSED]:
            yield f"  nothing depends on it: {place}"
        if (more := len(found.lines.missed) - MOST_MISSED) > 0:
            yield f"  and {more} more"
        yield "races: " + (
            ", ".join(f"{n} {word}" for word, n in found.counts.items()) or "none was replayed"
        )
        yield from _probed(found)
        yield from _tours(found)
        yield from _beyond(found)
        yield from _opened(found)
    yield from found.notes
    if found.unfinished:
        yield f"not finished: {found.unfinished}"


def _probe(one: Probed) -> Iterator[str]:
    yield f"{one.scenario}: {one.runs} random runs of {one.steps:,} steps execute {one.lines} of the changed lines and {_departures(len(one.departures))}"
    for departure in one.departures[:1]:
        yield f"  leaves the model: {sides_of(departure.words)}; {_last(departure.steps)}"


def _last(steps: Sequence[str]) -> str:
    """The run up to a departure: its last steps, as the whole is in the other forms."""
    left = len(steps) - MOST_STEPS
    return f"after: {f'({left} steps); ' if left > 0 else ''}{'; '.join(steps[-MOST_STEPS:])}"


def sides_of(words: str) -> str:
    """What differs, said of both sides: the unchanged code does what its model does."""
    return words.replace(": model ", ": before the change ").replace(", real ", ", after it ")


def _parted(found: CodeChange) -> Iterator[str]:
    """Where the random runs leave the model, for Markdown: the first departure of some scenarios, the shortest first."""
    there = [(one.scenario, one.departures[0]) for one in found.probed if one.departures]
    for scenario, first in sorted(there, key=lambda one: len(one[1].steps))[:MOST_PARTED]:
        yield f"{plain(scenario)} leaves the model: {plain(sides_of(first.words))}. After:\n\n" + "\n".join(
            f"{number}. {plain(step)}" for number, step in enumerate(first.steps, 1)
        )


def _departures(count: int) -> str:
    return f"leave the model in {counted(count, 'way')}" if count else "do not leave the model"


def _probed(found: CodeChange) -> Iterator[str]:
    """The random runs in all, and where they execute the change."""
    if not found.probed:
        return
    runs, steps = sum(one.runs for one in found.probed), sum(one.steps for one in found.probed)
    there = [one for one in found.probed if one.lines]
    yield f"random runs: {runs:,} of {steps:,} steps in {len(found.probed)} of {found.scenarios} scenarios; those of {len(there)} execute changed lines and {_departures(sum(len(one.departures) for one in there))}"


def _tours(found: CodeChange) -> Iterator[str]:
    if found.tours is None:
        yield UNTOURED
        return
    for tour in found.tours:
        end = f": {tour.remark}" if tour.remark else ""
        yield f"tour of {tour.scenario}: {tour.taken:,} of {tour.transitions:,} transitions taken as before; its runs {_departures(len(tour.departures))}{end}"
        for one in tour.departures:
            yield f"  leaves the model ({counted(one.runs, 'run')}): {sides_of(one.words)}; {_last(one.steps)}"


def _beyond(found: CodeChange) -> Iterator[str]:
    """The searches on the code, and the shortest run to each violation, told move by move."""
    for one in found.beyond:
        yield f"beyond {one.scenario}: {one.runs} random runs of {one.moves} moves on the changed code, {counted(len(one.violations), 'property')} violated"
        for violation in one.violations:
            yield f"  {violation.property}: {violation.runs} of {one.runs} runs violate it, and none of the unchanged code: {violation.words}"
            yield f"  first, as in the model: {'; '.join(one.steps) or 'nothing'}"
            for number, move in enumerate(violation.moves, 1):
                if move.changes or number == len(violation.moves):
                    yield f"  move {number}: {move.words}"


def _opened(found: CodeChange) -> Iterator[str]:
    """The run of each race that opens, step by step."""
    for race in found.of("opens"):
        yield f"the run that opens {race.label}, executed by the changed code:"
        yield from (f"  {line}" for line in race.opening)
        yield from (f"  {number}. {told}" for number, told in enumerate(race.steps, 1))
        yield from (f"  {line}" for line in race.ending)


@text_filtered
def to_markdown(found: CodeChange) -> str:
    """As GitHub's Markdown, for a comment on a pull request."""
    blocks = [
        f"# {MARKS.get(found.answer, '⚠️')} podrace: {found.answer}",
        plain(f"{found.change} on {found.base}: {found.because}."),
    ]
    if found.lines is not None:
        blocks.append(
            f"- {plain(found.lines.words)}\n- races: {plain(', '.join(f'{n} {word}' for word, n in found.counts.items()) or 'none')}"
        )
    told = [
        race
        for race in found.races
        if race.outcome not in ("open neither before nor after", "not judged", "still open")
    ]
    if told:
        rows = ([plain(r.label), r.before, r.after, plain(r.verdict_words)] for r in told)
        blocks.append(table(["race", "before", "after", ""], rows))
    if found.touched:
        blocks.append(bullets(map(touched_words, found.touched)))
    blocks += _parted(found)
    if found.lines is not None:
        blocks += [
            f"> {plain(line)}" for line in (*_probed(found), *_tours(found), *_beyond(found), *_opened(found))
        ]
        blocks += [f"> not executed: {plain(place)}" for place in found.lines.missed[:MOST_MISSED]]
        blocks += [f"> nothing depends on it: {plain(place)}" for place in found.lines.idle[:MOST_MISSED]]
    ends = (*found.notes, *([f"not finished: {found.unfinished}"] if found.unfinished else []))
    blocks += [f"> {plain(note)}" for note in ends]
    return "\n\n".join(blocks) + "\n"


FORMS: Mapping[str, Callable[[CodeChange], str]] = {"json": to_json, "markdown": to_markdown}
"""Every form but `text`."""
