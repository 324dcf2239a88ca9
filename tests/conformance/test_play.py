"""`make conform`: lines, counts and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.play import main

GOOD = {"id": "good", "expected_candidate_nodes": ["n"], "nodes": [{"name": "n"}], "statuses": {}}
BAD = {**GOOD, "id": "bad", "expected_candidate_nodes": []}
LATE = {**GOOD, "id": "late", "applies_to": {"min": "1.30", "max": None}}


def file_of(folder: Path, *cases: dict[str, Any], name: str = "cases.json") -> str:
    path = folder / name
    path.write_text(json.dumps({"table": "t", "cases": cases}))
    return str(path)


def test_each_case_is_a_line_and_a_failure_is_exit_code_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = file_of(tmp_path, GOOD, LATE), file_of(tmp_path, BAD, name="more.json")
    assert main([one]) == 0
    assert main([two, one]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "PASS  good",
        "SKIP  late: does not apply to 1.22: from 1.30",
        "1 passed, 0 failed, 1 skipped",
        "FAIL  bad: nodes to try: expected {}, the model gives {n}",
        "PASS  good",
        "SKIP  late: does not apply to 1.22: from 1.30",
        "1 passed, 1 failed, 1 skipped",
    ]


def test_another_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = file_of(tmp_path, {**GOOD, "applies_to": {"min": None, "max": "1.19"}})
    assert (main([old]), main([old, "--release", "v1.19.0"])) == (0, 0)
    assert capsys.readouterr().out.splitlines() == [
        "SKIP  good: does not apply to 1.22: up to 1.19",
        "0 passed, 0 failed, 1 skipped",
        "PASS  good",
        "1 passed, 0 failed, 0 skipped",
    ]


def test_wrong_input_is_one_line_and_exit_code_two(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, none = file_of(tmp_path, GOOD), str(tmp_path / "none.json")
    assert main([good, none]) == 2
    assert capsys.readouterr() == ("", f"conform: {none}: cannot be read: No such file or directory\n")
    assert main([good, "--release", "1.99"]) == 2
    assert capsys.readouterr().err.startswith("conform: unknown release `1.99`; ")
