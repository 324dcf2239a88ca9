"""The one result that every engine gives: a verdict, and what it rests on.

A verdict without its scope is worth nothing, so a `Result` says what was counted, what happened and what never did,
which constraints were hit, and shows a run. Results are plain data; `reports/verdict_words.py` has the words for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import IntEnum
from typing import Literal

from ...base.structs import Data
from .trace import Trace

Kind = Literal["invariant", "resettability", "liveness"]

USAGE_ERROR = 2
"""The exit code of a command that was given nothing it could check."""


class EngineDisagreement(Exception):
    """An internal error: the reference interpreter does not confirm what an engine claims.

    No verdict is given. Either the engine, the slice or the interpreter is wrong.
    """


class Verdict(IntEnum):
    """What is known about a property; the smaller decides when several are combined."""

    VIOLATED = 0
    INCONCLUSIVE = 1
    HOLDS = 2


class Counts(Data):
    """How much was looked at; None for what was not counted.

    `depth` is the number of the last level of a search in which a state was found; of a bounded search the length of the runs
    within which nothing is left open (less than 0: not even the initial state), or of the violation. `walks`: from so many random runs others
    searched on, and found the violation, if there is one.
    """

    states: int | None = None
    transitions: int | None = None
    depth: int | None = None
    seconds: float | None = None
    walks: int = 0


class Coverage(Data):
    """What did happen, and what did not: `checker.reduction.conclusion` computes it.

    `fired` and `never_fired` name the steps of the system (`part.step`, all bindings together) that did, with how often they
    could be taken, or did not; where not everything was visited, "never" means "not so far". `outside_cone` names the
    steps that the slice left out, because nothing that was asked can see them. `witnesses_reached` gives the length of
    a shortest run to each witness, as far as it is known. `constraints_hit` names the constraints that stopped a transition whose
    guard held. `never_acted` has the parts of what was asked for that never took
    a step in a complete search, with the reasons (see `checker.reduction.idle_parts`). `held_back` names the constraints
    that hold back every run, so that none is fair and a liveness says nothing. `endless`: work can go on for ever, so scales of time were given up. `measured` is false where nothing of this is known.
    """

    fired: Mapping[str, int] = field(default_factory=dict)
    never_fired: tuple[str, ...] = ()
    outside_cone: tuple[str, ...] = ()
    witnesses_reached: Mapping[str, int] = field(default_factory=dict)
    witnesses_missed: tuple[str, ...] = ()
    constraints_hit: tuple[str, ...] = ()
    never_acted: Mapping[str, str] = field(default_factory=dict)
    held_back: tuple[str, ...] = ()
    endless: bool = False
    measured: bool = True


UNMEASURED = Coverage(measured=False)
"""Nothing is known of what happened."""


class Result(Data):
    """The verdict on one property of one system.

    `counts` are those of the search that answered, which may have answered other properties too. `trace` of a violation is
    a shortest run of the original system to it, or to a state with no way back, or a lasso; with values for its
    `parameters` where the system has some. `stopped` is None for a complete search, else why it ended
    ("answered", "states", "memory", "timeout", "terminated" where the process was told to end, of a bounded search "steps",
    or the solver's own words).

    `vacuous` warns that HOLDS says little: a witness was not reached, no step ever happened, or no run is fair.
    """

    system: str
    property_id: str
    kind: Kind
    verdict: Verdict
    counts: Counts = Counts()
    coverage: Coverage = UNMEASURED
    trace: Trace | None = None
    parameters: Mapping[str, int] = field(default_factory=dict)
    stopped: str | None = None
    engine: str = "reference"

    @classmethod
    def replayed(cls, system: str, property_id: str, kind: Kind, trace: Trace) -> Result:
        """Of a run that was executed again and still violates the property: nothing was searched, so nothing is counted."""
        return cls(system, property_id, kind, Verdict.VIOLATED, trace=trace, engine=REPLAY)

    @property
    def vacuous(self) -> bool:
        """Whether the property holds for want of anything that could break it."""
        seen = self.coverage
        return (
            self.verdict is Verdict.HOLDS
            and seen.measured
            and (bool(seen.witnesses_missed or seen.held_back) or not seen.fired)
        )


REPLAY = "replay"
"""The engine of a result of which nothing was searched."""


def combine(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict on all of them together: the weakest. ValueError if there are none."""
    found = list(verdicts)
    if not found:
        raise ValueError("there is no verdict on nothing")
    return min(found)


def exit_code(results: Iterable[Result]) -> int:
    """0 if every property holds, 1 if one is violated, 3 if none is but one is undecided.

    No results at all are a usage error, 2: nothing was checked, and that must not look like success.
    """
    verdicts = [result.verdict for result in results]
    if not verdicts:
        return USAGE_ERROR
    return {Verdict.VIOLATED: 1, Verdict.INCONCLUSIVE: 3}.get(combine(verdicts), 0)
