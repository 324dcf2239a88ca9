"""Proposed patches for open hazards as changes of kube-scheduler's own code, and copies of its sources with them.

A `NAME.patch` here is a unified diff against `MADE_FOR`; its first line says what it does. tests/races/hazard_patches.py has the same as changes of the model, which is
where it is checked what a patch mends.
"""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...base.problems import UsageProblem
from ...base.structs import Data
from ..modules.module import KUBERNETES

MADE_FOR = "v1.36.3"

FOLDER = Path(__file__).parent

MENDED_BY: dict[str, tuple[str, ...]] = {
    "ghost": ("requeue-looks-again",),
    "stale-object": ("requeue-looks-again",),
    "update-lost": ("requeue-looks-again",),
    "emptied-zone": ("node-removed-first",),
    "assumed-after-look": ("gone-not-assumed",),
    "stale-tombstone": ("tombstones-wake-like-deletions",),
    "queued-while-assumed": ("placed-not-added",),
    "announced": ("placed-not-added",),
    "robbed-of-its-room": ("placed-not-added",),
    "kept-out-by-others": ("terms-of-others-heard",),
    "relabelled-domain": ("counted-nodes-heard",),
    "domain-lost": ("lost-domains-heard",),
    "name-of-a-victim": ("victims-awaited-by-uid",),
    "namesake-evicted": ("victims-deleted-by-uid",),
    "namesake-nominated": ("nominated-by-uid",),
    "namesake-still-nominated": ("replaced-taken-out", "nominated-by-uid"),
    "held-back-namesake": ("preemptor-read-by-uid",),
    "namesake-lost": ("requeue-looks-again",),
    "namesake-status": ("status-patched-by-uid",),
    "late-patch": ("status-patched-by-uid",),
    "synced-condition": ("bound-pods-unpatched",),
    "port-of-two": ("ports-of-others-kept",),
    "update-before-requeue": ("placed-not-added", "registered-to-the-end"),
    "finished-victim": ("always-activated",),
    "rejected-in-memory": ("always-activated",),
}
"""Hazards of scenarios/hazards, and the patches with which they are gone."""

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@")


class GoPatch(Data):
    """A patch: its name, what it does in a line, and the diff."""

    name: str
    title: str
    diff: str

    @property
    def files(self) -> tuple[str, ...]:
        """The paths that it changes."""
        return tuple(re.findall(r"^\+\+\+ b/(\S+)$", self.diff, re.MULTILINE))

    @property
    def packages(self) -> tuple[str, ...]:
        """The Go packages that it changes."""
        return tuple(dict.fromkeys(f"{KUBERNETES}/{file.rpartition('/')[0]}" for file in self.files))


def patch_names() -> list[str]:
    """The names of all patches."""
    return sorted(path.stem for path in FOLDER.glob("*.patch"))


def read_patch(name: str) -> GoPatch:
    """The patch of a name. Raises UsageProblem."""
    if name not in patch_names():
        raise UsageProblem(f"--go-patch: there is no patch `{name}`; known are {', '.join(patch_names())}")
    text = (FOLDER / f"{name}.patch").read_text(encoding="utf-8")
    title, _, diff = text.partition("\n\n")
    return GoPatch(name, title, diff)


def patched_copy(sources: Path, folder: Path, patches: Sequence[GoPatch]) -> None:
    """Make `folder` a copy of a version's sources with patches. What is not changed is linked, so the copy takes no room.

    Raises UsageProblem if a patch does not fit the version.
    """
    if folder.exists():
        shutil.rmtree(folder)
    _link(sources, folder)
    for patch in patches:
        for name, hunks in _files(patch.diff):
            file = folder / name
            if not file.is_file():
                raise UsageProblem(f"{patch.name}: this version has no {name}: the patch is for {MADE_FOR}")
            text = patched(file.read_text(encoding="utf-8"), hunks)
            if text is None:
                raise UsageProblem(
                    f"{patch.name}: it does not fit {name} of this version: it is for {MADE_FOR}"
                )
            file.unlink()  # it may be a link to the module cache
            file.write_text(text, encoding="utf-8")


def replaced(mod: str, by: str = "./kubernetes") -> str:
    """The text of go.mod with k8s.io/kubernetes taken from a folder."""
    mod = re.sub(rf"^\t{re.escape(KUBERNETES)} => .*\n", "", mod, flags=re.MULTILINE)
    return f"{mod.rstrip()}\n\nreplace {KUBERNETES} => {by}\n"


def _link(sources: Path, folder: Path) -> None:
    for place, _, files in os.walk(sources):
        target = folder / Path(place).relative_to(sources)
        target.mkdir(parents=True)
        for file in files:
            try:
                os.link(Path(place, file), target / file)
            except OSError:  # another file system
                shutil.copyfile(Path(place, file), target / file)


def _files(diff: str) -> Iterator[tuple[str, list[str]]]:
    for part in re.split(r"^--- a/\S+\n", diff, flags=re.MULTILINE)[1:]:
        head, _, hunks = part.partition("\n")
        yield head.removeprefix("+++ b/"), hunks.splitlines(keepends=True)


def patched(text: str, hunks: Sequence[str]) -> str | None:
    """The text with the hunks of a unified diff applied; None if one does not fit. A hunk may stand further up or down than it says."""
    lines = text.splitlines(keepends=True)
    shift = 0
    for start, old, new in _hunks(hunks):
        at = _nearest(lines, old, start + shift)
        if at is None:
            return None
        lines[at : at + len(old)] = new
        shift = at - start + len(new) - len(old)
    return "".join(lines)


def _hunks(rows: Sequence[str]) -> Iterator[tuple[int, list[str], list[str]]]:
    starts = [number for number, row in enumerate(rows) if _HUNK.match(row)]
    for begin, end in zip(starts, [*starts[1:], len(rows)], strict=True):
        match = _HUNK.match(rows[begin])
        assert match is not None
        body = rows[begin + 1 : end]
        old = [row[1:] for row in body if row[0] in " -"]
        new = [row[1:] for row in body if row[0] in " +"]
        yield int(match[1]) - 1, old, new


def _nearest(lines: Sequence[str], wanted: Sequence[str], at: int) -> int | None:
    last = len(lines) - len(wanted)
    places = (i for i in range(last + 1) if list(lines[i : i + len(wanted)]) == list(wanted))
    return min(places, key=lambda i: abs(i - at), default=None)
