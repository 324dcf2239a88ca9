"""From expressions to Z3 terms, node by node: what is shared in the graph is shared in the terms.

This is a reader of the modelling language of its own: it takes nothing from the interpreter or the native engine.
"""

from collections.abc import Callable, Iterable, Sequence

import z3

from ...model.language import BOOL, Expr, Sort
from .theories import Term, Theory

Leaf = Callable[[Expr], Term]
Known = Callable[[Expr], tuple[int, int]]


def constant(theory: Theory, sort: Sort, code: int, lo: int, hi: int) -> Term:
    """A constant of a sort, as a term of the range lo..hi."""
    return z3.BoolVal(bool(code)) if sort is BOOL else theory.number(code, lo, hi)


def unknown(theory: Theory, name: str, sort: Sort, lo: int, hi: int) -> Term:
    """A free constant of a sort."""
    return z3.Bool(name) if sort is BOOL else theory.unknown(name, lo, hi)


def fitted(theory: Theory, term: Term, node: Expr, lo: int, hi: int) -> Term:
    """The term of `node` as one of the range lo..hi, which its value is in."""
    return term if node.sort is BOOL else theory.fit(term, node, lo, hi)


def translate(
    nodes: Sequence[Expr], theory: Theory, leaf: Leaf, known: Known | None = None
) -> dict[Expr, Term]:
    """The terms of `nodes`, which stand in topological order; `leaf` gives those of variables and parameters.

    `known` may give, for each node, a smaller range that holds wherever the terms will be used: a node with a single
    possible value becomes a constant, and what only it looked at disappears.
    """
    terms: dict[Expr, Term] = {}
    known = known or (lambda node: (node.lo, node.hi))
    for node in nodes:
        lo, hi = known(node)
        if lo == hi:
            terms[node] = constant(theory, node.sort, lo, node.lo, node.hi)
        elif not node.args:
            terms[node] = leaf(node)
        else:
            terms[node] = _operation(node, theory, terms, known)
    return terms


def _operation(node: Expr, theory: Theory, terms: dict[Expr, Term], known: Known) -> Term:
    op, args = node.op, node.args
    if op == "not":
        return z3.Not(terms[args[0]])
    if op == "and":
        return z3.And(_open(args, terms, known))
    if op == "or":
        return z3.Or(_open(args, terms, known))
    if op == "ite":
        return _choice(node, theory, terms, known)
    if op == "eq" and args[0].sort is BOOL:
        return terms[args[0]] == terms[args[1]]
    return theory.apply(node, [terms[a] for a in args])


def _open(args: Iterable[Expr], terms: dict[Expr, Term], known: Known) -> list[Term]:
    """The items of a junction that is undecided, without those that are decided."""
    undecided = []
    for a in args:
        lo, hi = known(a)
        if lo != hi:
            undecided.append(terms[a])
    return undecided


def _choice(node: Expr, theory: Theory, terms: dict[Expr, Term], known: Known) -> Term:
    condition, *arms = node.args
    one, other = (fitted(theory, terms[a], a, node.lo, node.hi) for a in arms)
    lo, hi = known(condition)
    if lo == hi:
        return one if lo else other
    return z3.If(terms[condition], one, other)
