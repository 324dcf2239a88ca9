"""`podrace test` and `podrace init`: files with the verdicts that they expect."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from podrace.cli.commands.set_up.init import starter_text
from podrace.reports.document import Word
from podrace.scenarios import parse_scenario
from tests.cli.helpers import TINY, Shell, pretending

EXPECTING = (
    TINY
    + "expect:\n- verdicts: {S-CAP: holds}\n- {release: '1.13.0', with_fixes: [72259], verdicts: {S-NOM: violated}}\n"
)


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    return Shell(capsys)


@pytest.mark.ci
def test_the_starter_passes_as_it_is_written(shell: Shell) -> None:
    assert shell("init").out == "wrote podrace-test.yaml: now run `podrace test podrace-test.yaml`\n"
    ran = shell("test")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[-1] == "1 file: 4 passed, 0 failed, 0 undecided"
    assert "  ok   1.13.0: S-NOM  Violated after 17 steps, and no run is shorter" in ran.out


def test_the_starter_expects_both_verdicts() -> None:
    scenario = parse_scenario(starter_text())
    assert {expected.verdict for expected in scenario.expect} == {"holds", "violated"}


def test_init_writes_over_nothing(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("mine")
    assert shell("init", "mine.yaml").err == (
        "podrace: `mine.yaml` is there already: name another file, or add --force to write over it\n"
    )
    assert shell("init", "mine.txt").code == 2
    assert shell("init", "no/mine.yaml").err == (
        "podrace: FILE: cannot write `no/mine.yaml`: there is no directory `no`\n"
    )
    assert (tmp_path / "mine.yaml").read_text() == "mine"
    assert shell("init", "mine.yaml", "--force").code == 0
    assert (tmp_path / "mine.yaml").read_text() == starter_text()


@pytest.mark.parametrize(
    ("verdicts", "code", "sums"),
    [
        ({"1.13.0 + 72259": "VIOLATED"}, 0, "2 passed, 0 failed, 0 undecided"),
        ({}, 1, "1 passed, 1 failed, 0 undecided"),
        ({"1.13.0 + 72259": "INCONCLUSIVE"}, 3, "1 passed, 0 failed, 1 undecided"),
        ({"1.13.0 + 72259": "INCONCLUSIVE", "1.19.0": "VIOLATED"}, 1, "0 passed, 1 failed, 1 undecided"),
    ],
)
def test_exit_codes(
    shell: Shell,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    verdicts: dict[str, Word],
    code: int,
    sums: str,
) -> None:
    (tmp_path / "a.yaml").write_text(EXPECTING)
    with pretending(monkeypatch, "HOLDS", verdicts) as pretence:
        ran = shell("test", "a.yaml", "--max-states", "7")
    assert (ran.code, ran.out.splitlines()[-1]) == (code, f"1 file: {sums}")
    assert [(run.composition.label, run.property) for run in pretence.runs] == [
        ("1.19.0", "S-CAP"),
        ("1.13.0 + 72259", "S-NOM"),
    ]
    assert [budget.max_states for budget in pretence.budgets] == [7, 7]


def test_what_is_not_as_expected_names_the_line_that_asks_for_it(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        TINY + "expect:\n- verdicts: {S-CAP: holds}\n- verdicts: {S-CAP: violated}\n"
    )
    lines = shell("test", "a.yaml").out.splitlines()
    assert lines[1].startswith("  ok   1.19.0: S-CAP  Holds in every interleaving: ")
    assert lines[2].startswith("  FAIL line 9: 1.19.0: S-CAP  Holds in every interleaving: ")


@pytest.mark.ci
def test_another_length_is_not_as_expected(shell: Shell, tmp_path: Path) -> None:
    wrong = (
        starter_text()
        .replace("steps: 17", "steps: 16")
        .replace("verdicts: {S-CAP: holds, S-NOM: holds}", "verdicts: {S-CAP: holds}")
    )
    (tmp_path / "a.yaml").write_text(wrong)
    ran = shell("test", "-o", "json")
    assert ran.code == 1
    assert [(f["verdict"], f["expected"], f["expected_steps"]) for f in json.loads(ran.out)] == [
        ("HOLDS", "HOLDS", None),
        ("VIOLATED", "VIOLATED", 16),
        ("HOLDS", "HOLDS", None),
    ]
    text = shell("test").out
    assert "1.13.0: S-NOM  Violated after 17 steps" in text
    assert "Expected: VIOLATED after 16 steps." in " ".join(text.split())
    assert "assume(other, n1)" in text  # the counterexample, step by step


def test_a_directory_is_searched_for_files_that_expect_something(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("b.yaml", "below/a.yml", ".hidden/x.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(EXPECTING)
    (tmp_path / "plain.yaml").write_text(TINY)
    (tmp_path / "kubernetes.yaml").write_text("kind: Node\n---\nkind: Pod\n")
    with pretending(monkeypatch, "HOLDS", {"1.13.0 + 72259": "VIOLATED"}) as pretence:
        ran = shell("test", ".", "b.yaml", "-o", "junit")
    assert ran.code == 0
    assert [run.scenario.file for run in pretence.runs] == ["b.yaml"] * 2 + ["below/a.yml"] * 2
    assert ran.err == "2 YAML files have no section `expect` and took no part\n"
    assert ElementTree.fromstring(ran.out.partition("\n")[2]).get("tests") == "4"


@pytest.mark.parametrize(
    ("section", "message"),
    [
        (
            "expect: {S-CP: holds}",
            "a.yaml:7: expect.S-CP: unknown property `S-CP`; the nearest: S-CAP, S-PV, S-PDB, S-SNAP, S-RWOP; ",
        ),
        (
            "expect:\n- verdicts: {S-CAP: holds}\n  release: '1.99'",
            "a.yaml:9: expect[0].release: unknown release `1.99`; the nearest: 1.37.2; ",
        ),
        (
            "expect:\n- with_fixes: [5]\n  verdicts: {S-CAP: holds}",
            "a.yaml:8: expect[0].with_fixes: unknown fix `5`; the nearest: ",
        ),
        (
            "expect:\n- with_fixes: [72259]\n  without_fixes: [72259]\n  verdicts: {S-CAP: holds}",
            "a.yaml:9: expect[0].without_fixes: fix 72259 cannot be put in and taken out at once: ",
        ),
        (
            "expect:\n- *x",
            "a.yaml:8: not a YAML that podrace reads: the alias *x is not allowed: write the value out",
        ),
    ],
)
def test_mistakes_have_one_line(shell: Shell, tmp_path: Path, section: str, message: str) -> None:
    (tmp_path / "a.yaml").write_text(TINY + section + "\n")
    ran = shell("test")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"podrace: {message}")
    assert ran.err.count("\n") == 1


def test_nothing_to_test_is_no_success(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "plain.yaml").write_text(TINY)
    assert shell("test").err == (
        "podrace: no scenario file in . has a section `expect`: `podrace init` writes one\n"
    )
    assert shell("test", "plain.yaml").err == (
        "podrace: plain.yaml: nothing is expected: add a section `expect`, as `podrace init` does\n"
    )
    assert shell("test", "no.yaml").code == 2


def test_a_section_with_nothing_in_it_is_no_success(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "void.yaml").write_text(TINY + "expect:\n")
    assert shell("test").code == 2
    assert shell("test", "void.yaml").err == (
        "podrace: void.yaml: nothing is expected: add a section `expect`, as `podrace init` does\n"
    )
