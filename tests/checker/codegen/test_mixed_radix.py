"""Systems whose states become a word shorter by digits of one number: who does, and that nothing else changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podrace.checker.codegen.mixed_radix import in_fewer_words, rewritten
from podrace.checker.codegen.state_layout import Layout
from podrace.checker.core.exploration import Budget
from podrace.checker.explicit import explore, parallel_bfs, reference
from podrace.model.language import (
    BOOL,
    INT,
    Entity,
    System,
    TransitionSystem,
    Variable,
    clamp,
    integer,
    per,
    require,
    step,
    system_of,
)
from tests.checker.explicit.test_search import untimed
from tests.profiles import examples
from tests.random_systems import systems


class Dial(Entity):
    members = 4


class Dials(System):
    """Each dial is turned up to its end, and back; a dial that is ahead of the next one takes it along."""

    at = per(Dial, integer(-1, 3))
    turns = integer(2, 4)

    @step(actor="hand", each="dial")
    def up(self, dial: Dial) -> None:
        require(self.at[dial] < 3)
        self.at[dial] = clamp(self.at[dial] + 1, -1, 3)

    @step(actor="hand")
    def all_back(self) -> None:
        require((self.turns < 4) & (self.at[self.universe[Dial][0]] == 3))
        self.turns = clamp(self.turns + 1, 2, 4)
        for dial in self.universe[Dial]:
            self.at[dial] = -1


def dials(bits: int) -> TransitionSystem:
    """With states of so many bits, by a variable that never changes: five fields that have values to spare, of 14 bits."""
    system = system_of(Dials)
    assert system.bits == 14
    wide = Variable("wide", INT, 0, 2 ** (bits - 14) - 1, 2 ** (bits - 15) + 1)
    return replace(system, variables=(wide, *system.variables))


@pytest.mark.parametrize(
    ("bits", "taken"), [(61, 61), (62, 62), (63, 61), (64, 62), (65, 62), (66, 63), (67, 64), (68, 68)]
)
def test_who_becomes_shorter(bits: int, taken: int) -> None:
    system = dials(bits)
    found = in_fewer_words(system)
    assert found.bits == taken
    assert (found is system) == (bits == taken)
    assert Layout(found.variables).words == (1 if taken <= 64 else 2)


@pytest.mark.parametrize("bits", [63, 65, 67])
@pytest.mark.parametrize("jobs", [1, 2])
def test_the_search_of_a_shorter_system(bits: int, jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_bfs, "MANY", 0)
    monkeypatch.setattr(parallel_bfs, "WIDE", 1)
    found = explore(dials(bits), Budget(jobs=jobs))
    assert found.states == 4**4 + 2 * 5**4
    assert untimed(found) == untimed(reference.explore(dials(bits)))


@st.composite
def grouped(draw: Any) -> tuple[TransitionSystem, list[list[Variable]]]:
    """A random system, and disjoint groups of its variables, in any order."""
    system = draw(systems())
    numbers = draw(st.permutations([v for v in system.variables if v.sort != BOOL]))
    groups: list[list[Variable]] = []
    while numbers:
        length = draw(st.integers(1, len(numbers)))
        groups.append(numbers[:length])
        numbers = numbers[length:]
    return system, draw(st.permutations(groups))


@settings(max_examples=examples(200), suppress_health_check=list(HealthCheck), deadline=None)
@given(grouped(), st.integers(1, 2))
def test_digits_of_one_number_give_the_same(
    case: tuple[TransitionSystem, list[list[Variable]]], jobs: int
) -> None:
    system, groups = case
    with pytest.MonkeyPatch.context() as narrow:
        narrow.setattr(parallel_bfs, "MANY", 0)
        narrow.setattr(parallel_bfs, "WIDE", 1)
        found = explore(rewritten(system.with_predicates(livenesses={}), groups), Budget(jobs=jobs))
    assert untimed(found) == untimed(reference.explore(system.with_predicates(livenesses={})))


def test_a_system_of_which_a_liveness_is_asked_stays() -> None:
    system = dials(65)
    assert in_fewer_words(system.with_predicates(livenesses={"never": ()})).bits == 65
