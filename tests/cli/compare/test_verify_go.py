"""`podrace verify` of a Go change: what is wrong with a command line or a diff, in a line; and what ends at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.helpers import Shell

TESTS_ONLY = "--- a/pkg/scheduler/a_test.go\n+++ b/pkg/scheduler/a_test.go\n@@ -1 +1 @@\n-a\n+b\n"


def test_a_diff_of_tests_alone_ends_at_once(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "pr.diff"
    file.write_text(TESTS_ONLY, encoding="utf-8")
    ran = shell("verify", str(file), "--kubernetes", "v1.36.3", "-o", "json")
    found = json.loads(ran.out)
    assert (ran.code, found["answer"]) == (0, "CANNOT MATTER")
    assert found["passed_over"] == [["pkg/scheduler/a_test.go", "a test"]]


def test_a_diff_of_documentation_alone_ends_at_once(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "pr.diff"
    file.write_text(TESTS_ONLY.replace("pkg/scheduler/a_test.go", "CHANGELOG/README.md"), encoding="utf-8")
    ran = shell("verify", str(file))
    assert ran.code == 0
    assert "no Go source" in ran.out
    assert "CANNOT MATTER" in ran.out


def test_a_scenario_with_an_unknown_property_is_refused(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "pr.diff").write_text(TESTS_ONLY, encoding="utf-8")
    file = tmp_path / "mine.yaml"
    file.write_text("properties: [S-CPA]\nnodes: {n1: {cpu: 1}}\npods: {p: {cpu: 1}}\n", encoding="utf-8")
    ran = shell("verify", str(tmp_path / "pr.diff"), "--scenario", str(file))
    assert ran.code == 2
    assert "mine.yaml:1: properties[0]: unknown property `S-CPA`; the nearest: S-CAP" in ran.err


def test_a_diff_of_another_module_is_no_good_news(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "pr.diff"
    file.write_text(TESTS_ONLY.replace("pkg/scheduler/a_test.go", "go.mod"), encoding="utf-8")
    ran = shell("verify", str(file))
    assert ran.code == 3
    assert "INCONCLUSIVE" in ran.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name a CHANGE: a Python file, the number of an upstream change, or a Go diff"),
        (("72259", "--kubernetes", "v1.36.3"), "--kubernetes is for Go changes: write --release"),
        (("72259", "--go-test", "there"), "--go-test is for Go changes: name a diff"),
        (("gone.diff",), "gone.diff: cannot be read: No such file or directory"),
        (
            ("a.diff", "b.diff"),
            "a Go change is judged by itself: name one diff or tree, and its version with --kubernetes",
        ),
        (("--repo", "."), "--repo and --range belong together: --repo DIR --range BASE..HEAD"),
        (("--range", "A..B"), "--repo and --range belong together: --repo DIR --range BASE..HEAD"),
        (("x.diff", "--repo", ".", "--range", "A..B"), "--repo names the change: leave out CHANGE"),
        (
            ("--repo", "nowhere", "--range", "A..B"),
            "--repo: `nowhere` is no directory: name a checkout of kubernetes",
        ),
        (("--repo", ".", "--range", "A"), "--range: `A`: write BASE..HEAD"),
        (
            ("x.diff", "--property", "S-CAP"),
            "--property is not for a Go change: it takes --kubernetes, --scenario, --go-test, --timeout and --jobs",
        ),
        (
            ("x.diff", "--release", "1.36", "--kubernetes", "v1.36.3"),
            "a Go change has one version: leave out --release",
        ),
    ],
)
def test_what_is_wrong(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = shell("verify", *arguments)
    assert (ran.code, ran.err.strip()) == (2, f"podrace: {said}")


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("v1.99.0", "the model does not have v1.99.0: its newest is "),
        ("v1.35.99", "the model does not have v1.35.99: it has 1.35.0, "),
        ("banana", "`banana`: neither a version nor a directory: write a version such as v1.36.3"),
    ],
)
def test_a_version_that_nobody_has(shell: Shell, tmp_path: Path, version: str, said: str) -> None:
    file = tmp_path / "pr.diff"
    file.write_text(TESTS_ONLY.replace("_test", ""), encoding="utf-8")
    ran = shell("verify", str(file), "--kubernetes", version)
    assert ran.code == 2
    assert ran.err.startswith(f"podrace: --kubernetes: {said}")


def test_no_go_at_hand(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    file = tmp_path / "pr.diff"
    file.write_text(TESTS_ONLY.replace("_test", ""), encoding="utf-8")
    ran = shell("verify", str(file))
    assert ran.code == 2
    assert ran.err.startswith("podrace: there is no Go on this machine: install Go ")


def test_a_tree_that_is_none(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    ran = shell("verify", str(tmp_path / "tree"))
    assert ran.code == 2
    assert ran.err.endswith("it has no go.mod: name the root of kubernetes' sources\n")
