"""A question asked of one scenario in several releases, and since when and until when its order is possible."""

from collections.abc import Sequence
from dataclasses import replace

from ...base.problems import NotInRelease, UsageProblem
from ...base.text import one_line
from ...checker.core.exploration import Budget
from ...model.history.versions import PRE_RELEASES, RELEASE_ORDER, exact
from ...reports.answers.ask_report import AskAnswer
from ..ask.asked_property import ID, asked_property
from ..ask.question import Question
from ..findings import asked_of
from ..request.method import NOBODY, Watcher
from ..request.plan import Run, Selection, plan
from ..request.release_names import known_releases, newest_of, parse_release
from .answered import answer, question_of


def releases_of(texts: Sequence[str]) -> list[str | None]:
    """The releases that options name, in full; `1.28..1.36` is all from one to the other. None: that of the scenario. Raises UsageProblem."""
    found: dict[str, None] = {}
    for text in texts:
        first, dots, last = text.partition("..")
        found |= dict.fromkeys(
            _between(text, first.strip(), last.strip()) if dots else [exact(parse_release(text.strip()))]
        )
    return list(found) or [None]


def _between(text: str, first: str, last: str) -> tuple[str, ...]:
    """All from one to the other: of each release its newest version, or of two versions all that the model has. A pre-release can be the end."""
    ends = [exact(parse_release(end)) for end in (first, last)]
    whole = [*(exact(newest_of(minor)) for minor in RELEASE_ORDER), *PRE_RELEASES]
    known = whole if set(ends) <= set(whole) else [*known_releases(), *PRE_RELEASES]
    one, other = (known.index(end) for end in ends)
    if one > other:
        raise UsageProblem(
            f"--release: `{one_line(text)}`: the earlier release comes first: write {last}..{first}"
        )
    return tuple(known[one : other + 1])


def runs_of(question: Question, selection: Selection, releases: Sequence[str | None]) -> list[Run]:
    """The runs that ask the question, one for each release. Raises Problem."""
    own = {ID: asked_property(question)}
    runs = []
    for release in releases:
        runs += plan(replace(selection, release=release, properties=(ID,), own=own))
    if len({run.scenario.file for run in runs}) > 1:
        names = ", ".join(dict.fromkeys(run.scenario.name for run in runs))
        raise UsageProblem(f"a question is about one scenario, and these are several: {names}: name one")
    return runs


def answers(
    runs: Sequence[Run], budget: Budget, engine: str = "native", watcher: Watcher = NOBODY
) -> list[AskAnswer]:
    """The answer in each release. One that does not have a step of the question has NOT THERE; if all are so, that is a Problem."""
    found: list[AskAnswer] = []
    problems: list[UsageProblem | NotInRelease] = []
    for number, run in enumerate(runs, 1):
        count = f"[{number}/{len(runs)}] " if len(runs) > 1 else ""
        watcher.start(f"{count}{run.scenario.name} {run.composition.label}")
        try:
            found.append(answer(run, budget, engine, watcher.watch))
        except (UsageProblem, NotInRelease) as problem:
            problems.append(problem)
            found.append(_not_there(run, str(problem)))
    if len(problems) == len(found):
        raise problems[0]
    return found


def _not_there(run: Run, why: str) -> AskAnswer:
    told = {key: value for key, value in asked_of(run).items() if key != "issues"}
    return AskAnswer(
        **told, verdict="HOLDS", answer="NOT THERE", question=question_of(run).question.items, understood=(),
        states=0, transitions=0, depth=0, seconds=None, words=f"It cannot be asked here: {why}.", notes=run.composition.notes,
    )  # fmt: skip
