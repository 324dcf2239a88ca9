"""Check properties: slice, explore, and execute every claim again before it becomes a result.

Each property is decided on its own slice. Properties whose slices have the same variables share one
exploration, because they would visit the very same states: invariants with invariants (such a
search ends early only when all of them are violated), resettabilities with resettabilities (which need every state, and would
keep invariants from ending early), livenesses with livenesses (which end early only when each is violated by a run
that comes to rest).

A witness named `P: ...`, where P is a property, belongs to that property; every other witness belongs to all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import combinations
from typing import Literal

from ..model.language import TransitionSystem
from ..model.language.expr import fresh_graph
from .core.exploration import Budget, Exploration, Lasso, Path
from .explicit import reference
from .explicit.reference import Watcher
from .reduction.policy import Explore, Mode, decide
from .reduction.slicing import Slicer, step_name, transition_map
from .trace.lasso import at_rest, complete, confirm_lasso, resting_case
from .trace.trace import (
    MAX_CONFIRMED_STATES,
    ReplayError,
    Trace,
    confirm,
    confirm_no_way_back,
    confirm_witness,
)
from .verdict import Kind, Result, Verdict

Engine = Literal["native", "reference"]


class UnknownProperty(LookupError):
    """A property was named that the system does not have."""


class EngineDisagreement(Exception):
    """An internal error: the reference interpreter does not confirm what an engine claims.

    No verdict is given. Either the engine, the slice or the interpreter is wrong.
    """


@fresh_graph()
def check(
    system: TransitionSystem,
    properties: Sequence[str] | None = None,
    budget: Budget | None = None,
    *,
    engine: Engine = "native",
    reductions: Mode = "auto",
    progress: Watcher | None = None,
    announce: Callable[[tuple[str, ...]], None] | None = None,
    together: bool = True,
    confirmed_states: int = MAX_CONFIRMED_STATES,
) -> list[Result]:
    """The verdict on each named property (all, if none are named), in the order in which they are named.

    `reductions` says when searches are reduced (see `reductions.policy`); with "off", all counts are those of the
    system itself. `budget` is what each exploration may use; one that runs out makes its properties INCONCLUSIVE unless
    they were already violated. `announce` is told which properties the next exploration decides;
    `together=False` gives each property its own. `confirmed_states` bounds how far a state with no way back is executed
    again. Raises UnknownProperty, ValueError if there is nothing to check, and EngineDisagreement.
    """
    names = _named(system, properties)
    budget = budget or Budget()
    if budget.max_states is not None and budget.max_states < 1:
        raise ValueError(f"a search needs room for at least 1 state, not {budget.max_states}")
    explore = _engine(engine)
    found: dict[str, Result] = {}
    slicer = Slicer(system)
    for group in _groups(slicer, names, together):
        if announce is not None:
            announce(group.names)
        outcome = decide(group.slice, budget, progress, explore, reductions)
        for name in group.names:
            answer, reduced = outcome.about(name)
            found[name] = conclude(slicer, group.slice, answer, name, engine, reduced, confirmed_states)
    return [found[name] for name in names]


@dataclass(frozen=True, slots=True)
class _Group:
    """Properties of one kind that one exploration decides, and the slice that it explores."""

    kind: Kind
    names: tuple[str, ...]
    slice: TransitionSystem


def _named(system: TransitionSystem, properties: Sequence[str] | None) -> list[str]:
    known = [*system.invariants, *system.resettabilities, *system.livenesses]
    kinds = {
        "an invariant": system.invariants,
        "a resettability": system.resettabilities,
        "a liveness": system.livenesses,
    }
    for (one, table), (other, further) in combinations(kinds.items(), 2):
        doubled = [name for name in further if name in table]
        if doubled:
            raise ValueError(f"{system.name} has both {one} and {other} `{doubled[0]}`")
    names = known if properties is None else list(dict.fromkeys(properties))
    for name in names:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = f"did you mean `{close[0]}`?" if close else f"it has {', '.join(known) or 'none'}"
            raise UnknownProperty(f"{system.name} has no property `{name}`: {hint}")
    if not names:
        raise ValueError(f"there is no property of {system.name} to check")
    return names


def _engine(name: str) -> Explore:
    if name == "reference":
        return reference.explore
    if name == "native":
        from .explicit import explore as explore_natively

        return explore_natively
    raise ValueError(f"there is no engine `{name}`: use `native` or `reference`")


def witnesses_of(system: TransitionSystem, name: str) -> list[str]:
    """The witnesses that show whether a verdict on this property is vacuous."""
    others = [n for n in (*system.invariants, *system.resettabilities, *system.livenesses) if n != name]
    return [
        witness
        for witness in system.witnesses
        if not any(witness.startswith(f"{other}: ") for other in others)
    ]


def explored_slice(system: TransitionSystem, name: str) -> TransitionSystem:
    """What `check` explores for this property when it is checked by itself. Raises UnknownProperty."""
    (found,) = _named(system, [name])
    return _slice(Slicer(system), kind_of(system, found), [found])


def kind_of(system: TransitionSystem, name: str) -> Kind:
    """What a property of the system is."""
    if name in system.invariants:
        return "invariant"
    return "resettability" if name in system.resettabilities else "liveness"


def _slice(slicer: Slicer, kind: Kind, names: Sequence[str]) -> TransitionSystem:
    system = slicer.system
    wanted = {witness for name in names for witness in witnesses_of(system, name)}
    found = slicer.slice(
        invariants=names if kind == "invariant" else (),
        resettabilities=names if kind == "resettability" else (),
        livenesses=names if kind == "liveness" else (),
        witnesses=[witness for witness in system.witnesses if witness in wanted],
    )
    # A run that comes to rest is found while the search goes on.
    return found.with_predicates(invariants=at_rest(found)) if kind == "liveness" else found


def _groups(slicer: Slicer, names: Sequence[str], together: bool) -> Iterable[_Group]:
    """Groups in the order of their first property; a slice of several has the variables of each."""
    system = slicer.system
    grouped: dict[tuple[Kind, object], list[str]] = {}
    single: dict[str, TransitionSystem] = {}
    for name in names:
        kind = kind_of(system, name)
        single[name] = _slice(slicer, kind, [name])
        variables = frozenset(v.name for v in single[name].variables)
        grouped.setdefault((kind, variables if together else name), []).append(name)
    for (kind, _), members in grouped.items():
        sliced = single[members[0]] if len(members) == 1 else _slice(slicer, kind, members)
        yield _Group(kind, tuple(members), sliced)


def conclude(
    slicer: Slicer,
    sliced: TransitionSystem,
    answer: Exploration,
    name: str,
    engine: str = "native",
    reductions: tuple[str, ...] = (),
    confirmed_states: int = MAX_CONFIRMED_STATES,
) -> Result:
    """The verdict that an exploration of a slice gives on a property of the slicer's system, its claims executed again.

    Raises EngineDisagreement.
    """
    system = slicer.system
    kind = kind_of(system, name)
    numbers = transition_map(sliced, system)
    claimed = _claim(kind, sliced, answer, name)
    trace: Trace | None = None
    if claimed is not None:
        verdict = Verdict.VIOLATED
        path = tuple(numbers[i] for i in claimed.prefix)
        try:
            if kind == "invariant":
                trace = confirm(system, path, name)
            elif kind == "resettability":
                trace = confirm_no_way_back(system, path, name, confirmed_states)
            else:
                trace = confirm_lasso(system, complete(sliced, system, claimed, numbers), name)
        except ReplayError as error:
            raise EngineDisagreement(
                f"the {engine} engine claims that `{name}` of {system.name} is violated after {len(path)} steps, "
                f"but the reference interpreter says: {error}"
            ) from error
    elif answer.complete:
        verdict = Verdict.HOLDS
    elif answer.stopped in ("states", "memory", "disk", "timeout"):
        verdict = Verdict.INCONCLUSIVE
    else:
        raise EngineDisagreement(
            f"the {engine} engine stopped with `{answer.stopped}` and no answer for `{name}` of {system.name}"
        )
    fired = {step_name(sliced.transitions[i]) for i, times in enumerate(answer.fired) if times}
    outside_cone = slicer.steps_outside_cone(sliced)
    steps = [s for s in dict.fromkeys(map(step_name, system.transitions)) if s not in outside_cone]
    witnesses = witnesses_of(system, name)
    reached = {
        witness: _confirmed_witness(
            system, tuple(numbers[i] for i in answer.witnesses[witness]), witness, engine
        )
        for witness in witnesses
        if witness in answer.witnesses
    }
    return Result(
        system=system.name,
        property_id=name,
        kind=kind,
        verdict=verdict,
        states=answer.states,
        transitions=answer.transitions,
        depth=answer.depth,
        seconds=answer.seconds,
        trace=trace,
        fired=tuple(step for step in steps if step in fired),
        never_fired=tuple(step for step in steps if step not in fired),
        outside_cone=outside_cone,
        witnesses_reached=reached,
        witnesses_missed=tuple(witness for witness in witnesses if witness not in reached),
        constraints_hit=tuple(bound for bound in system.constraints if bound in answer.constraints_hit),
        stopped=answer.stopped,
        engine=engine,
        reductions=reductions,
    )


def _claim(kind: Kind, sliced: TransitionSystem, answer: Exploration, name: str) -> Lasso | None:
    """The violation that an engine found, if it found one; only that of a liveness has a cycle."""
    if kind == "resettability":
        return Lasso(answer.no_way_back[name], (), "") if name in answer.no_way_back else None
    if name not in answer.violations:
        return answer.lassos.get(name)
    path = answer.violations[name]
    return Lasso(path, (), resting_case(sliced, path, name) if kind == "liveness" else "")


def _confirmed_witness(system: TransitionSystem, path: Path, witness: str, engine: str) -> int:
    try:
        return len(confirm_witness(system, path, witness).steps)
    except ReplayError as error:
        raise EngineDisagreement(
            f"the {engine} engine claims that {system.name} reaches `{witness}` after {len(path)} steps, "
            f"but the reference interpreter says: {error}"
        ) from error
