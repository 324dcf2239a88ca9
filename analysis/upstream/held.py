"""A source tree held against one that was looked at before, and noted as looked at."""

from collections.abc import Mapping
from pathlib import Path

from ...base.problems import UsageProblem
from ...base.structs import Data
from ...base.text import one_line
from ...model.history.trees import TREES, Hashes, Tree, Trees, format_trees, order_of, read_trees
from ..request.option_files import write_text
from .drifted import Drift, comparable, drifts, is_type, missing_parts
from .go_gates import GateChange, gate_changes
from .likeness import hashes_of
from .source_tree import functions_in


class HeldAgainst(Data):
    """What became of every function since a tree that was looked at: `since` is its version, `here` are the functions now, `compared` those of them that could be."""

    file: Path
    looked: Trees
    since: str
    here: Tree
    compared: Tree
    drifted: list[Drift]
    gates: list[GateChange]
    missing: list[str]
    """What the version has outside of the scheduler's directory, and the tree lacks."""

    @property
    def same(self) -> int:
        """How many functions are what they were."""
        return len(self.compared) - sum(d.what != "gone" for d in self.drifted)

    @property
    def to_read(self) -> bool:
        """Whether anything changed that can matter to the model."""
        return bool(self.gates) or any(d.is_followed and d.is_to_be_read for d in self.drifted)


def hold(directory: Path, record: Path | None, since: str, update: bool) -> HeldAgainst:
    """The functions of a source tree held against those of a version in a record (podrace's own, unless one is named; the newest).

    The record need not be there for an `update`. Raises UsageProblem.
    """
    functions = functions_in(directory)
    here = {place: hashes_of(function) for place, function in functions.items()}
    file = record or TREES
    looked = _looked(file, update)
    version = since or looked.newest
    if version and version not in looked.by_version:
        known = ", ".join(looked.by_version)
        raise UsageProblem(f"--since: no tree of {one_line(version)} was looked at; there are {known}")
    old = looked.by_version.get(version, {})

    def rehashed(place: str, renamed: Mapping[str, str]) -> Hashes:
        return hashes_of(functions[place], renamed)

    drifted = drifts(old, here, rehashed)
    gates = gate_changes(directory, version) if version else []
    return HeldAgainst(
        file,
        looked,
        version,
        here,
        {p: h for p, h in comparable(old, here)[1].items() if not is_type(p)},
        drifted,
        gates,
        missing_parts(old, here),
    )


def write_record(found: HeldAgainst, release: str) -> None:
    """Note the tree as looked at. Raises UsageProblem."""
    version = release or found.since
    if not _is_version(version):
        raise UsageProblem("--update: say with --release which version this tree is, for example 1.36.3")
    write_text("--update", found.file, format_trees(found.looked.and_also(version, found.here)))


def _is_version(text: str) -> bool:
    try:
        return bool(order_of(text))
    except ValueError:
        return False


def _looked(path: Path, update: bool) -> Trees:
    if update and not path.exists():
        return Trees({})
    try:
        return read_trees(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or one_line(str(error))
        raise UsageProblem(f"--record: `{one_line(str(path), 200)}` cannot be read: {reason}") from None
