"""The cluster before and after each decisive step, as the API server has it and as the scheduler believes.

Nodes are boxes, pods stand in them by size; a nomination is dashed, an assumed pod striped, one being deleted dotted.
"""

import graphviz

from ..ci_outcome import subject
from ..document import Finding, ShownStep
from ..drawing.fitting import lines, width
from ..drawing.layout import Layout, Rectangle, layout
from ..picture import Scene, scenes
from ..states import states_of
from .style import MUTED, POD_COLOURS, TITLE, VIOLATION, NotDrawn, digraph, heading, inches, place

BETWEEN = 24
"""The gap between drawings beside each other."""
LEAST = 420
"""How wide the sentences above the drawings may be at the least."""
SENTENCE, CAPTION = 13, 9
FRAME, EDGE = "#f4f6f8", "#cbd2d9"


def to_dot(finding: Finding) -> str:
    """One row per step that stands out and changes the picture, and one above it where the picture before is not the row above.

    NotDrawn if no state or no such step is known.
    """
    steps = decisive_steps(finding)
    assert finding.cluster is not None
    graph = digraph("cluster", "neato", outputorder="nodesfirst", splines="line")
    rows: list[tuple[str, tuple[Scene, ...]]] = []
    for step in steps:
        before, after = (_scenes(finding, number) for number in (step.number - 1, step.number))
        if not rows or rows[-1][1] != before:
            rows.append((f"Before step {step.number}", before))
        rows.append((f"{step.number}. {step.sentence}", after))
    drawn = [(words, [(scene, layout(scene)) for scene in seen]) for words, seen in rows]
    wide = BETWEEN + max(
        max(one.width, width(scene.caption, CAPTION)) for _, row in drawn for scene, one in row
    )
    whole = max(wide * len(finding.cluster.pictures), LEAST)
    pods = [pod.name for pod in finding.cluster.pods]
    y = 0.0
    for r, (words, row) in enumerate(drawn):
        for n, line in enumerate(lines(words, whole, SENTENCE)):
            _text(graph, f"row{r}line{n}", line, 0, y, SENTENCE)
            y -= SENTENCE + 4
        y -= 8
        for column, (scene, one) in enumerate(row):
            drawing = _Drawing(graph, f"r{r}c{column}", pods, (column * wide, y - 12))
            _text(graph, f"{drawing.name}caption", scene.caption, column * wide, y - 6, CAPTION, MUTED)
            drawing.draw(one)
        y -= 12 + max(one.height for _, one in row) + 26
    graph.node(
        "title", heading(finding, "the cluster before and after each decisive step", int(whole / 7)), shape="none",
        pos=place(whole / 2, 66),
    )  # fmt: skip
    return str(graph.source)


def decisive_steps(finding: Finding) -> list[ShownStep]:
    """The steps to be drawn: those that stand out and change the picture, or if none does, those that change it."""
    if finding.cluster is None or not states_of(finding):
        raise NotDrawn(
            f"{subject(finding)}: the states of the cluster are not known; draw the steps: --graph-kind lanes"
        )
    changing = [s for s in finding.story if _scenes(finding, s.number) != _scenes(finding, s.number - 1)]
    decisive = [s for s in changing if s.decisive]
    if not changing:
        raise NotDrawn(f"{subject(finding)}: no step changes the cluster; draw the steps: --graph-kind lanes")
    return decisive or changing


def _scenes(finding: Finding, number: int) -> tuple[Scene, ...]:
    """The cluster after so many steps."""
    assert finding.cluster is not None
    return scenes(finding.cluster, states_of(finding)[number])


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
        """Draw it: frames, nodes, pods on them, and what is written."""
        for n, frame in enumerate(drawn.frames):
            self._rectangle(
                f"f{n}", frame, "", {"style": "filled,rounded", "fillcolor": FRAME, "color": EDGE}
            )
        for n, node in enumerate(drawn.nodes):
            colour = VIOLATION if (node.x, node.x + node.width, node.y) in drawn.over else MUTED
            style = "filled" if node.exists else "filled,dashed"
            self._rectangle(f"n{n}", node, "", {"style": style, "fillcolor": "white", "color": colour})
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
            return {"style": "dashed,rounded", "color": TITLE, "penwidth": "1.5"}
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
