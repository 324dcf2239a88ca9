"""Entities that only their parameters tell apart: of two clusters in which they are swapped, one is enough.

Pods that wait are treated alike, but for their order in queues and lists, and that order only counts where their priorities are equal. So if two pods of
different priorities exchange their parameters, the cluster has the same runs, with the pods swapped. `ordered` leaves out the cluster in which the first
pod has the lower priority.

This is not taken for granted. `are_interchangeable` compares each guard, constraint, update and predicate of a slice with that of the swapped slice, for all states
and for all choices in which the first entity has the lower rank. Most are the same expression, and Z3 compares the others. Variables that nothing
sees there, such as those that break ties, do not count. Where it cannot be shown that there is no difference, nothing is left out.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import z3

from ...model.language import (
    BOOL,
    Entity,
    Expr,
    Parameter,
    Sort,
    Transition,
    TransitionSystem,
    Variable,
    negate,
    topological,
)
from ...model.language.expressions.expr import add, const, fresh_graph, less, parameter, variable
from ...model.language.expressions.graph import rebuilt
from ..reduction.questions import kind_of, slice_for
from ..reduction.slicing import Slicer, key_of
from ..smt.theories import INTEGERS
from ..smt.translate import translate, unknown
from .parametric_system import ParametricSystem

_EFFORT = 20_000_000
"""What Z3 may spend on the expressions of two systems, in a unit of its own that is the same on every machine."""

Ranked = tuple[str, str]
"""The names of an entity, and of the parameter that it is ordered by."""


def ordered(
    parametric: ParametricSystem, property_id: str, neighbours: Sequence[tuple[Ranked, Ranked]]
) -> ParametricSystem:
    """The system for the choices in which, of interchangeable neighbours, the first has no lower rank than the second.

    To swap neighbours until that is so makes one of these choices of every other choice: one with the same verdict, counts and length of the counterexample.
    """
    system = parametric.system
    kind = kind_of(system, property_id)
    if kind == "liveness" or not neighbours:
        return parametric
    sliced = replace(parametric, system=slice_for(Slicer(system), kind, [property_id], scales=False))
    found = [(one, other) for one, other in neighbours if are_interchangeable(sliced, one, other)]
    ranks = {q.name: q for q in parametric.parameters}
    with fresh_graph():
        descending = tuple(
            negate(less(parameter(ranks[one]), parameter(ranks[other]))) for (_, one), (_, other) in found
        )
    return replace(parametric, assumptions=(*parametric.assumptions, *descending))


def are_interchangeable(parametric: ParametricSystem, one: Ranked, other: Ranked) -> bool:
    """Whether each choice in which the first has the lower rank has the runs of the choice in which they exchange their parameters, with the two swapped.

    Scales of time do not count: they look at nothing but guards, and at which steps are short. Nor do livenesses: the slice may have none.
    """
    swap = _Swap(parametric, one[0], other[0])
    low, high = swap.parameters[one[1]], swap.parameters[other[1]]
    return swap.is_possible() and _Comparison(swap, low, high).finds_no_difference()


class _Swap:
    """What becomes of names and values when two entities are swapped."""

    def __init__(self, parametric: ParametricSystem, one: str, other: str) -> None:
        self.parametric, self.system = parametric, parametric.system
        self._names = {one: other, other: one}
        self._pattern = re.compile(rf"\b({'|'.join(map(re.escape, self._names))})\b")
        self._variables = {v.name: v for v in self.system.variables}
        self.parameters = {q.name: q for q in parametric.parameters}
        self._members: dict[type, list[Entity | None]] = {}
        for kind in self.system.universe.kinds():
            known = {e.name: e for e in self.system.universe[kind]}
            self._members[kind] = [known.get(self.name(name)) for name in known]

    def is_possible(self) -> bool:
        """Whether every entity and every parameter has a counterpart, and what is assumed stays the same."""
        if any(None in members for members in self._members.values()):
            return False
        for q in self.parametric.parameters:
            its = self.parameters.get(self.name(q.name))
            if its is None or (its.lo, its.hi) != (q.lo, q.hi):
                return False
        with fresh_graph():
            assumed = self.parametric.assumptions
            same, swapped = _rewritten(assumed, _itself), _rewritten(assumed, self.leaf)
            return {same[e] for e in assumed} == {swapped[e] for e in assumed}

    def name(self, name: str) -> str:
        """What is named after the other one."""
        return self._pattern.sub(lambda found: self._names[found[1]], name)

    def code(self, sort: Sort, code: int) -> int:
        """What becomes of a value."""
        members = self._members.get(sort.tag, []) if sort.tag is not None else []
        member = members[code - 1] if members and code else None
        return code if member is None else member.index + 1

    def variable(self, v: Variable) -> Variable:
        """The counterpart of a variable; a new one if the system has none."""
        name = self.name(v.name)
        return self._variables.setdefault(name, Variable(name, v.sort, v.lo, v.hi, v.initial))

    def leaf(self, node: Expr) -> Expr:
        """What becomes of a constant, a variable or a parameter."""
        if node.op == "const":
            return const(node.sort, self.code(node.sort, node.value))
        if node.op == "var":
            return variable(self.variable(node.value))
        return parameter(self.parameters[self.name(node.value.name)])

    def argument(self, value: Any) -> Any:
        """What becomes of an argument of a step."""
        members = self._members.get(type(value))
        return members[value.index] if members else value


class _Comparison:
    """The system and the swapped one, for the choices in which `low` is less than `high`."""

    def __init__(self, swap: _Swap, low: Parameter, high: Parameter) -> None:
        self._swap, self._low, self._high = swap, low, high
        self._unlike: list[tuple[Expr, Expr]] = []
        """Expressions that are to be equal and do not look so."""

    def finds_no_difference(self) -> bool:
        """Whether the two have the same initial state, steps and predicates, in what can be seen of them."""
        swap, system = self._swap, self._swap.system
        swapped = replace(
            system,
            variables=tuple(map(swap.variable, system.variables)),
            transitions=tuple(
                replace(
                    t,
                    args=tuple((name, swap.argument(value)) for name, value in t.args),
                    updates={swap.variable(v): e for v, e in t.updates.items()},
                )
                for t in system.transitions
            ),
        )
        with fresh_graph():
            one, other = self._seen(system, _itself), self._seen(swapped, swap.leaf)
            if not (self._begin_alike(one, other) and self._go_on_alike(one, other)):
                return False
            tables = (one.invariants, other.invariants), (one.witnesses, other.witnesses)
            for mine, its in (*tables, (one.resettabilities, other.resettabilities)):
                self._unlike += [(e, its[name]) for name, e in mine.items()]
            unlike = [(a, b) for a, b in self._unlike if a is not b]
            return not unlike or self._are_equal(unlike)

    def _seen(self, system: TransitionSystem, leaf: Callable[[Expr], Expr]) -> TransitionSystem:
        new = _rewritten(system.roots(), leaf, self._low, self._high)
        transitions = (
            replace(
                t,
                guard=new[t.guard],
                constraints=tuple((name, new[e]) for name, e in t.constraints),
                updates={v: new[e] for v, e in t.updates.items()},
            )
            for t in system.transitions
        )
        whole = replace(system.with_expressions(new), transitions=tuple(transitions))
        return Slicer(whole, values=False).slice()

    def _begin_alike(self, one: TransitionSystem, other: TransitionSystem) -> bool:
        """Whether they have the same variables, and in the initial state the same values."""
        swap = self._swap
        begins = {swap.variable(v): swap.code(v.sort, v.initial) for v in swap.system.variables}
        mine, its = set(one.variables), set(other.variables)
        return mine == its and all(begins.get(v) == v.initial for v in mine)

    def _go_on_alike(self, one: TransitionSystem, other: TransitionSystem) -> bool:
        """Whether they have the same transitions, all that there are, up to expressions that are still to be compared."""
        its = {key_of(t): t for t in other.transitions}
        count = len(self._swap.system.transitions)
        if not count == len(one.transitions) == len(its):
            return False
        return all(key_of(t) in its and self._are_alike(t, its[key_of(t)]) for t in one.transitions)

    def _are_alike(self, one: Transition, other: Transition) -> bool:
        if (one.fair, one.lasts, one.updates.keys()) != (other.fair, other.lasts, other.updates.keys()):
            return False
        if [name for name, _ in one.constraints] != [name for name, _ in other.constraints]:
            return False
        self._unlike.append((one.guard, other.guard))
        self._unlike += [(a, b) for (_, a), (_, b) in zip(one.constraints, other.constraints, strict=True)]
        self._unlike += [(e, other.updates[v]) for v, e in one.updates.items()]
        return True

    def _are_equal(self, pairs: Sequence[tuple[Expr, Expr]]) -> bool:
        """Whether Z3 shows that the two of each pair always have the same value."""
        low, high = parameter(self._low), parameter(self._high)
        nodes = topological([*(e for pair in pairs for e in pair), low, high])
        solver = z3.SolverFor(INTEGERS.logic)
        solver.set("rlimit", _EFFORT)
        known: dict[Expr, Any] = {}
        for node in nodes:
            if node.op in ("var", "param"):
                name = f"{node.op} {node.value.name}"
                known[node] = unknown(INTEGERS, name, node.sort, node.lo, node.hi)
                if node.sort is not BOOL:
                    solver.add(*INTEGERS.within(known[node], node.lo, node.hi))
        terms = translate(nodes, INTEGERS, lambda leaf: known[leaf])
        solver.add(terms[low] < terms[high], z3.Or([terms[a] != terms[b] for a, b in pairs]))
        return bool(solver.check() == z3.unsat)


def _itself(leaf: Expr) -> Expr:
    if leaf.op == "const":
        return const(leaf.sort, leaf.value)
    return variable(leaf.value) if leaf.op == "var" else parameter(leaf.value)


def _rewritten(
    roots: Iterable[Expr],
    leaf: Callable[[Expr], Expr],
    low: Parameter | None = None,
    high: Parameter | None = None,
) -> dict[Expr, Expr]:
    """Each expression below the roots in the graph in use, where `low` is less than `high`; sums do not depend on the order of what is added."""
    new: dict[Expr, Expr] = {}
    summands: dict[Expr, list[Expr]] = {}
    for node in topological(roots):
        args = [new[a] for a in node.args]
        if not args:
            new[node] = leaf(node)
        elif node.op in ("lt", "eq") and {a.value for a in args} == {low, high} and args[0].op == "param":
            new[node] = const(BOOL, int(node.op == "lt" and args[0].value is low))
        elif node.op == "add":
            found = sorted((s for a in args for s in summands.get(a, [a])), key=lambda e: e.index)
            whole = found[0]
            for summand in found[1:]:
                whole = add(whole, summand)
            new[node], summands[whole] = whole, found
        else:
            new[node] = rebuilt(node.op, args)
    return new
