"""Scores as they were."""

from __future__ import annotations

from collections.abc import Sequence

from ..language import Expr, as_expr, largest, smallest
from ..scheduler import Scores
from .change import before


@before("98096", "inter-pod affinity is stretched between its true least and greatest score", first_in="1.21")
class Before98096(Scores):
    """The least score was held at or below 0, the greatest at or above it."""

    def bounds(self, scores: Sequence[tuple[Expr, Expr]]) -> tuple[Expr, Expr]:
        least, greatest = super().bounds(scores)
        return smallest(least, as_expr(0)), largest(greatest, as_expr(0))


@before("score-scale", "scores go from 0 to 100", first_in="1.18")
class ScoresUpToTen(Scores):
    """Scores went from 0 to 10 (up to 1.16)."""

    def max_score(self) -> int:
        return 10
