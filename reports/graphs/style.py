"""What all drawings have in common. All lengths are in points."""

from html import escape
from textwrap import wrap

import graphviz

from ..document import Finding

FONT = "Arial"
TITLE = "#1f2933"
MUTED = "#52606d"
LANE_COLOURS = (
    "#2563a8",
    "#8a3ffc",
    "#0f7b55",
    "#b45309",
    "#be185d",
    "#0e7490",
    "#4d7c0f",
    "#7f1d1d",
    "#475569",
)
POD_COLOURS = ("#dbe8f6", "#d7efdf", "#fbe3cd", "#ecdff6", "#f9dbe6", "#d5eef2")
VIOLATION = "#b91c1c"


class NotDrawn(ValueError):
    """A drawing that there is not, or that nobody could read: one line that says why, and what to draw instead."""


def place(x: float, y: float) -> str:
    """A fixed position for neato."""
    return f"{x / 72:.3f},{y / 72:.3f}!"


def inches(points: float) -> str:
    """A length as DOT writes it."""
    return f"{points / 72:.3f}"


def digraph(name: str, engine: str, **attributes: str) -> graphviz.Digraph:
    """An empty drawing."""
    return graphviz.Digraph(
        name,
        engine=engine,
        graph_attr={"layout": engine, "bgcolor": "white", "pad": "0.3", "fontname": FONT, **attributes},
        node_attr={"fontname": FONT, "fontsize": "10", "fontcolor": TITLE},
        edge_attr={"fontname": FONT, "fontsize": "9", "color": MUTED, "arrowsize": "0.7"},
    )


def heading(finding: Finding, what: str, letters: int = 90) -> str:
    """The title of a drawing as an HTML-like label."""
    rows = [
        (16, f"<B>{escape(line)}</B>") for line in wrap(finding.title or finding.scenario, letters * 3 // 5)
    ]
    below = f"{finding.scenario}, release {finding.label}, {finding.property}: {what}"
    rows += [(11, escape(line)) for line in wrap(below, letters)]
    cells = "".join(
        f'<TR><TD><FONT POINT-SIZE="{size}" COLOR="{TITLE}">{text}</FONT></TD></TR>' for size, text in rows
    )
    return f'<<TABLE BORDER="0" CELLSPACING="0" CELLPADDING="2">{cells}</TABLE>>'
