"""What a change touches: functions, the elements of the model, and files that cannot matter."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.reports.verify.code_change import Touched
from podrace.reproduce.changes import sources
from podrace.reproduce.changes.functions import WhatChanged, linked, not_compiled, unjudged, what_changed
from podrace.reproduce.changes.judge import cannot_matter, unjudged_words
from podrace.reproduce.changes.replays import BESIDE, FAR, HERE, nearness
from podrace.reproduce.changes.texts import FileChange, applied, parse_diff
from podrace.reproduce.modules.toolchain import Go

EXECUTOR = "pkg/scheduler/framework/preemption/executor.go"
BEFORE = """\
package preemption

// prepareCandidateAsync does it.
func (e *Executor) prepareCandidateAsync(c Candidate) {
	defer e.fh.Activate(logger, pods)
	e.start(c)
}

type Executor struct{ mu int }
"""


def tree(root: Path) -> Path:
    for file, text in {
        "pkg/scheduler/scheduler.go": 'package scheduler\n\nimport (\n\t"k8s.io/kubernetes/pkg/scheduler/framework/preemption"\n)\n',
        EXECUTOR: BEFORE,
        "pkg/kubelet/kubelet.go": "package kubelet\n",
    }.items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(text, encoding="utf-8")
    return root


def changed(tmp_path: Path, after: str | None, path: str = EXECUTOR, before: str | None = BEFORE):
    return what_changed([FileChange(path, before, after)], tree(tmp_path), {})


def test_a_function_names_all_its_elements(tmp_path: Path) -> None:
    found = changed(tmp_path, BEFORE.replace("\tdefer e.fh.Activate(logger, pods)\n", ""))
    [one] = found.touched
    assert (one.place, one.what) == (
        "framework/preemption/executor.go:Executor.prepareCandidateAsync",
        "changed",
    )
    names = {element.rpartition(".")[2] for element in one.elements}
    assert {"start", "begin", "leave_last", "conclude", "activates", "activate"} <= names
    assert found.can_matter


def test_comments_cannot_matter(tmp_path: Path) -> None:
    found = changed(tmp_path, BEFORE.replace("does it", "does something"))
    assert (found.touched, found.files) == ((), ())
    assert found.passed_over == ((EXECUTOR, "comments and layout only"),)
    assert not found.can_matter


def test_a_type(tmp_path: Path) -> None:
    found = changed(tmp_path, BEFORE.replace("mu int", "mu, other int"))
    place = "framework/preemption/executor.go: types or imports"
    assert found.touched == (Touched(place, "changed", remark="declarations, no function"),)


def test_a_renamed_local_is_said_to_be_one_and_still_judged(tmp_path: Path) -> None:
    found = changed(tmp_path, BEFORE.replace("(c Candidate)", "(d Candidate)").replace("(c)", "(d)"))
    assert [one.remark for one in found.touched] == ["renamed, moved, logged or counted only"]
    assert found.can_matter


def test_packages_that_are_not_imported(tmp_path: Path) -> None:
    path = "pkg/kubelet/kubelet.go"
    found = changed(tmp_path, "package kubelet\n\nvar x = 1\n", path, "package kubelet\n")
    assert found.passed_over == ((path, "a package that kube-scheduler does not import"),)
    assert linked(tmp_path) == {
        "pkg/scheduler",
        "pkg/scheduler/apis/config/latest",
        "pkg/scheduler/apis/config/testing/defaults",
        "pkg/scheduler/framework/preemption",
        "pkg/scheduler/testing",
    }


def test_what_the_compiler_reads_of_comments_counts(tmp_path: Path) -> None:
    """A build tag is more than a comment."""
    texts = [f"//go:build {tag}\n\npackage x\n\nfunc F() {{ g() }}\n" for tag in ("linux", "windows")]
    found = changed(tmp_path, texts[1], "pkg/scheduler/x.go", texts[0])
    assert found.can_matter
    assert not found.renamed


@pytest.mark.parametrize("path", ["pkg/scheduler/x/x.go", "pkg/util/slice/slice.go"])
@pytest.mark.parametrize("before", [None, "package x\n"])
def test_a_package_that_the_change_brings_in_counts(tmp_path: Path, path: str, before: str | None) -> None:
    """New or not, from the moment that something of the scheduler imports it. Until now, what is not imported before the change could not matter."""
    code = "package x\n\nfunc F() { g() }\n"
    tree(tmp_path)
    brought = FileChange(path, before, code)
    alone = what_changed([brought], tmp_path, {})
    assert alone.passed_over == ((path, "a package that kube-scheduler does not import"),)
    imports = f'import _ "k8s.io/kubernetes/{path.rpartition("/")[0]}"\n'
    importing = FileChange(EXECUTOR, BEFORE, BEFORE.replace("\n\n", f"\n\n{imports}", 1))
    both = what_changed([brought, importing], tmp_path, {})
    assert (both.passed_over, both.files) == ((), (brought, importing))


def test_tests_docs_and_other_modules() -> None:
    files = (
        "pkg/scheduler/a_test.go",
        "CHANGELOG.md",
        "staging/src/k8s.io/client-go/a.go",
        "go.mod",
        "pkg/a.go",
    )
    diff = parse_diff("".join(f"--- a/{f}\n+++ b/{f}\n@@ -1 +1 @@\n-a\n+b\n" for f in files), "x")
    assert not_compiled(diff) == {files[0]: "a test", files[1]: "no Go source"}
    assert unjudged(diff) == ("go.mod", "staging/src/k8s.io/client-go/a.go")


@pytest.mark.parametrize(
    ("path", "why"),
    [
        (".go-version", "it says which Go compiles that, and how"),
        ("hack/lib/version.sh", "it says which Go compiles that, and how"),
        ("pkg/scheduler/framework/fast_amd64.s", "Go's tool compiles it, and it is no Go"),
    ],
)
def test_what_the_scheduler_is_built_by_is_not_judged(path: str, why: str) -> None:
    diff = parse_diff(f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n", "x")
    assert (not_compiled(diff), unjudged(diff)) == ({}, (path,))
    found = cannot_matter(WhatChanged((), (), unjudged=(path,)), "x", "v1.36.3")
    assert (found.answer, found.because) == (
        "INCONCLUSIVE",
        f"{path} may be part of kube-scheduler and is not judged: {why}",
    )


def moved(old: str, new: str) -> str:
    return f"diff --git a/{old} b/{new}\nsimilarity index 100%\nrename from {old}\nrename to {new}\n"


@pytest.mark.parametrize("new", ["executor_test.go", "executor.go.orig"])
def test_a_file_whose_new_name_is_not_compiled_is_gone(tmp_path: Path, new: str) -> None:
    other = EXECUTOR.replace("executor.go", new)
    diff = parse_diff(moved(EXECUTOR, other), "x")
    assert (not_compiled(diff), unjudged(diff)) == ({}, ())
    found = what_changed(applied(diff, tree(tmp_path), "x", "v1.36.3"), tmp_path, {})
    assert found.files == (FileChange(EXECUTOR, BEFORE, None),)
    assert [one.what for one in found.touched if "prepare" in one.place] == ["gone"]
    assert found.passed_over[0][0] == other


@pytest.mark.parametrize(
    "names", [("staging/src/a.go", "pkg/scheduler/a.go"), ("pkg/scheduler/a.go", "staging/src/a.go")]
)
def test_a_file_that_comes_from_another_module_or_goes_there_is_not_judged(names: tuple[str, str]) -> None:
    diff = parse_diff(moved(*names), "x")
    assert (not_compiled(diff), unjudged(diff)) == ({}, (names[1],))


COMMAND = "cmd/kube-scheduler/app/server.go"


@pytest.mark.parametrize("path", [COMMAND, "pkg/scheduler/metrics/resources/r.go"])
def test_the_command_is_part_of_it_and_not_judged(tmp_path: Path, path: str) -> None:
    """What the flush waits for, and whether handlers have synced, is decided there."""
    for file, imported in (
        ("scheduler.go", "cmd/kube-scheduler/app"),
        ("app/server.go", "pkg/scheduler/metrics/resources"),
    ):
        (tmp_path / "cmd/kube-scheduler" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "cmd/kube-scheduler" / file).write_text(
            f'package x\n\nimport "k8s.io/kubernetes/{imported}"\n', encoding="utf-8"
        )
    (tmp_path / "pkg/scheduler/metrics/resources").mkdir(parents=True)
    found = changed(tmp_path, "package x\n\nvar y = 1\n", path, "package x\n")
    assert (found.unjudged, found.files, found.passed_over) == ((path,), (), ())
    assert (
        unjudged_words(found)
        == f"{path} is part of kube-scheduler and is not judged: podrace runs it from its packages, not by its command"
    )


def test_of_a_tree_its_command_and_its_modules_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for side in ("base", "own"):
        files = {
            "go.mod": f"module {side}\n",
            ".go-version": f"{side}\n",
            "pkg/scheduler/util/fast.s": f"// {side}\n",
            "pkg/scheduler/scheduler.go": "package x\n",
            COMMAND: f"package {side}\n",
            **({"staging/a.go": side} if side == "own" else {}),
        }
        for file, text in files.items():
            (tmp_path / side / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / side / file).write_text(text, encoding="utf-8")
    monkeypatch.setattr(sources, "unchanged", lambda *_: tmp_path / "base")
    change = sources.of_tree(tmp_path / "own", "v1.36.3", Go("go", "go1.26.8"))
    assert {one.path for one in change.files} == {
        "go.mod",
        ".go-version",
        "pkg/scheduler/util/fast.s",
        COMMAND,
    }
    what = what_changed((), tmp_path / "base", {})
    found = cannot_matter(what, change.name, change.base_words, change.notes, change.uncompared)
    assert (found.answer, found.because) == (
        "INCONCLUSIVE",
        "what is staged in the tree is not compared (two commits are, with --repo and --range); of the rest: nothing differs",
    )


def test_upstream_changes_of_what_is_touched() -> None:
    element = "scheduler.event_handlers.EventHandlers.nomination_wakes"
    assert nearness("129058", [element]) < FAR
    assert nearness("93938", [element]) == FAR
    assert nearness("93938", ["scheduler.cache.scheduler_cache.Cache.remove_node"]) < FAR, (
        "the race of RemoveNode"
    )
    method = "scheduler.queue.nominator.Nominator.update"
    assert [nearness(key, [method]) for key in ("77990", "70898", "93938")] == [HERE, BESIDE, FAR]
