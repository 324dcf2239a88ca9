"""`podrace ways`: the essentially different ways in which a property can be violated."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from ..analysis.execute import WORDS, Method, finding_of, fixes_of, ignored_words, scope_of, silence_of
from ..analysis.narration.words import SCHEDULER_WORDS
from ..analysis.options import UsageProblem
from ..analysis.plan import Run, Selection, plan, refuse_all_ignored
from ..analysis.systems import refuse_ranges, system_of
from ..checker.core.exploration import Budget
from ..checker.core.result import UNMEASURED, counted
from ..checker.ways import Way, Ways, find_ways
from ..model.language import TransitionSystem
from ..reports.document import Finding, Word
from ..reports.ways import WayFound, WaysFound, ways_to_json
from .check import HOLDS, INCONCLUSIVE, VIOLATED, Output, draw, report, save_traces
from .console import message_console, result_console, tolerant_of_closed_pipes
from .progress import ProgressDisplay
from .simulate import WALKABLE

CODES: dict[Word, int] = {"VIOLATED": VIOLATED, "INCONCLUSIVE": INCONCLUSIVE, "HOLDS": HOLDS}
"""The exit code of each verdict; of several, the first decides."""


def ways(selection: Selection, most: int, budget: Budget, method: Method, output: Output) -> int:
    """Carry out a whole `podrace ways`; gives the exit code. `budget` and `method` are those of `find_ways`."""
    output.refuse_unusable()
    runs = _finite(plan(selection), selection, output)
    found = []
    with ProgressDisplay(message_console(output.no_color)) as display:
        for run in runs:
            display.start(f"{run.scenario.name} {run.composition.label} {run.property}")

            def watch(searches: int, known: int) -> None:
                display.say(f"{counted(known, 'way')}  {counted(searches, 'exploration')}")

            system = system_of(run)
            answer = find_ways(
                system,
                run.property,
                most,
                budget,
                engine=method.engine,
                watch=watch,
            )
            found.append(_found(run, system, answer, most))
    with tolerant_of_closed_pipes():
        _report(found, output)
    pairs = [(run, finding) for run, one in zip(runs, found, strict=True) for finding in one.findings()]
    findings = [finding for _, finding in pairs]
    if output.graph is not None:
        draw(findings, output.graph, output.no_color, output.graph_kind)
    if output.save_trace is not None:
        save_traces([run for run, _ in pairs], findings, output.save_trace, output.no_color)
    verdicts = {one.verdict for one in found}
    return next(code for verdict, code in CODES.items() if verdict in verdicts)


def _finite(planned: Sequence[Run], selection: Selection, output: Output) -> list[Run]:
    """Those that a run of finitely many steps violates; what is left out is said on stderr. Raises UsageProblem."""
    refuse_all_ignored(planned)
    messages = message_console(output.no_color)
    chosen = []
    for run in planned:
        refuse_ranges(run.scenario)
        where = f"{run.property} of {run.scenario.name}"
        if run.ignored:
            messages.print(f"{where}: {ignored_words(run)}", soft_wrap=True)
        elif run.prop.kind in WALKABLE:
            chosen.append(run)
        elif selection.properties or selection.own:
            raise UsageProblem(
                f"{where} is a {run.prop.kind}, which no run that ends violates: name a safety property (S-...) with --property"
            )
        else:
            messages.print(
                f"{where} is left out: no run that ends violates a {run.prop.kind}", soft_wrap=True
            )
    if not chosen:
        raise UsageProblem(
            "nothing is asked that a run that ends violates: name a safety property (S-...) with --property"
        )
    return chosen


def _report(found: Sequence[WaysFound], output: Output) -> None:
    if output.form == "json":
        sys.stdout.write(ways_to_json(found if output.timings else [one.untimed() for one in found]))
    elif output.form != "text":
        report([finding for one in found for finding in one.findings()], output)
    else:
        console = result_console(output.no_color)
        for number, one in enumerate(found):
            if number:
                console.print()
            one.print(console, SCHEDULER_WORDS)


def _found(run: Run, system: TransitionSystem, answer: Ways, most: int) -> WaysFound:
    counts = answer.result.counts
    words = _words(run.property, answer, most) + silence_of(run)
    shown = [
        WayFound(way.kinds, answer.own(way), _finding(run, system, answer, number, words))
        for number, way in enumerate(answer.ways)
    ]
    return WaysFound(
        scenario=run.scenario.name,
        release=run.composition.release,
        fixes=fixes_of(run.composition),
        property=run.property,
        verdict=WORDS[answer.result.verdict.name],
        complete=answer.result.stopped is None,
        words=words,
        searches=answer.searches,
        states=counts.states or 0,
        seconds=round(counts.seconds or 0.0, 3),
        common=answer.common,
        ways=tuple(shown),
        notes=run.composition.notes,
        title=run.scenario.title,
        sentence=run.prop.sentence(),
        issues=run.prop.issues,
        scope=scope_of(run.scenario.spec.scope),
        constraints_hit=answer.result.coverage.constraints_hit,
    )


def _finding(run: Run, system: TransitionSystem, answer: Ways, number: int, words: str) -> Finding:
    """A way as all reports know counterexamples; the counts are those of all searches together."""
    way: Way = answer.ways[number]
    steps = len(way.trace.steps)
    result = replace(
        answer.result,
        counts=replace(answer.result.counts, depth=steps),
        coverage=UNMEASURED,
        evidence=way.trace,
        stopped=None,
    )
    own = answer.own(way)
    takes = f" It takes, as not every way does: {', '.join(own)}." if own else ""
    head = f"Way {number + 1} of {len(answer.ways)}, {counted(steps, 'step')}.{takes}"
    return msgspec.structs.replace(
        finding_of(run, system, result), words=f"{head} {words}", expected=None, expected_steps=None
    )


def _words(name: str, answer: Ways, most: int) -> str:
    explored = (
        f"{counted(answer.searches, 'exploration')}, {counted(answer.result.counts.states or 0, 'state')}"
    )
    within = (
        f" Within these constraints, which were hit: {'; '.join(answer.result.coverage.constraints_hit)}."
        if answer.result.coverage.constraints_hit
        else ""
    )
    if answer.result.stopped is None and not answer.ways:
        return f"No run violates {name} ({explored}): `podrace check` says whether anything put it to the test.{within}"
    if answer.result.stopped is None:
        which = "of this way" if len(answer.ways) == 1 else f"of one of these {len(answer.ways)} ways"
        return f"There is no other: every run that violates {name} takes all kinds of steps {which} ({explored}).{within}"
    if answer.result.stopped == "most":
        return f"There are more ways than these: allow more with --most, which was {most} ({explored})."
    ran_out = {
        "states": "its states (--max-states)",
        "memory": "its memory (--max-memory)",
        "timeout": "the time (--timeout)",
    }
    return f"There may be {'more ways' if answer.ways else 'some way'}: a search ran out of {ran_out.get(answer.result.stopped, answer.result.stopped)} ({explored})."
