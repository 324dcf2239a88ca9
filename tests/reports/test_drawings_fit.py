"""Drawings of clusters with real names, and of more than there is room for: nothing is cut off, nothing overlaps."""

from __future__ import annotations

import re
from itertools import combinations
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from podrace.reports.document import Finding, ShownLasso
from podrace.reports.drawing.fitting import at_most, lines, shortened, width
from podrace.reports.drawing.layout import Layout, Rectangle, layout
from podrace.reports.evidence import Cause, NodeShape, Picture, PodShape, ShownCluster
from podrace.reports.graphs import Kind, to_dot
from podrace.reports.graphs.render import render
from podrace.reports.html import to_html
from podrace.reports.picture import PODS, Box, Placed, Scene, scarcest, scenes
from podrace.reports.states import State
from podrace.reports.text.explanation import badge_of, crowded, explain
from tests.profiles import examples
from tests.reports.long_names import LONG, LONG_LASSO, NODE_1, POD_P, POD_Q
from tests.reports.shown import SHOWN

SVG = "{http://www.w3.org/2000/svg}"
XLINK_TITLE = "{http://www.w3.org/1999/xlink}title"


class Area(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Area, slack: float = 0.5) -> bool:
        """Whether two areas have more than a border in common."""
        return (
            self.left + slack < other.right and other.left + slack < self.right
            and self.top + slack < other.bottom and other.top + slack < self.bottom
        )  # fmt: skip

    def within(self, other: Area) -> bool:
        return (
            other.left <= self.left and self.right <= other.right
            and other.top <= self.top and self.bottom <= other.bottom
        )  # fmt: skip


# --- words ----------------------------------------------------------------------------------------------------


def test_a_name_is_shortened_in_its_middle() -> None:
    assert shortened(POD_P, 150, 12) == "team-pa…b6c5d-xk2qp"
    assert shortened("web-1", 150, 12) == "web-1"
    assert shortened(POD_P, 1, 12) == "…"


@given(
    st.text(st.characters(codec="ascii", exclude_categories=["Cc"])), st.floats(20, 300), st.integers(1, 3)
)
@settings(max_examples=examples(100))
def test_what_is_fitted_fits(text: str, room: float, most: int) -> None:
    assert width(shortened(text, room, 12), 12) <= room
    found = lines(text, room, 12)
    assert all(width(line, 12) <= room for line in found)
    assert "".join("".join(found).split()) == "".join(text.split())  # nothing is left out
    assert len(at_most(text, room, 12, most)) <= most


# --- the cluster ----------------------------------------------------------------------------------------------


def scene(boxes: int, on: int, pending: int, size: int = 1) -> Scene:
    """Nodes of 10, each with so many pods on it and one nominated to it; all with long names."""
    pod = [Placed(f"{POD_P}-{i}", size, f"{size} cpu") for i in range(boxes * on + boxes + pending)]
    nodes = tuple(
        Box(f"{NODE_1}-{n}", True, 10, "10 cpu, 15424Mi memory, 2 example.com/accelerator", tuple(pod[n * on : (n + 1) * on]), (pod[boxes * on + n],))
        for n in range(boxes)
    )  # fmt: skip
    return Scene("as it is", nodes, tuple(pod[boxes * on + boxes :]), "cpu")


def areas_of(drawn: Layout) -> list[Area]:
    return [
        Area(*label.box) for label in [*drawn.labels, *(label for pod in drawn.pods for label in pod.labels)]
    ]


def area(one: Rectangle) -> Area:
    return Area(one.x, one.y, one.x + one.width, one.y + one.height)


@pytest.mark.parametrize("size", [1, 4, 7])
@pytest.mark.parametrize("pending", [0, 1, 17])
@pytest.mark.parametrize("boxes", [1, 2, 9])
def test_everything_is_within_the_drawing_and_nothing_overlaps(boxes: int, pending: int, size: int) -> None:
    drawn = layout(scene(boxes, 3, pending, size))
    canvas = Area(0, 0, drawn.width, drawn.height)
    words = areas_of(drawn)
    assert [one for one in words if not one.within(canvas)] == []
    assert [one for one in (*drawn.pods, *drawn.nodes) if not area(one).within(canvas)] == []
    assert [pair for pair in combinations(words, 2) if pair[0].meets(pair[1])] == []
    assert [pair for pair in combinations(map(area, drawn.pods), 2) if pair[0].meets(pair[1])] == []
    assert {pod.pod for pod in drawn.pods} == {f"{POD_P}-{i}" for i in range(4 * boxes + pending)}
    for pod in drawn.pods:
        assert all(Area(*label.box).within(area(pod)) for label in pod.labels)


def test_a_pods_area_is_its_share_of_the_nodes_room() -> None:
    sizes = (1, 12, 50, 237)
    boxes = tuple(
        Box(f"n{room}", True, room, "", tuple(Placed(f"{size} of {room}", size, "") for size in sizes), ())
        for room in (300, 1000, 16)
    )
    drawn = layout(Scene("as it is", boxes, (), "cpu"))
    shares = {}
    for node in drawn.nodes:
        for pod in drawn.pods:
            bottom = node.y + node.height
            if pod.x == node.x and pod.width == node.width and pod.y < bottom - 0.001:
                shares[pod.pod] = pod.width * pod.height / (node.width * node.height)
    wanted = {f"{size} of {room}": size / room for room in (300, 1000, 16) for size in sizes}
    assert shares == pytest.approx(wanted)


def test_what_is_too_low_for_its_name_is_named_below_the_node() -> None:
    box = Box(
        "n1", True, 1000, "", (Placed("tiny", 1, ""), Placed("none", 0, ""), Placed("large", 500, "")), ()
    )
    drawn = layout(Scene("as it is", (box,), (), "cpu"))
    floor = drawn.nodes[0].y + drawn.nodes[0].height
    assert [pod.pod for pod in drawn.pods if pod.y > floor] == ["tiny", "none"]
    assert sum(pod.pod == "none" for pod in drawn.pods) == 1  # it takes no room
    assert [label.text for pod in drawn.pods for label in pod.labels] == ["large", "tiny", "none"]


CLUSTER = ShownCluster(
    nodes=(NodeShape("n1", {"cpu": 4, "memory": 8}, 2),),
    pods=(PodShape("a", {"cpu": 1, "memory": 6}, 0), PodShape("b", {"cpu": 1, "memory": 4}, 0)),
    pictures=(Picture("as it is", "API", "API"),),
    units={"memory": (512, "Mi")},
)
BOTH = State({"API": {"a": {"exists": True, "node": "n1"}, "b": {"exists": True, "node": "n1"}}}, {})
NOBODY = State({"API": {"a": {"exists": True, "node": None}, "b": {"exists": True, "node": None}}}, {})


def test_areas_are_of_the_scarcest_resource() -> None:
    assert scarcest(CLUSTER) == "memory"
    (drawn,) = scenes(CLUSTER, BOTH)
    assert drawn.caption == "as it is (areas: memory)"
    assert [(pod.name, pod.size) for pod in drawn.boxes[0].pods] == [("a", 6), ("b", 4)]
    (drawn,) = scenes(CLUSTER, BOTH, "cpu")
    assert (drawn.caption, [pod.size for pod in drawn.boxes[0].pods]) == ("as it is (areas: cpu)", [1, 1])


def test_places_for_pods_may_be_what_is_scarce() -> None:
    few = replace(CLUSTER, nodes=(NodeShape("n1", {"cpu": 40, "memory": 80}, 1),))
    assert scarcest(few) == PODS
    (drawn,) = scenes(few, BOTH)
    assert (drawn.caption, drawn.boxes[0].capacity, drawn.boxes[0].used) == ("as it is (areas: pods)", 1, 2)
    alike = replace(few, nodes=(NodeShape("n1", {}, 110),), pods=(PodShape("a", {}, 0), PodShape("b", {}, 0)))
    (drawn,) = scenes(alike, BOTH)
    assert (drawn.caption, drawn.boxes[0].capacity, drawn.boxes[0].used) == ("as it is", 2, 2)


def test_what_does_not_fit_is_told_of_every_resource() -> None:
    few = replace(CLUSTER, nodes=(NodeShape("n1", {"cpu": 1, "memory": 8}, 1),))
    assert crowded(few, NOBODY, BOTH) == [
        "In the end, as it is, n1 has a (1 cpu) and b (1 cpu) on it, and no more than 1 cpu.",
        "In the end, as it is, n1 has a and b on it, and no more than 1 place for pods.",
        "In the end, as it is, n1 has a (3072Mi memory) and b (2048Mi memory) on it, and no more than 4096Mi memory.",
    ]


# --- the page -------------------------------------------------------------------------------------------------


def drawings(page: str) -> list[ElementTree.Element]:
    return [ElementTree.fromstring(text) for text in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]


SIZES = {"name": (12, True), "small": (11, False), "actor": (12, True), "bead-number": (12, True)}


def area_of_text(text: ElementTree.Element) -> Area:
    kinds = text.attrib["class"].split()
    size, bold = next(SIZES[kind] for kind in kinds if kind in SIZES)
    wide = width(text.text or "", size, bold)
    x, y = float(text.attrib["x"]), float(text.attrib["y"])
    left = x - wide / 2 if {"middle", "bead-number"} & set(kinds) else x
    return Area(left, y - size * 0.8, left + wide, y + size * 0.2)


def test_the_drawings_of_a_page() -> None:
    found = drawings(to_html([LONG]))
    assert len(found) == 2 * 4 + 1  # two pictures of each state, and the lanes
    for svg in found:
        canvas = Area(*map(float, svg.attrib["viewBox"].split()))
        words = [area_of_text(text) for text in svg.iter(f"{SVG}text")]
        assert words
        assert [one for one in words if not one.within(canvas)] == []
        assert [pair for pair in combinations(words, 2) if pair[0].meets(pair[1])] == []


def test_whole_names_are_shown_where_the_pointer_rests() -> None:
    first, *_, lanes = drawings(to_html([LONG]))
    titles = [title.text for title in first.iter(f"{SVG}title")][1:]
    assert f"{POD_P}, asks for 2 cpu" in titles
    assert f"{NODE_1}: 3 cpu" in titles
    assert f"bind({POD_P}) bind & go" in [title.text for title in lanes.iter(f"{SVG}title")]


# --- files ----------------------------------------------------------------------------------------------------


def nodes_of(
    finding: Finding, kind: Kind, closing: tuple[str, ...] = ()
) -> tuple[Area, dict[str, Area], dict[str, str]]:
    """The canvas, the area of each node that has a border, and what is written in each node."""
    svg = ElementTree.fromstring(render(to_dot(finding, kind, closing), "svg"))
    graph = next(svg.iter(f"{SVG}g"))
    ground = next(graph.iter(f"{SVG}polygon"))
    borders, texts = {}, {}
    for group in graph.iter(f"{SVG}g"):
        if group.attrib.get("class") != "node":
            continue
        name = group.findtext(f"{SVG}title") or ""
        shapes = [shape.attrib["points"] for shape in group.iter(f"{SVG}polygon")]
        shapes += [shape.attrib["d"] for shape in group.iter(f"{SVG}path")]
        points = [
            tuple(map(float, found)) for s in shapes for found in re.findall(r"(-?[\d.]+),(-?[\d.]+)", s)
        ]
        for round_ in group.iter(f"{SVG}ellipse"):
            x, y, wide, high = (float(round_.attrib[key]) for key in ("cx", "cy", "rx", "ry"))
            points += [(x - wide, y - high), (x + wide, y + high)]
        if points:
            xs, ys = zip(*points, strict=True)
            borders[name] = Area(min(xs), min(ys), max(xs), max(ys))
        texts[name] = "".join(text.text or "" for text in group.iter(f"{SVG}text"))
    xs, ys = zip(*(map(float, point.split(",")) for point in ground.attrib["points"].split()), strict=True)
    return Area(min(xs), min(ys), max(xs), max(ys)), borders, texts


def joined(text: str) -> str:
    """Without blanks, for lines are broken somewhere."""
    return "".join(text.split()).replace("\xa0", "")


@pytest.mark.parametrize("finding", [SHOWN, LONG, LONG_LASSO], ids=["short", "long", "lasso"])
def test_the_lanes_can_be_told_alone(finding: Finding) -> None:
    closing = ("7 closes it: with it, S-CAP holds.",)
    canvas, borders, texts = nodes_of(finding, "lanes", closing)
    told = explain(finding)
    for one in told.steps:
        said = joined(texts[f"step{one.number}"])
        for words in (one.text, *(part for note in one.notes for part in badge_of(note))):
            assert joined(words) in said
    for line in told.opening:
        assert joined(line) in joined(texts["title"])
    ends = [joined(text) for name, text in texts.items() if name.startswith("told_")]
    for heading, below in told.sections:
        assert any(all(joined(line) in text for line in (heading, *below)) for text in ends)
    assert joined("What closes it" + closing[0]) in ends[-1]
    assert joined(finding.words) in ends[0]
    boxes = [place for name, place in borders.items() if name.startswith(("step", "lane"))]
    assert len(boxes) >= len(finding.story)
    assert [one for one in boxes if not one.within(canvas)] == []
    assert [pair for pair in combinations(boxes, 2) if pair[0].meets(pair[1])] == []


PIXELS = 4 / 3
STEP = LONG.story[0]


@given(st.data())
@settings(max_examples=examples(10), deadline=None)
def test_lanes_are_as_wide_as_github_shows_them_and_no_arrow_crosses_a_box(data: st.DataObject) -> None:
    actors = data.draw(st.lists(st.integers(0, 8), min_size=1, max_size=34))
    story = tuple(replace(STEP, number=i + 1, actor=f"actor {a}") for i, a in enumerate(actors))
    pairs = [(a, b) for a in range(1, len(actors) + 1) for b in range(a + 1, len(actors) + 1)]
    causes = data.draw(st.lists(st.sampled_from(pairs), max_size=20, unique=True)) if pairs else []
    finding = replace(
        LONG,
        trace=story,
        memory=None,
        counterfactuals=(),
        causes=tuple(Cause(b, a, ("x",)) for a, b in causes),
    )
    canvas, borders, _ = nodes_of(finding, "lanes")
    assert (canvas.right - canvas.left) * PIXELS <= 900
    boxes = {name: box for name, box in borders.items() if name.startswith(("bead", "step"))}
    assert [pair for pair in combinations(boxes.values(), 2) if pair[0].meets(pair[1])] == []
    for tail, head, line in arrows_of(finding):
        crossed = [name for name, box in boxes.items() if name not in (tail, head) and box.meets(line, 1)]
        assert crossed == [], (tail, head)


def arrows_of(finding: Finding) -> list[tuple[str, str, Area]]:
    """The straight parts of arrows, each from which node to which, and the area of each."""
    svg = ElementTree.fromstring(render(to_dot(finding, "lanes"), "svg"))
    found = []
    for group in svg.iter(f"{SVG}g"):
        tail, _, head = (group.findtext(f"{SVG}title") or "").partition("->")
        if group.attrib.get("class") != "edge" or tail.startswith("top"):
            continue
        path = next(group.iter(f"{SVG}path")).attrib["d"]
        points = [tuple(map(float, pair)) for pair in re.findall(r"(-?[\d.]+)[ ,](-?[\d.]+)", path)]
        xs, ys = zip(*points, strict=True)
        assert max(xs) - min(xs) < 0.1 or max(ys) - min(ys) < 0.1, (tail, head)
        found.append((tail, head, Area(min(xs) - 2, min(ys) - 2, max(xs) + 2, max(ys) + 2)))
    return found


def test_a_nominated_pod_stands_in_the_frame_of_its_node() -> None:
    drawn = layout(scene(2, 3, 1, 4))
    for frame, node in zip(drawn.frames, drawn.nodes, strict=True):
        assert area(node).within(area(frame))
        inside = [pod for pod in drawn.pods if area(pod).within(area(frame))]
        assert [pod.kind for pod in inside].count("nominated") == 1
    assert [pair for pair in combinations(map(area, drawn.frames), 2) if pair[0].meets(pair[1])] == []


def test_the_cluster_in_a_file() -> None:
    drawn = render(to_dot(LONG, "cluster"), "svg")
    titles = {element.attrib.get(XLINK_TITLE) for element in ElementTree.fromstring(drawn).iter()}
    assert {f"{POD_P}, asks for 2 cpu", f"{POD_Q}, asks for 2 cpu, assumed", f"{NODE_1}: 3 cpu"} <= titles
    canvas, borders, _ = nodes_of(LONG, "cluster")
    pods = [place for name, place in borders.items() if re.fullmatch(r"r\d+c\dp\d+", name)]
    assert pods
    assert [one for one in borders.values() if not one.within(canvas)] == []
    assert [pair for pair in combinations(pods, 2) if pair[0].meets(pair[1])] == []


@pytest.mark.parametrize("count", [1, 2, 5, 12, 30])
def test_the_steps_of_a_lasso_stand_apart(count: int) -> None:
    step = LONG.story[0]
    many = tuple(replace(step, number=i + 1) for i in range(count + 2))
    finding = replace(
        LONG, trace=many[:2], cycle=many[2:], lasso=ShownLasso("q waits indefinitely", 0, count), memory=None
    )
    canvas, borders, _ = nodes_of(finding, "lasso")
    boxes = [place for name, place in borders.items() if name.startswith("step")]
    assert len(boxes) == count + 2
    assert [one for one in boxes if not one.within(canvas)] == []
    assert [pair for pair in combinations(boxes, 2) if pair[0].meets(pair[1])] == []
