"""All choices of unknown numbers, each looked at by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from podrace.checker.core.exploration import Budget
from podrace.checker.exhaust import exhaust
from podrace.checker.parametric.grounding import TooManyCases
from podrace.checker.parametric.parametric_system import ParametricSystem
from podrace.checker.parametric.regions import evaluate
from podrace.model.language import Parameter, TransitionSystem, topological
from tests.independent.oracle.fair_runs import fair_sets, has_fair_run
from tests.independent.oracle.graph import Graph, TooLarge, graph_of
from tests.independent.question import Question, Skipped
from tests.independent.systems import random_system

Choice = dict[str, int]


def _parameters(system: TransitionSystem) -> tuple[Parameter, ...]:
    found = {n.value.name: n.value for n in topological(system.roots()) if n.op == "param"}
    return tuple(found[name] for name in sorted(found))


def _choices(parameters: tuple[Parameter, ...]) -> list[Choice]:
    values = product(*(range(q.lo, q.hi + 1) for q in parameters))
    return [dict(zip((q.name for q in parameters), chosen, strict=True)) for chosen in values]


def _graph(system: TransitionSystem, choice: Mapping[str, int]) -> Graph:
    try:
        return graph_of(system, parameters=choice, most=150)
    except TooLarge as error:
        raise Skipped from error


def clusters(seed: int) -> Iterator[Question]:
    """The answer for each choice of two or three numbers is that for its cell, and each cell has a choice."""
    kind = ("invariants", "resettabilities", "livenesses")[seed % 3]
    asked = {kind: 1, "witnesses": 1, "sets": 3 if kind == "livenesses" else 0}
    system = random_system(("parametric", seed), parameters=2 + seed % 2, **asked)
    (name,) = getattr(system, kind)
    parameters = _parameters(system)
    if not parameters:
        raise Skipped
    try:
        found = exhaust(ParametricSystem(system, parameters), name, Budget())
    except TooManyCases as error:
        raise Skipped from error
    seen = set()
    for choice in _choices(parameters):
        graph = _graph(system, choice)
        values = {q: choice[q.name] for q in parameters}
        (number,) = (
            number
            for number, one in enumerate(found.cells)
            if all(bool(evaluate(q, values)) == yes for q, yes in one.cell.answers.items())
        )
        seen.add(number)
        trace, expected = found.cells[number].trace, _expected(graph, kind, name)
        told = None if trace is None else "violated" if kind == "livenesses" else len(trace.steps)
        yield Question(f"{name} with {choice}", told, expected, expected is not None)
    yield Question("cells", set(range(len(found.cells))), seen, len(seen) > 1)


def _expected(graph: Graph, kind: str, name: str) -> object:
    system = graph.reader.system
    if kind == "invariants":
        return graph.nearest(system.invariants[name], False)
    if kind == "resettabilities":
        return graph.stranded(system.resettabilities[name])
    sets = fair_sets(graph)
    return "violated" if any(has_fair_run(graph, sets, case) for case in system.livenesses[name]) else None
