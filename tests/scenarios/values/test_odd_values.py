"""Whatever stands in the place of a value: a scenario or one line, never a traceback."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.base.problems import Problem
from podrace.scenarios import parse_scenario
from tests.profiles import examples
from tests.scenarios.test_rich_files import RICH

TREE: Any = yaml.load(RICH, yaml.BaseLoader)

ODD: list[Any] = [
    None, [], {}, [None], [[1]], {"x": None}, {"a": {"b": []}}, "", "x", "-", -1, 0, 10**30, 1.5, True, "\x1b", "٣",
    "a" * 100, "2021-08-04", "2021-08-04T24:61:00Z", "Gt", "1e99", "0.0000000001",
]  # fmt: skip


def paths(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(tree, dict):
        for key in tree:
            yield from paths(tree[key], (*path, key))
    elif isinstance(tree, list):
        for i, element in enumerate(tree):
            yield from paths(element, (*path, i))


def replaced(path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    tree = copy.deepcopy(TREE)
    at = tree
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return tree


@settings(max_examples=examples(60))
@given(st.sampled_from(list(paths(TREE))), st.sampled_from(ODD))
def test_an_odd_value_is_read_or_refused_in_one_line(path: tuple[Any, ...], value: Any) -> None:
    text = yaml.safe_dump(replaced(path, value), allow_unicode=True)
    try:
        parse_scenario(text, "s.yaml")
    except Problem as error:
        message = str(error)
        assert message.startswith("s.yaml:")
        assert message.isprintable()
