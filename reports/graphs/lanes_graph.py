"""A counterexample as a drawing: a lane per actor, a row per step, arrows from causes to effects on other lanes.

Where causes are not known, arrows follow the order of the steps.

Every box has a fixed place (neato with pinned positions), so that lanes are straight whatever is in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from itertools import pairwise
from textwrap import wrap

import graphviz

from ..causes import drawn_causes
from ..document import Finding, ShownStep
from ..text.lanes_text import actors_of
from .style import FONT, LANE_COLOURS, TITLE, VIOLATION, place

DECISIVE = "#fde68a"

# All lengths in points.
LANE_WIDTH = 196
BOX_WIDTH = 180
LINE_HEIGHT = 14
BOX_PADDING = 14
ROW_GAP = 14
HEADER_HEIGHT = 30
LETTERS_PER_LINE = 34


def to_dot(finding: Finding) -> str:
    """The counterexample of a violated finding as DOT source. Raises ValueError if it has none."""
    if finding.trace is None:
        raise ValueError(
            f"{finding.scenario}, {finding.label}: {finding.property} has no counterexample to draw"
        )
    steps = finding.story
    actors = actors_of(steps)
    graph = graphviz.Digraph(
        "counterexample",
        engine="neato",
        graph_attr={
            "layout": "neato", "splines": "line", "outputorder": "edgesfirst", "bgcolor": "white", "pad": "0.3",
            "fontname": FONT,
        },
        node_attr={"shape": "none", "fontname": FONT, "fontsize": "10", "margin": "0", "width": "0", "height": "0"},
        edge_attr={"color": "#52606d", "arrowsize": "0.7", "penwidth": "1.2"},
    )  # fmt: skip
    boxes = [(step, _box(step)) for step in steps]
    bottom = _add_steps(graph, boxes, actors, finding.remarks)
    _add_arrows(graph, finding)
    if finding.cycle:
        first, last = finding.cycle[0], finding.cycle[-1]
        graph.edge(
            f"step{last.number}", f"step{first.number}", color=VIOLATION, style="dashed", constraint="false"
        )
    _add_lanes(graph, actors, bottom)
    _add_title(graph, finding, len(actors))
    _add_ending(graph, finding, len(actors), bottom)
    return str(graph.source)


def _centre(actors: int) -> float:
    return (actors - 1) * LANE_WIDTH / 2


def _add_lanes(graph: graphviz.Digraph, actors: list[str], bottom: float) -> None:
    for i, actor in enumerate(actors):
        colour = LANE_COLOURS[i % len(LANE_COLOURS)]
        graph.node(
            f"lane{i}",
            graphviz.escape(actor),
            pos=place(i * LANE_WIDTH, 0),
            shape="box",
            style="filled,rounded",
            fillcolor=colour,
            color=colour,
            fontcolor="white",
            fontsize="12",
            width=f"{BOX_WIDTH / 72:.3f}",
            height=f"{HEADER_HEIGHT / 72:.3f}",
            fixedsize="true",
        )
        graph.node(
            f"end{i}", "", pos=place(i * LANE_WIDTH, bottom), shape="point", width="0.02", color=colour
        )
        graph.edge(f"lane{i}", f"end{i}", dir="none", style="dashed", color=f"{colour}66", penwidth="1")


def _add_steps(
    graph: graphviz.Digraph,
    boxes: list[tuple[ShownStep, tuple[str, int]]],
    actors: list[str],
    remarks: Mapping[int, str],
) -> float:
    """Place the boxes one below the other; gives where the lanes end."""
    y = -float(HEADER_HEIGHT) / 2
    for step, (label, lines) in boxes:
        if step.number in remarks:
            y -= ROW_GAP + LINE_HEIGHT
            text = f'<FONT COLOR="{VIOLATION}" POINT-SIZE="12"><B>{escape(remarks[step.number])}</B></FONT>'
            table = f'<TABLE BORDER="0" BGCOLOR="white" CELLPADDING="4"><TR><TD>{text}</TD></TR></TABLE>'
            graph.node(f"remark{step.number}", f"<{table}>", pos=place(_centre(len(actors)), y))
            y -= LINE_HEIGHT / 2
        height = lines * LINE_HEIGHT + BOX_PADDING
        y -= ROW_GAP + height / 2
        lane = actors.index(step.actor)
        colour = LANE_COLOURS[lane % len(LANE_COLOURS)]
        graph.node(
            f"step{step.number}",
            label.replace("LANE", colour),
            pos=place(lane * LANE_WIDTH, y),
            tooltip=graphviz.escape(step.summary or step.call),
        )
        y -= height / 2
    return y - ROW_GAP


def _add_arrows(graph: graphviz.Digraph, finding: Finding) -> None:
    if not finding.causes:
        for one, two in pairwise(finding.story):
            graph.edge(f"step{one.number}", f"step{two.number}", constraint="false")
    for cause in drawn_causes(finding):
        reason = f"{cause.number} uses what {cause.after} wrote: {', '.join(cause.variables)}"
        graph.edge(
            f"step{cause.after}", f"step{cause.number}", constraint="false", tooltip=graphviz.escape(reason)
        )


def _box(step: ShownStep) -> tuple[str, int]:
    """The HTML-like label of a step, and how many lines of text it has."""
    head = [f"<B>{escape(line)}</B>" for line in wrap(step.call, LETTERS_PER_LINE - 6) or [""]]
    badge = f'<TD BGCOLOR="LANE" WIDTH="24"><FONT COLOR="white"><B>{step.number}</B></FONT></TD>'
    call = f'<TD ALIGN="LEFT" BALIGN="LEFT" WIDTH="{BOX_WIDTH - 24}">{"<BR/>".join(head)}</TD>'
    rows = [f"<TR>{badge}{call}</TR>"]
    count = len(head)
    for change in step.spoken:
        lines = [escape(line) for line in wrap(change.phrase, LETTERS_PER_LINE)]
        text = "<BR/>".join(lines)
        if change.decisive:
            text = f"<B>{text}</B>"
        fill = f' BGCOLOR="{DECISIVE}"' if change.decisive else ""
        rows.append(f'<TR><TD COLSPAN="2" ALIGN="LEFT" BALIGN="LEFT"{fill}>{text}</TD></TR>')
        count += len(lines)
    table = (
        '<TABLE BORDER="1" CELLBORDER="0" CELLSPACING="0" CELLPADDING="3" COLOR="LANE" BGCOLOR="white" '
        f'WIDTH="{BOX_WIDTH}">{"".join(rows)}</TABLE>'
    )
    return f"<{table}>", count


def _add_title(graph: graphviz.Digraph, finding: Finding, actors: int) -> None:
    letters = max(actors * LETTERS_PER_LINE, 40)
    title = finding.title or finding.scenario
    where = f"{finding.scenario}, release {finding.label}"
    sentence = f"{finding.property}: {finding.sentence}" if finding.sentence else finding.property
    rows = [(18, f"<B>{escape(line)}</B>") for line in wrap(title, letters * 3 // 5)]
    rows += [(12, escape(line)) for line in (where, *wrap(sentence, letters))]
    cells = (
        f'<TR><TD><FONT POINT-SIZE="{size}" COLOR="{TITLE}">{text}</FONT></TD></TR>' for size, text in rows
    )
    table = f'<TABLE BORDER="0" CELLSPACING="0" CELLPADDING="2">{"".join(cells)}</TABLE>'
    height = sum(size + 8 for size, _ in rows) + HEADER_HEIGHT
    graph.node("title", f"<{table}>", pos=place(_centre(actors), height / 2 + 10))


def _add_ending(graph: graphviz.Digraph, finding: Finding, actors: int, bottom: float) -> None:
    text = f"{finding.property} is violated"
    if finding.no_way_back is not None:
        text = f"{finding.property}: there is no way out"
    elif finding.lasso is not None:
        text = f"{finding.property}: {finding.lasso.case}"
    label = f'<<FONT COLOR="{VIOLATION}" POINT-SIZE="13"><B>{escape(text)}</B></FONT>>'
    steps = finding.story
    lane = actors_of(steps).index(steps[-1].actor) * LANE_WIDTH if steps else _centre(actors)
    graph.node("ending", label, pos=place(lane, bottom - 16))
