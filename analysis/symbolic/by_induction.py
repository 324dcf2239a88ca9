"""Proofs by induction, for runs of any length and, if wanted, for any CPU requests, capacities and priorities."""

from __future__ import annotations

from dataclasses import replace

from ...base.problems import UsageProblem
from ...checker.core.result import Result, Verdict
from ...checker.core.trace import plain_value
from ...checker.symbolic.induction import NotInductive, by_k_induction
from ...model.environment.objects import ClusterSpec
from ...model.language import Expr, TransitionSystem, all_of, any_of, implies, total
from ...model.language.expressions.expr import fresh_graph
from ...reports.answers.induction_report import Induction
from ...reports.document import Value
from ...scenarios.template import Limits
from ..findings import ignored_words, silence_of
from ..request.method import NOBODY, Watcher
from ..request.plan import SAFETY, Run, Selection, at_any_time, plan, refuse_all_ignored
from ..scheduler_version import version_of
from ..shown.steps import steps_of
from ..systems import system_of

WORDS = {Verdict.HOLDS: "PROVED", Verdict.VIOLATED: "VIOLATED", Verdict.INCONCLUSIVE: "INCONCLUSIVE"}


def run_to_prove(selection: Selection) -> tuple[Run, tuple[str, ...]]:
    """The one run that is asked for, and what is to be said of those that its scenario ignores. Raises UsageProblem."""
    planned = plan(selection)
    refuse_all_ignored(planned)
    run = _only([one for one in planned if not one.ignored])
    ignored = (one for one in planned if one.ignored and one.scenario.name == run.scenario.name)
    return run, tuple(f"{one.property}: {ignored_words(one)}" for one in ignored)


def prove_by_induction(
    run: Run, k: int, unknown: bool, timeout: float | None, watcher: Watcher = NOBODY
) -> Induction:
    """The proof by k-induction with k = 1, 2, ... up to `k`, or what stands against it.

    With `unknown`, whatever the CPU requests, capacities and priorities are. `timeout` is in seconds.
    """
    run = replace(run, scenario=at_any_time(run.scenario))
    if unknown:
        scenario = run.scenario
        run = replace(run, scenario=replace(scenario, spec=with_unknown(scenario.spec)))
    watcher.start(f"{run.scenario.name} {run.composition.label} {run.property}")
    system = system_of(run)
    if unknown:
        system = _where_describable(system, run)
    return _induction(run, system, by_k_induction(system, run.property, k, timeout=timeout), unknown)


def _only(runs: list[Run]) -> Run:
    runs = [run for run in runs if run.prop.kind in SAFETY]
    if len(runs) != 1:
        names = ", ".join(f"{run.scenario.name} {run.property}" for run in runs) or "none"
        raise UsageProblem(
            f"induction is for one safety property of one scenario: choose with NAME and --property (here: {names})"
        )
    return runs[0]


def _where_describable(system: TransitionSystem, run: Run) -> TransitionSystem:
    with fresh_graph():
        assumed = describable(run.scenario.spec)
        weaker = implies(assumed, system.invariants[run.property])
    return system.with_predicates(invariants={run.property: weaker})


def _induction(run: Run, system: TransitionSystem, proof: Result, unknown: bool) -> Induction:
    shown = proof.evidence if isinstance(proof.evidence, NotInductive) else None
    return Induction(
        heading=f"{run.scenario.name}, {run.composition.label}: {run.property}",
        verdict=WORDS[proof.verdict],
        words=_words(proof, Limits.small(len(run.scenario.spec.pods)).words if unknown else "")
        + silence_of(run),
        sentence=f"{run.property}: {run.prop.sentence()}",
        seconds=proof.counts.seconds or 0.0,
        parameters=tuple(proof.parameters.items()),
        trace=() if proof.trace is None else steps_of(system, proof.trace),
        states=() if shown is None else _states(shown),
        between=() if shown is None else shown.labels,
        version=version_of(run.composition),
    )


def _words(proof: Result, ranges: str) -> str:
    whatever, k = f" for all {ranges}," if ranges else "", proof.counts.depth
    if proof.verdict is Verdict.VIOLATED:
        return f"Violated after {k} steps, executed again."
    if proof.verdict is Verdict.HOLDS:
        return f"Proved{whatever} by k-induction with k = {k}, for runs of any length."
    if proof.stopped == "induction":
        return f"Not inductive up to k = {k}: the states above come first, and nothing says whether they can be reached."
    return (
        f"Stopped by the time limit at k = {k}."
        if proof.stopped == "timeout"
        else f"Z3 gave up: {proof.stopped}."
    )


def _states(shown: NotInductive) -> tuple[tuple[tuple[str, Value], ...], ...]:
    """Of each state what is not as in the initial one."""
    system = shown.system
    return tuple(
        tuple(
            (v.name, plain_value(system.universe.decode(v.sort, code)))
            for v, code in zip(system.variables, state, strict=True)
            if code != v.initial
        )
        for state in shown.states
    )


def with_unknown(spec: ClusterSpec) -> ClusterSpec:
    """The same cluster with unknown CPU and priorities; what else it has stays as it is."""
    limits = Limits.small(len(spec.pods))
    nodes = {n.name: n.with_cpu(limits.capacity_of(n.name, "cpu")) for n in spec.nodes}
    pods = (
        p.with_cpu(
            limits.request_of(p.name, "cpu"),
            limits.priority_of(p.name),
            None if p.node is None else nodes[p.node.name],
        )
        for p in spec.pods
    )
    return replace(spec, pods=tuple(pods), nodes=tuple(nodes.values()))


def describable(spec: ClusterSpec) -> Expr:
    """That every node has room for the pods on it at the start, and that some node could hold each pod."""
    with fresh_graph():
        return all_of(
            [
                *(total(p.cpu for p in spec.pods if p.node is n) <= n.cpu for n in spec.nodes),
                *(any_of(p.cpu <= n.cpu for n in spec.nodes) for p in spec.pods),
            ]
        )
