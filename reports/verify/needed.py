"""Which of several changes are needed together: what `podrace verify --minimal` says."""

from collections.abc import Callable, Mapping, Sequence

import msgspec
from rich.console import Console

from ..filtered import text_filtered, to_json
from ..formats.markdown import plain, table
from ..scheduler_version import ReadVersion, versions_of
from ..text.findings_text import print_lines, print_versions
from ..text.table import VERDICT_STYLES
from .comparison import Ignored, alone_words
from .comparison_rows import VERDICT, StreamedRows, width_of


class Tried(msgspec.Struct, frozen=True):
    """One set of changes, and what came out: where it did not hold, the first scenario and property that say so."""

    changes: tuple[str, ...]
    verdict: str
    scenario: str = ""
    property: str = ""
    states: int = 0
    steps: int | None = None
    vacuous: bool = False


class Needed(msgspec.Struct, frozen=True):
    """The minimal sets of changes with which everything holds that was asked. `tried` are all sets that were searched; `ignored` was
    not asked, nor were the regression checks of `alone`. `stopped`: podrace was told to end before all sets were tried.
    """

    release: str
    changes: tuple[str, ...]
    properties: tuple[str, ...]
    scenarios: tuple[str, ...]
    minimal: tuple[tuple[str, ...], ...]
    tried: tuple[Tried, ...]
    ignored: tuple[Ignored, ...] = ()
    version: ReadVersion | msgspec.UnsetType = msgspec.UNSET
    alone: tuple[str, ...] = ()
    stopped: bool = False


class TriedRows(StreamedRows[Tried]):
    """A row for each set of changes that is tried."""

    def widths(self, asked: Sequence[tuple[str, ...]]) -> dict[str, int]:
        """`asked` has all sets, of which those are not tried that contain one that is enough."""
        return {
            "changes": width_of("changes", map(_listed, asked)),
            "verdict": VERDICT,
            "steps": len("steps"),
            "states": len("10,000,000"),
            "because of": len("because of"),
        }

    def cells(self, row: Tried) -> dict[str, tuple[str, str]]:
        """What came out."""
        cells = {name: (cell, "") for name, cell in _cells(row).items()}
        return cells | {"verdict": (row.verdict, VERDICT_STYLES[row.verdict])}


def words(needed: Needed) -> list[str]:
    """The answer in sentences."""
    what = f"{', '.join(needed.properties)} in {', '.join(needed.scenarios)} on {needed.release}"
    if not needed.minimal:
        found = [f"No set of these changes was found with which everything holds: {what}."]
    else:
        sets = "; or ".join(_listed(one) for one in needed.minimal)
        found = [
            f"Needed together, and none of them can be left out: {sets} ({what})."
            if any(needed.minimal)
            else f"None of the changes is needed: everything holds without them ({what})."
        ]
    if needed.stopped:
        found.append(
            f"STOPPED after {len(needed.tried)} of at most {2 ** len(needed.changes)} sets: there may be others."
        )
    undecided = [_listed(t.changes) for t in needed.tried if t.verdict == "INCONCLUSIVE"]
    if undecided:
        found.append(
            f"A budget ran out with {'; '.join(undecided)}: there may be other sets, or smaller ones."
        )
    vacuous = [
        f"with {_listed(t.changes)}" if t.changes else "with none of the changes"
        for t in needed.tried
        if t.vacuous
    ]
    if vacuous:
        found.append(f"Vacuous, because something that should happen did not happen: {'; '.join(vacuous)}.")
    if needed.alone:
        found.append(
            f"{alone_words(needed.properties, needed.alone)}; verify without --minimal compares them."
        )
    return found + [f"{one.property} in {one.scenario}: {one.words}" for one in needed.ignored]


def print_needed(console: Console, needed: Needed) -> None:
    """Print the answer; the rows were printed when they were decided."""
    console.print()
    print_lines(console, words(needed), style="bold")
    print_versions(console, [needed.version])


def _cells(tried: Tried) -> dict[str, str]:
    return {
        "changes": _listed(tried.changes),
        "verdict": tried.verdict,
        "steps": "" if tried.steps is None else str(tried.steps),
        "states": f"{tried.states:,}",
        "because of": f"{tried.property} in {tried.scenario}" if tried.scenario else "",
    }


def _listed(changes: Sequence[str]) -> str:
    return " + ".join(changes) or "none"


@text_filtered
def to_markdown(needed: Needed) -> str:
    """The answer as GitHub's Markdown."""
    rows = (list(map(plain, _cells(tried).values())) for tried in needed.tried)
    about = [f"> scheduler {plain(version.words)}" for version in versions_of([needed.version])]
    blocks = ["# podrace: which changes are needed", *map(plain, words(needed))]
    blocks += [table(("changes", "verdict", "steps", "states", "because of"), rows), *about]
    return "\n\n".join(blocks) + "\n"


FORMS: Mapping[str, Callable[[Needed], str]] = {"json": to_json, "markdown": to_markdown}
"""Every form but `text`."""
