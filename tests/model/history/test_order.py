"""The order of upstream's changes follows from what they say, not from the order in which their files are imported."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.model.history import CHANGES, Change
from podrace.model.history.registry.change import in_order
from podrace.model.language.expressions.errors import ModelError
from tests.profiles import examples

ALL = tuple(CHANGES.values())

BACKWARDS = """
import pkgutil
walk = pkgutil.walk_packages
pkgutil.walk_packages = lambda *args: reversed(list(walk(*args)))
from podrace.model.history import CHANGES
for c in CHANGES.values():
    print(c.key, *(cls.__name__ for cls in c.classes))
"""


@given(st.permutations(ALL))
@settings(max_examples=examples(5))
def test_the_order_of_registration_does_not_count(registered: list[Change]) -> None:
    assert in_order(registered) == list(ALL)


def test_nor_does_that_of_the_files() -> None:
    run = subprocess.run([sys.executable, "-c", BACKWARDS], capture_output=True, text=True, check=True)
    told = [" ".join([c.key, *(cls.__name__ for cls in c.classes)]) for c in ALL]
    assert run.stdout.splitlines() == told


def test_what_comes_after_another_is_of_its_age_and_behind_it() -> None:
    pairs = [(ALL.index(CHANGES[name]), at) for at, change in enumerate(ALL) for name in change.after]
    assert len(pairs) == 10
    assert all(first < at and ALL[first].age == ALL[at].age for first, at in pairs)


@pytest.mark.parametrize(
    ("other", "key", "release", "method"),
    [
        ("73309", "requeue-ignores-condition", "1.14", "PriorityQueue.is_retried"),
        ("134400", "138324", "1.36", "FailureHandler.finish"),
    ],
)
def test_two_changes_of_one_age_that_override_one_method(
    other: str, key: str, release: str, method: str
) -> None:
    silent = [replace(c, after=()) if c.key == key else c for c in ALL]
    with pytest.raises(ModelError) as refusal:
        in_order(silent)
    assert refusal.value.message == (
        f"{other} and {key} are both new in {release} and override {method}: let the later one name the other in `after`"
    )
    file, line = refusal.value.location
    assert Path(file).name == ("queue.py" if method.startswith("Priority") else "names.py")
    assert line > 1
