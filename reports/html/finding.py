"""The section of one finding: what it is about, and its counterexample or what its verdict rests on."""

from collections.abc import Sequence

import msgspec

from ..document import Finding
from ..text.explanation import HOW_IT_ENDS, explain
from ..text.findings_text import scope_words
from .elements import Markup, el, join
from .lanes_page import causes_figure
from .player import player
from .story import story
from .verdicts import badge, links

CLASSES = {
    HOW_IT_ENDS: "outcome",
    "Where the views disagreed": "disagreement",
    "What would have prevented it": "remedy",
}
"""How style sheets and scripts call the paragraphs after the steps."""


def section(finding: Finding, number: int) -> Markup:
    """A finding; `number` counts from 1 and makes identifiers."""
    name = f"finding-{number}"
    head = el(
        "header",
        el("h2", finding.title or finding.scenario, id=f"{name}-title"),
        el(
            "p",
            badge(finding),
            f" {finding.property} · {finding.scenario} · release {finding.label}",
            class_="meta",
        ),
        el("p", finding.sentence, class_="sentence") if finding.sentence else None,
        el("p", finding.for_users, class_="sentence") if finding.for_users else None,
        el("p", "See ", links(finding.issues), ".", class_="meta") if finding.issues else None,
        *(el("p", f"Note: {note}.", class_="meta") for note in finding.notes),
    )
    body = _rests_on(finding) if finding.trace is None else _counterexample(finding, name)
    return el("section", head, body, id=name, class_="finding", aria_labelledby=f"{name}-title")


def _counterexample(finding: Finding, name: str) -> Markup:
    told = explain(finding)
    closing = [_paragraphs(heading, lines) for heading, lines in told.sections]
    about = (
        [el("p", version_words(finding), class_="version")] if finding.version is not msgspec.UNSET else []
    )
    return join(
        el("div", *(el("p", line) for line in told.opening), class_="opening") if told.opening else None,
        el(
            "div",
            el("div", el("h3", "What happens"), story(finding, told, name), class_="story"),
            el("div", player(finding, told, name), class_="stage"),
            class_="run",
        ),
        el("p", finding.words, class_="words"),
        *about,
        *closing,
        causes_figure(finding, name),
    )


def _paragraphs(title: str, lines: Sequence[str]) -> Markup:
    return el("div", el("h3", title), *(el("p", line) for line in lines), class_=CLASSES[title])


def version_words(finding: Finding) -> str:
    """What is known of the version that a verdict is about."""
    return "" if finding.version is msgspec.UNSET else f"Scheduler {finding.version.words}"


def _rests_on(finding: Finding) -> Markup:
    lines = [el("p", finding.words, class_="words")]
    if finding.scope:
        lines.append(el("p", f"Scope: {scope_words(finding.scope)}."))
    if finding.version is not msgspec.UNSET:
        lines.append(el("p", version_words(finding), class_="version"))
    if finding.constraints_hit:
        lines.append(el("p", f"Constraints that were hit: {'; '.join(finding.constraints_hit)}."))
    if finding.witnesses_reached:
        reached = "; ".join(
            f"{witness} (after {steps} steps)" for witness, steps in finding.witnesses_reached.items()
        )
        lines.append(el("p", f"Reached on the way: {reached}."))
    if finding.witnesses_missed:
        lines.append(el("p", f"Never reached: {'; '.join(finding.witnesses_missed)}."))
    if finding.steps_never_fired:
        steps = ", ".join(finding.steps_never_fired)
        total = len(finding.steps_never_fired) + len(finding.steps_fired)
        summary = f"Steps that never ran: {len(finding.steps_never_fired)} of {total}"
        lines.append(el("details", el("summary", summary), el("p", f"{steps}.")))
    return join(*lines)
