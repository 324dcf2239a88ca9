"""The names that patches and properties of users are written with."""

from __future__ import annotations

from importlib import import_module

import pytest

from podrace import patching
from podrace.analysis.request.patch_checks import PARTS
from podrace.base.problems import UsageProblem
from podrace.model.history import CHANGES
from podrace.patching import before, call_of, part_of


def test_every_name_is_there_once() -> None:
    names = [name for names in patching.HOMES.values() for name in names.split()]
    assert len(names) == len(set(names))
    for name in names:
        home = import_module(f"podrace.{patching.HOME_OF[name]}")
        assert getattr(patching, name) is getattr(home, name)
        assert patching.HOME_OF[name].partition(".")[0] in ("model", "properties")


def test_every_part_is_among_them() -> None:
    assert {name: getattr(patching, name) for name in PARTS} == PARTS


def test_a_name_that_is_not_among_them() -> None:
    with pytest.raises(ImportError, match="cannot import name 'Nowhere'"):
        from podrace.patching import Nowhere  # noqa: F401


def test_every_change_is_found_and_said_as_it_is_found() -> None:
    """Of each part that it changes: all that it changes there."""
    for change in CHANGES.values():
        for cls in change.classes:
            found = eval(call_of(cls), {"before": before})
            assert found.__mro__.count(cls) == 1
            assert part_of(found) is part_of(cls)


def test_a_part_that_the_change_leaves_alone() -> None:
    with pytest.raises(UsageProblem) as raised:
        before("134157", "Nominator")
    assert str(raised.value) == (
        "before: 134157 does not change `Nominator`; known: Cache, PodWatch, EventHandlers"
    )
