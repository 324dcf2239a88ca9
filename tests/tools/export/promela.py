"""A transition system in Promela, the language of SPIN (6.4 or later).

One process repeats one `do` loop. Each transition is one `d_step`, so no state between its assignments exists.
Variables that only hold a value within a step are `hidden`: they are no part of SPIN's state vector. Each
invariant is a step that changes nothing: it is enabled where the invariant is broken, and fails there. So a search
that goes on after errors (`pan -c0`) stores exactly the reachable states, takes each transition once per state,
and each error is one state that breaks one invariant.

`spin -a` needs `-o2`, or it leaves out variables that nothing reads, and merges the states that they tell apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from podrace.model.language import BOOL, Expr, Transition, TransitionSystem, Variable, topological

from .names import PROMELA, Constants, Names, remark
from .notation import ARITHMETIC, Notation, paragraph, reads, shared, wrapped, written_size

LONGEST_GUARD = 100_000
"""The preprocessor writes guards out in full; one of more nodes than this is refused."""

FLOOR_DIV = "#define floor_div(a, b) ((a) >= 0 -> (a) / (b) : -((-1 - (a)) / (b)) - 1)"


def to_promela(system: TransitionSystem, about: str = "", parameters: Mapping[str, int] | None = None) -> str:
    """The text of a model. `about` becomes a comment at its top; `parameters` are values of open parameters,
    and those that are missing must be given to SPIN's preprocessor.

    Raises ValueError for what SPIN cannot take: a value beyond 32 bits, a guard that is too long when written out.
    """
    return _Promela(system, about, dict(parameters or {})).text()


class _Promela:
    def __init__(self, system: TransitionSystem, about: str, parameters: dict[str, int]) -> None:
        self.system, self.about, self.given = system, about, parameters
        self.names = Names(PROMELA)
        self.variables = {v: self.names.new(v.name) for v in system.variables}
        self.predicates = {
            (kind, name): self.names.new(name if name[:1].isalpha() else f"{kind} {name}")
            for kind, table in self._tables().items()
            for name in table
        }
        self.constants = Constants(system, self.names)
        left_open = {n.value: None for n in topological(system.roots()) if n.op == "param"}
        self.parameters = {p: self.names.new(p.name) for p in left_open}
        conditions = [t.guard for t in system.transitions]
        conditions += [constraint for t in system.transitions for _, constraint in t.constraints]
        conditions += [e for table in self._tables().values() for e in table.values()]
        self._refuse(conditions)
        self.macros = {node: self.names.new(f"shared {i}") for i, node in enumerate(shared(conditions), 1)}
        self.scratch: list[str] = []
        self.notation = Notation(
            binary={
                "and": "&&", "or": "||", "eq": "==", "not eq": "!=", "lt": "<", "not lt": ">=",
                "add": "+", "sub": "-", "mul": "*",
            },
            negation="!",
            choice="({0} -> {1} : {2})",
            division="floor_div({0}, {1})",
            leaf=self._leaf,
        )  # fmt: skip

    def _tables(self) -> dict[str, Mapping[str, Expr]]:
        system = self.system
        return {
            "invariant": system.invariants,
            "witness": system.witnesses,
            "resettability": system.resettabilities,
        }

    def _refuse(self, conditions: list[Expr]) -> None:
        for node in topological(self.system.roots()):
            if node.lo < -(2**31) or node.hi >= 2**31:
                value = f"the value {node.lo}" if node.is_const else f"a value in {node.lo}..{node.hi}"
                raise ValueError(
                    f"{value} does not fit SPIN's 32 bits ({node.location[0]}:{node.location[1]})"
                )
        size = written_size(conditions)
        for node in conditions:
            if size[node] > LONGEST_GUARD:
                raise ValueError(
                    f"a condition has {size[node]:,} nodes when it is written out, too many for SPIN "
                    f"({node.location[0]}:{node.location[1]})"
                )

    def _leaf(self, node: Expr) -> str:
        if node.op == "var":
            return self.variables[node.value]
        if node.op == "param":
            return self.parameters[node.value]
        if node.sort is BOOL:
            return "true" if node.value else "false"
        return self.constants.name(node.sort, node.value)

    def text(self) -> str:
        """The whole model."""
        steps = [line for t in self.system.transitions for line in self._step(t)]
        checks = [line for name in self.system.invariants for line in self._check(name)]
        lines = [
            *self._heading(),
            *self._constants(),
            *self._declarations(),
            *([f"hidden int {', '.join(self.scratch)};", ""] if self.scratch else []),
            *self._conditions(),
            "active proctype system() {",
            "  do",
            *steps,
            *checks,
            *([] if steps or checks else ["  :: false -> skip"]),
            "  od",
            "}",
        ]
        return "\n".join(lines) + "\n"

    def _heading(self) -> Iterator[str]:
        yield "/*"
        yield from (f" * {line}".rstrip() for line in paragraph(_comment(self.about or self.system.name)))
        yield " */"
        yield ""

    def _constants(self) -> Iterator[str]:
        for par, name in self.parameters.items():
            if par.name in self.given:
                yield f"#define {name} {self.given[par.name]}"
            else:
                yield f"#ifndef {name}"
                yield f"#error give the parameter {name}, {par.lo} to {par.hi}: spin -a -D{name}=..."
                yield "#endif"
        for sort, members in self.constants.members():
            yield f"/* {_comment(str(sort))} */"
            yield from (f"#define {name} {code}" for code, name in members)
        if any(n.op == "div" for n in topological(self.system.roots())):
            yield "/* Division rounds down. */"
            yield FLOOR_DIV
        yield ""

    def _declarations(self) -> Iterator[str]:
        for v, name in self.variables.items():
            kind, width = type_of(v)
            initial = self._initial(v)
            yield f"{kind} {name}{width} = {initial};" + (
                f"  /* {_comment(v.name)} */" if v.name != name else ""
            )
        yield ""

    def _initial(self, v: Variable) -> str:
        if v.sort is BOOL:
            return "true" if v.initial else "false"
        return self.constants.name(v.sort, v.initial)

    def _conditions(self) -> Iterator[str]:
        for node, name in self.macros.items():
            yield _macro(name, self.notation.write(node, self._without(node)))
        for (kind, plain), name in self.predicates.items():
            text = self.notation.write(self._tables()[kind][plain], self.macros)
            yield f"/* {kind}: {_comment(plain)} */"
            yield _macro(name, text)
        yield ""

    def _without(self, node: Expr) -> dict[Expr, str]:
        return {other: name for other, name in self.macros.items() if other is not node}

    def _check(self, invariant: str) -> Iterator[str]:
        yield f"  :: d_step {{ !{self.predicates['invariant', invariant]} -> assert(false) }}"

    def _step(self, t: Transition) -> Iterator[str]:
        yield ""
        yield f"  /* {_comment(remark(t))} */"
        conditions = (
            [] if t.guard.is_const and t.guard.value else self.notation.conjuncts(t.guard, self.macros)
        )
        bounds = [(name, self.notation.conjuncts(e, self.macros)) for name, e in t.constraints]
        tests = [(part, "") for part in conditions]
        tests += [(part, name) for name, parts in bounds for part in parts]
        yield "  :: d_step {"
        # In parentheses, where the end of a line does not end the statement.
        for i, (part, limit) in enumerate(tests or [("true", "")]):
            note = f"  /* constraint: {_comment(limit)} */" if limit else ""
            yield wrapped("       ( " if i == 0 else "         && ", part) + note
        yield "       ) ->"
        assignments = list(self._assignments(t)) or ["skip"]
        yield from (wrapped("       ", f"{a};") for a in assignments)
        yield "     }"

    def _assignments(self, t: Transition) -> Iterator[str]:
        """The updates one after the other, such that each reads the state before the step."""
        named: dict[Expr, str] = {}
        updates = {v: e for v, e in t.updates.items() if v in self.variables}
        lets = shared(updates.values())
        for node in lets:
            slot = self._slot(len(named))
            yield f"{slot} = {self.notation.write(node, named)}"
            named[node] = slot
        needed = {v: set() if e in named else reads(e, lets) for v, e in updates.items()}
        last: list[str] = []
        slots = len(named)
        while updates:
            free = next((v for v in updates if not any(v in needed[w] for w in updates if w is not v)), None)
            if free is not None:
                yield f"{self.variables[free]} = {self.notation.bare(updates.pop(free), named, *ARITHMETIC)}"
                continue
            # Each is read by another: one new value waits until all others are assigned.
            waiting = next(iter(updates))
            slot, slots = self._slot(slots), slots + 1
            yield f"{slot} = {self.notation.write(updates.pop(waiting), named)}"
            last.append(f"{self.variables[waiting]} = {slot}")
        yield from last

    def _slot(self, number: int) -> str:
        while len(self.scratch) <= number:
            self.scratch.append(self.names.new(f"let {len(self.scratch) + 1}"))
        return self.scratch[number]


def type_of(v: Variable) -> tuple[str, str]:
    """The smallest type that holds a variable: what stands before its name, and after it."""
    if v.sort is BOOL:
        return "bool", ""
    if v.lo < 0:
        return ("short" if v.lo >= -(2**15) and v.hi < 2**15 else "int"), ""
    bits = max(1, v.hi.bit_length())
    return {1: ("bit", ""), 8: ("byte", "")}.get(bits, ("unsigned", f" : {bits}"))


def _macro(name: str, text: str) -> str:
    return wrapped(f"#define {name} ", text if text.startswith("(") else f"({text})", end=" \\")


def _comment(text: str) -> str:
    return text.replace("*/", "* /").replace("/*", "/ *").replace("\\", "/")
