"""Drawings of counterexamples, as DOT source."""

from collections.abc import Sequence
from typing import Literal, get_args

from ..ci_outcome import subject
from ..document import Finding
from ..filtered import text_filtered
from . import cluster_graph as cluster
from . import lanes_graph as lanes
from . import lasso_graph as lasso

Kind = Literal["lanes", "cluster", "lasso"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@text_filtered
def to_dot(finding: Finding, kind: Kind = "lanes", closing: Sequence[str] = ()) -> str:
    """One drawing of a counterexample; that of lanes has also what closes it, where that is known. ValueError if it has none, NotDrawn if it has none of this kind."""
    if finding.trace is None:
        raise ValueError(f"{subject(finding)} has no counterexample to draw")
    if kind == "lanes":
        return lanes.to_dot(finding, closing)
    return cluster.to_dot(finding) if kind == "cluster" else lasso.to_dot(finding)
