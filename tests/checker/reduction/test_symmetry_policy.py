"""When symmetry is used, and what is said about it; counts on clusters with equal nodes and equal pods."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podrace.checker.core.exploration import Budget
from podrace.checker.core.result import Verdict
from podrace.checker.reduction import policy
from podrace.checker.search import check
from podrace.model.language import Case
from podrace.model.language.expr import less, variable
from tests.checker.machines import counters

GRID = counters(4, invariants=["not_all_done"])
QUIET = counters(4, invariants=["always"], witnesses=["all_done"])
NAME = "symmetry of w0, w1, w2, w3"


def test_a_large_search_is_folded_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "WORTH", 0)  # partial-order reduction never pays
    monkeypatch.setattr(policy, "LARGE", 7)
    monkeypatch.setattr(policy, "SAMPLE", 7)
    (found,) = check(QUIET, engine="reference")
    assert (found.counts.states, found.counts.depth, found.reductions) == (15, 8, (NAME,))
    assert found.words == f"Holds in every interleaving: 15 states, 40 transitions, depth 8, by {NAME}."
    assert found.coverage.witnesses_reached == {"all_done": 8}


def test_a_small_search_is_not_folded_by_itself() -> None:
    (found,) = check(QUIET, engine="reference")
    assert (found.counts.states, found.reductions) == (81, ())


def test_nothing_is_folded_without_reductions() -> None:
    (found,) = check(QUIET, engine="reference", reductions="off")
    assert (found.counts.states, found.reductions) == (81, ())


def test_both_reductions_are_named() -> None:
    (found,) = check(QUIET, engine="reference", reductions="on")
    assert (found.counts.states, found.reductions) == (9, (NAME, "partial-order reduction"))


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_folded_violation_is_a_shortest_run(engine: str) -> None:
    (found,) = check(GRID, engine=engine, reductions="on")  # type: ignore[arg-type]
    (plain,) = check(GRID, engine=engine, reductions="off")  # type: ignore[arg-type]
    assert (found.counts.states, plain.counts.states) == (15, 81)
    assert found.trace is not None
    assert plain.trace is not None
    assert len(found.trace.steps) == len(plain.trace.steps) == 8
    assert "Violated after 8 steps, and by no shorter run" in found.words
    assert found.reductions == (NAME,)


def test_a_folded_search_that_is_cut_off_still_claims_a_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "WORTH", 0)
    monkeypatch.setattr(policy, "LARGE", 5)
    monkeypatch.setattr(policy, "SAMPLE", 5)
    (found,) = check(GRID, budget=Budget(max_states=10), engine="reference")
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "no violation within" in found.words


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_liveness_is_never_folded(engine: str) -> None:
    """Folded, a run on which the processes take turns looks like one on which the same one acts for ever."""
    behind = Case("the first stays behind", less(variable(QUIET.variables[0]), 2))
    lively = replace(QUIET, invariants={}, witnesses={}, livenesses={"first": (behind,)})
    (folded,) = check(lively, engine=engine, reductions="on")  # type: ignore[arg-type]
    (plain,) = check(lively, engine=engine, reductions="off")  # type: ignore[arg-type]
    assert (folded.verdict, folded.counts.states, folded.reductions) == (
        plain.verdict,
        plain.counts.states,
        (),
    )
    assert plain.counts.states is not None
    assert plain.counts.states > len(lively.variables)
