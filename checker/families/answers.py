"""How quantities answer questions: worked out once for each choice of those that some question connects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...model.language import Expr, Parameter, topological
from .cells import evaluate_all, parts


class Answers:
    """The answers of any quantities to a list of questions, in their order.

    A choice of all quantities is one of several choices that have nothing to do with one another (capacities and requests,
    priorities): each of these comes back in very many cells, and its answers are kept.
    """

    def __init__(self, quantities: Sequence[Parameter], questions: Sequence[Expr]) -> None:
        self._count = len(questions)
        place = {question: i for i, question in enumerate(questions)}
        self._parts = [
            _Part(members, asked, [place[q] for q in asked])
            for members, asked, _ in parts(quantities, questions, ())
            if asked
        ]

    def __call__(self, values: Mapping[Parameter, int]) -> tuple[bool, ...]:
        """The answers of these quantities."""
        found = [False] * self._count
        for part in self._parts:
            for i, answer in zip(part.places, part.answers(values), strict=True):
                found[i] = answer
        return tuple(found)


class _Part:
    """Questions about connected quantities."""

    def __init__(self, quantities: Sequence[Parameter], questions: Sequence[Expr], places: list[int]) -> None:
        self.quantities, self.questions, self.places = quantities, questions, places
        self._nodes = topological(questions)
        self._known: dict[tuple[int, ...], tuple[bool, ...]] = {}

    def answers(self, values: Mapping[Parameter, int]) -> tuple[bool, ...]:
        chosen = tuple(values[q] for q in self.quantities)
        if chosen not in self._known:
            self._known[chosen] = self._evaluated(values)
        return self._known[chosen]

    def _evaluated(self, values: Mapping[Parameter, int]) -> tuple[bool, ...]:
        known = evaluate_all(self._nodes, values)
        return tuple(bool(known[q]) for q in self.questions)
