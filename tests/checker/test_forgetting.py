"""Who checks many systems in one process keeps nothing of those that are done."""

from __future__ import annotations

import gc

from podrace.checker.core.exploration import Budget
from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.model.language import Component, Expr
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import find_scenarios


def alive() -> tuple[int, int]:
    """How many expressions and classes of parts there are."""
    gc.collect()
    found = gc.get_objects()
    classes = sum(isinstance(o, type) and issubclass(o, Component) for o in found)
    return sum(type(o) is Expr for o in found), classes


def check_once(release: str) -> None:
    (scenario,) = find_scenarios("53647")
    names = ["S-STUCK", "S-ERR", "L-PEND"]
    system = instrument(scenario.spec, resolve(release).classes, [PROPERTIES[name] for name in names])
    check(system, names, Budget(max_states=2_000))


def test_nothing_is_left_of_a_system_that_was_checked() -> None:
    check_once("1.8")
    before = alive()
    for release in ("1.9", "1.8"):
        check_once(release)
    assert alive() == before
