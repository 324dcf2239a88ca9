"""Answers that a command gives in text alone no longer: replay in JSON, and the api's word on what closes a race."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from podrace.api import UsageProblem, check, text_of
from podrace.reports.formats.json_schema import schema_of
from tests.cli.helpers import Shell
from tests.reports.standards import assert_matches


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(capsys)


@pytest.fixture
def stored(shell: Shell) -> str:
    assert shell("check", "72124", "--closing", "0", "--save-trace", "race.json").code == 1
    return "race.json"


def test_replay_tells_the_race_in_words(shell: Shell, stored: str) -> None:
    told = shell("replay", stored)
    assert told.code == 0
    assert told.out.startswith("nominated-node-race, 1.13.0: S-NOMVIS VIOLATED\n")
    assert "\n   3. The filters fail: p does not fit on n1: Insufficient cpu.\n" in told.out
    assert "  Where the views disagreed\n" in told.out
    assert "│" not in told.out
    assert "│" in shell("replay", stored, "-v").out


def test_replay_in_json(shell: Shell, stored: str, tmp_path: Path) -> None:
    ran = shell("replay", stored, "-o", "json")
    answer = json.loads(ran.out)
    assert_matches(answer, schema_of("replay"))
    assert (ran.code, answer["verdict"], len(answer["steps"])) == (0, "VIOLATED", 15)
    assert answer["finding"]["property"] == "S-NOMVIS"
    trace = json.loads((tmp_path / stored).read_text())
    trace["fixes"]["added"] = ["72259"]
    (tmp_path / "gone.json").write_text(json.dumps(trace))
    ran = shell("replay", "gone.json", "-o", "json")
    answer = json.loads(ran.out)
    assert_matches(answer, schema_of("replay"))
    assert (ran.code, answer["verdict"], answer["finding"]) == (1, "GONE", None)
    assert answer["words"]


def test_the_api_tells_what_closes_a_race() -> None:
    (found,) = check("wiped-nomination", closing=60)
    assert "  What closes it\n    77990 closes it: with it, S-NOM holds in the same cluster; " in text_of(
        [found]
    )
    (found,) = check("wiped-nomination")
    assert "What closes it" not in text_of([found])
    with pytest.raises(UsageProblem, match=r"^closing: `-1` is no duration: write seconds"):
        check("wiped-nomination", closing=-1)


def test_the_form_has_one_name_in_a_file(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / ".podrace.yaml").write_text("reproduce: {format: json}\n")
    ran = shell("reproduce", "72124")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(
        "podrace: .podrace.yaml:1: reproduce.format: unknown option `format`; known: kubernetes, "
    )
