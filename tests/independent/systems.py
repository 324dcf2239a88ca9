"""Random systems by number: the same number gives the same system. They are livelier than those for Hypothesis, and cheaper to draw.

Most have between ten and two hundred reachable states: a comparison takes milliseconds.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from podrace.model.language import (
    BOOL,
    INT,
    Case,
    Expr,
    Fairness,
    Parameter,
    State,
    Transition,
    TransitionSystem,
    Variable,
    all_of,
    any_of,
    clamp,
    count,
    equal,
    negate,
    select,
)
from podrace.model.language.expressions.expr import const, fresh_graph, less, parameter, variable
from tests.random_universe import (
    EACH_THING,
    NO_ARGUMENTS,
    ON_OR_OFF,
    UNIVERSE,
    divided,
    has_value,
    kinds,
)

KINDS = kinds(2)
MANY = (65, 130)
"""More than one 64-bit word holds, and more than two."""


class Writer:
    """Writes random expressions over some variables and parameters."""

    def __init__(
        self, random: Random, variables: list[Variable], parameters: tuple[Parameter, ...] = ()
    ) -> None:
        self.random, self.variables, self.parameters = random, variables, parameters

    def is_value(self) -> Expr:
        """That a variable has one of its values."""
        v = self.random.choice(self.variables)
        return has_value(v, self.random.randint(v.lo, v.hi))

    def condition(self, depth: int = 2) -> Expr:
        """Any condition."""
        kind = self.random.randrange(9) if depth else 0
        if kind < (1 if self.parameters else 2):
            return self.is_value()
        if kind == 2:
            return negate(self.condition(depth - 1))
        if kind == 3:
            return all_of(self.condition(depth - 1) for _ in range(2))
        if kind == 4:
            return any_of(self.condition(depth - 1) for _ in range(2))
        if kind == 5:
            return select(*(self.condition(depth - 1) for _ in range(3)))
        if kind == 6:
            return equal(self.compared(depth - 1), self.number(depth - 1))
        one, other = self.compared(depth - 1), self.number(depth - 1)
        return less(one, other) if self.random.random() < 0.5 else less(other, one)

    def compared(self, depth: int) -> Expr:
        """A number, and perhaps a parameter: they are compared, and never kept."""
        if not self.parameters or self.random.random() < 0.3:
            return self.number(depth)
        unknown = parameter(self.random.choice(self.parameters))
        return unknown if self.random.random() < 0.5 else unknown + self.number(0)

    def number(self, depth: int) -> Expr:
        """Any number."""
        known = [variable(v) for v in self.variables if v.sort is INT]
        kind = self.random.randrange(9) if depth else 0
        if kind < 2:
            return self.random.choice([*known, *known, const(INT, self.random.randint(-2, 6))])
        a, b = self.number(depth - 1), self.number(depth - 1)
        if kind == 2:
            return a - b
        if kind == 3:
            return a * b
        if kind == 4 and not self.parameters:  # the range of a divisor is not seen in one case of the state
            return divided(a, b)
        if kind == 5:
            return select(self.condition(depth - 1), a, b)
        if kind == 6:
            return count(self.condition(depth - 1) for _ in range(3))
        return clamp(a, -1, 4) if kind == 7 else a + b

    def update(self, v: Variable) -> Expr:
        """A new value for a variable: another constant, the next one, or what an expression says."""
        kind = self.random.randrange(5)
        if v.sort is BOOL and kind:
            return negate(variable(v)) if kind == 1 else self.condition(1)
        if v.sort is INT and kind in (1, 2):
            step = self.random.choice((-1, 1))
            following = variable(v) + step
            last, first = (v.hi, v.lo) if step > 0 else (v.lo, v.hi)
            around = select(equal(variable(v), last), const(INT, first), following)
            return clamp(self.random.choice((around, following)), v.lo, v.hi)
        if v.sort is INT and kind == 3:
            return clamp(self.number(1), v.lo, v.hi)
        if kind == 4:
            return select(self.condition(1), self.constant(v), variable(v))
        return self.constant(v)

    def constant(self, v: Variable) -> Expr:
        """Some value of a variable."""
        return const(v.sort, self.random.randint(v.lo, v.hi))

    def guard(self) -> Expr:
        """That a variable does not have a value, or has one of two, or any condition."""
        kind = self.random.randrange(6)
        if kind < 4:
            return negate(self.is_value())
        return any_of((self.is_value(), self.is_value())) if kind == 4 else self.condition()


def fair_sets(random: Random, number: int) -> list[Fairness]:
    """So many fair sets, half of them strong."""
    return [Fairness(f"set{i}", random.random() < 0.5) for i in range(number)]


def random_system(seed: object, parameters: int = 0, **more: Any) -> TransitionSystem:
    """A system of 2 to 4 variables and some 4 to 16 transitions; `more` is what `questions` takes."""
    random = Random(repr(seed))
    with fresh_graph():
        unknown = tuple(Parameter(f"q{i}", low, low + 3) for i, low in enumerate((0, -1, 1)[:parameters]))
        kinds = [random.choice(KINDS) for _ in range(random.randint(2, 4))]
        variables = [
            Variable(f"v{i}", sort, lo, hi, random.randint(lo, hi)) for i, (sort, lo, hi) in enumerate(kinds)
        ]
        writer = Writer(random, variables, unknown)
        transitions: list[Transition] = []
        for k in range(random.randint(4, 8)):
            arguments = random.choice((NO_ARGUMENTS, NO_ARGUMENTS, EACH_THING, ON_OR_OFF))
            transitions += [_transition(writer, f"step{k}", args) for args in arguments]
        return _asked(writer, TransitionSystem("random", UNIVERSE, tuple(variables), tuple(transitions)), **more)  # fmt: skip


def _transition(writer: Writer, step: str, args: tuple[tuple[str, Any], ...]) -> Transition:
    random = writer.random
    written = random.sample(writer.variables, random.randint(1, min(2, len(writer.variables))))
    limits = random.choice(((), (), (), (), (), ("few",), ("less",), ("few", "less")))
    return Transition(
        part="part",
        step=step,
        args=args,
        actor="actor",
        fair=random.random() < 0.6,
        guard=writer.guard(),
        constraints=tuple((name, writer.guard()) for name in limits),
        updates={v: writer.update(v) for v in written},
    )


def _asked(
    writer: Writer,
    system: TransitionSystem,
    invariants: int = 0,
    witnesses: int = 0,
    resettabilities: int = 0,
    livenesses: int = 0,
    recurrent: int = 2,
    sets: int = 0,
) -> TransitionSystem:
    """The system with so many questions of each kind, so many fair sets, and up to so many conditions that recur in a case."""

    def table(kind: str, number: int) -> dict[str, Expr]:
        return {f"{kind}{i}": writer.condition() for i in range(number)}

    random = writer.random
    transitions = system.transitions
    if sets:
        transitions = _with_fairness(random, transitions, fair_sets(random, sets))
    return replace(
        system,
        transitions=transitions,
        invariants={n: any_of((e, writer.guard())) for n, e in table("invariant", invariants).items()},
        witnesses={n: all_of((e, writer.is_value())) for n, e in table("witness", witnesses).items()},
        resettabilities=table("resettability", resettabilities),
        livenesses={
            f"liveness{i}": tuple(_case(writer, f"case{k}", recurrent) for k in range(random.randint(1, 2)))
            for i in range(livenesses)
        },
    )


def _case(writer: Writer, name: str, recurrent: int) -> Case:
    """Where many conditions recur, most hold nearly everywhere: else no run would meet them all."""
    wanted = recurrent if recurrent > 2 else writer.random.randint(0, recurrent)
    hard = set(writer.random.sample(range(wanted), min(wanted, 2)))
    conditions = tuple(
        any_of((writer.is_value(), writer.is_value())) if i in hard else _easy(writer) for i in range(wanted)
    )
    return Case(name, writer.guard(), conditions)


def _easy(writer: Writer) -> Expr:
    return any_of((negate(writer.is_value()), writer.is_value(), writer.is_value()))


def _with_fairness(
    random: Random, transitions: tuple[Transition, ...], sets: list[Fairness]
) -> tuple[Transition, ...]:
    """Each set takes some transitions. Of many sets, all but a few take most: else no run would be fair to all."""
    hard = set(random.sample(range(len(sets)), min(len(sets), 3)))
    chosen: list[list[Fairness]] = [[] for _ in transitions]
    for i, fairness in enumerate(sets):
        many = (
            random.randint(1, 2) if i in hard else random.randint(len(transitions) * 2 // 3, len(transitions))
        )
        for number in random.sample(range(len(transitions)), min(many, len(transitions))):
            chosen[number].append(fairness)
    return tuple(replace(t, fairness=tuple(own)) for t, own in zip(transitions, chosen, strict=True))


def some_states(seed: object, system: TransitionSystem, number: int) -> list[State]:
    """Its own initial state, and others to begin in."""
    random = Random(repr(seed))
    others = (tuple(random.randint(v.lo, v.hi) for v in system.variables) for _ in range(number - 1))
    return [system.initial, *others]


def changed(seed: object, system: TransitionSystem) -> TransitionSystem:
    """The same system with one or two of its transitions altered, taken out or put in, and now and then another start."""
    random = Random(repr(seed))
    variables = [
        Variable(v.name, v.sort, v.lo, v.hi, random.randint(v.lo, v.hi) if random.random() < 0.02 else v.initial)
        for v in system.variables
    ]  # fmt: skip
    with fresh_graph():
        known = {v.name: variable(v) for v in variables}
        system = _over(system, variables, known)
        writer, transitions = Writer(random, variables), list(system.transitions)
        for _ in range(random.randint(1, 2)):
            at, kind = random.randrange(len(transitions)), random.randrange(5)
            old = transitions[at]
            if kind == 0 and len(transitions) > 1:
                del transitions[at]
            elif kind == 1:
                transitions.append(_transition(writer, f"other{len(transitions)}", ()))
            elif kind == 2:
                v = random.choice(list(old.updates))
                transitions[at] = replace(old, updates={**old.updates, v: writer.update(v)})
            elif kind == 3:
                transitions[at] = replace(old, guard=all_of((old.guard, negate(all_of(writer.is_value() for _ in range(2))))))  # fmt: skip
            else:
                transitions[at] = replace(old, guard=any_of((old.guard, all_of(writer.is_value() for _ in range(2)))))  # fmt: skip
        return replace(system, transitions=tuple(transitions))


def _over(system: TransitionSystem, variables: list[Variable], known: dict[str, Expr]) -> TransitionSystem:
    """The same system over other variables of the same names, in the graph in use."""
    by_name = {v.name: v for v in variables}
    made: dict[int, Expr] = {}

    def copy(node: Expr) -> Expr:
        if id(node) not in made:
            made[id(node)] = _rebuilt(node, known, copy)
        return made[id(node)]

    return replace(
        system,
        variables=tuple(variables),
        transitions=tuple(
            replace(
                t,
                guard=copy(t.guard),
                constraints=tuple((name, copy(e)) for name, e in t.constraints),
                updates={by_name[v.name]: copy(e) for v, e in t.updates.items()},
            )
            for t in system.transitions
        ),
    )


def _rebuilt(node: Expr, known: dict[str, Expr], copy: Any) -> Expr:
    if node.op == "const":
        return const(node.sort, node.value)
    if node.op == "var":
        return known[node.value.name]
    args = [copy(a) for a in node.args]
    match node.op:
        case "not":
            return negate(args[0])
        case "and":
            return all_of(args)
        case "or":
            return any_of(args)
        case "eq":
            return equal(*args)
        case "lt":
            return less(*args)
        case "ite":
            return select(*args)
        case "div":
            # The divisor was clamped, and a rebuilt node has forgotten it.
            return divided(*args)
    first, second = args
    return first + second if node.op == "add" else first - second if node.op == "sub" else first * second
