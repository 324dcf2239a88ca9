"""Steps: guards, branches, constraints, observers; and how models are put together from changed components."""

from __future__ import annotations

from enum import Enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podrace.checker.core.interpreter import Interpreter
from podrace.model.language import (
    Component,
    Concrete,
    Entity,
    Model,
    ModelError,
    Transition,
    TransitionSystem,
    Universe,
    as_expr,
    before,
    boolean,
    build,
    clamp,
    constraint,
    integer,
    otherwise,
    per,
    ref,
    require,
    step,
    trace_system,
    when,
)
from podrace.model.language.expressions.errors import caller_location
from podrace.model.language.systems.system import actors


class Pod(Entity):
    pass


class Colour(Enum):
    RED = 0
    BLUE = 1


PODS = (Pod(0, "p"), Pod(1, "q"))
UNIVERSE = Universe({Pod: PODS})


class Base(Component):
    a = boolean()
    b = boolean()
    x = integer(0, 9)
    y = integer(0, 9)
    at = ref(Pod)
    table = per(Pod, integer(0, 3))


class World(Model):
    base: Base


def trace(change: type[Component]) -> TransitionSystem:
    return trace_system(build(World, UNIVERSE, [change]))


def outcomes(change: type[Component]) -> dict[tuple[int, int], Any]:
    """For each a and b: x after the only step, "no" where it is not enabled."""
    system = trace(change)
    interpreter = Interpreter(system)
    names = [v.name for v in system.variables]
    result: dict[tuple[int, int], Any] = {}
    for a in (0, 1):
        for b in (0, 1):
            state = tuple(
                {"base.a": a, "base.b": b}.get(n, v.initial)
                for n, v in zip(names, system.variables, strict=True)
            )
            if interpreter.enabled(state) == [0]:
                result[a, b] = interpreter.successor(state, 0)[names.index("base.x")]
            else:
                result[a, b] = "no"
    return result


def test_when_and_otherwise() -> None:
    class Change(Base):
        @step(actor="t")
        def go(self) -> None:
            with when(self.a):
                self.x = 1
                with when(self.b):
                    self.x = self.x + 1
                with otherwise():
                    self.x = self.x + 2
            with otherwise(self.b):
                self.x = 4
            with otherwise():
                self.x = 5

    assert outcomes(Change) == {(0, 0): 5, (0, 1): 4, (1, 0): 3, (1, 1): 2}


def test_a_condition_is_taken_before_the_block() -> None:
    class Change(Base):
        @step(actor="t")
        def go(self) -> None:
            with when(self.a):
                self.a = False
                self.x = 1
            with otherwise():
                self.x = 2

    assert outcomes(Change) == {(0, 0): 2, (0, 1): 2, (1, 0): 1, (1, 1): 1}


def test_require_holds_on_its_path_only() -> None:
    class Change(Base):
        @step(actor="t")
        def go(self) -> None:
            with when(self.a):
                require(self.b)
                self.x = 1

    assert outcomes(Change) == {(0, 0): 0, (0, 1): 0, (1, 0): "no", (1, 1): 1}


def test_require_reads_what_was_written() -> None:
    class Change(Base):
        @step(actor="t")
        def go(self) -> None:
            self.a = self.b
            require(self.a)
            self.x = 3

    assert outcomes(Change) == {(0, 0): "no", (0, 1): 3, (1, 0): "no", (1, 1): 3}


def test_a_step_that_can_run_in_no_state_is_left_where_that_is_known() -> None:
    reached = []

    class Change(Base):
        @step(actor="t")
        def go(self, pod: Pod) -> None:
            with when(self.a):
                self.x = 1
                require(as_expr(True))
            require(pod.name == "q")
            with when(self.b):
                self.x = 2
            reached.append(pod.name)

        @step(actor="t")
        def never(self) -> None:
            with when(as_expr(True)):
                self.x = 3
                require(self.y > 9)
                reached.append("never")

    system = trace(Change)
    assert [t.label for t in system.transitions] == ["base.go(pod=q)"]
    assert reached == ["q"]
    assert {str(v): repr(e) for v, e in system.transitions[0].updates.items()} == {
        "base.x": "ite(base.b, 2, ite(base.a, 1, base.x))"
    }


def test_what_a_monitor_requires_leaves_the_step_there() -> None:
    class Watch(Component):
        seen = boolean()

        def observe(self) -> None:
            require(before(lambda: self.seen) & False)
            self.seen = True

    class Change(Base):
        @step(actor="t")
        def go(self) -> None:
            require(self.a)
            self.x = 1

    model = build(World, UNIVERSE, [Change])
    model.add("watch", Watch)
    (go,) = trace_system(model).transitions
    assert repr(go.guard) == "false"


def test_limits_are_kept_by_name() -> None:
    class Change(Base):
        @step(actor="t")
        def go(self) -> None:
            require(self.b)
            constraint("first", self.x < 2)
            with when(self.a):
                constraint("second", self.x < 1)
            constraint("first", self.y < 3)
            constraint("always", True)

    (transition,) = trace(Change).transitions
    assert [(name, repr(e)) for name, e in transition.constraints] == [
        ("first", "and(lt(base.x, 2), lt(base.y, 3))"),
        ("second", "or(lt(base.x, 1), not(base.a))"),
    ]
    assert repr(transition.guard) == "base.b"
    assert {v.name for v in transition.reads} == {"base.a", "base.b", "base.x", "base.y"}
    assert transition.writes == frozenset()


@given(
    st.lists(st.tuples(st.sampled_from("abAB"), st.integers(0, 9)), max_size=5), st.booleans(), st.booleans()
)
def test_branches_merge_like_ifs(program: list[tuple[str, int]], a: bool, b: bool) -> None:
    """Each entry: `if a / b / not a / not b` at that depth, then x = number; nested from left to right."""

    class Change(Base):
        @step(actor="t")
        def go(self) -> None:
            def block(rest: list[tuple[str, int]]) -> None:
                if rest:
                    (letter, number), *more = rest
                    flag = self.a if letter in "aA" else self.b
                    with when(flag if letter.islower() else ~flag):
                        self.x = number
                        block(more)
                    with otherwise():
                        self.y = number

            block(program)

    x = y = 0
    for letter, number in program:
        flag = a if letter in "aA" else b
        if flag != letter.islower():
            y = number
            break
        x = number
    system = trace(Change)
    names = [v.name for v in system.variables]
    state = tuple({"base.a": int(a), "base.b": int(b)}.get(n, 0) for n in names)
    after = dict(zip(names, Interpreter(system).successor(state, 0), strict=True))
    assert (after["base.x"], after["base.y"]) == (x, y)


def test_a_range_is_not_checked_on_a_path_that_cannot_be_taken() -> None:
    class Change(Base):
        @step(actor="t")
        def go(self) -> None:
            with when(self.a & ~self.a):
                self.x = 100
            self.y = 1

    assert outcomes(Change) == {(a, b): 0 for a in (0, 1) for b in (0, 1)}


def after_assignment(self: Any) -> None:
    with when(self.a):
        self.x = 1
    self.y = 1
    with otherwise():
        self.x = 2


def after_a_symbolic_key(self: Any) -> None:
    with when(self.a):
        self.x = 1
    self.table[self.at] = 1
    with otherwise():
        self.x = 2


def alone(self: Any) -> None:
    with otherwise():
        self.x = 2


def at_another_level(self: Any) -> None:
    with when(self.a), otherwise():
        self.x = 2


@pytest.mark.parametrize("body", [after_assignment, after_a_symbolic_key, alone, at_another_level])
def test_otherwise_belongs_to_a_when(body: Any) -> None:
    class Change(Base):
        @step(actor="t")
        def go(self) -> None:
            body(self)

    with pytest.raises(
        ModelError, match="`otherwise` must directly follow a `when` block at the same level"
    ) as caught:
        trace(Change)
    assert caught.value.location[0] == __file__


def test_a_step_exists_once_for_every_binding() -> None:
    class Change(Base):
        @step(actor="hand", fair=False)
        def go(self, pod: Pod, on: bool, colour: Colour) -> None:
            """Say what is done."""
            require(on)
            self.at = pod

        @step(actor="foot")
        def rest(self) -> None:
            self.at = None

    system = trace(Change)
    # A guard that is false whatever the state drops the binding.
    assert [t.label for t in system.transitions] == [
        f"base.go(pod={p}, on=True, colour={c})" for p in "pq" for c in ("RED", "BLUE")
    ] + ["base.rest()"]
    first, *_, last = system.transitions
    assert (first.actor, first.fair, first.doc, first.args[0][1]) == (
        "hand",
        False,
        "Say what is done.",
        PODS[0],
    )
    assert (last.actor, last.fair) == ("foot", True)
    assert first.location[0] == __file__
    assert actors(system.transitions) == ["hand", "foot"]


class Wrong(Base):
    @step(actor="t")
    def go(self, number: int) -> None:
        self.x = 1


class Bare(Base):
    @step(actor="t")
    def go(self, number) -> None:
        self.x = 1


@pytest.mark.parametrize("change", [Wrong, Bare])
def test_a_parameter_needs_a_finite_kind(change: type[Component]) -> None:
    with pytest.raises(
        ModelError,
        match="parameter `number` of step `go` needs a kind of entity, an Enum class, bool or numbers such as ",
    ) as caught:
        trace(change)
    assert caught.value.location[0] == __file__


class Twice(Base):
    def value(self) -> int:
        return 1

    @step(actor="t")
    def go(self) -> None:
        self.x = self.value()


class House(Model):
    base: Twice


class One(Twice):
    def value(self) -> int:
        return 10 * super().value() % 9 + 1  # 2 over the original


class Two(Twice):
    def value(self) -> int:
        return super().value() + 4


class Below(Two):
    def value(self) -> int:
        return super().value() + 2


class NotAPart(Component):
    pass


def x_after(*changes: type[Component]) -> Any:
    run = Concrete(build(House, UNIVERSE, changes))
    base: Any = run.part("base")
    run.do(base.go)
    return run.get(lambda: base.x)


def test_the_first_change_has_the_last_word() -> None:
    assert x_after() == 1
    assert x_after(One) == 2
    assert x_after(Two) == 5
    assert x_after(Two, One) == 2 + 4
    assert x_after(One, Two) == 50 % 9 + 1
    assert x_after(Two, One, Two) == 6
    # A subclass always precedes its own base.
    assert x_after(Two, Below) == x_after(Below, Two) == x_after(Below) == 7


def test_an_override_stays_a_step() -> None:
    class Quiet(Twice):
        def go(self) -> None:
            self.y = 1

    (transition,) = trace_system(build(House, UNIVERSE, [Quiet])).transitions
    assert (transition.step, transition.actor) == ("go", "t")
    assert [v.name for v in transition.writes] == ["base.y"]


def test_changes_must_fit() -> None:
    with pytest.raises(
        ModelError, match="NotAPart changes no component of House: derive it from one of Twice"
    ):
        build(House, UNIVERSE, [NotAPart])


def test_parts_have_one_name() -> None:
    model = build(House, UNIVERSE)
    with pytest.raises(ModelError, match="the model already has a part `base`"):
        model.add("base", NotAPart)


class Monitor(Component):
    base: Twice
    rises = integer(0, 9)

    def observe(self) -> None:
        with when(self.base.x > before(lambda: self.base.x)):
            self.rises = clamp(self.rises + 1, 0, 9)


class Setup(Twice):
    def setup(self) -> None:
        self.x = 3
        self.y = self.x + 1


def test_observers_see_both_ends_of_a_step() -> None:
    model = build(House, UNIVERSE)
    model.add("monitor", Monitor)
    system = trace_system(model)
    interpreter = Interpreter(system)
    once = interpreter.successor(system.initial, 0)
    twice = interpreter.successor(once, 0)
    assert system.describe(once)["monitor.rises"] == 1
    assert system.describe(twice)["monitor.rises"] == 1
    assert system.describe(once)["base.at"] is None


def test_observers_run_where_something_changes_that_they_look_at() -> None:
    class Memory(Component):
        base: Twice
        last = integer(0, 9)
        steps = integer(0, 9)

        def observe(self) -> None:
            self.last = before(lambda: self.base.x)
            self.steps = clamp(self.steps + 1, 0, 9)

    class Two(Twice):
        @step(actor="t")
        def other(self) -> None:
            self.y = 1

    Memory.__annotations__["base"] = Twice
    model = build(House, UNIVERSE, [Two])
    model.add("memory", Memory)
    go, other = trace_system(model).transitions
    # A look at the state before the step is a look.
    assert {v.name for v in go.writes} == {"base.x", "memory.last", "memory.steps"}
    assert {v.name for v in other.writes} == {"base.y"}


def test_observers_are_not_asked_again_where_they_would_see_the_same() -> None:
    asked: list[str] = []

    class Witness(Component):
        base: Twice
        last = integer(0, 9)

        def observe(self) -> None:
            asked.append("")
            self.last = self.base.x

    class Three(Twice):
        @step(actor="t")
        def one(self) -> None:
            self.y = 1

        @step(actor="t")
        def two(self) -> None:
            self.y = 2

        @step(actor="t")
        def three(self) -> None:
            self.x = 3

    Witness.__annotations__["base"] = Twice
    model = build(House, UNIVERSE, [Three])
    model.add("witness", Witness)
    system = trace_system(model)
    writes = {t.step: {v.name for v in t.writes} for t in system.transitions}
    assert writes["one"] == writes["two"] == {"base.y"}
    assert writes["three"] == {"base.x", "witness.last"}
    # Once for each step that it sees (`go` and `three`), and once for the first that it does not.
    assert len(asked) == 3


def test_setup_gives_initial_values() -> None:
    system = trace_system(build(House, UNIVERSE, [Setup]))
    described = system.describe(system.initial)
    assert (described["base.x"], described["base.y"]) == (3, 4)


def test_predicates_and_views() -> None:
    model = build(House, UNIVERSE)
    base: Any = model.parts["base"]
    system = trace_system(
        model,
        "named",
        invariants={"small": lambda: base.x < 5},
        witnesses={"one": lambda: base.x == 1},
        resettabilities={"always": lambda: True},
        views={"where": lambda: base.at},
    )
    assert system.name == "named"
    assert repr(system.invariants["small"]) == "lt(base.x, 5)"
    assert repr(system.witnesses["one"]) == "eq(base.x, 1)"
    assert repr(system.resettabilities["always"]) == "true"
    assert repr(system.views["where"]) == "base.at"
    assert system.bits == 1 + 1 + 4 + 4 + 2 + 2 + 2
    with pytest.raises(ModelError, match="expected a value of sort bool, got one of sort int"):
        trace_system(model, invariants={"x": lambda: base.x})


def test_tracing_twice_gives_the_same_system() -> None:
    def seen(transition: Transition) -> list[Any]:
        return [
            repr(transition.guard),
            transition.guard.index,
            [repr(e) for e in transition.updates.values()],
        ]

    first, second = (trace_system(build(House, UNIVERSE, [One])) for _ in range(2))
    assert [seen(t) for t in first.transitions] == [seen(t) for t in second.transitions]


def test_locations_are_outside_the_language() -> None:
    assert caller_location()[0] == __file__
