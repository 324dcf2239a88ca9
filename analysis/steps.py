"""The steps of a trace as reports know them, with what the model says of each."""

from __future__ import annotations

from ..checker.trace.trace import Trace, plain_value
from ..model.language import Transition, TransitionSystem
from ..reports.step import Change, Step


def steps_of(system: TransitionSystem, trace: Trace) -> tuple[Step, ...]:
    """The steps of a trace, with what the model says of each."""
    return tuple(
        step_of(
            system.transitions[step.transition],
            i,
            tuple(Change(c.variable, plain_value(c.before), plain_value(c.after)) for c in step.changes),
        )
        for i, step in enumerate(trace.steps, 1)
    )


def step_of(transition: Transition, number: int, changes: tuple[Change, ...] = ()) -> Step:
    """A transition as a step that reports know."""
    return Step(
        number=number,
        actor=transition.actor,
        component=transition.part,
        step=transition.step,
        args={name: plain_value(value) for name, value in transition.args},
        summary=transition.doc.partition("\n")[0].rstrip("."),
        changes=changes,
    )


def label_of(step: Step) -> str:
    """The label of the transition that a step was."""
    shown = ", ".join(f"{name}={value}" for name, value in step.args.items())
    return f"{step.component}.{step.step}({shown})"
