"""Expressions as text: what the notations of different languages have in common.

Which nodes of an expression graph get a name of their own when the graph is written as text.

The graph shares its nodes; text does not. Written naively, a small graph can be exponentially long.
Long lines broken between words.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from podrace.model.language import Expr, Variable, topological

SHORT = 80
"""Longer text keeps its parentheses: it may be broken into lines, which ends statements in some languages."""
COMPARISONS = ("eq", "not eq", "lt", "not lt")
ARITHMETIC = ("add", "sub", "mul")


@dataclass(frozen=True)
class Notation:
    """How a language writes each operator. Every operand but a leaf stands in parentheses."""

    binary: Mapping[str, str]  # operator -> infix symbol; "not eq" and "not lt" are operators too
    negation: str
    choice: str  # with {0} {1} {2}
    division: str  # with {0} {1}: rounded down, for a positive divisor
    leaf: Callable[[Expr], str]

    def write(self, node: Expr, named: Mapping[Expr, str]) -> str:
        """The text of a node, in which nodes that are `named` appear by their name."""
        if node in named:
            return named[node]
        if not node.args:
            return self.leaf(node)
        operator, args = node.op, node.args
        if operator == "not":
            (inner,) = args
            if inner in named or inner.op not in ("eq", "lt"):
                return f"{self.negation}{self.write(inner, named)}"
            operator, args = f"not {inner.op}", inner.args
        operands = [self.write(arg, named) for arg in args]
        if operator == "ite":
            return self.choice.format(*operands)
        if operator == "div":
            return self.division.format(*operands)
        return f"({f' {self.binary[operator]} '.join(operands)})"

    def bare(self, node: Expr, named: Mapping[Expr, str], *operators: str) -> str:
        """The text without its outer parentheses if it is short and of one of these operators."""
        text = self.write(node, named)
        if node in named or (node.op == "not" and node.args[0] in named):
            return text
        outer = f"not {node.args[0].op}" if node.op == "not" else node.op
        return text[1:-1] if outer in operators and len(text) < SHORT else text

    def conjuncts(self, node: Expr, named: Mapping[Expr, str]) -> list[str]:
        """The text of a condition as the conditions that must hold together."""
        return [self.bare(part, named, *COMPARISONS) for part in self.parts(node, named)]

    def parts(self, node: Expr, named: Mapping[Expr, str]) -> tuple[Expr, ...]:
        """The conditions that must hold together for a condition to hold."""
        return node.args if node.op == "and" and node not in named else (node,)


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


WIDTH = 110


def wrapped(first: str, text: str, end: str = "") -> str:
    """`first` and then `text`; where lines are too long they go on below the beginning of `text`, shifted a little."""
    shift = " " * (min(len(first), 16) + 2)
    lines = textwrap.wrap(
        first + text,
        WIDTH - len(end),
        subsequent_indent=shift,
        drop_whitespace=True,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return f"{end}\n".join(lines)


def paragraph(text: str) -> list[str]:
    """The lines of a text, those broken that are too long for a comment."""
    return [part for line in text.splitlines() for part in textwrap.wrap(line, WIDTH - 4) or [""]]
