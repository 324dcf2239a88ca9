"""A transition system in TLA+, with a configuration for TLC.

Each transition is an action of its own name. Enum members and references are strings. Each invariant is a
definition that the configuration lists; witnesses and resettabilities are definitions too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from podrace.model.language import BOOL, Expr, Sort, Transition, TransitionSystem, Variable, topological
from podrace.model.language.expressions.graph import variables_of

from .names import TLAPLUS, Names, member_words, remark, words_of
from .notation import ARITHMETIC, Notation, paragraph, shared, wrapped


@dataclass(frozen=True, slots=True)
class Module:
    """A module, which belongs into `name`.tla, and its configuration, which belongs into `name`.cfg."""

    name: str
    text: str
    configuration: str


def to_tlaplus(
    system: TransitionSystem,
    about: str = "",
    name: str | None = None,
    parameters: Mapping[str, int] | None = None,
) -> Module:
    """The module of a system. `about` becomes a comment at its top. Open parameters are constants; the
    configuration gives those that `parameters` has a value for, and leaves the others to be filled in.
    """
    return _TlaPlus(system, about, name or system.name, dict(parameters or {})).module()


class _TlaPlus:
    def __init__(self, system: TransitionSystem, about: str, title: str, parameters: dict[str, int]) -> None:
        self.system, self.about, self.given = system, about, parameters
        self.names = Names(TLAPLUS)
        self.title = self.names.new(title)
        self.variables = {v: self.names.new(v.name) for v in system.variables}
        left_open = {n.value: None for n in topological(system.roots()) if n.op == "param"}
        self.parameters = {p: self.names.new(p.name) for p in left_open}
        tables = {
            "invariant": system.invariants,
            "witness": system.witnesses,
            "resettability": system.resettabilities,
        }
        self.predicates = {
            (kind, plain): (self.names.new(plain if plain[:1].isalpha() else f"{kind} {plain}"), e)
            for kind, table in tables.items()
            for plain, e in table.items()
        }
        self.groups = self._groups()
        self.actions = {id(t): self.names.new(words_of(t)) for t in system.transitions}
        self.words: dict[Sort, list[str]] = {}
        self.lets: list[str] = []
        self.notation = Notation(
            binary={
                "and": "/\\", "or": "\\/", "eq": "=", "not eq": "#", "lt": "<", "not lt": ">=",
                "add": "+", "sub": "-", "mul": "*",
            },
            negation="~",
            choice="(IF {0} THEN {1} ELSE {2})",
            division="({0} \\div {1})",
            leaf=self._leaf,
        )  # fmt: skip

    def _groups(self) -> dict[str, list[Variable]]:
        """The variables of each part of the model, under the name of a tuple of them."""
        parts: dict[str, list[Variable]] = {}
        for v in self.system.variables:
            parts.setdefault(v.name.partition(".")[0], []).append(v)
        return {self.names.new(f"{part} vars"): group for part, group in parts.items()}

    def _leaf(self, node: Expr) -> str:
        if node.op == "var":
            return self.variables[node.value]
        if node.op == "param":
            return self.parameters[node.value]
        return self._constant(node.sort, node.value)

    def _constant(self, sort: Sort, code: int) -> str:
        if sort is BOOL:
            return "TRUE" if code else "FALSE"
        if sort.tag is None:
            return str(code) if code >= 0 else f"({code})"
        if sort not in self.words:
            self.words[sort] = member_words(self.system, sort)
        return _string(self.words[sort][code])

    def module(self) -> Module:
        """Module and configuration."""
        dashes = "-" * 20
        lines = [
            f"{dashes} MODULE {self.title} {dashes}",
            *self._about(),
            "EXTENDS Integers",
            "",
            *self._parameters(),
            *self._variables(),
            *self._states(),
            *(line for t in self.system.transitions for line in self._action(t)),
            *self._next(),
            *self._predicates(),
            "=" * (48 + len(self.title)),
        ]
        return Module(self.title, "\n".join(lines) + "\n", "\n".join(self._configuration()) + "\n")

    def _about(self) -> Iterator[str]:
        yield from (f"\\* {line}".rstrip() for line in paragraph(self.about or self.system.name))

    def _parameters(self) -> Iterator[str]:
        for par, name in self.parameters.items():
            yield f"CONSTANT {name}"
            yield f"ASSUME {name} \\in {par.lo}..{par.hi}"
        if self.parameters:
            yield ""

    def _variables(self) -> Iterator[str]:
        if not self.variables:
            # A module without variables has no behaviours.
            yield from ("VARIABLE nothing", "vars == <<nothing>>", "")
            return
        names = list(self.variables.items())
        yield "VARIABLES"
        for i, (v, name) in enumerate(names, 1):
            comma = "," if i < len(names) else ""
            yield f"    {name}{comma}" + (f"  \\* {v.name}" if v.name != name else "")
        yield ""
        for group, members in self.groups.items():
            yield wrapped(f"{group} == ", f"<<{', '.join(self.variables[v] for v in members)}>>")
        yield wrapped("vars == ", f"<<{', '.join(self.groups)}>>")
        yield ""

    def _states(self) -> Iterator[str]:
        yield "Type =="
        for v, name in self.variables.items():
            yield wrapped(f"    /\\ {name} \\in ", self._set(v))
        yield from () if self.variables else ("    /\\ nothing \\in {0}",)
        yield ""
        yield "Init =="
        for v, name in self.variables.items():
            yield f"    /\\ {name} = {self._constant(v.sort, v.initial)}"
        yield from () if self.variables else ("    /\\ nothing = 0",)
        yield ""

    def _set(self, v: Variable) -> str:
        if v.sort is BOOL:
            return "BOOLEAN"
        if v.sort.tag is None:
            return f"({v.lo})..({v.hi})" if v.lo < 0 else f"{v.lo}..{v.hi}"
        return "{" + ", ".join(self._constant(v.sort, code) for code in range(v.lo, v.hi + 1)) + "}"

    def _action(self, t: Transition) -> Iterator[str]:
        yield f"\\* {remark(t)}"
        yield f"{self.actions[id(t)]} =="
        updates = {v: e for v, e in t.updates.items() if v in self.variables}
        conditions = [t.guard, *(e for _, e in t.constraints)]
        named: dict[Expr, str] = {}
        margin = "    "
        lets = shared([*conditions, *updates.values()])
        for node in lets:
            slot = self._let(len(named))
            yield wrapped(
                f"    {'LET ' if not named else '    '}{slot} == ", self.notation.write(node, named)
            )
            named[node] = slot
        if lets:
            yield "    IN"
        if not (t.guard.is_const and t.guard.value):
            yield from (wrapped(f"{margin}/\\ ", part) for part in self._conditions(t.guard, named))
        for constraint, e in t.constraints:
            yield f"{margin}\\* constraint: {constraint}"
            yield from (wrapped(f"{margin}/\\ ", part) for part in self._conditions(e, named))
        for v, e in updates.items():
            yield wrapped(f"{margin}/\\ {self.variables[v]}' = ", self.notation.bare(e, named, *ARITHMETIC))
        if not updates:
            yield f"{margin}/\\ UNCHANGED vars"
        elif len(updates) < len(self.variables):
            yield wrapped(f"{margin}/\\ UNCHANGED ", f"<<{', '.join(self._unchanged(updates))}>>")
        yield ""

    def _conditions(self, condition: Expr, named: Mapping[Expr, str]) -> Iterator[str]:
        # TLC takes each true side of a disjunction for a step of its own, and 12 of them for 4,096, unless a condition is only to be
        # evaluated, as a side of an equation is.
        for part, text in zip(
            self.notation.parts(condition, named), self.notation.conjuncts(condition, named), strict=True
        ):
            yield text if not part.args or part.op in ("eq", "lt", "not") else f"TRUE = {text}"

    def _unchanged(self, updates: Mapping[Variable, Expr]) -> Iterator[str]:
        for group, members in self.groups.items():
            if not any(v in updates for v in members):
                yield group
            else:
                yield from (self.variables[v] for v in members if v not in updates)

    def _let(self, number: int) -> str:
        while len(self.lets) <= number:
            self.lets.append(self.names.new(f"let {len(self.lets) + 1}"))
        return self.lets[number]

    def _next(self) -> Iterator[str]:
        yield "Next =="
        yield from (f"    \\/ {name}" for name in self.actions.values())
        if not self.actions:
            yield "    FALSE /\\ UNCHANGED vars"
        yield from ("", "Spec == Init /\\ [][Next]_vars", "")

    def _predicates(self) -> Iterator[str]:
        for (kind, plain), (name, e) in self.predicates.items():
            yield f"\\* {kind}: {plain}"
            named: dict[Expr, str] = {}
            for node in shared([e]):
                slot = self._let(len(named))
                if not named:
                    yield f"{name} =="
                yield wrapped(
                    f"    {'    ' if named else 'LET '}{slot} == ", self.notation.write(node, named)
                )
                named[node] = slot
            text = self.notation.write(e, named)
            if not variables_of([e]):
                text = f"{text} /\\ (vars = vars)"  # TLC refuses an invariant that reads no variable
            yield wrapped("    IN ", text) if named else wrapped(f"{name} == ", text)
            yield ""

    def _configuration(self) -> Iterator[str]:
        yield "SPECIFICATION Spec"
        yield "CHECK_DEADLOCK FALSE"
        for (kind, _), (name, _) in self.predicates.items():
            if kind == "invariant":
                yield f"INVARIANT {name}"
        for par, name in self.parameters.items():
            if par.name in self.given:
                yield f"CONSTANT {name} = {self.given[par.name]}"
            else:
                yield f"\\* Fill in, from {par.lo} to {par.hi}:  CONSTANT {name} ="


def _string(word: str) -> str:
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
