"""When searches are reduced, and what is said about them."""

from __future__ import annotations

import pytest

from podrace.checker.core.exploration import Budget
from podrace.checker.core.result import Verdict
from podrace.checker.reduction import policy
from podrace.checker.search import check
from tests.checker.machines import counters


@pytest.fixture(autouse=True)
def no_symmetry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The counters are interchangeable, which is the matter of `test_symmetry_policy`."""
    monkeypatch.setattr(policy, "symmetry_of", lambda system: None)


GRID = counters(5, invariants=["not_all_done"])


def test_small_systems_are_searched_as_they_are() -> None:
    (found,) = check(GRID, engine="reference")
    assert (found.counts.states, found.reductions, found.verdict) == (243, (), Verdict.VIOLATED)


def test_independent_steps_need_not_be_interleaved() -> None:
    """Who counts first makes no difference to whether all are done: one order of the ten steps is enough."""
    system = counters(5, witnesses=["all_done"], invariants=["always"])
    (found,) = check(system, engine="reference", reductions="on")
    assert (found.counts.states, found.counts.transitions, found.counts.depth) == (11, 10, 10)
    assert found.coverage.witnesses_missed == ()
    assert found.words == (
        "Holds in every interleaving: 11 states, 10 transitions, depth 10, by partial-order reduction."
    )
    assert found.to_plain()["reductions"] == ["partial-order reduction"]


def test_a_violation_is_shown_as_without_reductions() -> None:
    (found,) = check(GRID, engine="reference", reductions="on")
    (plain,) = check(GRID, engine="reference", reductions="off")
    assert (found.counts.states, found.counts.depth, found.reductions) == (243, 10, ())
    assert found.words == plain.words


def test_a_violation_whose_shortest_run_is_too_expensive_says_so() -> None:
    (found,) = check(GRID, budget=Budget(max_states=100), engine="reference", reductions="on")
    assert found.verdict is Verdict.VIOLATED
    assert "perhaps sooner by another run" in found.words
    assert (found.counts.states, found.reductions) == (11, ("partial-order reduction",))


def test_a_reduced_search_that_is_cut_off_claims_no_depth() -> None:
    (found,) = check(GRID, budget=Budget(max_states=5), engine="reference", reductions="on")
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "no violation within" not in found.words
    assert "no violation so far" in found.words


def test_large_searches_are_reduced_where_that_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "LARGE", 50)
    monkeypatch.setattr(policy, "SAMPLE", 50)
    (found,) = check(GRID, engine="reference")
    assert (
        found.counts.states == 243
    )  # the reduced sample found the violation, the second search the shortest run
    quiet = counters(5, invariants=["always"], witnesses=["all_done"])
    (found,) = check(quiet, engine="reference")
    assert (found.counts.states, found.reductions) == (11, ("partial-order reduction",))


def test_large_searches_are_not_reduced_where_it_does_not_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "LARGE", 8)
    monkeypatch.setattr(policy, "SAMPLE", 8)
    monkeypatch.setattr(policy, "WORTH", 0)
    quiet = counters(5, invariants=["always"], witnesses=["all_done"])
    (found,) = check(quiet, engine="reference")
    assert (found.counts.states, found.reductions) == (243, ())
