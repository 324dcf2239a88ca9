"""Stored counterexamples replayed on the code before and after a change: those of the base, and those that it had without one upstream change."""

import inspect
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from types import CodeType
from typing import Any

import msgspec

from ...analysis.chain import verdicts
from ...analysis.findings import was_cut_short
from ...analysis.request.method import NOBODY, Method, Watcher
from ...analysis.request.plan import Run, Selection, plan
from ...base.problems import Problem, Terminated
from ...base.structs import Data
from ...checker.core.exploration import Budget
from ...model.history import CHANGES
from ...reports.document import Finding
from ...reports.text.explanation import explain
from ...reports.verify.code_change import Race
from ...scenarios import Scenario
from ..case import Case, format_cases
from ..judging import RealRun, Verdict
from ..modules.module import KubernetesVersion
from ..outcome import Outcome, read_outcomes
from ..reproducing import Prepared, prepared
from ..request import question_of
from ..running import CASES, KEEPS, OUTCOMES, TEST, Built, run_test
from .beyond import Place
from .damage import VARIABLE
from .lines import NOTHING, ChangedLine, Counted, counted, read_blocks


class Counterexample(Data):
    """One that can be replayed. `without` are upstream changes that the model was without when it was found, and `added` later ones that it had."""

    asked: Prepared
    without: tuple[str, ...] = ()
    added: tuple[str, ...] = ()

    @property
    def scenario(self) -> Scenario:
        """Where it happens."""
        assert self.asked.found is not None
        return self.asked.found.run.scenario

    @property
    def length(self) -> int:
        """How many steps it has as it was found."""
        finding = self.asked.question.finding
        return len(self.case.steps) if finding is None or finding.trace is None else len(finding.trace)

    @property
    def words(self) -> tuple[str, ...]:
        """Its steps, for people."""
        assert self.asked.found is not None
        return tuple(step.told for step in self.asked.found.steps)

    @property
    def told(self) -> dict[str, Any]:
        """The run for people: its cluster, its steps, and what is wrong at its end."""
        asked = self.asked
        finding = asked.question.finding
        if finding is None or finding.trace is None:  # of a stored trace
            return {"steps": self.words}
        violated = f"This violates {asked.about['property']}: {asked.about['sentence']}"
        run = explain(finding)
        return {"opening": run.opening, "steps": self.words, "ending": (*run.outcome, violated)}

    @property
    def case(self) -> Case:
        """What the driver executes."""
        assert self.asked.case is not None
        return self.asked.case


class Question(Data):
    """Which counterexamples are searched for: those of a scenario, found `without` upstream changes or with later ones `added`, for so many seconds each. `new`: only those that the base's model has not."""

    scenario: Scenario
    without: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    seconds: float | None = None
    properties: tuple[str, ...] = ()
    new: bool = False


class Questions(Data):
    """The questions about a change: races with an upstream change of its elements (`near`); what the base itself has; and the other races, those of the same components first."""

    near: Sequence[Question]
    own: Sequence[Question]
    far: Sequence[Question]


def questions_of(scenarios: Sequence[Scenario], elements: Sequence[str], release: str) -> Questions:
    """All that can be asked of these scenarios. What upstream changed in these elements after the release may be what is judged, or a fix taken out: in turns come the scenarios that name the former, as they are and with that change, and those that have a race without the latter, first those that were made to show a fix in a later release."""
    ranks = {key: nearness(key, elements) for key in CHANGES}
    here = [key for key, rank in ranks.items() if rank <= CALLED]
    known = [
        (min(ranks.get(key, FAR) for key in without), scenario, without)
        for scenario in scenarios
        for without in dict.fromkeys([*_fixes(scenario), *((key,) for key in mentioned(scenario, here))])
    ]
    known.sort(key=lambda one: (one[0], "/fixes/" not in one[1].file))
    coming = sorted((key for key in here if not CHANGES[key].is_in(release)), key=lambda key: ranks[key])
    ahead = [(one, key) for key in coming for one in scenarios if [*mentioned(one, [key])]]
    later = [
        *map(Question, {one.name: one for one, _ in ahead}.values()),
        *(Question(one, added=(key,)) for one, key in ahead),
    ]
    earlier = [Question(scenario, without) for rank, scenario, without in known if rank <= CALLED]
    return Questions(
        [one for pair in zip_longest(later, earlier) for one in pair if one is not None],
        [Question(scenario) for scenario in scenarios],
        [
            Question(scenario, without, seconds=FAR_SECONDS)
            for rank, scenario, without in known
            if rank > CALLED
        ],
    )


def mentioned(scenario: Scenario, keys: Sequence[str]) -> Iterator[str]:
    """Those of the upstream changes that the file of a scenario tells of, in a comment or elsewhere."""
    numbers = frozenset(re.findall(r"[0-9]{4,6}", scenario.text))
    yield from (key for key in keys if key in numbers)


def counterexamples(
    question: Question,
    version: KubernetesVersion,
    release: str,
    budget: Budget,
    method: Method,
    watcher: Watcher = NOBODY,
) -> Iterator[Counterexample]:
    """Those that are found for a question and can be replayed."""
    seconds = [s for s in (budget.timeout, question.seconds) if s is not None]
    limits = replace(budget, timeout=min(seconds, default=None))
    scenario, without, added = question.scenario, question.without, question.added
    asked_of = Selection(
        release=release,
        with_fixes=added,
        without_fixes=without,
        properties=question.properties,
        given=[scenario],
    )
    try:
        runs = plan(asked_of)
    except Problem:  # this release has no such configuration, or no such change
        return
    runs = [
        run
        for run in runs
        if not run.ignored
        and set(without) <= set(run.composition.removed)
        and set(added) <= set(run.composition.added)
    ]
    for run, finding in zip(runs, _decided(runs, limits, method, watcher), strict=True):
        if finding.trace is None or scenario.open:
            continue
        if question.new:
            base = finding_in_base(scenario, run.property, release, limits, method)
            if not is_new(len(finding.trace), shortest(base)):
                continue
        try:
            asked = prepared(question_of(run, finding, version))
        except Problem:
            continue
        if asked.case is not None:
            yield Counterexample(asked, without, added)


def _fixes(scenario: Scenario) -> list[tuple[str, ...]]:
    """What is taken out to have a race again: each of the changes after which it is gone, and all that fixed it."""
    if scenario.race is None:
        return []
    return list(dict.fromkeys([*((key,) for key in scenario.race.after), tuple(scenario.race.fixes)]))


HERE, CALLED, BESIDE, FAR = range(4)
"""How near an upstream change is: in the touched elements themselves, in what they call in their component or in one that is touched as a whole, in the same component, or elsewhere."""

FAR_SECONDS = 3.0
"""How long a counterexample is searched for that is had only without such a change."""


def nearness(key: str, elements: Sequence[str]) -> int:
    """How near an upstream change is to these elements of the model."""
    found = FAR
    for kind in CHANGES[key].classes:
        for base in kind.__mro__[1:]:
            name = f"{base.__module__}.{base.__qualname__}".removeprefix("podrace.model.")
            touched = {member for owner, _, member in (e.rpartition(".") for e in elements) if owner == name}
            if touched & vars(kind).keys():
                return HERE
            if name in elements:  # all of it
                found = min(found, CALLED)
            if touched:
                found = min(found, CALLED if _called(base, touched) & vars(kind).keys() else BESIDE)
    return found


def _called(owner: type, members: Iterable[str]) -> set[str]:
    """The members of a class that these call, and those that they call."""
    found: set[str] = set()
    todo = list(members)
    while todo:
        member: Any = getattr(owner, todo.pop(), None)
        code = getattr(inspect.unwrap(member), "__code__", None)
        mine = {name for name in _names(code) if not name.startswith("__") and hasattr(owner, name)} - found
        found |= mine
        todo += mine
    return found


def _names(code: CodeType | None) -> Iterator[str]:
    """The names of attributes that a function uses, and those in it."""
    if code is not None:
        yield from code.co_names
        for one in code.co_consts:
            yield from _names(one) if isinstance(one, CodeType) else ()


def _decided(runs: Sequence[Run], budget: Budget, method: Method, watcher: Watcher) -> list[Finding]:
    """The verdicts. Raises Terminated, which a search keeps to itself, if the process was told to end."""
    found = verdicts(runs, budget, method, watcher)
    if any(map(was_cut_short, found)):
        raise Terminated
    return found


def finding_in_base(scenario: Scenario, name: str, release: str, budget: Budget, method: Method) -> Finding:
    """What the model has of a property of a scenario without the change."""
    runs = plan(Selection(release=release, properties=(name,), given=[scenario]))
    return _decided(runs, budget, method, NOBODY)[0]


def shortest(finding: Finding) -> int | None:
    """How many steps its counterexample has, or would have at least if time was up before; None if there is none."""
    if finding.trace is not None:
        return len(finding.trace)
    return None if finding.verdict == "HOLDS" else finding.depth


def is_new(steps: int, known: int | None) -> bool:
    """Whether a run is no longer way to what is violated with `known` steps at least."""
    return known is None or steps < known


class Replay(Data):
    """What became of a counterexample on one binary, and which changed lines of that side it executed."""

    outcome: Outcome
    counted: Counted = NOTHING

    @property
    def seen(self) -> tuple[object, ...]:
        """All by which two replays are told apart."""
        return seen_of(self.outcome)


def replay(built: Built, case: Case, lines: Iterable[ChangedLine] = ()) -> Replay:
    """In a process of its own, so that its lines can be told from those of others."""
    outcomes, counted = replayed_at_once(built, [case], lines)
    return Replay(outcomes[case.id], counted)


SECONDS, MORE_SECONDS = 30.0, 5.0
"""How long a process with cases may take, and how long more for each: code in which a goroutine tries indefinitely would take all the time."""


def replayed_at_once(
    built: Built,
    cases: Sequence[Case],
    lines: Iterable[ChangedLine] = (),
    damaged: int | None = None,
    keeps: bool = False,
) -> tuple[dict[str, Outcome], Counted]:
    """What became of each case in one process, and the changed lines that they executed. With a case that ends the process the others end, too, and nothing is counted. `damaged` is the number of a line of a binary that can be damaged; `keeps`: with fingerprints of what is kept in memory."""
    with tempfile.TemporaryDirectory(prefix="podrace-real-") as name:
        folder = Path(name)
        (folder / CASES).write_text(format_cases(cases), encoding="utf-8")
        named: dict[str, object] = {"PODRACE_CASES": folder / CASES, "PODRACE_OUTCOMES": folder / OUTCOMES}
        if damaged is not None:
            named[VARIABLE] = damaged
        if keeps:
            named[KEEPS] = 1
        profile = folder / "cover.out"
        count = [] if damaged is not None else [f"-test.coverprofile={profile}"]
        said = run_test(built, TEST, named, folder, SECONDS + MORE_SECONDS * len(cases), count)
        outcomes = read_outcomes(folder / OUTCOMES)
        blocks = read_blocks(profile.read_text(encoding="utf-8")) if profile.is_file() else {}
    for case in cases:
        if case.id not in outcomes:
            outcomes[case.id] = Outcome(case.id, "CRASHED", why=said or "the driver says nothing of it")
    return outcomes, counted(lines, blocks) if blocks else NOTHING


def seen_of(said: Outcome) -> tuple[object, ...]:
    """All by which two replays are told apart. What follows a step that cannot be forced nobody holds to an order."""
    steps = [step.real for step in said.forced]
    epilogue = None if said.verdict == "CANNOT BE FORCED" else said.epilogue
    return said.verdict, said.at, said.initial, said.start, steps, epilogue


def place_of(found: Counterexample, after: Replay) -> Place:
    """Where the changed code left the model: after the last step that was forced, up to the first that differs."""
    steps = found.case.steps
    forced = after.outcome.forced
    end = next((n for n, step in enumerate(forced, 1) if step.differs), len(forced))
    case = msgspec.structs.replace(found.case, steps=steps[:end])
    return Place(found.scenario, case, found.words[:end])


def _end_of(found: Counterexample, one: Replay) -> tuple[Verdict, bool | None]:
    """The verdict on a replay, and whether the property is violated in its end."""
    assert found.asked.found is not None
    side = RealRun(found.asked.found, found.case, one.outcome, found.asked.timing)
    verdict = side.verdict()
    return verdict, True if verdict.word == "REPRODUCED" else side.end


def differing(
    found: Counterexample, sides: Sequence[Replay], others: Sequence[Sequence[Replay]]
) -> bool | None:
    """Whether the replays of the two sides differ; None if others do not show the same. What follows the first step that differs from the model may vary, if all end alike."""

    def begins(one: Replay) -> tuple[object, ...]:
        forced = one.outcome.forced
        at = next((n for n, step in enumerate(forced, 1) if step.differs), len(forced))
        return one.outcome.start, [step.real for step in forced[:at]], _end_of(found, one)[1]

    for view in (lambda one: one.seen, begins):
        first = [view(side) for side in sides]
        if all([view(side) for side in other] == first for other in others):
            return first[0] != first[1]
    return None


def race_of(
    found: Counterexample, before: Replay, after: Replay, base: Callable[[], int | None], differs: bool | None
) -> Race:
    """What the change makes of a counterexample; `base` is how many steps the shortest run to the violation has in the model without the change, None if it has none.

    Nothing follows from replays that do not always differ in the same way (`differs` is None: see `differing`). Only a run that was executed to its end can be closed: otherwise the code has left the model. A race opens where the base is not known to have it by another run that is no longer.
    """
    about = found.asked.about
    (said, ends) = zip(*(_end_of(found, one) for one in (before, after)), strict=True)
    facts: dict[str, Any] = {
        "name": about["name"],
        "property": about["property"],
        "before": said[0].word,
        "after": said[1].word,
        "without": found.without,
        "added": found.added,
        "lines": len(before.counted.executed | after.counted.executed),
        "differs": differs or False,
    }
    at, words = said[1].at, said[1].words
    if differs is None:
        return Race(
            outcome="not judged", words="a second replay of it went otherwise than the first", **facts
        )
    if all(ends):
        return Race(outcome="still open", words="by a run that goes otherwise" if differs else "", **facts)
    known = base() if ends[1] else None
    if ends[1] and is_new(found.length, known):
        words += f" Without the change, a violation takes at least {known} steps." if known else ""
        return Race(outcome="opens", words=words, **found.told, **facts)
    if ends[0] and ends[1] is False:
        return Race(outcome="closes", at=at, words=words, **facts)
    if differs:
        words = f"{said[1].word}: {words}; before the change {said[0].word}: {said[0].words}"
        return Race(outcome="left the model", at=at, words=words, **facts)
    if found.without or found.added:
        return Race(outcome="open neither before nor after", at=at, **facts)
    return Race(
        outcome="not judged",
        at=at,
        words=f"unchanged, its replay is {said[0].word}: {said[0].words}",
        **facts,
    )
