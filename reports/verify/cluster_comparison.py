"""Two schedulers compared over all clusters up to a size: what `podrace verify --pods P --nodes N` says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec
from rich.console import Console
from rich.text import Text

from ..answers.proof_report import Proof, print_proof, size
from ..filtered import text_filtered, to_json
from ..formats.markdown import plain
from ..scheduler_version import versions_of
from ..text.findings_text import print_versions, print_wrapped
from .comparison import Outcome, alone_words
from .comparison_rows import OUTCOME, STYLES, StreamedRows, width_of
from .comparison_text import NEWS


class ProofPair(msgspec.Struct, frozen=True):
    """One property over all clusters, on both schedulers.

    `tried` says how many violating clusters, the simplest of each group, were searched on the first scheduler too;
    `newly_violating` are those in which the property holds there. `witnesses_lost` were reached in some cluster before, and are in
    none now. `alone` are the regression checks that were not asked for. `stopped`: podrace was told to end before this was decided.
    """

    outcome: Outcome
    before: Proof
    after: Proof
    tried: int = 0
    newly_violating: tuple[str, ...] = ()
    witnesses_lost: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()
    stopped: bool = False


class ProofRows(StreamedRows[ProofPair]):
    """A row for each property."""

    def widths(self, asked: Sequence[tuple[str, ...]]) -> dict[str, int]:
        """`asked` has the properties."""
        verdict = len("HOLDS FOR ALL")
        return {
            "property": width_of("property", (name for (name,) in asked)),
            "before": verdict,
            "after": verdict,
            "violating": _VIOLATING,
            "outcome": OUTCOME,
        }

    def cells(self, row: ProofPair) -> dict[str, str]:
        """The verdicts before and after."""
        return {name: cell for name, (cell,) in _columns([row]).items()}

    def style(self, row: ProofPair) -> str:
        """The colour of the outcome."""
        return STYLES[row.outcome]


_VIOLATING = len("10,000 / 10,000")


def words(found: ProofPair) -> str:
    """The outcome in a sentence."""
    one, two = found.before, found.after
    told = f"{one.property}: {found.outcome}, in all clusters up to {size(two)}"
    told += (
        f": {one.violated:,} of {one.clusters:,} violating before, {two.violated:,} of {two.clusters:,} after"
    )
    if found.newly_violating:
        told += f"; violating only after it: {'; '.join(found.newly_violating)}"
    elif found.tried:
        told += f"; of the violating, the simplest of each of {found.tried} groups was violating before, too"
    if two.altered:
        told += f"; the change alters {two.altered}"
    if two.vacuous:
        told += f"; vacuous, as in no cluster {', '.join(two.witnesses_missed)}"
    if found.witnesses_lost:
        told += f". OUT OF REACH after it, in every cluster: {'; '.join(found.witnesses_lost)}"
    return told


def not_looked_at(found: Sequence[ProofPair]) -> list[str]:
    """What alone was compared, if safety nets were not."""
    nets = found[0].alone
    return [alone_words([one.before.property for one in found], nets)] if nets else []


def _all_words(found: Sequence[ProofPair]) -> list[str]:
    """The outcomes in sentences, and where podrace was stopped."""
    left = [one.before.property for one in found if one.stopped]
    told = [words(one) for one in found if one.before.clusters]
    if left:
        told.append(
            f"STOPPED before all was compared: {len(found) - len(left)} of {len(found)} decided; not decided: {', '.join(left)}"
        )
    return told


def print_proof_pairs(console: Console, found: Sequence[ProofPair], whole: bool = False) -> None:
    """Print what the rows say, and the proof of what is not good news; as a `whole`, counterexamples also in lanes."""
    for line in [*_all_words(found), *not_looked_at(found)]:
        print_wrapped(console, Text(line))
    print_versions(console, (side.version for one in found for side in (one.before, one.after)))
    for one in found:
        if one.outcome in NEWS and one.after.clusters:
            console.print()
            print_proof(console, one.after, whole)


def _columns(found: Sequence[ProofPair]) -> dict[str, list[str]]:
    return {
        "property": [s.before.property for s in found],
        "before": [s.before.verdict for s in found],
        "after": [s.after.verdict for s in found],
        "violating": [f"{s.before.violated:,} / {s.after.violated:,}" for s in found],
        "outcome": [f"{s.outcome} (vacuous)" if s.after.vacuous else s.outcome for s in found],
    }


@text_filtered
def to_markdown(found: Sequence[ProofPair]) -> str:
    """The same as GitHub's Markdown."""
    columns = _columns(found)
    rows = [[*columns], ["---"] * len(columns)]
    rows += [[plain(cells[i]) for cells in columns.values()] for i in range(len(found))]
    blocks = [f"# podrace: {plain(found[0].before.release)} → {plain(found[0].after.release)}"]
    blocks.append("\n".join(f"| {' | '.join(row)} |" for row in rows))
    blocks.append("\n".join(f"- {plain(line)}" for line in [*_all_words(found), *not_looked_at(found)]))
    versions = versions_of(side.version for one in found for side in (one.before, one.after))
    blocks += [f"> scheduler {plain(version.words)}" for version in versions]
    return "\n\n".join(blocks) + "\n"


FORMS: Mapping[str, Callable[[Sequence[ProofPair]], str]] = {"json": to_json, "markdown": to_markdown}
"""Every form but `text`."""
