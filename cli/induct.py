"""`podrace induct`: proofs by induction, for runs of any length and, if wanted, for any sizes and priorities."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..analysis.execute import ignored_words, silence_of, steps_of
from ..analysis.files import write_text
from ..analysis.options import UsageProblem
from ..analysis.plan import Run, Selection, plan, refuse_all_ignored
from ..analysis.systems import system_of
from ..analysis.unknown import describable, with_unknown
from ..checker.symbolic.induction import Counterexample, Proof, by_k_induction, by_pdr
from ..checker.trace.trace import plain_value
from ..model.language import TransitionSystem, implies
from ..model.language.expr import fresh_graph
from ..reports.document import Value
from ..reports.induction import Induction, print_induction
from ..scenarios.template import Limits
from .console import message_console, result_console, tolerant_of_closed_pipes
from .progress import ProgressDisplay
from .simulate import WALKABLE

CODES = {"PROVED": 0, "VIOLATED": 1, "INCONCLUSIVE": 3}


def induct(
    selection: Selection,
    k: int | None,
    unknown: bool,
    output: Path | None,
    timeout: float | None,
    no_color: bool,
) -> int:
    """Carry out a whole `podrace induct`; gives the exit code. Without `k`, by property-directed reachability."""
    planned = plan(selection)
    refuse_all_ignored(planned)
    run = _only([one for one in planned if not one.ignored])
    if output is not None and k is not None:
        raise UsageProblem(
            "--output writes the invariant that was found, and k-induction finds none: leave out -k"
        )
    if output is not None and (output.is_dir() or not output.parent.is_dir()):
        raise UsageProblem(f"-o: cannot write `{output}`: name a file in a directory that exists")
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
        if k is not None:
            proof = by_k_induction(system, run.property, k, timeout=timeout)
        else:
            title = f"{run.property} of {run.scenario.name} on {run.composition.label}, an invariant found by podrace"
            proof = by_pdr(
                system,
                run.property,
                timeout=timeout,
                title=title,
                watch=lambda frames, clauses: display.say(f"{frames} frames  {clauses} clauses"),
            )
        if output is not None and proof.certificate is not None:
            write_text("-o", output, proof.certificate)
            messages.print(f"wrote {output}: any SMT solver answers unsat three times", soft_wrap=True)
        found = _induction(run, system, proof, k, unknown)
        print_induction(result_console(no_color), found)
    return CODES[proof.word]


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


def _induction(run: Run, system: TransitionSystem, proof: Proof, k: int | None, unknown: bool) -> Induction:
    shown, trace = proof.counterexample, proof.trace
    quantities = proof.quantities if shown is None else shown.quantities
    return Induction(
        heading=f"{run.scenario.name}, {run.composition.label}: {run.property}",
        verdict=proof.word,
        words=_words(proof, k, Limits.small(len(run.scenario.spec.pods)).words if unknown else "")
        + silence_of(run),
        sentence=f"{run.property}: {run.prop.sentence()}",
        seconds=proof.seconds,
        quantities=tuple(quantities.items()),
        trace=() if trace is None else steps_of(system, trace),
        states=() if shown is None else _states(shown),
        between=() if shown is None else shown.labels,
    )


def _words(proof: Proof, k: int | None, ranges: str) -> str:
    whatever = f" for all {ranges}," if ranges else ""
    if proof.word == "VIOLATED":
        return f"Violated after {proof.k} steps, executed again."
    if proof.word == "PROVED":
        if k is not None:
            return f"Proved{whatever} by k-induction with k = {proof.k}, for runs of any length."
        return (
            f"Proved{whatever} for runs of any length: an inductive invariant of {proof.clauses} clauses beside the property, "
            f"in {proof.k} frames, confirmed by a fresh solver."
        )
    if proof.stopped == "induction":
        return f"Not inductive up to k = {proof.k}: the states above come first, and nothing says whether they can be reached."
    reached = f"k = {proof.k}" if k is not None else f"{proof.k} frames"
    return (
        f"Stopped by the time limit at {reached}."
        if proof.stopped == "timeout"
        else f"Z3 gave up: {proof.stopped}."
    )


def _states(shown: Counterexample) -> tuple[tuple[tuple[str, Value], ...], ...]:
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
