"""One run: trace the model, search it, and put the answer into the words of the reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from ..checker.exploration import Budget, Exploration, Progress
from ..checker.reference import explore
from ..checker.trace import Trace, confirm, confirm_trap, plain_value
from ..model.language import TransitionSystem
from ..properties import PROPERTIES, instrument
from ..reports.document import Change, Finding, Fixes, Step, Trap, Word
from .plan import Run

Watcher = Callable[[Progress], None]


def execute(run: Run, budget: Budget, engine: str = "native", watch: Watcher | None = None) -> Finding:
    """Check one property and report what came out; every trace shown was replayed by the reference interpreter."""
    prop = PROPERTIES[run.property]
    system = instrument(run.scenario.spec, run.composition.classes, [prop])
    answer = explore(system, budget, watch)
    trace = None
    if run.property in answer.violations:
        trace = confirm(system, answer.violations[run.property], run.property)
    elif run.property in answer.traps:
        trace = confirm_trap(system, answer.traps[run.property], run.property)
    verdict: Word = "VIOLATED" if trace else "HOLDS" if answer.complete else "INCONCLUSIVE"
    return _finding(run, system, answer, trace, verdict)


def _finding(
    run: Run, system: TransitionSystem, answer: Exploration, trace: Trace | None, verdict: Word
) -> Finding:
    prop = PROPERTIES[run.property]
    fired: dict[str, bool] = {}
    for transition, count in zip(system.transitions, answer.fired, strict=True):
        name = f"{transition.part}.{transition.step}"
        fired[name] = fired.get(name, False) or count > 0
    return Finding(
        scenario=run.scenario.name,
        release=run.composition.release,
        fixes=Fixes(run.composition.added, run.composition.removed),
        property=run.property,
        verdict=verdict,
        states=answer.states,
        transitions=answer.transitions,
        depth=answer.depth,
        seconds=round(answer.seconds, 3),
        trace=_steps(system, trace) if trace else None,
        trap=Trap(trace.closure, trace.closed) if trace and trace.closure else None,
        expected=run.expected,
        reason=f"The budget ran out: {answer.stopped}." if verdict == "INCONCLUSIVE" else "",
        notes=run.composition.notes,
        title=run.scenario.title,
        sentence=prop.sentence(),
        issues=prop.issues,
        scope=asdict(run.scenario.spec.scope),
        bounds_hit=tuple(sorted(answer.limits_hit)),
        goals_reached=tuple(name.partition(": ")[2] for name in system.goals if name in answer.goals),
        goals_missed=tuple(name.partition(": ")[2] for name in system.goals if name not in answer.goals),
        steps_fired=tuple(name for name, did in fired.items() if did),
        steps_never_fired=tuple(name for name, did in fired.items() if not did),
        vacuous=verdict == "HOLDS" and bool(system.goals) and not answer.goals,
    )


def _steps(system: TransitionSystem, trace: Trace) -> tuple[Step, ...]:
    return tuple(
        Step(
            number=i,
            actor=step.actor,
            component=step.part,
            step=step.step,
            args={name: plain_value(value) for name, value in step.args},
            summary=system.transitions[step.transition].doc.partition("\n")[0],
            changes=tuple(
                Change(c.variable, plain_value(c.before), plain_value(c.after)) for c in step.changes
            ),
        )
        for i, step in enumerate(trace.steps, 1)
    )
