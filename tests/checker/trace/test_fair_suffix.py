"""What follows a state with no way back: a run that the fair actors can go on with for ever."""

from __future__ import annotations

import pytest

from podrace.checker.trace.execution import confirm_no_way_back, replay
from podrace.checker.trace.fair_suffix import FairSuffix, fair_suffix
from podrace.model.language import (
    Component,
    Model,
    TransitionSystem,
    Universe,
    build,
    integer,
    require,
    step,
    trace_system,
)


class Walk(Component):
    """From 0 a user may leave for 2; there the walker goes on to 3, 4, 5 and round again, and never comes back."""

    at = integer(0, 6)

    @step(actor="user", fair=False)
    def leave(self) -> None:
        require(self.at == 0)
        self.at = 2

    @step(actor="user", fair=False)
    def stop(self) -> None:
        require(self.at == 0)
        self.at = 6

    @step(actor="walker")
    def start(self) -> None:
        require(self.at == 0)
        self.at = 1

    @step(actor="walker")
    def enter(self) -> None:
        require(self.at == 2)
        self.at = 3

    @step(actor="walker")
    def forth(self) -> None:
        require(self.at == 3)
        self.at = 4

    @step(actor="walker")
    def back(self) -> None:
        require(self.at == 4)
        self.at = 3

    @step(actor="other walker")
    def rest(self) -> None:
        require((self.at == 3) | (self.at == 4))


class Walks(Model):
    walk: Walk


@pytest.fixture(scope="module")
def system() -> TransitionSystem:
    model = build(Walks, Universe({}))
    return trace_system(model, resettabilities={"home": lambda: model.parts["walk"].at == 1})


def number(system: TransitionSystem, name: str) -> int:
    return [t.step for t in system.transitions].index(name)


def test_a_fair_cycle(system: TransitionSystem) -> None:
    no_way_back = confirm_no_way_back(system, (number(system, "leave"),), "home")
    more = fair_suffix(system, no_way_back)
    assert more is not None
    assert [system.transitions[n].step for n in more.lead_in] == ["enter"]
    # `rest` is always enabled, so a cycle without it would not be fair.
    assert sorted(system.transitions[n].step for n in more.cycle) == ["back", "forth", "rest"]
    once = replay(system, (*no_way_back.path, *more.lead_in, *more.cycle))
    assert once.states[len(no_way_back.path) + len(more.lead_in)] == once.states[-1]


def test_an_end_at_which_nothing_fair_can_happen(system: TransitionSystem) -> None:
    no_way_back = confirm_no_way_back(system, (number(system, "stop"),), "home")
    assert fair_suffix(system, no_way_back) == FairSuffix((), ())


def test_no_cycle_within_the_bound(system: TransitionSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("podrace.checker.trace.fair_suffix.MAX_STEPS", 1)
    assert fair_suffix(system, confirm_no_way_back(system, (number(system, "leave"),), "home")) is None
