"""Random systems of identical processes, which may take turns by rank, refer to one another, and share a number.

What one process does is drawn once, as a formula about `me`, and written out for each.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

from hypothesis import strategies as st

from podrace.model.language import (
    BOOL,
    INT,
    Entity,
    Expr,
    Transition,
    TransitionSystem,
    Universe,
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
from podrace.model.language.expressions.expr import const, fresh_graph, variable
from podrace.model.language.expressions.sorts import sort_of_ref

Draw = Any
Formula = tuple[Any, ...]


class Process(Entity):
    """One of those that are alike."""


class Crowd:
    """The variables of some processes, and formulas about one of them written out as expressions."""

    def __init__(self, size: int, owner: int = 0, ranks: tuple[bool, ...] = (False, False, False)) -> None:
        self.all = tuple(Process(i, f"p{i}") for i in range(size))
        self.at = {p: Variable(f"at[{p.name}]", INT, 0, 2, 0) for p in self.all}
        self.flag = {p: Variable(f"flag[{p.name}]", BOOL, 0, 1, 0) for p in self.all}
        self.before = {
            (p, q): Variable(f"before[{p.name}][{q.name}]", BOOL, 0, 1, int(rank))
            for (p, q), rank in zip(combinations(self.all, 2), ranks, strict=False)
        }
        self.owner = Variable("owner", sort_of_ref(Process), 0, size, owner)
        self.shared = Variable("shared", INT, 0, 2, 0)

    @property
    def variables(self) -> tuple[Variable, ...]:
        return (*self.at.values(), *self.flag.values(), *self.before.values(), self.owner, self.shared)

    def is_before(self, p: Process, q: Process) -> Expr:
        return variable(self.before[p, q]) if p.index < q.index else negate(variable(self.before[q, p]))

    def condition(self, formula: Formula, me: Process | None) -> Expr:
        """What the formula says about one process, or about none in particular."""
        op, *args = formula
        others = [p for p in self.all if p is not me]
        if op == "at":
            assert me is not None
            return equal(variable(self.at[me]), args[0])
        if op == "flag":
            assert me is not None
            return variable(self.flag[me])
        if op == "mine":
            return equal(variable(self.owner), me)
        if op == "free":
            return equal(variable(self.owner), None)
        if op == "shared":
            return equal(variable(self.shared), args[0])
        if op == "first":
            assert me is not None
            return all_of(self.is_before(me, p) for p in others)
        if op == "not":
            return negate(self.condition(args[0], me))
        if op == "some":
            return any_of(self.condition(args[0], p) for p in others)
        if op == "most":
            return count(self.condition(args[0], p) for p in others) >= 2
        if op == "owner":
            value = as_expr(0)
            for p in self.all:
                value = select(equal(variable(self.owner), p), variable(self.at[p]), value)
            return equal(value, args[0])
        assert op in ("and", "or")
        return (all_of if op == "and" else any_of)(self.condition(f, me) for f in args)

    def updates(self, actions: list[Formula], me: Process) -> dict[Variable, Expr]:
        """What the actions do when one process performs them."""
        found: dict[Variable, Expr] = {}
        for op, *args in actions:
            if op == "go":
                found[self.at[me]] = const(INT, args[0])
            elif op == "mark":
                found[self.flag[me]] = self.condition(args[0], me)
            elif op == "own":
                found[self.owner] = select(self.condition(args[0], me), me, variable(self.owner))
            elif op == "leave":
                found[self.owner] = as_expr(None, self.owner.sort)
            elif op == "share":
                found[self.shared] = clamp(variable(self.shared) + args[0], 0, 2)
            elif op == "clear":
                found.update({self.flag[p]: as_expr(False) for p in self.all})
            else:
                assert op == "last"
                for (p, q), v in self.before.items():
                    if me in (p, q):
                        found[v] = select(self.condition(args[0], me), me is q, variable(v))
        return found


def formulas(closed: bool, depth: int = 2) -> st.SearchStrategy[Formula]:
    """Formulas about one process, or, if closed, about all."""
    numbers = st.integers(0, 2)
    leaves: list[st.SearchStrategy[Formula]] = [
        st.tuples(st.just("shared"), numbers),
        st.tuples(st.just("owner"), numbers),
        st.just(("free",)),
    ]
    if not closed:
        leaves += [st.tuples(st.just("at"), numbers)] * 2
        leaves += [st.just(("flag",)), st.just(("mine",)), st.just(("first",))]
    if depth:
        inner, about = formulas(closed, depth - 1), formulas(False, depth - 1)
        leaves += [
            st.tuples(st.sampled_from(("some", "most")), about),
            st.tuples(st.just("not"), inner),
            st.tuples(st.sampled_from(("and", "or")), inner, inner),
        ]
    return st.one_of(leaves)


def _actions() -> st.SearchStrategy[Formula]:
    open_ = formulas(False, 1)
    return st.one_of(
        st.tuples(st.just("go"), st.integers(0, 2)),
        st.tuples(st.just("go"), st.integers(0, 2)),
        st.tuples(st.sampled_from(("mark", "own", "last")), open_),
        st.tuples(st.just("share"), st.sampled_from((-1, 1))),
        st.sampled_from((("leave",), ("clear",))),
    )


@st.composite
def alike(draw: Draw, spoiled: bool = False) -> TransitionSystem:
    """Two or three identical processes. If spoiled, one of them may do something more, or less."""
    with fresh_graph():
        size = draw(st.sampled_from((2, 3, 3)))
        crowd = Crowd(size, draw(st.integers(0, 1)), draw(st.tuples(*[st.booleans()] * 3)))
        transitions: list[Transition] = []
        for k in range(draw(st.integers(2, 4))):
            # A ring of places, so that the processes go on.
            at, guard = k % 3, draw(formulas(False, 1))
            guarded = draw(st.integers(0, 3)) == 3
            actions = [("go", (k + 1) % 3), *draw(st.lists(_actions(), max_size=2))]
            limit = draw(formulas(False, 1)) if draw(st.integers(0, 4)) == 0 else None
            for me in crowd.all:
                condition = all_of(
                    (crowd.condition(("at", at), me), crowd.condition(guard, me) if guarded else True)
                )
                constraints = () if limit is None else (("few", crowd.condition(limit, me)),)
                transitions.append(
                    Transition(
                        "crowd", f"step{k}", (("me", me),), "crowd", True, condition, constraints,
                        crowd.updates(actions, me),
                    )
                )  # fmt: skip
        if spoiled:
            i = draw(st.integers(0, len(transitions) - 1))
            t, (_, me) = transitions[i], transitions[i].args[0]
            more = crowd.updates(draw(st.lists(_actions(), min_size=1, max_size=1)), me)
            less = all_of((t.guard, crowd.condition(draw(formulas(False, 1)), me)))
            transitions[i] = draw(
                st.sampled_from((replace(t, updates={**t.updates, **more}), replace(t, guard=less)))
            )

        def predicates(kind: str) -> dict[str, Expr]:
            return {
                f"{kind}{i}": crowd.condition(draw(formulas(True)), None)
                for i in range(draw(st.integers(0, 2)))
            }

        invariants, witnesses = predicates("invariant"), predicates("witness")
        if spoiled and draw(st.booleans()):
            witnesses["particular"] = crowd.condition(
                draw(formulas(False, 1)), draw(st.sampled_from(crowd.all))
            )
        return TransitionSystem(
            name="alike",
            universe=Universe({Process: crowd.all}),
            variables=crowd.variables,
            transitions=tuple(transitions),
            invariants={n: negate(e) for n, e in invariants.items()},
            witnesses=witnesses,
        )
