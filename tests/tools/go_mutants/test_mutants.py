"""What the mutants of a small Go file are, and that they are at work in the scheduler's own tests."""

from __future__ import annotations

import pytest

from podrace.reproduce.changes.lines import changed_lines
from podrace.reproduce.changes.sources import unchanged
from podrace.reproduce.changes.texts import FileChange
from podrace.reproduce.modules.module import parse_version
from podrace.reproduce.modules.toolchain import find_go, has_go
from podrace.reproduce.running import alone_in

from . import unit_tests
from .__main__ import PAGE, TABLE
from .mutants import NEGATED, REMOVED, SWAPPED, Mutant, drawn, mutants_of, mutated_texts
from .table import put, read

PATH = "pkg/scheduler/one.go"
TEXT = """package scheduler

func f(x int) int {
	if x > 0 && ok() {
		logger.Info("x")
		first(x)
		second(x)
	}
	defer third()
	trace.Step("told")
	s.y = x
	for i := range x {
		continue
	}
	return x
}
"""


def all_of(text: str) -> list[Mutant]:
    return mutants_of({PATH: text}, changed_lines([FileChange(PATH, None, text)]))


def test_statements_conditions_and_neighbours() -> None:
    """What is returned stays, and so does what only logs."""
    assert [(one.line.number, one.kind, one.code) for one in all_of(TEXT)] == [
        (4, NEGATED, "if x > 0 && ok() {"),
        (6, REMOVED, "first(x)"),
        (6, SWAPPED, "first(x) <-> second(x)"),
        (7, REMOVED, "second(x)"),
        (9, REMOVED, "defer third()"),
        (11, REMOVED, "s.y = x"),
        (13, REMOVED, "continue"),
    ]


@pytest.mark.parametrize(
    ("number", "rows"),
    [
        (1, {4: '\tif (podraceDamaged == "9") != (x > 0 && ok()) {'}),
        (2, {6: '\t\tif podraceDamaged != "9" { first(x) }'}),
        (
            3,
            {
                6: '\t\tif podraceDamaged == "9" { second(x) }; first(x)',
                7: '\t\tif podraceDamaged != "9" { second(x) }',
            },
        ),
    ],
)
def test_a_mutant_is_at_work_by_its_number(number: int, rows: dict[int, str]) -> None:
    made = mutated_texts({PATH: TEXT}, {9: all_of(TEXT)[number - 1]})
    expected = [rows.get(at, row) for at, row in enumerate(TEXT.splitlines(), 1)]
    assert made[PATH].splitlines() == expected
    assert 'podraceDamaged = os.Getenv("PODRACE_DAMAGED")' in made["pkg/scheduler/podrace_damaged.go"]


def test_no_line_is_drawn_twice() -> None:
    mutants = all_of(TEXT)
    for seed in range(20):
        found = drawn(mutants, {PATH: TEXT}, 7, seed)
        rows = [row for one in found for row in one.rows]
        assert len(rows) == len(set(rows)) == 6
    assert drawn(mutants, {PATH: TEXT}, 2, 0) == drawn(mutants, {PATH: TEXT}, 7, 0)[:2]


def test_what_the_held_queue_is_made_of_is_not_drawn() -> None:
    """A copy of the queue whose movers cannot be held would be another scheduler."""
    path = "pkg/scheduler/backend/queue/scheduling_queue.go"
    text = (
        "package queue\n\ntype Q struct {\n\tlock sync.RWMutex\n}\n\nfunc (p *Q) f() {\n\tdefer func() {\n"
        "\t\tif !calledDone {\n\t\t\tp.Done(pInfo.Pod.UID)\n\t\t}\n\t}()\n"
        "\tif added := p.activeQ.addEventIfAnyInFlight(x); added {\n\t\ty()\n\t}\n}\n"
    )
    mutants = mutants_of({path: text}, changed_lines([FileChange(path, None, text)]))
    found = {one.code for one in drawn(mutants, {path: text}, 9, 0)}
    assert {one.code for one in mutants} - found == {"if !calledDone {", "p.Done(pInfo.Pod.UID)"}
    assert found == {"if added := p.activeQ.addEventIfAnyInFlight(x); added {", "y()"}


def test_the_page_has_the_sums_of_the_table() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert put(page, read(TABLE)) == page


def test_the_page_explains_each_mutant_that_one_side_misses() -> None:
    page = PAGE.read_text(encoding="utf-8")
    missed = [row.line.rpartition("/")[2] for row in read(TABLE) if row.noticed != (True, True)]
    assert len(missed) == 47
    assert [place for place in missed if f"`{place}`" not in page] == []


@pytest.mark.real
def test_upstreams_tests_and_two_mutants() -> None:
    """Without the name of the plugin a gated pod is not gated. That a pod is nominated again after an update is tested nowhere in the package."""
    if not has_go():
        pytest.skip("there is no Go")
    go, version = find_go(), parse_version("v1.36.3")
    package = "pkg/scheduler/backend/queue"
    wanted = {
        1: (f"{package}/scheduling_queue.go", "pInfo.GatingPlugin = pl.Name()"),
        2: (f"{package}/nominator.go", "npm.addNominatedPodUnlocked(logger, newPodInfo, nominatingInfo)"),
    }
    root = unchanged(version, go)
    texts = {path: (root / path).read_text(encoding="utf-8") for path, _ in wanted.values()}
    mutants = mutants_of(texts, changed_lines([FileChange(path, None, text) for path, text in texts.items()]))
    chosen = {
        number: next(one for one in mutants if (one.line.path, one.code) == place)
        for number, place in wanted.items()
    }
    place = unit_tests.place(version)
    with alone_in(place, print):
        tests = unit_tests.built(place, version, go, mutated_texts(texts, chosen), [package])[package]
        found = [unit_tests.first_failure(tests, number) for number in (0, 1, 2)]
    assert (tests.count, tests.left_out) == (51, ())
    assert found == ["", "TestPriorityQueue_PopSpecificPod", ""]
