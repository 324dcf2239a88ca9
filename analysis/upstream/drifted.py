"""Which of the functions that the model stands for have changed upstream since it was last held to them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ...model.history.upstream import HASHES, Looked, Mirror, format_look, last_look, mirrors
from ...scenarios import one_line
from ..asked.option_files import write_text
from ..asked.options import UsageProblem
from .go_functions import functions_of

PLACES = ("pkg/scheduler", "vendor/k8s.io/kubernetes/pkg/scheduler", "plugin/pkg/scheduler", "")
"""Where a tree may have the scheduler; the last: it is the scheduler's own directory."""


@dataclass(frozen=True, slots=True)
class Drift:
    """What became of one function: changed, moved (and perhaps changed), vanished, or new to the list."""

    place: str
    what: str
    where: str = ""

    @property
    def words(self) -> str:
        """In a few words."""
        return f"{self.place}: {self.what}" + (f" to {self.where}" if self.where else "")


@dataclass(frozen=True, slots=True)
class HeldAgainst:
    """What became of every function since the last look; `kept` are the hashes of those that are there now."""

    file: Path
    looked: Looked
    wanted: int
    drifted: list[Drift]
    kept: dict[str, str]

    def elements_of(self, drift: Drift) -> list[str]:
        """The elements of the model that stand for a function."""
        rows = (mirror for mirror in mirrors() if drift.place in mirror.places)
        return [element for mirror in rows for element in elements(mirror)]


def compare(directory: Path, hashes: Path | None, update: bool) -> HeldAgainst:
    """The functions of a source tree held against a file of hashes (podrace's own, unless one is named), which need not be there for an `update`.

    Raises UsageProblem.
    """
    root = scheduler_in(directory)
    file = hashes or HASHES
    looked = _last_look(file, update)
    found = hashes_below(root)
    wanted = tuple(dict.fromkeys(place for mirror in mirrors() for place in mirror.places))
    kept = {place: found[place] for place in wanted if place in found}
    return HeldAgainst(file, looked, len(wanted), compared(wanted, looked.hashes, found), kept)


def write_hashes(found: HeldAgainst, release: str) -> None:
    """Note what was found as the last look, at this release if one is named. Raises UsageProblem."""
    looked = Looked(release or found.looked.release, found.kept)
    write_text("--update", found.file, format_look(looked))


def compared(wanted: tuple[str, ...], old: Mapping[str, str], new: Mapping[str, str]) -> list[Drift]:
    """What became of each wanted function, in their order; nothing of those that are the same."""
    by_name: dict[str, list[str]] = {}
    for place in new:
        by_name.setdefault(place.partition(":")[2], []).append(place)
    drifted = []
    for place in wanted:
        if place in new:
            if place not in old:
                drifted.append(Drift(place, "not looked at before"))
            elif new[place] != old[place]:
                drifted.append(Drift(place, "changed"))
            continue
        elsewhere = by_name.get(place.partition(":")[2], [])
        if elsewhere:
            same = next((p for p in elsewhere if new[p] == old.get(place)), None)
            drifted.append(Drift(place, "moved" if same else "moved and changed", same or elsewhere[0]))
        else:
            drifted.append(Drift(place, "vanished"))
    return drifted


def scheduler_in(directory: Path) -> Path:
    """The scheduler's directory in a source tree. Raises UsageProblem."""
    shown = one_line(str(directory), 200)
    if not directory.is_dir():
        raise UsageProblem(f"`{shown}` is no directory: name the root of a kubernetes source tree")
    for place in PLACES:
        if (directory / place / "scheduler.go").is_file():
            return directory / place
    raise UsageProblem(
        f"`{shown}` has no pkg/scheduler/scheduler.go: name the root of a kubernetes source tree"
    )


def hashes_below(root: Path) -> dict[str, str]:
    """The hash of every function below a directory, tests apart, by `file:Type.Name`. Raises UsageProblem."""
    found: dict[str, str] = {}
    for path in sorted(root.rglob("*.go")):
        if path.name.endswith("_test.go"):
            continue
        try:
            source = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8"
            raise UsageProblem(f"{one_line(str(path), 200)}: cannot be read: {reason}") from None
        file = path.relative_to(root).as_posix()
        found |= {f"{file}:{name}": value for name, value in functions_of(source).items()}
    return found


def _last_look(path: Path, update: bool) -> Looked:
    if update and not path.exists():
        return Looked("", {})
    try:
        return last_look(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or one_line(str(error))
        raise UsageProblem(f"--hashes: `{one_line(str(path), 200)}` cannot be read: {reason}") from None


def elements(mirror: Mirror) -> list[str]:
    """The elements of the model that a row names."""
    return re.findall(r"`([^`]+)`", mirror.model)
