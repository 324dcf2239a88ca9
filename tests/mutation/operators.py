"""Mutants of a Python source: small changes that tests should notice, each as one replacement of text.

What nobody could notice is left out where syntax tells it: docstrings, annotations, `if TYPE_CHECKING`, texts of errors and
of reports, decorators but for `@step`, hints to the processor, `__repr__`, and bounds of effort (a constant of a module, of 64
or more).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
OPERATIONS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "//"), ast.FloorDiv: ("//", "*"), ast.Mod: ("%", "*"),
    ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"), ast.LShift: ("<<", ">>"), ast.RShift: (">>", "<<"),
}  # fmt: skip
SPELT: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}  # fmt: skip
EFFORT = 64
HINTS = {"prefetch", "announce", "progress", "look", "watch"}
"""Calls that make no difference to an answer."""
TOLD = {"tells", "Narration", "Phrase", "ModelError", "ValueError"}
"""Calls whose arguments are texts for people."""
SILENT_FUNCTIONS = {"__repr__", "__str__"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """A file in which some bytes are replaced."""

    file: str
    line: int
    operator: str
    start: int
    end: int
    before: str
    after: str

    def applied(self, source: bytes) -> bytes:
        """The mutated text."""
        return source[: self.start] + self.after.encode() + source[self.end :]

    @property
    def change(self) -> str:
        """In one line."""
        before, after = (" ".join(text.split()) for text in (self.before, self.after))
        return f"{before} -> {after or '(nothing)'}"


def mutants_of(file: str, source: bytes) -> list[Mutant]:
    """All mutants of a file, in the order of their places."""
    found = _Finder(file, source)
    found.visit(ast.parse(source))
    return sorted(found.mutants, key=lambda m: (m.start, m.end, m.after))


class _Finder(ast.NodeVisitor):
    def __init__(self, file: str, source: bytes) -> None:
        self.file, self.source = file, source
        self.mutants: list[Mutant] = []
        lines = source.split(b"\n")
        self._starts = [0]
        for line in lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._starts[node.lineno - 1] + node.col_offset
        return start, self._starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: ast.expr | ast.stmt) -> str:
        start, end = self.span(node)
        return self.source[start:end].decode()

    def add(self, node: ast.expr | ast.stmt, operator: str, after: str) -> None:
        start, end = self.span(node)
        self.mutants.append(Mutant(self.file, node.lineno, operator, start, end, self.text(node), after))

    def between(self, left: ast.expr, right: ast.expr, operator: str, old: str, new: str) -> None:
        """Replace what stands between two operands."""
        start, end = self.span(left)[1], self.span(right)[0]
        gap = self.source[start:end].decode()
        if gap.count(old) == 1:
            at = start + gap.encode().index(old.encode())
            whole = Mutant(self.file, right.lineno, operator, at, at + len(old), old, new)
            self.mutants.append(whole)

    # --- what is not looked at --------------------------------------------------------------------------------

    def visit_Module(self, node: ast.Module) -> None:
        for statement in node.body:
            if not self._bound_of_effort(statement):
                self.visit(statement)

    @staticmethod
    def _bound_of_effort(statement: ast.stmt) -> bool:
        if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
            return False
        numbers = [n.value for n in ast.walk(statement.value) if isinstance(n, ast.Constant)]
        name = statement.targets[0].id
        shift = any(isinstance(n, ast.LShift) for n in ast.walk(statement.value))
        return name == "__all__" or (
            name.isupper() and all(isinstance(n, int | float) for n in numbers) and (shift or any(n >= EFFORT for n in numbers))  # type: ignore[operator]
        )  # fmt: skip

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        self.add(node.test, "negated condition", f"not ({self.text(node.test)})")
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name in SILENT_FUNCTIONS:
            return
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Name):
                if decorator.func.id == "step":
                    self.visit(decorator)
        for default in (*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)):
            self.visit(default)
        for statement in node.body:
            self.visit(statement)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body:
            self.visit(statement)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        self.add(node, "dropped statement", "pass")

    def visit_Assert(self, node: ast.Assert) -> None:
        """An assertion tells the type checker what is so."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """A text for people."""

    def visit_Import(self, node: ast.Import) -> None:
        """Nothing to change."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Nothing to change."""

    # --- what is changed --------------------------------------------------------------------------------------

    def visit_Compare(self, node: ast.Compare) -> None:
        for (left, right), operator in zip(pairwise([node.left, *node.comparators]), node.ops, strict=True):
            old, new = SPELT[type(operator)], COMPARISONS[type(operator)]
            self.between(left, right, "comparison", f" {old} ", f" {new} ")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        texts = any(isinstance(n, ast.JoinedStr) or (isinstance(n, ast.Constant) and isinstance(n.value, str)) for n in (node.left, node.right))  # fmt: skip
        if type(node.op) in OPERATIONS and not texts:
            old, new = OPERATIONS[type(node.op)]
            self.between(node.left, node.right, "operation", f" {old} ", f" {new} ")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in pairwise(node.values):
            self.between(left, right, "and / or", f"{old} ", f"{new} ")
        for value in node.values:
            self.visit(value)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.Invert):
            self.add(node, "dropped not", f"({self.text(node.operand)})")
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            self.add(node, "constant", self.text(node.operand))
            return
        self.visit(node.operand)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.add(node, "constant", str(not node.value))
        elif isinstance(node.value, int):
            self.add(node, "constant", str(node.value + 1))
            if node.value > 0:
                self.add(node, "constant", str(node.value - 1))

    def visit_IfExp(self, node: ast.IfExp) -> None:
        swapped = f"({self.text(node.orelse)} if ({self.text(node.test)}) else {self.text(node.body)})"
        self.add(node, "swapped branches", swapped)
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Call) or self._silent(node.value):
            return
        name = _called(node.value)
        self.add(node, "dropped require" if name == "require" else "dropped statement", "pass")
        self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        if all(isinstance(t, ast.Attribute | ast.Subscript) for t in node.targets):
            self.add(node, "dropped assignment", "pass")
        self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.add(node, "dropped assignment", "pass")
        self.visit(node.value)

    def visit_Continue(self, node: ast.Continue) -> None:
        self.add(node, "continue / break", "break")

    def visit_Break(self, node: ast.Break) -> None:
        self.add(node, "continue / break", "continue")

    def visit_With(self, node: ast.With) -> None:
        for item in node.items:
            call = item.context_expr
            if isinstance(call, ast.Call) and _called(call) == "when" and call.args:
                self.add(call.args[0], "dropped when", "True")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if not self._silent(node):
            self.generic_visit(node)

    def _silent(self, node: ast.Call) -> bool:
        name = _called(node)
        return name.lstrip("_") in HINTS or name in TOLD


def _called(node: ast.Call) -> str:
    function = node.func
    if isinstance(function, ast.Name):
        return function.id
    return function.attr if isinstance(function, ast.Attribute) else ""


def functions_of(source: bytes) -> Iterator[tuple[str, int, int]]:
    """The name, the first and the last line of every function, the inner ones later; decorators included."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            yield node.name, first, node.end_lineno or node.lineno
