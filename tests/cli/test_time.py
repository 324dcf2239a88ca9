"""`--time` and `--slow` mean the same on every command that has them."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from podrace.scenarios import find_scenarios
from tests.cli.helpers import Shell

FLUSH = "queue.flush_unschedulable(p)"
ASSUMED = "nothing under way takes minutes"
RACE = ("gone-victim", "--release", "1.36.3")


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(capsys)


def test_ask(shell: Shell) -> None:
    anytime = shell("ask", *RACE, FLUSH)
    timed = shell("ask", *RACE, FLUSH, "--time", "scales")
    slow = shell("ask", *RACE, FLUSH, "--slow", "preemption goroutine")
    assert (anytime.code, timed.code, slow.code) == (0, 1, 0)
    assert f"Assumed: {ASSUMED}. " in timed.out
    assert ASSUMED not in anytime.out
    (found,) = json.loads(shell("ask", *RACE, FLUSH, "--time", "scales", "-o", "json").out)
    assert (found["answer"], found["scope"]["time"]) == ("IMPOSSIBLE", "scales")


def test_test(shell: Shell, tmp_path: Path) -> None:
    text = find_scenarios("gone-victim")[0].text.replace('"1.33.0"', '"1.36.3"')
    (tmp_path / "one.yaml").write_text(f"{text}expect: {{S-STUCK: VIOLATED}}\n")
    kept = ("--cache", str(tmp_path / "kept"))
    for _ in range(2):
        assert shell("test", str(tmp_path), *kept).code == 0
        timed = shell("test", str(tmp_path), "--time", "scales", *kept)
        assert (timed.code, f"Assumed: {ASSUMED}." in " ".join(timed.out.split())) == (1, True)
    assert shell("test", str(tmp_path), "--slow", "kubelet").code == 2


@pytest.mark.ci
def test_verify(shell: Shell) -> None:
    asked = ("verify", "133167", "--scenario", "gone-victim", "--alone")
    anytime, timed = shell(*asked), shell(*asked, "--time", "scales")
    assert (anytime.code, timed.code) == (0, 0)
    assert "S-STUCK: fixed" in anytime.out
    assert "S-STUCK: holds both" in timed.out
    assert f"note: assumed: {ASSUMED}" in timed.out


def test_prove(shell: Shell) -> None:
    asked = ("prove", "--pods", "1", "--nodes", "1", "--property", "S-STUCK", "-o", "json")
    scopes = [json.loads(shell(*asked, *time).out)[0]["scope"] for time in ((), ("--time", "scales"))]
    assert [scope.get("time") for scope in scopes] == [None, "scales"]


def test_explore(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {}
    for time in ("any", "scales"):
        monkeypatch.setattr("sys.stdin", io.StringIO("reach p parked\nwhy flush_unsch\n"))
        said[time] = shell("explore", *RACE, "--tty", "--time", time).out
    assert "minutes in which nothing shorter is under way" in said["scales"]
    assert ASSUMED in said["scales"]
    assert "minutes in which" not in said["any"]
    assert ASSUMED not in said["any"]
