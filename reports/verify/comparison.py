"""What a comparison of two schedulers says, free of any engine: of `podrace verify`, before and after a patch, and of
`podrace diff`, of two releases.
"""

import builtins
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from ..document import Finding
from ..step import ShownStep, Value

Outcome = Literal["REGRESSED", "inconclusive", "still violated", "fixed", "holds both", "holds after"]

NetOutcome = Literal["REGRESSED", "inconclusive", "violated before", "holds", "no difference"]

ORDER: tuple[Outcome, ...] = (
    "REGRESSED",
    "inconclusive",
    "still violated",
    "fixed",
    "holds after",
    "holds both",
)
"""The gravest first: of a property in several scenarios, that one is told. `holds after`: before, a budget ran out."""


class Pair(msgspec.Struct, frozen=True):
    """One property in one scenario, on both schedulers.

    `same`: what decides the property is the same system, so it was searched once. `remark` says what becomes of the earlier
    counterexample. `witnesses_lost` were reached before and are out of reach now.
    """

    outcome: Outcome
    before: Finding
    after: Finding
    same: bool = False
    remark: str = ""
    witnesses_lost: tuple[str, ...] = ()

    @builtins.property
    def scenario(self) -> str:
        """The name of the scenario."""
        return self.before.scenario

    @builtins.property
    def property(self) -> str:
        """The identifier of the property."""
        return self.before.property


class Net(msgspec.Struct, frozen=True):
    """A property that nobody asked for, compared so that no change passes by losing pods or leaving them waiting.

    `states` are those of the larger search. `after` is the finding where the net regressed. A net that is violated on both
    schedulers cannot tell what the change adds. `altered`: it holds, and the change alters what it asks.
    """

    scenario: str
    property: str
    outcome: NetOutcome
    states: int = 0
    vacuous: bool = False
    after: Finding | None = None
    altered: bool = False


class Lost(msgspec.Struct, frozen=True):
    """What could come about in a scenario before, without a violation on the way, and cannot any more."""

    scenario: str
    witness: str


class Decided(msgspec.Struct, frozen=True):
    """One step that the two schedulers treat differently. `before` and `after` are the variables whose new values differ;
    `first` and `second` are the step as each of them takes it, None if it cannot; `then` and `otherwise` what can follow it
    with this one only.
    """

    step: str
    kind: str
    before: dict[str, Value] = {}
    after: dict[str, Value] = {}
    first: ShownStep | None = None
    second: ShownStep | None = None
    then: tuple[str, ...] = ()
    otherwise: tuple[str, ...] = ()


class Parted(msgspec.Struct, frozen=True):
    """A run that both schedulers have, and what they decide differently after it."""

    scenario: str
    steps: tuple[ShownStep, ...]
    decisions: tuple[Decided, ...]
    shortest: bool


class Ignored(msgspec.Struct, frozen=True):
    """A property that a scenario says is not to be looked at; `words` say so, with the reason."""

    scenario: str
    property: str
    words: str


class Comparison(msgspec.Struct, frozen=True):
    """Two schedulers, compared. `undecided` are outcomes of scenarios that a budget left open; `alike` are scenarios whose
    systems are the same in all; `ignored` was not looked at. `alone` are the safety nets that were left out as asked.
    `left`: where podrace was stopped before the end (Ctrl-C, SIGTERM), how many of the last pairs were not compared.
    """

    before: str
    after: str
    pairs: tuple[Pair, ...]
    lost: tuple[Lost, ...] = ()
    undecided: tuple[Lost, ...] = ()
    steps_lost: tuple[str, ...] = ()
    steps_gained: tuple[str, ...] = ()
    difference: Parted | None = None
    alike: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    notes: tuple[str, ...] = ()
    nets: tuple[Net, ...] = ()
    alone: tuple[str, ...] = ()
    left: int | None = None

    @builtins.property
    def compared(self) -> tuple[Pair, ...]:
        """The pairs that were compared before podrace was stopped: all of them, if it was not."""
        return self.pairs[: len(self.pairs) - (self.left or 0)]

    @builtins.property
    def not_compared(self) -> tuple[Pair, ...]:
        """The others."""
        return self.pairs[len(self.compared) :]

    @builtins.property
    def outcomes(self) -> dict[str, Outcome]:
        """The outcome of each property over all scenarios."""
        found: dict[str, Outcome] = {}
        for pair in self.pairs:
            found[pair.property] = gravest([pair.outcome, found.get(pair.property, "holds both")])
        return found

    @builtins.property
    def witnesses_lost(self) -> tuple[Lost, ...]:
        """All witnesses that are out of reach now, each once."""
        own = (Lost(p.scenario, witness) for p in self.pairs for witness in p.witnesses_lost)
        return tuple(dict.fromkeys((*self.lost, *own)))


def gravest(outcomes: Iterable[Outcome]) -> Outcome:
    """The one that counts."""
    return min(outcomes, key=ORDER.index)


def outcome_of(before: str, after: str) -> Outcome:
    """What two verdicts say together."""
    if after == "INCONCLUSIVE":
        return "inconclusive"
    if after == "HOLDS":
        return {"HOLDS": "holds both", "VIOLATED": "fixed"}.get(before, "holds after")  # type: ignore[return-value]
    return {"HOLDS": "REGRESSED", "VIOLATED": "still violated"}.get(before, "inconclusive")  # type: ignore[return-value]


def bad_news(comparison: Comparison) -> Sequence[Pair]:
    """What a counterexample is shown of."""
    return [p for p in comparison.pairs if p.after.trace is not None]


def nets_that(comparison: Comparison, outcome: NetOutcome) -> list[Net]:
    """The safety nets with this outcome."""
    return [net for net in comparison.nets if net.outcome == outcome]


def shown_net(comparison: Comparison) -> Finding | None:
    """Of all nets that regressed, the counterexample of fewest steps: they mostly show the same."""
    broken = [net.after for net in comparison.nets if net.after is not None]
    return min(broken, key=_steps_of, default=None)


def _steps_of(finding: Finding) -> int:
    return len(finding.trace or ()) + len(finding.cycle)


def alone_words(properties: Iterable[str], nets: Iterable[str]) -> str:
    """Says that only these properties were compared, and not these regression checks."""
    return f"compared only {', '.join(properties)}; the regression checks {', '.join(nets)} were not compared"
