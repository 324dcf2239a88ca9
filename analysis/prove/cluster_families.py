"""The work of `podrace prove`: the clusters of a template, explored together in one search, in any process."""

from collections.abc import Mapping
from dataclasses import replace

from ...base.structs import Data
from ...checker.core.exploration import Budget
from ...checker.core.machine import safe_memory
from ...checker.exhaust import Searched, exhaust
from ...checker.family.division import parts_of
from ...checker.family.search import FamilySearch, Part
from ...checker.parametric.interchangeable import ordered
from ...checker.parametric.parametric_system import ParametricSystem
from ...checker.reduction.idle_parts import steps_of
from ...checker.reduction.slicing import Slicer, step_name
from ...model.asked_for import asked_for
from ...model.language import TransitionSystem
from ...scenarios.template import instantiate
from .proof_request import ProofQuestion


class FamilyTask(Data):
    """All clusters of a template, or a part of them. `share` is how many such searches share the memory of the machine, and its cores: one that is alone for a while has two threads."""

    question: ProofQuestion
    max_states: int | None = None
    share: int = 1
    part: Part = ()
    max_memory: int | None = None


class ClusterOutcome(Data):
    """What came out for one cluster. `trace` has the labels of a shortest counterexample, `steps` their steps."""

    values: tuple[int, ...]
    verdict: str
    states: int
    transitions: int
    depth: int
    trace: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()


class BatchOutcome(Data):
    """What came out for the clusters of a task: also which constraints any of them hit, and which steps any took.

    `witnesses` says after how many steps, and in which cluster, each was reached; no run to them has been executed. `scales`: with
    scales of time. `possible` are the witnesses and the steps that the slice has, `parts` the steps of what was asked for, as `steps_of` gives them. `distinct` is how many states differ. With `short_of_memory`, some of them might have been decided with more.
    """

    clusters: tuple[ClusterOutcome, ...]
    constraints: tuple[str, ...]
    witnesses: Mapping[str, tuple[int, tuple[int, ...]]]
    fired: tuple[str, ...]
    scales: bool
    possible: tuple[tuple[str, ...], tuple[str, ...]]
    parts: dict[str, tuple[str, ...] | None]
    distinct: int
    short_of_memory: bool


def shared_budget(max_states: int | None, max_memory: int | None, share: int) -> Budget:
    """The budget of one of so many searches at a time: together they take `max_memory`, or what is safe to take."""
    memory = safe_memory() if max_memory is None else max_memory
    return Budget(max_states=max_states, max_memory=None if memory is None else memory // share)


LOOKED_AT = 1 << 17
"""How many states are explored to see how the clusters of a template are best divided."""

ALL_SEARCHED = 3
"""Up to so many pods each cluster is searched. There, one of each saves a quarter of the CPU time, and a report says less."""


def family_tasks(task: FamilyTask, parts: int) -> list[FamilyTask]:
    """The clusters of a template in so many parts, if states divide them into as many and it is worth it."""
    if parts == 1:
        return [task]
    search = FamilySearch(_different(task.question), task.question.property)
    if search.run(Budget(max_states=LOOKED_AT)).stopped is None:
        return [task]
    return [replace(task, part=part) for part in parts_of(search, parts)]


def explore_family(task: FamilyTask) -> BatchOutcome:
    """Explore the clusters of a task together. Every counterexample is executed by the interpreter.

    Raises EngineDisagreement.
    """
    budget = shared_budget(task.max_states, task.max_memory, task.share)
    parametric, name = _different(task.question), task.question.property
    found = exhaust(parametric, name, budget, part=task.part, ahead=task.share > 1)
    return BatchOutcome(
        clusters=tuple(_outcome_of(one, parametric) for one in found.cells),
        constraints=tuple(sorted(found.constraints_hit)),
        witnesses={
            name: (first.depth, tuple(first.example[q] for q in parametric.parameters))
            for name, first in sorted(found.witnesses.items())
        },
        fired=tuple(sorted(found.fired)),
        scales=found.parametric.system.scales,
        possible=_possible(found.slice),
        parts=_parts(found.parametric.system, found.slice),
        distinct=found.states,
        short_of_memory="memory" in found.stopped,
    )


def _different(question: ProofQuestion) -> ParametricSystem:
    """The clusters of a template; of a large one, only one of those that differ in nothing but which pod or node is which."""
    parametric = question.parametric_system()
    if question.template.pods <= ALL_SEARCHED:
        return parametric
    return ordered(parametric, question.property, instantiate(question.template).neighbours())


def _possible(sliced: TransitionSystem) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(sliced.witnesses), tuple(dict.fromkeys(map(step_name, sliced.transitions)))


def _parts(system: TransitionSystem, sliced: TransitionSystem) -> dict[str, tuple[str, ...] | None]:
    return steps_of(Slicer(system), sliced, asked_for(system))


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
    )


def named(question: ProofQuestion, values: tuple[int, ...]) -> dict[str, int]:
    """The values of parameters by their names."""
    return {q.name: value for q, value in zip(instantiate(question.template).parameters, values, strict=True)}
