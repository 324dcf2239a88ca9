"""The steps of a trace as reports know them, with what the model says of each."""

from __future__ import annotations

from collections.abc import Sequence

from ..checker.trace import trace as executed
from ..checker.trace.trace import Trace, plain_value
from ..model.language import Transition, TransitionSystem
from ..reports.step import Change, Step


def steps_of(system: TransitionSystem, trace: Trace) -> tuple[Step, ...]:
    """The steps of a trace, with what the model says of each."""
    return tuple(
        step_of(system, system.transitions[step.transition], i, step.changes)
        for i, step in enumerate(trace.steps, 1)
    )


def step_of(
    system: TransitionSystem, transition: Transition, number: int, changes: Sequence[executed.Change] = ()
) -> Step:
    """A transition as a step that reports know, told in the words of its model."""
    narration = system.narration
    return Step(
        number=number,
        actor=transition.actor,
        component=transition.part,
        step=transition.step,
        args={name: plain_value(value) for name, value in transition.args},
        summary=transition.doc.partition("\n")[0].rstrip("."),
        changes=tuple(_change(system, transition, change) for change in changes),
        told=narration.sentence(f"{transition.part}.{transition.step}", transition.args, changes) or "",
    )


def _change(system: TransitionSystem, transition: Transition, change: executed.Change) -> Change:
    phrase = system.narration.phrase(change, transition.args)
    said, decisive = phrase if phrase is not None else (None, False)
    before, after = plain_value(change.before), plain_value(change.after)
    return Change(change.variable, before, after, said, decisive and bool(said))


def label_of(step: Step) -> str:
    """The label of the transition that a step was."""
    shown = ", ".join(f"{name}={value}" for name, value in step.args.items())
    return f"{step.component}.{step.step}({shown})"
