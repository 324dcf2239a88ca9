"""Before and after a fix: findings about the same property of the same scenario, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ..document import Finding
from ..evidence import ShownReplay
from ..text.explanation import Told, explain
from .elements import Markup, el, join
from .verdicts import badge

Numbered = tuple[int, Finding]


def comparisons(findings: Sequence[Finding]) -> Markup:
    """For every property that was checked in several releases their verdicts, and what becomes of a counterexample."""
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
    tables = []
    for _, holding in members:
        if holding.replayed_across is not None:
            violated = [f for _, f in members if f.trace and f.label == holding.replayed_across.of]
            tables += [_table(f, holding, holding.replayed_across) for f in violated[:1]]
    heading = el("h3", f"{first.property} in {first.scenario}")
    return el("div", heading, el("div", *cards, class_="cards"), *tables, class_="group")


def _table(violated: Finding, holding: Finding, tried: ShownReplay) -> Markup:
    before = explain(violated).steps
    after = explain(replace(violated, trace=tried.steps, memory=tried.memory, counterfactuals=())).steps
    rows: list[Markup] = []
    same: list[int] = []
    for told, number in zip(after, tried.follows, strict=True):
        if number is not None and _alike(before[number - 1], told):
            same.append(number)
            continue
        rows += _same(same)
        same = []
        rows.append(_row(None if number is None else before[number - 1], told))
    rows += _same(same)
    if tried.stopped_at is not None:
        impossible = el(
            "td",
            el("p", f"Not possible here: {violated.story[tried.stopped_at - 1].call}."),
            class_="stopped",
        )
        rows.append(el("tr", *_cell(before[tried.stopped_at - 1]), impossible))
    else:
        end = f"All steps are possible, and {holding.property} holds after each of them."
        rows.append(el("tr", el("th", "", scope="row"), el("td"), el("td", el("p", end))))
    head = el(
        "tr", el("th", "step", scope="col"), el("th", f"release {violated.label}", scope="col"),
        el("th", f"release {holding.label}", scope="col"),
    )  # fmt: skip
    caption = el("caption", "The same schedule, before and after")
    table = el("table", caption, el("thead", head), el("tbody", *rows), class_="schedule")
    return el(
        "div",
        table,
        class_="scroll",
        role="region",
        aria_label="The same schedule, before and after",
        tabindex=0,
    )


def _alike(one: Told, other: Told) -> bool:
    return (one.text, one.notes) == (other.text, other.notes)


def _same(numbers: list[int]) -> list[Markup]:
    if not numbers:
        return []
    span = str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}–{numbers[-1]}"
    words = "the same in both" if len(numbers) == 1 else f"{len(numbers)} steps, the same in both"
    return [el("tr", el("th", span, scope="row"), el("td", words, colspan=2, class_="nothing"))]


def _row(before: Told | None, after: Told) -> Markup:
    if before is None:
        left = (el("th", "+", scope="row", title="only here"), el("td", "–", class_="nothing"))
    else:
        left = _cell(before)
    return el("tr", *left, el("td", *_words(after)))


def _cell(told: Told) -> tuple[Markup, Markup]:
    return el("th", str(told.number), scope="row"), el("td", *_words(told))


def _words(told: Told) -> list[Markup]:
    return [el("p", told.text), *(el("p", note, class_="note") for note in told.notes)]
