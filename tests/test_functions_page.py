"""The page of upstream's functions names elements that exist."""

from __future__ import annotations

import re
from functools import reduce
from importlib import import_module
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "functions.md"
ELEMENTS = sorted(
    set(re.findall(r"`((?:scheduler|history)\.[a-z_]+\.[A-Za-z0-9_.]+)`", PAGE.read_text(encoding="utf-8")))
)


def test_the_page_names_elements() -> None:
    assert len(ELEMENTS) > 30


@pytest.mark.parametrize("element", ELEMENTS)
def test_the_element_exists(element: str) -> None:
    floor, module, *names = element.split(".")
    found = reduce(getattr, names, import_module(f"podrace.model.{floor}.{module}"))
    assert callable(found)
