"""What became of functions between two trees: what was moved and renamed is followed, and what can matter is told from what cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.analysis.upstream.drifted import Class, Drift, Rehashed, counted, drifts
from podrace.analysis.upstream.go_functions import functions_of
from podrace.analysis.upstream.likeness import hashes_of, likeness
from podrace.model.history.trees import Hashes, Trees, format_trees, read_trees

SAME, READ = Class.CANNOT_MATTER, Class.READ_THIS

BODY = """
	victims := e.choose(pod)
	for _, victim := range victims {
		if err := e.evict(victim); err != nil {
			return err
		}
	}
	e.mu.Lock()
	e.running.Delete(pod.UID)
	e.mu.Unlock()
	return nil
"""
MORE = BODY.replace("e.mu.Lock()", "e.mu.Lock()\n\te.last = pod.UID")


def functions(**files: str) -> dict[str, str]:
    return {f"p/{name}.go": f"package p\n\n{text}\n" for name, text in files.items()}


def tree(files: dict[str, str]) -> dict[str, Hashes]:
    return {
        f"{file}:{name}": hashes_of(function)
        for file, text in files.items()
        for name, function in functions_of(text).items()
    }


def rehashing(files: dict[str, str]) -> Rehashed:
    found = {f"{file}:{name}": f for file, text in files.items() for name, f in functions_of(text).items()}
    return lambda place, renamed: hashes_of(found[place], renamed)


def became(old: dict[str, str], new: dict[str, str]) -> list[Drift]:
    return drifts(tree(old), tree(new), rehashing(new))


def test_changed() -> None:
    old = functions(a="func f(n int) int { return n }\nfunc g() { h() }\nfunc same() { k() }")
    new = functions(
        a="func f(m int) int { return m }\nfunc g() { h(); h() }\nfunc same() { k() } // as before"
    )
    assert became(old, new) == [Drift("p/a.go:f", "changed", SAME), Drift("p/a.go:g", "changed", READ)]


def test_gone_and_new() -> None:
    old, new = functions(a="func f() { g() }"), functions(a="func k(x int) map[string]int { return all[x] }")
    assert became(old, new) == [Drift("p/a.go:f", "gone", READ), Drift("p/a.go:k", "new", READ)]


def test_another_file() -> None:
    old = functions(a="func f() { g() }\nfunc h() { g() }")
    new = functions(b="func f() { g() }\nfunc h() { g(); g() }")
    assert became(old, new) == [
        Drift("p/a.go:f", "moved", SAME, "p/b.go:f"),
        Drift("p/a.go:h", "moved and changed", READ, "p/b.go:h"),
    ]


def test_another_receiver_is_followed() -> None:
    old = functions(a=f"func (e *Evaluator) prepare(pod *Pod) error {{{BODY}}}")
    renamed = functions(b=f"func (x *Executor) prepare(pod *Pod) error {{{BODY.replace('e.', 'x.')}}}")
    where = "p/b.go:Executor.prepare"
    assert became(old, renamed) == [Drift("p/a.go:Evaluator.prepare", "renamed", SAME, where)]
    changed = functions(b=f"func (e *Executor) prepare(pod *Pod) error {{{MORE}}}")
    assert became(old, changed) == [Drift("p/a.go:Evaluator.prepare", "renamed and changed", READ, where)]


def test_another_name_is_followed_by_likeness_and_by_form() -> None:
    old = functions(a=f"func (e *T) prepare(pod *Pod) error {{{BODY}}}")
    assert became(old, functions(a=f"func (e *T) actuate(pod *Pod) error {{{BODY}}}")) == [
        Drift("p/a.go:T.prepare", "renamed", SAME, "p/a.go:T.actuate")
    ]
    assert became(old, functions(a=f"func (e *T) actuate(pod *Pod) error {{{MORE}}}")) == [
        Drift("p/a.go:T.prepare", "renamed and changed", READ, "p/a.go:T.actuate")
    ]


def test_callers_of_a_renamed_function_cannot_matter() -> None:
    callee, caller = (
        f"func (e *T) prepare(pod *Pod) error {{{BODY}}}",
        "func f(t *T, p *Pod) { t.prepare(p) }",
    )
    old = functions(a=f"{callee}\n{caller}")
    new = functions(a=f"{callee}\n{caller}".replace("prepare", "actuate"))
    assert became(old, new) == [
        Drift("p/a.go:T.prepare", "renamed", SAME, "p/a.go:T.actuate"),
        Drift("p/a.go:f", "changed", SAME),
    ]
    assert drifts(tree(old), tree(new))[1] == Drift("p/a.go:f", "changed", READ)


def test_callers_matter_where_the_old_name_is_still_taken() -> None:
    callee, caller = (
        f"func (e *T) prepare(pod *Pod) error {{{BODY}}}",
        "func f(t *T, p *Pod) { t.prepare(p) }",
    )
    other = "func (u *U) prepare(pod *Pod) error { return nil }"
    old = functions(a=f"{callee}\n{caller}", b=other)
    new = functions(a=f"{callee}\n{caller}".replace("prepare", "actuate"), b=other)
    assert Drift("p/a.go:f", "changed", READ) in became(old, new)


def test_likeness() -> None:
    def of(body: str) -> Hashes:
        (function,) = functions_of(f"package p\n\nfunc f(e E, pod *Pod) error {{{body}}}\n").values()
        return hashes_of(function)

    assert likeness(of(BODY), of(BODY)) == 1
    assert 0.5 < likeness(of(BODY), of(MORE + BODY)) < 1
    assert likeness(of(BODY), of("return other(pod)")) < 0.3


def test_what_is_outside_is_only_counted() -> None:
    found = [
        Drift("schedule_one.go:Scheduler.assume", "changed", READ),
        Drift("schedule_one.go:Scheduler.bind", "changed", SAME),
        Drift("schedule_one.go:truncateMessage", "changed", READ),
        Drift("schedule_one.go:hintedCycle", "new", READ),
        Drift("schedule_one.go:Scheduler.skipPodSchedule", "gone", READ),
    ]
    assert counted(found) == {"cannot matter": 1, "read this": 1, "new": 1, "gone": 1, "outside": 1}
    assert [d.is_followed for d in found] == [True, True, False, True, True]
    assert found[0].elements[0] == "scheduler.cycles.schedule_pod.SchedulePod.assume"
    assert (found[3].elements, found[3].reason) == ([], "")
    assert found[2].reason.startswith("writes an event, a text for users")


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    one, two = Hashes("a", "b", "c", 1), Hashes("d", "e", "f", 2)
    trees = Trees({})
    for version, functions in (
        ("1.36.0", {"x.go:f": one, "x.go:T.g": two}),
        ("1.34.0", {"x.go:f": one}),
        ("1.35.10", {"x.go:f": two, "y.go:f": two}),
        ("1.35.2", {"x.go:f": one}),
    ):
        trees = trees.and_also(version, functions)
    text = format_trees(trees)
    assert text.splitlines()[2:] == [
        "trees 1.34.0 1.35.2 1.35.10 1.36.0",
        "x.go",
        " T.g 1.36.0- d e f 2",
        " f 1.34.0-1.35.2 a b c 1",
        " f 1.35.10 d e f 2",
        " f 1.36.0- a b c 1",
        "y.go",
        " f 1.35.10 d e f 2",
    ]
    file = tmp_path / "trees.txt"
    file.write_text(text)
    assert read_trees(file) == trees
    assert trees.newest == "1.36.0"
    again = trees.and_also("1.36.0", {})
    assert again.by_version["1.36.0"] == {}


def test_a_pre_release_lies_before_its_release(tmp_path: Path) -> None:
    one, two = Hashes("a", "b", "c", 1), Hashes("d", "e", "f", 2)
    trees = Trees({})
    for version in ("1.38.0", "1.38.0-beta.0", "1.37.2", "1.38.0-rc.1", "1.38.0-beta.10"):
        trees = trees.and_also(version, {"x.go:f": two if "beta" in version else one})
    text = format_trees(trees)
    assert text.splitlines()[2:] == [
        "trees 1.37.2 1.38.0-beta.0 1.38.0-beta.10 1.38.0-rc.1 1.38.0",
        "x.go",
        " f 1.37.2 a b c 1",
        " f 1.38.0-beta.0-1.38.0-beta.10 d e f 2",
        " f 1.38.0-rc.1- a b c 1",
    ]
    file = tmp_path / "trees.txt"
    file.write_text(text)
    assert read_trees(file) == trees
    assert trees.newest == "1.38.0"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("trees 1.36\n", "no version: 1.36"),
        ("trees 1.36.0\nx.go\n f 1.35.0 a b c 1\n", "no function with trees that there are"),
    ],
)
def test_a_record_that_is_wrong(tmp_path: Path, wrong: str, says: str) -> None:
    file = tmp_path / "trees.txt"
    file.write_text(wrong)
    with pytest.raises(ValueError, match=says):
        read_trees(file)


def test_podraces_own_record() -> None:
    trees = read_trees()
    assert len(trees.by_version) == 24
    assert trees.newest == "1.38.0-beta.0"
