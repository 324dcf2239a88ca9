"""Which run of a violation is shown: one that a reviewer believes, where there is one.

The shortest run may have a flush after five minutes amid work of microseconds. Then a run with scales of time is looked for, and after that one in which a
single actor is slow: of those whose steps would have to last for minutes in the shortest run. Each is also a run without scales of time, with the same
steps, so the verdict and its counts stay.
"""

from __future__ import annotations

from dataclasses import replace

from ...base.text import counted
from ...checker.core.exploration import Budget
from ...checker.core.result import Result
from ...checker.explicit.small_search import explore_if_small
from ...checker.reduction.conclusion import conclude
from ...checker.reduction.questions import slice_for
from ...checker.reduction.scales_of_time import with_scales
from ...checker.reduction.slicing import Slicer
from ...checker.search import Engine, engine_of
from ...model.language import TransitionSystem
from ...properties.instrument import with_slow
from ...reports.verdict_words import verdict_words
from .slow import slow_actors

MOST_STATES, LARGE = 1_000_000, 1_000_000
"""So many are looked at for each. Native code is compiled for that only where the search had more than `LARGE`: to compile takes longer than a smaller search."""


def believable(
    system: TransitionSystem, result: Result, budget: Budget, engine: Engine = "native"
) -> tuple[Result, str | None]:
    """The result with the run that is to be shown, and what is to be said of both, if it is not the shortest."""
    trace, name = result.trace, result.property_id
    if trace is None or result.kind != "invariant" or system.scales:
        return result, None
    actors = slow_actors(system, name, trace)
    most = min(budget.max_states or MOST_STATES, MOST_STATES)
    bounded = replace(budget, max_states=most, disk=None, resume=False)
    small = engine == "native" and (result.counts.states or 0) <= LARGE
    within = Slicer(system)
    for slow in ((), *((actor,) for actor in actors)) if actors else ():
        slicer = Slicer(replace(with_slow(system, slow), scales=True), within=within)
        part = with_slow(slice_for(within, result.kind, [name]), slow)
        timed = with_scales(replace(part, scales=True))
        answer = explore_if_small(timed, bounded) if small else engine_of(engine)(timed, bounded, None)
        found = None if answer is None else conclude(slicer, timed, answer, name, engine).trace
        if found is not None:
            lasts = f"only {slow[0]} is slow" if slow else "nothing has to last for minutes"
            steps = counted(len(found.steps), "step")
            return (
                replace(result, trace=found),
                f"{verdict_words(result)} Shown is a run of {steps}, in which {lasts}: in the shortest, minutes pass amid shorter work.",
            )
    return result, None
