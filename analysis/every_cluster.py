"""One property of a scenario that leaves numbers open: the verdict on every cluster within its ranges."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import msgspec

from ..base.structs import Data
from ..base.text import counted
from ..checker.core.exploration import Budget, Progress
from ..checker.core.result import Counts, EngineDisagreement, Result, Verdict, combine
from ..checker.exhaust import Exhausted, exhaust, runs_to_witnesses
from ..checker.parametric.grounding import TooManyCases
from ..checker.parametric.parametric_system import ParametricSystem
from ..checker.parametric.regions import UndecidedRegions
from ..checker.reduction.conclusion import coverage_of
from ..checker.reduction.idle_parts import never_acted_by_steps, steps_of
from ..checker.reduction.questions import kind_of
from ..checker.reduction.slicing import Slicer
from ..model.asked_for import asked_for
from ..model.language import Parameter
from ..model.language.expressions.expr import fresh_graph
from ..reports.document import Clusters, Finding
from ..reports.verdict_words import idle_words
from ..scenarios.choices import divisible, sensible, settled, settled_text
from .findings import finding_of, silence_of, witness_words
from .request.method import Method
from .request.plan import Run
from .systems import traced


class EveryCluster(Data):
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


OF_ALL = ("states", "transitions", "depth", "seconds", "notes", "clusters", "with_scales")
"""What a finding about all clusters keeps when it is shown with the counterexample of one."""


def on_every_cluster(
    run: Run, budget: Budget, method: Method, watch: Callable[[Progress], None] | None = None
) -> EveryCluster:
    """Check one property for every choice of the numbers that the scenario leaves open.

    The budget is for all clusters together. Verdicts are not kept. Raises
    Problem for ranges about which nothing can be said.
    """
    scenario = run.scenario
    first = scenario.open[0]
    if method.engine != "native":
        refused = "--engine reference searches one cluster, and a range stands for many: write a number"
        raise scenario.complaint(first.name, refused, first.line)
    system = traced(run)
    with fresh_graph():
        assumed = sensible(scenario.spec)
        unknown = ParametricSystem(system, scenario.open, (*divisible(scenario.open), *assumed.values()))
    began = time.monotonic()
    try:
        found = exhaust(unknown, run.property, budget, progress=watch)
    except (TooManyCases, UndecidedRegions) as error:
        problem = f"{error}: make a range smaller, or write a number"
        raise scenario.complaint(first.name, problem, first.line) from None
    except ValueError as error:
        raise scenario.complaint(
            first.name, f"no verdict for all of the ranges: {error}", first.line
        ) from None
    unbounded = replace(budget, max_states=None, timeout=None)
    reached = runs_to_witnesses(found.parametric, run.property, found.witnesses, unbounded)
    result = _result_of(found, reached, run.property, time.monotonic() - began)
    clusters = Clusters(
        ranges={q.name: q.written for q in scenario.open},
        distinguishable=found.count(),
        violating=found.count(Verdict.VIOLATED),
        undecided=found.count(Verdict.INCONCLUSIVE),
        assumed=tuple(assumed),
    )
    chosen = _simplest(found)
    if chosen is None:
        return EveryCluster(_finding(run, found, result, clusters), None)
    scenario = settled(run.scenario, {q.name: value for q, value in chosen.items()})
    clusters = msgspec.structs.replace(
        clusters,
        example={q.name: q.write(chosen[q]) for q in run.scenario.open},
        scenario=settled_text(scenario),
    )
    return EveryCluster(_finding(run, found, result, clusters), replace(run, scenario=scenario))


def _result_of(found: Exhausted, reached: Mapping[str, int], name: str, seconds: float) -> Result:
    """The result for all clusters together: states and transitions of each are counted, the depth is that of the deepest. It has no evidence."""
    system, cells = found.parametric.system, [one.cell for one in found.cells]
    verdict = combine(one.verdict for one in found.cells)
    slicer = Slicer(system)
    coverage = coverage_of(
        slicer, found.slice, name, fired=found.fired, reached=reached, constraints_hit=found.constraints_hit
    )
    if verdict is Verdict.HOLDS:
        idle = never_acted_by_steps(steps_of(slicer, found.slice, asked_for(system)), coverage.fired)
        coverage = replace(coverage, never_acted=idle)
    return Result(
        system=system.name,
        property_id=name,
        kind=kind_of(system, name),
        verdict=verdict,
        counts=Counts(
            sum(cell.states for cell in cells),
            sum(cell.transitions for cell in cells),
            max(cell.depth for cell in cells),
            seconds,
        ),
        coverage=coverage,
        stopped=min(found.stopped, default=None),
        engine="native",
    )


def _simplest(found: Exhausted) -> Mapping[Parameter, int] | None:
    """Of the clusters with the shortest counterexample that with the least numbers; None without any."""
    steps = {len(one.trace.steps): one for one in found.cells if one.trace is not None}
    if not steps:
        return None
    shortest = min(steps)
    least = [
        found.smallest(one)
        for one in found.cells
        if one.trace is not None and len(one.trace.steps) == shortest
    ]
    return min(least, key=lambda values: (sum(map(abs, values.values())), tuple(values.values())))


def settled_run(run: Run, finding: Finding) -> Run:
    """What the counterexample of a finding is one of: the run itself, or that on the simplest violating cluster."""
    if not run.scenario.open or not finding.clusters or not finding.clusters.example:
        return run
    written = finding.clusters.example
    values = {q.name: q.read(written[q.name]) for q in run.scenario.open}
    return replace(run, scenario=settled(run.scenario, values))


def _finding(run: Run, found: Exhausted, result: Result, clusters: Clusters) -> Finding:
    """What is to be said of all clusters together."""
    words = " ".join(_words(result, clusters))
    finding = finding_of(run, found.parametric.system, result, _remedy(found), words=words)
    if clusters.violating:  # the words about the one that is shown say what was ignored
        finding = msgspec.structs.replace(finding, words=finding.words.removesuffix(silence_of(run)))
    return msgspec.structs.replace(finding, clusters=clusters)


def _words(result: Result, clusters: Clusters) -> Iterator[str]:
    searched, seen = counted(result.counts.states or 0, "state"), result.coverage
    told = f"{counted(clusters.distinguishable, 'cluster')} that can be told apart with {clusters.scope}"
    undecided = f"{clusters.undecided:,} could not be decided within the budget"
    if clusters.violating:
        more = f"; {undecided}" if clusters.undecided else ""
        yield f"Violated by {clusters.violating:,} of the {told}{more} ({searched} explored)."
    elif result.verdict is Verdict.HOLDS:
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
        yield f"Stopped by a limit: of the {told} so far, {undecided} ({searched} explored)."


def _remedy(found: Exhausted) -> str | None:
    ways = {"states": "--max-states", "memory": "--max-memory", "timeout": "--timeout"}
    needed = [option for reason, option in ways.items() if reason in found.stopped]
    return (
        f"to decide all: allow more with {' and '.join(needed)}, or make a range smaller" if needed else None
    )
