"""The cluster as an SVG drawing: nodes as boxes, pods in them by size, nominations dashed, assumed pods hatched."""

from ..drawing.layout import Label, Rectangle, layout
from ..picture import Scene
from .elements import Markup, el

POD_COLOURS = 6


def draw(scene: Scene, pods: tuple[str, ...], prefix: str) -> Markup:
    """A scene as a figure; `pods` gives each pod its colour, and `prefix` makes identifiers unique."""
    drawn = layout(scene)
    over = (
        el("line", x1=f"{left:g}", x2=f"{right:g}", y1=f"{y:g}", y2=f"{y:g}", class_="over")
        for left, right, y in drawn.over
    )
    svg = el(
        "svg", el("title", scene.words), _hatching(prefix),
        *(_titled(one.whole, _rect(one, "frame")) for one in drawn.frames),
        *(_node(one) for one in drawn.nodes), *(_pod(one, pods, prefix) for one in drawn.pods), *over,
        *(_titled(label.whole, _text(label)) for label in drawn.labels),
        viewBox=f"0 0 {drawn.width:g} {drawn.height:g}", width=f"{drawn.width:g}", role="img",
        xmlns="http://www.w3.org/2000/svg",
    )  # fmt: skip
    caption = scene.caption
    return el("figure", el("figcaption", caption[:1].upper() + caption[1:]), svg, class_="cluster")


def _hatching(prefix: str) -> Markup:
    line = el("line", x1=0, y1=0, x2=0, y2=7, class_="hatch")
    pattern = el(
        "pattern", line, id=f"{prefix}-hatch", width=7, height=7, patternUnits="userSpaceOnUse", patternTransform="rotate(45)"
    )  # fmt: skip
    return el("defs", pattern)


def _titled(whole: str, *parts: Markup) -> Markup:
    """Parts with the words that browsers show where the pointer rests."""
    return el("g", el("title", whole), *parts)


def _rect(one: Rectangle, look: str, fill: str | None = None) -> Markup:
    place = {"x": one.x, "y": one.y, "width": one.width, "height": one.height}
    return el("rect", **{name: f"{at:g}" for name, at in place.items()}, rx=3, class_=look, fill=fill)


def _node(one: Rectangle) -> Markup:
    return _titled(one.whole, _rect(one, "node" if one.exists else "node gone"))


def _pod(one: Rectangle, pods: tuple[str, ...], prefix: str) -> Markup:
    assert one.pod is not None
    parts = [_rect(one, f"pod {colour(one.pod, pods)} {one.kind}".strip())]
    if one.kind == "assumed":
        parts.append(_rect(one, "hatched", f"url(#{prefix}-hatch)"))
    return _titled(one.whole, *parts, *(_text(label) for label in one.labels))


def _text(label: Label) -> Markup:
    kinds = ["name" if label.bold else "small", *(["middle"] if label.middle else [])]
    return el("text", label.text, x=f"{label.x:g}", y=f"{label.y:g}", class_=" ".join(kinds))


def colour(pod: str, pods: tuple[str, ...]) -> str:
    """The class that gives a pod its colour."""
    return f"pod-{pods.index(pod) % POD_COLOURS}"
