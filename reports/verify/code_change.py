"""A judgement of a change of kube-scheduler's own code: the document that its forms are made of, free of any engine.

Field names are stable: people parse them.
"""

import builtins
import re
from collections.abc import Iterable, Sequence
from typing import Literal, get_args

import msgspec

from ...base.text import counted
from ..step import Value, show
from ..tours import Departure

RaceWord = Literal[
    "closes", "opens", "still open", "left the model", "open neither before nor after", "not judged"
]
Answer = Literal[
    "BREAKS", "CLOSES", "CHANGES WITHOUT A VIOLATION", "NO DIFFERENCE SEEN", "CANNOT MATTER", "INCONCLUSIVE"
]


_PANIC = re.compile(r"CRASHED: ((?:panic|fatal error): (?!test timed out).*)")


class Touched(msgspec.Struct, frozen=True):
    """A function that a change touches: what became of it, the elements of the model that stand for it, and what is to be said of it."""

    place: str
    what: str
    elements: tuple[str, ...] = ()
    remark: str = ""


class Race(msgspec.Struct, frozen=True):
    """A counterexample on the code before and after the change.

    `without` are upstream changes that the model is without where the counterexample was found: those are races that the base does not have. So are those of a model with later changes, which are `added`. `before` and `after` are
    the verdicts of both replays. `at` is the step at which the changed code leaves the model, `words` say what differs there. `lines` is how many
    of the changed lines its replays executed: of those that are gone before the change, of new ones after it. `differs`: the replays can be told apart. `steps` tell the run of a race that opens, `opening` its cluster, and `ending` what is wrong at its end.
    """

    name: str
    property: str
    outcome: RaceWord
    before: str
    after: str
    without: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    at: int | None = None
    words: str = ""
    lines: int = 0
    differs: bool = False
    steps: tuple[str, ...] = ()
    opening: tuple[str, ...] = ()
    ending: tuple[str, ...] = ()

    @builtins.property
    def leaves(self) -> bool:
        """Whether the changed code goes otherwise than before, but for a race of which it executes the whole run, and closes it."""
        return self.differs and (self.outcome != "closes" or self.after == "CANNOT BE FORCED")

    @builtins.property
    def label(self) -> str:
        """The race with its property."""
        said = [
            f"{word} {', '.join(keys)}"
            for word, keys in (("without", self.without), ("with", self.added))
            if keys
        ]
        found = f" (a run of the model {' and '.join(said)})" if said else ""
        return f"{self.name} {self.property}{found}"

    @builtins.property
    def verdict_words(self) -> str:
        """What became of it, for a line of text."""
        if self.outcome == "left the model":
            return f"left the model at step {self.at}: {self.words}"
        return f"{self.outcome}: {self.words}" if self.words else self.outcome


class Lines(msgspec.Struct, frozen=True):
    """Of the changed lines that are code, how many were executed, the places of those that were not, and (`idle`) of those on which nothing depended."""

    changed: int
    executed: int
    missed: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()

    @builtins.property
    def words(self) -> str:
        """For example `12 of 14 changed lines were executed`."""
        if not self.changed:
            return "no changed line is a statement"
        return f"{self.executed} of {self.changed} changed {'lines were' if self.changed > 1 else 'line was'} executed"

    @builtins.property
    def idle_words(self) -> str:
        """For example `pkg/scheduler/a.go:12 and 3 more`."""
        return places_words(self.idle)


def places_words(places: Sequence[str]) -> str:
    """The first of them, and how many more there are."""
    return places[0] + (f" and {len(places) - 1} more" if len(places) > 1 else "")


class Probed(msgspec.Struct, frozen=True):
    """Random runs of a scenario's model on the changed code: how many of `steps` in all, how many changed `lines` they executed, and what the unchanged code does otherwise."""

    scenario: str
    runs: int
    steps: int
    lines: int = 0
    departures: tuple[Departure, ...] = ()

    @builtins.property
    def panics(self) -> tuple[str, ...]:
        """What the Go runtime said where the changed code, and not the unchanged one, ended the process."""
        return tuple(found[1] for one in self.departures if (found := _PANIC.search(one.words)))


class Toured(msgspec.Struct, frozen=True):
    """A tour of a scenario's model on the changed code. `departures`: those that the unchanged code does not have."""

    scenario: str
    transitions: int
    taken: int
    departures: tuple[Departure, ...] = ()
    remark: str = ""


class Move(msgspec.Struct, frozen=True):
    """A move that the code made by itself: what was let go, and what is seen otherwise than before."""

    move: str
    changes: dict[str, Value]

    @builtins.property
    def words(self) -> str:
        """For example `scheduler calls Cache.AssumePod q n1: cache.pod[q].node is n1`."""
        seen = ", ".join(f"{name} is {show(value)}" for name, value in self.changes.items())
        return f"{self.move}: {seen}" if seen else self.move


class Violation(msgspec.Struct, frozen=True):
    """A property that so many random runs of the changed code violate, and none of the unchanged code. `moves` are those of the shortest run, which `seed` determines."""

    property: str
    words: str
    runs: int
    seed: int
    moves: tuple[Move, ...]


class Beyond(msgspec.Struct, frozen=True):
    """A search on the code itself, from where the changed code has left the model, or from the start: after `steps` of a scenario, so many random runs of so many moves."""

    scenario: str
    runs: int
    moves: int
    steps: tuple[str, ...]
    violations: tuple[Violation, ...] = ()


class CodeChange(msgspec.Struct, frozen=True):
    """The judgement. `tours` is None where none was made. `beyond` are searches on the code itself where it has left the model.

    Of `scenarios`, those in `probed` were run. `unfinished` says what was not done because time was up.
    """

    change: str
    base: str
    answer: Answer
    because: str
    touched: tuple[Touched, ...] = ()
    passed_over: tuple[tuple[str, str], ...] = ()
    lines: Lines | None = None
    races: tuple[Race, ...] = ()
    tours: tuple[Toured, ...] | None = None
    notes: tuple[str, ...] = ()
    beyond: tuple[Beyond, ...] = ()
    probed: tuple[Probed, ...] = ()
    scenarios: int = 0
    unfinished: str = ""

    def of(self, *outcomes: RaceWord) -> list[Race]:
        """The races with one of these outcomes."""
        return [race for race in self.races if race.outcome in outcomes]

    @builtins.property
    def departures(self) -> int:
        """How many causes of departures the random runs and the tours found."""
        return departures_in(self.probed, self.tours)

    @builtins.property
    def counts(self) -> dict[str, int]:
        """How many races have each outcome."""
        return {word: len(self.of(word)) for word in get_args(RaceWord) if self.of(word)}


GOOD, BAD, OPEN = 0, 1, 3
_CODES: dict[Answer, int] = {"BREAKS": BAD, "INCONCLUSIVE": OPEN, "CHANGES WITHOUT A VIOLATION": OPEN}


def exit_code(found: CodeChange) -> int:
    """0 nothing regressed, 1 the change opens a race, 3 that is not known: also where the code leaves the model of its base."""
    if found.answer == "CLOSES" and (found.departures or any(race.leaves for race in found.races)):
        return OPEN
    return _CODES.get(found.answer, GOOD)


def departures_in(probed: Iterable[Probed], tours: Iterable[Toured] | None) -> int:
    """How many causes of departures these found, scenario by scenario."""
    found = [one.departures for one in probed] + [one.departures for one in tours or ()]
    return sum(map(len, found))


def answer_of(
    races: Iterable[Race],
    lines: Lines,
    tours: tuple[Toured, ...] | None,
    beyond: Iterable[Beyond] = (),
    probed: Sequence[Probed] = (),
) -> tuple[Answer, str]:
    """The answer, and what it rests on. What did not execute the change is no judgement of it."""
    races = list(races)
    opened = [race.label for race in races if race.outcome == "opens"]
    closed = [race.label for race in races if race.outcome == "closes"]
    left = [race for race in races if race.leaves]
    departures = departures_in(probed, tours)
    if opened:
        return "BREAKS", f"it opens {', '.join(opened)}"
    searched = list(beyond)
    violated = [f"{v.property} in {one.scenario}" for one in searched for v in one.violations]
    if violated:
        return (
            "BREAKS",
            f"random runs of the changed code violate {', '.join(violated)}, and those of the unchanged code do not",
        )
    panics = [f"{one.panics[0]} (in {one.scenario})" for one in probed if one.panics]
    if panics:
        return "BREAKS", f"the changed code ends the scheduler, and the unchanged code does not: {panics[0]}"
    if lines.changed and not lines.executed:
        return (
            "INCONCLUSIVE",
            "no changed line was executed: nothing that was run says anything about the change",
        )
    said = (
        f"the changed code leaves the model of its base ({counted(len(left), 'replay')}, {counted(departures, 'cause')} in other runs), and {beyond_words(searched)}"
        if left or departures
        else ""
    )
    if closed:
        return "CLOSES", "; ".join(filter(None, [f"it closes {', '.join(closed)}", said]))
    if said:
        return "CHANGES WITHOUT A VIOLATION", f"no violation was seen; {said}"
    if not races and not probed:
        return (
            "INCONCLUSIVE",
            "nothing was run: podrace could execute no run of the chosen scenarios, or time was up",
        )
    if not lines.changed:
        return (
            "INCONCLUSIVE",
            "no changed line is a statement, so nothing says whether the change was executed",
        )
    if lines.missed:
        return "INCONCLUSIVE", f"{lines.words}: the others were not judged"
    return (
        "NO DIFFERENCE SEEN",
        f"{lines.words}, and the code does what it did before: {looked_at(races, probed, tours)}",
    )


def looked_at(races: Sequence[Race], probed: Sequence[Probed], tours: Sequence[Toured] | None) -> str:
    """What was executed, for example `in 12 replays, in 240 random runs of 9,000 steps in 10 scenarios`."""
    runs, steps = sum(one.runs for one in probed), sum(one.steps for one in probed)
    said = [f"in {counted(len(races), 'replay')}"] if races else []
    if probed:
        said.append(f"in {runs:,} random runs of {steps:,} steps in {counted(len(probed), 'scenario')}")
    taken = sum(tour.taken for tour in tours or ())
    if taken:
        said.append(f"in {taken:,} transitions of {counted(len(tours or ()), 'tour')}")
    return ", ".join(said)


def beyond_words(searched: Sequence[Beyond]) -> str:
    """What was searched where the code has left the model, and without a violation."""
    if not searched:
        return "beyond that nothing was searched"
    runs = sum(one.runs for one in searched)
    return f"beyond that {counted(runs, 'random run')} of the code in {counted(len(searched), 'scenario')} violate nothing that the unchanged code keeps"
