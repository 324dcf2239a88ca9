"""Code that is replaced by better code while it runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from podrace.checker.codegen.program import Program, generate
from podrace.checker.core.exploration import Budget
from podrace.checker.explicit import engine, explore
from podrace.checker.explicit.engine import Series
from podrace.checker.llvm.machine_code import Tiers
from podrace.checker.reduction.symmetry import Symmetry
from podrace.model.language import TransitionSystem
from tests.checker.explicit.systems import ring
from tests.random_systems import systems


def test_better_code_takes_the_place_of_the_first(cache: Path) -> None:
    tiers = Tiers(generate(ring(3)).ir)
    first = tiers.expand
    tiers.wait()
    assert tiers.expand == first
    tiers.improve()
    tiers.improve()
    tiers.wait()
    assert tiers.expand != first
    assert len(list((cache / "objects").iterdir())) == 2


@given(systems())
def test_both_give_the_same_answer(system: TransitionSystem) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "LONG", 1 << 62)
        plain = explore(system, Budget(max_states=2000))
        patch.setattr(engine, "LONG", 0)
        patch.setattr(engine.Search, "_patience", lambda _: 1)
        patch.setattr(Tiers, "improve", _at_once)
        optimised = explore(system, Budget(max_states=2000))
    assert replace(plain, seconds=0.0) == replace(optimised, seconds=0.0)


_improve = Tiers.improve


def _at_once(tiers: Tiers) -> None:
    _improve(tiers)
    tiers.wait()


def test_many_short_searches_are_a_long_one(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system = ring(5)
    once = explore(system).transitions
    monkeypatch.setattr(engine, "LONG", 3 * once)
    searches = Series(system)
    first = searches.code.expand
    for _ in range(3):
        assert searches.code.expand == first
        assert searches.explore(system.initial, Budget()).transitions == once
        searches.code.wait()
    assert searches.code.expand != first


def test_searches_of_one_system_share_its_program(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def counted(system: TransitionSystem, symmetry: Symmetry | None = None) -> Program:
        made.append(system.name)
        return generate(system, symmetry)

    monkeypatch.setattr(engine, "generate", counted)
    system = ring(3)
    assert [explore(system).states, explore(system, Budget(max_states=5)).states] == [24, 5]
    assert explore(replace(system, name="another")).states == 24
    assert made == [system.name, "another"]
