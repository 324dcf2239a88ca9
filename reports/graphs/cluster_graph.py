"""The cluster before and after each decisive step, as the API server has it and as the scheduler believes.

Nodes are boxes, pods stand in them by size; a nomination is dashed, an assumed pod striped, one being deleted dotted.
"""

from __future__ import annotations

from collections.abc import Sequence

import graphviz

from ..document import Finding, ShownStep
from ..picture import Box, Placed, Scene, scenes
from ..states import State, states_of
from .style import MUTED, POD_COLOURS, TITLE, VIOLATION, NotDrawn, digraph, heading, inches, place, where

ROOM, WIDTH, MEANT, GAP = 84, 66, 54, 14
"""The height of the largest node, the widths of its two columns, and the gap between nodes."""
LEAST = 18
LABEL, CAPTION = 34, 26


def to_dot(finding: Finding) -> str:
    """One row per step that stands out and changes the picture. NotDrawn if no state or no such step is known."""
    steps = decisive_steps(finding)
    assert finding.cluster is not None
    states = states_of(finding)
    graph = digraph("cluster", "neato", outputorder="nodesfirst", splines="line")
    columns = [(when, i) for when in ("before", "after") for i in range(len(finding.cluster.pictures))]
    wide = len(finding.cluster.nodes) * (WIDTH + MEANT + GAP) + 24
    y = 0.0
    for step in steps:
        _text(graph, f"row{step.number}", f"{step.number}. {step.sentence}", 0, y, 13)
        y -= CAPTION
        bottom = y
        for c, (when, i) in enumerate(columns):
            state = states[step.number - (when == "before")]
            scene = scenes(finding.cluster, state)[i]
            drawing = _Drawing(graph, f"s{step.number}{when[0]}{i}", [p.name for p in finding.cluster.pods])
            bottom = min(bottom, drawing.scene(scene, when, c * wide + (12 if when == "after" else 0), y))
        y = bottom - 30
    graph.node(
        "title", heading(finding, "the cluster before and after each decisive step"), shape="none",
        pos=place(wide * len(columns) / 2, 56),
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
    graph: graphviz.Digraph, name: str, text: str, x: float, y: float, size: int, colour: str = TITLE
) -> None:
    """Text whose left end is at x."""
    width = len(text) * size * 0.6
    graph.node(
        name, graphviz.escape(text) + "\\l", shape="none", margin="0", width=inches(width), height=inches(size + 2),
        fixedsize="true", fontsize=str(size), fontcolor=colour, pos=place(x + width / 2, y),
    )  # fmt: skip


class _Drawing:
    """One picture of the cluster; `name` makes the identifiers of its nodes."""

    def __init__(self, graph: graphviz.Digraph, name: str, pods: list[str]) -> None:
        self.graph, self.name, self.pods = graph, name, pods

    def scene(self, scene: Scene, when: str, x: float, y: float) -> float:
        """Draw with the upper left corner at (x, y); gives where the picture ends below."""
        _text(self.graph, f"{self.name}caption", f"{when}, {scene.title}", x, y - 6, 9, MUTED)
        most = max([1, *(max(box.capacity, box.used) for box in scene.boxes)])
        floor = y - LABEL - ROOM
        for n, box in enumerate(scene.boxes):
            self._box(box, f"{self.name}n{n}", x + n * (WIDTH + MEANT + GAP), floor, ROOM / most)
        if scene.pending:
            names = ", ".join(pod.name for pod in scene.pending)
            _text(self.graph, f"{self.name}pending", f"pending: {names}", x, floor - 12, 10)
            return floor - 18
        return floor

    def _box(self, box: Box, name: str, x: float, floor: float, scale: float) -> None:
        room = max(box.capacity * scale, LEAST)
        style = "solid" if box.exists else "dashed"
        colour = VIOLATION if box.used > box.capacity else MUTED
        self._rectangle(name, "", (x, floor), (WIDTH + MEANT, room), {"style": style, "color": colour})
        label = f"{box.name}, {box.label}" if box.label else box.name
        _text(
            self.graph,
            f"{name}label",
            label + ("" if box.exists else " (gone)"),
            x,
            floor + max(room, box.used * scale) + 7,
            10,
        )
        for column, members, width in ((x, box.pods, WIDTH), (x + WIDTH, box.nominated, MEANT)):
            at = floor
            for pod in members:
                height = max(pod.size * scale, LEAST)
                self._pod(
                    pod, f"{name}p{self.pods.index(pod.name)}", (column, at), (width, height), column != x
                )
                at += height

    def _pod(
        self, pod: Placed, name: str, corner: tuple[float, float], size: tuple[float, float], nominated: bool
    ) -> None:
        fill = POD_COLOURS[self.pods.index(pod.name) % len(POD_COLOURS)]
        look = {"style": "filled,rounded", "fillcolor": fill, "color": MUTED}
        words = pod.name
        if nominated:
            look, words = {"style": "dashed,rounded", "color": TITLE}, f"{pod.name}\nnominated"
        elif pod.terminating:
            look, words = {"style": "filled,dotted", "fillcolor": fill}, f"{pod.name}\ngoing"
        elif pod.assumed:
            look = {"style": "striped", "fillcolor": ":".join([fill, "white"] * 6), "color": MUTED}
            words = f"{pod.name}\nassumed"
        inner = (corner[0] + 3, corner[1] + 2), (size[0] - 6, size[1] - 4)
        self._rectangle(name, words if size[1] >= 28 else pod.name, *inner, look)

    def _rectangle(
        self,
        name: str,
        text: str,
        corner: tuple[float, float],
        size: tuple[float, float],
        look: dict[str, str],
    ) -> None:
        self.graph.node(
            name, graphviz.escape(text).replace("\n", "\\n"), shape="box", fixedsize="true",
            width=inches(size[0]), height=inches(size[1]), pos=place(corner[0] + size[0] / 2, corner[1] + size[1] / 2), **look,
        )  # fmt: skip
