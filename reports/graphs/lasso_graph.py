"""A run that goes on indefinitely, drawn as a lasso: the steps that lead there in a line, those that repeat in a loop beside it."""

from itertools import pairwise

import graphviz

from ..ci_outcome import subject
from ..document import Finding, ShownStep
from ..drawing.fitting import shortened, width
from ..text.lanes_text import actors_of
from .style import LANE_COLOURS, VIOLATION, NotDrawn, digraph, heading, inches, place

WIDTH, HEIGHT, ROW = 164, 24, 36
GAP = 70
"""Between the two sides of what repeats."""


def to_dot(finding: Finding) -> str:
    """The lasso. NotDrawn if nothing repeats."""
    if finding.lasso is None and not finding.cycle:
        raise NotDrawn(
            f"{subject(finding)}: the run does not go on indefinitely; draw its steps: --graph-kind lanes"
        )
    graph = digraph("lasso", "neato", splines="line", outputorder="edgesfirst")
    actors = actors_of(finding.story)
    prefix = finding.story[: len(finding.story) - len(finding.cycle)]
    for i, step in enumerate(prefix):
        _box(graph, step, actors, 0, -i * ROW)
    for one, two in pairwise(prefix):
        graph.edge(_name(one), _name(two))
    bottom = -max(len(prefix) - 1, 0) * ROW
    end = _loop(graph, finding, actors, bottom)
    if prefix:
        graph.edge(_name(prefix[-1]), _name(finding.cycle[0]) if finding.cycle else "rest")
    _legend(graph, actors, end - 50)
    what = finding.lasso.case if finding.lasso is not None else "these steps repeat indefinitely"
    graph.node("title", heading(finding, what, 58), shape="none", pos=place(WIDTH + GAP, 70))
    return str(graph.source)


def _loop(graph: graphviz.Digraph, finding: Finding, actors: list[str], top: float) -> float:
    """What repeats: down beside the prefix, and up again on the right; gives where it ends below."""
    left = WIDTH + 60
    half = (len(finding.cycle) + 1) // 2
    words = "indefinitely"
    if not finding.cycle:
        words = "here it stays:\nno fair step can run"
        graph.edge("rest", "rest", color=VIOLATION, penwidth="2")
    alone = len(finding.cycle) < 2
    x = left + (0 if not finding.cycle else WIDTH / 2 + GAP / 2 if not alone else WIDTH / 2 + 40)
    graph.node(
        "rest", graphviz.escape(words).replace("\n", "\\n"), shape="none", fontcolor=VIOLATION, fontsize="14",
        pos=place(x, top - max(half - 1, 0) * ROW / 2 - (ROW / 2 if half % 2 and half > 1 else 0)),
    )  # fmt: skip
    for i, step in enumerate(finding.cycle):
        on_left = i < half
        row = i if on_left else len(finding.cycle) - 1 - i
        _box(graph, step, actors, left + (0 if on_left else WIDTH + GAP), top - row * ROW)
    for one, two in pairwise((*finding.cycle, *finding.cycle[:1])):
        graph.edge(_name(one), _name(two), color=VIOLATION, penwidth="2")
    return top - max(half - 1, 0) * ROW


def _name(step: ShownStep) -> str:
    return f"step{step.number}"


def _box(graph: graphviz.Digraph, step: ShownStep, actors: list[str], x: float, y: float) -> None:
    colour = LANE_COLOURS[actors.index(step.actor) % len(LANE_COLOURS)]
    words = shortened(f"{step.number}  {step.call}", WIDTH - 14, 10)
    graph.node(
        _name(step), graphviz.escape(words), shape="box", style="filled,rounded", color=colour, fixedsize="true",
        fillcolor="white", penwidth="1.6", pos=place(x, y), height=inches(HEIGHT), width=inches(WIDTH),
        tooltip=graphviz.escape(f"{step.actor}: {step.call} {step.summary}".rstrip()),
    )  # fmt: skip


def _legend(graph: graphviz.Digraph, actors: list[str], y: float) -> None:
    x = -WIDTH / 2
    for i, actor in enumerate(actors):
        wide = width(actor, 11) + 18
        if x + wide > 2.5 * WIDTH + GAP + 60 and x > -WIDTH / 2:
            x, y = -WIDTH / 2, y - 18
        colour = LANE_COLOURS[i % len(LANE_COLOURS)]
        graph.node(
            f"actor{i}", graphviz.escape(actor), shape="none", fontcolor=colour, fontsize="11",
            pos=place(x + wide / 2, y),
        )  # fmt: skip
        x += wide
