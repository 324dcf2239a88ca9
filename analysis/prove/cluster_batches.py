"""The work of `podrace prove`: the clusters of one template, explored one after the other, in any process."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import msgspec

from ...checker.core.exploration import Budget
from ...checker.parametric.explorer import Explorer
from ...checker.reduction.conclusion import times_fired, verdict_of
from ...scenarios.template import instantiate
from .proof_request import ProofQuestion

Member = tuple[tuple[int, ...], int]
"""The values of the parameters of a representative, and for how many regions it stands."""


@dataclass(frozen=True, slots=True)
class Task:
    """Some clusters of one template. `ranges` and the values of `members` are in the order of the parameters."""

    question: ProofQuestion
    ranges: tuple[tuple[int, int], ...]
    members: tuple[Member, ...]
    max_states: int | None = None


class ClusterOutcome(msgspec.Struct, frozen=True):
    """What came out for one cluster. `trace` has the labels of a shortest counterexample, `steps` their steps."""

    values: tuple[int, ...]
    regions: int
    verdict: str
    states: int
    transitions: int
    depth: int
    trace: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()


class BatchOutcome(msgspec.Struct, frozen=True):
    """What came out for the clusters of a task: also which constraints any of them hit, which witnesses and steps any reached."""

    clusters: tuple[ClusterOutcome, ...]
    constraints: tuple[str, ...]
    witnesses: tuple[str, ...]
    fired: tuple[str, ...]


@lru_cache(maxsize=1)
def _explorer(question: ProofQuestion, ranges: tuple[tuple[int, int], ...]) -> Explorer:
    parametric = question.parametric_system()
    return Explorer(parametric, question.property, dict(zip(parametric.parameters, ranges, strict=True)))


def work(task: Task) -> BatchOutcome:
    """Explore the clusters of a task. Every counterexample is executed by the interpreter."""
    explorer = _explorer(task.question, task.ranges)
    parameters = explorer.parametric.parameters
    constraints: set[str] = set()
    witnesses: set[str] = set()
    fired: set[str] = set()
    found = []
    for values, regions in task.members:
        chosen = dict(zip(parameters, values, strict=True))
        answer = explorer.explore(chosen, Budget(max_states=task.max_states))
        trace = explorer.confirm(answer, chosen)
        constraints |= answer.constraints_hit
        witnesses |= answer.witnesses.keys()
        fired |= times_fired(explorer.slice, answer.fired).keys()
        found.append(
            ClusterOutcome(
                values,
                regions,
                verdict_of(answer, trace is not None).name,
                answer.states,
                answer.transitions,
                answer.depth,
                () if trace is None else tuple(step.label for step in trace.steps),
                () if trace is None else tuple(f"{step.part}.{step.step}" for step in trace.steps),
            )
        )
    return BatchOutcome(
        tuple(found), tuple(sorted(constraints)), tuple(sorted(witnesses)), tuple(sorted(fired))
    )


def named(question: ProofQuestion, values: tuple[int, ...]) -> dict[str, int]:
    """The values of parameters by their names."""
    return {q.name: value for q, value in zip(instantiate(question.template).parameters, values, strict=True)}
