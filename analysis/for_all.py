"""One property of a scenario that leaves numbers open: the verdict on every cluster within its ranges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import msgspec

from ..checker.core.exploration import Budget
from ..checker.core.result import EngineDisagreement, Verdict, counted
from ..checker.exhaust import Exhausted, TooManyChoices, exhaust
from ..checker.parametric.grounding import TooManyCases
from ..checker.parametric.parametric_system import Exchange, ParametricSystem
from ..checker.parametric.regions import Undecided
from ..model.language import TransitionSystem
from ..model.language.expr import fresh_graph
from ..reports.document import Clusters, Finding
from ..scenarios.choices import divisible, exchanges, sensible, settled
from .execute import Method, Watcher, execute, fixes_of, scope_of, silence_of, witness_words
from .places import place_of
from .plan import Run
from .systems import traced


def execute_for_all(run: Run, budget: Budget, method: Method, watch: Watcher | None = None) -> Finding:
    """Check one property for every choice of the numbers that the scenario leaves open.

    Of a budget, the states and the memory are for each cluster, the time for all together. Verdicts are not kept. Raises
    ScenarioError for ranges about which nothing can be said.
    """
    scenario = run.scenario
    first = scenario.open[0]
    if budget.disk is not None:
        raise scenario.complaint(
            first.name,
            "--disk keeps the search of one cluster, and a range stands for many: write a number",
            first.line,
        )
    system = traced(run)
    with fresh_graph():
        assumed = sensible(scenario.spec)
        unknown = ParametricSystem(
            system,
            scenario.open,
            (*divisible(scenario.open), *assumed.values()),
            tuple(Exchange(*swap) for swap in exchanges(scenario.spec)),
        )
    try:
        found = exhaust(unknown, run.property, budget, engine=method.engine, progress=watch)
    except (TooManyChoices, TooManyCases, Undecided) as error:
        problem = f"{error}: make a range smaller, or write a number"
        raise scenario.complaint(first.name, problem, first.line) from None
    except ValueError as error:
        raise scenario.complaint(
            first.name, f"no verdict for all of the ranges: {error}", first.line
        ) from None
    clusters = Clusters(
        ranges={q.name: q.written for q in scenario.open},
        distinguishable=found.count(),
        explored=len(found.searched),
        violating=found.count(Verdict.VIOLATED),
        undecided=found.count(Verdict.INCONCLUSIVE),
        assumed=tuple(assumed),
    )
    finding = _finding(run, system, found, clusters)
    return _with_example(finding, run, found, budget, method) if clusters.violating else finding


def settled_run(run: Run, finding: Finding) -> Run:
    """What the counterexample of a finding is one of: the run itself, or that on the simplest violating cluster."""
    if not run.scenario.open or not finding.clusters or not finding.clusters.example:
        return run
    written = finding.clusters.example
    values = {q.name: q.read(written[q.name]) for q in run.scenario.open}
    return replace(run, scenario=settled(run.scenario, values))


def _finding(run: Run, system: TransitionSystem, found: Exhausted, clusters: Clusters) -> Finding:
    """What is to be said of all clusters together."""
    result = found.result
    counts, seen = result.counts, result.coverage
    missed = tuple(witness_words(witness) for witness in seen.witnesses_missed)
    holds = result.verdict is Verdict.HOLDS
    return Finding(
        scenario=run.scenario.name,
        release=run.composition.release,
        fixes=fixes_of(run.composition),
        property=run.property,
        verdict="HOLDS" if holds else "VIOLATED" if clusters.violating else "INCONCLUSIVE",
        states=counts.states or 0,
        transitions=counts.transitions or 0,
        depth=counts.depth or 0,
        seconds=round(counts.seconds or 0.0, 3),
        # Of an violating cluster, the words about it say what was ignored.
        words=" ".join(_words(found, clusters, missed)) + ("" if clusters.violating else silence_of(run)),
        expected=run.expected,
        expected_steps=run.expected_steps,
        notes=(*run.composition.notes, *((run.remark,) if run.remark else ()), *_remedy(found)),
        title=run.scenario.title,
        sentence=run.prop.sentence(),
        issues=run.prop.issues,
        scope=scope_of(run.scenario.spec.scope),
        constraints_hit=seen.constraints_hit,
        witnesses_reached={
            witness_words(witness): steps for witness, steps in seen.witnesses_reached.items()
        },
        witnesses_missed=missed,
        steps_fired=tuple(seen.fired),
        steps_never_fired=seen.never_fired,
        vacuous=result.vacuous,
        engine=result.engine,
        place=place_of(run.scenario, run.property, run.origin),
        clusters=clusters,
        silenced=dict(run.silenced) or msgspec.UNSET,
    )


def _words(found: Exhausted, clusters: Clusters, missed: tuple[str, ...]) -> Iterator[str]:
    if found.regions is None:
        yield "Stopped by the time limit before it was known which clusters can be told apart: nothing is known."
        return
    searched, seen = counted(found.result.counts.states or 0, "state"), found.result.coverage
    renamed = (
        "" if clusters.explored == clusters.distinguishable else f", {clusters.explored:,} up to renaming"
    )
    told = f"{counted(clusters.distinguishable, 'cluster')} that can be told apart with {clusters.scope}{renamed}"
    undecided = f"{clusters.undecided:,} could not be decided within the budget"
    if clusters.violating:
        more = f"; {undecided}" if clusters.undecided else ""
        yield f"Violated by {clusters.violating:,} of the {told}{more} ({searched} explored)."
    elif found.result.verdict is Verdict.HOLDS:
        yield f"Holds for the {told}: all were explored to the end, {searched} in all."
        if seen.constraints_hit:
            yield f"Within these constraints, which were hit: {'; '.join(seen.constraints_hit)}."
        if not seen.fired:
            yield "Vacuous: no step makes a difference to it."
        elif missed:
            yield f"Vacuous: never reached in any cluster: {'; '.join(missed)}."
    else:
        yield f"Stopped by a limit: of the {told}, {undecided}, and in the others it holds ({searched} explored)."


def _remedy(found: Exhausted) -> tuple[str, ...]:
    ways = {"states": "--max-states", "memory": "--max-memory", "timeout": "--timeout"}
    stopped = {one.stopped for one in found.searched} if found.regions else {"timeout"}
    needed = [option for reason, option in ways.items() if reason in stopped]
    return (
        (f"to decide all: allow more with {' and '.join(needed)}, or make a range smaller",) if needed else ()
    )


def _with_example(finding: Finding, run: Run, found: Exhausted, budget: Budget, method: Method) -> Finding:
    """The finding with the counterexample of the simplest violating cluster, searched and executed again by itself."""
    chosen = found.simplest()
    assert chosen is not None
    assert finding.clusters
    scenario = settled(run.scenario, {q.name: value for q, value in chosen.items()})
    clusters = msgspec.structs.replace(
        finding.clusters,
        example={q.name: q.write(chosen[q]) for q in run.scenario.open},
        scenario=scenario.text,
    )
    alone = replace(run, scenario=scenario)
    method = replace(method, cache=None)
    shown = execute(alone, replace(budget, max_states=None, timeout=None), method)
    if shown.verdict != "VIOLATED":
        raise EngineDisagreement(
            f"{run.property} is violated with {clusters.numbers} left open, and not with these numbers written out"
        )
    words = f"{finding.words} The simplest of them has {clusters.numbers}. {shown.words}"
    kept = ("states", "transitions", "depth", "seconds", "notes", "clusters")
    told = {name: getattr(finding, name) for name in kept}
    return msgspec.structs.replace(shown, **{**told, "clusters": clusters, "words": words})
