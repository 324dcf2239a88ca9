"""What a change touches: functions, the elements of the model, and files that cannot matter."""

from __future__ import annotations

from pathlib import Path

from podrace.reports.verify.code_change import Touched
from podrace.reproduce.changes.functions import linked, not_compiled, unjudged, what_changed
from podrace.reproduce.changes.replays import BESIDE, FAR, HERE, nearness
from podrace.reproduce.changes.texts import FileChange, parse_diff

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
    found = changed(tmp_path, texts[1], "pkg/scheduler/x/x.go", texts[0])
    assert found.can_matter
    assert not found.renamed


def test_a_new_package_of_the_scheduler_counts(tmp_path: Path) -> None:
    found = changed(tmp_path, "package x\n\nfunc F() { g() }\n", "pkg/scheduler/x/x.go", None)
    assert [(one.place, one.what) for one in found.touched] == [("x/x.go:F", "new")]


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
    assert unjudged(files) == ("go.mod", "staging/src/k8s.io/client-go/a.go")


def test_upstream_changes_of_what_is_touched() -> None:
    element = "scheduler.event_handlers.EventHandlers.nomination_wakes"
    assert nearness("129058", [element]) < FAR
    assert nearness("93938", [element]) == FAR
    assert nearness("93938", ["scheduler.cache.scheduler_cache.Cache.remove_node"]) < FAR, (
        "the race of RemoveNode"
    )
    method = "scheduler.queue.nominator.Nominator.update"
    assert [nearness(key, [method]) for key in ("77990", "70898", "93938")] == [HERE, BESIDE, FAR]
