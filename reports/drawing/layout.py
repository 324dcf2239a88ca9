"""Where everything stands in a drawing of the cluster: y grows downwards, and all lengths are in points or pixels.

A pod's area is its share of the room of its node. What is too low for a name, or asks for nothing of the resource that is
drawn, is named in a list below the node.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from ...base.structs import Data
from ..picture import Box, Placed, Scene
from .fitting import at_most, lines, shortened, width

ROOM = 144.0
"""The height of the largest node, or of what stands on it if that is more."""
LEAST_ROOM = 24.0
"""The height of a node that has any room."""
NARROW, WIDE = 72.0, 136.0
"""The bounds of a column's width: within them, it is as wide as its longest name."""
GAP, ROW_GAP, MARGIN = 20.0, 16.0, 8.0
ROW_WIDTH = 1000.0
"""Nodes that need more than this stand in several rows."""
NAME, SMALL = 12.0, 11.0
LINE, CHIP = 14.0, 22.0
FRAME = 6.0
"""How far around a node and what is nominated to it its frame stands."""
PENDING = "pending:"

Kind = Literal["", "assumed", "terminating", "nominated"]
WORDS: dict[Kind, str] = {
    "": "",
    "assumed": "assumed",
    "terminating": "being deleted",
    "nominated": "nominated",
}


class Label(Data):
    """A line of text: its left end (or its middle) and its base line. `whole` is what it says unabridged."""

    text: str
    x: float
    y: float
    size: float
    whole: str
    bold: bool = False
    middle: bool = False

    @property
    def box(self) -> tuple[float, float, float, float]:
        """The room that it takes at the most: left, top, right, bottom."""
        wide = width(self.text, self.size, self.bold)
        left = self.x - wide / 2 if self.middle else self.x
        return left, self.y - self.size * 0.8, left + wide, self.y + self.size * 0.22


class Rectangle(Data):
    """A pod or a node: where it stands, what it is, and the words in it."""

    x: float
    y: float
    width: float
    height: float
    whole: str
    pod: str | None = None
    kind: Kind = ""
    exists: bool = True
    labels: tuple[Label, ...] = ()


@dataclass(slots=True)
class Layout:
    """A drawing: a frame around each node with all that belongs to it, nodes, pods on top of them, and labels.

    `over` are the lines that pods reach beyond, from left to right.
    """

    frames: list[Rectangle] = field(default_factory=list)
    nodes: list[Rectangle] = field(default_factory=list)
    pods: list[Rectangle] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    over: list[tuple[float, float, float]] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0


def layout(scene: Scene) -> Layout:
    """The drawing of a scene."""
    found = Layout()
    column = _column(scene)
    step = 2 * column + GAP
    found.width = max(min(len(scene.boxes), _per_row(step)) * step - GAP, 2 * column + GAP) + 2 * MARGIN
    scale = ROOM / max([1, *(max(b.capacity, b.used, _sum(b.nominated)) for b in scene.boxes)])
    y = 2.0
    per_row = _per_row(step)
    for first in range(0, len(scene.boxes), per_row):
        drawn = [_Column(box, column, scale) for box in scene.boxes[first : first + per_row]]
        floor = y + max(one.above for one in drawn)
        y = floor
        for i, one in enumerate(drawn):
            y = max(y, one.place(found, MARGIN + i * step, floor))
        y += ROW_GAP
    found.height = _pending(found, scene.pending, y) if scene.pending else y
    return found


def _per_row(step: float) -> int:
    return max(int((ROW_WIDTH + GAP) // step), 1)


def _sum(pods: Sequence[Placed]) -> int:
    return sum(pod.size for pod in pods)


def _column(scene: Scene) -> float:
    """The width of a node, and of the column beside it for those that are nominated to it."""
    pods = [pod for box in scene.boxes for pod in (*box.pods, *box.nominated)]
    names = [box.name for box in scene.boxes] + [pod.name for pod in (*pods, *scene.pending)]
    longest = max((width(name, NAME, bold=True) for name in names), default=0.0)
    return min(max(longest + 10, NARROW), WIDE)


def kind_of(pod: Placed, nominated: bool) -> Kind:
    """What is special about a pod in its place."""
    return (
        "nominated" if nominated else "terminating" if pod.terminating else "assumed" if pod.assumed else ""
    )


def _whole(pod: Placed, kind: Kind) -> str:
    return ", ".join(filter(None, (pod.name, f"asks for {pod.label}" if pod.label else "", WORDS[kind])))


class _Column:
    """A node with what is on it and what is nominated to it."""

    def __init__(self, box: Box, width: float, scale: float) -> None:
        self.box, self.width = box, width
        used = max(box.used, _sum(box.nominated))
        room = box.capacity * scale
        if 0 < room < LEAST_ROOM:
            scale = min(LEAST_ROOM / box.capacity, max(ROOM / used if used else ROOM, scale))
        self.scale = scale
        self.room = max(box.capacity * scale, 1.0)
        self.top = max(self.room, used * scale)
        name = box.name + ("" if box.exists else " (gone)")
        self.name = shortened(name, 2 * width, NAME, bold=True)
        self.whole = f"{name}: {box.label}" if box.label else name
        self.amounts = lines(box.label, 2 * width, SMALL)

    @property
    def above(self) -> float:
        """How much there is above the floor: the pods, and what the node is called."""
        return self.top + 6 + LINE * (1 + len(self.amounts))

    def place(self, found: Layout, x: float, floor: float) -> float:
        """Put it there; gives where it ends below."""
        found.nodes.append(
            Rectangle(x, floor - self.room, self.width, self.room, self.whole, exists=self.box.exists)
        )
        y = floor - self.above + NAME
        found.labels.append(Label(self.name, x, y, NAME, self.whole, bold=True))
        for line in self.amounts:
            y += LINE
            found.labels.append(Label(line, x, y, SMALL, self.whole))
        listed: list[tuple[Placed, Kind]] = []
        for left, members in ((x, self.box.pods), (x + self.width, self.box.nominated)):
            bottom = floor
            for pod in members:
                kind = kind_of(pod, left != x)
                height = pod.size * self.scale
                bottom -= height
                if height < LINE + 1:
                    listed.append((pod, kind))
                if height > 0:
                    found.pods.append(_pod(pod, kind, left, bottom, self.width, height))
        if self.box.used > self.box.capacity:
            found.over.append((x, x + self.width, floor - self.room))
        at = floor + 4
        for pod, kind in listed:
            words = f"{pod.name} ({WORDS[kind]})" if kind else pod.name
            _chip(found, pod, kind, words, x, at, 2 * self.width)
            at += CHIP
        top = floor - self.above - 2
        wide = 2 * (self.width + FRAME)
        found.frames.append(Rectangle(x - FRAME, top, wide, at + 2 - top, self.whole, exists=self.box.exists))
        return at + 2


def _pod(pod: Placed, kind: Kind, x: float, y: float, width: float, height: float) -> Rectangle:
    whole = _whole(pod, kind)
    written: list[tuple[str, float, bool]] = []
    if height >= LINE + 1:
        word = WORDS[kind] if height >= 2 * LINE + 2 else ""
        most = max(int((height - 2) // LINE) - bool(word), 1)
        written = [(line, NAME, True) for line in at_most(pod.name, width - 6, NAME, min(most, 3), bold=True)]
        written += [(word, SMALL, False)] if word else []
    first = y + height / 2 - LINE * len(written) / 2 + NAME * 0.95
    labels = tuple(
        Label(text, x + width / 2, first + i * LINE, size, whole, bold, middle=True)
        for i, (text, size, bold) in enumerate(written)
    )
    return Rectangle(x, y, width, height, whole, pod.name, kind, labels=labels)


def _chip(found: Layout, pod: Placed, kind: Kind, words: str, x: float, y: float, room: float) -> float:
    """A pod by name alone, which says nothing of its size; gives where it ends on the right."""
    text = shortened(words, room - 14, NAME, bold=True)
    wide = width(text, NAME, bold=True) + 14
    whole = _whole(pod, kind)
    label = Label(text, x + wide / 2, y + 13, NAME, whole, bold=True, middle=True)
    found.pods.append(Rectangle(x, y, wide, CHIP - 4, whole, pod.name, kind, labels=(label,)))
    return x + wide


def _pending(found: Layout, pods: Sequence[Placed], y: float) -> float:
    """The pods that are on no node, in as many rows as they need; gives where they end."""
    found.labels.append(Label(PENDING, MARGIN, y + 13, SMALL, PENDING))
    start = MARGIN + width(PENDING, SMALL) + 8
    x, end = start, found.width - MARGIN
    for pod in pods:
        wide = min(width(pod.name, NAME, bold=True) + 14, end - start)
        if x > start and x + wide > end:
            x, y = start, y + CHIP
        x = _chip(found, pod, "", pod.name, x, y, end - x) + 6
    return y + CHIP + 2
