"""From a system and property names to confirmed results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings

from podrace.checker.core.exploration import Budget, Exploration, Watcher
from podrace.checker.core.result import EngineDisagreement, Result, Verdict
from podrace.checker.explicit.reference import explore
from podrace.checker.reduction.questions import UnknownProperty, witnesses_of
from podrace.checker.search import check
from podrace.checker.trace.execution import confirm, confirm_no_way_back
from podrace.model.language import TransitionSystem
from podrace.reports.verdict_words import verdict_words
from tests.checker.machines import Careless, counters, graph, house
from tests.profiles import examples
from tests.random_systems import systems


def run(system: TransitionSystem, *names: str, **more: object) -> list[Result]:
    return check(system, names or None, engine="reference", **more)  # type: ignore[arg-type]


def test_what_holds() -> None:
    alone, empty = run(house())
    assert (alone.system, alone.property_id, alone.kind) == ("house", "alone", "invariant")
    assert (empty.property_id, empty.kind) == ("empty", "resettability")
    for result in (alone, empty):
        assert result.verdict is Verdict.HOLDS
        assert (result.counts.states, result.counts.transitions) == (8, 14)
        assert result.coverage.fired == {"room.ask": 6, "room.enter": 4, "room.leave": 4}
        assert result.coverage.never_fired == ()
        assert result.coverage.witnesses_reached == {"in": 2}
        assert result.coverage.witnesses_missed == ()
        assert result.coverage.constraints_hit == ("one key",)
        assert result.stopped is None
        assert not result.vacuous
        assert result.engine == "reference"


def test_what_is_violated() -> None:
    (alone,) = run(house(Careless), "alone")
    assert alone.verdict is Verdict.VIOLATED
    assert alone.trace is not None
    assert alone.trace.path == (0, 1, 2, 3)
    assert verdict_words(alone).startswith("Violated after 4 steps")


def test_a_state_with_no_way_back() -> None:
    # The slice numbers transitions differently: 3 -> 0 is never enabled.
    edges = {(3, 0): True, (0, 1): True, (1, 2): True, (2, 1): False}
    (home,) = run(graph(edges, 4, resettabilities={"home": {0}}))
    assert home.verdict is Verdict.VIOLATED
    assert home.trace is not None
    assert home.trace.path == (1,)
    assert (home.trace.closure, home.trace.closed) == (2, True)
    (bounded,) = run(graph(edges, 4, resettabilities={"home": {0}}), confirmed_states=1)
    assert bounded.trace is not None
    assert (bounded.trace.closure, bounded.trace.closed) == (1, False)


def test_steps_are_counted_over_all_their_arguments() -> None:
    (result,) = run(counters(invariants=["quiet"], witnesses=["all_done"]))
    assert result.coverage.fired == {"counting.increase": 12}
    assert result.coverage.never_fired == ("counting.haunt",)
    assert result.coverage.outside_cone == ()


def test_a_witness_that_is_never_reached_makes_holds_vacuous() -> None:
    (result,) = run(counters(invariants=["always"], witnesses=["never", "all_done"]))
    assert result.verdict is Verdict.HOLDS
    assert result.coverage.witnesses_reached == {"all_done": 4}
    assert result.coverage.witnesses_missed == ("never",)
    assert result.vacuous


def test_results_come_in_the_order_asked() -> None:
    system = counters(invariants=["always", "never"], resettabilities=["all_done", "none_done"])
    results = run(system, "none_done", "always", "never", "always")
    assert [r.property_id for r in results] == ["none_done", "always", "never"]
    verdicts = [r.verdict for r in results]
    assert verdicts == [Verdict.VIOLATED, Verdict.HOLDS, Verdict.VIOLATED]
    assert [r.property_id for r in run(system)] == ["always", "never", "all_done", "none_done"]


@pytest.mark.parametrize("stopped", ["states", "memory", "timeout"])
def test_a_budget_that_runs_out_is_never_holds(stopped: str) -> None:
    budget = {"states": Budget(max_states=4), "memory": Budget(max_memory=0), "timeout": Budget(timeout=-1)}
    system = counters(invariants=["not_all_done", "all_done"], resettabilities=["not_all_done"])
    system = replace(system, resettabilities={"resettability": system.resettabilities["not_all_done"]})
    not_all_done, all_done, resettability = run(system, budget=budget[stopped])
    assert not_all_done.verdict is resettability.verdict is Verdict.INCONCLUSIVE
    assert not_all_done.stopped == resettability.stopped == stopped
    assert all_done.verdict is Verdict.VIOLATED  # in the initial state


def test_properties_with_the_same_slice_share_a_search() -> None:
    system = counters(
        invariants=["always", "all_done", "not_all_done", "quiet"], resettabilities=["some_done"]
    )
    announced: list[tuple[str, ...]] = []
    together = run(system, announce=announced.append)
    assert announced == [("always",), ("all_done", "not_all_done"), ("quiet",), ("some_done",)]
    announced.clear()
    apart = run(system, announce=announced.append, together=False)
    assert announced == [("always",), ("all_done",), ("not_all_done",), ("quiet",), ("some_done",)]
    assert [r.verdict for r in together] == [r.verdict for r in apart]


def test_witnesses_named_after_a_property_belong_to_it() -> None:
    edges = {(0, 1): True}
    witnesses = {"a: there": {1}, "b: nowhere": set(), "anywhere": {0, 1}, "c: what": {1}}
    system = graph(edges, 2, invariants={"a": {0, 1}}, resettabilities={"b": {0, 1}}, witnesses=witnesses)
    assert witnesses_of(system, "a") == ["a: there", "anywhere", "c: what"]
    a, b = run(system)
    assert a.coverage.witnesses_reached == {"a: there": 1, "anywhere": 0, "c: what": 1}
    assert not a.vacuous
    assert b.coverage.witnesses_missed == ("b: nowhere",)
    assert b.vacuous


def test_unknown_names() -> None:
    with pytest.raises(UnknownProperty, match=r"house has no property `alnoe`: did you mean `alone`\?"):
        run(house(), "alnoe")
    with pytest.raises(UnknownProperty, match="house has no property `zzz`: it has alone, empty"):
        run(house(), "zzz")
    with pytest.raises(UnknownProperty, match="counters has no property `zzz`: it has none"):
        run(counters(), "zzz")


def test_nothing_to_check() -> None:
    with pytest.raises(ValueError, match="there is no property of counters to check"):
        run(counters(witnesses=["always"]))
    with pytest.raises(ValueError, match="there is no property of house to check"):
        check(house(), [], engine="reference")


def test_a_name_must_mean_one_property() -> None:
    system = counters(invariants=["always"], resettabilities=["always"])
    with pytest.raises(ValueError, match="counters has both an invariant and a resettability `always`"):
        run(system)


def test_bad_budgets_and_engines() -> None:
    with pytest.raises(ValueError, match="a search needs room for at least 1 state, not 0"):
        run(house(), budget=Budget(max_states=0))
    with pytest.raises(ValueError, match="there is no engine `quantum`: use `native` or `reference`"):
        check(house(), engine="quantum")  # type: ignore[arg-type]


def lying(monkeypatch: pytest.MonkeyPatch, change: Callable[[Exploration], Exploration]) -> None:
    def liar(system: TransitionSystem, budget: Budget, progress: Watcher | None) -> Exploration:
        return change(explore(system, budget, progress))

    monkeypatch.setattr("podrace.checker.explicit.reference.explore", liar)


def test_a_false_violation_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    lying(monkeypatch, lambda e: replace(e, violations={"alone": (0, 2)}))
    with pytest.raises(
        EngineDisagreement,
        match="the reference engine claims that `alone` of house is violated after 2 steps, but the reference "
        "interpreter says: the last state of the run, after 2 steps, does not violate the invariant `alone`",
    ):
        run(house(), "alone")


def test_an_impossible_run_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    lying(monkeypatch, lambda e: replace(e, violations={"alone": (2,)}))
    with pytest.raises(EngineDisagreement, match=r"step 1 of 1: `room\.enter\(worker=w0\)` is not enabled"):
        run(house(), "alone")


def test_a_false_witness_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    lying(monkeypatch, lambda e: replace(e, witnesses={"in": (0,)}))
    with pytest.raises(
        EngineDisagreement, match=r"claims that house reaches `in` after 1 steps, but .* does not reach"
    ):
        run(house(), "alone")


def test_a_false_claim_of_no_way_back_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    lying(monkeypatch, lambda e: replace(e, no_way_back={"empty": (0, 2)}))
    with pytest.raises(EngineDisagreement, match="ends where there is a way back"):
        run(house(), "empty")


def test_an_early_stop_without_an_answer_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    lying(monkeypatch, lambda e: replace(e, complete=False, stopped="answered"))
    with pytest.raises(
        EngineDisagreement, match="stopped with `answered` and no answer for `alone` of house"
    ):
        run(house(), "alone")


@settings(max_examples=examples(200))
@given(systems(invariants=3, resettabilities=2))
def test_results_agree_with_an_exploration_of_everything(system: TransitionSystem) -> None:
    if not (system.invariants or system.resettabilities):
        return
    for name, result in zip([*system.invariants, *system.resettabilities], run(system), strict=True):
        kind = "invariants" if name in system.invariants else "resettabilities"
        alone = system.with_predicates(
            **{
                k: {name: getattr(system, k)[name]} if k == kind else {}
                for k in ("invariants", "resettabilities")
            }
        )
        whole = explore(alone)
        claim = whole.violations.get(name, whole.no_way_back.get(name))
        assert result.verdict is (Verdict.HOLDS if claim is None else Verdict.VIOLATED)
        assert (result.trace is None) == (claim is None)
        if claim is not None:
            assert result.trace is not None
            assert len(result.trace.steps) == len(claim)
            if kind == "invariants":
                confirm(system, result.trace.path, name)
            else:
                confirm_no_way_back(system, result.trace.path, name)
        else:
            assert set(result.coverage.witnesses_reached) == set(whole.witnesses)
            assert result.coverage.witnesses_reached == {
                witness: len(path) for witness, path in whole.witnesses.items()
            }
