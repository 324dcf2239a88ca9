"""A comparison of two schedulers for programs and for pull requests."""

from collections.abc import Callable, Iterator, Mapping

import msgspec

from ..ci_outcome import subject
from ..document import Finding
from ..filtered import text_filtered, to_json
from ..formats.markdown import bullets, counterexample, plain, table
from ..scheduler_version import versions_of
from .comparison import Comparison, Pair, bad_news, shown_net
from .comparison_rows import COLUMNS, cells_of
from .comparison_text import decision_words, parted_words, summary

MARKS = {
    "REGRESSED": "❌",
    "still violated": "❌",
    "inconclusive": "⚠️",
    "fixed": "✅",
    "holds both": "✅",
    "holds after": "✅",
}


def comparison_to_json(comparison: Comparison) -> str:
    """The comparison as JSON, with the outcome of each property; no durations, so that equal input gives equal text."""
    pairs = tuple(
        msgspec.structs.replace(
            p,
            before=msgspec.structs.replace(p.before, seconds=None),
            after=msgspec.structs.replace(p.after, seconds=None),
        )
        for p in comparison.pairs
    )
    nets = tuple(
        msgspec.structs.replace(n, after=n.after and msgspec.structs.replace(n.after, seconds=None))
        for n in comparison.nets
    )
    whole = msgspec.structs.replace(comparison, pairs=pairs, nets=nets)
    return to_json({"outcomes": comparison.outcomes, **msgspec.structs.asdict(whole)})


@text_filtered
def to_markdown(comparison: Comparison) -> str:
    """The comparison as GitHub's Markdown."""
    rows = ([_mark(pair), *map(plain, cells_of(pair))] for pair in comparison.pairs)
    blocks = [f"# podrace: {plain(comparison.before)} → {plain(comparison.after)}"]
    blocks.append(table(["", *COLUMNS], rows))
    blocks.append(bullets(summary(comparison)))
    blocks += [f"> {plain(note)}" for note in comparison.notes]
    versions = versions_of(side.version for pair in comparison.pairs for side in (pair.before, pair.after))
    blocks += [f"> scheduler {plain(version.words)}" for version in versions]
    for pair in bad_news(comparison):
        blocks += _violation(pair.after, pair.outcome, pair.remark)
    if (finding := shown_net(comparison)) is not None:
        blocks += _violation(finding, "REGRESSED")
    parted = comparison.difference
    if parted is not None:
        steps = [f"{step.number}. {plain(f'{step.actor}: {step.call}')}" for step in parted.steps]
        told = (decision_words(d, comparison.before, comparison.after) for d in parted.decisions)
        blocks += [f"## {plain(parted_words(parted))}"]
        blocks += ["\n".join(steps)] if steps else []
        blocks.append(bullets(told))
    return "\n\n".join(blocks) + "\n"


def _mark(pair: Pair) -> str:
    """What is vacuous after it is no success."""
    good = pair.outcome in ("fixed", "holds both", "holds after")
    return MARKS["inconclusive"] if good and pair.after.vacuous else MARKS[pair.outcome]


def _violation(after: Finding, outcome: str, remark: str = "") -> Iterator[str]:
    yield f"## {MARKS[outcome]} {plain(subject(after))} {outcome}"
    if after.sentence:
        yield f"**{after.property}**: {plain(after.sentence)}"
    if remark:
        yield f"{plain(remark)}."
    yield from counterexample(after)


FORMS: Mapping[str, Callable[[Comparison], str]] = {"json": comparison_to_json, "markdown": to_markdown}
"""Every form but `text`."""
