"""Liveness from a system to a verdict: engines agree, slices keep it, lassos are executed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from podrace.checker import explicit as native
from podrace.checker.core.exploration import Budget, Lasso, OutOfBudget
from podrace.checker.core.result import Result, Verdict
from podrace.checker.core.trace import LassoTrace
from podrace.checker.explicit import engine as explorer_module
from podrace.checker.explicit import reference
from podrace.checker.explicit.liveness import components, fair_runs
from podrace.checker.explicit.liveness.fair_runs import FairCycles
from podrace.checker.explicit.states.arrays import Block
from podrace.checker.explicit.states.budget import SearchBudget
from podrace.checker.reduction.slicing import transition_map
from podrace.checker.search import check
from podrace.checker.trace.execution import ReplayError
from podrace.checker.trace.lasso import complete, confirm_lasso
from podrace.model.language import (
    Case,
    Component,
    Fairness,
    Model,
    System,
    TransitionSystem,
    Universe,
    Value,
    as_expr,
    boolean,
    build,
    clamp,
    constraint,
    integer,
    liveness,
    require,
    step,
    system_of,
    trace_system,
)
from podrace.reports.verdict_words import verdict_words
from tests.checker.explicit.systems import counting
from tests.checker.results import engine_contract, timeless
from tests.checker.slices import slice_system
from tests.profiles import examples
from tests.random_systems import systems

LIVE = systems(invariants=0, witnesses=0, resettabilities=0, livenesses=2)


@settings(max_examples=examples(50))
@given(LIVE)
def test_engines_agree_on_lassos(system: TransitionSystem) -> None:
    for name, lasso in engine_contract(system).lassos.items():
        confirm_lasso(system, lasso, name)


@settings(max_examples=examples(10))
@given(LIVE)
def test_a_liveness_without_cases_holds(system: TransitionSystem) -> None:
    """As those about waiting pods are where no pod waits; the slice has nothing left to look at."""
    nothing = replace(system, livenesses={"nothing": ()})
    for explored in (nothing, slice_system(nothing, livenesses=["nothing"])):
        found = engine_contract(explored)
        assert (found.lassos, found.complete) == ({}, True)


@settings(max_examples=examples(150))
@given(LIVE)
def test_slices_keep_liveness(system: TransitionSystem) -> None:
    found = reference.explore(system)
    for name in system.livenesses:
        sliced = slice_system(system, livenesses=[name])
        again = reference.explore(sliced)
        assert again.states <= found.states
        assert (name in again.lassos) == (name in found.lassos)
        if name in again.lassos:
            lasso = complete(sliced, system, again.lassos[name], transition_map(sliced, system))
            assert isinstance(confirm_lasso(system, lasso, name), LassoTrace)


@settings(max_examples=examples(80))
@given(LIVE)
def test_verdicts_are_those_of_the_whole_system(system: TransitionSystem) -> None:
    if not system.livenesses:
        return
    lassos = reference.explore(system).lassos
    for result in check(system, engine="reference"):
        assert (result.verdict is Verdict.VIOLATED) == (result.property_id in lassos)
        assert (result.trace is None) == (result.verdict is Verdict.HOLDS)


# --- a machine whose runs can be told by hand ---------------------------------------------------------------


class Light(Component):
    """A lamp that blinks, a hand that may stop it for good, a wheel that nobody looks at."""

    on = boolean()
    stopped = boolean()
    wheel = integer(0, 2)

    @step(actor="lamp")
    def blink(self) -> None:
        require(~self.stopped)
        self.on = ~self.on

    @step(actor="wheel")
    def turn(self) -> None:
        self.wheel = clamp(self.wheel + 1, 0, 2)

    @step(actor="wheel")
    def turn_back(self) -> None:
        require(self.wheel == 2)
        self.wheel = 0


class Hand(Component):
    """Stops the lamp, if it likes to."""

    light: Light

    @step(actor="hand", fair=False)
    def stop(self) -> None:
        require(~self.light.stopped)
        self.light.stopped = True


class FairHand(Component):
    """Stops the lamp in the end."""

    light: Light

    @step(actor="hand")
    def stop(self) -> None:
        require(~self.light.stopped)
        self.light.stopped = True


class HeldBack(Component):
    """Would stop the lamp, but a bound of the scenario never lets it."""

    light: Light

    @step(actor="hand")
    def stop(self) -> None:
        require(~self.light.stopped)
        constraint("never", self.light.wheel == 3)
        self.light.stopped = True


class Lucky(Component):
    """Stops the lamp when it is on: by chance."""

    light: Light

    @step(actor="hand", random=True)
    def stop(self) -> None:
        require(self.light.on & ~self.light.stopped)
        self.light.stopped = True


class Impatient(Component):
    """The same without luck: the lamp may go out before the hand is there, again and again."""

    light: Light

    @step(actor="hand")
    def stop(self) -> None:
        require(self.light.on & ~self.light.stopped)
        self.light.stopped = True


def lamp(hand: type[Component]) -> TransitionSystem:
    """`rests`: it does not stay off for ever; `blinks`: nor does it blink for ever."""
    house = type("House", (Model,), {"__annotations__": {"light": Light, "hand": hand}})
    model: Any = build(house, Universe({}))
    light = model.parts["light"]
    return trace_system(
        model,
        "lamp",
        livenesses={
            "rests": lambda: [Case("it stays off", ~light.on)],
            "blinks": lambda: [Case("it goes on and off", ~light.stopped, (light.on, ~light.on))],
        },
    )


def verdict(hand: type[Component], name: str) -> Result:
    """What both engines say."""
    results = [check(lamp(hand), [name], engine=engine)[0] for engine in ("native", "reference")]
    first, second = (replace(timeless(r), engine="") for r in results)
    assert first == second
    return first


def story(result: Result) -> tuple[list[str], list[str]]:
    """What happens once, and what then repeats."""
    assert isinstance(result.trace, LassoTrace)
    return [s.step for s in result.trace.prefix], [s.step for s in result.trace.cycle]


def test_a_lamp_that_may_be_stopped_blinks_for_ever_or_stays_off() -> None:
    once, again = story(verdict(Hand, "blinks"))
    assert once == []
    assert sorted(set(again)) == ["blink", "turn", "turn_back"], (
        "the wheel turns too, although the slice lacks it"
    )
    result = verdict(Hand, "rests")
    once, again = story(result)
    assert "stop" in once
    assert set(again) == {"turn", "turn_back"}
    assert verdict_words(result).startswith("Violated: it stays off. After ")
    assert result.trace is not None
    plain = result.trace.to_plain()["lasso"]
    assert plain["fairness"]["lamp"] == {"strong": False, "answer": "never waits"}
    assert plain["fairness"]["wheel"] == {"strong": False, "answer": "acts"}


def test_a_fair_hand_stops_the_lamp() -> None:
    assert verdict(FairHand, "blinks").verdict is Verdict.HOLDS
    assert verdict(FairHand, "rests").verdict is Verdict.VIOLATED


def test_a_bound_that_holds_a_goroutine_back_for_ever_makes_no_violation() -> None:
    result = verdict(HeldBack, "blinks")
    assert result.verdict is Verdict.HOLDS
    assert result.coverage.constraints_hit == ("never",)


def test_luck_comes_in_the_end_but_patience_is_needed_without() -> None:
    assert verdict(Lucky, "blinks").verdict is Verdict.HOLDS
    assert verdict(Impatient, "blinks").verdict is Verdict.VIOLATED


def test_a_large_search_ends_when_it_has_found_a_lasso(monkeypatch: pytest.MonkeyPatch) -> None:
    from podrace.checker.explicit import engine

    monkeypatch.setattr(engine, "FIRST_LASSOS", 3)
    found = native.explore(lamp(Hand).with_predicates(invariants={}))
    assert found.stopped == "answered"
    assert set(found.lassos) == {"rests", "blinks"}
    for name, lasso in found.lassos.items():
        confirm_lasso(lamp(Hand), lasso, name)


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_without_all_states_nothing_is_known(engine: Any) -> None:
    (result,) = check(lamp(FairHand), ["blinks"], Budget(max_states=2), engine=engine)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert verdict_words(result).endswith("liveness can be decided only when every state was visited.")


# --- claims that are refused ---------------------------------------------------------------------------------


def claim(hand: type[Component], prefix: str, cycle: str, liveness: str = "blinks") -> Lasso:
    """A lasso in words."""
    system = lamp(hand)
    number = {t.step: i for i, t in enumerate(system.transitions)}
    case = system.livenesses[liveness][0].name
    return Lasso(tuple(number[s] for s in prefix.split()), tuple(number[s] for s in cycle.split()), case)


@pytest.mark.parametrize(
    ("hand", "prefix", "cycle", "liveness", "message"),
    [
        (Hand, "", "blink", "blinks", "the 1 steps after step 0 do not lead back"),
        (
            Hand,
            "stop",
            "turn turn turn_back",
            "blinks",
            "`blinks` is not starved of `it goes on and off` after step 1",
        ),
        (
            Hand,
            "",
            "turn turn turn_back",
            "blinks",
            "condition 1 of `it goes on and off` never holds on the cycle",
        ),
        (Hand, "", "blink blink", "blinks", "the cycle is not fair to `wheel`"),
        (FairHand, "", "blink turn turn turn_back blink", "blinks", "the cycle is not fair to `hand`"),
        (
            Lucky,
            "",
            "blink turn turn turn_back blink",
            "blinks",
            r"the cycle is not fair to `hand\.stop\(\)`",
        ),
        (Hand, "", "", "rests", "the cycle is not fair to `lamp`"),
        (Hand, "stop stop", "", "rests", r"step 2 of 2: `hand.stop\(\)` is not enabled"),
    ],
)
def test_what_is_no_lasso_is_refused(
    hand: type[Component], prefix: str, cycle: str, liveness: str, message: str
) -> None:
    with pytest.raises(ReplayError, match=message):
        confirm_lasso(lamp(hand), claim(hand, prefix, cycle, liveness), liveness)


def test_fairness_comes_from_the_steps() -> None:
    assert list(lamp(Lucky).fair_sets) == [
        Fairness("lamp"),
        Fairness("wheel"),
        Fairness("hand"),
        Fairness("hand.stop()", True),
    ]
    assert Fairness("hand") not in lamp(Hand).fair_sets


def test_names_are_unique_over_all_kinds() -> None:
    system = lamp(Hand)
    predicate = system.livenesses["rests"][0].persistent
    with pytest.raises(ValueError, match="has both an invariant and a liveness `rests`"):
        check(system.with_predicates(invariants={"rests": predicate}))


def test_fair_cycles_are_looked_for_again_only_when_the_search_has_grown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After 3 transitions, 12, 48 and 192, and at the end: not whenever the search looks up."""
    looked: list[int] = []
    find = explorer_module.Search._find_lassos

    def noted(search: Any, store: Any) -> None:
        looked.append(search.state.transitions)
        find(search, store)

    monkeypatch.setattr(explorer_module, "FIRST_LASSOS", 3)
    monkeypatch.setattr(explorer_module.Search, "_find_lassos", noted)
    system = replace(counting(300), livenesses={"ends": (Case("case", as_expr(False), ()),)})
    found = native.explore(system, Budget(jobs=1))
    assert (found.transitions, found.lassos) == (301, {})
    assert looked == [3, 12, 48, 192, 301]


def test_a_fair_cycle_for_which_there_is_no_memory_is_inconclusive(monkeypatch: pytest.MonkeyPatch) -> None:
    grow, refused = Block.grow, []

    def no_room(block: Block, length: int) -> None:
        if block.dtype == np.uint64:  # those of the states come first
            grow(block, length)
            return
        refused.append(length)
        raise MemoryError

    monkeypatch.setattr(Block, "grow", no_room)
    cycles = object.__new__(FairCycles)
    cycles.budget, cycles.memory = SearchBudget(Budget(), None), 0
    with pytest.raises(OutOfBudget) as problem:
        cycles._grow((Block(np.uint64, 1), 2), (Block(np.uint32, 1), 2))
    assert (problem.value.reason, refused) == ("memory", [2])

    def none(dtype: Any, length: int) -> Block:
        raise MemoryError

    monkeypatch.setattr(fair_runs, "Block", none)
    with pytest.raises(OutOfBudget) as problem:
        cycles._block(np.uint64, 3)
    assert problem.value.reason == "memory"


def test_states_are_observed_by_the_thousand_and_their_table_grows_by_halves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However many words an observation has; and only when there is no room for the next slice."""
    asked, grown = [], []
    observer, grow = components.Observer, Block.grow

    def observing(*given: Any) -> Any:
        asked.append((given[1], len(given[2])))
        return observer(*given)

    def growing(block: Block, length: int) -> None:
        if block.dtype == np.uint64:
            grown.append(length // 3)
        grow(block, length)

    cases = tuple(Case(f"case{i}", as_expr(True), ()) for i in range(70))
    system = replace(counting(49), livenesses={"ends": cases})
    right = native.explore(system, Budget(jobs=1))
    monkeypatch.setattr(fair_runs, "_SLICE", 5)
    monkeypatch.setattr(components, "Observer", observing)
    monkeypatch.setattr(Block, "grow", growing)
    found = native.explore(system, Budget(jobs=1))
    assert set(found.lassos) == set(right.lassos)
    ((width, room),) = asked
    assert (width, room) == (3, 3 * 1024)
    assert grown == [5, 10, 15, 22, 33, 49, 73]


class Round(System):
    """What runs round a long ring, and never ends."""

    at = integer(0, 5999)

    @step(actor="a")
    def go_on(self) -> None:
        self.at = (self.at + 1) % 6000

    @liveness
    def runs(self) -> Value:
        return self.at >= 0


def test_a_lasso_that_the_slice_shows_nothing_of_closes_after_a_long_way() -> None:
    """The slice has no steps: the whole cycle is put in."""
    (result,) = check(system_of(Round), ["runs"])
    assert result.verdict is Verdict.VIOLATED
    assert isinstance(result.trace, LassoTrace)
    assert (result.trace.turn, len(result.trace.steps)) == (0, 6000)
