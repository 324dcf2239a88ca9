"""Answers that are kept are those that each question has by itself."""

from __future__ import annotations

from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from podrace.checker.parametric.parametric_system import Regions
from podrace.checker.parametric.regions import Answers, evaluate
from podrace.model.environment.objects import Scope
from podrace.scenarios.template import ClusterTemplate, templates
from tests.checker.parametric.test_sufficiency import parametric_system


@cache
def regions() -> Regions:
    (template,) = (
        o for o in templates(2, 2, ClusterTemplate((), 0, scope=Scope(pod_events=1))) if o.bound == (1, 0)
    )
    return Regions(parametric_system(template, "1.19", "S-NOM"), "S-NOM")


@given(st.lists(st.lists(st.integers(0, 3), min_size=6, max_size=6), min_size=1, max_size=8))
def test_on_any_parameters(choices: list[list[int]]) -> None:
    """Several choices in a row, which often share their priorities or their sizes."""
    parameters, questions = regions().parametric.parameters, regions().questions
    asked = Answers(parameters, questions)
    for choice in choices:
        values = dict(zip(parameters, choice, strict=True))
        assert asked(values) == tuple(bool(evaluate(q, values)) for q in questions)


def test_there_are_questions_about_sizes_and_about_priorities() -> None:
    names = {str(q) for q in regions().questions}
    assert {"lt(n1.cpu, p1.cpu)", "lt(p1.priority, p2.priority)"} <= names


def test_without_questions_there_is_one_answer() -> None:
    parameters = regions().parametric.parameters
    assert Answers(parameters, ())(dict.fromkeys(parameters, 0)) == ()
