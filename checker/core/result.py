"""The one result that every engine gives: a verdict, and what it rests on.

A verdict without its scope is worth nothing, so a `Result` says what was counted, what happened and what never did,
which constraints were hit, and shows its evidence. Results are plain data: `to_plain` gives mappings, lists, strings and
numbers for any file format.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import IntEnum
from typing import Any, Literal, Protocol

from ...base.structs import dataclass
from ...base.text import counted
from .trace import LassoTrace, Trace

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


@dataclass(frozen=True, slots=True)
class WalkCounts:
    """What random walks came to: `walks` ended, `resting` of them in a state without a successor; `steps` were taken,
    `longest` on one walk. Where one violates the property, it is number `violating`, after `met_after` of its steps.
    """

    walks: int
    steps: int
    resting: int
    longest: int
    violating: int | None = None
    met_after: int = 0


@dataclass(frozen=True, slots=True)
class Counts:
    """How much was looked at; None for what was not counted.

    `depth` is the number of the last level of a search in which a state was found; of a bounded search the length of the runs
    within which nothing is left open (less than 0: not even the initial state), or of the violation; of an induction its
    depth, or the number of frames.
    """

    states: int | None = None
    transitions: int | None = None
    depth: int | None = None
    seconds: float | None = None
    walks: WalkCounts | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """The values that a variable took on walks, of those that it may take; both as Python values."""

    variable: str
    counted: bool
    values: tuple[Any, ...]
    missing: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    """What did happen, and what did not: `checker.reduction.conclusion` computes it.

    `fired` and `never_fired` name the steps of the system (`part.step`, all bindings together) that did, with how often they
    could be taken, or did not; where not everything was visited, "never" means "not so far". `outside_cone` names the
    steps that the slice left out, because nothing that was asked can see them. `witnesses_reached` gives the length of
    a shortest run to each witness, as far as it is known. `constraints_hit` names the constraints that stopped a transition whose
    guard held. `values` are those of the variables on walks. `never_acted` has the parts of what was asked for that never took
    a step in a complete search, with the reasons (see `checker.reduction.idle_parts`). `held_back` names the constraints
    that hold back every run, so that none is fair and a liveness says nothing. `measured` is false where nothing of this is known.
    """

    fired: Mapping[str, int] = field(default_factory=dict)
    never_fired: tuple[str, ...] = ()
    outside_cone: tuple[str, ...] = ()
    witnesses_reached: Mapping[str, int] = field(default_factory=dict)
    witnesses_missed: tuple[str, ...] = ()
    constraints_hit: tuple[str, ...] = ()
    values: tuple[Seen, ...] = ()
    never_acted: Mapping[str, str] = field(default_factory=dict)
    held_back: tuple[str, ...] = ()
    measured: bool = True


UNMEASURED = Coverage(measured=False)
"""Nothing is known of what happened."""


class Evidence(Protocol):
    """What shows a verdict: a run that was executed, a proof that was checked, or states that keep a proof from being one."""

    def to_plain(self) -> dict[str, Any]:
        """The evidence as mappings, lists, strings and numbers."""
        ...


@dataclass(frozen=True, slots=True)
class Result:
    """The verdict on one property of one system.

    `counts` are those of the search that answered, which may have answered other properties too. `evidence` of a violation is
    a shortest run of the original system to it, or to a state with no way back, or a lasso; with values for its
    `parameters` where the system has some. `stopped` is None for a complete search, else why it ended
    ("answered", "states", "memory", "disk", "timeout", "terminated" where the process was told to end, of walks "walks", of a bounded search "steps", of a proof "induction",
    or the solver's own words).

    `vacuous` warns that HOLDS says little: a witness was not reached, no step ever happened, or no run is fair.
    """

    system: str
    property_id: str
    kind: Kind
    verdict: Verdict
    counts: Counts = Counts()
    coverage: Coverage = UNMEASURED
    evidence: Evidence | None = None
    parameters: Mapping[str, int] = field(default_factory=dict)
    stopped: str | None = None
    engine: str = "reference"

    @classmethod
    def replayed(cls, system: str, property_id: str, kind: Kind, trace: Trace) -> Result:
        """Of a run that was executed again and still violates the property: nothing was searched, so nothing is counted."""
        return cls(system, property_id, kind, Verdict.VIOLATED, evidence=trace, engine=REPLAY)

    @property
    def trace(self) -> Trace | None:
        """The evidence, if it is a run."""
        return self.evidence if isinstance(self.evidence, Trace) else None

    @property
    def vacuous(self) -> bool:
        """Whether the property holds for want of anything that could break it."""
        seen = self.coverage
        return (
            self.verdict is Verdict.HOLDS
            and seen.measured
            and (bool(seen.witnesses_missed or seen.held_back) or not seen.fired)
        )

    @property
    def words(self) -> str:
        """One sentence, sometimes two: the verdict and what it rests on."""
        if self.engine == REPLAY:
            return _replayed(self)
        if self.counts.walks is not None:
            return _walked(self, self.counts.walks)
        if self.counts.states is None:
            return _reasoned(self)
        return {Verdict.VIOLATED: _violated, Verdict.INCONCLUSIVE: _inconclusive, Verdict.HOLDS: _holds}[
            self.verdict
        ](self)

    def to_plain(self) -> dict[str, Any]:
        """The result as mappings, lists, strings and numbers."""
        counts, seen = self.counts, self.coverage
        return {
            "system": self.system,
            "property": self.property_id,
            "kind": self.kind,
            "verdict": self.verdict.name,
            "words": self.words,
            "vacuous": self.vacuous,
            "states": counts.states,
            "transitions": counts.transitions,
            "depth": counts.depth,
            "seconds": counts.seconds,
            "engine": self.engine,
            "stopped": self.stopped,
            "fired": list(seen.fired),
            "never_fired": list(seen.never_fired),
            "outside_cone": list(seen.outside_cone),
            "witnesses_reached": dict(seen.witnesses_reached),
            "witnesses_missed": list(seen.witnesses_missed),
            "constraints_hit": list(seen.constraints_hit),
            "never_acted": dict(seen.never_acted),
            "trace": None if self.evidence is None else self.evidence.to_plain(),
        }


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


def _explored(result: Result) -> str:
    counts = result.counts
    states, transitions = counted(counts.states or 0, "state"), counted(counts.transitions or 0, "transition")
    return f"{states}, {transitions}, depth {counts.depth}"


def _holds(result: Result) -> str:
    seen = result.coverage
    sentences = [f"Holds in every interleaving: {_explored(result)}."]
    if seen.constraints_hit:
        sentences.append(f"Within these constraints, which were hit: {'; '.join(seen.constraints_hit)}.")
    if not seen.fired:
        sentences.append("Vacuous: no step makes a difference to it.")
    elif seen.witnesses_missed:
        sentences.append(f"Vacuous: never reached: {'; '.join(seen.witnesses_missed)}.")
    if seen.held_back:
        sentences.append(f"Vacuous: no run is fair, as each is held back by {'; '.join(seen.held_back)}.")
    return " ".join([*sentences, *idle_words(seen.never_acted)])


def idle_words(parts: Mapping[str, str]) -> list[str]:
    """A sentence that says which parts never acted, those of one reason together; none if all did."""
    names: dict[str, list[str]] = {}
    for name, why in parts.items():
        names.setdefault(why, []).append(name)
    told = "; ".join(f"{', '.join(alike)} ({why})" for why, alike in names.items())
    return [f"Asked for, and never acted: {told}."] if told else []


def _violated(result: Result) -> str:
    trace = result.trace
    assert trace is not None
    steps = len(trace.steps)
    when = "in the initial state" if steps == 0 else f"after {counted(steps, 'step')}"
    if result.kind == "invariant":
        return f"Violated {when}, and by no shorter run ({_explored(result)} explored)."
    if isinstance(trace, LassoTrace):
        return _starved(result, trace)
    seen = counted(trace.closure, "state")
    checked = f"the {seen} that they lead to" if trace.closed else f"the first {seen} that they lead to"
    hit = result.coverage.constraints_hit
    within = (
        f" Within these constraints, which were hit, and which may be what is in the way: {'; '.join(hit)}."
        if hit
        else ""
    )
    return (
        f"Violated {when}: from there, fair steps alone never lead back "
        f"(executed again in {checked}; {_explored(result)} explored).{within}"
    )


def _starved(result: Result, lasso: LassoTrace) -> str:
    cycle = len(lasso.steps) - lasso.turn
    when = f"After {counted(lasso.turn, 'step')}" if lasso.turn else "From the initial state on"
    how = f"{counted(cycle, 'step')} can repeat for ever" if cycle else "no fair step can run any more"
    return (
        f"Violated: {lasso.case}. {when}, {how}: every fair actor acts or has nothing to do "
        f"({_explored(result)} explored)."
    )


def _inconclusive(result: Result) -> str:
    budget = {
        "states": "the limit of states",
        "memory": "the limit of memory",
        "disk": "a full disk",
        "timeout": "the time limit",
        "terminated": "a signal",
    }
    covered = f"Stopped by {budget.get(result.stopped or '', 'a limit')} after {_explored(result)}"
    if result.kind != "invariant":
        return f"{covered}: {result.kind} can be decided only when every state was visited."
    clear = max((result.counts.depth or 0) - 1, 0)
    return f"{covered}: no violation within {counted(clear, 'step')}, nothing known beyond."


def _walked(result: Result, walks: WalkCounts) -> str:
    if result.trace is not None:
        steps = len(result.trace.steps)
        if steps == 0:
            return "Violated in the initial state."
        met = counted(walks.met_after, "step")
        how = "" if steps == walks.met_after else ", less the steps that make no difference"
        return (
            f"Violated after {counted(steps, 'step')}, perhaps sooner by another run "
            f"(met by walk {walks.violating} after {met}{how})."
        )
    stopped = "Stopped by the time limit: no" if result.stopped == "timeout" else "No"
    return (
        f"{stopped} violation in {counted(walks.walks, 'random walk')}: {counted(walks.steps, 'step')}, "
        f"{walks.longest:,} on the longest walk; {walks.resting:,} came to rest. "
        "Nothing is known about other runs."
    )


def _replayed(result: Result) -> str:
    trace = result.trace
    assert trace is not None
    run = f"a stored run of {counted(len(trace.steps), 'step')}, executed again"
    if isinstance(trace, LassoTrace):
        return f"Violated: {trace.case}, by {run}. Nothing else was looked at."
    if trace.closure:
        seen = counted(trace.closure, "state")
        end = f"the {seen} that fair steps lead to" if trace.closed else f"the first {seen} of fair steps"
        return f"Violated by {run}: from its end there is no way back in {end}. Nothing else was looked at."
    return f"Violated by {run}. Nothing else was looked at."


def _reasoned(result: Result) -> str:
    """Of what a solver found: it counts no states."""
    depth = result.counts.depth or 0
    if result.verdict is Verdict.VIOLATED:
        return f"Violated after {counted(depth, 'step')}, executed again."
    if result.verdict is Verdict.HOLDS:
        return f"Proved by {result.engine} for runs of any length, at depth {depth}."
    if result.stopped == "steps":
        return f"No violation within {counted(depth, 'step')}, nothing known beyond."
    why = "the time limit" if result.stopped == "timeout" else result.stopped
    return f"Stopped by {why} at depth {depth}, nothing known beyond."
