"""The page of upstream's functions says what its data say, and names elements that exist."""

from __future__ import annotations

import re
from functools import reduce
from importlib import import_module
from pathlib import Path

import pytest

from podrace.analysis.upstream.drifted import elements
from podrace.model.history.upstream import last_look, mirrors

PAGE = (Path(__file__).parents[1] / "docs" / "functions.md").read_text(encoding="utf-8")
ELEMENTS = sorted({element for mirror in mirrors() for element in elements(mirror)})


def test_the_page_shows_the_data() -> None:
    rows = [
        tuple(line.strip("| ").split(" | "))
        for line in PAGE.splitlines()
        if line.startswith("| `") or " | `" in line
    ]
    assert rows == [(mirror.upstream, mirror.model, mirror.releases) for mirror in mirrors()]


def test_there_are_elements() -> None:
    assert len(ELEMENTS) > 60


@pytest.mark.parametrize("element", ELEMENTS)
def test_the_element_exists(element: str) -> None:
    floor, module, *names = element.split(".")
    found = reduce(getattr, names, import_module(f"podrace.model.{floor}.{module}"))
    assert callable(found)


def test_every_function_was_looked_at() -> None:
    places = {place for mirror in mirrors() for place in mirror.places}
    looked = last_look()
    assert looked.release == "1.34.1"
    assert looked.hashes.keys() == places
    assert all(re.fullmatch(r"[0-9a-f]{16}", value) for value in looked.hashes.values())
    assert f"({looked.release})" in PAGE
