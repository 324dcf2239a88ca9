"""The cluster as an SVG drawing: nodes as boxes, pods in them by size, nominations dashed, assumed pods hatched."""

from __future__ import annotations

from ..picture import Box, Placed, Scene
from .elements import Markup, el

ROOM = 132
"""The height of the largest node."""
WIDTH, MEANT, GAP, TOP = 80, 64, 16, 34
POD_COLOURS = 6
LEAST = 20


def draw(scene: Scene, pods: tuple[str, ...], prefix: str) -> Markup:
    """A scene as a figure; `pods` gives each pod its colour, and `prefix` makes identifiers unique."""
    most = max([1, *(max(box.capacity, box.used) for box in scene.boxes)])
    scale = ROOM / most
    x, drawn = 8.0, []
    for box in scene.boxes:
        drawn.append(_box(box, x, scale, pods, prefix))
        x += WIDTH + MEANT + GAP
    height = TOP + ROOM + 14
    if scene.pending:
        drawn.append(_pending(scene, height, pods))
        height += 42
    width = max(x - GAP + 8, 160)
    svg = el(
        "svg", el("title", scene.words), _hatching(prefix), *drawn,
        viewBox=f"0 0 {width:g} {height:g}", width=f"{width:g}", role="img",
        xmlns="http://www.w3.org/2000/svg",
    )  # fmt: skip
    return el("figure", el("figcaption", scene.title[:1].upper() + scene.title[1:]), svg, class_="cluster")


def _hatching(prefix: str) -> Markup:
    line = el("line", x1=0, y1=0, x2=0, y2=7, class_="hatch")
    pattern = el(
        "pattern", line, id=f"{prefix}-hatch", width=7, height=7, patternUnits="userSpaceOnUse", patternTransform="rotate(45)"
    )  # fmt: skip
    return el("defs", pattern)


def _box(box: Box, x: float, scale: float, pods: tuple[str, ...], prefix: str) -> Markup:
    room = max(box.capacity * scale, LEAST)
    top = TOP + ROOM - room
    floor = float(TOP + ROOM)
    state = "node" if box.exists else "node gone"
    label = min(top, floor - box.used * scale)
    parts = [
        el("rect", x=f"{x:g}", y=f"{top:g}", width=WIDTH + MEANT, height=f"{room:g}", rx=6, class_=state),
        el(
            "text",
            f"{box.name}" + ("" if box.exists else " (gone)"),
            x=f"{x + 2:g}",
            y=f"{label - 18:g}",
            class_="name",
        ),
        el("text", box.label, x=f"{x + 2:g}", y=f"{label - 5:g}", class_="small"),
    ]
    for column, members in ((x, box.pods), (x + WIDTH, box.nominated)):
        y = floor
        for pod in members:
            height = max(pod.size * scale, LEAST)
            y -= height
            parts.append(_pod(pod, column, y, height, pods, prefix, column != x))
    if box.used > box.capacity:
        parts.append(
            el("line", x1=f"{x:g}", x2=f"{x + WIDTH:g}", y1=f"{top:g}", y2=f"{top:g}", class_="over")
        )
    return el("g", *parts)


def _pod(
    pod: Placed, x: float, y: float, height: float, pods: tuple[str, ...], prefix: str, nominated: bool
) -> Markup:
    width = (MEANT if nominated else WIDTH) - 8
    place: dict[str, str | int] = {
        "x": f"{x + 4:g}",
        "y": f"{y + 3:g}",
        "width": width,
        "height": f"{height - 6:g}",
        "rx": 4,
    }
    kind = (
        "nominated" if nominated else "terminating" if pod.terminating else "assumed" if pod.assumed else ""
    )
    parts = [el("rect", class_=f"pod {colour(pod.name, pods)} {kind}".strip(), **place)]
    if pod.assumed:
        parts.append(el("rect", fill=f"url(#{prefix}-hatch)", class_="hatched", **place))
    word = (
        "nominated" if nominated else "being deleted" if pod.terminating else "assumed" if pod.assumed else ""
    )
    middle = x + 4 + width / 2
    if word and height >= 36:
        parts.append(el("text", pod.name, x=f"{middle:g}", y=f"{y + height / 2 - 1:g}", class_="pod-name"))
        parts.append(el("text", word, x=f"{middle:g}", y=f"{y + height / 2 + 12:g}", class_="pod-word"))
    else:
        parts.append(el("text", pod.name, x=f"{middle:g}", y=f"{y + height / 2 + 4:g}", class_="pod-name"))
    return el("g", *parts)


def _pending(scene: Scene, top: float, pods: tuple[str, ...]) -> Markup:
    parts = [el("text", "pending", x=8, y=f"{top + 20:g}", class_="small")]
    x = 62.0
    for pod in scene.pending:
        width = 14 + 8 * max(len(pod.name), 2)
        parts += [
            el(
                "rect",
                x=f"{x:g}",
                y=f"{top + 4:g}",
                width=width,
                height=24,
                rx=4,
                class_=f"pod {colour(pod.name, pods)}",
            ),
            el("text", pod.name, x=f"{x + width / 2:g}", y=f"{top + 20:g}", class_="pod-name"),
        ]
        x += width + 6
    return el("g", *parts)


def colour(pod: str, pods: tuple[str, ...]) -> str:
    """The class that gives a pod its colour."""
    return f"pod-{pods.index(pod) % POD_COLOURS}"
