"""Which nodes of an expression graph get a name of their own when the graph is written as text.

The graph shares its nodes; text does not. Written naively, a small graph can be exponentially long.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...model.language import Expr, Variable, topological

SMALL = 5
"""A shared node of at most so many nodes is written out at each use."""
LARGE = 60
"""A node of more than so many nodes is named even if it is used once, for the reader's sake."""


def shared(roots: Iterable[Expr]) -> list[Expr]:
    """The nodes to name, arguments before users. With these named, the text is linear in the graph's size."""
    roots = list(roots)
    order = topological(roots)
    uses: dict[Expr, int] = dict.fromkeys(order, 0)
    for used in (*roots, *(operand for node in order for operand in _operands(node))):
        uses[used] += 1
    size: dict[Expr, int] = {}
    named = []
    for node in order:
        size[node] = 1 + sum(size[arg] for arg in node.args)
        if size[node] > (SMALL if uses[node] > 1 else LARGE):
            named.append(node)
            size[node] = 1
    return named


def _operands(node: Expr) -> tuple[Expr, ...]:
    # Rounding a negative number down takes its text twice where the language rounds towards zero.
    return (*node.args, node.args[0]) if node.op == "div" and node.args[0].lo < 0 else node.args


def reads(root: Expr, named: Iterable[Expr]) -> set[Variable]:
    """The variables in the text of a node when `named` nodes (other than itself) appear by name only."""
    stop = set(named) - {root}
    found: set[Variable] = set()
    seen: set[Expr] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node in stop or node in seen:
            continue
        seen.add(node)
        waiting += node.args
        if node.op == "var":
            found.add(node.value)
    return found


def written_size(roots: Iterable[Expr]) -> dict[Expr, int]:
    """How many nodes the text of each node has if nothing is named."""
    size: dict[Expr, int] = {}
    for node in topological(roots):
        size[node] = 1 + sum(size[arg] for arg in _operands(node))
    return size
