"""The work of `podrace prove` where the clusters of a template are explored together: in one search, in any process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...checker.core.exploration import Budget, Lasso
from ...checker.core.machine import safe_memory
from ...checker.core.result import EngineDisagreement
from ...checker.core.trace import LassoTrace, Trace
from ...checker.family.asking import questionnaires
from ...checker.family.division import parts_of
from ...checker.family.outcome import CellOutcome, FamilyOutcome
from ...checker.family.search import FamilySearch, Part, restricted
from ...checker.parametric.explorer import Explorer
from ...checker.parametric.parameters import with_parameters
from ...checker.parametric.parametric_system import ParametricSystem
from ...checker.parametric.regions import evaluate
from ...checker.reduction.conclusion import times_fired, verdict_of
from ...checker.reduction.questions import explored_slice
from ...checker.reduction.scales_of_time import endless
from ...checker.trace.execution import ReplayError, confirm
from ...checker.trace.lasso import confirm_lasso
from ...model.language import Parameter, TransitionSystem
from ...model.language.expressions.expr import fresh_graph
from .outcomes import BatchOutcome, ClusterOutcome, NoOutcome
from .proof_request import ProofQuestion


@dataclass(frozen=True, slots=True)
class FamilyTask:
    """All clusters of a template, or a part of them. `share` is how many such searches share the memory of the machine, and its cores: one that is alone for a while has two threads."""

    question: ProofQuestion
    max_states: int | None = None
    share: int = 1
    part: Part = ()
    max_memory: int | None = None


def shared_budget(max_states: int | None, max_memory: int | None, share: int) -> Budget:
    """The budget of one of so many searches at a time: together they take `max_memory`, or what is safe to take."""
    memory = safe_memory() if max_memory is None else max_memory
    return Budget(max_states=max_states, max_memory=None if memory is None else memory // share)


LOOKED_AT = 1 << 17
"""How many states are explored to see how the clusters of a template are best divided."""


def family_tasks(task: FamilyTask, parts: int) -> list[FamilyTask]:
    """The clusters of a template in so many parts, if states divide them into as many and it is worth it."""
    if parts == 1:
        return [task]
    search = FamilySearch(task.question.parametric_system(), task.question.property)
    if search.run(Budget(max_states=LOOKED_AT)).stopped is None:
        return [task]
    return [replace(task, part=part) for part in parts_of(search, parts)]


def explore_family(task: FamilyTask) -> BatchOutcome:
    """Explore the clusters of a task together. Every counterexample is executed by the interpreter.

    Raises EngineDisagreement.
    """
    budget = shared_budget(task.max_states, task.max_memory, task.share)
    parametric, sliced, found = _searched(task, task.question.parametric_system(), budget)
    again = shared_budget(None, task.max_memory, task.share)
    traces = _counterexamples(parametric, task.question.property, found, again)
    missing = any(
        cell.violated is not None and number not in traces for number, cell in enumerate(found.cells)
    )
    return BatchOutcome(
        clusters=tuple(
            _outcome_of(
                cell,
                parametric,
                verdict_of(found.stopped is None and cell.violated is None, number in traces).name,
                traces.get(number),
            )
            for number, cell in enumerate(found.cells)
        ),
        constraints=tuple(sorted(found.constraints_hit)),
        witnesses=tuple(sorted(found.witnesses)),
        fired=tuple(sorted(times_fired(sliced, found.fired))),
        distinct=found.states,
        short_of_memory=missing or found.stopped == "memory",
    )


def _searched(
    task: FamilyTask, parametric: ParametricSystem, budget: Budget
) -> tuple[ParametricSystem, TransitionSystem, FamilyOutcome]:
    """What was found about the clusters, with the slice that was explored, and the system that it is a slice of.

    That has scales of time if it asks for them, unless a timer can wait for ever in some cluster while work goes on.
    """
    ahead = task.share > 1
    search = FamilySearch(parametric, task.question.property, part=task.part, ahead=ahead)
    found, sliced = search.run(budget), search.slice
    del search  # and its memory, which is what counterexamples are searched with
    asked = endless(sliced)
    if asked is None or all(cell.violated is not None for cell in found.cells):
        return parametric, sliced, found
    *_, questions = questionnaires(sliced)
    chosen = restricted(parametric, questions, task.part)
    (name,) = asked.livenesses
    waits = FamilySearch(replace(chosen, system=asked), name, ahead=ahead).run(budget)
    if all(cell.violated is None for cell in waits.cells):
        return parametric, sliced, replace(found, stopped=found.stopped or waits.stopped)
    anytime = replace(chosen, system=replace(parametric.system, scales=False))
    search = FamilySearch(anytime, task.question.property, ahead=ahead)
    return anytime, search.slice, search.run(budget)


def _outcome_of(
    cell: CellOutcome, parametric: ParametricSystem, verdict: str, trace: Trace | None
) -> ClusterOutcome:
    steps = () if trace is None else trace.steps
    return ClusterOutcome(
        tuple(cell.example[q] for q in parametric.parameters),
        1,
        verdict,
        cell.states,
        cell.transitions,
        cell.depth,
        tuple(step.label for step in steps),
        tuple(f"{step.part}.{step.step}" for step in steps),
        trace.turn if isinstance(trace, LassoTrace) else None,
        trace.case if isinstance(trace, LassoTrace) else "",
    )


def _counterexamples(
    parametric: ParametricSystem, property_id: str, found: FamilyOutcome, budget: Budget
) -> dict[int, Trace]:
    """A counterexample for each violating cell, of an invariant a shortest: one is searched alone, and what it finds is executed in the others.

    Where that is no counterexample, or of an invariant not of the length that the family's search claims, the cell is searched alone. A cell whose own search runs out of the budget has none.
    """
    waiting = {number: cell for number, cell in enumerate(found.cells) if cell.violated is not None}
    examples = [cell.example for cell in waiting.values()]
    ranges = {
        q: (min(e[q] for e in examples), max(e[q] for e in examples))
        for q in parametric.parameters
        if examples
    }
    explorer = Explorer(parametric, property_id, ranges) if waiting else None
    numbers = {t.label: number for number, t in enumerate(parametric.system.transitions)}
    traces: dict[int, Trace] = {}
    while waiting and explorer is not None:
        number, cell = next(iter(waiting.items()))
        answer = explorer.explore(cell.example, budget)
        trace = explorer.confirm(answer, cell.example)
        if trace is None and not answer.complete:
            del waiting[number]
            continue
        lasso = isinstance(trace, LassoTrace)
        if not isinstance(trace, Trace) or not (lasso or len(trace.steps) == cell.violated):
            raise EngineDisagreement(
                f"all clusters together break {property_id} after {cell.violated} steps, but one by itself does not"
            )
        for other, its in list(waiting.items()):
            if lasso or its.violated == cell.violated:
                try:
                    if not lasso:
                        explorer.confirm_time(answer.violations[property_id], its.example)
                    traces[other] = _executed(parametric, property_id, trace, numbers, _named(its))
                except ReplayError:
                    continue
                del waiting[other]
        if number in waiting:
            raise EngineDisagreement(f"the counterexample of {cell.example} is confirmed once, and not again")
    return traces


def _executed(
    parametric: ParametricSystem,
    property_id: str,
    trace: Trace,
    numbers: Mapping[str, int],
    values: Mapping[str, int],
) -> Trace:
    """The run of a trace, of other parameters. Raises ReplayError if it is no counterexample there."""
    path = tuple(numbers[step.label] for step in trace.steps)
    if not isinstance(trace, LassoTrace):
        return confirm(parametric.system, path, property_id, values)
    lasso = Lasso(path[: trace.turn], path[trace.turn :], trace.case)
    return confirm_lasso(with_parameters(parametric.system, values), lasso, property_id)


def _named(cell: CellOutcome) -> dict[str, int]:
    return {q.name: value for q, value in cell.example.items()}


def refuse_no_family(task: FamilyTask, kept: BatchOutcome, parametric: ParametricSystem) -> None:
    """Hold the clusters of an outcome that was kept to what they may be: different members of the part of the family. Raises NoOutcome."""
    if task.part:
        *_, asked = questionnaires(explored_slice(parametric.system, task.question.property))
        parametric = restricted(parametric, asked, task.part)
    known: set[tuple[int, ...]] = set()
    for cluster in kept.clusters:
        values = dict(zip(parametric.parameters, cluster.values, strict=False))
        if (
            len(cluster.values) != len(parametric.parameters)
            or cluster.values in known
            or cluster.regions != 1
            or not _is_member(parametric, values)
        ):
            raise NoOutcome("it is not about the clusters that it should be about")
        known.add(cluster.values)
    if not kept.clusters or kept.distinct < max(cluster.states for cluster in kept.clusters):
        raise NoOutcome("its counts are those of no search")


def _is_member(parametric: ParametricSystem, values: Mapping[Parameter, int]) -> bool:
    with fresh_graph():
        return all(q.lo <= value <= q.hi for q, value in values.items()) and all(
            evaluate(condition, values) for condition in parametric.assumptions
        )
