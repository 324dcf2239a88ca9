"""A run that goes on for ever, drawn as a lasso: the steps that lead there in a line, those that repeat in a circle."""

from __future__ import annotations

from itertools import combinations, pairwise
from math import cos, pi, sin

import graphviz

from ..document import Finding, ShownStep
from ..drawing.fitting import shortened
from ..text.lanes_text import actors_of
from .style import LANE_COLOURS, VIOLATION, NotDrawn, digraph, heading, inches, place, where

WIDTH, HEIGHT, ROW = 168, 24, 36


def to_dot(finding: Finding) -> str:
    """The lasso. NotDrawn if nothing repeats."""
    if finding.lasso is None and not finding.cycle:
        raise NotDrawn(
            f"{where(finding)}: the run does not go on indefinitely; draw its steps: --graph-kind lanes"
        )
    graph = digraph("lasso", "neato", splines="true", outputorder="edgesfirst")
    actors = actors_of(finding.story)
    prefix = finding.story[: len(finding.story) - len(finding.cycle)]
    for i, step in enumerate(prefix):
        _box(graph, step, actors, 0, -i * ROW)
    for one, two in pairwise(prefix):
        graph.edge(_name(one), _name(two))
    bottom = -max(len(prefix) - 1, 0) * ROW
    radius = _radius(len(finding.cycle))
    centre = WIDTH + 60 + radius * 1.25, bottom - (0 if len(prefix) * ROW > 2 * radius else radius)
    _circle(graph, finding, actors, centre, radius)
    if prefix:
        graph.edge(_name(prefix[-1]), _name(finding.cycle[0]) if finding.cycle else "rest")
    _legend(graph, actors, min(bottom, centre[1] - radius) - 50)
    what = finding.lasso.case if finding.lasso is not None else "these steps repeat indefinitely"
    graph.node(
        "title",
        heading(finding, what),
        shape="none",
        pos=place(centre[0] / 2, 70 + max(0, centre[1] + radius)),
    )
    return str(graph.source)


def _places(count: int, radius: float) -> list[tuple[float, float]]:
    """Where the steps of the circle stand, around its centre: the first on the left, then clockwise."""
    angles = [pi - 2 * pi * i / count for i in range(count)]
    return [(radius * 1.25 * cos(angle), radius * sin(angle)) for angle in angles]


def _radius(count: int) -> float:
    """A radius at which no two boxes touch."""
    radius = max(count * (HEIGHT + 22) / pi, 70.0)
    while any(
        abs(one[0] - two[0]) < WIDTH + 8 and abs(one[1] - two[1]) < HEIGHT + 8
        for one, two in combinations(_places(count, radius), 2)
    ):
        radius *= 1.05
    return radius


def _circle(
    graph: graphviz.Digraph, finding: Finding, actors: list[str], centre: tuple[float, float], radius: float
) -> None:
    """The first of the steps that repeat stands where the line comes in, on the left; they go round clockwise."""
    words = "indefinitely"
    if not finding.cycle:
        words = "here it stays:\nno fair step can run"
        graph.edge("rest", "rest", color=VIOLATION, penwidth="2")
    graph.node(
        "rest", graphviz.escape(words).replace("\n", "\\n"), shape="none", fontcolor=VIOLATION, fontsize="14",
        pos=place(*centre),
    )  # fmt: skip
    for step, (x, y) in zip(finding.cycle, _places(len(finding.cycle), radius), strict=True):
        _box(graph, step, actors, centre[0] + x, centre[1] + y)
    for one, two in pairwise((*finding.cycle, *finding.cycle[:1])):
        graph.edge(_name(one), _name(two), color=VIOLATION, penwidth="2")


def _name(step: ShownStep) -> str:
    return f"step{step.number}"


def _box(graph: graphviz.Digraph, step: ShownStep, actors: list[str], x: float, y: float) -> None:
    colour = LANE_COLOURS[actors.index(step.actor) % len(LANE_COLOURS)]
    words = shortened(f"{step.number}  {step.call}", WIDTH - 12, 10)
    graph.node(
        _name(step), graphviz.escape(words), shape="box", style="filled,rounded", color=colour,
        fillcolor="white", penwidth="1.6", pos=place(x, y), height=inches(HEIGHT), margin="0.08,0.02",
        tooltip=graphviz.escape(f"{step.actor}: {step.call} {step.summary}".rstrip()),
    )  # fmt: skip


def _legend(graph: graphviz.Digraph, actors: list[str], y: float) -> None:
    for i, actor in enumerate(actors):
        colour = LANE_COLOURS[i % len(LANE_COLOURS)]
        graph.node(
            f"actor{i}",
            graphviz.escape(actor),
            shape="none",
            fontcolor=colour,
            fontsize="11",
            pos=place(i % 4 * 130, y - i // 4 * 18),
        )
