"""From the answer of an engine about a slice to the result on the whole system: what is claimed is executed again, and what was
covered is said. Coverage is computed here, for every engine.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager

from ...model.language import TransitionSystem
from ..core.exploration import Exploration, Lasso, Path
from ..core.result import Counts, Coverage, EngineDisagreement, Kind, Result, Verdict
from ..core.trace import Trace
from ..trace.execution import MAX_CONFIRMED_STATES, ReplayError, confirm, confirm_no_way_back, confirm_witness
from ..trace.lasso import complete, confirm_lasso, resting_case
from .questions import kind_of, witnesses_of
from .scales_of_time import confirm_time
from .slicing import Slicer, step_name, transition_map

OUT_OF_BUDGET = ("states", "memory", "timeout")
"""Why an engine may stop without an answer."""


def conclude(
    slicer: Slicer,
    sliced: TransitionSystem,
    answer: Exploration,
    name: str,
    engine: str = "native",
    confirmed_states: int = MAX_CONFIRMED_STATES,
) -> Result:
    """The verdict that an exploration of a slice gives on a property of the slicer's system, its claims executed again.

    `confirmed_states` bounds how far a state with no way back is executed again. Raises EngineDisagreement.
    """
    system = slicer.system
    kind = kind_of(system, name)
    numbers = transition_map(sliced, system)
    trace = _violation(sliced, system, numbers, answer, name, engine, confirmed_states)
    if trace is None and not answer.complete and answer.stopped not in OUT_OF_BUDGET:
        raise EngineDisagreement(
            f"the {engine} engine stopped with `{answer.stopped}` and no answer for `{name}` of {system.name}"
        )
    reached = {
        witness: _witness(system, tuple(numbers[i] for i in answer.witnesses[witness]), witness, engine)
        for witness in witnesses_of(system, name)
        if witness in answer.witnesses
    }
    walks = answer.walks if trace is None or name in answer.walked else 0
    return Result(
        system=system.name,
        property_id=name,
        kind=kind,
        verdict=verdict_of(answer.complete, trace is not None),
        counts=Counts(answer.states, answer.transitions, answer.depth, answer.seconds, walks),
        coverage=coverage_of(
            slicer,
            sliced,
            name,
            fired=times_fired(sliced, answer.fired),
            reached=reached,
            constraints_hit=answer.constraints_hit,
        ),
        trace=trace,
        stopped=answer.stopped,
        engine=engine,
    )


def verdict_of(complete: bool, violated: bool) -> Verdict:
    """What a search says of a property: `complete` if every reachable state was expanded, `violated` if a violating run was executed."""
    if violated:
        return Verdict.VIOLATED
    return Verdict.HOLDS if complete else Verdict.INCONCLUSIVE


def coverage_of(
    slicer: Slicer,
    sliced: TransitionSystem,
    name: str,
    *,
    fired: Mapping[str, int],
    reached: Mapping[str, int],
    constraints_hit: Collection[str],
) -> Coverage:
    """What a search of a slice for one property says of the whole system, everything in the order of the system.

    `fired` says how often each step (`part.step`) could be taken, `reached` how long a run to each witness is.
    """
    system = slicer.system
    outside = slicer.steps_outside_cone(sliced)
    steps = [s for s in dict.fromkeys(map(step_name, system.transitions)) if s not in outside]
    witnesses = witnesses_of(system, name)
    return Coverage(
        fired={step: fired[step] for step in steps if step in fired},
        never_fired=tuple(step for step in steps if step not in fired),
        outside_cone=outside,
        witnesses_reached={witness: reached[witness] for witness in witnesses if witness in reached},
        witnesses_missed=tuple(witness for witness in witnesses if witness not in reached),
        constraints_hit=tuple(c for c in system.constraints if c in constraints_hit),
    )


def times_fired(sliced: TransitionSystem, fired: Iterable[int]) -> dict[str, int]:
    """How often each step (`part.step`) could be taken, from the same of each transition; without those that never could."""
    found: dict[str, int] = {}
    for transition, times in zip(sliced.transitions, fired, strict=False):
        if times:
            found[step_name(transition)] = found.get(step_name(transition), 0) + int(times)
    return found


@contextmanager
def disagreement(claim: str) -> Iterator[None]:
    """What the interpreter does not confirm in here becomes an EngineDisagreement about this claim."""
    try:
        yield
    except ReplayError as error:
        raise EngineDisagreement(f"{claim}, but the reference interpreter says: {error}") from error


def _violation(
    sliced: TransitionSystem,
    system: TransitionSystem,
    numbers: Path,
    answer: Exploration,
    name: str,
    engine: str,
    confirmed_states: int,
) -> Trace | None:
    """The violation that an exploration claims, executed on the whole system; None if it claims none."""
    kind = kind_of(system, name)
    claimed = _claim(kind, sliced, answer, name)
    if claimed is None:
        return None
    path = tuple(numbers[i] for i in claimed.prefix)
    what = f"the {engine} engine claims that `{name}` of {system.name} is violated after {len(path)} steps"
    with disagreement(what):
        if kind == "invariant":
            confirm_time(sliced, system, numbers, claimed.prefix)
            return confirm(system, path, name)
        if kind == "resettability":
            return confirm_no_way_back(system, path, name, confirmed_states)
        return confirm_lasso(system, complete(sliced, system, claimed, numbers), name)


def _witness(system: TransitionSystem, path: Path, witness: str, engine: str) -> int:
    """The length of a run that an exploration claims to reach a witness, executed on the whole system."""
    what = f"the {engine} engine claims that {system.name} reaches `{witness}` after {len(path)} steps"
    with disagreement(what):
        return len(confirm_witness(system, path, witness).steps)


def _claim(kind: Kind, sliced: TransitionSystem, answer: Exploration, name: str) -> Lasso | None:
    """The violation that an engine found, if it found one; only that of a liveness has a cycle."""
    if kind == "resettability":
        return Lasso(answer.no_way_back[name], (), "") if name in answer.no_way_back else None
    if name not in answer.violations:
        return answer.lassos.get(name)
    path = answer.violations[name]
    return Lasso(path, (), resting_case(sliced, path, name) if kind == "liveness" else "")
