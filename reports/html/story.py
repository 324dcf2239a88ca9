"""The story: a row per step with its lane, its sentence, and what is to be said of the moment."""

from ..document import Finding
from ..text.explanation import DIVERGES, Explanation, Told
from ..text.lanes_text import actors_of
from .elements import Markup, el, join

LANE_COLOURS = 8


def story(finding: Finding, told: Explanation, name: str) -> Markup:
    """All steps, in order. Every step links to its state in the player."""
    actors = actors_of(finding.story)
    legend = el(
        "ul",
        *(
            el("li", el("span", class_=f"dot lane-{i % LANE_COLOURS}"), actor)
            for i, actor in enumerate(actors)
        ),
        class_="legend",
    )
    rows: list[Markup] = []
    for one, step in zip(told.steps, finding.story, strict=True):
        if one.remark:
            rows.append(_remark(one.remark))
        target = f"{name}-state-{step.number}" if finding.memory is not None else None
        rows.append(_row(one, step.call, step.summary, actors, target))
    if told.ending:
        rows.append(_remark(told.ending))
    return join(legend, el("ol", *rows, class_="steps", style=f"--lanes: {max(len(actors), 1)}"))


def _remark(text: str) -> Markup:
    return el("li", text, class_="remark")


def _row(told: Told, call: str, summary: str, actors: list[str], target: str | None) -> Markup:
    lane = actors.index(told.actor)
    lanes = [
        el(
            "span",
            el("span", str(told.number), class_="number") if i == lane else None,
            class_=f"lane lane-{i % LANE_COLOURS}",
            aria_hidden="true",
        )
        for i in range(len(actors))
    ]
    kinds = [k for k, on in (("step", True), ("decisive", told.decisive), ("diverges", told.diverges)) if on]
    notes = [
        el("p", note, class_="note split" if note.startswith(DIVERGES) else "note") for note in told.notes
    ]
    return el(
        "li",
        el("span", *lanes, class_="lanes"),
        el(
            "div",
            el(
                "span" if target is None else "a",
                el("span", f"Step {told.number}, {told.actor}: ", class_="sr"),
                told.text,
                href=None if target is None else f"#{target}",
                data_step=told.number,
                class_="tell",
            ),
            el("p", el("code", call), f" {summary}" if summary else None, class_="call"),
            *notes,
        ),
        class_=" ".join(kinds),
        value=told.number,
        data_row=told.number,
    )
