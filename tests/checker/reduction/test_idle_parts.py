"""Which parts never acted: what a complete search of a slice vouches for, and what they waited for."""

from __future__ import annotations

import pytest

from podrace.checker.core.exploration import Budget
from podrace.checker.explicit.reference import explore
from podrace.checker.reduction import idle_parts
from podrace.checker.reduction.idle_parts import Parts, never_acted, never_acted_by_steps, steps_of
from podrace.checker.reduction.slicing import Slicer
from podrace.model.language import (
    Component,
    Model,
    TransitionSystem,
    Universe,
    boolean,
    build,
    clamp,
    constraint,
    integer,
    require,
    step,
    trace_system,
)


class Doors(Component):
    """Somebody counts to 3. What waits for 5, or for a lamp that is never on, or for a door beside the count, waits in vain."""

    count = integer(0, 7)
    lamp = boolean()
    noise = boolean()
    opened = boolean()

    @step(actor="counter")
    def tick(self) -> None:
        require(self.count < 3)
        self.count = clamp(self.count + 1, 0, 7)

    @step(actor="late")
    def leap(self) -> None:
        require(self.count == 5)
        self.count = 7

    @step(actor="bound")
    def jump(self) -> None:
        require(self.count == 2)
        constraint("jumps: at most 0", self.opened)
        self.count = 6

    @step(actor="dark")
    def dark(self) -> None:
        require(self.lamp)
        self.count = 0

    @step(actor="opener")
    def open_door(self) -> None:
        require((self.count == 3) & (self.count == 2))
        self.opened = True

    @step(actor="noisy")
    def unseen(self) -> None:
        require(self.count == 5)
        self.noise = True


class House(Model):
    doors: Doors


PARTS = {
    "the clock": ["tick"],
    "leaps": ["leap", "dark"],
    "jumps": ["jump"],
    "the dark": ["dark"],
    "noise": ["unseen"],
    "ghosts": [],
}


def system() -> TransitionSystem:
    model = build(House, Universe({}))
    return trace_system(model, "house", invariants={"low": lambda: model.parts["doors"].count < 6})


def parts_of(whole: TransitionSystem) -> Parts:
    return {
        name: [i for i, t in enumerate(whole.transitions) if t.step in steps] for name, steps in PARTS.items()
    }


def found(limit: int | None = None) -> dict[str, str]:
    whole = system()
    slicer = Slicer(whole)
    sliced = slicer.slice()
    answer = explore(sliced, Budget(max_states=limit), None)
    return never_acted(
        slicer, sliced, answer, parts_of(whole), lambda asked, budget: explore(asked, budget, None), Budget()
    )


def test_each_has_the_condition_that_stayed_false() -> None:
    """Nothing is said of what the slice left out: `unseen` changes only what nobody looks at."""
    assert found() == {
        "leaps": "doors.leap() waits in vain for doors.count is 5",
        "jumps": "doors.jump() waits in vain for doors.opened (`jumps: at most 0`)",
        "the dark": "doors.dark() waits in vain for doors.lamp",
        "ghosts": idle_parts.NOTHING,
    }


def test_nothing_is_said_of_a_search_that_was_stopped() -> None:
    assert found(limit=2) == {}


def test_of_a_large_search_only_what_it_has_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle_parts, "MOST_STATES", 1)
    assert found() == {
        "leaps": "the guard of doors.leap() never held",
        "jumps": "doors.jump() is stopped by `jumps: at most 0`",
        "the dark": "doors.dark() waits in vain for doors.lamp",
        "ghosts": idle_parts.NOTHING,
    }


def test_of_many_clusters_a_part_is_idle_if_none_of_its_steps_ran_in_any() -> None:
    whole = system()
    slicer = Slicer(whole)
    idle = never_acted_by_steps(steps_of(slicer, slicer.slice(), parts_of(whole)), {"doors.tick"})
    assert list(idle) == ["leaps", "jumps", "the dark", "ghosts"]
    assert idle["leaps"] == "in no cluster ran doors.leap, doors.dark"
