"""Random small transition systems for Hypothesis, built from expressions without the modelling language.

They have variables of every sort, steps with and without arguments, guards that never hold, constraints,
variables that nobody reads, and few enough states for the reference engine.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from podrace.model.language import (
    BOOL,
    INT,
    Case,
    Expr,
    Fairness,
    Parameter,
    Sort,
    Transition,
    TransitionSystem,
    Variable,
    all_of,
    any_of,
    as_expr,
    clamp,
    count,
    equal,
    negate,
    select,
)
from podrace.model.language.expressions.expr import const, fresh_graph, less, parameter, variable
from tests.random_universe import (
    COLOUR,
    EACH_THING,
    NO_ARGUMENTS,
    ON_OR_OFF,
    THING,
    UNIVERSE,
    Kind,
    divided,
    has_value,
    kinds,
)

Draw = Any


KINDS: tuple[Kind, ...] = (*kinds(1), (INT, -10, 290))
"""The last is an interval to the value analysis."""


class Vocabulary:
    """Draws expressions over some variables."""

    def __init__(
        self, draw: Draw, variables: list[Variable], parameters: list[Parameter] | None = None
    ) -> None:
        self.draw, self.variables, self.parameters = draw, variables, parameters or []

    def choice(self, options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    def leaf(self, sort: Sort, lo: int = -2, hi: int = 7) -> Expr:
        """A variable of this sort if there is one, or a constant."""
        if sort is INT and self.parameters and self.draw(st.booleans()):
            return parameter(self.choice(self.parameters))
        known = [v for v in self.variables if v.sort == sort]
        if known and self.draw(st.integers(0, 3)):
            return variable(self.choice(known))
        if sort.tag is not None or sort is BOOL:
            lo, hi = 0, 1 if sort is BOOL else 2
        return const(sort, self.draw(st.integers(lo, hi)))

    def condition(self, depth: int) -> Expr:
        """A bool."""
        if depth == 0:
            return self.leaf(BOOL)
        kind = self.choice(("leaf", "not", "and", "or", "eq", "eq", "lt", "same", "ite"))
        if kind == "leaf":
            return self.leaf(BOOL)
        if kind == "not":
            return negate(self.condition(depth - 1))
        if kind == "and":
            return all_of((self.condition(depth - 1), self.condition(depth - 1)))
        if kind == "or":
            return any_of((self.condition(depth - 1), self.condition(depth - 1)))
        if kind == "lt":
            return less(self.number(depth - 1), self.number(depth - 1))
        if kind == "ite":
            return select(self.condition(depth - 1), self.condition(depth - 1), self.condition(depth - 1))
        if kind == "same":
            v = self.choice(self.variables)
            return has_value(v, self.draw(st.integers(v.lo, v.hi)))
        sort = self.choice((INT, COLOUR, THING, BOOL))
        return equal(self.value(sort, depth - 1), self.value(sort, depth - 1))

    def often_true(self) -> Expr:
        """A guard: true, a comparison with one value, any condition, or its negation or disjunction."""
        kind = self.choice(("true", "true", "not", "unless", "or", "any"))
        if kind == "true":
            return as_expr(True)
        if kind == "unless":
            v = self.choice(self.variables)
            return negate(has_value(v, self.draw(st.integers(v.lo, v.hi))))
        condition = self.condition(2)
        if kind == "or":
            return any_of((condition, self.condition(1)))
        return negate(condition) if kind == "not" else condition

    def number(self, depth: int) -> Expr:
        """An int."""
        if depth == 0:
            return self.leaf(INT)
        a, b = self.number(depth - 1), self.number(depth - 1)
        kind = self.choice(("a", "add", "add", "sub", "mul", "div", "ite", "count", "clamp"))
        if kind == "add":
            return a + b
        if kind == "sub":
            return a - b
        if kind == "mul":
            return a * b
        if kind == "div":
            return divided(a, b)
        if kind == "ite":
            return select(self.condition(depth - 1), a, b)
        if kind == "count":
            return count((self.condition(depth - 1), self.condition(depth - 1)))
        return clamp(a, -1, 5) if kind == "clamp" else a

    def value(self, sort: Sort, depth: int) -> Expr:
        """An expression of any sort."""
        if sort is BOOL:
            return self.condition(depth)
        if sort is INT:
            return self.number(depth)
        if depth == 0 or self.draw(st.booleans()):
            return self.leaf(sort)
        return select(self.condition(depth - 1), self.value(sort, depth - 1), self.value(sort, depth - 1))

    def update(self, v: Variable) -> Expr:
        """A new value for a variable, within its range."""
        if self.draw(st.booleans()):
            return const(v.sort, self.draw(st.integers(v.lo, v.hi)))
        if v.sort is not INT:
            return self.value(v.sort, 2)
        by_one = variable(v) + self.choice((-1, 1))
        return clamp(self.choice((by_one, self.number(2))), v.lo, v.hi)


@st.composite
def _variables(draw: Draw) -> list[Variable]:
    kinds = draw(st.lists(st.sampled_from(KINDS[:-1]), min_size=1, max_size=4))
    if draw(st.integers(0, 9)) == 9:
        kinds = [*kinds[:1], KINDS[-1]]
    return [
        Variable(f"v{i}", sort, lo, hi, draw(st.integers(lo, hi))) for i, (sort, lo, hi) in enumerate(kinds)
    ]


def _transition(draw: Draw, words: Vocabulary, step: str, args: tuple[tuple[str, Any], ...]) -> Transition:
    written = draw(st.lists(st.sampled_from(words.variables), min_size=1, max_size=3, unique=True))
    constraints = draw(st.sampled_from(((), (), (), ("few",), ("less",), ("few", "less"))))
    return Transition(
        part="part",
        step=step,
        args=args,
        actor=draw(st.sampled_from(("one", "other"))),
        fair=draw(st.booleans()),
        # Most random conditions are false in most states, and then little would happen.
        guard=words.often_true(),
        constraints=tuple((name, words.often_true()) for name in constraints),
        updates={v: words.update(v) for v in written},
        fairness=tuple(draw(st.lists(st.sampled_from(SETS), max_size=2, unique=True))),
    )


SETS = (Fairness("one"), Fairness("other"), Fairness("chance", strong=True), Fairness("luck", strong=True))

ARGUMENTS = (NO_ARGUMENTS, ON_OR_OFF, EACH_THING)


def _cases(draw: Draw, words: Vocabulary) -> tuple[Case, ...]:
    return tuple(
        Case(
            f"case{i}", words.often_true(), tuple(words.condition(1) for _ in range(draw(st.integers(0, 1))))
        )
        for i in range(draw(st.integers(1, 2)))
    )


@st.composite
def systems(
    draw: Draw,
    invariants: int = 2,
    witnesses: int = 2,
    resettabilities: int = 2,
    livenesses: int = 0,
    parameters: int = 0,
) -> TransitionSystem:
    """A system with 1 to 4 variables, 1 to 6 transitions, and up to so many predicates of each kind.

    It may read up to so many unknown parameters.
    """
    with fresh_graph():
        unknown = [Parameter(f"q{i}", lo, lo + 2) for i, lo in enumerate((0, -2, 2)[:parameters])]
        words = Vocabulary(draw, draw(_variables()), unknown)
        transitions: list[Transition] = []
        while len(transitions) < 6 and (len(transitions) < 2 or draw(st.integers(0, 4))):
            step = f"step{len(transitions)}"
            transitions += [_transition(draw, words, step, args) for args in draw(st.sampled_from(ARGUMENTS))]

        def predicates(kind: str, most: int) -> dict[str, Expr]:
            return {f"{kind}{i}": words.condition(2) for i in range(draw(st.integers(0, most)))}

        return TransitionSystem(
            name="random",
            universe=UNIVERSE,
            variables=tuple(words.variables),
            transitions=tuple(transitions),
            # Most random conditions are false somewhere: a disjunction makes good invariants less rare.
            invariants={n: e | words.condition(1) for n, e in predicates("invariant", invariants).items()},
            witnesses=predicates("witness", witnesses),
            resettabilities=predicates("resettability", resettabilities),
            livenesses={f"liveness{i}": _cases(draw, words) for i in range(draw(st.integers(0, livenesses)))},
        )


def _process(draw: Draw, number: int, shared: list[Variable]) -> tuple[list[Variable], list[Transition]]:
    """A small automaton with a flag of its own, which now and then looks at or changes what is shared."""
    at = Variable(f"p{number}.at", INT, 0, 3, 0)
    flag = Variable(f"p{number}.flag", BOOL, 0, 1, 0)
    own, everything = Vocabulary(draw, [at, flag]), Vocabulary(draw, [at, flag, *shared])
    transitions = []
    for k in range(draw(st.integers(1, 4))):
        source, target = draw(st.integers(0, 3)) if k else 0, draw(st.integers(0, 3))
        guard = [equal(variable(at), source)]
        if draw(st.integers(0, 3)) == 0:
            guard.append(everything.often_true())
        updates = {at: const(INT, target)}
        for v, words in ((flag, own), *((v, everything) for v in shared)):
            if draw(st.integers(0, 3)) == 0:
                updates[v] = words.update(v)
        constraints = (("few", everything.often_true()),) if draw(st.integers(0, 5)) == 0 else ()
        transitions.append(
            Transition(
                part=f"p{number}",
                step=f"step{k}",
                args=(),
                actor=f"p{number}",
                fair=draw(st.integers(0, 3)) > 0,
                guard=all_of(guard),
                constraints=constraints,
                updates=updates,
            )
        )
    return [at, flag], transitions


@st.composite
def coupled(draw: Draw, resettabilities: int = 1) -> TransitionSystem:
    """Two or three processes that mostly keep to themselves: much of what they do can be reordered."""
    with fresh_graph():
        shared = [
            Variable(f"shared{i}", INT, 0, 2, draw(st.integers(0, 2))) for i in range(draw(st.integers(0, 2)))
        ]
        parts = [_process(draw, n, shared) for n in range(draw(st.integers(2, 3)))]
        variables = [*shared, *(v for own, _ in parts for v in own)]
        words = Vocabulary(draw, variables)

        def predicates(kind: str, most: int) -> dict[str, Expr]:
            """Mostly about a few variables: those of one process, or of two at once."""
            return {
                f"{kind}{i}": all_of(
                    words.choice((has_value(v, draw(st.integers(v.lo, v.hi))), words.condition(1)))
                    for v in draw(st.lists(st.sampled_from(variables), min_size=1, max_size=3, unique=True))
                )
                for i in range(draw(st.integers(0, most)))
            }

        return TransitionSystem(
            name="coupled",
            universe=UNIVERSE,
            variables=tuple(variables),
            transitions=tuple(t for _, own in parts for t in own),
            invariants={n: negate(e) for n, e in predicates("invariant", 2).items()},
            witnesses=predicates("witness", 2),
            resettabilities=predicates("resettability", resettabilities),
        )
