"""A comparison of two schedulers for programs and for pull requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from ..ci_outcome import Style
from ..filtered import json_filtered, text_filtered
from ..formats.markdown import counterexample, plain
from ..scheduler_version import versions_of
from .comparison import Comparison, bad_news
from .comparison_text import columns_of, decision_words, parted_words, summary

MARKS = {
    "REGRESSED": "❌",
    "still violated": "❌",
    "inconclusive": "⚠️",
    "fixed": "✅",
    "holds both": "✅",
    "holds after": "✅",
}


@json_filtered
def to_json(comparison: Comparison) -> str:
    """The comparison as JSON, with the outcome of each property; no durations, so that equal input gives equal text."""
    pairs = tuple(
        msgspec.structs.replace(
            p,
            before=msgspec.structs.replace(p.before, seconds=None),
            after=msgspec.structs.replace(p.after, seconds=None),
        )
        for p in comparison.pairs
    )
    whole = msgspec.structs.replace(comparison, pairs=pairs)
    made = {"outcomes": comparison.outcomes, **msgspec.structs.asdict(whole)}
    return msgspec.json.format(msgspec.json.encode(made), indent=2).decode() + "\n"


@text_filtered
def to_markdown(comparison: Comparison) -> str:
    """The comparison as GitHub's Markdown."""
    columns = columns_of(comparison)
    rows = [["", *columns], ["---"] * (len(columns) + 1)]
    rows += [
        [MARKS[pair.outcome], *(plain(cells[i]) for cells in columns.values())]
        for i, pair in enumerate(comparison.pairs)
    ]
    blocks = [f"# podrace: {plain(comparison.before)} → {plain(comparison.after)}"]
    blocks.append("\n".join(f"| {' | '.join(row)} |" for row in rows))
    blocks.append("\n".join(f"- {plain(line)}" for line in summary(comparison)))
    blocks += [f"> {plain(note)}" for note in comparison.notes]
    versions = versions_of(side.version for pair in comparison.pairs for side in (pair.before, pair.after))
    blocks += [f"> scheduler {plain(version.words)}" for version in versions]
    for pair in bad_news(comparison):
        blocks.append(
            f"## {MARKS[pair.outcome]} {plain(f'{pair.scenario}, {pair.after.label}: {pair.property}')} {pair.outcome}"
        )
        blocks += [f"**{pair.property}**: {plain(pair.after.sentence)}"] if pair.after.sentence else []
        blocks += [f"{plain(pair.remark)}."] if pair.remark else []
        blocks += counterexample(pair.after, Style())
    parted = comparison.difference
    if parted is not None:
        steps = [f"{step.number}. {plain(f'{step.actor}: {step.call}')}" for step in parted.steps]
        told = [
            f"- {plain(decision_words(d, comparison.before, comparison.after))}" for d in parted.decisions
        ]
        blocks += [
            f"## {plain(parted_words(parted))}",
            *(["\n".join(steps)] if steps else []),
            "\n".join(told),
        ]
    return "\n\n".join(blocks) + "\n"


FORMS: Mapping[str, Callable[[Comparison], str]] = {"json": to_json, "markdown": to_markdown}
"""Every form but `text`."""
