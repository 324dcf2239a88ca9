"""What the search of a family finds."""

from collections.abc import Mapping

from ...base.structs import Data
from ...model.language import Expr, Parameter


class CellOutcome(Data):
    """What a search for any choice in a cell finds: counts as those of `Exploration`.

    `example` is a member, and `answers` is what all members answer alike; `violated` is the depth at which the property is first broken, or None; of a
    liveness that is broken by what goes on for ever, the depth of the search.
    """

    example: Mapping[Parameter, int]
    answers: Mapping[Expr, bool]
    states: int
    transitions: int
    depth: int
    violated: int | None


class FirstReached(Data):
    """The least depth at which any choice reaches a witness, and one that does so there."""

    depth: int
    example: Mapping[Parameter, int]


class FamilyOutcome(Data, slots=False):
    """What came out for each cell, and what any choice reached.

    `stopped` is None if nothing was left to be explored; else what ran out, and cells that are not violated are
    undecided. `states` is how many states differ, `expansions` how often one was expanded. `fired` is how many expansions took each transition, `witnesses` where
    each was reached first. `endless`: with scales of time, a timer can wait indefinitely while work goes on, so this says nothing of cells that are not violated.
    """

    cells: tuple[CellOutcome, ...]
    states: int
    expansions: int
    stopped: str | None
    fired: tuple[int, ...]
    constraints_hit: frozenset[str]
    witnesses: Mapping[str, FirstReached]
    endless: bool
    seconds: float
