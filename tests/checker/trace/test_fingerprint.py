"""Fingerprints tell systems apart, and only systems."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings

from podrace.checker.trace.fingerprint import _as_json, fingerprint
from podrace.model.language import TransitionSystem, negate
from podrace.model.language.expressions.expr import fresh_graph
from tests.checker.machines import house
from tests.profiles import examples
from tests.random_systems import systems

HOUSE = house()


def test_the_same_model_has_the_same_fingerprint() -> None:
    assert fingerprint(house()) == fingerprint(HOUSE)
    assert len(fingerprint(HOUSE)) == 64


def test_another_process_finds_the_same() -> None:
    code = (
        "from podrace.checker.trace.fingerprint import fingerprint\n"
        "from tests.checker.machines import house\n"
        "print(fingerprint(house()))\n"
    )
    env = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": os.getcwd()}
    ran = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == fingerprint(HOUSE)


def test_what_only_people_read_does_not_count() -> None:
    told = [replace(t, doc="Other words.", location=("elsewhere.py", 1)) for t in HOUSE.transitions]
    assert fingerprint(replace(HOUSE, transitions=tuple(told))) == fingerprint(HOUSE)


def _changed_step(system: TransitionSystem, **change: object) -> TransitionSystem:
    first, *rest = system.transitions
    return replace(system, transitions=(replace(first, **change), *rest))  # type: ignore[arg-type]


def _negated(system: TransitionSystem) -> TransitionSystem:
    with fresh_graph():
        return _changed_step(system, guard=negate(system.transitions[0].guard))


@pytest.mark.parametrize(
    "change",
    [
        lambda s: replace(s, name="other"),
        lambda s: replace(s, transitions=s.transitions[1:]),
        lambda s: replace(s, transitions=s.transitions[::-1]),
        lambda s: _changed_step(s, actor="nobody"),
        lambda s: _changed_step(s, fair=not s.transitions[0].fair),
        lambda s: _changed_step(s, args=()),
        lambda s: _changed_step(s, updates={}),
        lambda s: replace(s, variables=s.variables[::-1]),
        lambda s: replace(s, invariants={}),
        lambda s: replace(s, witnesses={"more": s.transitions[0].guard}),
        lambda s: replace(s, resettabilities={"more": s.transitions[0].guard}),
        _negated,
    ],
)
def test_every_difference_counts(change: Callable[[TransitionSystem], TransitionSystem]) -> None:
    assert fingerprint(change(HOUSE)) != fingerprint(HOUSE)


@settings(max_examples=examples(40), deadline=None)
@given(systems(), systems())
def test_different_systems_differ(one: TransitionSystem, other: TransitionSystem) -> None:
    assert fingerprint(one) == fingerprint(one)
    if len(one.transitions) != len(other.transitions) or one.initial != other.initial:
        assert fingerprint(one) != fingerprint(other)


@pytest.mark.parametrize(
    "name", ["plain", 'a "quoted\\" name', "tab\t", "naïve", "\x7f", "\N{GRINNING FACE}"]
)
def test_what_is_hashed_is_what_the_standard_library_writes(name: str) -> None:
    """So names in any letters have the fingerprints that they always had."""
    written = {"name": name, "nodes": [["const", (1, 2), None], ["eq", [], True], ["sub", [-3], name]]}
    assert _as_json(written) == json.dumps(written, separators=(",", ":")).encode()
