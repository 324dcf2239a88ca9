"""Which run of a violation is shown: one that a reviewer believes, where there is one; and whether a violation needs something to be slow.

The shortest run may have a flush after five minutes amid work of microseconds. Then a search with scales of time decides whether there is a violation without that.
If there is none, a run is looked for in which a single actor is slow: of those whose steps would have to last for minutes in the shortest run. Each run is also one
without scales of time, with the same steps, so the verdict and its counts stay.
"""

from collections.abc import Sequence
from dataclasses import replace

from ...base.structs import Data
from ...base.text import counted
from ...checker.core.exploration import Budget, Exploration
from ...checker.core.result import Result, Verdict
from ...checker.explicit.small_search import explore_if_small
from ...checker.reduction.conclusion import conclude
from ...checker.reduction.questions import slice_for
from ...checker.reduction.scales_of_time import asking_endless, with_scales
from ...checker.reduction.slicing import Slicer
from ...checker.search import Engine, engine_of
from ...model.language import TransitionSystem
from ...properties.base.instrument import with_slow
from ...reports.document import WithScales
from ...reports.verdict_words import WORDS, verdict_words
from .slow import slow_actors

MOST_STATES, LARGE, PATIENCE = 1_000_000, 1_000_000, 10
"""So many states are looked at for each, and so many times what is small is searched without native code. That is compiled to decide, and for a slow actor
only where the search had more than `LARGE`: to compile takes longer than a smaller search."""


class Shown(Data):
    """The result with the run that is to be shown; what is to be said of it, if it is not the shortest or needs something to be slow; and what comes out with scales of time, if that was asked."""

    result: Result
    words: str | None = None
    with_scales: WithScales | None = None


def believable(system: TransitionSystem, result: Result, budget: Budget, engine: Engine = "native") -> Shown:
    """What is shown of a result."""
    trace, name = result.trace, result.property_id
    if trace is None or result.kind != "invariant" or system.scales:
        return Shown(result)
    actors = slow_actors(system, name, trace)
    if not actors:
        return Shown(result)
    searches = _Searches(system, result, budget, engine)
    timed = searches.result_with(())
    if timed is None:
        return Shown(result)
    if timed.trace is not None:
        return _shown(result, timed, (), ())
    for actor in reversed(actors):
        slower = searches.result_with((actor,))
        if slower is not None and slower.trace is not None:
            return _shown(result, timed, (actor,), (actor,), slower)
    return _shown(result, timed, (), actors)


def _shown(
    result: Result, timed: Result, slow: Sequence[str], needed: Sequence[str], run: Result | None = None
) -> Shown:
    """`timed` is the result with scales of time, `run` that with the actors in `slow`; `needed` are slow in the run that is shown."""
    states = timed.counts.states or 0
    words = verdict_words(result)
    explored = counted(states, "state")
    if timed.verdict is Verdict.HOLDS:
        words += (
            f" The violation needs a delay of minutes: with `time: scales`, the property holds ({explored})."
        )
    elif timed.verdict is Verdict.INCONCLUSIVE:
        words += f" Not decided whether the violation needs a delay of minutes: with `time: scales`, the search was stopped after {explored}."
    trace = (run or timed).trace
    if trace is not None:
        lasts = f"only the {slow[0]} is slow" if slow else "no short work takes minutes"
        other = "the run that was found first" if result.counts.walks else "a shortest run"
        words += f" podrace shows a run of {counted(len(trace.steps), 'step')}, in which {lasts}. In {other}, {'other ' if slow else ''}short work takes minutes."
        result = replace(result, trace=trace)
    return Shown(result, words, WithScales(WORDS[timed.verdict.name], states, tuple(needed)))


class _Searches:
    """Searches of one system with scales of time."""

    def __init__(self, system: TransitionSystem, result: Result, budget: Budget, engine: Engine) -> None:
        self._system, self._name, self._engine = system, result.property_id, engine
        most = min(budget.max_states or MOST_STATES, MOST_STATES)
        self._budget = replace(budget, max_states=most)
        self._is_large = (result.counts.states or 0) > LARGE or engine != "native"
        self._within = Slicer(system)
        self._slice = slice_for(self._within, result.kind, [self._name])

    def result_with(self, slow: Sequence[str]) -> Result | None:
        """The result with scales of time and these actors slow; None where scales say nothing, or the search is too large for what it is asked for."""
        slicer = Slicer(replace(with_slow(self._system, slow), scales=True), within=self._within)
        timed = with_scales(replace(with_slow(self._slice, slow), scales=True))
        asked = None if slow else asking_endless(timed)  # where something is slow, only a violation counts
        answer = self._explored(asked or timed, self._is_large or not slow)
        if answer is None or (answer.lassos and self._name not in answer.violations):
            return None
        return conclude(slicer, timed, answer, self._name, self._engine)

    def _explored(self, system: TransitionSystem, natively: bool) -> Exploration | None:
        small = explore_if_small(system, self._budget, PATIENCE) if self._engine == "native" else None
        return small or (engine_of(self._engine)(system, self._budget, None) if natively else None)
