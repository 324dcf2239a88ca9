"""The JSON Schema of scenario files agrees with the reader."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from podrace.base.problems import Problem
from podrace.cli.commands.set_up.init import starter_text
from podrace.scenarios import parse_scenario
from podrace.scenarios.catalogue import HERE
from podrace.scenarios.scenario_schema import schema_of_scenarios
from tests.profiles import examples
from tests.scenarios.test_rich_files import RICH
from tests.scenarios.values.test_odd_values import ODD, paths

SCHEMA = schema_of_scenarios()
VALIDATOR = Draft202012Validator(SCHEMA)


class Loader(yaml.SafeLoader):
    """YAML as editors read it: a time is a text."""


Loader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}

FULL = RICH + starter_text()[starter_text().index("\nexpect:") :] + (
    "ignore: {S-UNIQ: harmless}\nname: full\ntitle: everything\nrelease: '1.34'\nproperties: [S-CAP]\nalso: [S-NOM]\n"
    "race: {issue: 1, fixes: [72259], beside: [77990], seed: false, residual: {property: S-NOM, closed_by: [90660]}}\n"
)  # fmt: skip
TREE: Any = yaml.load(FULL, Loader)


def is_read(text: str) -> bool:
    try:
        parse_scenario(text)
    except Problem:
        return False
    return True


def is_valid(text: str) -> bool:
    return bool(VALIDATOR.is_valid(yaml.load(text, Loader)))


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", sorted(HERE.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_file_of_the_catalogue_is_valid(path: Path) -> None:
    assert [e.message for e in VALIDATOR.iter_errors(yaml.load(path.read_text(), Loader))] == []


def test_files_with_everything_are_valid() -> None:
    for text in (FULL, starter_text()):
        assert is_read(text)
        assert is_valid(text)


def at(tree: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        tree = tree[key]
    return tree


FREE = ("labels", "nodeSelector", "matchLabels", "nodes", "pods", "namespaces", "podDisruptionBudgets", "resources",
        "ignore", "verdicts", "others")  # fmt: skip
"""Mappings whose keys are the user's."""


def with_value(path: tuple[Any, ...], value: Any) -> str:
    tree = copy.deepcopy(TREE)
    at(tree, path[:-1])[path[-1]] = value
    return yaml.safe_dump(tree, allow_unicode=True)


MAPPINGS = [p for p in paths(TREE) if isinstance(at(TREE, p), dict) and not (p and p[-1] in FREE)]


@settings(max_examples=examples(60))
@given(st.sampled_from(MAPPINGS), st.text("abcxyz", min_size=1, max_size=8).map(lambda text: f"x{text}"))
def test_an_unknown_field_is_refused_by_both(path: tuple[Any, ...], name: str) -> None:
    text = with_value((*path, name), "1")
    assert not is_read(text)
    assert not is_valid(text)


TYPED = [p for p in paths(TREE) if p]


@settings(max_examples=examples(80))
@given(st.sampled_from(TYPED), st.data())
def test_a_value_of_another_shape_is_refused_by_both(path: tuple[Any, ...], data: st.DataObject) -> None:
    """A list for a mapping or a word, a word for a list, and so on."""
    now = at(TREE, path)
    others = [[["x"]], {"a": {"b": []}}] + (["word, not a section"] if isinstance(now, (list, dict)) else [])
    text = with_value(path, data.draw(st.sampled_from(others)))
    assert not is_read(text)
    assert not is_valid(text)


@settings(max_examples=examples(100))
@given(
    st.sampled_from(TYPED),
    st.sampled_from([value for value in ODD if value is not None and value != {"x": None}]),
)
def test_what_the_schema_refuses_the_reader_refuses(path: tuple[Any, ...], value: Any) -> None:
    text = with_value(path, value)
    assert is_valid(text) or not is_read(text)


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    from podrace.cli import main

    assert main.run(["schema", "scenario"]) == 0
    assert json.loads(capsys.readouterr().out) == SCHEMA
