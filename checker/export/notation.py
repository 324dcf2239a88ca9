"""Expressions as text: what the notations of different languages have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...model.language import Expr

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
        outer = f"not {node.args[0].op}" if node.op == "not" else node.op
        return text[1:-1] if node not in named and outer in operators and len(text) < SHORT else text

    def conjuncts(self, node: Expr, named: Mapping[Expr, str]) -> list[str]:
        """The text of a condition as the conditions that must hold together."""
        parts = node.args if node.op == "and" and node not in named else (node,)
        return [self.bare(part, named, *COMPARISONS) for part in parts]
