"""What a scenario says is not to be looked at: reported with its reason in every form, never as holding."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.helpers import TINY, Shell, pretending

REASON = "known, see ticket 42"
FILE = TINY.replace("[S-CAP]", "[S-CAP, S-NOM]") + f"ignore: {{S-NOM: '{REASON}'}}\n"


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.yaml").write_text(FILE)
    return Shell(capsys)


def test_it_is_not_searched_and_does_not_decide(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    for verdict, code in (("HOLDS", 0), ("VIOLATED", 1), ("INCONCLUSIVE", 3)):
        with pretending(monkeypatch, verdict) as pretence:  # type: ignore[arg-type]
            assert shell("check", "tiny.yaml").code == code
        assert [run.property for run in pretence.runs] == ["S-CAP"]


def test_every_form_shows_the_reason(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    with pretending(monkeypatch):
        out = {form: shell("check", "tiny.yaml", "-o", form).out for form in
               ("text", "json", "html", "junit", "sarif", "github", "markdown", "tap")}  # fmt: skip
    for form, text in out.items():
        assert REASON in text, form
    assert [f["verdict"] for f in json.loads(out["json"])] == ["HOLDS", "IGNORED"]
    suite = ElementTree.fromstring(out["junit"].partition("\n")[2])
    assert [case.find("skipped") is not None for case in suite.iter("testcase")] == [False, True]
    assert suite.attrib == {"name": "podrace", "tests": "2", "failures": "0", "errors": "0", "skipped": "1"}
    assert "ok 2 - tiny, 1.19: S-NOM # SKIP Ignored, not looked at: known, see ticket 42.\n" in out["tap"]
    (result,) = json.loads(out["sarif"])["runs"][0]["results"]
    assert (result["kind"], result["level"]) == ("notApplicable", "none")
    assert result["suppressions"][0]["justification"] == f"Ignored, not looked at: {REASON}."
    assert out["github"].startswith("::notice file=tiny.yaml,line=4,title=tiny%2C 1.19%3A S-NOM IGNORED::")
    assert out["github"].endswith("podrace: 1 passed, 0 failed, 0 undecided, 1 ignored\n")
    assert "1 holding, 1 ignored." in out["html"]


def test_nothing_left_to_look_at_is_no_success(shell: Shell) -> None:
    ran = shell("check", "tiny.yaml", "--property", "S-NOM")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        f"podrace: nothing would be looked at, for all is ignored (S-NOM: {REASON}): name another property\n"
    )


def test_a_mistyped_property_is_not_ignored(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(FILE.replace("{S-NOM:", "{S-NM:"))
    assert shell("check", "tiny.yaml").err.startswith(
        "podrace: tiny.yaml:7: ignore.S-NM: unknown property `S-NM`; did you mean `S-NOM`? (known: "
    )
