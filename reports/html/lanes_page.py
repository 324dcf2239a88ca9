"""Who depends on whom: the steps on the lanes of their actors, with an arrow from each cause to its effect, as SVG."""

from collections.abc import Sequence
from math import ceil

from ..causes import drawn_causes
from ..document import Finding, ShownStep
from ..drawing.fitting import shortened, width
from ..text.lanes_text import actors_of
from .elements import Markup, el, scrolling
from .story import LANE_COLOURS

ROW, TOP, LEFT, RADIUS = 30, 44, 20, 11
NARROW, WIDE = 150, 300
"""The bounds of a lane's width: within them, it is as wide as the words in it."""
ACTOR, CALL = 12, 11


def causes_figure(finding: Finding, name: str) -> Markup | None:
    """The figure; None if there are no steps, or their causes are not known."""
    steps = finding.story
    if not steps or not finding.causes:
        return None
    actors = actors_of(steps)
    widths = [_lane_width(actor, steps) for actor in actors]
    lefts = [LEFT + sum(widths[:i]) for i in range(len(actors))]
    x = {step.number: lefts[actors.index(step.actor)] for step in steps}
    y = {step.number: TOP + 12 + i * ROW for i, step in enumerate(steps)}
    bottom = TOP + len(steps) * ROW + 4
    across = LEFT + sum(widths)
    parts = [_head(name)]
    for i, actor in enumerate(actors):
        at = lefts[i]
        words = shortened(actor, widths[i] - 8, ACTOR, bold=True)
        look = f"actor lane-{i % LANE_COLOURS}"
        parts.append(el("g", el("title", actor), el("text", words, x=at - RADIUS, y=22, class_=look)))
        parts.append(el("line", x1=at, x2=at, y1=TOP - 12, y2=bottom, class_="rail"))
    for cause in drawn_causes(finding):
        parts.append(_arrow((x[cause.after], y[cause.after]), (x[cause.number], y[cause.number]), name))
    for step in steps:
        lane = actors.index(step.actor) % LANE_COLOURS
        cx, cy = x[step.number], y[step.number]
        parts.append(el("circle", cx=cx, cy=cy, r=RADIUS, class_=f"bead lane-{lane}"))
        parts.append(el("text", str(step.number), x=cx, y=cy + 4, class_="bead-number"))
        room = widths[actors.index(step.actor)] - 2 * RADIUS - 13
        text = el("text", shortened(step.call, room, CALL), x=cx + RADIUS + 5, y=cy + 4, class_="small")
        parts.append(el("g", el("title", f"{step.call} {step.summary}".rstrip()), text))
    svg = el(
        "svg", el("title", "The steps on the lanes of their actors, with arrows from causes to effects"), *parts,
        viewBox=f"0 0 {across} {bottom + 8}", width=across, role="img", xmlns="http://www.w3.org/2000/svg",
    )  # fmt: skip
    caption = "An arrow leads from a step to one on another lane that used what it had written."
    return el(
        "details",
        el("summary", "Lanes: what depends on what"),
        el("p", caption, class_="hint"),
        scrolling(svg, "Lanes"),
        class_="causes",
        open=True,
    )


def _lane_width(actor: str, steps: Sequence[ShownStep]) -> int:
    calls = [width(step.call, CALL) + 2 * RADIUS + 14 for step in steps if step.actor == actor]
    return ceil(min(max(NARROW, width(actor, ACTOR, bold=True) + 12, *calls), WIDE))


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
