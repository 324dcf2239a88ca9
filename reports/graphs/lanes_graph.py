"""A counterexample as a drawing that can be told alone: the cluster in sentences, a lane per actor, a row per step with its
sentence, arrows from causes to effects on other lanes, and what is to be said of the end.

Where causes are not known, arrows follow the order of the steps.

Every box has a fixed place (neato with pinned positions), so that lanes are straight whatever is in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import pairwise

import graphviz

from ..causes import drawn_causes
from ..document import Finding, ShownStep
from ..drawing.fitting import lines, shortened, width
from ..text.explanation import DIVERGES, Explanation, Told, explain
from ..text.lanes_text import actors_of
from ..text.story_text import sections
from .style import FONT, LANE_COLOURS, MUTED, TITLE, VIOLATION, place

DECISIVE = "#fde68a"

# All lengths in points.
LANE_WIDTH = 236
BOX_WIDTH = 216
BADGE_WIDTH = 26
LINE_HEIGHT = 13
CELL_PADDING = 7
ROW_GAP = 14
HEADER_HEIGHT = 30
TEXT = 10
LEFT = 0.86
"""How much of that a line may take which begins on the left: it is placed by the widths of Arial, and may be seen in a wider font."""
LEAST_PAGE = 2 * LANE_WIDTH
"""How wide the sentences above and below the lanes may be at the least."""


def to_dot(finding: Finding, closing: Sequence[str] = ()) -> str:
    """The counterexample of a violated finding as DOT source; `closing` says what closes the race, where that is known.

    Raises ValueError if it has none.
    """
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
    told = explain(finding)
    bottom = _add_steps(graph, finding, told, actors)
    _add_arrows(graph, finding)
    if finding.cycle:
        first, last = finding.cycle[0], finding.cycle[-1]
        graph.edge(
            f"step{last.number}", f"step{first.number}", color=VIOLATION, style="dashed", constraint="false"
        )
    _add_lanes(graph, actors, bottom)
    _add_title(graph, finding, told, len(actors))
    bottom = _add_ending(graph, finding, actors, bottom)
    _add_sections(graph, sections(finding, told, closing), len(actors), bottom)
    return str(graph.source)


def _centre(actors: int) -> float:
    return (actors - 1) * LANE_WIDTH / 2


def _add_lanes(graph: graphviz.Digraph, actors: list[str], bottom: float) -> None:
    for i, actor in enumerate(actors):
        colour = LANE_COLOURS[i % len(LANE_COLOURS)]
        graph.node(
            f"lane{i}",
            graphviz.escape(shortened(actor, BOX_WIDTH - 8, 12)),
            tooltip=graphviz.escape(actor),
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


def _add_steps(graph: graphviz.Digraph, finding: Finding, told: Explanation, actors: list[str]) -> float:
    """Place the boxes one below the other; gives where the lanes end."""
    y = -float(HEADER_HEIGHT) / 2
    for step, one in zip(finding.story, told.steps, strict=True):
        if one.remark:
            y -= ROW_GAP + LINE_HEIGHT
            text = f'<FONT COLOR="{VIOLATION}" POINT-SIZE="12"><B>{escape(one.remark)}</B></FONT>'
            table = f'<TABLE BORDER="0" BGCOLOR="white" CELLPADDING="4"><TR><TD>{text}</TD></TR></TABLE>'
            graph.node(f"remark{step.number}", f"<{table}>", pos=place(_centre(len(actors)), y))
            y -= LINE_HEIGHT / 2
        label, height = _box(step, one)
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


def _box(step: ShownStep, told: Told) -> tuple[str, float]:
    """The HTML-like label of a step, and its height: its number and call, its sentence, and what it brings about."""
    head = lines(step.call, BOX_WIDTH - BADGE_WIDTH - 6, TEXT, bold=True) or [""]
    badge = f'<TD BGCOLOR="LANE" WIDTH="24"><FONT COLOR="white"><B>{step.number}</B></FONT></TD>'
    call = _lined([f"<B>{escape(line)}</B>" for line in head])
    rows = [f'<TR>{badge}<TD ALIGN="LEFT" BALIGN="LEFT" WIDTH="{BOX_WIDTH - 24}">{call}</TD></TR>']
    height = len(head) * LINE_HEIGHT + CELL_PADDING
    notes = [(note, VIOLATION if note.startswith(DIVERGES) else MUTED) for note in told.notes]
    for text, colour in ((told.text, TITLE), *notes):
        stands_out = told.decisive and text is told.text
        found = lines(text, BOX_WIDTH - 8, TEXT, stands_out)
        words = _lined(map(escape, found))
        fill = f' BGCOLOR="{DECISIVE}"' if stands_out else ""
        said = f"<B>{words}</B>" if stands_out else f'<FONT COLOR="{colour}">{words}</FONT>'
        rows.append(f'<TR><TD COLSPAN="2" ALIGN="LEFT" BALIGN="LEFT"{fill}>{said}</TD></TR>')
        height += len(found) * LINE_HEIGHT + CELL_PADDING
    table = (
        '<TABLE BORDER="1" CELLBORDER="0" CELLSPACING="0" CELLPADDING="3" COLOR="LANE" BGCOLOR="white" '
        f'WIDTH="{BOX_WIDTH}">{"".join(rows)}</TABLE>'
    )
    return f"<{table}>", height


def _lined(found: Iterable[str]) -> str:
    return "<BR/>".join(found)


def _page(actors: int) -> float:
    """How wide the sentences above and below the lanes may be."""
    return max((actors - 1) * LANE_WIDTH + BOX_WIDTH, LEAST_PAGE)


def _add_title(graph: graphviz.Digraph, finding: Finding, told: Explanation, actors: int) -> None:
    room = _page(actors)
    title = finding.title or finding.scenario
    sentence = f"{finding.property}: {finding.sentence}" if finding.sentence else finding.property
    rows = [(18, f"<B>{escape(line)}</B>", "CENTER") for line in lines(title, room, 18, bold=True)]
    where = f"{finding.scenario}, release {finding.label}"
    rows += [(12, escape(line), "CENTER") for text in (where, sentence) for line in lines(text, room, 12)]
    rows += [(11, escape(line), "LEFT") for text in told.opening for line in lines(text, room * LEFT, 11)]
    height = sum(size + 8 for size, _, _ in rows) + HEADER_HEIGHT
    graph.node("title", f"<{_table(rows)}>", pos=place(_centre(actors), height / 2 + 10))


def _table(rows: Sequence[tuple[int, str, str]]) -> str:
    """Lines of text: their size, what they say, and how they are aligned."""
    cells = (
        f'<TR><TD ALIGN="{align}"><FONT POINT-SIZE="{size}" COLOR="{TITLE}">{text}</FONT></TD></TR>'
        for size, text, align in rows
    )
    return f'<TABLE BORDER="0" CELLSPACING="0" CELLPADDING="2">{"".join(cells)}</TABLE>'


def _add_ending(graph: graphviz.Digraph, finding: Finding, actors: list[str], bottom: float) -> float:
    """What is violated, below the lane of the last step; gives where it ends."""
    text = f"{finding.property} is violated"
    if finding.no_way_back is not None:
        text = f"{finding.property}: there is no way out"
    elif finding.lasso is not None:
        text = f"{finding.property}: {finding.lasso.case}"
    found = lines(text, _page(len(actors)), 13, bold=True)
    label = f'<<FONT COLOR="{VIOLATION}" POINT-SIZE="13"><B>{_lined(map(escape, found))}</B></FONT>>'
    steps = finding.story
    short = len(found) == 1 and width(text, 13, bold=True) <= BOX_WIDTH
    lane = actors.index(steps[-1].actor) * LANE_WIDTH if steps and short else _centre(len(actors))
    height = 18.0 * len(found)
    graph.node("ending", label, pos=place(lane, bottom - height / 2 - 4))
    return bottom - height - 4


def _add_sections(
    graph: graphviz.Digraph, found: Mapping[str, Sequence[str]], actors: int, bottom: float
) -> None:
    rows = []
    for heading, said in found.items():
        rows.append((12, f"<B>{escape(heading)}</B>", "LEFT"))
        rows += [
            (11, escape(line), "LEFT") for text in said for line in lines(text, _page(actors) * LEFT, 11)
        ]
    if rows:
        height = sum(size + 8 for size, _, _ in rows)
        graph.node("told", f"<{_table(rows)}>", pos=place(_centre(actors), bottom - height / 2 - ROW_GAP))
