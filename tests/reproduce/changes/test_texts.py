"""Diffs of Go code: read as git and diff write them, and applied."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.base.problems import UsageProblem
from podrace.reproduce.changes.texts import FileChange, FileDiff, applied, parse_diff

GIT = """\
From: somebody
Subject: what it does

diff --git a/pkg/a.go b/pkg/a.go
index 1..2 100644
--- a/pkg/a.go
+++ b/pkg/a.go
@@ -1,3 +1,3 @@ func F() {
 one
-two
+--- two

@@ -7 +7,2 @@
 seven
+eight
\\ No newline at end of file
diff --git a/pkg/new.go b/pkg/new.go
new file mode 100644
--- /dev/null
+++ b/pkg/new.go
@@ -0,0 +1 @@
+package new
diff --git a/pkg/old.go b/pkg/old.go
deleted file mode 100644
--- a/pkg/old.go
+++ /dev/null
@@ -1 +0,0 @@
-package old
diff --git a/docs/x.png b/docs/x.png
Binary files a/docs/x.png and b/docs/x.png differ
diff --git a/pkg/b.go b/pkg/c.go
similarity index 100%
rename from pkg/b.go
rename to pkg/c.go
"""


def test_what_git_writes() -> None:
    assert parse_diff(GIT, "pr.diff") == [
        FileDiff(
            "pkg/a.go",
            "pkg/a.go",
            ("@@ -1,3 +1,3 @@ func F() {\n", " one\n", "-two\n", "+--- two\n", " \n", "@@ -7 +7,2 @@\n", " seven\n", "+eight\n"),
        ),
        FileDiff("", "pkg/new.go", ("@@ -0,0 +1 @@\n", "+package new\n")),
        FileDiff("pkg/old.go", "", ("@@ -1 +0,0 @@\n", "-package old\n")),
        FileDiff("docs/x.png", "docs/x.png", ()),
        FileDiff("pkg/b.go", "pkg/c.go", ()),
    ]  # fmt: skip


def test_what_diff_writes_without_prefixes() -> None:
    text = "--- pkg/a.go\t2026-01-01 00:00:00\n+++ pkg/a.go\t2026-01-02 00:00:00\n@@ -1 +1 @@\n-a\n+b\n"
    assert parse_diff(text, "x") == [FileDiff("pkg/a.go", "pkg/a.go", ("@@ -1 +1 @@\n", "-a\n", "+b\n"))]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "pr.diff: no unified diff: make one with `git diff BASE HEAD`"),
        ("hello\n", "pr.diff: no unified diff: make one with `git diff BASE HEAD`"),
        (
            "--- a/a.go\n+++ b/a.go\n@@ -1,2 +1,2 @@\n-a\n",
            "pr.diff: line 5: the hunk ends too early: make the diff again",
        ),
        (
            "--- a/../../a.go\n+++ b/../../a.go\n@@ -1 +1 @@\n-a\n+b\n",
            "pr.diff: `../../a.go` is outside of the tree: paths of a diff are relative to its root",
        ),
    ],
)
def test_what_is_no_diff(text: str, said: str) -> None:
    with pytest.raises(UsageProblem) as caught:
        parse_diff(text, "pr.diff")
    assert str(caught.value) == said


def tree(root: Path) -> Path:
    (root / "pkg").mkdir()
    (root / "pkg/a.go").write_text("one\ntwo\n\n3\n4\n5\nseven\n", encoding="utf-8")
    (root / "pkg/b.go").write_text("package b\n", encoding="utf-8")
    (root / "pkg/old.go").write_text("package old\n", encoding="utf-8")
    return root


def test_applied(tmp_path: Path) -> None:
    assert applied(parse_diff(GIT, "pr.diff"), tree(tmp_path), "pr.diff", "v1.36.3") == [
        FileChange("pkg/a.go", "one\ntwo\n\n3\n4\n5\nseven\n", "one\n--- two\n\n3\n4\n5\nseven\neight\n"),
        FileChange("pkg/new.go", None, "package new\n"),
        FileChange("pkg/old.go", "package old\n", None),
        FileChange("pkg/b.go", "package b\n", None),
        FileChange("pkg/c.go", None, "package b\n"),
    ]


def test_what_does_not_apply(tmp_path: Path) -> None:
    root, diff = tree(tmp_path), parse_diff(GIT, "pr.diff")[:2]
    (root / "pkg/a.go").write_text("one\ntwo\n\n3\n4\n5\n7\n", encoding="utf-8")
    with pytest.raises(UsageProblem) as caught:
        applied(diff, root, "pr.diff", "v1.36.3")
    said = "pr.diff: does not apply to pkg/a.go of v1.36.3 (hunk 2, @@ -7 +7,2 @@): name with --kubernetes the version that it is made for"
    assert str(caught.value) == said
    for text in (GIT.replace("pkg/", ""), "--- /dev/null\n+++ b/new.go\n@@ -0,0 +1 @@\n+package new\n"):
        with pytest.raises(
            UsageProblem,
            match=r"^pr\.diff: v1\.36\.3 has no (a|new)\.go: its paths must begin at the root of kubernetes, ",
        ):
            applied(parse_diff(text, "pr.diff"), root, "pr.diff", "v1.36.3")
    (root / "pkg/new.go").touch()
    with pytest.raises(UsageProblem, match=r"^pr\.diff: it creates pkg/new\.go, which v1\.36\.3 has: "):
        applied(diff[1:], root, "pr.diff", "v1.36.3")
    (root / "pkg/a.go").unlink()
    with pytest.raises(UsageProblem, match=r"^pr\.diff: v1\.36\.3 has no pkg/a\.go: "):
        applied(diff, root, "pr.diff", "v1.36.3")
