"""The verdict on a random file with ranges is what brute force over all concrete files gives, for any property and release."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from podrace.analysis.chain import verdict_on
from podrace.analysis.request.method import Method
from podrace.analysis.request.plan import Run
from podrace.base.problems import Problem
from podrace.checker.core.exploration import Budget
from podrace.reports.document import Finding
from podrace.scenarios import parse_scenario
from tests.profiles import examples
from tests.random_clusters import Asked, questions

STATES = 20_000
_NUMBER = re.compile(r"(?<=cpu: )\d+|(?<=priority: )\d+")


@st.composite
def ranged(draw: Any, **options: Any) -> tuple[Asked, str, list[str]]:
    """A question, its file with one or two ranges in the place of numbers, and the files that this stands for."""
    asked: Asked = draw(questions(**options))
    text = asked.scenario.text
    places = [match.span() for match in _NUMBER.finditer(text)]
    chosen = sorted(draw(st.lists(st.sampled_from(places), min_size=1, max_size=2, unique=True)))
    numbers = []
    for start, end in chosen:
        lo = max(int(text[start:end]) - draw(st.integers(0, 1)), 0)
        numbers.append(range(lo, lo + draw(st.integers(2, 3))))

    def written(values: list[str]) -> str:
        made, at = "", 0
        for (start, end), value in zip(chosen, values, strict=True):
            made, at = made + text[at:start] + value, end
        return made + text[at:]

    files = [written([str(n) for n in choice]) for choice in product(*numbers)]
    return asked, written([f"{n[0]}..{n[-1]}" for n in numbers]), files


def answer(asked: Asked, text: str, **options: Any) -> Finding | None:
    """None for what no scenario says."""
    try:
        scenario = parse_scenario(text, "random.yaml")
    except Problem:
        return None
    run = Run(scenario, asked.composition, asked.property)
    return verdict_on(run, Budget(max_states=STATES), Method(**options))


def assert_as_by_brute_force(question: tuple[Asked, str, list[str]]) -> None:
    asked, text, files = question
    if asked.system() is None:
        reject()
    known = [found for found in (answer(asked, file) for file in files) if found is not None]
    if not known or any(found.verdict == "INCONCLUSIVE" for found in known):
        reject()
    found = answer(asked, text)
    assert found is not None
    assert found.clusters
    if found.clusters.undecided:  # in the common slice there may be more states
        reject()
    violating = [one for one in known if one.verdict == "VIOLATED"]
    assert found.verdict == ("VIOLATED" if violating else "HOLDS")
    assert found.clusters.distinguishable <= len(known)
    assert found.clusters.violating <= len(violating)
    if violating and found.trace is not None and found.lasso is None and found.no_way_back is None:
        assert len(found.trace) == min(len(one.trace or ()) for one in violating)
    if not violating:
        shortest: dict[str, int] = {}
        for one in known:
            for witness, steps in one.witnesses_reached.items():
                shortest[witness] = min(steps, shortest.get(witness, steps))
        assert found.witnesses_reached == shortest
        assert set(found.constraints_hit) == {bound for one in known for bound in one.constraints_hit}


@settings(max_examples=examples(2), suppress_health_check=list(HealthCheck))
@given(ranged(nodes=1))
def test_random_ranges(question: tuple[Asked, str, list[str]]) -> None:
    assert_as_by_brute_force(question)


@pytest.mark.campaign
@settings(max_examples=500, suppress_health_check=list(HealthCheck))
@given(ranged(pods=3))
def test_hundreds_of_random_ranges(question: tuple[Asked, str, list[str]]) -> None:
    assert_as_by_brute_force(question)
