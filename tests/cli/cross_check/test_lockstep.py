"""`podrace lockstep`: what cannot be asked together is said before Go is looked for; what a Go that builds nothing makes of plugins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.find.test_on_code import own
from tests.cli.helpers import Shell
from tests.reproduce.conftest import go

__all__ = ["go", "own"]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--release", "1.36"], "--release: it goes with --kubernetes"),
        (["--scheduler", "."], "--scheduler: it goes with --kubernetes, and with no stored run"),
        (["--claims", "--groups"], "--claims: one kind of clusters at a time: leave out --groups"),
        (["--groups", "--trees"], "--groups: one kind of clusters at a time: leave out --trees"),
        (["--extended", "--claims"], "--extended: one kind of clusters at a time: leave out --claims"),
        (["--extended", "--extenders"], "--extended: one kind of clusters at a time: leave out --extenders"),
        (["--extenders", "--claims"], "--extenders: one kind of clusters at a time: leave out --claims"),
    ],
)
def test_one_kind_of_clusters(shell: Shell, options: list[str], line: str) -> None:
    ran = shell("lockstep", *options)
    assert (ran.code, ran.out, ran.err) == (2, "", f"podrace: {line}\n")


def test_a_version_that_the_model_does_not_have(shell: Shell) -> None:
    ran = shell("lockstep", "--kubernetes", "v1.36.99")
    known = "1.36.0, 1.36.1, 1.36.3, 1.36.4, 1.36.5"
    line = f"--kubernetes: the model does not have v1.36.99, of 1.36 it has {known}: name one of these, or say with --release what to compare it with"
    assert (ran.code, ran.out, ran.err) == (2, "", f"podrace: {line}\n")


@pytest.mark.parametrize(
    ("does", "verdict", "decided"),
    [("decides 1", "INCOMPLETE", {"NoNode at Filter: Unschedulable"}), ("differs 1", "DIFFERS", {""})],
)
def test_runs_that_plugins_end(
    shell: Shell,
    go: Path,
    own: Path,
    monkeypatch: pytest.MonkeyPatch,
    does: str,
    verdict: str,
    decided: set[str],
) -> None:
    monkeypatch.setenv("FAKE_GO", does)
    line = ("lockstep", "--kubernetes", "v1.36.3", "--scheduler", str(own), "--clusters", "1", "--runs", "2")
    ran = shell(*line, "-o", "json")
    (one,) = json.loads(ran.out)["versions"]
    assert (ran.code, {cause["decided"] for cause in one["causes"]}) == (3, decided)
    words = shell(*line).out
    assert words.startswith(f"v1.36.3 with {own}: 2 runs {verdict}\n")
    assert f"{own}: NoNode (Filter); without ImageLocality" in " ".join(words.split())
