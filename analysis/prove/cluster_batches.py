"""The work of `podrace prove`: the clusters of one template, explored one after the other or together, in any process."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ...base.text import one_line
from ...checker.core.exploration import Exploration, Lasso
from ...checker.core.trace import LassoTrace, Trace
from ...checker.parametric.explorer import Explorer
from ...checker.parametric.parameters import with_parameters
from ...checker.parametric.parametric_system import ParametricSystem, Regions
from ...checker.reduction.conclusion import times_fired, verdict_of
from ...checker.reduction.questions import kind_of
from ...checker.reduction.slicing import step_name
from ...checker.trace.execution import ReplayError, confirm, confirm_no_way_back
from ...checker.trace.lasso import confirm_lasso
from ...scenarios.template import instantiate
from .cluster_families import FamilyTask, explore_family, refuse_no_family, shared_budget
from .outcomes import BatchOutcome, ClusterOutcome, NoOutcome
from .proof_request import ProofQuestion

Member = tuple[tuple[int, ...], int]
"""The values of the parameters of a representative, and for how many regions it stands."""


@dataclass(frozen=True, slots=True)
class Task:
    """Some clusters of one template, with one of so many shares of the memory. `ranges` and the values of `members` are in the order of the parameters."""

    question: ProofQuestion
    ranges: tuple[tuple[int, int], ...]
    members: tuple[Member, ...]
    max_states: int | None = None
    max_memory: int | None = None
    share: int = 1


@lru_cache(maxsize=1)
def _explorer(question: ProofQuestion, ranges: tuple[tuple[int, int], ...]) -> Explorer:
    parametric = question.parametric_system()
    return Explorer(parametric, question.property, dict(zip(parametric.parameters, ranges, strict=True)))


def work(task: Task | FamilyTask) -> BatchOutcome:
    """Explore the clusters of a task. Every counterexample is executed by the interpreter."""
    return explore_family(task) if isinstance(task, FamilyTask) else _explore_each(task)


def _explore_each(task: Task) -> BatchOutcome:
    explorer = _explorer(task.question, task.ranges)
    parameters = explorer.parametric.parameters
    constraints: set[str] = set()
    witnesses: set[str] = set()
    fired: set[str] = set()
    found = []
    short = False
    budget = shared_budget(task.max_states, task.max_memory, task.share)
    for values, regions in task.members:
        chosen = dict(zip(parameters, values, strict=True))
        answer = explorer.explore(chosen, budget)
        short |= answer.stopped == "memory"
        trace = explorer.confirm(answer, chosen)
        constraints |= answer.constraints_hit
        witnesses |= answer.witnesses.keys()
        fired |= times_fired(explorer.slice, answer.fired).keys()
        found.append(outcome_of(values, regions, answer, trace))
    return BatchOutcome(
        tuple(found),
        tuple(sorted(constraints)),
        tuple(sorted(witnesses)),
        tuple(sorted(fired)),
        short_of_memory=short,
    )


def outcome_of(
    values: tuple[int, ...], regions: int, answer: Exploration, trace: Trace | None
) -> ClusterOutcome:
    """What a search, and the execution of its counterexample, say of a cluster."""
    return ClusterOutcome(
        values,
        regions,
        verdict_of(answer.complete, trace is not None).name,
        answer.states,
        answer.transitions,
        answer.depth,
        () if trace is None else tuple(step.label for step in trace.steps),
        () if trace is None else tuple(f"{step.part}.{step.step}" for step in trace.steps),
        trace.turn if isinstance(trace, LassoTrace) else None,
        trace.case if isinstance(trace, LassoTrace) else "",
    )


def refuse_no_outcome(task: Task | FamilyTask, kept: BatchOutcome, regions: Regions) -> None:
    """Hold an outcome that was kept to its task: the clusters one by one, the names, and every counterexample, executed again.

    Raises NoOutcome.
    """
    sliced, system = regions.slice, regions.parametric.system
    if isinstance(task, FamilyTask):
        refuse_no_family(task, kept, regions.parametric)
    elif tuple((cluster.values, cluster.regions) for cluster in kept.clusters) != task.members:
        raise NoOutcome("it is not about the clusters that it should be about")
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
    task: Task | FamilyTask, cluster: ClusterOutcome, parametric: ParametricSystem
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
