"""The cluster before and after each decisive step, as the API server has it and as the scheduler believes.

Nodes are boxes, pods stand in them by size; a nomination is dashed, an assumed pod striped, one being deleted dotted.
"""

from __future__ import annotations

from collections.abc import Sequence

import graphviz

from ..document import Finding, ShownStep
from ..drawing.fitting import lines, width
from ..drawing.layout import Layout, Rectangle, layout
from ..picture import Scene, scenes
from ..states import State, states_of
from .style import MUTED, POD_COLOURS, TITLE, VIOLATION, NotDrawn, digraph, heading, inches, place, where

BETWEEN = 24
"""The gap between drawings beside each other."""
SENTENCE, CAPTION = 13, 9


def to_dot(finding: Finding) -> str:
    """One row per step that stands out and changes the picture. NotDrawn if no state or no such step is known."""
    steps = decisive_steps(finding)
    assert finding.cluster is not None
    states = states_of(finding)
    graph = digraph("cluster", "neato", outputorder="nodesfirst", splines="line")
    whens = ("before", "after")
    rows = [
        [
            (when, i, scene)
            for when in whens
            for i, scene in enumerate(scenes(finding.cluster, states[step.number - (when == "before")]))
        ]
        for step in steps
    ]
    drawn = [[(when, i, scene, layout(scene)) for when, i, scene in row] for row in rows]
    wide = BETWEEN + max(
        max(one.width, width(f"{when}, {scene.caption}", CAPTION))
        for row in drawn
        for when, _, scene, one in row
    )
    whole = wide * len(whens) * len(finding.cluster.pictures)
    pods = [pod.name for pod in finding.cluster.pods]
    y = 0.0
    for step, row in zip(steps, drawn, strict=True):
        for n, line in enumerate(lines(f"{step.number}. {step.sentence}", whole, SENTENCE)):
            name = f"row{step.number}" if n == 0 else f"row{step.number}line{n}"
            _text(graph, name, line, 0, y, SENTENCE)
            y -= SENTENCE + 4
        y -= 8
        for column, (when, i, scene, one) in enumerate(row):
            left = column * wide + (12 if when == "after" else 0)
            drawing = _Drawing(graph, f"s{step.number}{when[0]}{i}", pods, (left, y - 12))
            _text(graph, f"{drawing.name}caption", f"{when}, {scene.caption}", left, y - 6, CAPTION, MUTED)
            drawing.draw(one)
        y -= 12 + max(one.height for *_, one in row) + 26
    graph.node(
        "title", heading(finding, "the cluster before and after each decisive step"), shape="none",
        pos=place(whole / 2, 56),
    )  # fmt: skip
    return str(graph.source)


def decisive_steps(finding: Finding) -> list[ShownStep]:
    """The steps to be drawn: those that stand out and change the picture, or if none does, those that change it."""
    states = states_of(finding)
    if finding.cluster is None or not states:
        raise NotDrawn(
            f"{where(finding)}: the states of the cluster are not known; draw the steps: --graph-kind lanes"
        )
    changing = [
        s for s in finding.story if _seen(finding, states, s.number) != _seen(finding, states, s.number - 1)
    ]
    decisive = [s for s in changing if s.decisive]
    if not changing:
        raise NotDrawn(f"{where(finding)}: no step changes the cluster; draw the steps: --graph-kind lanes")
    return decisive or changing


def _seen(finding: Finding, states: Sequence[State], number: int) -> tuple[Scene, ...]:
    assert finding.cluster is not None
    return scenes(finding.cluster, states[number])


def _text(
    graph: graphviz.Digraph,
    name: str,
    text: str,
    x: float,
    y: float,
    size: float,
    colour: str = TITLE,
    whole: str = "",
) -> None:
    """Text whose left end is at x."""
    wide = width(text, size)
    look = {"tooltip": graphviz.escape(whole)} if whole else {}
    graph.node(
        name, graphviz.escape(text) + "\\l", shape="none", margin="0", width=inches(wide), height=inches(size + 2),
        fixedsize="true", fontsize=f"{size:g}", fontcolor=colour, pos=place(x + wide / 2, y), **look,
    )  # fmt: skip


class _Drawing:
    """One picture of the cluster below and right of a corner; `name` makes the identifiers of its nodes."""

    def __init__(
        self, graph: graphviz.Digraph, name: str, pods: list[str], corner: tuple[float, float]
    ) -> None:
        self.graph, self.name, self.pods, self.corner = graph, name, pods, corner

    def draw(self, drawn: Layout) -> None:
        """Draw it: nodes, pods on them, and what is written."""
        for n, node in enumerate(drawn.nodes):
            colour = VIOLATION if (node.x, node.x + node.width, node.y) in drawn.over else MUTED
            style = "solid" if node.exists else "dashed"
            self._rectangle(f"n{n}", node, "", {"style": style, "color": colour})
        for n, pod in enumerate(drawn.pods):
            words = "\n".join(label.text for label in pod.labels)
            self._rectangle(f"p{n}", pod, words, self._look(pod))
        left, top = self.corner
        for n, label in enumerate(drawn.labels):
            _text(
                self.graph, f"{self.name}t{n}", label.text, left + label.x, top - label.y + label.size * 0.3,
                label.size - 1, whole=label.whole,
            )  # fmt: skip

    def _look(self, pod: Rectangle) -> dict[str, str]:
        assert pod.pod is not None
        fill = POD_COLOURS[self.pods.index(pod.pod) % len(POD_COLOURS)]
        if pod.kind == "nominated":
            return {"style": "dashed,rounded", "color": TITLE}
        if pod.kind == "terminating":
            return {"style": "filled,dotted", "fillcolor": fill}
        if pod.kind == "assumed":
            return {"style": "striped", "fillcolor": ":".join([fill, "white"] * 6), "color": MUTED}
        return {"style": "filled,rounded", "fillcolor": fill, "color": MUTED}

    def _rectangle(self, name: str, one: Rectangle, text: str, look: dict[str, str]) -> None:
        left, top = self.corner
        self.graph.node(
            f"{self.name}{name}", graphviz.escape(text).replace("\n", "\\n"), shape="box", fixedsize="true",
            width=inches(one.width), height=inches(one.height), margin="0",
            pos=place(left + one.x + one.width / 2, top - one.y - one.height / 2),
            tooltip=graphviz.escape(one.whole), **look,
        )  # fmt: skip
