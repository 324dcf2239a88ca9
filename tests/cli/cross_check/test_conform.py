"""`podrace conform`: lines, counts and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.helpers import Shell

GOOD = {"id": "good", "expected_candidate_nodes": ["n"], "nodes": [{"name": "n"}], "statuses": {}}
BAD = {**GOOD, "id": "bad", "expected_candidate_nodes": []}
LATE = {**GOOD, "id": "late", "applies_to": {"min": "1.30", "max": None}}


def file_of(folder: Path, *cases: dict[str, Any], name: str = "cases.json") -> str:
    path = folder / name
    path.write_text(json.dumps({"table": "t", "cases": cases}))
    return str(path)


def test_each_case_is_a_line(shell: Shell, tmp_path: Path) -> None:
    ran = shell("conform", file_of(tmp_path, GOOD, LATE))
    assert ran.out.splitlines() == [
        "PASS  good",
        "SKIP  late: does not apply to 1.22: from 1.30",
        "1 passed, 0 failed, 1 skipped",
    ]
    assert (ran.code, ran.err) == (0, "")


def test_a_failure_is_exit_code_one(shell: Shell, tmp_path: Path) -> None:
    one, two = file_of(tmp_path, BAD), file_of(tmp_path, GOOD, name="more.json")
    ran = shell("conform", one, two)
    assert ran.code == 1
    assert ran.out.splitlines() == [
        "FAIL  bad: nodes to try: expected {}, the model gives {n}",
        "PASS  good",
        "1 passed, 1 failed, 0 skipped",
    ]


def test_another_release(shell: Shell, tmp_path: Path) -> None:
    old = {**GOOD, "applies_to": {"min": None, "max": "1.19"}}
    assert "SKIP  good: does not apply to 1.22: up to 1.19" in shell("conform", file_of(tmp_path, old)).out
    assert "PASS  good" in shell("conform", file_of(tmp_path, old), "--release", "v1.19.0").out


@pytest.mark.parametrize("arguments", [["{}/none.json"], ["{}/good.json", "{}/none.json"]])
def test_unreadable_input_is_one_line_and_exit_code_two(
    shell: Shell, tmp_path: Path, arguments: list[str]
) -> None:
    file_of(tmp_path, GOOD, name="good.json")
    ran = shell("conform", *(a.format(tmp_path) for a in arguments))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"podrace: {tmp_path}/none.json: cannot be read: No such file or directory\n"


def test_wrong_usage(shell: Shell, tmp_path: Path) -> None:
    ran = shell("conform", file_of(tmp_path, GOOD), "--release", "1.99")
    assert ran.code == 2
    assert ran.err.startswith("podrace: unknown release `1.99`; ")
    assert shell("conform").code == 2


def test_marks_in_names_are_shown_as_they_are(shell: Shell, tmp_path: Path) -> None:
    ran = shell("conform", file_of(tmp_path, {**GOOD, "id": "[bold]x"}))
    assert ran.out.startswith("PASS  [bold]x\n")


def test_an_id_that_no_terminal_can_show_is_a_line_all_the_same(shell: Shell, tmp_path: Path) -> None:
    ran = shell("conform", file_of(tmp_path, {**GOOD, "id": "odd\ud800\n"}))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == ["PASS  odd\ufffd\ufffd", "1 passed, 0 failed, 0 skipped"]
