"""`podrace reproduce --go-test`: what is printed and written, and wrong usage in a line. What the tests say of the real scheduler is for `make real`."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.reproduce.go_tests import running
from podrace.reproduce.go_tests.running import GoTestResult
from tests.cli.helpers import Shell, flat
from tests.reproduce.conftest import ghost, go

__all__ = ["ghost", "go"]

OK, USAGE = 0, 2
GOLDEN = Path(__file__).parents[2] / "reproduce" / "go_tests"


def test_it_is_printed_without_any_go(shell: Shell, ghost: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    ran = shell("reproduce", str(ghost), "--go-test")
    assert ran.code == OK
    assert ran.out == (GOLDEN / "ghost_test.go.txt").read_text(encoding="utf-8")


def test_it_is_written_with_all_that_it_needs(shell: Shell, go: Path, ghost: Path, tmp_path: Path) -> None:
    folder = tmp_path / "written"
    assert shell("reproduce", str(ghost), "--go-test", "--directory", str(folder)).code == OK
    assert {path.name for path in folder.iterdir()} >= {
        "go.mod",
        "gen",
        "testing_expect.go",
        "testing_moves.go",
        "testing_run.go",
        "ghost_test.go",
    }


@pytest.mark.parametrize(
    ("passed", "more", "code", "said"),
    [
        (False, (), 1, ""),
        (True, (), 3, "the model has the race in this version, and the test does not make it happen"),
        (True, ("--go-patch", "requeue-looks-again"), 0, ""),
        (True, ("--kubernetes", "v1.35.4", "--release", "1.36.3"), 0, ""),
    ],
)
def test_a_test_that_passes_without_a_patch_says_nothing_about_the_race(
    shell: Shell,
    go: Path,
    ghost: Path,
    monkeypatch: pytest.MonkeyPatch,
    passed: bool,
    more: tuple[str, ...],
    code: int,
    said: str,
) -> None:
    """But for one of another release, which may be without the race."""

    def ran_as_told(*_: object) -> dict[str, GoTestResult]:
        return {"TestGhost": GoTestResult("TestGhost", passed, ("what it said",))}

    monkeypatch.setattr(running, "run_go_tests", ran_as_told)
    ran = shell("reproduce", str(ghost), "--go-test", "--run", *more)
    assert ran.code == code
    first, second, *rest = ran.out.splitlines()
    version = more[1] if "--kubernetes" in more else "v1.36.3"
    assert (first, second) == (f"{'PASS' if passed else 'FAIL'}: TestGhost on {version}", "  what it said")
    assert [line.strip()[: len(said)] for line in rest] == [said][: bool(said)]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--go-patch", "requeue-looks-again"), "--go-patch: it goes with --go-test"),
        (
            ("--go-test", "--go-patch", "ghosts"),
            "--go-patch: there is no patch `ghosts`; known are always-activated, bound-pods-unpatched, counted-nodes-heard,",
        ),
    ],
)
def test_wrong_usage(shell: Shell, ghost: Path, arguments: tuple[str, ...], line: str) -> None:
    ran = shell("reproduce", str(ghost), *arguments)
    assert ran.code == USAGE
    assert line in flat(ran.err)
