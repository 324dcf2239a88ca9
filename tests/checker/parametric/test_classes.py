"""Classes of clusters: each cluster is in one, and behaves like the one that was searched."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.core.exploration import Budget, Exploration
from podrace.checker.explicit import explore
from podrace.checker.parametric.classes import Class, classes
from podrace.checker.parametric.parameters import with_parameters
from podrace.checker.parametric.parametric_system import ParametricSystem
from podrace.model.environment.objects import Scope
from podrace.model.history import resolve
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios.template import ClusterTemplate, Limits, instantiate
from tests.profiles import examples

SCOPE = Scope(pod_events=1, flush=False)
GANG = ClusterTemplate((0,), 1, scope=SCOPE, gangs=(2,), arrival=(0, None, 0), limits=Limits(priority=1))
PAIR = ClusterTemplate((0,), 2, scope=SCOPE)
BOUND = ClusterTemplate((1,), 1, scope=SCOPE)
CASES = [
    (PAIR, "1.13", "S-NOMVIS"),
    (PAIR, "1.19", "S-NOM"),
    (BOUND, "1.19", "S-NOM"),
    (PAIR, "1.22", "L-PEND"),
    (GANG, "1.36.3", "L-GANG"),
]


@cache
def found(template: ClusterTemplate, release: str, property_id: str) -> tuple[ParametricSystem, list[Class]]:
    unknown = instantiate(template)
    gates = {"GangScheduling": True} if template.gangs else {}
    system = instrument(unknown.spec, resolve(release, (), (), gates).classes, [PROPERTIES[property_id]])
    parametric = ParametricSystem(system, unknown.parameters, unknown.assumptions())
    return parametric, list(classes(parametric, property_id, Budget()))


def essence(answer: Exploration) -> Exploration:
    return replace(answer, seconds=0.0)


@pytest.mark.ci
@settings(max_examples=examples(12), deadline=None)
@given(st.sampled_from(CASES), st.data())
def test_a_cluster_behaves_like_the_one_that_was_searched_of_its_class(
    case: tuple[ClusterTemplate, str, str], data: st.DataObject
) -> None:
    parametric, all_of_them = found(*case)
    values = {q: data.draw(st.integers(q.lo, min(q.hi, 9)), q.name) for q in parametric.parameters}
    for place, bound in enumerate(case[0].places):
        if bound is not None:  # what is bound must fit
            node, pod = (next(q for q in values if q.name == n) for n in ("n1.cpu", f"p{place + 1}.cpu"))
            values[node] = values[node] + values[pod]
    (its,) = (one for one in all_of_them if one.has(values))
    alone = explore(with_parameters(its.explorer.slice, {q.name: v for q, v in values.items()}), Budget())
    assert essence(alone) == essence(its.found)


@pytest.mark.parametrize(
    ("case", "count", "states"),
    [
        pytest.param(CASES[0], 13, 36539, marks=pytest.mark.ci),
        (CASES[1], 12, 3108),
        pytest.param(CASES[3], 15, 3879, marks=pytest.mark.ci),
    ],
)
def test_how_many_there_are(case: tuple[ClusterTemplate, str, str], count: int, states: int) -> None:
    _, all_of_them = found(*case)
    assert (len(all_of_them), sum(one.found.states for one in all_of_them)) == (count, states)


def test_no_two_have_a_cluster_in_common() -> None:
    for case in CASES[1:2]:
        _, all_of_them = found(*case)
        for one in all_of_them:
            assert [other for other in all_of_them if other.has(one.values)] == [one]
