"""A change as texts: of each file what it was and what it is; read from a unified diff, from two trees, or from two commits."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from ...base.problems import UsageProblem
from ...base.structs import Data
from ...base.text import one_line
from ..patches import patched

OTHER_BASE = "name with --kubernetes the version that it is made for"
FROM_ROOT = "its paths must begin at the root of kubernetes, as `git diff` writes them without --relative"
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_GIT = re.compile(r"diff --git a/(.+) b/(.+)")

ELSEWHERE = ("staging/", "vendor/")
_MODULES = ("go.mod", "go.sum", "go.work", "go.work.sum")
_TOOLS = (
    ".go-version",
    "build/build-image/cross/VERSION",
    "build/common.sh",
    "hack/lib/golang.sh",
    "hack/lib/version.sh",
)
BUILT_BY = (*_MODULES, *_TOOLS)
"""What says which modules there are, and which Go compiles them, with which flags."""
OTHER_SOURCES = (".s", ".S", ".c", ".h", ".cc", ".cpp", ".syso")
"""How names of files end that Go's tool compiles, and that are no Go."""


class FileDiff(Data):
    """What a diff does with one file. `old` or `new` is empty for a file that is created or deleted; `rows` are the lines of its hunks."""

    old: str
    new: str
    rows: tuple[str, ...]

    @property
    def path(self) -> str:
        """The file that it is about."""
        return self.new or self.old

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is about a file that is not judged, before or after."""
        return is_elsewhere(self.old) or is_elsewhere(self.new)

    @property
    def counts(self) -> bool:
        """Whether it is about a file of this module that is part of a program, before or after."""
        return not self.is_elsewhere and (counts(self.old) or counts(self.new))


class FileChange(Data):
    """A file before and after a change; None where it is not there."""

    path: str
    before: str | None
    after: str | None

    @property
    def is_go(self) -> bool:
        """Whether it is compiled into something: Go, and no test."""
        return self.path.endswith(".go") and not self.path.endswith("_test.go")


def parse_diff(text: str, name: str) -> list[FileDiff]:
    """The files of a unified diff, as `git diff` and `diff -u` write it. Raises UsageProblem."""
    found = list(_Parser(text, name).files())
    if not found:
        raise UsageProblem(f"{name}: no unified diff: make one with `git diff BASE HEAD`")
    for one in found:
        for path in (one.old, one.new):
            if path and (path.startswith("/") or ".." in PurePosixPath(path).parts):
                raise UsageProblem(
                    f"{name}: `{one_line(path, 100)}` is outside of the tree: paths of a diff are relative to its root"
                )
    return found


class _Parser:
    def __init__(self, text: str, name: str) -> None:
        self.lines, self.name, self.at = text.splitlines(), name, 0

    def files(self) -> Iterator[FileDiff]:
        named: tuple[str, str] | None = None
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if (match := _GIT.fullmatch(line)) is not None:
                if named is not None:
                    yield FileDiff(*named, ())
                named = match[1], match[2]
            elif line.startswith("deleted file") and named is not None:
                named = (named[0], "")
            elif line.startswith("new file") and named is not None:
                named = ("", named[1])
            elif line.startswith("--- ") and self._next().startswith("+++ "):
                old, new = _path(line[4:]), _path(self._next()[4:])
                self.at += 2
                yield FileDiff(old, new, tuple(self._hunks()))
                named = None
                continue
            self.at += 1
        if named is not None:
            yield FileDiff(*named, ())

    def _next(self) -> str:
        return self.lines[self.at + 1] if self.at + 1 < len(self.lines) else ""

    def _hunks(self) -> Iterator[str]:
        while self.at < len(self.lines) and (match := _HUNK.match(self.lines[self.at])) is not None:
            yield self.lines[self.at] + "\n"
            self.at += 1
            old, new = int(match[1] or 1), int(match[2] or 1)
            while old or new:
                row = self.lines[self.at] if self.at < len(self.lines) else None
                if row is None or (row[:1] not in (" ", "-", "+", "\\", "")):
                    raise UsageProblem(
                        f"{self.name}: line {self.at + 1}: the hunk ends too early: make the diff again"
                    )
                self.at += 1
                row = row or " "  # an empty line whose blank was stripped
                if row[0] == "\\":
                    continue
                old -= row[0] in " -"
                new -= row[0] in " +"
                yield row + "\n"
            if self.at < len(self.lines) and self.lines[self.at].startswith("\\"):
                self.at += 1


def _path(text: str) -> str:
    path = text.partition("\t")[0].strip().strip('"')
    if path == "/dev/null":
        return ""
    return re.sub(r"^[ab]/", "", path)


def applied(diff: Sequence[FileDiff], root: Path, name: str, base: str) -> list[FileChange]:
    """The Go files of a diff before and after it, on a tree. Raises UsageProblem for what does not fit."""
    return [change for one in diff if one.counts for change in _applied(one, root, name, base)]


def counts(path: str) -> bool:
    """Whether a file can be part of a program: Go source that is no test."""
    return FileChange(path, None, None).is_go


def is_elsewhere(path: str) -> bool:
    """Whether the scheduler may be built of a file, or by it, and not from a diff."""
    return bool(why_elsewhere(path))


def why_elsewhere(path: str) -> str:
    """Why nothing is said of a file of which, or by which, the scheduler may be built; empty for others."""
    if path in _MODULES or (path.startswith(ELSEWHERE) and not path.endswith("_test.go")):
        return "it belongs to another module"
    if path in _TOOLS:
        return "it says which Go compiles that, and how"
    return "Go's tool compiles it, and it is no Go" if path.endswith(OTHER_SOURCES) else ""


def _applied(one: FileDiff, root: Path, name: str, base: str) -> list[FileChange]:
    before = None
    if not (root / PurePosixPath(one.path).parts[0]).exists():
        raise UsageProblem(f"{name}: {base} has no {one_line(one.path, 120)}: {FROM_ROOT}")
    if one.old:
        file = root / one.old
        if not file.is_file():
            raise UsageProblem(f"{name}: {base} has no {one_line(one.old, 120)}: {OTHER_BASE}")
        before = file.read_text(encoding="utf-8")
    elif (root / one.new).exists():
        raise UsageProblem(f"{name}: it creates {one_line(one.new, 120)}, which {base} has: {OTHER_BASE}")
    after = patched(before or "", one.rows) if one.rows else before
    if after is None:
        raise UsageProblem(
            f"{name}: does not apply to {one_line(one.old, 120)} of {base} ({_misfit(before or '', one.rows)}): {OTHER_BASE}"
        )
    if one.old and one.new and one.old != one.new:
        return [FileChange(one.old, before, None), FileChange(one.new, None, after)]
    return [FileChange(one.path, before, after if one.new else None)]


def _misfit(text: str, rows: Sequence[str]) -> str:
    """The first hunk that does not fit."""
    starts = [number for number, row in enumerate(rows) if _HUNK.match(row)]
    for number, end in enumerate([*starts[1:], len(rows)], 1):
        if patched(text, rows[:end]) is None:
            return f"hunk {number}, {rows[starts[number - 1]].rpartition('@@')[0].strip()} @@"
    return "no hunk"


def between(before: Mapping[str, Path], after: Mapping[str, Path]) -> list[FileChange]:
    """The files that differ between two trees."""
    found = []
    for path in sorted(before.keys() | after.keys()):
        texts = [
            tree[path].read_text("utf-8", "replace") if path in tree else None for tree in (before, after)
        ]
        if texts[0] != texts[1]:
            found.append(FileChange(path, *texts))
    return found
