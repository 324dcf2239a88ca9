"""The states around a counterexample: its run, and what else could have happened at each of its states.

A state is named by the step that leads to it, so that nothing is written on arrows.
"""

from __future__ import annotations

from itertools import pairwise

import graphviz

from ..document import Finding
from ..drawing.fitting import shortened, width
from .style import LANE_COLOURS, VIOLATION, NotDrawn, digraph, heading, inches, where

WIDE = 170
"""How long what is written in a state may be; the whole is shown where the pointer rests."""
MOST = 3
"""How many of the steps that lead to a state are written in it."""


def to_dot(finding: Finding) -> str:
    """The state graph: states of the run by number of steps taken. NotDrawn if there is none, or it would be a hairball."""
    around = finding.nearby_states
    if around is None:
        raise NotDrawn(
            f"{where(finding)}: the states around are not known; draw the steps: --graph-kind lanes"
        )
    if around.refused:
        raise NotDrawn(
            f"{where(finding)}: {around.states} states around the run are too many to read; "
            "draw the run alone with --graph-kind lanes, or make the scenario smaller"
        )
    what = "all states" if around.whole else "the states of the run, and those one step away"
    graph = digraph("states", "dot", rankdir="TB", nodesep="0.12", ranksep="0.3", labelloc="t")
    graph.attr(label=heading(finding, what, letters=60))
    taken: dict[int, list[str]] = {around.run[0]: ["0  at the start"]} if around.run else {}
    for state, step in zip(around.run[1:], finding.story, strict=False):
        taken.setdefault(state, []).append(f"{step.number}  {step.call}")
    led: dict[int, dict[str, None]] = {}
    for move in around.moves:
        led.setdefault(move.target, {}).setdefault(move.call)
    for state in range(around.states):
        bad = state in around.bad
        on_run = state in taken
        words = taken.get(state, list(led.get(state, {})))
        colour = VIOLATION if bad else LANE_COLOURS[0] if on_run else "#9aa5b1"
        look = {"fillcolor": colour, "fontcolor": "white"} if on_run else {"fillcolor": "white"}
        graph.node(
            f"s{state}", _written(words), shape="box", style="filled,rounded", color=colour, fontsize="9", margin="0.1,0.03",
            height="0.22", width=inches(max((min(width(word, 9), WIDE) for word in words[:MOST]), default=0) + 12),
            tooltip=graphviz.escape(", ".join(words)), **({"peripheries": "2"} if bad and on_run else {}), **look,
        )  # fmt: skip
    taken_moves = {
        (source, target, step.call)
        for (source, target), step in zip(pairwise(around.run), finding.story, strict=True)
    }
    for move in around.moves:
        run = (move.source, move.target, move.call) in taken_moves
        look = {"penwidth": "2", "color": LANE_COLOURS[0], "weight": "20"} if run else {"color": "#9aa5b1"}
        graph.edge(
            f"s{move.source}",
            f"s{move.target}",
            tooltip=graphviz.escape(f"{move.actor}: {move.call}"),
            **look,
        )
    return str(graph.source)


def _written(words: list[str]) -> str:
    """What leads to a state, a line each, and how much more there is."""
    found = [shortened(word, WIDE, 9) for word in words[:MOST]]
    more = [f"and {len(words) - MOST} more"] if len(words) > MOST else []
    return "\\n".join(graphviz.escape(line) for line in (*found, *more))
