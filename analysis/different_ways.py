"""The essentially different ways in which a property can be violated, as the reports know them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import msgspec

from ..base.problems import UsageProblem
from ..base.text import counted
from ..checker.core.exploration import Budget
from ..checker.core.result import UNMEASURED
from ..checker.ways import Way, Ways, find_ways
from ..model.language import TransitionSystem
from ..reports.answers.ways_report import WayFound, WaysFound
from ..reports.document import Finding
from ..reports.verdict_words import WORDS
from .altered_questions import with_question_noted
from .findings import asked_of, finding_of, ignored_words, scope_of, silence_of
from .request.method import NOBODY, Method, Watcher
from .request.plan import SAFETY, Run, Selection, at_any_time, refuse_all_ignored
from .systems import refuse_ranges, system_of


def finite_runs(planned: Sequence[Run], selection: Selection, say: Callable[[str], None]) -> list[Run]:
    """Those that a run of finitely many steps violates; `say` is told what is left out. Raises Problem."""
    refuse_all_ignored(planned)
    chosen = []
    for run in planned:
        refuse_ranges(run.scenario)
        where = f"{run.property} of {run.scenario.name}"
        if run.ignored:
            say(f"{where}: {ignored_words(run)}")
        elif run.prop.kind in SAFETY:
            chosen.append(run)
        elif selection.properties or selection.own:
            raise UsageProblem(
                f"{where} is a {run.prop.kind}, which no run that ends violates: name a safety property (S-...) with --property"
            )
        else:
            say(f"{where} is left out: no run that ends violates a {run.prop.kind}")
    if not chosen:
        raise UsageProblem(
            "nothing is asked that a run that ends violates: name a safety property (S-...) with --property"
        )
    return chosen


def find_all_ways(
    runs: Sequence[Run], most: int, budget: Budget, method: Method, watcher: Watcher = NOBODY
) -> list[WaysFound]:
    """The ways of each run, at most so many. `budget` is for all searches of a run together."""
    found = []
    for run in runs:
        run = replace(run, scenario=at_any_time(run.scenario))
        watcher.start(f"{run.scenario.name} {run.composition.label} {run.property}")
        system = system_of(run)

        def watch(searches: int, known: int) -> None:
            watcher.say(f"{counted(known, 'way')}  {counted(searches, 'exploration')}")

        answer = find_ways(system, run.property, most, budget, engine=method.engine, watch=watch)
        found.append(_found(with_question_noted(run), system, answer, most))
    return found


def _found(run: Run, system: TransitionSystem, answer: Ways, most: int) -> WaysFound:
    counts = answer.result.counts
    words = _words(run.property, answer, most) + silence_of(run)
    shown = [
        WayFound(way.kinds, answer.own(way), _finding(run, system, answer, number, words))
        for number, way in enumerate(answer.ways)
    ]
    return WaysFound(
        **asked_of(run),
        verdict=WORDS[answer.result.verdict.name],
        complete=answer.result.stopped is None,
        words=words,
        searches=answer.searches,
        states=counts.states or 0,
        seconds=round(counts.seconds or 0.0, 3),
        common=answer.common,
        ways=tuple(shown),
        notes=run.composition.notes,
        scope=scope_of(run.scenario.spec.scope, run.scenario.spec, run.composition.classes),
        constraints_hit=answer.result.coverage.constraints_hit,
    )


def _finding(run: Run, system: TransitionSystem, answer: Ways, number: int, words: str) -> Finding:
    """A way as all reports know counterexamples; the counts are those of all searches together."""
    way: Way = answer.ways[number]
    steps = len(way.trace.steps)
    counts = replace(answer.result.counts, depth=steps)
    result = replace(answer.result, counts=counts, coverage=UNMEASURED, trace=way.trace, stopped=None)
    own = answer.own(way)
    takes = f" It takes, as not every way does: {', '.join(own)}." if own else ""
    head = f"Way {number + 1} of {len(answer.ways)}, {counted(steps, 'step')}.{takes}"
    found = finding_of(run, system, result, words=f"{head} {words}")
    silent = found.words.removesuffix(silence_of(run))  # the words about all ways have said it
    return msgspec.structs.replace(found, words=silent, expected=None, expected_steps=None)


def _words(name: str, answer: Ways, most: int) -> str:
    states, stopped = answer.result.counts.states or 0, answer.result.stopped
    explored = f"{counted(answer.searches, 'exploration')}, {counted(states, 'state')}"
    hit = "; ".join(answer.result.coverage.constraints_hit)
    within = f" Within these constraints, which were hit: {hit}." if hit else ""
    if stopped is None and not answer.ways:
        return f"No run violates {name} ({explored}): `podrace check` says whether anything put it to the test.{within}"
    if stopped is None:
        which = "of this way" if len(answer.ways) == 1 else f"of one of these {len(answer.ways)} ways"
        return f"There is no other: every run that violates {name} takes all kinds of steps {which} ({explored}).{within}"
    if stopped == "most":
        return f"There are more ways than these: allow more with --most, which was {most} ({explored})."
    ran_out = {
        "states": "its states (--max-states)",
        "memory": "its memory (--max-memory)",
        "timeout": "the time (--timeout)",
    }
    return f"There may be {'more ways' if answer.ways else 'some way'}: a search ran out of {ran_out.get(stopped, stopped)} ({explored})."
