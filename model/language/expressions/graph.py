"""Whole graphs of expressions: in which order their nodes stand, what they read, and how they are built anew."""

from collections.abc import Callable, Iterable

from .expr import (
    Expr,
    Variable,
    add,
    all_of,
    any_of,
    const,
    divide,
    equal,
    less,
    multiply,
    negate,
    select,
    subtract,
)


def topological(roots: Iterable[Expr]) -> list[Expr]:
    """Every node below the roots, arguments before users, in a deterministic order."""
    order: list[Expr] = []
    done: set[Expr] = set()
    for root in roots:
        if root in done:
            continue
        done.add(root)
        open_, left = (
            [root],
            [iter(root.args)],
        )  # not recursion: graphs can be deeper than Python's call stack
        while open_:
            for arg in left[-1]:
                if arg not in done:
                    done.add(arg)
                    if arg.args:
                        open_.append(arg)
                        left.append(iter(arg.args))
                        break
                    order.append(arg)
            else:
                order.append(open_.pop())
                left.pop()
    return order


def variables_of(roots: Iterable[Expr]) -> set[Variable]:
    """The state variables that the expressions read."""
    return {node.value for node in topological(roots) if node.op == "var"}


_rebuild: dict[str, Callable[..., Expr]] = {
    "not": negate,
    "and": lambda *a: all_of(a),
    "or": lambda *a: any_of(a),
    "eq": equal,
    "lt": less,
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "div": divide,
    "ite": select,
}


def rebuilt(op: str, args: Iterable[Expr]) -> Expr:
    """The expression with this operator and these arguments, folded, in the current graph."""
    return _rebuild[op](*args)


def substitute(
    roots: Iterable[Expr],
    leaf: Callable[[Expr], Expr],
    known: Callable[[Expr], tuple[int, int]] | None = None,
) -> dict[Expr, Expr]:
    """Rebuild everything below the roots in the current graph, with each leaf (const, var, param)
    replaced by `leaf(node)`; maps each old node to its new one, folding on the way.

    A leaf must be replaced by something that stays in the old leaf's range. `known` may give, for each
    old node, a smaller range that holds wherever the new graph will be evaluated; a node with a single
    possible value becomes a constant.
    """
    new: dict[Expr, Expr] = {}
    for node in topological(roots):
        lo, hi = (node.lo, node.hi) if known is None else known(node)
        if known is not None and lo == hi:
            new[node] = const(node.sort, lo)
        elif not node.args:
            new[node] = leaf(node)
        else:
            made = rebuilt(node.op, (new[a] for a in node.args))
            if made.op == "ite" or (known is not None and made.args):
                made.lo, made.hi = max(made.lo, lo), min(made.hi, hi)
            new[node] = made
    return new
