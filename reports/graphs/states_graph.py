"""The states around a counterexample: its run, and what else could have happened at each of its states."""

from __future__ import annotations

from itertools import pairwise

import graphviz

from ..document import Finding
from ..drawing.fitting import shortened
from .style import LANE_COLOURS, MUTED, TITLE, VIOLATION, NotDrawn, digraph, heading, where

MOST = 170
"""How long what is written beside an arrow may be; the whole is shown where the pointer rests."""


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
    graph = digraph("states", "dot", rankdir="TB", nodesep="0.15", ranksep="0.35", labelloc="t")
    graph.attr(label=heading(finding, what))
    steps: dict[int, list[str]] = {}
    for taken, state in enumerate(around.run):
        steps.setdefault(state, []).append(str(taken))
    for state in range(around.states):
        bad = state in around.bad
        if state in steps:
            graph.node(
                f"s{state}", ", ".join(steps[state]), shape="doublecircle" if bad else "circle", style="filled",
                fillcolor=VIOLATION if bad else LANE_COLOURS[0], fontcolor="white", width="0.32", margin="0", color=VIOLATION if bad else TITLE,
            )  # fmt: skip
        else:
            graph.node(
                f"s{state}", "", shape="circle", width="0.13", style="filled", fillcolor=VIOLATION if bad else "#cbd2d9",
                color=MUTED,
            )  # fmt: skip
    taken_moves = {
        (source, target, step.call)
        for (source, target), step in zip(pairwise(around.run), finding.story, strict=True)
    }
    for move in around.moves:
        on_run = (move.source, move.target, move.call) in taken_moves
        look = {"penwidth": "2", "color": LANE_COLOURS[0], "weight": "20"} if on_run else {"color": "#9aa5b1"}
        graph.edge(
            f"s{move.source}",
            f"s{move.target}",
            graphviz.escape(shortened(move.call, MOST, 9)),
            tooltip=graphviz.escape(f"{move.actor}: {move.call}"),
            **look,
        )
    return str(graph.source)
