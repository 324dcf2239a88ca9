"""`podrace check --on-code`, with a Go that builds nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.helpers import Shell
from tests.reproduce.conftest import go
from tests.reproduce.fake_go import OF_OWN

__all__ = ["go"]

USAGE, INCONCLUSIVE = 2, 3


def test_all_transitions_are_taken(shell: Shell, go: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_GO", "same")
    result = shell("check", "unheard-signal", "--on-code", "v1.36.3", "--jobs", "1")
    lines = [line.strip() for line in result.out.splitlines()]
    assert "unheard-signal on the code of v1.36.3: IN STEP" in lines
    assert "44 taken by the real scheduler, and nothing that can be seen differed" in lines
    assert result.code == 0


@pytest.mark.ci
@pytest.mark.parametrize(
    ("options", "transitions"),
    [
        (["--property", "S-CAP"], 683),
        (["--property", "S-CAP", "--time", "scales"], 253),
        (["--property", "L-PEND", "--property", "S-CAP", "--time", "scales"], 683),
    ],
)
def test_a_tour_has_the_flush_at_any_moment_if_one_of_the_verdicts_has(
    shell: Shell, go: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], transitions: int
) -> None:
    """A liveness has no scales of time, so the tour that it is said of has none."""
    monkeypatch.setenv("FAKE_GO", "same")
    line = ("check", "removed-node-blocks-pods", "--release", "1.36.3", "--on-code", "v1.36.3")
    result = shell(*line, "--jobs", "1", "-o", "json", *options)
    (tour,) = json.loads(result.out)["on_code"]
    assert (tour["verdict"], tour["transitions"]) == ("IN STEP", transitions)


def test_a_tour_goes_on_where_an_earlier_one_ended(
    shell: Shell, go: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_GO", "same")
    monkeypatch.delenv("PODRACE_NO_CACHE", raising=False)
    line = ("check", "unheard-signal", "--on-code", "v1.36.3", "--jobs", "1")
    (first,) = json.loads(shell(*line, "-o", "json").out)["on_code"]
    assert first["known"] == 0 < first["runs"]
    words = " ".join(shell(*line).out.split())
    assert "in 0 runs of 0 steps" in words
    assert (
        "44 taken by the real scheduler, and nothing that can be seen differed; 44 of these by an earlier tour"
        in words
    )
    (again,) = json.loads(shell(*line, "-o", "json", "--no-cache").out)["on_code"]
    assert (again["known"], again["runs"]) == (0, first["runs"])


def test_a_difference_is_told_step_by_step(shell: Shell, go: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_GO", "differs 2")
    result = shell("check", "unheard-signal", "--on-code", "v1.36.3", "--jobs", "1", "-o", "json")
    (tour,) = json.loads(result.out)["on_code"]
    assert tour["verdict"] == "DIFFERS"
    assert tour["taken"] + tour["differing"] + tour["behind_differing"] == tour["transitions"] == 44
    assert all(len(departure["steps"]) == 2 for departure in tour["departures"])
    assert result.code == INCONCLUSIVE


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["/nowhere"], "--on-code: `/nowhere`: neither a version nor a directory: write a version such as v1.36.3, or name a checkout of kubernetes"),
        (["v1.2.3"], "--on-code: v1.2.3 cannot be built any more: name v1.29.0 or later; v1.13.0 runs in a checkout of podrace, by `make reproduce-old`"),
        (["v1.36.3", "-o", "html"], "--on-code: the forms of its report are text and json: leave out -o html"),
        (["v1.36.3", "--with-fix", "1"], "--on-code: a version is compared with its own model: leave out --with-fix"),
    ],
)  # fmt: skip
def test_what_cannot_be_run_is_said(shell: Shell, options: list[str], said: str) -> None:
    result = shell("check", "unheard-signal", "--on-code", *options)
    assert (result.code, result.err.strip()) == (USAGE, f"podrace: {said}")


def test_a_tree_is_one_of_kubernetes_and_held_against_a_release(shell: Shell, tmp_path: Path) -> None:
    def said(*more: str) -> str:
        result = shell("check", "unheard-signal", "--on-code", str(tmp_path), *more)
        assert result.code == USAGE
        return result.err.strip()

    wrong = f"podrace: --on-code: {tmp_path}: it has no go.mod: name the root of kubernetes' sources"
    assert said() == wrong
    (tmp_path / "go.mod").touch()
    (tmp_path / "pkg" / "scheduler").mkdir(parents=True)
    (tmp_path / "pkg" / "scheduler" / "scheduler.go").touch()
    assert said().startswith(
        f"podrace: --on-code: {tmp_path}: a tree of unknown version: 0% of its functions are those of "
    )
    assert said().endswith(", the nearest that is known; name its base with --release")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A package of plugins of the user's."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "go.mod").write_text(f"module {OF_OWN}\n", encoding="utf-8")
    (folder / "plugins.go").write_text("package own\n", encoding="utf-8")
    return folder


def test_a_tour_with_plugins_of_the_users(
    shell: Shell, go: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_GO", "same")
    line = ("check", "unheard-signal", "--on-code", "v1.36.3", "--jobs", "1", "--scheduler", str(own))
    words = " ".join(shell(*line).out.split())
    assert "unheard-signal on the code of v1.36.3 with your plugins: IN STEP" in words
    assert f"{own}: NoNode (Filter); without ImageLocality 44 transitions" in words


def test_what_a_plugin_decides_is_no_unexplained_difference(
    shell: Shell, go: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_GO", "decides 2")
    line = ("check", "unheard-signal", "--on-code", "v1.36.3", "--jobs", "1", "--scheduler", str(own))
    result = shell(*line, "-o", "json")
    (tour,) = json.loads(result.out)["on_code"]
    assert (tour["verdict"], tour["differing"], result.code) == ("INCOMPLETE", 0, INCONCLUSIVE)
    (kind,) = tour["decided"]
    assert kind == "NoNode at Filter: Unschedulable"
    assert tour["taken"] + tour["decided"][kind] + tour["behind_differing"] == tour["transitions"] == 44
    assert all(
        d["words"].startswith("NoNode at Filter: Unschedulable for w on n1 (no); ")
        for d in tour["departures"]
    )
    words = " ".join(shell(*line).out.split())
    assert f"{tour['decided'][kind]} decided by NoNode at Filter: Unschedulable" in words
    assert "HOLDS on the code" not in words


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--scheduler", "mine"], "--scheduler: name the version that it is built with by --on-code"),
        (["--on-code", "v1.36.3", "--scheduler", "/nowhere"],
         "--scheduler /nowhere: there is no such directory: name one with a Go package that has `func Registry() runtime.Registry`"),
    ],
)  # fmt: skip
def test_a_scheduler_that_is_none(shell: Shell, go: Path, options: list[str], said: str) -> None:
    result = shell("check", "unheard-signal", *options)
    assert (result.code, result.err.strip()) == (USAGE, f"podrace: {said}")


def test_a_scheduler_that_cannot_be_made(
    shell: Shell, go: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_OWN", json.dumps({"problem": 'FilterPlugin "Gone" does not exist'}))
    result = shell("check", "unheard-signal", "--on-code", "v1.36.3", "--scheduler", str(own))
    assert result.code == USAGE
    assert result.err.splitlines()[-1] == f'podrace: --scheduler {own}: FilterPlugin "Gone" does not exist'
