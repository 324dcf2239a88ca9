"""Runs are executed, and claims about them are checked."""

from __future__ import annotations

import msgspec
import pytest

from podrace.checker.core.trace import VariableChange, plain_value
from podrace.checker.trace.execution import ReplayError, confirm, confirm_no_way_back, confirm_witness, replay
from tests.checker.machines import Careless, Place, Worker, counters, graph, house


def test_a_trace_tells_who_did_what() -> None:
    trace = replay(house(), (0, 2, 4))
    assert [s.label for s in trace.steps] == [
        "room.ask(worker=w0)",
        "room.enter(worker=w0)",
        "room.leave(worker=w0)",
    ]
    assert trace.path == (0, 2, 4)
    enter = trace.steps[1]
    assert (enter.actor, enter.part, enter.step) == ("worker", "room", "enter")
    assert [(name, value.name) for name, value in enter.args] == [("worker", "w0")]
    worker = enter.args[0][1]
    assert isinstance(worker, Worker)
    assert enter.changes == (
        VariableChange("room.at[w0]", Place.WAITING, Place.IN),
        VariableChange("room.key", None, worker),
    )
    assert len(trace.states) == 4
    assert trace.states[0] == trace.states[3]
    assert str(trace) == "1. room.ask(worker=w0)\n2. room.enter(worker=w0)\n3. room.leave(worker=w0)"


def test_an_empty_run_is_the_initial_state() -> None:
    trace = replay(house(), ())
    assert trace.steps == ()
    assert trace.states == (house().initial,)


def test_a_step_whose_guard_is_false() -> None:
    with pytest.raises(ReplayError) as caught:
        replay(house(), (0, 0))
    assert str(caught.value) == (
        "step 2 of 2: `room.ask(worker=w0)` is not enabled, its guard is false; "
        "enabled there: room.ask(worker=w1), room.enter(worker=w0)"
    )
    assert caught.value.step == 1
    assert caught.value.enabled == ("room.ask(worker=w1)", "room.enter(worker=w0)")


def test_a_step_that_a_constraint_stops() -> None:
    with pytest.raises(
        ReplayError, match=r"step 4 of 4: `room\.enter\(worker=w1\)` is stopped by the constraint `one key`"
    ):
        replay(house(), (0, 2, 1, 3))


@pytest.mark.parametrize("number", [-1, 6])
def test_a_step_that_does_not_exist(number: int) -> None:
    with pytest.raises(ReplayError, match=rf"step 1 of 1: there is no transition {number}, only 0\.\.5"):
        replay(house(), (number,))


def test_a_dead_end_says_so() -> None:
    system = graph({(0, 1): True}, 2)
    with pytest.raises(ReplayError, match=r"step 2 of 2: .* is not enabled, .*; enabled there: nothing"):
        replay(system, (0, 0))


def test_a_violation_is_confirmed() -> None:
    system = house(Careless)
    assert confirm(system, (0, 1, 2, 3), "alone").path == (0, 1, 2, 3)


def test_a_run_that_violates_nothing_is_refused() -> None:
    system = house(Careless)
    with pytest.raises(
        ReplayError,
        match="the last state of the run, after 3 steps, does not violate the invariant `alone`",
    ) as caught:
        confirm(system, (0, 1, 2), "alone")
    assert caught.value.step == 3


def test_a_run_that_goes_on_after_the_violation_is_refused() -> None:
    system = graph({(0, 1): True, (1, 2): True}, 3, invariants={"home": {0}}, witnesses={"away": {1, 2}})
    with pytest.raises(
        ReplayError, match="the run violates the invariant `home` after 1 of its 2 steps already"
    ) as caught:
        confirm(system, (0, 1), "home")
    assert caught.value.step == 1
    with pytest.raises(
        ReplayError, match="the run reaches the witness `away` after 1 of its 2 steps already"
    ):
        confirm_witness(system, (0, 1), "away")


def test_witnesses() -> None:
    assert len(confirm_witness(house(), (0, 2), "in").steps) == 2
    with pytest.raises(ReplayError, match="after 1 steps, does not reach the witness `in`"):
        confirm_witness(house(), (0,), "in")


def test_states_with_no_way_back() -> None:
    # 0 <-> 1 fair, 1 -> 2 fair, 2 <-> 3 fair, 3 -> 0 unfair.
    edges = {(0, 1): True, (1, 0): True, (1, 2): True, (2, 3): True, (3, 2): True, (3, 0): False}
    system = graph(edges, 4, resettabilities={"home": {0}})
    trace = confirm_no_way_back(system, (0, 2), "home")
    assert (trace.closure, trace.closed) == (2, True)
    bounded = confirm_no_way_back(system, (0, 2), "home", max_states=1)
    assert (bounded.closure, bounded.closed) == (1, False)
    exact = confirm_no_way_back(system, (0, 2), "home", max_states=2)
    assert (exact.closure, exact.closed) == (2, True)
    with pytest.raises(
        ReplayError,
        match=r"the run of 1 steps ends where there is a way back: `home` is reached from there by "
        r"graph\.go\(source=1, target=0\)",
    ):
        confirm_no_way_back(system, (0,), "home")
    with pytest.raises(
        ReplayError, match=r"the run of 0 steps ends where there is a way back: .* by no step at all"
    ):
        confirm_no_way_back(system, (), "home")
    detour = graph({**edges, (2, 1): True}, 4, resettabilities={"home": {0}})
    with pytest.raises(ReplayError, match=r"by graph\.go\(.*target=1\) then graph\.go\(.*target=0\)"):
        confirm_no_way_back(detour, (0, 2), "home")


@pytest.mark.parametrize(
    ("function", "kind"),
    [(confirm, "invariant"), (confirm_witness, "witness"), (confirm_no_way_back, "resettability")],
)
def test_unknown_names(function: object, kind: str) -> None:
    with pytest.raises(ValueError, match=f"counters has no {kind} `x`; it has none"):
        function(counters(), (), "x")  # type: ignore[operator]


def test_a_trace_can_be_written_to_a_file() -> None:
    plain = replay(house(), (0, 2)).to_plain()
    assert msgspec.json.decode(msgspec.json.encode(plain)) == plain
    assert plain["steps"][1] == {
        "transition": 2,
        "label": "room.enter(worker=w0)",
        "actor": "worker",
        "part": "room",
        "step": "enter",
        "args": {"worker": "w0"},
        "changes": [
            {"variable": "room.at[w0]", "before": "WAITING", "after": "IN"},
            {"variable": "room.key", "before": None, "after": "w0"},
        ],
    }
    assert plain["states"] == [[0, 0, 0], [1, 0, 0], [2, 0, 1]]
    assert "closure" not in plain
    no_way_back = confirm_no_way_back(
        graph({(0, 1): True}, 2, resettabilities={"home": {0}}), (0,), "home"
    ).to_plain()
    assert no_way_back["closure"] == {"states": 1, "complete": True}


def test_only_values_of_a_model_are_written() -> None:
    with pytest.raises(TypeError, match=r"`1\.5` is not a value of a model"):
        plain_value(1.5)
    assert [plain_value(v) for v in (True, 3, None, Place.IN)] == [True, 3, None, "IN"]
