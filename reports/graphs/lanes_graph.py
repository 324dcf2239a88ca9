"""A counterexample as a drawing that can be told alone: the cluster in sentences, a rail per actor with a numbered bead per
step, the sentences beside them, arrows from causes to effects on other rails, and what is to be said of the end.

It is never wider than what GitHub shows of a picture. Consecutive steps of one actor stand in one box. Each row has one bead,
and arrows leave along their row and turn between the rails: so no arrow crosses a bead or a box. Where causes are not known,
arrows follow the order of the steps. Everything has a fixed place (neato with pinned positions).
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import pairwise

import graphviz

from ..causes import drawn_causes
from ..document import Finding, ShownStep
from ..drawing.fitting import lines, shortened, width
from ..text.explanation import DIVERGES, Explanation, Told, badge_of, explain
from ..text.lanes_text import actors_of
from ..text.story_text import sections
from .style import FONT, LANE_COLOURS, MUTED, TITLE, VIOLATION, inches, place

DECISIVE = "#fde68a"
LINE = "#cbd2d9"
ARROW = "#52606d"

# All lengths in points: 900 pixels are 675.
PAGE = 622.0
RAILS = 228.0
"""How much of that the rails may take."""
NARROWEST_GAP, WIDEST_GAP = 25.0, 42.0
LEAST_ROOM = 220.0
"""How wide the sentences beside the rails are at the least."""
BEAD = 17.0
NUMBER = 26.0
LINE_HEIGHT = 13.0
CELL_PADDING = 6.0
RUN_GAP = 12.0
HEADER = 18.0
SLOT = 4.0
"""How far apart arrows stand that go down between the same rails."""
TEXT, NOTE = 10, 9
LEFT = 0.86
"""How much of that a line may take which begins on the left: it is placed by the widths of Arial, and may be seen in a wider font."""


def to_dot(finding: Finding, closing: Sequence[str] = ()) -> str:
    """The counterexample of a violated finding as DOT source; `closing` says what closes the race, where that is known."""
    graph = graphviz.Digraph(
        "counterexample",
        engine="neato",
        graph_attr={
            "layout": "neato", "splines": "line", "outputorder": "edgesfirst", "bgcolor": "white", "pad": "0.3",
            "fontname": FONT,
        },
        node_attr={"shape": "none", "fontname": FONT, "fontsize": "10", "margin": "0", "width": "0", "height": "0"},
        edge_attr={"color": ARROW, "arrowsize": "0.6", "penwidth": "1.2"},
    )  # fmt: skip
    told = explain(finding)
    drawn = _Rails(graph, finding, told)
    _add_title(graph, finding, told)
    bottom = _add_ending(graph, finding, drawn.bottom)
    _add_sections(graph, sections(finding, told, closing), bottom)
    return str(graph.source)


class _Rails:
    """The rails with their beads, the sentences beside them and the arrows; `bottom` is where they end."""

    def __init__(self, graph: graphviz.Digraph, finding: Finding, told: Explanation) -> None:
        self.graph = graph
        self.actors = actors_of(finding.story)
        self.gap = min(WIDEST_GAP, max(NARROWEST_GAP, RAILS / max(len(self.actors), 1)))
        self.words = max(len(self.actors), 1) * self.gap
        """Where the sentences begin."""
        self.room = max(PAGE - self.words, LEAST_ROOM)
        self.beads: dict[int, tuple[int, float]] = {}
        """Of each step, its rail and its height."""
        self.taken: list[tuple[int, int, float, float]] = []
        """Between which rails, in which slot, from where to where an arrow goes down."""
        self.bottom = self._steps(finding.story, told.steps)
        self._heads()
        for number, (after, reason) in enumerate(_arrows(finding)):
            self._arrow(f"a{number}", *after, {"tooltip": graphviz.escape(reason)} if reason else {})
        if finding.cycle:
            first, last = finding.cycle[0].number, finding.cycle[-1].number
            self._arrow("again", last, first, {"color": VIOLATION, "style": "dashed"})

    def _x(self, rail: int) -> float:
        return rail * self.gap + BEAD / 2

    def _heads(self) -> None:
        """The names of the actors like stairs, each above its rail."""
        top = HEADER * len(self.actors)
        for i, actor in enumerate(self.actors):
            colour = LANE_COLOURS[i % len(LANE_COLOURS)]
            left, y = self._x(i) - BEAD / 2, top - i * HEADER
            words = shortened(actor, PAGE - left - 16, 11, bold=True)
            wide = width(words, 11, bold=True) + 14
            self.graph.node(
                f"lane{i}", graphviz.escape(words), tooltip=graphviz.escape(actor), pos=place(left + wide / 2, y),
                shape="box", style="filled,rounded", fillcolor=colour, color=colour, fontcolor="white", fontsize="11",
                width=inches(wide), height=inches(HEADER - 3), fixedsize="true",
            )  # fmt: skip
            self._point(f"top{i}", self._x(i), y - HEADER / 2)
            self._point(f"end{i}", self._x(i), self.bottom)
            self.graph.edge(
                f"top{i}", f"end{i}", dir="none", style="dashed", color=f"{colour}66", penwidth="1"
            )

    def _steps(self, story: Sequence[ShownStep], told: Sequence[Told]) -> float:
        """A row per step, one below the other; gives where they end."""
        y = 0.0
        actor = None
        for step, one in zip(story, told, strict=True):
            if one.remark:
                for n, line in enumerate(lines(one.remark, self.room, 12, bold=True)):
                    y -= LINE_HEIGHT + 6
                    text = f'<<FONT COLOR="{VIOLATION}" POINT-SIZE="12"><B>{escape(line)}</B></FONT>>'
                    at = self.words + width(line, 12, bold=True) / 2
                    self.graph.node(f"remark{step.number}line{n}", text, pos=place(at, y))
                y -= LINE_HEIGHT / 2
                actor = None
            y -= 0 if actor == step.actor else RUN_GAP
            actor = step.actor
            y -= self._row(step, one, y)
        return y - RUN_GAP

    def _row(self, step: ShownStep, one: Told, y: float) -> float:
        """One step, from y downwards; gives how high it is."""
        rail = self.actors.index(step.actor)
        colour = LANE_COLOURS[rail % len(LANE_COLOURS)]
        label, height = _box(one, colour, self.room)
        tooltip = graphviz.escape(f"{step.call} {step.summary}".rstrip())
        self.graph.node(
            f"step{step.number}",
            label,
            pos=place(self.words + self.room / 2, y - height / 2),
            tooltip=tooltip,
        )
        at = y - (LINE_HEIGHT + CELL_PADDING) / 2
        self.beads[step.number] = rail, at
        look = {"fillcolor": DECISIVE, "fontcolor": TITLE} if one.decisive else {"fillcolor": colour}
        self.graph.node(
            f"bead{step.number}", str(step.number), pos=place(self._x(rail), at), shape="circle", style="filled",
            color=colour, penwidth="2", width=inches(BEAD), height=inches(BEAD), fixedsize="true", fontsize="8",
            tooltip=tooltip, **{"fontcolor": "white"} | look,
        )  # fmt: skip
        return height

    def _arrow(self, name: str, after: int, number: int, look: dict[str, str]) -> None:
        """From bead to bead: along the row, down beside the rail of the second, and into it."""
        (one, top), (two, low) = self.beads[after], self.beads[number]
        if one == two and name != "again":
            self.graph.edge(f"bead{after}", f"bead{number}", **look)
            return
        between = two if one < two and name != "again" else two + 1
        between = 0 if name == "again" else between
        x = self._between(between, top, low)
        self._point(f"{name}from", x, top)
        self._point(f"{name}to", x, low)
        for tail, head in pairwise((f"bead{after}", f"{name}from", f"{name}to", f"bead{number}")):
            last = head == f"bead{number}"
            self.graph.edge(tail, head, **look, **({} if last else {"dir": "none"}))

    def _between(self, rail: int, top: float, low: float) -> float:
        """Where left of a rail an arrow may go down: where no other does at this height, as long as there is room."""
        high, deep = max(top, low), min(top, low)
        most = max(int((self.gap - BEAD - 4) // SLOT), 1)
        used = {slot for r, slot, h, d in self.taken if r == rail and deep <= h and d <= high}
        slot = next((slot for slot in range(most) if slot not in used), len(used) % most)
        self.taken.append((rail, slot, high, deep))
        return self._x(rail) - BEAD / 2 - 5 - SLOT * slot

    def _point(self, name: str, x: float, y: float) -> None:
        self.graph.node(name, "", pos=place(x, y), shape="point", width="0.001", style="invis")


def _arrows(finding: Finding) -> list[tuple[tuple[int, int], str]]:
    """From which step to which, and why."""
    if not finding.causes:
        return [((one.number, two.number), "") for one, two in pairwise(finding.story)]
    return [
        ((c.after, c.number), f"{c.number} uses what {c.after} wrote: {', '.join(c.variables)}")
        for c in drawn_causes(finding)
    ]


def _box(told: Told, colour: str, room: float) -> tuple[str, float]:
    """The HTML-like label of a step, and its height: its number and sentence, and what it brings about."""
    found = lines(told.text, room - NUMBER - 8, TEXT, told.decisive) or [""]
    words = _lined(map(escape, found))
    said = f"<B>{words}</B>" if told.decisive else f'<FONT COLOR="{TITLE}">{words}</FONT>'
    fill = f' BGCOLOR="{DECISIVE}"' if told.decisive else ""
    number = f'<FONT COLOR="{colour}"><B>{told.number}</B></FONT>'
    rows = [_cells(number, said, room, fill)]
    height = len(found) * LINE_HEIGHT + CELL_PADDING
    for note in told.notes:
        row, more = _note(note, room)
        rows.append(row)
        height += more
    table = (
        f'<TABLE BORDER="1" CELLBORDER="0" CELLSPACING="0" CELLPADDING="3" COLOR="{LINE}" BGCOLOR="white" FIXEDSIZE="TRUE" '
        f'WIDTH="{room:.0f}" HEIGHT="{height:.0f}">{"".join(rows)}</TABLE>'
    )
    return f"<{table}>", height


def _cells(number: str, words: str, room: float, fill: str = "") -> str:
    return (
        f'<TR><TD{fill} VALIGN="TOP" WIDTH="{NUMBER:.0f}">{number}</TD>'
        f'<TD ALIGN="LEFT" BALIGN="LEFT"{fill} WIDTH="{room - NUMBER:.0f}">{words}</TD></TR>'
    )


def _note(note: str, room: float) -> tuple[str, float]:
    """A note as a row: its badge, and what it says beyond that."""
    badge, rest = badge_of(note)
    colour = VIOLATION if note.startswith(DIVERGES) else MUTED
    wide = min(width(badge, NOTE, bold=True) + 18, room / 2) if badge else 0.0
    left = lines(badge, wide - 14, NOTE, bold=True)
    right = lines(rest, room - NUMBER - wide - 14, NOTE)
    pill = (
        f'<TD BGCOLOR="{colour}" STYLE="ROUNDED" WIDTH="{wide:.0f}">{_small(left, "white", bold=True)}</TD>'
    )
    text = f'<TD ALIGN="LEFT" BALIGN="LEFT" WIDTH="{room - NUMBER - wide - 14:.0f}">{_small(right or [" "], MUTED)}</TD>'
    cells = f"{pill if left else ''}{text}"
    said = f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="2"><TR>{cells}</TR></TABLE>'
    return _cells("", said, room), max(len(left), len(right)) * (LINE_HEIGHT - 1) + CELL_PADDING + 4


def _small(found: Sequence[str], colour: str, bold: bool = False) -> str:
    words = _lined(map(escape, found))
    return f'<FONT COLOR="{colour}" POINT-SIZE="{NOTE}">{f"<B>{words}</B>" if bold else words}</FONT>'


def _lined(found: Iterable[str]) -> str:
    return "<BR/>".join(found)


def _add_title(graph: graphviz.Digraph, finding: Finding, told: Explanation) -> None:
    title = finding.title or finding.scenario
    sentence = f"{finding.property}: {finding.sentence}" if finding.sentence else finding.property
    rows = [(18, f"<B>{escape(line)}</B>", "LEFT") for line in lines(title, PAGE * LEFT, 18, bold=True)]
    where = f"{finding.scenario}, release {finding.label}"
    rows += [
        (12, escape(line), "LEFT") for text in (where, sentence) for line in lines(text, PAGE * LEFT, 12)
    ]
    rows += [(11, escape(line), "LEFT") for text in told.opening for line in lines(text, PAGE * LEFT, 11)]
    _add_text(graph, "title", rows, HEADER * (len(actors_of(finding.story)) + 1) + _height(rows))


def _add_text(graph: graphviz.Digraph, name: str, rows: Sequence[tuple[int, str, str]], top: float) -> float:
    """Lines of text over the whole width: their size, what they say, and how they are aligned; gives where they end."""
    cells = (
        f'<TR><TD ALIGN="{align}" WIDTH="{PAGE:.0f}"><FONT POINT-SIZE="{size}" COLOR="{TITLE}">{text}</FONT></TD></TR>'
        for size, text, align in rows
    )
    table = f'<TABLE BORDER="0" CELLSPACING="0" CELLPADDING="2">{"".join(cells)}</TABLE>'
    height = _height(rows)
    graph.node(name, f"<{table}>", pos=place(PAGE / 2, top - height / 2))
    return top - height


def _height(rows: Sequence[tuple[int, str, str]]) -> float:
    return sum(size + 8.0 for size, _, _ in rows)


def _add_ending(graph: graphviz.Digraph, finding: Finding, bottom: float) -> float:
    """What is violated, below the steps; gives where it ends."""
    text = f"{finding.property} is violated"
    if finding.no_way_back is not None:
        text = f"{finding.property}: there is no way out"
    elif finding.lasso is not None:
        text = f"{finding.property}: {finding.lasso.case}"
    found = lines(text, PAGE * LEFT, 13, bold=True)
    rows = [(13, f'<FONT COLOR="{VIOLATION}"><B>{escape(line)}</B></FONT>', "LEFT") for line in found]
    return _add_text(graph, "ending", rows, bottom)


def _add_sections(graph: graphviz.Digraph, found: Mapping[str, Sequence[str]], bottom: float) -> None:
    for number, (heading, said) in enumerate(found.items()):
        rows = [(12, f"<B>{escape(heading)}</B>", "LEFT")]
        rows += [(11, escape(line), "LEFT") for text in said for line in lines(text, PAGE * LEFT, 11)]
        bottom = _add_text(graph, f"told_{number}", rows, bottom - RUN_GAP)
