"""Small systems whose numbers can be worked out by hand."""

from __future__ import annotations

from enum import Enum
from itertools import combinations
from typing import Any

from podrace.model.language import (
    Component,
    Entity,
    Expr,
    Model,
    Transition,
    TransitionSystem,
    Universe,
    Variable,
    all_of,
    any_of,
    as_expr,
    boolean,
    build,
    clamp,
    constraint,
    enum,
    integer,
    negate,
    per,
    ref,
    require,
    step,
    trace_system,
)
from podrace.model.language.expressions.expr import equal, fresh_graph, variable
from podrace.model.language.expressions.sorts import INT


class Worker(Entity):
    """Whoever counts, or enters a room."""


def workers(count: int) -> Universe:
    return Universe({Worker: [Worker(i, f"w{i}") for i in range(count)]})


class Counting(Component):
    """Each worker counts to 2. Nobody looks at `noise`, and `on` never changes."""

    n = per(Worker, integer(0, 2))
    noise = integer(0, 9)
    on = boolean()

    @step(actor="counter")
    def increase(self, worker: Worker) -> None:
        """Count one up."""
        require(self.n[worker] < 2)
        self.n[worker] = clamp(self.n[worker] + 1, 0, 2)
        self.noise = clamp(self.noise + 1, 0, 9)

    @step(actor="ghost")
    def haunt(self) -> None:
        """Can never happen."""
        require(self.on)
        self.noise = 0


class Counters(Model):
    counting: Counting


def counters(count: int = 2, /, **predicates: list[str]) -> TransitionSystem:
    """A grid of 3 states a side. Each kind of predicate names some of those below."""
    model = build(Counters, workers(count))
    counting: Any = model.parts["counting"]

    def done() -> list[Expr]:
        return [counting.n[w] == 2 for w in model.entities[Worker]]

    known: dict[str, Any] = {
        "all_done": lambda: all_of(done()),
        "not_all_done": lambda: negate(all_of(done())),
        "some_done": lambda: any_of(done()),
        "none_done": lambda: negate(any_of(done())),
        "first_done": lambda: done()[0],
        "quiet": lambda: counting.noise < 9,
        "always": lambda: True,
        "never": lambda: False,
    }
    tables: dict[str, Any] = {
        kind: {name: known[name] for name in names} for kind, names in predicates.items()
    }
    return trace_system(model, "counters", **tables)


class Place(Enum):
    OUT = 0
    WAITING = 1
    IN = 2


class Room(Component):
    """A room that one worker at a time may enter, if `key` is respected."""

    at = per(Worker, enum(Place))
    key = ref(Worker)

    @step(actor="worker")
    def ask(self, worker: Worker) -> None:
        require(self.at[worker] == Place.OUT)
        self.at[worker] = Place.WAITING

    @step(actor="worker")
    def enter(self, worker: Worker) -> None:
        require(self.at[worker] == Place.WAITING)
        self.check_key()
        self.key = worker
        self.at[worker] = Place.IN

    @step(actor="worker")
    def leave(self, worker: Worker) -> None:
        require(self.at[worker] == Place.IN)
        self.key = None
        self.at[worker] = Place.OUT

    def check_key(self) -> None:
        constraint("one key", self.key.is_none)


class Careless(Room):
    """The same without a look at the key."""

    def check_key(self) -> None:
        pass


class House(Model):
    room: Room


def house(change: type[Component] | None = None, count: int = 2) -> TransitionSystem:
    """Invariant `alone`: no two are in. Witness `in`: somebody is. Resettability `empty`: all can leave again."""
    model = build(House, workers(count), [change] if change else [])
    room: Any = model.parts["room"]
    people = model.entities[Worker]

    def inside() -> list[Expr]:
        return [room.at[w] == Place.IN for w in people]

    def alone() -> Expr:
        return all_of(negate(a & b) for a, b in combinations(inside(), 2))

    def empty() -> Expr:
        return negate(any_of(inside()))

    return trace_system(
        model,
        "house",
        invariants={"alone": alone},
        witnesses={"in": lambda: ~empty()},
        resettabilities={"empty": empty},
    )


def graph(
    edges: dict[tuple[int, int], bool], size: int, start: int = 0, **predicates: Any
) -> TransitionSystem:
    """States 0..size-1 and one transition for each edge, which maps to whether it is fair.

    Each predicate kind maps names to the set of states in which the predicate holds.
    """
    with fresh_graph():
        at = Variable("at", INT, 0, size - 1, start)
        here = variable(at)

        def among(states: set[int]) -> Expr:
            return any_of(equal(here, n) for n in sorted(states))

        transitions = tuple(
            Transition(
                part="graph",
                step="go",
                args=(("source", source), ("target", target)),
                actor="walker",
                fair=fair,
                guard=equal(here, source),
                constraints=(),
                updates={at: as_expr(target)},
            )
            for (source, target), fair in edges.items()
        )
        tables: dict[str, Any] = {
            kind: {name: among(s) for name, s in table.items()} for kind, table in predicates.items()
        }
        return TransitionSystem("graph", Universe({}), (at,), transitions, **tables)
