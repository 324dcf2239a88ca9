"""One property of a scenario that leaves numbers open: the verdict on every cluster within its ranges."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import msgspec

from ..base.text import counted
from ..checker.core.exploration import Budget, Progress
from ..checker.core.result import EngineDisagreement, Verdict
from ..checker.exhaust import Exhausted, TooManyChoices, exhaust
from ..checker.parametric.grounding import TooManyCases
from ..checker.parametric.parametric_system import Exchange, ParametricSystem
from ..checker.parametric.regions import UndecidedRegions
from ..checker.reduction.idle_parts import never_acted_by_steps
from ..checker.reduction.slicing import Slicer
from ..model.asked_for import asked_for
from ..model.language import TransitionSystem
from ..model.language.expressions.expr import fresh_graph
from ..reports.document import Clusters, Finding
from ..reports.verdict_words import idle_words
from ..scenarios.choices import divisible, exchanges, sensible, settled, settled_text
from .findings import finding_of, silence_of, witness_words
from .request.method import Method
from .request.plan import Run
from .systems import traced


@dataclass(frozen=True, slots=True)
class EveryCluster:
    """The verdict on all clusters together. `example` is the run on the simplest violating one, if any violates."""

    finding: Finding
    example: Run | None

    def shown_by(self, shown: Finding) -> Finding:
        """The finding with the counterexample of the simplest violating cluster, as it was found in that cluster by itself.

        Raises EngineDisagreement if the cluster does not violate the property by itself.
        """
        finding = self.finding
        assert finding.clusters
        if shown.verdict != "VIOLATED":
            raise EngineDisagreement(
                f"{finding.property} is violated with {finding.clusters.numbers} left open, and not with these numbers written out"
            )
        words = f"{finding.words} The simplest of them has {finding.clusters.numbers}. {shown.words}"
        told = {name: getattr(finding, name) for name in OF_ALL}
        return msgspec.structs.replace(shown, **told, words=words)


OF_ALL = ("states", "transitions", "depth", "seconds", "notes", "clusters")
"""What a finding about all clusters keeps when it is shown with the counterexample of one."""


def on_every_cluster(
    run: Run, budget: Budget, method: Method, watch: Callable[[Progress], None] | None = None
) -> EveryCluster:
    """Check one property for every choice of the numbers that the scenario leaves open.

    Of a budget, the states and the memory are for each cluster, the time for all together. Verdicts are not kept. Raises
    Problem for ranges about which nothing can be said.
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
    except (TooManyChoices, TooManyCases, UndecidedRegions) as error:
        problem = f"{error}: make a range smaller, or write a number"
        raise scenario.complaint(first.name, problem, first.line) from None
    except ValueError as error:
        raise scenario.complaint(
            first.name, f"no verdict for all of the ranges: {error}", first.line
        ) from None
    found = _with_idle_parts(found, system)
    clusters = Clusters(
        ranges={q.name: q.written for q in scenario.open},
        distinguishable=found.count(),
        explored=len(found.searched),
        violating=found.count(Verdict.VIOLATED),
        undecided=found.count(Verdict.INCONCLUSIVE),
        assumed=tuple(assumed),
    )
    chosen = found.simplest()
    if chosen is None:
        return EveryCluster(_finding(run, system, found, clusters), None)
    scenario = settled(run.scenario, {q.name: value for q, value in chosen.items()})
    clusters = msgspec.structs.replace(
        clusters,
        example={q.name: q.write(chosen[q]) for q in run.scenario.open},
        scenario=settled_text(scenario),
    )
    return EveryCluster(_finding(run, system, found, clusters), replace(run, scenario=scenario))


def _with_idle_parts(found: Exhausted, system: TransitionSystem) -> Exhausted:
    """The same, and what the scenario asks for and what acted in no cluster."""
    result = found.result
    if found.regions is None or result.verdict is not Verdict.HOLDS:
        return found
    parts = asked_for(system)
    idle = never_acted_by_steps(Slicer(system), found.regions.slice, result.coverage.fired, parts)
    return replace(found, result=replace(result, coverage=replace(result.coverage, never_acted=idle)))


def settled_run(run: Run, finding: Finding) -> Run:
    """What the counterexample of a finding is one of: the run itself, or that on the simplest violating cluster."""
    if not run.scenario.open or not finding.clusters or not finding.clusters.example:
        return run
    written = finding.clusters.example
    values = {q.name: q.read(written[q.name]) for q in run.scenario.open}
    return replace(run, scenario=settled(run.scenario, values))


def _finding(run: Run, system: TransitionSystem, found: Exhausted, clusters: Clusters) -> Finding:
    """What is to be said of all clusters together."""
    finding = finding_of(run, system, found.result, _remedy(found), words=" ".join(_words(found, clusters)))
    if clusters.violating:  # the words about the one that is shown say what was ignored
        finding = msgspec.structs.replace(finding, words=finding.words.removesuffix(silence_of(run)))
    return msgspec.structs.replace(finding, clusters=clusters)


def _words(found: Exhausted, clusters: Clusters) -> Iterator[str]:
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
        elif seen.witnesses_missed:
            missed = "; ".join(map(witness_words, seen.witnesses_missed))
            yield f"Vacuous: never reached in any cluster: {missed}."
        yield from idle_words(seen.never_acted)
    else:
        yield f"Stopped by a limit: of the {told}, {undecided}, and in the others it holds ({searched} explored)."


def _remedy(found: Exhausted) -> str | None:
    ways = {"states": "--max-states", "memory": "--max-memory", "timeout": "--timeout"}
    stopped = {one.stopped for one in found.searched} if found.regions else {"timeout"}
    needed = [option for reason, option in ways.items() if reason in stopped]
    return (
        f"to decide all: allow more with {' and '.join(needed)}, or make a range smaller" if needed else None
    )
