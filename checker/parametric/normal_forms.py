"""Normal forms of expressions, up to the order of arguments and of cases: equal forms mean equal values.

The converse does not hold: two expressions with the same value in every state may have different forms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ...model.language import BOOL, INT, Expr, Parameter, Variable, topological

_COMMUTATIVE = ("eq", "mul")
_MOST_CASES = 16

Form = int
"""The number of a normal form."""


class Normal:
    """A table of normal forms: equal forms have equal numbers."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Any, ...], Form] = {}
        self._keys: list[tuple[Any, ...]] = []
        self._negated: dict[Form, Form] = {}

    def reader(
        self,
        variable: Callable[[Variable], tuple[Variable, bool]] = lambda v: (v, False),
        code: Callable[[Expr, int], int] = lambda _, code: code,
        p: Callable[[Parameter], Parameter] = lambda q: q,
    ) -> Callable[[Expr], Form]:
        """Gives forms of expressions in which each variable is replaced by another, or by its negation.

        `code(e, c)` replaces the value c of an expression of the sort of e; `parameter` replaces open parameters.
        """
        known: dict[Expr, Form] = {}

        def read(root: Expr) -> Form:
            if root not in known:
                for node in topological([root]):
                    if node not in known:
                        known[node] = (
                            self._number(("param", p(node.value)))
                            if node.op == "param"
                            else self._form(node, known, variable, code)
                        )
            return known[root]

        return read

    def negation(self, form: Form) -> Form:
        """The form of a negated bool: negations are moved down to what is neither a junction nor a choice."""
        if form not in self._negated:
            made = self._negation(self._keys[form])
            made = self._number(("not", form)) if made is None else made
            self._negated[form], self._negated[made] = made, form
        return self._negated[form]

    def _negation(self, key: tuple[Any, ...]) -> Form | None:
        op, *args = key
        if op == "const":
            return self._number(("const", BOOL, 1 - key[2]))
        if op in ("and", "or"):
            return self._junction("or" if op == "and" else "and", map(self.negation, args))
        if op == "ite":
            return self._number(("ite", args[0], self.negation(args[1]), self.negation(args[2])))
        if op == "case":
            return self._number(("case", args[0], *((c, self.negation(f)) for c, f in args[1:])))
        return None

    def _number(self, key: tuple[Any, ...]) -> Form:
        number = self._numbers.setdefault(key, len(self._keys))
        if number == len(self._keys):
            self._keys.append(key)
        return number

    def _junction(self, op: str, forms: Iterable[Form]) -> Form:
        found: set[Form] = set()
        for form in forms:
            own, *inside = self._keys[form]
            found.update(inside if own == op else [form])
        return self._number((op, *sorted(found))) if len(found) > 1 else found.pop()

    def _sum(self, terms: Iterable[tuple[Form, int]]) -> Form:
        """The form of a linear combination: a constant, and each summand once, with its factor."""
        constant, found = 0, dict[Form, int]()
        for form, factor in terms:
            op, *key = self._keys[form]
            if op == "const":
                constant += factor * key[1]
            else:
                inside = key[1:] if op == "sum" else [(form, 1)]
                constant += factor * key[0] if op == "sum" else 0
                for summand, times in inside:
                    found[summand] = found.get(summand, 0) + factor * times
        left = sorted((form, times) for form, times in found.items() if times)
        if not left:
            return self._number(("const", INT, constant))
        if constant == 0 and len(left) == 1 and left[0][1] == 1:
            return left[0][0]
        return self._number(("sum", constant, *left))

    def _form(
        self,
        node: Expr,
        known: dict[Expr, Form],
        variable: Callable[[Variable], tuple[Variable, bool]],
        code: Callable[[Expr, int], int],
    ) -> Form:
        if node.op == "const":
            return self._number(("const", node.sort, code(node, node.value)))
        if node.op == "var":
            image, negated = variable(node.value)
            form = self._number(("var", image))
            return self.negation(form) if negated else form
        if node.op == "not":
            return self.negation(known[node.args[0]])
        if node.op == "ite":
            return self._choice(node, known, code)
        forms = [known[a] for a in node.args]
        if node.op in ("and", "or"):
            return self._junction(node.op, forms)
        if node.op in ("add", "sub"):
            return self._sum([(forms[0], 1), (forms[1], 1 if node.op == "add" else -1)])
        if node.op == "mul":
            for form, factor in (forms, forms[::-1]):
                if self._keys[factor][0] == "const":
                    return self._sum([(form, self._keys[factor][2])])
        if node.op == "eq" and node.args[0].sort == BOOL:
            # An equation of two bools stays the same if both are negated.
            forms = min(sorted(forms), sorted(map(self.negation, forms)))
        return self._number((node.op, *(sorted(forms) if node.op in _COMMUTATIVE else forms)))

    def _choice(self, node: Expr, known: dict[Expr, Form], code: Callable[[Expr, int], int]) -> Form:
        subject = _subject(node)
        if subject is None:
            condition, a, b = (known[x] for x in node.args)
            if self.negation(condition) < condition:
                condition, a, b = self.negation(condition), b, a
            return self._number(("ite", condition, a, b))
        cases: dict[int, Form] = {}
        rest = node
        while rest.op == "ite" and _subject(rest) is subject:
            cases.setdefault(rest.args[0].args[1].value, known[rest.args[1]])
            rest = rest.args[2]
        table = {code(subject, c): cases.get(c, known[rest]) for c in range(subject.lo, subject.hi + 1)}
        if len(set(table.values())) == 1:
            return next(iter(table.values()))
        return self._number(("case", known[subject], *sorted(table.items())))


def _subject(node: Expr) -> Expr | None:
    """What a choice compares with a constant."""
    condition = node.args[0]
    if condition.op != "eq" or condition.args[1].op != "const":
        return None
    subject = condition.args[0]
    return subject if subject.hi - subject.lo < _MOST_CASES else None
