"""Which cell of a family a choice of parameters is in."""

from __future__ import annotations

from collections.abc import Mapping

from podrace.checker.family.cells import Cells
from podrace.checker.parametric.regions import evaluate
from podrace.model.language import Parameter


def cell_of(cells: Cells, values: Mapping[Parameter, int]) -> int:
    """The cell that these parameters are in; they must meet the assumptions."""
    return next(
        cell
        for cell in range(len(cells))
        if all(bool(evaluate(q, values)) == yes for q, yes in cells.answers(cell).items())
    )
