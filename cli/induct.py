"""`podrace induct`: proofs by induction, for runs of any length and, if wanted, for any sizes and priorities."""

from __future__ import annotations

from dataclasses import replace

from ..analysis.execute import ignored_words, silence_of, steps_of
from ..analysis.narration.words import SCHEDULER_WORDS
from ..analysis.options import UsageProblem
from ..analysis.plan import Run, Selection, plan, refuse_all_ignored
from ..analysis.systems import system_of
from ..analysis.unknown import describable, with_unknown
from ..checker.core.result import Result, Verdict, exit_code
from ..checker.symbolic.induction import NotInductive, by_k_induction
from ..checker.trace.trace import plain_value
from ..model.language import TransitionSystem, implies
from ..model.language.expr import fresh_graph
from ..reports.document import Value
from ..reports.induction import Induction, print_induction
from ..scenarios.template import Limits
from .console import message_console, result_console, tolerant_of_closed_pipes
from .progress import ProgressDisplay
from .simulate import WALKABLE

WORDS = {Verdict.HOLDS: "PROVED", Verdict.VIOLATED: "VIOLATED", Verdict.INCONCLUSIVE: "INCONCLUSIVE"}


def induct(selection: Selection, k: int, unknown: bool, timeout: float | None, no_color: bool) -> int:
    """Carry out a whole `podrace induct`, with k-induction up to `k`; gives the exit code."""
    planned = plan(selection)
    refuse_all_ignored(planned)
    run = _only([one for one in planned if not one.ignored])
    if unknown:
        scenario = run.scenario
        run = replace(run, scenario=replace(scenario, spec=with_unknown(scenario.spec)))
    messages = message_console(no_color)
    for one in planned:
        if one.ignored and one.scenario.name == run.scenario.name:
            messages.print(f"{one.property}: {ignored_words(one)}", soft_wrap=True)
    with tolerant_of_closed_pipes(), ProgressDisplay(messages) as display:
        display.start(f"{run.scenario.name} {run.composition.label} {run.property}")
        system = system_of(run)
        if unknown:
            system = _where_describable(system, run)
        proof = by_k_induction(system, run.property, k, timeout=timeout)
        found = _induction(run, system, proof, unknown)
        print_induction(result_console(no_color), found, SCHEDULER_WORDS)
    return exit_code([proof])


def _only(runs: list[Run]) -> Run:
    runs = [run for run in runs if run.prop.kind in WALKABLE]
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
        quantities=tuple(proof.parameters.items()),
        trace=() if proof.trace is None else steps_of(system, proof.trace),
        states=() if shown is None else _states(shown),
        between=() if shown is None else shown.labels,
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
