"""Verdicts, and what is said together with one: how much was explored, what was hit, what never happened.

A verdict without its scope is worth nothing, so a `Result` carries both. Results are plain data:
`to_plain` gives mappings, lists, strings and numbers for any file format.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Literal

from .reduction.policy import PARTIAL_ORDER
from .trace.lasso import LassoTrace
from .trace.trace import Trace

Kind = Literal["invariant", "resettability", "liveness"]


class Verdict(IntEnum):
    """What a search knows about a property; the smaller decides when several are combined."""

    VIOLATED = 0
    INCONCLUSIVE = 1
    HOLDS = 2


USAGE_ERROR = 2
"""The exit code of a command that was given nothing it could check."""


@dataclass(frozen=True, slots=True)
class Result:
    """The verdict on one property of one system.

    `states`, `transitions`, `depth` and `seconds` are those of the search that answered, which may have
    answered other properties too. `trace` is a shortest run of the original system to a violation, or to
    a state with no way back, or a lasso (a LassoTrace); it is None for other verdicts. `fired` and `never_fired` name the steps of the system
    (`part.step`, all bindings together) that did or did not happen in the search; where it did not visit
    everything, "never" means "not so far". `outside_cone` names the steps that the slice left out, because nothing
    that was asked can see them. `witnesses_reached` gives the length of a shortest run to each
    witness. `reductions` names what kept the search from visiting every state; under partial-order reduction, `trace` and
    those runs may be longer than need be. `stopped` is None for a complete search, else why it ended (see `Exploration`).

    `vacuous` warns that HOLDS says little: a witness was not reached, or no step ever happened.
    """

    system: str
    property_id: str
    kind: Kind
    verdict: Verdict
    states: int
    transitions: int
    depth: int
    seconds: float
    trace: Trace | None = None
    fired: tuple[str, ...] = ()
    never_fired: tuple[str, ...] = ()
    outside_cone: tuple[str, ...] = ()
    witnesses_reached: Mapping[str, int] = field(default_factory=dict)
    witnesses_missed: tuple[str, ...] = ()
    constraints_hit: tuple[str, ...] = ()
    stopped: str | None = None
    engine: str = "reference"
    reductions: tuple[str, ...] = ()

    @property
    def vacuous(self) -> bool:
        """Whether the property holds for want of anything that could break it."""
        return self.verdict is Verdict.HOLDS and (bool(self.witnesses_missed) or not self.fired)

    @property
    def words(self) -> str:
        """One sentence, sometimes two: the verdict and what it rests on."""
        if self.verdict is Verdict.VIOLATED:
            return self._violated()
        if self.verdict is Verdict.INCONCLUSIVE:
            return self._inconclusive()
        sentences = [f"Holds in every interleaving: {self._explored()}."]
        if self.constraints_hit:
            sentences.append(f"Within these bounds, which were hit: {'; '.join(self.constraints_hit)}.")
        if not self.fired:
            sentences.append("Vacuous: no step makes a difference to it.")
        elif self.witnesses_missed:
            sentences.append(f"Vacuous: never reached: {'; '.join(self.witnesses_missed)}.")
        return " ".join(sentences)

    def _explored(self) -> str:
        by = f", by {' and '.join(self.reductions)}" if self.reductions else ""
        return f"{counted(self.states, 'state')}, {counted(self.transitions, 'transition')}, depth {self.depth}{by}"

    def _violated(self) -> str:
        assert self.trace is not None
        steps = len(self.trace.steps)
        when = "in the initial state" if steps == 0 else f"after {counted(steps, 'step')}"
        if self.kind == "invariant":
            if PARTIAL_ORDER in self.reductions:
                return f"Violated {when}, perhaps sooner by another run ({self._explored()} explored)."
            return f"Violated {when}, and by no shorter run ({self._explored()} explored)."
        if isinstance(self.trace, LassoTrace):
            return self._starved(self.trace)
        seen = counted(self.trace.closure, "state")
        checked = (
            f"the {seen} that they lead to" if self.trace.closed else f"the first {seen} that they lead to"
        )
        return (
            f"Violated {when}: from there, fair steps alone never lead back "
            f"(executed again in {checked}; {self._explored()} explored)."
        )

    def _starved(self, lasso: LassoTrace) -> str:
        cycle = len(lasso.steps) - lasso.turn
        when = f"After {counted(lasso.turn, 'step')}" if lasso.turn else "From the initial state on"
        how = f"{counted(cycle, 'step')} can repeat for ever" if cycle else "no fair step can run any more"
        return (
            f"Violated: {lasso.case}. {when}, {how}: every fair actor acts or has nothing to do "
            f"({self._explored()} explored)."
        )

    def _inconclusive(self) -> str:
        budget = {
            "states": "the limit of states",
            "memory": "the limit of memory",
            "disk": "a full disk",
            "timeout": "the time limit",
        }
        covered = f"Stopped by {budget.get(self.stopped or '', 'a limit')} after {self._explored()}"
        if self.kind == "liveness":
            return f"{covered}: liveness can be decided only when every state was visited."
        if self.kind == "resettability":
            return f"{covered}: resettability can be decided only when every state was visited."
        if PARTIAL_ORDER in self.reductions:
            return f"{covered}: no violation so far, and runs of any length may have been put off."
        return (
            f"{covered}: no violation within {counted(max(self.depth - 1, 0), 'step')}, nothing known beyond."
        )

    def to_plain(self) -> dict[str, Any]:
        """The result as mappings, lists, strings and numbers."""
        return {
            "system": self.system,
            "property": self.property_id,
            "kind": self.kind,
            "verdict": self.verdict.name,
            "words": self.words,
            "vacuous": self.vacuous,
            "states": self.states,
            "transitions": self.transitions,
            "depth": self.depth,
            "seconds": self.seconds,
            "engine": self.engine,
            "reductions": list(self.reductions),
            "stopped": self.stopped,
            "fired": list(self.fired),
            "never_fired": list(self.never_fired),
            "outside_cone": list(self.outside_cone),
            "witnesses_reached": dict(self.witnesses_reached),
            "witnesses_missed": list(self.witnesses_missed),
            "constraints_hit": list(self.constraints_hit),
            "trace": None if self.trace is None else self.trace.to_plain(),
        }


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


def counted(number: int, noun: str) -> str:
    """For example `1 state` or `1,024 states`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
