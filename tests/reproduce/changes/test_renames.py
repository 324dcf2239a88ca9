"""Changes that only give other names, and those that look like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.reproduce.changes.renames import renamed
from podrace.reproduce.changes.texts import FileChange

FILE = "pkg/scheduler/queue.go"
BASE = """//go:build linux

package scheduler

import (
	"fmt"
	v1 "k8s.io/api/core/v1"
)

type room struct{ left int }

var limit = 3

func (r *room) take(pod *v1.Pod) bool {
	old := r.left
	if old > limit {
		fmt.Println(pod.Name)
	}
	return r.fits(old)
}

func (r *room) fits(n int) bool { return n > 0 }

func other(left int) int {
	now := left
	return now
}
"""


def names(tmp_path: Path, *edits: tuple[str, str], other: str = "package scheduler\n") -> dict[str, str]:
    folder = tmp_path / "pkg/scheduler"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "queue.go").write_text(BASE, encoding="utf-8")
    (folder / "other.go").write_text(other, encoding="utf-8")
    after = BASE
    for old, new in edits:
        assert old in after
        after = after.replace(old, new)
    return dict(renamed([FileChange(FILE, BASE, after)], tmp_path))


@pytest.mark.parametrize(
    ("edits", "found"),
    [
        ([("fits", "suits")], {"fits": "suits"}),
        ([("limit", "most")], {"limit": "most"}),
        ([("old", "before")], {"old": "before"}),
        ([("now", "then"), ("old", "then")], {"now": "then", "old": "then"}),
        ([("(n int) bool { return n", "(count int) bool { return count")], {"n": "count"}),
    ],
)  # fmt: skip
def test_other_names(tmp_path: Path, edits: list[tuple[str, str]], found: dict[str, str]) -> None:
    assert names(tmp_path, *edits) == found


@pytest.mark.parametrize(
    "edits",
    [
        [("old > limit", "limit > old")],  # what is compared
        [("return r.fits(old)", "return r.fits(r.left)")],
        [("fits", "Suits")],  # exported
        [("fits", "init")],
        [("old", "len")],  # predeclared
        [("old", "limit")],  # another variable of the package
        [("old", "r")],  # another variable of the function
        [("old", "fmt")],  # a package
        [("left", "free")],  # a field: `%+v` shows it
        [("room", "space")],  # a type: `%T` shows it
        [("fits", "take2"), ("take2(old)", "take(pod)")],
        [("linux", "windows"), ("fits", "suits")],  # when it is built
        [("return now", "return left")],
    ],
)
def test_what_is_more_than_a_name(tmp_path: Path, edits: list[tuple[str, str]]) -> None:
    assert names(tmp_path, *edits) == {}


def test_a_name_that_another_file_has(tmp_path: Path) -> None:
    assert names(tmp_path, ("fits", "suits"), other="package scheduler\n\nfunc suits() {}\n") == {}
    assert names(tmp_path, ("fits", "suits"), other="package scheduler\n\nvar f = (*room).fits\n") == {}
    assert names(tmp_path, ("old", "before"), other="package scheduler\n\nvar before = 1\n") == {}
    linked = "package scheduler\n\n//go:linkname fits elsewhere.fits\n"
    assert names(tmp_path, ("fits", "suits"), other=linked) == {}


def test_assembly_beside_it(tmp_path: Path) -> None:
    assert names(tmp_path, ("fits", "suits"))
    (tmp_path / "pkg/scheduler/fits.s").touch()
    assert names(tmp_path, ("fits", "suits")) == {}
