"""The functions of upstream's trees as they were looked at: of each function its hashes, tree by tree.

`trees.txt` is written by `podrace drift --update`. The newest tree in it is the one that the model was last held to. A line of it
is a function in the trees from one to another (`1.34.2-` is 1.34.2 and all later ones), with a hash of its tokens, one of its
normal form (`analysis/upstream/normal_form.py`), a sketch of the normal form, by which likeness is told, and its number of tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...base.structs import Data

TREES = Path(__file__).parent / "trees.txt"
_VERSION = re.compile(r"([0-9]+)\.([0-9]+)\.([0-9]+)(?:-([a-z]+)\.([0-9]+))?")
_HEAD = (
    "# kube-scheduler's functions in upstream's trees, written by `podrace drift DIR --update --release X.Y.Z`:",
    "# trees, hash of the tokens, hash of the normal form, sketch and size of the normal form. See trees.py.",
)


class Hashes(Data):
    """What is kept of a function: hashes of its tokens and of its normal form, and a sketch and the size of the normal form."""

    tokens: str
    normal: str
    sketch: str
    size: int


Tree = Mapping[str, Hashes]
"""The functions of a tree by `file:Type.Name`."""


class Trees(Data):
    """All trees that were looked at, oldest first, by version (1.34.0, not 1.34)."""

    by_version: Mapping[str, Tree]

    @property
    def newest(self) -> str:
        """The version of the newest; nothing if there is none."""
        return max(self.by_version, key=order_of, default="")

    def and_also(self, version: str, tree: Tree) -> Trees:
        """These and one more, or one anew."""
        found = {**self.by_version, version: tree}
        return Trees({name: found[name] for name in sorted(found, key=order_of)})


def read_trees(path: Path = TREES) -> Trees:
    """What the file says. Raises OSError or ValueError."""
    spans: dict[str, list[str]] = {}
    found: dict[str, dict[str, Hashes]] = {}
    file = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.strip().rsplit(maxsplit=5)  # a name may have a space
        if not words or line.startswith("#"):
            continue
        if line.startswith("trees ") and not found:
            versions = sorted(line.split()[1:], key=order_of)
            found = {version: {} for version in versions}
            spans = {
                _span(versions, first, last): versions[first : last + 1]
                for last in range(len(versions))
                for first in range(last + 1)
            }
        elif not line.startswith(" "):
            file = line
        elif len(words) == 6 and words[1] in spans:
            for version in spans[words[1]]:
                found[version][f"{file}:{words[0]}"] = Hashes(words[2], words[3], words[4], int(words[5]))
        else:
            raise ValueError(f"no function with trees that there are, hashes and size: {line.strip()[:80]}")
    if not found:
        raise ValueError("it has no line `trees`")
    return Trees(found)


def format_trees(trees: Trees) -> str:
    """The text of the file."""
    return "\n".join([*_HEAD, " ".join(["trees", *trees.by_version]), *_lines(trees)]) + "\n"


def _lines(trees: Trees) -> Iterator[str]:
    versions = list(trees.by_version)
    file = ""
    for place in sorted({place for tree in trees.by_version.values() for place in tree}):
        here, _, name = place.partition(":")
        if here != file:
            yield here
            file = here
        last: Hashes | None = None
        first = 0
        for at, version in enumerate([*versions, ""]):
            hashes = trees.by_version[version].get(place) if version else None
            if hashes == last and version:
                continue
            if last is not None:
                span = _span(versions, first, at - 1)
                yield f" {name} {span} {last.tokens} {last.normal} {last.sketch} {last.size}"
            last, first = hashes, at


def _span(versions: Sequence[str], first: int, last: int) -> str:
    if last == len(versions) - 1:
        return f"{versions[first]}-"
    return versions[first] if first == last else f"{versions[first]}-{versions[last]}"


def order_of(version: str) -> tuple[int, int, int, str, int]:
    """What versions are sorted by: 1.38.0-beta.0 comes before 1.38.0. Raises ValueError for what is no version."""
    match = _VERSION.fullmatch(version)
    if match is None:
        raise ValueError(f"no version: {version[:80]}")
    major, minor, patch, stage, number = match.groups()
    return int(major), int(minor), int(patch), stage or "released", int(number or 0)
