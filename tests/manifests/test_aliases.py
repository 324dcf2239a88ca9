"""Anchors, aliases and merge keys, as people write them, and as programs write what is there twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from podrace.base.problems import Problem
from podrace.manifests import read_manifests
from podrace.manifests.reading.manifest_files import MAX_DEPTH, MOST_ALIASED, documents
from tests.manifests.test_representative import node, pod


def plain(found: yaml.Node) -> Any:
    if isinstance(found, yaml.MappingNode):
        return {key.value: plain(value) for key, value in found.value}
    return [plain(v) for v in found.value] if isinstance(found, yaml.SequenceNode) else found.value


def read(text: str) -> list[Any]:
    return [plain(document.node) for document in documents(text, "m.yaml")]


def test_an_alias_stands_for_what_was_written_before() -> None:
    assert read("a: &x [&s v, *s]\nb: *x\n") == [{"a": ["v", "v"], "b": ["v", "v"]}]


def test_a_merge_key_brings_in_what_is_not_given() -> None:
    """Of several mappings the first counts, as in Go's yaml and PyYAML."""
    text = "a: &a {x: 1, y: 2}\nb: {y: 3, <<: *a}\nc: {<<: [*a, {x: 4, z: 5}], w: 6}\n"
    assert read(text) == [
        {"a": {"x": "1", "y": "2"}, "b": {"y": "3", "x": "1"}, "c": {"w": "6", "x": "1", "y": "2", "z": "5"}}
    ]
    assert read(text) == [
        {k: {n: str(v) for n, v in inner.items()} for k, inner in yaml.safe_load(text).items()}
    ]


def test_what_a_program_writes_is_read(tmp_path: Path) -> None:
    """PyYAML writes an alias where one mapping is there twice."""
    one, two = node("n1"), node("n2")
    two["status"] = one["status"]
    file = tmp_path / "m.yaml"
    file.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": [one, two, pod("p", "1")]}))
    assert "*id001" in file.read_text()
    found = read_manifests([str(file)])
    assert found.nodes[0].allocatable == found.nodes[1].allocatable
    assert [p.name for p in found.pending] == ["shop/p"]


CHAIN = "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, MAX_DEPTH + 1))
WIDE = "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 100)}]\n" for i in range(1, 5))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("&a [*a]", r"m.yaml:1: the alias \*a stands for nothing that is written before it"),
        ("a: *b", r"m.yaml:1: the alias \*b stands for nothing"),
        ("a: &a 1\n---\nb: *a", r"m.yaml:3: the alias \*a stands for nothing"),
        ("a: 1\n<<: [1]", "m.yaml:2: `<<` brings in a mapping, or a list of mappings"),
        ("a0: &a0 []\n" + CHAIN, f"nested more than {MAX_DEPTH} levels deep"),
        ("a0: &a0 [x]\n" + WIDE, f"m.yaml:4: the aliases stand for more than {MOST_ALIASED} values"),
    ],
)
def test_what_is_refused(text: str, problem: str) -> None:
    with pytest.raises(Problem, match=problem):
        read(text)
