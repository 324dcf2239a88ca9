"""A small system that has one of everything that an export has to say."""

from __future__ import annotations

from enum import Enum

from podrace.model.language import (
    BOOL,
    INT,
    Entity,
    Transition,
    TransitionSystem,
    Universe,
    Variable,
    all_of,
    any_of,
    as_expr,
    equal,
    negate,
    select,
)
from podrace.model.language.expressions.expr import divide, fresh_graph, less, variable
from podrace.model.language.expressions.sorts import sort_of_enum, sort_of_ref


class Light(Enum):
    RED = 0
    GREEN = 1


class Car(Entity):
    """A kind with names that are no identifiers."""


CARS = (Car(0, "a-1"), Car(1, "b"))


def crossing() -> TransitionSystem:
    """Two cars at a light: an enum, a reference, a bool, ints with and without sign, a bound, a swap, a division."""
    light = Variable("light.now", sort_of_enum(Light), 0, 1, 0)
    first = Variable("queue[1]", sort_of_ref(Car), 0, 2, 1)
    second = Variable("queue.1", sort_of_ref(Car), 0, 2, 2)
    horn = Variable("horn", BOOL, 0, 1, 0)
    balance = Variable("balance", INT, -4, 3, -3)
    with fresh_graph():
        green = equal(variable(light), Light.GREEN)
        go = Transition(
            part="cars",
            step="swap",
            args=(("car", CARS[0]), ("light", Light.GREEN)),
            actor="driver",
            fair=True,
            guard=all_of((green, negate(equal(variable(first), None)))),
            constraints=(("at most 3", less(variable(balance), 3)),),
            updates={first: variable(second), second: variable(first), balance: variable(balance) + 1},
            doc="The cars change places */ at once.\nMore.",
        )
        halved = divide(variable(balance), 2)
        wait = Transition(
            part="lights",
            step="switch",
            args=(),
            actor="light",
            fair=False,
            guard=as_expr(True),
            constraints=(),
            updates={
                light: select(green, Light.RED, Light.GREEN),
                balance: select(less(halved, -1), halved + 1, halved),
                horn: any_of((variable(horn), green)),
            },
        )
        return TransitionSystem(
            name="crossing",
            universe=Universe({Car: CARS}),
            variables=(light, first, second, horn, balance),
            transitions=(go, wait),
            invariants={"S-HORN": negate(variable(horn)), "2nd": less(variable(balance), 3)},
            witnesses={"b first": equal(variable(first), CARS[1])},
        )
