"""Whether an expression has the value of another's image in every state: Z3's answer, for what normal forms leave open.

A state is any choice of values within the ranges of the variables, reachable or not, and parameters are any within
theirs. In states that nothing reaches, terms may say something else than expressions, because the ranges in a slice are
about reachable states only. That is sound where the exchange leaves the initial state as it is: by induction on the length
of a run, a state and its image are both reachable, and there terms and expressions agree.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import z3

from ...model.language import Expr, topological
from ..smt.theories import THEORIES, Term
from ..smt.translate import translate, unknown
from .exchange import EntityExchange
from .parameters import parameters_of

EFFORT = 10_000_000
"""How much work Z3 may do for one answer, in its own units: unlike time, it is the same on every machine."""

_INTEGERS = THEORIES["integers"]


class Valid:
    """Settles what an exchange leaves open (see `exchange.Settle`). An answer that Z3 does not find counts as no."""

    def __init__(self, exchange: EntityExchange, effort: int = EFFORT) -> None:
        self.exchange, self.effort = exchange, effort
        self.asked = 0

    def __call__(self, before: Expr, after: Expr, negated: bool = False, given: Expr | None = None) -> bool:
        """As Settle says."""
        self.asked += 1
        image = self._image(before, self._before(before))
        claim = (z3.Not(image) if negated else image) == self._after(after)
        condition = [] if given is None else [self._after(given)]
        answer = self._solver.check(*condition, z3.Not(claim))
        return bool(answer == z3.unsat)

    @cached_property
    def _symbols(self) -> dict[Any, Term]:
        """The image of a state: a free constant for each variable and for each parameter."""
        system, moved = self.exchange.system, self.exchange.parameters
        parameters = {q: None for asked in parameters_of(system) for q in (asked, moved.get(asked, asked))}
        numbers = {v: unknown(_INTEGERS, v.name, v.sort, v.lo, v.hi) for v in system.variables}
        return {
            **numbers,
            **{q: _INTEGERS.unknown(f"parameter {q.name}", q.lo, q.hi) for q in parameters},
        }

    @cached_property
    def _solver(self) -> z3.Solver:
        solver = z3.SolverFor("QF_LIA")
        solver.set("random_seed", 0)
        solver.set("rlimit", self.effort)
        for known, term in self._symbols.items():
            if not z3.is_bool(term):
                solver.add(*_INTEGERS.within(term, known.lo, known.hi))
        return solver

    @cached_property
    def _nodes(self) -> list[Expr]:
        return topological(self.exchange.system.roots())

    @cached_property
    def _terms(self) -> dict[Expr, Term]:
        """What expressions are in the image of the state."""
        return translate(self._nodes, _INTEGERS, self._symbol)

    @cached_property
    def _moved(self) -> dict[Expr, Term]:
        """What they are in the state itself."""
        return translate(self._nodes, _INTEGERS, self._source)

    def _after(self, e: Expr) -> Term:
        return self._terms[e] if e in self._terms else self._symbol(e)

    def _before(self, e: Expr) -> Term:
        return self._moved[e] if e in self._moved else self._source(e)

    def _symbol(self, leaf: Expr) -> Term:
        return self._symbols[leaf.value]

    def _source(self, leaf: Expr) -> Term:
        exchange = self.exchange
        if leaf.op == "param":
            return self._symbols[exchange.parameters.get(leaf.value, leaf.value)]
        assert exchange.variables is not None
        place, negated = exchange.variables[leaf.value]
        # An exchange is its own inverse: the value before it is the image of the value after it.
        image = self._image(leaf, self._symbols[place])
        return z3.Not(image) if negated else image

    def _image(self, e: Expr, term: Term) -> Term:
        """What becomes of a value of the sort of `e`."""
        result = term
        for code, image in self.exchange.moved(e.sort.tag).items():
            result = z3.If(term == code, z3.IntVal(image), result)
        return result
