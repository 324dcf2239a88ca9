"""Expressions: folding changes no value, ranges are sound, equal nodes are one, mistakes are refused."""

from __future__ import annotations

from enum import Enum
from itertools import pairwise, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.core.interpreter import Interpreter
from podrace.model.language import (
    BOOL,
    INT,
    Entity,
    Expr,
    ModelError,
    Parameter,
    TransitionSystem,
    Universe,
    Variable,
    all_of,
    any_of,
    as_expr,
    clamp,
    count,
    equal,
    implies,
    largest,
    negate,
    select,
    smallest,
    substitute,
    topological,
    total,
    variables_of,
)
from podrace.model.language.expressions.expr import const, divide, fresh_graph, less, parameter, variable
from podrace.model.language.expressions.sorts import sort_of_enum, sort_of_ref
from tests.profiles import examples


class Light(Enum):
    RED = "r"
    GREEN = "g"


class Pod(Entity):
    pass


class Node(Entity):
    pass


# A tree is what an expression looks like before it is folded: an operator and trees, a name, or a number.
Tree = Any
NUMBERS = {"x": (-3, 4), "y": (0, 2), "z": (5, 5)}
FLAGS = ("p", "q")
VARIABLES = {
    **{name: Variable(name, INT, lo, hi, lo) for name, (lo, hi) in NUMBERS.items()},
    **{name: Variable(name, BOOL, 0, 1, 0) for name in FLAGS},
}
SYSTEM = TransitionSystem("laws", Universe({}), tuple(VARIABLES.values()), ())


def trees() -> st.SearchStrategy[tuple[Tree, Tree]]:
    """A pair: a tree for a bool and one for an int."""

    def more(pair: st.SearchStrategy[tuple[Tree, Tree]]) -> st.SearchStrategy[tuple[Tree, Tree]]:
        flag, number = pair.map(lambda p: p[0]), pair.map(lambda p: p[1])
        flags = st.one_of(
            st.tuples(st.just("not"), flag),
            st.tuples(st.sampled_from(["and", "or", "implies", "same"]), flag, flag),
            st.tuples(st.sampled_from(["eq", "lt", "le"]), number, number),
            st.tuples(st.just("if"), flag, flag, flag),
        )
        numbers = st.one_of(
            st.tuples(st.sampled_from(["add", "sub", "mul", "div", "rem", "min", "max"]), number, number),
            st.tuples(st.just("ite"), flag, number, number),
            st.tuples(st.just("count"), flag, flag),
            st.tuples(st.sampled_from(["clamp", "neg"]), number),
        )
        return st.tuples(st.one_of(flag, flags), st.one_of(number, numbers))

    leaves = st.tuples(
        st.sampled_from([*FLAGS, True, False]),
        st.one_of(st.sampled_from(list(NUMBERS)), st.integers(-2, 5)),
    )
    return st.recursive(leaves, more, max_leaves=12)


def by_hand(tree: Tree, values: dict[str, int]) -> int:
    """The meaning of a tree, in plain Python."""
    if isinstance(tree, (bool, int)):
        return int(tree)
    if isinstance(tree, str):
        return values[tree]
    op, *args = tree
    got = [by_hand(arg, values) for arg in args]
    a, b = got[0], got[-1]
    if op in ("if", "ite"):
        return got[1] if a else got[2]
    table = {
        "not": lambda: not a,
        "and": lambda: a and b,
        "or": lambda: a or b,
        "implies": lambda: not a or b,
        "same": lambda: a == b,
        "eq": lambda: a == b,
        "lt": lambda: a < b,
        "le": lambda: a <= b,
        "add": lambda: a + b,
        "sub": lambda: a - b,
        "mul": lambda: a * b,
        "div": lambda: a // min(max(b, 1), 3),
        "rem": lambda: a % min(max(b, 1), 3),
        "neg": lambda: -a,
        "min": lambda: min(a, b),
        "max": lambda: max(a, b),
        "count": lambda: a + b,
        "clamp": lambda: min(max(a, -1), 2),
    }
    return int(table[op]())


def built(tree: Tree, leaves: dict[str, Expr]) -> Expr:
    """The same tree by the functions of the language, which fold it."""
    if isinstance(tree, (bool, int)):
        return as_expr(tree)
    if isinstance(tree, str):
        return leaves[tree]
    op, *args = tree
    got = [built(arg, leaves) for arg in args]
    a, b = got[0], got[-1]
    table: dict[str, Any] = {
        "not": lambda: ~a,
        "and": lambda: a & b,
        "or": lambda: a | b,
        "implies": lambda: implies(a, b),
        "same": lambda: a == b,
        "eq": lambda: a == b,
        "lt": lambda: a < b,
        "le": lambda: a <= b,
        "add": lambda: a + b,
        "sub": lambda: a - b,
        "mul": lambda: a * b,
        "div": lambda: a // clamp(b, 1, 3),
        "rem": lambda: a % clamp(b, 1, 3),
        "neg": lambda: -as_expr(a),
        "min": lambda: smallest(a, b),
        "max": lambda: largest(a, b),
        "count": lambda: count((a, b)),
        "clamp": lambda: clamp(a, -1, 2),
        "if": lambda: select(*got),
        "ite": lambda: select(*got),
    }
    made: Expr = table[op]()
    return made


def valuations() -> st.SearchStrategy[dict[str, int]]:
    return st.fixed_dictionaries(
        {
            **{name: st.integers(lo, hi) for name, (lo, hi) in NUMBERS.items()},
            **{name: st.integers(0, 1) for name in FLAGS},
        }
    )


def symbols() -> dict[str, Expr]:
    return {name: variable(v) for name, v in VARIABLES.items()}


@settings(max_examples=examples(500))
@given(trees(), st.lists(valuations(), min_size=1, max_size=8))
def test_folding_changes_no_value_and_ranges_are_sound(pair: tuple[Tree, Tree], cases: list[Any]) -> None:
    with fresh_graph():
        for tree in pair:
            folded = built(tree, symbols())
            nodes = topological([folded])
            for values in cases:
                interpreter = Interpreter(SYSTEM)
                state = tuple(values[v.name] for v in SYSTEM.variables)
                assert interpreter.evaluate(folded, state) == by_hand(tree, values)
                for node in nodes:
                    assert node.lo <= interpreter.evaluate(node, state) <= node.hi


@settings(max_examples=examples(300))
@given(trees(), valuations())
def test_constants_fold_to_constants(pair: tuple[Tree, Tree], values: dict[str, int]) -> None:
    with fresh_graph():
        leaves = {name: const(VARIABLES[name].sort, code) for name, code in values.items()}
        for tree in pair:
            folded = built(tree, leaves)
            assert folded.is_const
            assert folded.value == folded.lo == folded.hi == by_hand(tree, values)


@settings(max_examples=examples(300))
@given(trees(), valuations())
def test_substituting_constants_evaluates(pair: tuple[Tree, Tree], values: dict[str, int]) -> None:
    with fresh_graph():
        roots = [built(tree, symbols()) for tree in pair]
    with fresh_graph():
        new = substitute(
            roots,
            lambda e: const(e.sort, e.value if e.is_const else values[e.value.name]),
        )
        assert [new[root].value for root in roots] == [by_hand(tree, values) for tree in pair]


@settings(max_examples=examples(300))
@given(trees())
def test_the_same_expression_is_the_same_node(pair: tuple[Tree, Tree]) -> None:
    with fresh_graph():
        first = [built(tree, symbols()) for tree in pair]
        assert all(a is b for a, b in zip(first, [built(tree, symbols()) for tree in pair], strict=True))
        again = substitute(first, lambda e: const(e.sort, e.value) if e.is_const else variable(e.value))
        assert all(again[root] is root for root in first)


def test_known_values_become_constants() -> None:
    with fresh_graph():
        x, y = variable(VARIABLES["x"]), variable(VARIABLES["y"])
        flag = less(x, y)
        root = select(flag, x + y, y)
        ranges = {flag: (1, 1), x: (0, 1)}
        new = substitute([root], lambda e: e, lambda e: ranges.get(e, (e.lo, e.hi)))
    assert new[flag].is_const
    assert repr(new[root]) == "add(x, y)"


def test_ranges_of_arithmetic() -> None:
    with fresh_graph():
        x, y = variable(VARIABLES["x"]), variable(VARIABLES["y"])  # -3..4, 0..2
        assert [(e.lo, e.hi) for e in (x + y, x - y, x * y, x // 2, 3 - x, 2 * y)] == [
            (-3, 6),
            (-5, 4),
            (-6, 8),
            (-2, 2),
            (-1, 6),
            (0, 4),
        ]
        assert (clamp(x, 0, 2).lo, clamp(x, 0, 2).hi) == (0, 2)
        assert [(e.lo, e.hi) for e in (x % 3, (y + 1) % 3, -x)] == [(0, 2), (0, 2), (-4, 3)]
        assert clamp(y, -1, 5) is y


def test_helpers_of_nothing_and_of_one() -> None:
    with fresh_graph():
        assert all_of(()).value == 1
        assert any_of(()).value == 0
        assert total(()).value == 0
        p = variable(VARIABLES["p"])
        assert all_of([p, True]) is p
        assert any_of([p, ~p]).value == 1
        assert all_of([p, ~p]).value == 0
        assert negate(~p) is p
        assert variables_of([p & True]) == {VARIABLES["p"]}


def test_what_the_others_say_is_left_out_of_a_junction() -> None:
    """Absorption, and unit propagation: a step that leaves alone what a monitor compares leaves it nothing to do."""
    with fresh_graph():
        p, q, r = (less(variable(VARIABLES["x"]), n) for n in (0, 1, 2))
        assert all_of(p, q, ~all_of(p, q)).value == 0
        assert any_of(p, q, ~any_of(p, q)).value == 1
        assert all_of(p, any_of(p, q)) is p
        assert any_of(~p, all_of(~p, q)) is ~p
        assert all_of(p, any_of(~p, q)) is all_of(p, q)
        assert any_of(p, all_of(~p, q)) is any_of(p, q)
        assert all_of(p, ~all_of(p, q, r)) is all_of(p, ~all_of(q, r))
        assert all_of(~p, ~all_of(p, q)) is ~p
        assert any_of(p, ~any_of(p, q)) is any_of(p, ~q)
        # What is left of one member may say something of another.
        assert all_of(p, any_of(~p, q), any_of(~q, r)) is all_of(p, q, r)
        assert all_of(p, any_of(~p, q), any_of(~q, ~p)).value == 0


def test_a_chain_of_implications_folds_to_its_members_unless_it_is_long() -> None:
    held = [Variable(f"c{i}", BOOL, 0, 1, 0) for i in range(3000)]
    with fresh_graph():
        on = [variable(v) for v in held]
        assert all_of(on[0], *(implies(a, b) for a, b in pairwise(on[:64]))) is all_of(on[:64])
        long = all_of(on[0], *(implies(a, b) for a, b in pairwise(on)))
        assert (long.op, len(long.args)) == ("and", 3000)


def junctions() -> st.SearchStrategy[Any]:
    """Trees of `and`, `or` and `not` over four conditions; those of two and more members one by one, and of any depth."""
    more = st.integers(0, 3) | st.booleans()
    return st.recursive(
        more,
        lambda below: (
            st.tuples(st.just("not"), below)
            | st.tuples(st.sampled_from(("and", "or")), below, below)
            | st.tuples(st.sampled_from(("and", "or")), below, below, below, below)
        ),
        max_leaves=24,
    )


@settings(max_examples=examples(500))
@given(junctions())
def test_junctions_mean_what_they_say_and_fold_once_and_for_all(tree: Any) -> None:
    def made(tree: Any) -> Expr:
        if not isinstance(tree, tuple):
            return as_expr(tree) if isinstance(tree, bool) else conditions[tree]
        op, *args = tree
        got = [made(arg) for arg in args]
        return ~got[0] if op == "not" else (all_of if op == "and" else any_of)(got)

    def meaning(tree: Any, values: tuple[bool, ...]) -> bool:
        if not isinstance(tree, tuple):
            return tree if isinstance(tree, bool) else values[tree]
        op, *args = tree
        got = [meaning(arg, values) for arg in args]
        return not got[0] if op == "not" else (all if op == "and" else any)(got)

    held = tuple(Variable(f"b{i}", BOOL, 0, 1, 0) for i in range(4))
    with fresh_graph():
        conditions = [variable(v) for v in held]
        folded = made(tree)
        again = substitute([folded], lambda e: const(e.sort, e.value) if e.is_const else variable(e.value))
        assert again[folded] is folded
        interpreter = Interpreter(TransitionSystem("four conditions", Universe({}), held, ()))
        for values in product((False, True), repeat=4):
            assert interpreter.evaluate(folded, tuple(map(int, values))) == meaning(tree, values)


def test_helpers_take_a_list_or_one_by_one() -> None:
    with fresh_graph():
        p, q, x, y = (variable(VARIABLES[name]) for name in ("p", "q", "x", "y"))
        assert all_of(p, q) is all_of([p, q])
        assert any_of(p, q, ~p) is any_of(iter([p, q, ~p]))
        assert all_of(p) is any_of(p) is p
        assert total(x, y, 1) is total([x, y, 1])
        assert total(x) is x
        assert count(p, q) is count(item for item in (p, q))
        assert count(True).value == 1
        assert smallest(x, y, 2) is smallest([x, y, 2])
        assert smallest(x, y, 2) is smallest(smallest(x, y), 2)
        assert largest(3, 1, 2).value == 3
        assert smallest([x]) is x
        for helper in (smallest, largest):
            with pytest.raises(ModelError, match=f"`{helper.__name__}` of nothing has no value: give it one"):
                helper([])


def test_how_values_become_codes() -> None:
    with fresh_graph():
        assert as_expr(Light.GREEN).value == 1
        assert as_expr(Pod(1, "p")).value == 2
        assert as_expr(None, sort_of_ref(Pod)).value == 0
        assert as_expr(True).sort is BOOL
        assert as_expr(1).sort is INT
        light = variable(Variable("light", sort_of_enum(Light), 0, 1, 0))
        pod = variable(Variable("pod", sort_of_ref(Pod), 0, 2, 0))
        assert [repr(e) for e in (light == Light.GREEN, pod == Pod(0, "a"), pod.is_none, pod.is_some)] == [
            "eq(light, GREEN)",
            "eq(pod, Pod#0)",
            "eq(pod, none)",
            "not(eq(pod, none))",
        ]
        assert repr(parameter(Parameter("size", 1, 3))) == "size"
        assert parameter(Parameter("size", 3, 3)).value == 3
        assert repr(as_expr(False)) == "false"


def test_an_optional_reference_beside_none() -> None:
    with fresh_graph():
        pod = variable(Variable("pod", sort_of_ref(Pod), 0, 2, 0))
        flag = variable(VARIABLES["p"])
        assert repr(select(flag, pod, None)) == "ite(p, pod, none)"
        assert repr(select(flag, None, pod)) == "ite(p, none, pod)"
        assert (None == pod) is (pod == None)


NO_TRUTH = "a symbolic value has no truth value while the model is traced: use `with when"


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda x, p, pod: bool(x), NO_TRUTH),
        (lambda x, p, pod: p and True, NO_TRUTH),
        (lambda x, p, pod: not p, NO_TRUTH),
        (lambda x, p, pod: 1 if x == 2 else 0, NO_TRUTH),
        (lambda x, p, pod: x in [1, 2], NO_TRUTH),
        (lambda x, p, pod: 0 < x < 3, NO_TRUTH),
        (lambda x, p, pod: list(x), "a symbolic value cannot be iterated or searched with `in`"),
        (lambda x, p, pod: 1 in x, "a symbolic value cannot be iterated or searched with `in`"),
        (lambda x, p, pod: x / 2, "there are no fractions: divide with `//`, which rounds down"),
        (lambda x, p, pod: x == p, "expected a value of sort int, got one of sort bool"),
        (lambda x, p, pod: x + pod, "expected a value of sort int, got one of sort ref Pod"),
        (lambda x, p, pod: x & p, "expected a value of sort bool, got one of sort int"),
        (lambda x, p, pod: x == None, "`None` is not a value of the modelling language"),
        (lambda x, p, pod: x == "3", "`'3'` is not a value of the modelling language"),
        (lambda x, p, pod: pod == Node(0, "n"), "expected a value of sort ref Pod, got one of sort ref Node"),
        (lambda x, p, pod: pod == Light.RED, "expected a value of sort ref Pod, got one of sort Light"),
        (lambda x, p, pod: select(x, 1, 2), "expected a value of sort bool, got one of sort int"),
        (lambda x, p, pod: select(p, 1, p), "expected a value of sort int, got one of sort bool"),
        (lambda x, p, pod: x // x, "division by a value that can be -3: the divisor must be positive"),
        (lambda x, p, pod: x // 0, "division by a value that can be 0: the divisor must be positive"),
        (lambda x, p, pod: x.is_none, "`is_none` is for references; this is a value of sort int"),
        (lambda x, p, pod: x + 1.5, "`1.5` is not a value of the modelling language"),
        (lambda x, p, pod: divide(p, 2), "expected a value of sort int, got one of sort bool"),
        (lambda x, p, pod: equal(None, None), "`None` is not a value of the modelling language"),
    ],
)
def test_mistakes_name_the_line(mistake: Any, message: str) -> None:
    with fresh_graph():
        x, p = variable(VARIABLES["x"]), variable(VARIABLES["p"])
        pod = variable(Variable("pod", sort_of_ref(Pod), 0, 2, 0))
        with pytest.raises(ModelError) as caught:
            mistake(x, p, pod)
    assert caught.value.message.startswith(message)
    assert caught.value.location == (__file__, mistake.__code__.co_firstlineno)
    assert str(caught.value).startswith(f"{__file__}:{mistake.__code__.co_firstlineno}: ")
