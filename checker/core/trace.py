"""Traces: a run of a system as the reference interpreter executed it, step by step; plain data.

Only `checker.trace` makes them, by executing what somebody claims: nothing else is ever shown.
"""

from collections.abc import Mapping
from dataclasses import field
from enum import Enum
from typing import Any, Literal

from ...base.structs import Data
from ...model.language import Entity, Fairness, State
from .exploration import Path

FairAnswer = Literal["acts", "rests", "never waits"]
"""How a cycle is fair to a set: it acts; or somewhere it waits for nothing; or it never waits at all."""


class VariableChange(Data):
    """A variable that a step gave another value; both as Python values."""

    variable: str
    before: Any
    after: Any


class Step(Data):
    """One transition of a run: its number in the system, who acts, and what it changed."""

    transition: int
    label: str
    actor: str
    part: str
    step: str
    args: tuple[tuple[str, Any], ...]
    changes: tuple[VariableChange, ...]


class Trace(Data):
    """A run that was executed: `states` has one more entry than `steps`, the first is the initial state.

    `closure` is there for a state with no way back: how many states fair transitions can still reach from its last state,
    none of which satisfies the predicate; `closed` is false where counting stopped at a bound.
    """

    steps: tuple[Step, ...]
    states: tuple[State, ...]
    closure: int = 0
    closed: bool = True

    @property
    def path(self) -> Path:
        """The run as transition numbers of the system that it was executed on."""
        return tuple(step.transition for step in self.steps)

    def __str__(self) -> str:
        return "\n".join(f"{i + 1}. {step.label}" for i, step in enumerate(self.steps))

    def to_plain(self) -> dict[str, Any]:
        """The trace as mappings, lists, strings and numbers."""
        plain: dict[str, Any] = {
            "steps": [
                {
                    "transition": step.transition,
                    "label": step.label,
                    "actor": step.actor,
                    "part": step.part,
                    "step": step.step,
                    "args": {name: plain_value(value) for name, value in step.args},
                    "changes": [
                        {
                            "variable": c.variable,
                            "before": plain_value(c.before),
                            "after": plain_value(c.after),
                        }
                        for c in step.changes
                    ],
                }
                for step in self.steps
            ],
            "states": [list(state) for state in self.states],
        }
        if self.closure:
            plain["closure"] = {"states": self.closure, "complete": self.closed}
        return plain


class LassoTrace(Trace):
    """A lasso that was executed: after the first `turn` steps, the remaining ones repeat for ever.

    Without remaining steps the run rests in its last state for ever. `fairness` says how the cycle is fair to each set.
    """

    turn: int = 0
    case: str = ""
    fairness: Mapping[Fairness, FairAnswer] = field(default_factory=dict)

    @property
    def prefix(self) -> tuple[Step, ...]:
        """What happens once."""
        return self.steps[: self.turn]

    @property
    def cycle(self) -> tuple[Step, ...]:
        """What repeats for ever."""
        return self.steps[self.turn :]

    def to_plain(self) -> dict[str, Any]:
        """The lasso as mappings, lists, strings and numbers; `lasso` says which of the steps repeat."""
        answers = {f.name: {"strong": f.strong, "answer": answer} for f, answer in self.fairness.items()}
        lasso = {"case": self.case, "prefix": self.turn, "cycle": len(self.cycle), "fairness": answers}
        return {**Trace.to_plain(self), "lasso": lasso}


def plain_value(value: Any) -> bool | int | str | None:
    """A value of a model for a file: entities and enum members by their names."""
    if isinstance(value, (Entity, Enum)):
        return value.name
    if value is None or isinstance(value, (bool, int, str)):
        return value
    raise TypeError(f"`{value!r}` is not a value of a model")
