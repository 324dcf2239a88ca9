"""`simulate`: verdicts, counterexamples and coverage of random walks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.core.exploration import Path
from podrace.checker.core.result import (
    Counts,
    Coverage,
    EngineDisagreement,
    Result,
    Seen,
    Verdict,
    WalkCounts,
)
from podrace.checker.explicit.walks.simulation import Walkers
from podrace.checker.reduction.questions import UnknownProperty
from podrace.checker.search import check
from podrace.checker.simulate import Walks, simulate
from podrace.checker.trace.execution import confirm
from podrace.model.history import resolve
from podrace.model.language import TransitionSystem
from podrace.properties import PROPERTIES, instrument
from podrace.reports.verdict_words import verdict_words
from podrace.scenarios import find_scenarios
from tests.checker.machines import Careless, counters, graph, house
from tests.checker.results import timeless, walked
from tests.profiles import examples
from tests.random_systems import systems


def race(fixes: tuple[str, ...] = ()) -> TransitionSystem:
    (scenario,) = find_scenarios("72124")
    return instrument(scenario.spec, resolve("1.13", fixes).classes, [PROPERTIES["S-NOMVIS"]])


@settings(max_examples=examples(100))
@given(systems(invariants=2, resettabilities=0), st.integers(0, 99))
def test_what_walks_find_is_there(system: TransitionSystem, seed: int) -> None:
    for name in system.invariants:
        found = simulate(system, name, Walks(40, steps=20, seed=seed))
        (exhaustive,) = check(system, [name], engine="reference")
        assert found.verdict is not Verdict.HOLDS
        assert set(found.coverage.fired) <= set(exhaustive.coverage.fired) or exhaustive.stopped
        assert (found.trace is None) == (found.verdict is Verdict.INCONCLUSIVE)
        if found.trace is not None:
            assert exhaustive.verdict is Verdict.VIOLATED
            assert exhaustive.trace is not None
            assert len(exhaustive.trace.steps) <= len(found.trace.steps) <= walked(found).met_after
            assert confirm(system, found.trace.path, name) == found.trace


@settings(max_examples=examples(30))
@given(systems(invariants=1, resettabilities=0), st.integers(0, 99))
def test_the_same_seed_gives_the_same(system: TransitionSystem, seed: int) -> None:
    for name in system.invariants:
        found = [timeless(simulate(system, name, Walks(90, 15, seed, jobs=jobs))) for jobs in (1, 1, 2)]
        assert found[0] == found[1] == found[2]


def test_exact_coverage_of_a_tiny_system() -> None:
    """Two workers count to 2 each, so every walk has 4 steps; nobody looks at `noise`."""
    system = counters(invariants=["always"], witnesses=["all_done", "never", "none_done", "first_done"])
    found = simulate(system, "always", Walks(50, steps=100))
    three = tuple(range(3))
    assert timeless(found) == Result(
        system="counters",
        property_id="always",
        kind="invariant",
        verdict=Verdict.INCONCLUSIVE,
        counts=Counts(walks=WalkCounts(walks=50, steps=200, resting=50, longest=4)),
        coverage=Coverage(
            fired={"counting.increase": 200},
            never_fired=("counting.haunt",),
            witnesses_reached={"all_done": 4, "none_done": 0, "first_done": 2},
            witnesses_missed=("never",),
            values=(
                Seen("counting.n[w0]", counted=True, values=three, missing=()),
                Seen("counting.n[w1]", counted=True, values=three, missing=()),
            ),
        ),
        stopped="walks",
        engine="random walks",
    )
    assert verdict_words(found) == (
        "No violation in 50 random walks: 200 steps, 4 on the longest walk; 50 came to rest. "
        "Nothing is known about other runs."
    )


def test_walks_that_are_too_short_for_a_witness() -> None:
    found = simulate(counters(invariants=["always"], witnesses=["all_done"]), "always", Walks(9, steps=3))
    assert (walked(found).steps, walked(found).resting, found.coverage.witnesses_missed) == (
        27,
        0,
        ("all_done",),
    )


def test_constraints_and_values() -> None:
    found = simulate(house(), "alone", Walks(100, steps=50))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.coverage.constraints_hit == ("one key",)
    assert found.coverage.witnesses_reached == {"in": 2}
    assert {v.variable: len(v.values) for v in found.coverage.values} == {
        "room.at[w0]": 3,
        "room.at[w1]": 3,
        "room.key": 3,
    }


def test_a_value_that_is_never_taken() -> None:
    system = graph({(0, 1): True, (1, 0): True, (2, 3): True}, 4, invariants={"all": {0, 1, 2}})
    found = simulate(system, "all", Walks(3, steps=5))
    assert [(v.values, v.missing) for v in found.coverage.values] == [((0, 1), ())]
    assert (found.coverage.fired, found.coverage.never_fired) == ({"graph.go": 15}, ())


def test_a_violation_is_made_shorter() -> None:
    found = simulate(house(Careless), "alone", Walks(1000, steps=50))
    assert found.trace is not None
    assert len(found.trace.steps) == 4
    assert walked(found).met_after == 13
    assert verdict_words(found) == (
        "Violated after 4 steps, perhaps sooner by another run (met by walk 0 after 13 steps, "
        "less the steps that make no difference)."
    )


def test_a_violation_in_the_initial_state() -> None:
    found = simulate(counters(invariants=["never"]), "never")
    assert found.trace is not None
    assert (found.verdict, found.trace.steps, verdict_words(found)) == (
        Verdict.VIOLATED, (), "Violated in the initial state.",
    )  # fmt: skip


def test_nothing_happens_and_still_nothing_holds() -> None:
    found = simulate(graph({}, 2, invariants={"zero": {0}}), "zero", Walks(5))
    assert (found.verdict, walked(found).walks, walked(found).steps, walked(found).resting) == (
        Verdict.INCONCLUSIVE,
        5,
        0,
        5,
    )


def test_no_time() -> None:
    found = simulate(counters(invariants=["always"]), "always", Walks(None, timeout=1e-9))
    assert (found.verdict, walked(found).walks, found.stopped) == (Verdict.INCONCLUSIVE, 0, "timeout")
    assert verdict_words(found).startswith("Stopped by the time limit: no violation in 0 random walks")


def test_the_seed_race() -> None:
    found = simulate(race(), "S-NOMVIS")
    assert found.trace is not None
    assert (walked(found).violating, walked(found).met_after, len(found.trace.steps)) == (62, 20, 15)
    fixed = simulate(race(("72259",)), "S-NOMVIS", Walks(2000))
    assert (fixed.verdict, walked(fixed).walks, walked(fixed).steps) == (
        Verdict.INCONCLUSIVE,
        2000,
        2_000_000,
    )


def test_a_false_claim_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def shortened(self: Walkers, path: Path) -> Path:
        return path[:-1]

    monkeypatch.setattr(Walkers, "shortened", shortened)
    with pytest.raises(EngineDisagreement, match="a random walk claims to show `alone` of house"):
        simulate(house(Careless), "alone", Walks(1000, steps=50))


def test_what_cannot_be_walked_for() -> None:
    with pytest.raises(ValueError, match="`empty` of house is no invariant"):
        simulate(house(), "empty")
    with pytest.raises(UnknownProperty, match="did you mean `alone`"):
        simulate(house(), "alon")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"count": None}, "need a time"),
        ({"count": 0}, "at least 1 walk"),
        ({"steps": 0}, "1 to 10,000,000 steps"),
        ({"steps": 10_000_001}, "1 to 10,000,000 steps"),
        ({"seed": -1}, "from 0 to"),
        ({"seed": 1 << 64}, "from 0 to"),
    ],
)
def test_wrong_walks(wrong: dict[str, int | None], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Walks(**wrong)  # type: ignore[arg-type]
