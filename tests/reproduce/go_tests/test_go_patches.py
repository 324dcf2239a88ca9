"""Patches as Go changes: how they are applied, and that each has its counterpart in the model."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import tests.races.hazard_patches as model
from podrace.base.problems import UsageProblem
from podrace.reproduce.patches import MENDED_BY, GoPatch, patch_names, patched_copy, read_patch, replaced
from tests.races.test_hazards import FOLDER, LATER_ROWS, ROWS

OLD = "".join(f"line {n}\n" for n in range(1, 21))
DIFF = """\
--- a/pkg/a.go
+++ b/pkg/a.go
@@ -2,3 +2,4 @@
 line 2
-line 3
+line three
+line three and a half
 line 4
@@ -15,3 +16,2 @@
 line 15
-line 16
 line 17
"""
NEW = OLD.replace("line 3\n", "line three\nline three and a half\n").replace("line 16\n", "")

IN_THE_MODEL = {
    "requeue-looks-again": model.RequeueLooksAgain,
    "node-removed-first": model.NodeRemovedFirst,
    "gone-not-assumed": model.AssumedIfListed,
    "tombstones-wake-like-deletions": model.TombstonesWakeLikeDeletions,
    "placed-not-added": model.PlacedNotAdded,
    "registered-to-the-end": model.RegisteredToTheEnd,
    "terms-of-others-heard": model.TermsOfOthersHeard,
    "counted-nodes-heard": model.CountedNodesHeard,
    "lost-domains-heard": model.LostDomainsHeard,
    "victims-awaited-by-uid": model.VictimsAwaitedByUID,
    "victims-deleted-by-uid": model.VictimsDeletedByUID,
    "nominated-by-uid": model.NominatedByUID,
    "replaced-taken-out": model.SwappedTakenOut,
    "preemptor-read-by-uid": model.PreemptorReadByUID,
    "ports-of-others-kept": model.PortsOfOthersKept,
    "status-patched-by-uid": model.WrittenByUID,
    "bound-pods-unpatched": model.BoundPodsUnpatched,
    "always-activated": model.AlwaysActivated,
}


def sources(folder: Path, text: str = OLD) -> Path:
    (folder / "pkg").mkdir(parents=True)
    (folder / "pkg" / "a.go").write_text(text, encoding="utf-8")
    (folder / "pkg" / "b.go").write_text("b\n", encoding="utf-8")
    return folder


def test_a_copy_has_the_patch_and_the_sources_do_not(tmp_path: Path) -> None:
    original, copy = sources(tmp_path / "original"), tmp_path / "copy"
    patched_copy(original, copy, [GoPatch("p", "what it does", DIFF)])
    assert (copy / "pkg" / "a.go").read_text(encoding="utf-8") == NEW
    assert (original / "pkg" / "a.go").read_text(encoding="utf-8") == OLD
    assert os.path.samefile(original / "pkg" / "b.go", copy / "pkg" / "b.go"), "what is not changed is linked"
    patched_copy(original, copy, [])
    assert (copy / "pkg" / "a.go").read_text(encoding="utf-8") == OLD


def test_hunks_may_stand_elsewhere(tmp_path: Path) -> None:
    original = sources(tmp_path / "original", "above\n" * 7 + OLD)
    patched_copy(original, tmp_path / "copy", [GoPatch("p", "what it does", DIFF)])
    assert (tmp_path / "copy" / "pkg" / "a.go").read_text(encoding="utf-8") == "above\n" * 7 + NEW


def test_a_patch_that_does_not_fit(tmp_path: Path) -> None:
    original = sources(tmp_path / "original", OLD.replace("line 17", "line seventeen"))
    with pytest.raises(
        UsageProblem, match=r"^p: it does not fit pkg/a\.go of this version: it is for v1\.36\.3$"
    ):
        patched_copy(original, tmp_path / "copy", [GoPatch("p", "what it does", DIFF)])
    (original / "pkg" / "a.go").unlink()
    with pytest.raises(UsageProblem, match=r"^p: this version has no pkg/a\.go: the patch is for v1\.36\.3$"):
        patched_copy(original, tmp_path / "copy", [GoPatch("p", "what it does", DIFF)])


def test_patches_say_what_they_do_and_change_the_scheduler_alone() -> None:
    for name in patch_names():
        patch = read_patch(name)
        assert patch.title.startswith("scheduler: ")
        assert len(patch.title.splitlines()) == 1
        assert patch.files
        assert all(file.startswith("pkg/scheduler/") and file.endswith(".go") for file in patch.files)
    assert read_patch("gone-not-assumed").packages == ("k8s.io/kubernetes/pkg/scheduler",)


def test_an_unknown_patch() -> None:
    with pytest.raises(
        UsageProblem, match="--go-patch: there is no patch `ghosts`; known are always-activated, "
    ):
        read_patch("ghosts")


def test_every_patch_mends_a_hazard_and_is_checked_on_the_model() -> None:
    assert (
        set(patch_names()) == {name for names in MENDED_BY.values() for name in names} == IN_THE_MODEL.keys()
    )
    holds = {(row[0], frozenset(row[2])) for row in (*ROWS, *LATER_ROWS) if row[4] == "HOLDS"}
    for hazard, names in MENDED_BY.items():
        assert (FOLDER / f"{hazard}.yaml").exists()
        assert (hazard, frozenset(IN_THE_MODEL[name] for name in names)) in holds, hazard


def test_where_the_sources_are_taken_from() -> None:
    assert replaced("module m\n") == "module m\n\nreplace k8s.io/kubernetes => ./kubernetes\n"
