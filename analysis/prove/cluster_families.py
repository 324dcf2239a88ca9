"""The work of `podrace prove`: the clusters of a template, explored together in one search, in any process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...base.text import one_line
from ...checker.core.exploration import Budget, Lasso
from ...checker.core.machine import safe_memory
from ...checker.core.trace import LassoTrace
from ...checker.exhaust import Searched, exhaust
from ...checker.family.asking import questionnaires
from ...checker.family.division import parts_of
from ...checker.family.search import FamilySearch, Part, restricted
from ...checker.parametric.parameters import with_parameters
from ...checker.parametric.parametric_system import ParametricSystem, Regions
from ...checker.parametric.regions import evaluate
from ...checker.reduction.questions import explored_slice, kind_of
from ...checker.reduction.slicing import step_name
from ...checker.trace.execution import ReplayError, confirm, confirm_no_way_back
from ...checker.trace.lasso import confirm_lasso
from ...model.language import Parameter
from ...model.language.expressions.expr import fresh_graph
from ...scenarios.template import instantiate
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
    parametric, name = task.question.parametric_system(), task.question.property
    found = exhaust(parametric, name, budget, part=task.part, ahead=task.share > 1)
    return BatchOutcome(
        clusters=tuple(_outcome_of(one, parametric) for one in found.cells),
        constraints=tuple(sorted(found.constraints_hit)),
        witnesses=tuple(sorted(found.witnesses)),
        fired=tuple(sorted(found.fired)),
        distinct=found.states,
        short_of_memory="memory" in found.stopped,
    )


def _outcome_of(one: Searched, parametric: ParametricSystem) -> ClusterOutcome:
    cell, trace = one.cell, one.trace
    steps = () if trace is None else trace.steps
    return ClusterOutcome(
        tuple(cell.example[q] for q in parametric.parameters),
        one.verdict.name,
        cell.states,
        cell.transitions,
        cell.depth,
        tuple(step.label for step in steps),
        tuple(f"{step.part}.{step.step}" for step in steps),
        trace.turn if isinstance(trace, LassoTrace) else None,
        trace.case if isinstance(trace, LassoTrace) else "",
    )


def refuse_no_outcome(task: FamilyTask, kept: BatchOutcome, regions: Regions) -> None:
    """Hold an outcome that was kept to its task: the clusters, the names, and every counterexample, executed again.

    Raises NoOutcome.
    """
    sliced, system = regions.slice, regions.parametric.system
    _refuse_no_family(task, kept, regions.parametric)
    for found, known in (
        (kept.constraints, system.constraints),
        (kept.witnesses, sliced.witnesses),
        (kept.fired, {step_name(t) for t in sliced.transitions}),
    ):
        if strange := [name for name in found if name not in known]:
            raise NoOutcome(f"it names `{one_line(strange[0])}`, which these clusters do not have")
    for cluster in kept.clusters:
        if not 0 <= cluster.depth < cluster.states or cluster.transitions < cluster.states - 1:
            raise NoOutcome("its counts are those of no search")
        if cluster.verdict == "VIOLATED":
            _refuse_no_counterexample(task, cluster, regions.parametric)
        elif cluster.verdict not in ("HOLDS", "INCONCLUSIVE") or cluster.trace or cluster.steps:
            raise NoOutcome("it contradicts itself")


def _refuse_no_counterexample(
    task: FamilyTask, cluster: ClusterOutcome, parametric: ParametricSystem
) -> None:
    name, turn = task.question.property, cluster.turn
    values = {q.name: value for q, value in zip(parametric.parameters, cluster.values, strict=True)}
    system = parametric.system
    numbers = {t.label: number for number, t in enumerate(system.transitions)}
    try:
        path = tuple(numbers[label] for label in cluster.trace)
        kind = kind_of(system, name)
        if kind == "invariant":
            trace = confirm(system, path, name, values)
        elif kind == "resettability":
            trace = confirm_no_way_back(system, path, name, parameters=values)
        elif turn is None or not 0 <= turn <= len(path):
            raise NoOutcome("it has a counterexample without an end")
        else:
            lasso = Lasso(path[:turn], path[turn:], cluster.case)
            trace = confirm_lasso(with_parameters(system, values), lasso, name)
    except KeyError as error:
        raise NoOutcome(
            f"its counterexample takes the step {one_line(str(error))}, which there is not"
        ) from None
    except ReplayError as error:
        raise NoOutcome(f"its counterexample is none: {error}") from None
    if tuple(f"{step.part}.{step.step}" for step in trace.steps) != cluster.steps:
        raise NoOutcome("it contradicts itself")


def named(question: ProofQuestion, values: tuple[int, ...]) -> dict[str, int]:
    """The values of parameters by their names."""
    return {q.name: value for q, value in zip(instantiate(question.template).parameters, values, strict=True)}


def _refuse_no_family(task: FamilyTask, kept: BatchOutcome, parametric: ParametricSystem) -> None:
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
