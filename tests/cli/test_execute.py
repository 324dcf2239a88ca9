"""From the result of a search to what reports read."""

from __future__ import annotations

from dataclasses import replace

from podrace.analysis.execute import without_irrelevant_steps
from podrace.checker.core.result import Counts, Result, Verdict
from podrace.checker.reduction.policy import PARTIAL_ORDER
from podrace.checker.trace.trace import replay
from tests.checker.trace.test_shorten import SYSTEM

LONG = Result(
    "s", "I", "invariant", Verdict.VIOLATED, Counts(9, 9, 5, 0.0), evidence=replay(SYSTEM, (1, 0, 2, 0)), reductions=(PARTIAL_ORDER,)
)  # fmt: skip


def test_a_reduced_search_may_find_more_steps_than_need_be() -> None:
    shorter = without_irrelevant_steps(SYSTEM, LONG)
    assert shorter.trace is not None
    assert shorter.trace.path == (0, 0)
    assert shorter.words.startswith("Violated after 2 steps, perhaps sooner by another run")


def test_other_searches_find_a_shortest_run() -> None:
    for result in (replace(LONG, reductions=()), replace(LONG, evidence=None, verdict=Verdict.HOLDS)):
        assert without_irrelevant_steps(SYSTEM, result) is result
