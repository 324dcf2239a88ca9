"""Check properties: slice, explore, and execute every claim again before it becomes a result.

Each property is decided on its own slice. Properties whose slices have the same variables share one
exploration, because they would visit the very same states: invariants with invariants (such a
search ends early only when all of them are violated), resettabilities with resettabilities (which need every state, and would
keep invariants from ending early), livenesses with livenesses (which end early only when each is violated by a run
that comes to rest).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Literal

from ..base.problems import Terminated
from ..base.structs import Data
from ..model.language import TransitionSystem
from ..model.language.expressions.expr import fresh_graph
from . import explicit
from .core.exploration import Budget, Exploration, Watcher
from .core.result import Kind, Result, Verdict
from .explicit import reference
from .explicit.small_search import explore_if_small
from .reduction.conclusion import conclude
from .reduction.fair_run import held_back
from .reduction.idle_parts import Parts, never_acted
from .reduction.questions import kind_of, properties_of, slice_for
from .reduction.scales_of_time import endless
from .reduction.slicing import Slicer
from .trace.execution import MAX_CONFIRMED_STATES
from .walks import search_farther

Engine = Literal["native", "reference"]
Explore = Callable[[TransitionSystem, Budget, Watcher | None], Exploration]


@fresh_graph()
def check(
    system: TransitionSystem,
    properties: Sequence[str] | None = None,
    budget: Budget | None = None,
    *,
    engine: Engine = "native",
    progress: Watcher | None = None,
    announce: Callable[[tuple[str, ...]], None] | None = None,
    together: bool = True,
    confirmed_states: int = MAX_CONFIRMED_STATES,
    parts: Callable[[TransitionSystem], Parts] | None = None,
    explore: Explore | None = None,
    slicer: Slicer | None = None,
) -> list[Result]:
    """The verdict on each named property (all, if none are named), in the order in which they are named.

    `budget` is what each exploration may use; one that runs out makes its properties INCONCLUSIVE unless they were already
    violated. `announce` is told which properties the next exploration decides;
    `together=False` gives each property its own. `confirmed_states` bounds how far a state with no way back is executed
    again. With `parts`, what was asked for, a property that holds says which of them never acted, and which constraints hold every run back.
    `explore` takes the place of the engine, and gives what that gives; `slicer` slices this system.
    Raises UnknownProperty, ValueError if there is nothing to check, and EngineDisagreement.
    """
    names = properties_of(system, properties)
    budget = budget or Budget()
    if budget.max_states is not None and budget.max_states < 1:
        raise ValueError(f"a search needs room for at least 1 state, not {budget.max_states}")
    explore = explore or engine_of(engine)
    found: dict[str, Result] = {}
    slicer = slicer or Slicer(system)

    def again(question: TransitionSystem, room: Budget) -> Exploration:
        return explore(question, room, None)

    try:
        for group in _groups(slicer, names, together):
            if announce is not None:
                announce(group.names)
            part, answer, results = decided(
                slicer,
                group,
                lambda part: search_farther(part, explore(part, budget, progress), budget),
                again,
                budget,
                lambda part, answer, name: conclude(slicer, part, answer, name, engine, confirmed_states),
            )
            for name, result in zip(group.names, results, strict=True):
                if parts is not None and result.verdict is Verdict.HOLDS:
                    idle = never_acted(slicer, part, answer, parts(system), again, budget)
                    held = held_back(part, answer, again, budget)
                    coverage = replace(result.coverage, never_acted=idle, held_back=held)
                    result = replace(result, coverage=coverage)
                found[name] = result
    except Terminated as ended:
        ended.decided.update(found)
        raise
    return [found[name] for name in names]


class Group(Data):
    """Properties of one kind that one exploration decides, and the slice that it explores."""

    kind: Kind
    names: tuple[str, ...]
    slice: TransitionSystem


def decided(
    slicer: Slicer,
    group: Group,
    explore: Callable[[TransitionSystem], Exploration],
    again: Callable[[TransitionSystem, Budget], Exploration],
    budget: Budget,
    conclusion: Callable[[TransitionSystem, Exploration, str], Result],
) -> tuple[TransitionSystem, Exploration, list[Result]]:
    """What was explored for the properties of a group, what was found, and the results.

    With scales of time a property holds only if no timer can wait for ever while work goes on. If one can, timers may fire at any moment after all.
    """
    part, answer = group.slice, explore(group.slice)
    results = [conclusion(part, answer, name) for name in group.names]
    asked = endless(part)
    if asked is None or all(result.verdict is not Verdict.HOLDS for result in results):
        return part, answer, results
    waits = again(asked, budget)
    if waits.lassos:
        part = slice_for(slicer, group.kind, group.names, scales=False)
        answer = again(part, budget)  # a directory of states has those of the first search
        results = [conclusion(part, answer, name) for name in group.names]
        return part, answer, [replace(r, coverage=replace(r.coverage, endless=True)) for r in results]
    if not waits.complete:
        answer = replace(answer, complete=False, stopped=waits.stopped)
        results = [conclusion(part, answer, name) for name in group.names]
    return part, answer, results


def engine_of(name: str) -> Explore:
    """The engine of this name. Raises ValueError if there is none."""
    if name == "reference":
        return reference.explore
    if name == "native":
        return _explore_natively
    raise ValueError(f"there is no engine `{name}`: use `native` or `reference`")


def _explore_natively(
    system: TransitionSystem, budget: Budget, progress: Watcher | None = None
) -> Exploration:
    """Native code, unless to load and to make it would take longer than the search; the answer is the same."""
    return explore_if_small(system, budget) or explicit.explore(system, budget, progress)


def _groups(slicer: Slicer, names: Sequence[str], together: bool) -> Iterable[Group]:
    """Groups in the order of their first property; a slice of several has the variables of each."""
    system = slicer.system
    grouped: dict[tuple[Kind, object], list[str]] = {}
    single: dict[str, TransitionSystem] = {}
    for name in names:
        kind = kind_of(system, name)
        single[name] = slice_for(slicer, kind, [name])
        variables = frozenset(v.name for v in single[name].variables)
        grouped.setdefault((kind, variables if together else name), []).append(name)
    for (kind, _), members in grouped.items():
        sliced = single[members[0]] if len(members) == 1 else slice_for(slicer, kind, members)
        yield Group(kind, tuple(members), sliced)
