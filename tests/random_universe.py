"""What random systems are made of, whoever draws them: kinds of variables, arguments of steps, and what is alike in their expressions."""

from __future__ import annotations

from enum import Enum
from typing import Any

from podrace.model.language import BOOL, INT, Entity, Expr, Sort, Universe, Variable, clamp, equal
from podrace.model.language.expressions.expr import const, divide, variable
from podrace.model.language.expressions.sorts import sort_of_enum, sort_of_ref


class Colour(Enum):
    RED = "red"
    GREEN = "green"
    BLUE = "blue"


class Thing(Entity):
    """A kind with two entities."""


THINGS = (Thing(0, "a"), Thing(1, "b"))
UNIVERSE = Universe({Thing: THINGS})
COLOUR, THING = sort_of_enum(Colour), sort_of_ref(Thing)

Kind = tuple[Sort, int, int]
Arguments = tuple[tuple[tuple[str, Any], ...], ...]

NO_ARGUMENTS: Arguments = ((),)
ON_OR_OFF: Arguments = ((("on", False),), (("on", True),))
EACH_THING: Arguments = ((("thing", THINGS[0]),), (("thing", THINGS[1]),))


def kinds(highest: int) -> tuple[Kind, ...]:
    """Sort and range of the variables to choose from; the numbers that may be negative go up to `highest`."""
    return (
        (BOOL, 0, 1),
        (INT, 0, 3),
        (INT, -2, highest),
        (INT, 5, 7),
        (COLOUR, 0, 2),
        (THING, 0, 2),
    )


def has_value(v: Variable, value: int) -> Expr:
    """That a variable has this one of its values."""
    return equal(variable(v), const(v.sort, value))


def divided(number: Expr, by: Expr) -> Expr:
    """A quotient that there is, whatever the divisor."""
    return divide(number, clamp(by, 1, 4))
