"""One step of an interleaving as reports know it: who acts, what such a step does, and what it changed."""

import msgspec

Value = bool | int | str | None
"""A value of the model, as JSON has it: a number, a bool, null, or the name of a pod, a node or an enum member."""


class ShownChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """One variable that a step changed.

    `said` is the change in the model's words: empty if it is bookkeeping, None if the model has no words for it. A
    `decisive` change stands out.
    """

    variable: str
    before: Value
    after: Value
    said: str | None = None
    decisive: bool = False

    @property
    def phrase(self) -> str:
        """The change in words, or as it is where there are none: what nobody has words for is never left out."""
        return (
            f"{self.variable}: {show(self.before)} -> {show(self.after)}" if self.said is None else self.said
        )


class ShownStep(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step of an interleaving, numbered from 1.

    `summary` says what such a step does, `told` what this one did, in the model's words; empty if it has none. `reasons` are
    those for which it went as it did; `told` has them, too.
    """

    number: int
    actor: str
    component: str
    step: str
    args: dict[str, Value]
    summary: str
    changes: tuple[ShownChange, ...]
    told: str = ""
    reasons: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """The reasons as a phrase beside those of the changes; empty without."""
        return f"reason: {', '.join(self.reasons)}" if self.reasons else ""

    @property
    def spoken(self) -> list[ShownChange]:
        """The changes that are worth a phrase, in the order of the variables."""
        return [change for change in self.changes if change.phrase]

    @property
    def decisive(self) -> bool:
        """Whether it changed something that stands out."""
        return any(change.decisive for change in self.spoken)

    @property
    def sentence(self) -> str:
        """The step in one sentence; where the model has none, its actor, its call, its summary and its changes."""
        if self.told:
            return self.told
        summary = f" ({self.summary})" if self.summary else ""
        return "; ".join([f"{self.actor}: {self.call}{summary}", *(c.phrase for c in self.spoken)]) + "."

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


def says_something(value: Value) -> bool:
    """Whether a value is more than an absence."""
    return value is not None and value is not False
