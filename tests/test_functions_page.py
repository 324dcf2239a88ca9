"""The page of upstream's functions says what its data say, and names elements that exist."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from podrace.analysis.upstream.drifted import elements
from podrace.model.history.upstream import last_look, mirrors

MODEL = Path(__file__).parents[1] / "model"
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


def resolve(element: str) -> tuple[ModuleType, list[str]]:
    """The module that the first names of an element name, and the names that are left: a class and a method, or a function."""
    names = element.split(".")
    depth = next(
        i for i, name in enumerate(names) if (MODEL / Path(*names[: i + 1])).with_suffix(".py").is_file()
    )
    return import_module(".".join(["podrace.model", *names[: depth + 1]])), names[depth + 1 :]


@pytest.mark.parametrize("element", ELEMENTS)
def test_the_element_is_defined_in_that_file_and_class(element: str) -> None:
    module, (first, *attributes) = resolve(element)
    found = vars(module)[first]
    assert found.__module__ == module.__name__
    assert len(attributes) <= 1
    for name in attributes:
        method = vars(found)[name]
        assert method.__module__ == module.__name__
        assert method.__qualname__ == f"{first}.{name}"
    assert callable(found)


@pytest.mark.parametrize(
    ("element", "problem"),
    [
        ("scheduler.cycle.Scheduler.pop", StopIteration),
        ("scheduler.queue.without_hints.PriorityQueue", AssertionError),
        ("scheduler.queue.without_hints.QueueWithoutHints.put", KeyError),
    ],
)
def test_another_file_or_class_is_not_enough(element: str, problem: type[Exception]) -> None:
    with pytest.raises(problem):
        test_the_element_is_defined_in_that_file_and_class(element)


def test_every_function_was_looked_at() -> None:
    places = {place for mirror in mirrors() for place in mirror.places}
    looked = last_look()
    assert looked.release == "1.34.1"
    assert looked.hashes.keys() == places
    assert all(re.fullmatch(r"[0-9a-f]{16}", value) for value in looked.hashes.values())
    assert f"({looked.release})" in PAGE
