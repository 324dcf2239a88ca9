"""What came out of a run, as the reports know it: the question, the answer, and what the counterexample is shown with.

Every Finding about a run is built here.
"""

import os
from collections.abc import Iterable
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import msgspec

from ..base.text import listed
from ..checker.core.exploration import Budget
from ..checker.core.result import Counts, Result
from ..checker.core.trace import LassoTrace, Trace
from ..checker.trace.execution import replay
from ..checker.trace.fair_suffix import fair_suffix
from ..model.environment.cluster.scope import BOUNDS, SCALES
from ..model.environment.objects import DEFAULTS, ClusterSpec, Scope
from ..model.history import CHANGES, Composition, resolve
from ..model.history.versions import exact
from ..model.history.versions import version_of as number_of
from ..model.language import TransitionSystem
from ..properties.base.of_steps import OfSteps
from ..properties.base.truth import asks_for
from ..reports.document import Finding, Fixes, NoWayBack, Place, ShownLasso, Value
from ..reports.verdict_words import WORDS, time_words, verdict_words
from ..scenarios import Scenario
from .request.in_release import left_out_of_groups
from .request.options import bytes_in_words
from .request.plan import Run, at_any_time
from .request.release_names import versions_of
from .scheduler_version import version_of
from .shown.cases import with_telling_case
from .shown.evidence import evidence_of
from .shown.orders import LISTED, orders_of
from .shown.slow import slow_words
from .shown.steps import steps_of
from .systems import system_of


def ignored(run: Run) -> Finding:
    """What is reported of a run that the scenario says is not to be looked at."""
    return Finding(
        **question_of(run),
        **counts_of(NOTHING),
        verdict="IGNORED",
        words=ignored_words(run),
        notes=run.composition.notes,
    )


NOTHING = Counts(0, 0, 0, 0.0)
"""The counts where nothing was searched."""

_CUT = "Not decided: podrace was told to end before."


def was_cut_short(finding: Finding) -> bool:
    """Whether it says that podrace was told to end."""
    return finding.words.startswith(_CUT)


def undecided(run: Run) -> Finding:
    """What is reported of a run that was not searched to an end, because podrace was told to end."""
    return Finding(
        **question_of(run),
        **counts_of(NOTHING),
        verdict="INCONCLUSIVE",
        words=_CUT + silence_of(run),
        notes=(*run.composition.notes, "to go on: ask for it again"),
        scope=scope_of(run.scenario.spec.scope),
        silenced=dict(run.silenced) or msgspec.UNSET,
    )


def question_of(run: Run) -> dict[str, Any]:
    """The fields of a Finding that say what was asked, and what was expected."""
    return {
        **asked_of(run),
        "expected": run.expected,
        "expected_steps": run.expected_steps,
        "place": place_of(run.scenario, run.property, run.origin),
    }


def asked_of(run: Run) -> dict[str, Any]:
    """The fields of every document that say what was asked."""
    return {
        "scenario": run.scenario.name,
        "release": exact(run.composition.release),
        "fixes": fixes_of(run.composition),
        "property": run.property,
        "title": run.scenario.title,
        "sentence": run.prop.sentence(),
        "issues": () if run.scenario.race is None else (run.scenario.race.issue,),
        "version": version_of(run.composition),
    }


def counts_of(counts: Counts) -> dict[str, Any]:
    """The fields of a document that say how much was looked at, and how long it took."""
    return {
        "states": counts.states or 0,
        "transitions": counts.transitions or 0,
        "depth": counts.depth or 0,
        "seconds": None if counts.seconds is None else round(counts.seconds, 3),
    }


def seen_of(run: Run, result: Result) -> dict[str, Any]:
    """The fields of a document that say within which bounds runs were looked at, and what never happened in them."""
    seen = result.coverage
    scenario = at_any_time(run.scenario) if seen.endless else run.scenario
    return {
        "verdict": WORDS[result.verdict.name],
        "scope": scope_of(scenario.spec.scope, scenario.spec, run.composition.classes),
        "constraints_hit": seen.constraints_hit,
        "witnesses_reached": {witness_words(name): steps for name, steps in seen.witnesses_reached.items()},
        "witnesses_missed": tuple(witness_words(name) for name in seen.witnesses_missed),
        "steps_never_fired": seen.never_fired,
    }


def ignored_words(run: Run) -> str:
    """That, and why, the scenario says that this run is not to be looked at."""
    return f"Ignored, not looked at: {run.ignored.rstrip('.')}."


def how_to_go_on(result: Result, budget: Budget) -> str | None:
    """What to do about a search that could not be finished."""
    if result.verdict.name != "INCONCLUSIVE":
        return None
    ways = {
        "states": "allow more with --max-states",
        "memory": "allow more with --max-memory",
        "timeout": "allow more with --timeout",
    }
    way = ways.get(result.stopped or "", "allow more")
    if result.stopped == "memory" and budget.max_memory:
        way = f"{way} (it was {bytes_in_words(budget.max_memory)})"
    return f"to go on: {way}"


def finding_of(
    run: Run, system: TransitionSystem, result: Result, remedy: str | None = None, words: str | None = None
) -> Finding:
    """The result of a run as the reports know it; `remedy` is what to do if it is inconclusive.

    `words` are those of the result, unless something else is to be said.
    """
    result = with_telling_case(system, run.property, result)
    seen = result.coverage
    if words is None:
        means = run.prop.answers.get(result.verdict.name) if issubclass(run.prop, OfSteps) else None
        words = verdict_words(result) if means is None else f"{means}: {verdict_words(result)}"
    found = Finding(
        **question_of(run),
        **seen_of(run, result),
        **counts_of(_figures(result)),
        words=words + _ordered(run, result) + assumed(run, result) + silence_of(run),
        notes=(
            *run.composition.notes,
            *(
                note
                for note in (
                    run.remark,
                    _within_release(run),
                    left_out_of_groups(run.scenario, run.composition),
                    _caveat(run),
                    _idle(run, result),
                    _nowhere(run),
                    _slow(run, system, result),
                    remedy,
                )
                if note
            ),
        ),
        steps_fired=tuple(seen.fired),
        vacuous=result.vacuous,
        engine=result.engine,
        silenced=dict(run.silenced) or msgspec.UNSET,
        never_acted=dict(seen.never_acted) or msgspec.UNSET,
        consequence=(result.verdict.name == "VIOLATED" and run.prop.consequence) or msgspec.UNSET,
    )
    return found if result.trace is None else _with_counterexample(found, run, system, result.trace)


def bare_finding(run: Run, result: Result) -> Finding:
    """The verdict and the counts of a search; of a violation, nothing more."""
    return Finding(**question_of(run), **counts_of(result.counts), verdict=WORDS[result.verdict.name])


def _within_release(run: Run) -> str:
    """That the fix of a race is in some versions of the release that is checked and not in others; nothing where it is not so.

    It is read in the history of the fix, and not searched.
    """
    race, composition = run.scenario.race, run.composition
    if race is None or run.property not in run.scenario.properties or run.expected is not None:
        return ""
    if (
        set(composition.added) - set(race.beside)
        or composition.removed
        or composition.patches
        or composition.gates
    ):
        return ""
    fixes = set(race.fixes) & CHANGES.keys()
    minor = number_of(composition.release).minor
    has = {v: fixes.isdisjoint(c.key for c in resolve(v).missing) for v in versions_of(minor)}
    if len(set(has.values())) == 1:
        return ""
    close = "closes" if len(fixes) == 1 else "close"
    having, lacking = ([exact(v) for v in has if has[v] is wanted] for wanted in (True, False))
    return (
        f"the versions of {minor} differ: {listed(race.fixes)}, which {close} this race, "
        f"{'is' if len(fixes) == 1 else 'are'} in {listed(having)}, and not in {listed(lacking)}"
    )


def _caveat(run: Run) -> str:
    """What the property claims less of than its sentence says, in this cluster."""
    said = run.prop.caveat(run.scenario.spec.nodes, run.scenario.spec.pods)
    return f"{run.property}: {said}" if said else ""


def _idle(run: Run, result: Result) -> str:
    """Why nothing tested a property, where nothing could be scheduled."""
    if not result.vacuous or any(pod.node is None for pod in run.scenario.spec.pods):
        return ""
    return "no pod waits to be scheduled: every pod is on a node from the start; leave out the nodeName of one, or add another"


def _nowhere(run: Run) -> str:
    """Which pods wait that no node can take, whatever room it has: a misspelt label, as a rule."""
    spec = run.scenario.spec
    lost = [p.name for p in spec.pods if p.node is None and not any(asks_for(p, node) for node in spec.nodes)]
    if not lost:
        return ""
    return f"no node has the labels that {listed(lost)} {'asks' if len(lost) == 1 else 'ask'} for: nothing about {'it' if len(lost) == 1 else 'them'} on a node was tested"


def _ordered(run: Run, result: Result) -> str:
    """Which orders of the file a violation is about: in others it may take fewer steps, or not be there. HOLDS says so in its scope."""
    if result.trace is None:
        return ""
    orders = orders_of(run.scenario.spec, run.composition.classes)
    listed_ = [name for name, order in orders.items() if order == LISTED]
    return f" podrace tried {listed(listed_)} only in the order of the file." if listed_ else ""


def assumed(run: Run, result: Result) -> str:
    """What a verdict rests on that is not a violation, with scales of time."""
    if result.trace is not None or result.coverage.endless:
        return ""
    return "".join(f" Assumed: {words}." for words in assumed_in(run.scenario.spec.scope))


def assumed_in(scope: Scope) -> list[str]:
    """What scales of time assume, in words; nothing where time is not looked at."""
    return [time_words(", ".join(scope.slow))] if scope.time == SCALES else []


def _slow(run: Run, system: TransitionSystem, result: Result) -> str:
    """What would have to last for minutes in a counterexample, or does so."""
    scope = run.scenario.spec.scope
    if result.trace is None:
        return ""
    if scope.slow:
        system = system_of(replace(run, scenario=at_any_time(run.scenario)))
    return slow_words(system, run.property, result.trace, bool(scope.slow))


def _figures(result: Result) -> Counts:
    """The counts of a search; of a run that was only executed again, those of the run."""
    trace = result.trace
    if result.counts.states is not None or trace is None:
        return result.counts
    return Counts(len(set(trace.states)), len(trace.steps), len(trace.steps))


def silence_of(run: Run) -> str:
    """What is to be said after the verdict of the pods for which the property was not looked at."""
    if not run.silenced:
        return ""
    pods = "; ".join(f"{pod} ({reason.rstrip('.')})" for pod, reason in run.silenced.items())
    return f" Ignored, not looked at for: {pods}."


def fixes_of(composition: Composition) -> Fixes:
    """What a composition adds to its release, and takes away, and the gates that it sets."""
    patches = tuple(patch.name for patch in composition.patches)
    gates = dict(composition.gates) or msgspec.UNSET
    return Fixes(composition.added, composition.removed, patches or msgspec.UNSET, gates)


def _with_counterexample(found: Finding, run: Run, system: TransitionSystem, trace: Trace) -> Finding:
    story, no_way_back, turn = _story(system, trace)
    steps = steps_of(system, story)
    evidence = evidence_of(run.scenario.spec, system, story, run.property)
    return msgspec.structs.replace(
        found,
        trace=steps[:no_way_back],
        after=steps[no_way_back:turn],
        cycle=steps[turn:],
        no_way_back=NoWayBack(trace.closure, trace.closed) if trace.closure else None,
        lasso=_lasso(trace) if isinstance(trace, LassoTrace) else None,
        marks=_marks(run, system, trace),
        **{field.name: getattr(evidence, field.name) for field in fields(evidence)},
    )


def _marks(run: Run, system: TransitionSystem, trace: Trace) -> dict[int, str] | msgspec.UnsetType:
    """Which steps are those of a question, where one was asked."""
    return (
        run.prop.remarks(system, trace.path, trace.states) if issubclass(run.prop, OfSteps) else msgspec.UNSET
    )


def _lasso(trace: LassoTrace) -> ShownLasso:
    return ShownLasso(
        case=trace.case,
        turn=trace.turn,
        cycle=len(trace.cycle),
        acts=tuple(f.name for f, answer in trace.fairness.items() if answer == "acts" and not f.strong),
        rests=tuple(f.name for f, answer in trace.fairness.items() if answer == "rests"),
    )


def scope_of(scope: Scope, spec: ClusterSpec | None = None, classes: Iterable[type] = ()) -> dict[str, Value]:
    """The bounds, of the configuration what is not as by default, and of the cluster, which these classes schedule, which orders of equal objects were explored."""
    bounds: dict[str, Value] = {
        name: getattr(scope, name)
        for name, bound in BOUNDS.items()
        # Some are worth a word only where they are on; the order of the file has words of its own.
        if name != "file_order"
        and name != "slow"
        and (getattr(scope, name) not in (False, *bound.choices[:1]) or not bound.quiet)
    }
    if scope.slow and "time" in bounds:
        bounds["slow"] = ", ".join(scope.slow)
    for kind in dict.fromkeys(kind for kind, *_ in scope.aims):
        struck = [name for names in scope.aimed(kind).values() for name in names]
        bounds[kind] = f"{bounds[kind]} of {', '.join(struck)}"
    config = asdict(scope.config).items()
    bounds |= {name: value for name, value in config if value != getattr(DEFAULTS, name)}
    return bounds | (orders_of(spec, classes) if spec is not None else {})


def witness_words(name: str) -> str:
    """The witness without the identifier of its property in front."""
    return name.partition(": ")[2] or name


def _story(system: TransitionSystem, trace: Trace) -> tuple[Trace, int, int]:
    """A trace with what follows it and what then repeats; after how many steps what follows begins, and what repeats."""
    if isinstance(trace, LassoTrace):
        return trace, trace.turn, trace.turn
    steps = len(trace.steps)
    more = fair_suffix(system, trace) if trace.closure else None
    if more is None:
        return trace, steps, steps
    whole = replay(system, (*trace.path, *more.lead_in, *more.cycle))
    return whole, steps, steps + len(more.lead_in)


def place_of(scenario: Scenario, identifier: str, origin: str = "") -> Place:
    """The scenario's file, the line that asks for this property (`origin`, if it is a field; else the first), and the lines of its pods and nodes.

    Of objects in manifests, their lines there. A file outside of the working directory keeps its absolute name, a scenario of podrace the name that `podrace races` shows.
    """
    sections = (("properties", scenario.properties), ("also", scenario.also))
    asked = [origin] if origin else []
    asked += [f"{name}[{members.index(identifier)}]" for name, members in sections if identifier in members]
    line = next((scenario.lines[path] for path in asked if path in scenario.lines), 1)
    members = {
        path.partition(".")[2]: at
        for kind in ("nodes.", "pods.")
        for path, at in scenario.lines.items()
        if path.startswith(kind)
    }
    if not scenario.sources:
        return Place(_shown(scenario.file), line, members)
    file = _shown(scenario.file)
    files = {name: _shown(written) for name, (written, _) in scenario.sources.items()}
    elsewhere = {name: written for name, written in files.items() if written != file}
    lines = {name: at for name, (_, at) in scenario.sources.items()}
    return Place(file, line, lines, elsewhere or msgspec.UNSET)


def _shown(file: str) -> str:
    path = Path(file)
    if not path.is_file():
        return file
    relative = os.path.relpath(path)
    return Path(path.absolute() if relative.startswith("..") else relative).as_posix()
