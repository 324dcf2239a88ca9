"""Declared state: tables, references, records and queues, against plain Python and against misuse."""

from __future__ import annotations

from enum import Enum, Flag, IntEnum
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podrace.model.language import (
    Component,
    Concrete,
    Entity,
    Model,
    ModelError,
    NotEnabled,
    Record,
    Universe,
    boolean,
    build,
    enum,
    fifo,
    integer,
    per,
    record,
    ref,
    require,
    step,
    trace_system,
    when,
)
from podrace.model.language.declarations.shapes import as_shape
from podrace.model.language.declarations.tracer import StepTrace, tracing
from podrace.model.language.expressions.expr import fresh_graph


class Pod(Entity):
    pass


class Node(Entity):
    pass


class Phase(Enum):
    NEW = 0
    OLD = 1


PODS = (Pod(0, "p"), Pod(1, "q"))
NODES = (Node(0, "n"), Node(1, "m"))


class Inner(Record):
    deep = boolean()


class Entry(Record):
    pod = ref(Pod)
    weight = integer(0, 3)
    inner = record(Inner)

    @property
    def heavy(self) -> Any:
        return self.weight >= 2


class Store(Component):
    number = integer(0, 5)
    below = integer(-9, -4)
    flag = boolean(initial=True)
    phase = enum(Phase, Phase.OLD)
    node = per(Pod, ref(Node))
    mark = per(Node, per(Phase, integer(0, 3)))
    entry = record(Entry)
    entries = per(Pod, Entry)
    queue = fifo(3, integer(0, 9))
    queues = per(Pod, fifo(2, Entry))
    ready = fifo(2, boolean(initial=True))


class Shop(Model):
    store: Store


UNIVERSE = Universe({Pod: PODS, Node: NODES})


def shop() -> tuple[Concrete, Any]:
    run = Concrete(build(Shop, UNIVERSE))
    return run, run.part("store")


@pytest.fixture(name="symbolic")
def _symbolic() -> Any:
    """The store in the middle of a step, with a symbolic state."""
    model = build(Shop, UNIVERSE)
    with fresh_graph(), tracing(StepTrace()):
        yield model.parts["store"]


def push(store: Any, value: int) -> None:
    store.queue.push(value)


def drop(store: Any, number: int) -> None:
    # The number need not be a constant of Python.
    store.queue.drop(store.number * 0 + number)


def test_initial_values() -> None:
    run, store = shop()
    assert run.get(lambda: (store.number, store.below, store.flag, store.phase, store.node[PODS[0]])) == (
        0,
        -4,
        True,
        Phase.OLD,
        None,
    )
    names = [v.name for v in trace_system(run.model).variables]
    assert names[:6] == [
        "store.number",
        "store.below",
        "store.flag",
        "store.phase",
        "store.node[p]",
        "store.node[q]",
    ]
    assert "store.mark[m][OLD]" in names
    assert "store.entries[q].inner.deep" in names
    assert "store.queues[p][1].weight" in names
    assert "store.queues[p].length" in names


def test_tables_of_tables() -> None:
    run, store = shop()

    def write() -> None:
        store.mark[NODES[1]][Phase.OLD] = 2
        store.node[PODS[0]] = NODES[1]
        # A symbolic key: the node of p is m.
        store.mark[store.node[PODS[0]]][store.phase] = 3

    run.do(write)
    marks = run.get(lambda: {(n.name, ph.name): store.mark[n][ph] for n in NODES for ph in Phase})
    assert marks == {("n", "NEW"): 0, ("n", "OLD"): 0, ("m", "NEW"): 0, ("m", "OLD"): 3}
    # A key that is none: reading gives zero, writing does nothing.
    assert run.get(lambda: store.mark[store.node[PODS[1]]][Phase.OLD]) == 0
    run.do(lambda: store.mark.__setitem__(store.node[PODS[1]], store.mark[NODES[1]]))
    assert run.get(lambda: store.mark[NODES[0]][Phase.OLD]) == 0
    # A whole row.
    run.do(lambda: store.mark.__setitem__(NODES[0], store.mark[NODES[1]]))
    assert run.get(lambda: store.mark[NODES[0]][Phase.OLD]) == 3


def test_reading_after_writing_sees_the_new_value() -> None:
    run, store = shop()

    def write() -> None:
        store.number = 2
        store.number = store.number + 1

    run.do(write)
    assert run.get(lambda: store.number) == 3


@given(
    st.lists(st.one_of(st.integers(0, 9), st.just("pop"), st.tuples(st.just("drop"), st.integers(0, 4)))),
)
def test_a_queue_is_a_bounded_list(operations: list[Any]) -> None:
    run, store = shop()
    model: list[int] = []
    for operation in operations:
        if operation == "pop":
            run.do(lambda: store.queue.pop())
            model = model[1:]
        elif isinstance(operation, tuple):
            number = operation[1]
            run.do(partial(drop, store, number))
            model = model[number:]
        elif len(model) == 3:
            with pytest.raises(NotEnabled):
                run.do(partial(push, store, operation))
        else:
            run.do(partial(push, store, operation))
            model.append(operation)
        seen = run.get(lambda: [store.queue.entry(i) for i in range(3)])
        assert seen == [*model, 0, 0, 0][:3]  # free slots are zero, so that equal queues are equal states
        assert run.get(lambda: store.queue.length) == len(model)
        assert run.get(lambda: store.queue.is_empty) == (model == [])
        assert run.get(lambda: store.queue.is_full) == (len(model) == 3)
        assert run.get(lambda: store.queue.head) == (model or [0])[0]


def test_a_queue_behind_a_symbolic_key() -> None:
    run, store = shop()
    for pod, weight in ((PODS[0], 1), (PODS[1], 2), (PODS[0], 3)):

        def push(pod: Pod = pod, weight: int = weight) -> None:
            store.entry.pod = pod
            store.queues[store.entry.pod].push(Entry(pod=pod, weight=weight))

        run.do(push)
    assert run.get(lambda: [store.queues[p].length for p in PODS]) == [2, 1]
    assert run.get(lambda: [store.queues[PODS[0]].entry(i).weight for i in (0, 1)]) == [1, 3]
    assert run.get(lambda: store.queues[store.entry.pod].head.weight) == 1
    run.do(lambda: store.queues[store.entry.pod].pop())
    assert run.get(lambda: [store.queues[p].head.weight for p in PODS]) == [3, 2]


def test_free_slots_are_zero_whatever_the_initial_value() -> None:
    run, store = shop()
    assert run.get(lambda: [store.ready.entry(i) for i in (0, 1)]) == [False, False]


def test_a_full_queue_is_a_limit_with_its_name() -> None:
    class Pusher(Store):
        @step(actor="a")
        def push(self) -> None:
            self.queue.push(7)

    system = trace_system(build(Shop, UNIVERSE, [Pusher]))
    assert system.constraints == ("store.queue holds at most 3",)
    assert system.transitions[0].guard.is_const


def test_records_are_values() -> None:
    run, store = shop()

    def write() -> None:
        taken = store.entry
        store.entry.weight = 2
        store.entries[PODS[0]] = taken  # as it was when it was read
        store.entries[PODS[1]] = Entry(pod=PODS[1], weight=1, inner=Inner(deep=True))

    run.do(write)
    plain = {"pod": None, "weight": 0, "inner": {"deep": False}}
    assert run.get(lambda: store.entry) == {**plain, "weight": 2}
    assert run.get(lambda: store.entries[PODS[0]]) == plain
    assert run.get(lambda: store.entries[PODS[1]]) == {"pod": PODS[1], "weight": 1, "inner": {"deep": True}}
    assert run.get(lambda: store.entry.heavy)
    run.do(lambda: setattr(store, "entry", None))
    assert run.get(lambda: store.entry) == plain


def test_assigning_to_a_field_writes_through() -> None:
    run, store = shop()

    def write() -> None:
        taken = store.entries[PODS[1]]
        taken.weight = 3
        taken.inner.deep = True

    run.do(write)
    assert run.get(lambda: store.entries[PODS[1]].weight) == 3
    assert run.get(lambda: store.entries[PODS[1]].inner.deep)
    assert run.get(lambda: store.entries[PODS[0]].weight) == 0


@pytest.mark.parametrize("flag", [False, True])
@pytest.mark.parametrize("behind", [False, True])
def test_a_field_assigned_under_when_keeps_its_value_elsewhere(flag: bool, behind: bool) -> None:
    class Writer(Store):
        @step(actor="a")
        def write(self) -> None:
            entry = self.entry if behind else Entry(pod=PODS[0], inner=Inner())
            with when(self.flag):
                entry.weight = 2
                entry.pod = PODS[1]
                entry.inner = Inner(deep=True)
            self.number = entry.weight
            self.entries[PODS[0]] = entry

    model = build(Shop, UNIVERSE, [Writer])
    run = Concrete(model)
    store: Any = run.part("store")
    run.do(lambda: setattr(store, "flag", flag))
    # Traced with a symbolic flag, then executed.
    from podrace.checker.core.interpreter import Interpreter

    system = trace_system(model)
    codes = {v.name: v.initial for v in system.variables}
    codes["store.flag"] = int(flag)
    state = Interpreter(system).successor(tuple(codes.values()), 0)
    after = system.describe(state)
    assert after["store.number"] == (2 if flag else 0)
    assert after["store.entries[p].weight"] == (2 if flag else 0)
    assert after["store.entries[p].inner.deep"] == flag
    assert after["store.entries[p].pod"] is (PODS[1] if flag else None if behind else PODS[0])
    run.do(store.write)
    assert run.get(lambda: store.number) == after["store.number"]


def test_a_call_ends_at_the_first_requirement_that_does_not_hold() -> None:
    run, store = shop()
    reached = []

    def call() -> None:
        store.number = 3
        require(store.flag)
        reached.append("behind the first")
        require(store.number == 5)
        reached.append("behind the second")

    with pytest.raises(NotEnabled):
        run.do(call)
    assert reached == ["behind the first"]
    assert run.get(lambda: store.number) == 0


def test_replace_choose_and_same_as() -> None:
    run, store = shop()
    one = {"pod": None, "weight": 1, "inner": {"deep": True}}
    assert run.get(lambda: store.entry.replace(weight=1, inner=Inner(deep=True))) == one
    for condition in (True, False):

        def pick(condition: bool = condition) -> Any:
            with_deep = Entry(weight=2, inner=Inner(deep=True))
            return Record.choose(condition, with_deep, store.entry)

        assert run.get(pick)["weight"] == (2 if condition else 0)
        assert run.get(pick)["inner"] == {"deep": condition}
    assert run.get(lambda: store.entry.same_as(store.entries[PODS[0]]))
    assert not run.get(lambda: store.entry.same_as(Entry(inner=Inner(deep=True))))
    assert not run.get(lambda: store.entry.same_as(Entry(weight=1, inner=Inner())))


class Board(Record):
    table = per(Pod, boolean())
    low = integer(-5, -2)


def test_zero_of_a_range_without_zero() -> None:
    class Tables(Component):
        low = fifo(1, integer(-5, -2))

    class Hall(Model):
        tables: Tables

    Hall.__annotations__["tables"] = Tables
    run = Concrete(build(Hall, UNIVERSE))
    tables: Any = run.part("tables")
    assert run.get(lambda: tables.low.head) == -2
    with fresh_graph():
        assert Board().low.value == -2


MISTAKES: list[tuple[Any, str]] = [
    (lambda s: s.node[NODES[0]], r"this table is per Pod; it cannot be indexed with `n` \(Node\)"),
    (lambda s: s.node[0], r"this table is per Pod; it cannot be indexed with `0` \(int\)"),
    (lambda s: s.node[s.node[PODS[0]]], "this table is per Pod; it cannot be indexed with a ref Node"),
    (lambda s: s.mark[NODES[0]][PODS[0]], r"this table is per Phase; it cannot be indexed with `p` \(Pod\)"),
    (lambda s: s.node[Pod(7, "z")], "`z` is not one of this model's Pod entities"),
    (lambda s: list(s.node), "loop over the Pod entities, not over the table"),
    (lambda s: s.node == s.node, "compare tables entry by entry"),
    (lambda s: setattr(s, "node", None), "only a whole table per Pod can be assigned to this table"),
    (lambda s: setattr(s, "node", s.mark), "only a whole table per Pod can be assigned to this table"),
    (
        lambda s: setattr(s, "number", 6),
        "`store.number` holds 0..5, but the assigned value can be 6..6: widen",
    ),
    (
        lambda s: setattr(s, "number", s.number + 1),
        "`store.number` holds 0..5, but the .* can be 1..6: widen",
    ),
    (lambda s: setattr(s, "number", True), "expected a value of sort int, got one of sort bool"),
    (lambda s: setattr(s, "number", None), "`None` is not a value of the modelling language"),
    (
        lambda s: s.node.__setitem__(PODS[0], PODS[1]),
        "expected a value of sort ref Node, got one of sort ref Pod",
    ),
    (lambda s: setattr(s, "nmber", 1), "`nmber` is not declared state of Store"),
    (
        lambda s: s.nmber,
        "Store has no `nmber`; did you mean `number`\\? Its state: below, entries, entry, flag, mark, node, number, phase",
    ),
    (lambda s: Entry(wieght=1), "Entry has no field `wieght`; its fields: pod, weight, inner"),
    (lambda s: s.entry.replace(wieght=1), "Entry has no field `wieght`; its fields: pod, weight, inner"),
    (lambda s: setattr(s.entry, "wieght", 1), "Entry has no field `wieght`; its fields: pod, weight, inner"),
    (
        lambda s: setattr(s.entry, "weight", 4),
        r"`store.entry.weight` holds 0..3, but the assigned value can be 4..4",
    ),
    (lambda s: s.entry == s.entry, "compare records with `same_as`, or field by field"),
    (lambda s: s.entry != Entry(), "compare records with `same_as`, or field by field"),
    (lambda s: bool(s.entry), "a Entry has no truth value: use one of its fields"),
    (lambda s: setattr(s, "entry", 3), "expected a Entry, got `3`"),
    (lambda s: setattr(s, "entry", Inner()), "expected a Entry, got"),
    (lambda s: Board().table, "field `table` of Board was not given a value"),
    (
        lambda s: Board(table=s.node).same_as(Board(table=s.node)),
        "field `table` of Board cannot be compared as a",
    ),
    (lambda s: setattr(s, "queue", s.queue), "a queue is changed with push and pop, not by assignment"),
    (lambda s: bool(s.queue), "a queue has no truth value: use `is_empty` or `length`"),
    (lambda s: len(s.queue), "a queue has no fixed length: use `length`, or `capacity`"),
    (lambda s: s.queue == s.queue, "compare queues entry by entry"),
    (lambda s: s.queue.push(10), r"`store.queue\[0\]` holds 0..9, but the assigned value can be 10..10"),
]


@pytest.mark.parametrize(("mistake", "message"), MISTAKES, ids=range(len(MISTAKES)))
def test_misuse_is_refused_where_it_happens(symbolic: Any, mistake: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        mistake(symbolic)
    assert caught.value.location[0] == __file__


def test_state_is_read_only_while_it_is_traced() -> None:
    model = build(Shop, UNIVERSE)
    store: Any = model.parts["store"]
    outside = "the state of a model can be read and written only while it is traced"
    with pytest.raises(ModelError, match=outside):
        _ = store.number
    with pytest.raises(ModelError, match=outside):
        store.number = 1


class Numbers(IntEnum):
    A = 0


class Sets(Flag):
    A = 1


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda: integer(3, 2), "an integer cannot range over 3..2"),
        (lambda: integer(0, lambda scope: -1).allocate("a.b", UNIVERSE), "`a.b` cannot range over 0..-1"),
        (lambda: integer(0, 3, 4), r"an integer in 0\.\.3 cannot start at 4"),
        (
            lambda: integer(0, lambda scope: 3, 4).allocate("a.b", UNIVERSE),
            r"`a\.b` starts outside its range 0\.\.3",
        ),
        (
            lambda: enum(Phase, None) and per(int, boolean()),
            "`per` needs a kind of entity, an enum or a range, not",
        ),
        (lambda: fifo(0, boolean()).allocate("a.q", UNIVERSE), "`a.q` needs a capacity of at least 1, not 0"),
        (lambda: per(Pod, 3), r"`3` does not describe state: use boolean\(\), integer\(\)"),
        (lambda: as_shape(Pod), "does not describe state"),
        (lambda: ref(Entity).allocate("a.r", UNIVERSE), "this model has no entities of kind Entity"),
        (
            lambda: enum(Numbers),
            "the members of `Numbers` are numbers, or sets, to Python: derive it from Enum alone",
        ),
        (
            lambda: enum(Sets),
            "the members of `Sets` are numbers, or sets, to Python: derive it from Enum alone",
        ),
    ],
)
def test_bad_shapes(mistake: Any, message: str) -> None:
    with fresh_graph(), pytest.raises(ModelError, match=message):
        mistake()


def test_bounds_from_the_scope() -> None:
    class Scaled(Component):
        number = integer(0, lambda scope: scope["most"])
        queue = fifo(lambda scope: scope["room"], boolean())

    class Hall(Model):
        scaled: Scaled

    Hall.__annotations__["scaled"] = Scaled
    model = build(Hall, Universe({}, scope={"most": 3, "room": 2}))
    assert [(v.name, v.hi) for v in trace_system(model).variables] == [
        ("scaled.number", 3),
        ("scaled.queue.length", 2),
        ("scaled.queue[0]", 1),
        ("scaled.queue[1]", 1),
    ]
    assert model.parts["scaled"].scope == {"most": 3, "room": 2}


def test_universes() -> None:
    with pytest.raises(ModelError, match="the Pod entities must be numbered from 0 in order"):
        Universe({Pod: [Pod(1, "p")]})
    with pytest.raises(ModelError, match="two Pod entities have the same name"):
        Universe({Pod: [Pod(0, "p"), Pod(1, "p")]})
    with pytest.raises(ModelError, match="this model has no entities of kind Node"):
        _ = Universe({Pod: PODS})[Node]
    assert list(UNIVERSE.kinds()) == [Pod, Node]
