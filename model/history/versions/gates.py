"""Feature gates that concern the scheduler: stage and default in every version, and how the model has each (`gates.yaml`).

A gate controls the changes that name it with `@before(..., gate=NAME)`. The other gates of the table are abstracted, make no
difference to what is modelled, or are not modelled; then the table says so.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal

import yaml

from ....base.structs import Data
from .numbers import exact, version_of
from .unknown import UnknownName

GATES = Path(__file__).with_name("gates.yaml")

UNKNOWN, REMOVED = "unknown", "removed"
LOCKED = "locked"

How = Literal["modelled", "abstracted", "covered", "not modelled"]


class GateProblem(Exception):
    """A gate that cannot be set so in a release: one line that says why, and what to do."""


class State(Data):
    """A gate in one version: its stage (alpha, beta, GA, deprecated), whether it is on unless set, and whether it can be set."""

    stage: str
    on: bool
    locked: bool = False

    @property
    def is_known(self) -> bool:
        """Whether it is known what the gate was there."""
        return self.stage != UNKNOWN

    @property
    def words(self) -> str:
        """For example `beta, on`."""
        if not self.is_known:
            return UNKNOWN
        return ", ".join((self.stage, "on" if self.on else "off", *((LOCKED,) if self.locked else ())))


class Gate(Data):
    """A feature gate. `about` says what it is for; `history` what it was from each version on.

    `abstracted` names the row of docs/model.md that speaks of it; `covered` says why it makes no difference to what is modelled, `unmodelled` why
    it is not modelled. A gate with none of these is modelled: changes name it. `taken_as_on` are releases in which the model has it on although it was
    off, `taken_as_off` those in which it has it off although it was on; `gaps` those in which the model does not have it away from its default, with the reason.
    """

    name: str
    about: str
    history: tuple[tuple[str, State | None], ...]
    abstracted: str = ""
    covered: str = ""
    unmodelled: str = ""
    taken_as_on: tuple[str, ...] = ()
    taken_as_off: tuple[str, ...] = ()
    gaps: tuple[tuple[str, str], ...] = ()

    @property
    def how(self) -> How:
        """How the model has it."""
        if self.abstracted:
            return "abstracted"
        if self.covered:
            return "covered"
        return "not modelled" if self.unmodelled else "modelled"

    def at(self, release: str) -> State | None:
        """What it is in a version; None if that has no such gate."""
        version = version_of(release)
        found = None
        for since, state in self.history:
            if version_of(since) <= version:
                found = state
        return found

    def is_on(self, release: str) -> bool:
        """Whether the model has it on in a version, unless it is set."""
        state, minor = self.at(release), version_of(release).minor
        return (
            state is not None and (state.on or minor in self.taken_as_on) and minor not in self.taken_as_off
        )

    def is_left_out(self, release: str) -> bool:
        """Whether it is on in a version unless it is set, and the model does not show it."""
        state = self.at(release)
        taken_as_off = state is not None and state.on and not self.is_on(release)
        return taken_as_off or (self.how == "not modelled" and self.is_on(release))

    def gap(self, release: str) -> str:
        """Why the model does not have it away from its default in a version; empty if it does."""
        return dict(self.gaps).get(version_of(release).minor, "")

    @property
    def first_in(self) -> str:
        """The first version that has it, as far as the model knows."""
        return self.history[0][0]


@cache
def gates() -> Mapping[str, Gate]:
    """The table, by name."""
    rows = yaml.load(GATES.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return {name: _gate(name, row) for name, row in sorted(rows.items())}


def find_gate(name: str) -> Gate:
    """A gate by its name; raises UnknownName."""
    table = gates()
    if name not in table:
        raise UnknownName("gate", name, tuple(table))
    return table[name]


def on_and_unmodelled(release: str) -> tuple[str, ...]:
    """The gates that are on in a version unless they are set, and of which the model has nothing unless they are set."""
    return tuple(g.name for g in gates().values() if g.is_left_out(release))


def refuse_setting(gate: Gate, on: bool, release: str, is_modelled: bool) -> None:
    """Refuse what upstream would refuse, and what the model does not have; `is_modelled`: a change of the release is behind the gate.

    To set a gate to what it is anyway is no mistake. Raises GateProblem.
    """
    state, name, version = gate.at(release), gate.name, exact(release)
    if state is None:
        raise GateProblem(f"{version} has no gate {name}: {_has_it(gate)}")
    if not state.is_known:
        raise GateProblem(f"whether {version} has {name} is not known: leave it out")
    if on == gate.is_on(release):
        return
    if state.locked:
        raise GateProblem(
            f"{name} is locked to {_value(state.on)} in {version} ({state.stage}), which upstream refuses to change"
        )
    gap = gate.gap(release) or gate.unmodelled
    if gap or not is_modelled:
        why = gap or _instead(gate)
        raise GateProblem(
            f"{name}={_value(on)} is not modelled in {version}: {why}; leave it at {_value(gate.is_on(release))}"
        )


def _instead(gate: Gate) -> str:
    if gate.abstracted:
        return f"it is abstracted, see {gate.abstracted} in docs/model.md"
    return gate.covered or "no change is behind it there"


def _has_it(gate: Gate) -> str:
    """In which versions a gate is there."""
    first = gate.history[0][0]
    gone = next((since for since, state in gate.history if state is None), None)
    return f"it came with {exact(first)}" + (f" and was gone in {exact(gone)}" if gone else "")


def _value(on: bool) -> str:
    return str(on).lower()


def _gate(name: str, row: Mapping[str, object]) -> Gate:
    history, gaps = row["history"], row.get("gaps", {})
    assert isinstance(history, dict)
    assert isinstance(gaps, dict)
    return Gate(
        name,
        str(row["about"]),
        tuple((str(since), _state(str(words))) for since, words in history.items()),
        abstracted=str(row.get("abstracted", "")),
        covered=str(row.get("covered", "")),
        unmodelled=str(row.get("unmodelled", "")),
        taken_as_on=tuple(map(str, row.get("taken_as_on", ()))),  # type: ignore[call-overload]
        taken_as_off=tuple(map(str, row.get("taken_as_off", ()))),  # type: ignore[call-overload]
        gaps=tuple((str(release), str(why)) for why, releases in gaps.items() for release in releases),
    )


def _state(words: str) -> State | None:
    """A state as the table has it: `beta on`, `GA on locked`, `unknown`, or `removed`."""
    stage, *rest = words.split()
    if stage == REMOVED:
        return None
    return State(stage, "on" in rest, LOCKED in rest)
