"""Texts as other programs write them: JSON that YAML does not know, and a lone `=`."""

from __future__ import annotations

import json
from pathlib import Path as File

import pytest

from podrace.manifests import read_manifests
from podrace.manifests.reading.manifest_files import documents
from tests.manifests.manifest_objects import OBJECTS, text_of

ODD = 'caf\u00e9 \U0001f600\U0010ffff \u2028 \x7f \x85 \\ud83d\\ude00 / " \t'


def read(text: str) -> dict[str, str]:
    """The fields of the document, and a check that it begins where it should."""
    (document,) = documents(text, "m")
    return {key.node.value: value.node.value for key, value in document.items("")}


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("indent", [None, 1, "\t"])
def test_what_json_may_have_in_its_texts(ascii_only: bool, indent: str | int | None) -> None:
    """Python and jq escape all that is not ASCII; kubectl does not, nor what controls a terminal."""
    given = {"a": ODD, "b": "\ufffe\uffff"}
    assert read(json.dumps(given, ensure_ascii=ascii_only, indent=indent)) == given


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (r"\ud83d", "\ufffd"),
        (r"\ude00x", "\ufffdx"),
        (r"\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
        (r"\\ud83d\\ude00", r"\ud83d\ude00"),
        (r"\u003ca\/b\u003e", "<a/b>"),
    ],
)
def test_surrogates_are_read_as_by_go(written: str, text: str) -> None:
    assert read(f'{{"a": "{written}"}}') == {"a": text}


def test_yaml_is_left_as_it_is() -> None:
    assert read(r"a: \ud83d\ude00") == {"a": r"\ud83d\ude00"}


def test_yaml_after_json_is_left_as_it_is() -> None:
    text = '{"a": "\\ud83d\\ude00"}\n---\na: \'\\ud83d\\ude00\'\n---\n{"a": "\\ud83d\\ude00"}\n'
    found = [value.node.value for document in documents(text, "m") for _, value in document.items("")]
    assert found == ["\U0001f600", r"\ud83d\ude00", "\U0001f600"]


def test_lines_are_those_of_the_text() -> None:
    text = json.dumps({"a": ODD, "b": {}, "c": {}}, indent=1, ensure_ascii=False)
    (document,) = documents(text, "m")
    assert [value.line for _, value in document.items("")] == [2, 3, 4]


def test_a_lone_equals_sign_is_a_text(tmp_path: File) -> None:
    """As kubectl prints it in the arguments of a container, and Prometheus' operator in the schemas of its CRDs."""
    assert read("a: =") == {"a": "="}
    crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec:\n  enum:\n  - '!='\n  - =\n"
    file = tmp_path / "m.yaml"
    file.write_text(f"{crd}---\n{text_of(list(OBJECTS.values()))}")
    assert [node.name for node in read_manifests([str(file)]).nodes] == ["n1"]
