"""Texts that are cut off, objects of JSON one after the other in whatever lines, and mistakes whose remedy is small."""

from __future__ import annotations

import json
from pathlib import Path as File

import pytest

from podrace.base.problems import Problem
from podrace.manifests import read_manifests
from podrace.manifests.reading.manifest_files import documents
from tests.manifests.manifest_objects import OBJECTS, at

ONE, TWO = {"a": "}{", "b": {}}, {"c": '"}{"'}


def lines_of(text: str) -> list[int]:
    """The lines on which the documents of a text begin."""
    return [document.line for document in documents(text, "m")]


@pytest.mark.parametrize("between", ["", " ", "\t", "\n", "\n\n", " \r\n"])
@pytest.mark.parametrize("indent", [None, 2])
def test_objects_of_json_one_after_the_other(between: str, indent: int | None) -> None:
    one, two = json.dumps(ONE, indent=indent), json.dumps(TWO, indent=indent)
    text = between.join([one, two, one, two])
    starts = [0, *(len(between.join([one, two, one][:n])) + len(between) for n in (1, 2, 3))]
    assert lines_of(text) == [1 + text[:start].count("\n") for start in starts]


def test_lines_of_what_is_in_a_later_object() -> None:
    text = json.dumps(ONE, indent=2) + json.dumps(TWO, indent=2)
    first, second = documents(text, "m")
    assert [value.line for _, value in first.items("")] == [2, 3]
    assert [value.line for _, value in second.items("")] == [5]


def test_a_mistake_in_a_later_object_has_its_line() -> None:
    text = json.dumps(ONE, indent=2) + '{\n  "a": [,\n}'
    with pytest.raises(Problem, match=r"^m:5: not a JSON that podrace reads: "):
        lines_of(text)
    twice = json.dumps(ONE, indent=2) + '{\n  "a": 1,\n  "a": 2\n}'
    with pytest.raises(Problem) as caught:
        lines_of(twice)
    assert str(caught.value) == "m:6: `a` was already given in line 5: remove or rename one of them"


def test_braces_in_texts_are_no_objects() -> None:
    assert lines_of("{a: '}{'}") == [1]
    assert lines_of('{"a": "}{"}') == [1]
    assert lines_of("a: '}{'") == [1]


def test_a_list_that_is_cut_off(tmp_path: File) -> None:
    file = tmp_path / "m.yaml"
    file.write_text("apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    na")
    with pytest.raises(Problem) as caught:
        read_manifests([str(file)])
    assert str(caught.value) == (
        f"{file}:1: `kind` is missing, and there are `items`: the text may be cut off, as kubectl writes `kind` after them; dump or copy it again, "
        "or add `kind: List`"
    )


@pytest.mark.parametrize("text", ['{"a": [1, ', '{"a": {"b"', '{"a": "tex'])
def test_json_that_is_cut_off(text: str) -> None:
    with pytest.raises(Problem, match=r"; the text ends there: if it is cut off, dump or copy it again$"):
        lines_of(text)


def test_a_mistake_before_the_end_is_not_one_of_the_end() -> None:
    with pytest.raises(Problem) as caught:
        lines_of("a:\n  b: 1\n\tc: 2\n")
    assert "cut off" not in str(caught.value)


def test_a_number_in_quotes(tmp_path: File) -> None:
    file = tmp_path / "m.yaml"
    file.write_text(at(("victim", "spec", "priority"), "10"))
    with pytest.raises(Problem) as caught:
        read_manifests([str(file)])
    assert str(caught.value).endswith(
        ' spec.priority: expected a whole number from -2147483648 to 2000001000, not the text "10": remove the quotes'
    )


def test_a_way_to_be_unsatisfiable_that_there_is_not(tmp_path: File) -> None:
    assert "topologySpreadConstraints" in OBJECTS["preemptor"]["spec"]
    file = tmp_path / "m.yaml"
    file.write_text(at(("preemptor", "spec", "topologySpreadConstraints", 0, "whenUnsatisfiable"), "Maybe"))
    with pytest.raises(Problem) as caught:
        read_manifests([str(file)])
    assert str(caught.value).endswith(
        "whenUnsatisfiable: there is no such value of whenUnsatisfiable: `Maybe`; known: DoNotSchedule, ScheduleAnyway"
    )
