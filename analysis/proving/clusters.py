"""The work of `podrace prove`: the clusters of one template, explored one after the other, in any process."""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from functools import lru_cache

import msgspec

from ...checker.core.exploration import Budget, Exploration
from ...checker.parametric.explorer import Explorer
from ...checker.parametric.parametric_system import Exchange, Unknown
from ...checker.reduction.slicing import step_name
from ...model.history import Composition, resolve
from ...properties import PROPERTIES, instrument
from ...scenarios.template import ClusterTemplate, instantiate
from ..own.own_properties import own_properties
from ..own.patches import patches_of, with_patches


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of the clusters of an template. `own` is as `--properties` gives it, `patches` as `--patch`."""

    template: ClusterTemplate
    release: str
    with_fixes: tuple[str, ...]
    without_fixes: tuple[str, ...]
    property: str
    own: tuple[str, ...] = ()
    patches: tuple[str, ...] = ()

    @builtins.property
    def composition(self) -> Composition:
        """The scheduler that is asked about."""
        found = resolve(self.release, self.with_fixes, self.without_fixes)
        return with_patches(found, patches_of(self.patches))

    def unknown(self) -> Unknown:
        """The system with its unknown quantities."""
        composition = self.composition
        prop = own_properties(self.own).get(self.property) or PROPERTIES[self.property]
        found = instantiate(self.template)
        return Unknown(
            instrument(found.spec, composition.classes, [prop]),
            found.quantities,
            found.assumptions(),
            tuple(Exchange(*pair) for pair in found.exchanges()),
        )


Member = tuple[tuple[int, ...], int]
"""The quantities of a representative, and for how many cells it stands."""


@dataclass(frozen=True, slots=True)
class Task:
    """Some clusters of one template. `ranges` and the values of `members` are in the order of the quantities."""

    question: Question
    ranges: tuple[tuple[int, int], ...]
    members: tuple[Member, ...]
    max_states: int | None = None


class Outcome(msgspec.Struct, frozen=True):
    """What came out for one cluster. `trace` has the labels of a shortest counterexample, `steps` their steps."""

    values: tuple[int, ...]
    cells: int
    verdict: str
    states: int
    transitions: int
    depth: int
    trace: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()


class Outcomes(msgspec.Struct, frozen=True):
    """What came out for the clusters of a task: also which bounds any of them hit, which witnesses and steps any reached."""

    clusters: tuple[Outcome, ...]
    bounds: tuple[str, ...]
    witnesses: tuple[str, ...]
    fired: tuple[str, ...]


@lru_cache(maxsize=1)
def _explorer(question: Question, ranges: tuple[tuple[int, int], ...]) -> Explorer:
    unknown = question.unknown()
    return Explorer(unknown, question.property, dict(zip(unknown.quantities, ranges, strict=True)))


def work(task: Task) -> Outcomes:
    """Explore the clusters of a task. Every counterexample is executed by the interpreter."""
    explorer = _explorer(task.question, task.ranges)
    quantities = explorer.unknown.quantities
    names = [step_name(t) for t in explorer.slice.transitions]
    bounds: set[str] = set()
    witnesses: set[str] = set()
    fired: set[str] = set()
    found = []
    for values, cells in task.members:
        chosen = dict(zip(quantities, values, strict=True))
        answer = explorer.explore(chosen, Budget(max_states=task.max_states))
        trace = explorer.confirm(answer, chosen)
        bounds |= answer.constraints_hit
        witnesses |= answer.witnesses.keys()
        fired |= {name for name, times in zip(names, answer.fired, strict=True) if times}
        found.append(
            Outcome(
                values,
                cells,
                _verdict(answer, trace is not None),
                answer.states,
                answer.transitions,
                answer.depth,
                () if trace is None else tuple(step.label for step in trace.steps),
                () if trace is None else tuple(f"{step.part}.{step.step}" for step in trace.steps),
            )
        )
    return Outcomes(tuple(found), tuple(sorted(bounds)), tuple(sorted(witnesses)), tuple(sorted(fired)))


def _verdict(answer: Exploration, violated: bool) -> str:
    if violated:
        return "VIOLATED"
    return "HOLDS" if answer.complete else "INCONCLUSIVE"


def named(question: Question, values: tuple[int, ...]) -> dict[str, int]:
    """Quantities by their names."""
    return {q.name: value for q, value in zip(instantiate(question.template).quantities, values, strict=True)}
