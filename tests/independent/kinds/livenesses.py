"""Liveness: whether there is a fair run of a case, also with more fair sets and conditions than a 64-bit word holds."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from podrace.checker.core.exploration import Budget
from podrace.checker.core.result import Verdict
from podrace.checker.explicit.engine import Series
from podrace.checker.search import check
from podrace.model.language import TransitionSystem
from tests.independent.oracle.fair_runs import fair_sets, has_fair_run, is_fair_lasso
from tests.independent.oracle.graph import Graph, TooLarge, graph_of
from tests.independent.question import Question, Skipped
from tests.independent.systems import MANY, random_system, some_states

STARTS = 3


def few(seed: int) -> Iterator[Question]:
    """Some fair sets, and some conditions."""
    return _compare(("few", seed), sets=seed % 6, livenesses=6)


def many_sets(seed: int) -> Iterator[Question]:
    """More than 64 fair sets."""
    return _compare(("sets", seed), sets=Random(seed).randint(*MANY), livenesses=6)


def many_conditions(seed: int) -> Iterator[Question]:
    """More than 64 conditions: many that recur in one case, or many cases."""
    if seed % 2:
        return _compare(("recur", seed), sets=2, livenesses=2, recurrent=Random(seed).randint(*MANY))
    return _compare(("cases", seed), sets=2, livenesses=36)


def both_many(seed: int) -> Iterator[Question]:
    """More than 64 of each."""
    random = Random(seed)
    return _compare(("both", seed), sets=random.randint(*MANY), livenesses=2, recurrent=random.randint(*MANY))


def _compare(seed: object, **asked: Any) -> Iterator[Question]:
    system = random_system(seed, **asked)
    series = Series(system)
    for start in some_states(seed, system, STARTS):
        try:
            graph = graph_of(system, start, most=120)
        except TooLarge as error:
            raise Skipped from error
        lassos = series.explore(start, Budget()).lassos
        sets = fair_sets(graph)
        for name, cases in system.livenesses.items():
            expected = next((case.name for case in cases if has_fair_run(graph, sets, case)), None)
            answer = None
            if name in lassos:
                lasso = lassos[name]
                (case,) = (c for c in cases if c.name == lasso.case)
                real = is_fair_lasso(graph, sets, case, lasso.prefix, lasso.cycle)
                answer = lasso.case if real else "no such run"
            yield Question(f"from {start}: {name}", answer, expected, expected is not None)


def verdicts(seed: int) -> Iterator[Question]:
    """What `check` says, sliced, with few and with many sets."""
    number = Random(seed).randint(*MANY) if seed % 4 == 0 else seed % 5
    system = random_system(("live", seed), livenesses=3, sets=number)
    graph = _graph(system)
    sets = fair_sets(graph)
    for result in check(system):
        violated = any(has_fair_run(graph, sets, case) for case in system.livenesses[result.property_id])
        expected = Verdict.VIOLATED if violated else Verdict.HOLDS
        yield Question(result.property_id, result.verdict, expected, violated)


def _graph(system: TransitionSystem) -> Graph:
    try:
        return graph_of(system, most=120)
    except TooLarge as error:
        raise Skipped from error
