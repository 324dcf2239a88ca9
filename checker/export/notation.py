"""Expressions as text: what the notations of different languages have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...model.language import Expr


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

    def conjuncts(self, node: Expr, named: Mapping[Expr, str]) -> list[str]:
        """The text of a condition as the conditions that must hold together."""
        if node.op == "and" and node not in named:
            return [self.write(arg, named) for arg in node.args]
        return [self.write(node, named)]
