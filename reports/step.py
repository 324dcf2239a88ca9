"""One step of an interleaving as reports know it: who acts, what such a step does, and what it changed."""

from __future__ import annotations

import msgspec

Value = bool | int | str | None
"""A value of the model, as JSON has it: a number, a bool, null, or the name of a pod, a node or an enum member."""


class Change(msgspec.Struct, frozen=True):
    """One variable that a step changed."""

    variable: str
    before: Value
    after: Value


class Step(msgspec.Struct, frozen=True):
    """One step of an interleaving, numbered from 1. `summary` says what such a step does."""

    number: int
    actor: str
    component: str
    step: str
    args: dict[str, Value]
    summary: str
    changes: tuple[Change, ...]

    @property
    def call(self) -> str:
        """For example `bind(q, ANSWERED)`; a bool argument shows as its name, with `not` if false."""
        return f"{self.step}({', '.join(_argument(name, value) for name, value in self.args.items())})"


def _argument(name: str, value: Value) -> str:
    if isinstance(value, bool):
        return name if value else f"not {name}"
    return show(value)


def show(value: Value) -> str:
    """A value in a text."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
