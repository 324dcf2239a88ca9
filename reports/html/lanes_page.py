"""Who depends on whom: the steps on the lanes of their actors, with an arrow from each cause to its effect, as SVG."""

from __future__ import annotations

from ..causes import drawn_causes
from ..document import Finding
from ..text.lanes_text import actors_of
from .elements import Markup, el
from .story import LANE_COLOURS

LANE, ROW, TOP, LEFT, RADIUS = 150, 30, 44, 20, 11


def causes_figure(finding: Finding, name: str) -> Markup | None:
    """The figure; None if there are no steps, or their causes are not known."""
    steps = finding.story
    if not steps or not finding.causes:
        return None
    actors = actors_of(steps)
    x = {step.number: LEFT + actors.index(step.actor) * LANE for step in steps}
    y = {step.number: TOP + 12 + i * ROW for i, step in enumerate(steps)}
    bottom = TOP + len(steps) * ROW + 4
    width = LEFT + len(actors) * LANE + 60
    parts = [_head(name)]
    for i, actor in enumerate(actors):
        at = LEFT + i * LANE
        parts.append(el("text", actor, x=at - RADIUS, y=22, class_=f"actor lane-{i % LANE_COLOURS}"))
        parts.append(el("line", x1=at, x2=at, y1=TOP - 12, y2=bottom, class_="rail"))
    for cause in drawn_causes(finding):
        parts.append(_arrow((x[cause.after], y[cause.after]), (x[cause.number], y[cause.number]), name))
    for step in steps:
        lane = actors.index(step.actor) % LANE_COLOURS
        cx, cy = x[step.number], y[step.number]
        parts.append(el("circle", cx=cx, cy=cy, r=RADIUS, class_=f"bead lane-{lane}"))
        parts.append(el("text", str(step.number), x=cx, y=cy + 4, class_="bead-number"))
        parts.append(el("text", step.call, x=cx + RADIUS + 5, y=cy + 4, class_="small"))
    svg = el(
        "svg", el("title", "The steps on the lanes of their actors, with arrows from causes to effects"), *parts,
        viewBox=f"0 0 {width} {bottom + 8}", width=width, role="img", xmlns="http://www.w3.org/2000/svg",
    )  # fmt: skip
    caption = "An arrow leads from a step to one on another lane that used what it had written."
    return el(
        "details",
        el("summary", "Lanes: what depends on what"),
        el("p", caption, class_="hint"),
        el("div", svg, class_="scroll", role="region", aria_label="Lanes", tabindex=0),
        class_="causes",
        open=True,
    )


def _head(name: str) -> Markup:
    shape = el("path", d="M0,0 L8,4 L0,8 z", class_="tip")
    marker = el(
        "marker", shape, id=f"{name}-tip", markerWidth=8, markerHeight=8, refX=7, refY=4, orient="auto",
        markerUnits="userSpaceOnUse",
    )  # fmt: skip
    return el("defs", marker)


def _arrow(start: tuple[int, int], end: tuple[int, int], name: str) -> Markup:
    side = 1 if end[0] > start[0] else -1
    x1, x2 = start[0] + side * 4, end[0] - side * (RADIUS + 1)
    y1, y2 = start[1] + RADIUS, end[1]
    path = f"M{x1},{y1} C{x1},{(y1 + y2) // 2} {x2 - side * 30},{y2} {x2},{y2}"
    return el("path", d=path, class_="cause", marker_end=f"url(#{name}-tip)", fill="none")
