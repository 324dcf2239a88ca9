"""`podrace drift`: functions of a Go tree by their tokens, and what became of those that the model stands for."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podrace.analysis.upstream.drifted import Drift, compared
from podrace.analysis.upstream.go_functions import functions_of
from podrace.model.history.upstream import mirrors
from tests.cli.helpers import Shell

GO = """\
// Package q is made up for this test.
package q

import "fmt"

type Queue[T any] struct{ items map[string]interface{} }

var hook = func(n int) int { return n }

/* Pop has a block comment. */
func (q *Queue[T]) Pop(
	n int, opts ...func() error,
) (interface{}, error) {
	// not a token: }
	for i := 0; i < n; i++ {
		if s := fmt.Sprintf("a } %q", '}'); s != `raw
}` {
			return q.items[s], nil
		}
	}
	return nil, nil
}

func less(a, b int) bool { return a < b }

func external(x struct{ y int }) interface{ Z() }
"""

FLAT = [
    "func", "less", "(", "a", ",", "b", "int", ")", "bool", "{", "if", "a", "==", "b", "{", "return", "false", "}", ";",
    "return", "a", "<", "b", "}",
]  # fmt: skip
ENDS = {"false", "b", "}", ")", "bool", "int", "less", "a", "return"}


def test_functions_with_bodies_are_found() -> None:
    assert list(functions_of(GO)) == ["Queue.Pop", "less"]


def test_layout_and_comments_do_not_count() -> None:
    other = GO.replace("// not a token: }", "").replace(
        "\n\tn int, opts ...func() error,\n)", "n int, opts ...func() error)"
    )
    other = other.replace("for i := 0; i < n; i++ {", "for i:=0;i<n;i++ { // again\n")
    assert other != GO
    assert functions_of(other) == functions_of(GO)


@pytest.mark.parametrize(
    ("old", "new"),
    [("a < b", "a <= b"), ("a < b", "b < a"), ("a, b int", "a, b int64"), ("bool {", "bool { ; ")],
)
def test_tokens_count(old: str, new: str) -> None:
    before, after = functions_of(GO), functions_of(GO.replace(old, new))
    assert before["Queue.Pop"] == after["Queue.Pop"]
    assert before["less"] != after["less"]


@given(st.data())
def test_any_layout_that_the_language_allows_gives_the_same_hash(data: st.DataObject) -> None:
    text = ""
    for token in FLAT:
        blanks = [" ", "\t ", " /* x */ "]
        broken = ["\n", " // y\n", "\n\n\t"]
        # A line may end after a token that ends no statement; and for the semicolon itself.
        if token == ";":
            text += data.draw(st.sampled_from([";", ";\n", *broken]))
        else:
            text += token + data.draw(st.sampled_from(blanks if token in ENDS else blanks + broken))
    assert functions_of(text) == functions_of(" ".join(FLAT))


@given(st.integers(0, len(FLAT) - 1))
def test_every_token_decides(at: int) -> None:
    if FLAT[at] in ("func", "(", ")", "{", "}", "less"):
        return
    changed = [*FLAT[:at], f"{FLAT[at]} extra", *FLAT[at + 1 :]]
    assert functions_of(" ".join(changed)).get("less") != functions_of(" ".join(FLAT))["less"]


def test_what_became_of_a_function() -> None:
    old = {"a.go:f": "1", "a.go:g": "2", "a.go:h": "3", "a.go:k": "4", "a.go:same": "5"}
    new = {"a.go:f": "9", "b.go:g": "2", "b.go:h": "8", "a.go:new": "6", "a.go:same": "5"}
    wanted = ("a.go:f", "a.go:g", "a.go:h", "a.go:k", "a.go:same", "a.go:new")
    assert compared(wanted, old, new) == [
        Drift("a.go:f", "changed"),
        Drift("a.go:g", "moved", "b.go:g"),
        Drift("a.go:h", "moved and changed", "b.go:h"),
        Drift("a.go:k", "vanished"),
        Drift("a.go:new", "not looked at before"),
    ]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A source tree with every function that the model stands for, each with a body of its own."""
    root = tmp_path / "kubernetes"
    bodies: dict[str, list[str]] = {"scheduler.go": []}
    for place in dict.fromkeys(place for mirror in mirrors() for place in mirror.places):
        file, _, name = place.partition(":")
        kind, _, method = name.rpartition(".")
        head = f"func (x *{kind}) {method}()" if kind else f"func {name}()"
        bodies.setdefault(file, []).append(f'{head} {{\n\tlog("{name}")\n}}\n')
    for file, texts in bodies.items():
        path = root / "pkg" / "scheduler" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("package x\n\n" + "\n".join(texts))
    return root


def test_from_one_look_to_the_next(shell: Shell, tree: Path, tmp_path: Path) -> None:
    hashes = tmp_path / "hashes.json"
    count = len(dict.fromkeys(place for mirror in mirrors() for place in mirror.places))
    ran = shell("drift", str(tree), "--hashes", str(hashes), "--update", "--release", "1.35.0")
    assert (ran.code, ran.err) == (0, f"wrote {hashes}: {count} functions\n")
    ran = shell("drift", str(tree), "--hashes", str(hashes))
    assert (ran.code, ran.out) == (0, f"{count} of {count} functions are the same since 1.35.0\n")

    queue = tree / "pkg" / "scheduler" / "backend" / "queue"
    (queue / "other.go").write_text((queue / "nominator.go").read_text().replace("log(", "// moved\n\tlog("))
    (queue / "nominator.go").unlink()
    one = tree / "pkg" / "scheduler" / "schedule_one.go"
    one.write_text(
        one.read_text()
        .replace('log("Scheduler.assume")', 'log("assumed")')
        .replace("func selectHost", "func pick")
    )
    ran = shell("drift", str(tree), "--hashes", str(hashes), "-o", "json")
    assert ran.code == 1
    told = json.loads(ran.out)
    found = {d["place"]: (d["what"], d["where"]) for d in told["drifted"]}
    assert found == {
        "schedule_one.go:selectHost": ("vanished", None),
        "schedule_one.go:Scheduler.assume": ("changed", None),
        **{
            f"backend/queue/nominator.go:nominator.{name}": ("moved", f"backend/queue/other.go:nominator.{name}")
            for name in ("addNominatedPodUnlocked", "AddNominatedPod", "UpdateNominatedPod", "DeleteNominatedPodIfExists",
                         "deleteUnlocked", "nominatedPodsForNode")
        },
    }  # fmt: skip
    (assumed,) = [d for d in told["drifted"] if d["place"] == "schedule_one.go:Scheduler.assume"]
    assert assumed["model"] == [
        "scheduler.schedule_one.Scheduler.assume",
        "scheduler.schedule_one.Scheduler.start_binding",
    ]
    lines = shell("drift", str(tree), "--hashes", str(hashes)).out.splitlines()
    assert "schedule_one.go:selectHost: vanished" in lines
    assert lines[lines.index("schedule_one.go:Scheduler.assume: changed") + 1] == (
        "  in the model: scheduler.schedule_one.Scheduler.assume, scheduler.schedule_one.Scheduler.start_binding"
    )
    assert lines[-1] == f"{count - 8} of {count} functions are the same since 1.35.0"


def test_a_vendored_tree_and_the_scheduler_itself(shell: Shell, tree: Path, tmp_path: Path) -> None:
    vendored = tmp_path / "project" / "vendor" / "k8s.io" / "kubernetes"
    shutil.copytree(tree, vendored)
    first = shell("drift", str(tmp_path / "project"), "-o", "json")
    second = shell("drift", str(tree / "pkg" / "scheduler"), "-o", "json")
    assert (first.code, second.code) == (1, 1)
    assert first.out == second.out
    assert json.loads(first.out)["release"] == "1.34.1"


def test_mistakes(shell: Shell, tree: Path, tmp_path: Path) -> None:
    ran = shell("drift", str(tmp_path / "nowhere"))
    assert (ran.code, ran.err) == (
        2,
        f"podrace: `{tmp_path / 'nowhere'}` is no directory: name the root of a kubernetes source tree\n",
    )
    ran = shell("drift", str(tmp_path))
    assert ran.code == 2
    assert ran.err.startswith(f"podrace: `{tmp_path}` has no pkg/scheduler/scheduler.go: ")
    broken = tmp_path / "broken.json"
    broken.write_text("[]")
    ran = shell("drift", str(tree), "--hashes", str(broken))
    assert (ran.code, ran.err) == (
        2,
        f"podrace: --hashes: `{broken}` cannot be read: it has no `functions`\n",
    )
    (tree / "pkg" / "scheduler" / "scheduler.go").write_bytes(b"\xff\xfe")
    assert shell("drift", str(tree)).err.endswith("scheduler.go: cannot be read: it is not UTF-8\n")
