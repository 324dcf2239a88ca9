"""Before and after a fix: findings about the same property of the same scenario, side by side."""

from collections.abc import Sequence

from ..document import Finding
from .elements import Markup, el, join
from .verdicts import badge

Numbered = tuple[int, Finding]


def comparisons(findings: Sequence[Finding]) -> Markup:
    """For every property that was checked in several releases their verdicts."""
    groups: dict[tuple[str, str], list[Numbered]] = {}
    for number, finding in enumerate(findings, 1):
        groups.setdefault((finding.scenario, finding.property), []).append((number, finding))
    shown = [_group(members) for members in groups.values() if _differs(members)]
    return el("section", el("h2", "Side by side"), *shown, class_="sides") if shown else join()


def _differs(members: list[Numbered]) -> bool:
    return len({finding.label for _, finding in members}) > 1


def _group(members: list[Numbered]) -> Markup:
    first = members[0][1]
    cards = [
        el(
            "div",
            el("h4", el("a", f"release {f.label}", href=f"#finding-{number}")),
            el("p", badge(f)),
            el("p", f.words),
            class_="card",
        )
        for number, f in members
    ]
    heading = el("h3", f"{first.property} in {first.scenario}")
    return el("div", heading, el("div", *cards, class_="cards"), class_="group")
