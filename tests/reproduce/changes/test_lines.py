"""Changed lines that are code, and which of them a profile shows as executed."""

from __future__ import annotations

import pytest

from podrace.reports.verify.code_change import Lines
from podrace.reproduce.changes.lines import (
    ChangedLine,
    changed_lines,
    counted,
    lines_of,
    packages_of,
    read_blocks,
)
from podrace.reproduce.changes.texts import FileChange

PATH = "pkg/scheduler/a.go"
BEFORE = """\
package scheduler

func F(x int) {
	first()
	if x > 0 {
		gone()
	}
	last()
}
"""
AFTER = """\
package scheduler

// Added is new.
const added = 1

func F(x int) {
	first()
	if x > 1 {
		second()
	} else if x > 0 {
		third()
	}
	last()
}
"""
PROFILE = """\
mode: set
k8s.io/kubernetes/pkg/scheduler/a.go:6.15,8.11 2 1
k8s.io/kubernetes/pkg/scheduler/a.go:8.11,10.3 1 0
k8s.io/kubernetes/pkg/scheduler/a.go:10.8,10.18 1 1
k8s.io/kubernetes/pkg/scheduler/a.go:10.18,12.3 1 1
k8s.io/kubernetes/pkg/scheduler/a.go:13.2,13.8 1 1
"""
CHANGE = FileChange(PATH, BEFORE, AFTER)


OLD = """\
mode: set
k8s.io/kubernetes/pkg/scheduler/a.go:3.15,5.11 2 1
k8s.io/kubernetes/pkg/scheduler/a.go:5.11,7.3 1 0
k8s.io/kubernetes/pkg/scheduler/a.go:8.2,8.8 1 1
"""


def side(lines: list[ChangedLine], removed: bool) -> list[ChangedLine]:
    return [line for line in lines if line.removed is removed]


def test_new_lines_are_looked_for_in_the_changed_code_and_removed_ones_in_the_code_before() -> None:
    lines = changed_lines([CHANGE])
    new, gone = side(lines, False), side(lines, True)
    assert [(line.number, line.place[1]) for line in new] == [(4, 1), (8, 2), (9, 3), (10, 9), (11, 3)]
    assert [line.shown for line in gone] == [f"{PATH}:5 (removed)", f"{PATH}:6 (removed)"]
    found = counted(new, read_blocks(PROFILE)) | counted(gone, read_blocks(OLD))
    assert lines_of(found) == Lines(6, 4, (f"{PATH}:6 (removed)", f"{PATH}:9")), "else if is a statement"


def test_what_is_only_removed() -> None:
    after = BEFORE.replace("\tif x > 0 {\n\t\tgone()\n\t}\n", "")
    lines = changed_lines([FileChange(PATH, BEFORE, after)])
    assert [line.shown for line in lines] == [f"{PATH}:5 (removed)", f"{PATH}:6 (removed)"]


def test_a_file_that_is_gone_is_removed_line_by_line() -> None:
    lines = changed_lines([FileChange(PATH, BEFORE, None)])
    assert [line.number for line in lines] == [1, 3, 4, 5, 6, 8]
    assert all(line.removed for line in lines)
    scheduler, other = "k8s.io/kubernetes/pkg/scheduler/...", "k8s.io/kubernetes/pkg/controller/volume"
    assert packages_of([CHANGE]) == (scheduler,), "every change of it shares a build of the unchanged code"
    assert packages_of([CHANGE, FileChange("pkg/controller/volume/a.go", "", "")]) == (scheduler, other)


HELPED = """\
package scheduler

func F(x int) error {
	if x > 0 {
		return nil
	}
	helper()
	middle()

	return nil
}

// helper is new.
func helper() error {
	first()

	return nil
}

func G() error {
	return nil
}
"""


def test_a_new_function_does_not_begin_with_the_end_of_another() -> None:
    """A helper taken out of the cache's removePod: a `return nil` of it that few runs reach counted as new."""
    head, _, rest = HELPED.partition("// helper")
    before = head.replace("helper()", "second()") + rest.partition("\n\nfunc G")[2].join(["func G", ""])
    for change in (FileChange(PATH, before, HELPED), FileChange(PATH, HELPED, before)):
        lines = changed_lines([change])
        gone = change.before == HELPED
        assert [line.number for line in lines if line.removed is gone] == [7, 14, 15, 17]
        assert [line.number for line in lines if line.removed is not gone] == [7]


REMOVE = """\
	if ok {
		if err := n.RemovePod(pod); err != nil {
			return err
		}
		logger.V(5).Info("removed")
		empty()
	}
	return nil
"""
DEEPER = """\
	if ok {
		if other {
			if err := m.RemovePod(pod); err != nil {
				return {returned}
			}
		}
		empty()
	}
	return nil
"""


@pytest.mark.parametrize(("returned", "aside"), [("err", [6, 8]), ("nil", [8]), ("fmt.Errorf(err)", [8])])
def test_errors_are_returned_as_before(returned: str, aside: list[int]) -> None:
    """Lines that only log or return the error of a changed condition need no run, if the other side returns the same."""
    head = "package scheduler\n\nfunc F() error {\n"
    change = FileChange(PATH, head + REMOVE, head + DEEPER.replace("{returned}", returned))
    lines = changed_lines([change])
    assert [line.number for line in lines if line.removed and line.aside] == aside
    assert [line.number for line in lines if not line.removed and line.aside] == [n + 1 for n in aside[:-1]]
    nothing = read_blocks("k8s.io/kubernetes/pkg/scheduler/a.go:1.1,99.1 1 0\n")
    assert counted(lines, nothing).statements == {line for line in lines if not line.aside}
    everything = read_blocks("k8s.io/kubernetes/pkg/scheduler/a.go:1.1,99.1 1 1\n")
    assert counted(lines, everything).executed == set(lines)
