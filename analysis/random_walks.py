"""One run of `podrace simulate`: trace the model, walk, and put the answer into the form that the reports read."""

from __future__ import annotations

from collections.abc import Callable

from ..checker.core.result import Seen
from ..checker.simulate import Walks, simulate
from ..checker.trace.trace import plain_value
from ..reports.document import Fixes
from ..reports.walks import Values, Walked
from .execute import WORDS, ignored_words, scope_of, silence_of, witness_words
from .plan import Run
from .steps import steps_of
from .systems import system_of


def walk(
    run: Run,
    walks: Walks,
    notes: tuple[str, ...] = (),
    watch: Callable[[int, int, float], None] | None = None,
) -> Walked:
    """Walk for one property, in a system of its own."""
    system = system_of(run)
    found = simulate(system, run.property, walks, watch)
    counts, seconds, seen = found.counts.walks, found.counts.seconds or 0.0, found.coverage
    assert counts is not None
    return Walked(
        scenario=run.scenario.name,
        release=run.composition.release,
        fixes=Fixes(run.composition.added, run.composition.removed),
        property=run.property,
        verdict=WORDS[found.verdict.name],
        seed=walks.seed,
        by=walks.by,
        max_walks=walks.count,
        max_steps=walks.steps,
        walks=counts.walks,
        steps=counts.steps,
        resting=counts.resting,
        longest=counts.longest,
        seconds=round(seconds, 3),
        steps_per_second=round(counts.steps / seconds) if seconds > 0 else 0,
        walk=counts.violating,
        met_after=None if counts.violating is None else counts.met_after,
        trace=None if found.trace is None else steps_of(system, found.trace),
        words=found.words + silence_of(run),
        notes=(*run.composition.notes, *notes),
        title=run.scenario.title,
        sentence=run.prop.sentence(),
        issues=run.prop.issues,
        scope=scope_of(run.scenario.spec.scope),
        constraints_hit=seen.constraints_hit,
        witnesses_reached={witness_words(name): steps for name, steps in seen.witnesses_reached.items()},
        witnesses_missed=tuple(witness_words(name) for name in seen.witnesses_missed),
        steps_fired=dict(seen.fired),
        steps_never_fired=seen.never_fired,
        values=tuple(_values(one) for one in seen.values),
    )


def ignored(run: Run, walks: Walks) -> Walked:
    """What is reported of a run that the scenario says is not to be looked at: no walk was taken."""
    return Walked(
        scenario=run.scenario.name,
        release=run.composition.release,
        fixes=Fixes(run.composition.added, run.composition.removed),
        property=run.property,
        verdict="IGNORED",
        seed=walks.seed,
        by=walks.by,
        max_walks=walks.count,
        max_steps=walks.steps,
        walks=0,
        steps=0,
        resting=0,
        longest=0,
        seconds=0.0,
        steps_per_second=0,
        words=ignored_words(run),
        notes=run.composition.notes,
        title=run.scenario.title,
        sentence=run.prop.sentence(),
        issues=run.prop.issues,
    )


def _values(seen: Seen) -> Values:
    missing = () if seen.counted else tuple(plain_value(value) for value in seen.missing)
    return Values(seen.variable, len(seen.values), len(seen.values) + len(seen.missing), missing)
