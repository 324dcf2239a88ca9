"""Systems whose numbers of states and transitions follow a formula."""

from __future__ import annotations

from typing import Any

from podrace.model.language import (
    Component,
    Entity,
    Model,
    TransitionSystem,
    Universe,
    all_of,
    any_of,
    boolean,
    build,
    clamp,
    fifo,
    integer,
    negate,
    per,
    ref,
    require,
    step,
    trace_system,
)


class Process(Entity):
    """A philosopher, or a station of a ring."""


def processes(count: int) -> Universe:
    return Universe({Process: [Process(i, f"p{i}") for i in range(count)]})


class Counter(Component):
    value = integer(0, lambda last: last)

    @step(actor="counter")
    def up(self) -> None:
        require(self.value < self.scope)
        self.value = clamp(self.value + 1, 0, self.scope)

    @step(actor="counter", fair=False)
    def reset(self) -> None:
        require(self.value == self.scope)
        self.value = 0


class Counting(Model):
    counter: Counter


def counting(last: int, **predicates: Any) -> TransitionSystem:
    """0, 1, .. last and, unfairly, back to 0. Predicates are given as functions of the value."""
    model = build(Counting, Universe({}, scope=last))
    counter: Any = model.parts["counter"]
    tables: Any = {
        kind: {name: lambda holds=holds: holds(counter.value) for name, holds in table.items()}
        for kind, table in predicates.items()
    }
    return trace_system(model, **tables)


class Table(Component):
    taken = per(Process, boolean())
    holds = per(Process, integer(0, 2))

    def after(self, p: Process) -> Process:
        everyone = self.universe[Process]
        return everyone[(p.index + 1) % len(everyone)]

    @step(actor="philosopher")
    def take_left(self, p: Process) -> None:
        require((self.holds[p] == 0) & negate(self.taken[p]))
        self.taken[p] = True
        self.holds[p] = 1

    @step(actor="philosopher")
    def take_right(self, p: Process) -> None:
        require((self.holds[p] == 1) & negate(self.taken[self.after(p)]))
        self.taken[self.after(p)] = True
        self.holds[p] = 2

    @step(actor="philosopher")
    def put_back(self, p: Process) -> None:
        require(self.holds[p] == 2)
        self.taken[p] = False
        self.taken[self.after(p)] = False
        self.holds[p] = 0


class Dinner(Model):
    table: Table


def philosophers(count: int) -> TransitionSystem:
    """Dining philosophers who take the left fork first."""
    model = build(Dinner, processes(count))
    table: Any = model.parts["table"]
    everyone = model.entities[Process]
    return trace_system(
        model,
        invariants={"no deadlock": lambda: negate(all_of(table.holds[p] == 1 for p in everyone))},
        witnesses={"someone eats": lambda: any_of(table.holds[p] == 2 for p in everyone)},
        resettabilities={"all think": lambda: all_of(table.holds[p] == 0 for p in everyone)},
    )


def pell_lucas(n: int) -> int:
    """The states of n philosophers: of three values each, the third forces the next to be the first.

    That is the trace of [[1, 1, 1], [1, 1, 1], [1, 0, 0]] to the n: (1 + root 2)^n + (1 - root 2)^n.
    """
    a, b = 2, 2
    for _ in range(n):
        a, b = b, 2 * b + a
    return a


class Stations(Component):
    at = ref(Process)
    wants = per(Process, boolean())

    def setup(self) -> None:
        self.at = self.universe[Process][0]

    @step(actor="station")
    def want(self, p: Process) -> None:
        require(negate(self.wants[p]))
        self.wants[p] = True

    @step(actor="station")
    def use(self, p: Process) -> None:
        require((self.at == p) & self.wants[p])
        self.wants[p] = False

    @step(actor="station")
    def hand_on(self, p: Process) -> None:
        require((self.at == p) & negate(self.wants[p]))
        everyone = self.universe[Process]
        self.at = everyone[(p.index + 1) % len(everyone)]


class Ring(Model):
    stations: Stations


def ring(count: int) -> TransitionSystem:
    """A token goes round: count * 2^count states, and count * 2^(count - 1) * (count + 2) transitions."""
    return trace_system(build(Ring, processes(count)))


class Post(Component):
    letters = fifo(lambda capacity: capacity, boolean())

    @step(actor="sender")
    def send(self, urgent: bool) -> None:
        self.letters.push(urgent)

    @step(actor="receiver")
    def receive(self) -> None:
        require(negate(self.letters.is_empty))
        self.letters.pop()


class Office(Model):
    post: Post


def queue(capacity: int) -> TransitionSystem:
    """Every sequence of at most `capacity` bools; sending beyond that hits a limit."""
    return trace_system(build(Office, Universe({}, scope=capacity)))
