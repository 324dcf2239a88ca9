"""The Python API and the fixture for pytest take Kubernetes objects, and say of them what `podrace check -f` says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from podrace import api
from podrace.cli import main
from tests.manifests.manifest_objects import text_of
from tests.manifests.test_representative import node, pod

OBJECTS = [node("n1"), pod("v", "4", 0, "n1"), pod("p", "4", 10), pod("r", "4", 10), pod("s", "1", 5)]
OF_OBJECTS = "recursive, strict, pods, nodes, focus and controllers are about Kubernetes objects: name some with filename"
FILE = "is no file: write the path of what `kubectl get nodes,pods -A -o yaml` printed, of a directory, or a list of such paths"


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    file = tmp_path / "dump.yaml"
    file.write_text(text_of(OBJECTS))
    return file


def test_the_findings_are_those_of_the_command(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked: dict[str, Any] = {"release": "1.13.0", "property": "S-NOMVIS", "cache": False}
    (found,) = api.check(filename=dump, **asked)
    assert found.verdict == "VIOLATED"
    code = main.run(
        [
            "check",
            "-f",
            str(dump),
            "--release",
            "1.13.0",
            "--property",
            "S-NOMVIS",
            "-o",
            "json",
            "--no-cache",
        ]
    )
    (printed,) = json.loads(capsys.readouterr().out)
    told = json.loads(msgspec.json.encode(msgspec.structs.replace(found, seconds=None)))
    assert (code, printed) == (1, told)
    assert found.about is not msgspec.UNSET
    text = api.text_of([found])
    assert text.startswith("\n".join(found.about) + "\n\ndump, 1.13.0: S-NOMVIS VIOLATED\n")
    assert found.about[0].startswith("cluster: 1 node of 1 kind, 1 bound and 3 waiting pods of 3 kinds;")


def kept(found: api.Finding) -> list[str]:
    """The names of what is kept, in the account."""
    assert found.about is not msgspec.UNSET
    first = next(i for i, line in enumerate(found.about) if line.startswith("representative: "))
    listed = [line for line in found.about[first + 1 :] if line.startswith("  ")]
    return [line.strip().partition(":")[0] for line in listed]


def test_what_is_kept_can_be_chosen(dump: Path) -> None:
    (found,) = api.check(filename=[dump], pods="2", nodes=1, focus="shop/s", property="S-CAP")
    assert kept(found) == ["n1", "shop/s", "shop/v"]
    (found,) = api.check(filename=dump, pods=3, focus="shop/s", property="S-CAP")
    assert kept(found)[:3] == ["n1", "shop/s", "shop/v"]


def test_a_race_may_be_asked_for_beside(dump: Path) -> None:
    found = api.check("72124", filename=dump, release="1.34.0", property="S-CAP")
    assert [(f.scenario, f.about is msgspec.UNSET) for f in found] == [
        ("dump", False),
        ("nominated-node-race", True),
    ]


def test_what_is_expected_of_objects(dump: Path) -> None:
    (found,) = api.expect("violated", filename=dump, release="1.13.0", property="S-NOMVIS")
    with pytest.raises(api.NotAsExpected, match="cluster: 1 node of 1 kind") as caught:
        api.expect("holds", filename=dump, release="1.13.0", property="S-NOMVIS")
    assert caught.value.findings[0].trace == found.trace


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "name a scenario: what `podrace races` lists, or a YAML file"),
        ({"pods": 4}, OF_OBJECTS),
        ({"focus": "shop/p"}, OF_OBJECTS),
        ({"strict": True}, OF_OBJECTS),
        ({"recursive": True}, OF_OBJECTS),
        ({"filename": 3}, f"filename: `3` {FILE}"),
        ({"filename": ["x", None]}, f"filename: `None` {FILE}"),
        ({"pods": 1}, "pods: `1` is no number from 2 to 16: write how many are kept at most, such as 3"),
        ({"pods": True}, "pods: `True` is no number from 2 to 16: write how many are kept at most, such as 3"),
        ({"pods": 2.0}, "pods: `2.0` is no number from 2 to 16: write how many are kept at most, such as 3"),
        ({"nodes": "17"}, "nodes: `'17'` is no number from 1 to 16: write how many are kept at most, such as 2"),
        ({"focus": 3}, 'focus: `3` is no text: write a pod that waits, such as "shop/web-1"'),
        ({"controllers": "no"}, "controllers: `'no'` is no truth value: write True or False"),
    ],
)  # fmt: skip
def test_wrong_values_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(api.UsageProblem) as caught:
        api.check(**given)
    assert str(caught.value) == words


def test_what_is_wrong_in_the_objects_is_told_with_its_place(dump: Path) -> None:
    with pytest.raises(
        api.Problem, match=r"^--focus: no pod `shop/x` waits to be scheduled; did you mean `shop/s`"
    ):
        api.check(filename=dump, focus="shop/x")
    dump.write_text("kind: Pod\n")
    with pytest.raises(api.Problem, match=r"dump\.yaml:1: `apiVersion` is missing"):
        api.check(filename=dump)
