"""What the model says, as reports know it: of each step of a trace, and of what its components know (views and channels)."""

from collections.abc import Mapping, Sequence
from typing import Any

from ...checker.core import trace as executed
from ...checker.core.interpreter import Interpreter
from ...checker.core.trace import Trace, plain_value
from ...model.language import State, Transition, TransitionSystem, topological
from ...reports.evidence import Cell, Memory, ShownChannel, ShownFact, ShownReader, View
from ...reports.step import ShownChange, ShownStep, Value


def steps_of(system: TransitionSystem, trace: Trace) -> tuple[ShownStep, ...]:
    """The steps of a trace, with what the model says of each."""
    interpreter = Interpreter(system)
    return tuple(
        _told(interpreter, number, step, state)
        for number, (step, state) in enumerate(zip(trace.steps, trace.states, strict=False), 1)
    )


def steps_from(
    system: TransitionSystem, state: State, steps: Sequence[executed.Step], first: int = 1
) -> tuple[ShownStep, ...]:
    """Steps that are taken one after the other from a state, numbered from `first`, with what the model says of each."""
    interpreter = Interpreter(system)
    found = []
    for number, step in enumerate(steps, first):
        found.append(_told(interpreter, number, step, state))
        state = interpreter.successor(state, step.transition)
    return tuple(found)


def _told(interpreter: Interpreter, number: int, step: executed.Step, state: State) -> ShownStep:
    system = interpreter.system
    transition = system.transitions[step.transition]
    reasons = reasons_for(interpreter, transition, state)
    return step_of(system, transition, number, step.changes, system.describe(state), reasons)


def reasons_for(interpreter: Interpreter, transition: Transition, state: State) -> list[str]:
    """Why a step goes as it does in this state, in the words of the model; nothing where numbers are open."""
    said = interpreter.system.explainer.reasons(transition).items()
    known = ((text, when) for text, when in said if all(node.op != "param" for node in topological([when])))
    return [text for text, when in known if interpreter.holds(when, state)]


def step_of(
    system: TransitionSystem,
    transition: Transition,
    number: int,
    changes: Sequence[executed.VariableChange] = (),
    found: Mapping[str, Any] | None = None,
    reasons: Sequence[str] = (),
) -> ShownStep:
    """A transition as a step that reports know, told in the words of its model; `found` are the values of variables before it,
    `reasons` why it went as it did.
    """
    narration = system.narration
    return ShownStep(
        number=number,
        actor=transition.actor,
        component=transition.part,
        step=transition.step,
        args={name: plain_value(value) for name, value in transition.args},
        summary=transition.doc.partition("\n")[0].rstrip("."),
        changes=tuple(_change(system, transition, change) for change in changes),
        told=narration.sentence(
            f"{transition.part}.{transition.step}", transition.args, changes, found, reasons
        )
        or "",
        reasons=tuple(reasons),
    )


def _change(system: TransitionSystem, transition: Transition, change: executed.VariableChange) -> ShownChange:
    phrase = system.narration.phrase(change, transition.args)
    said, decisive = phrase if phrase is not None else (None, False)
    before, after = plain_value(change.before), plain_value(change.after)
    return ShownChange(change.variable, before, after, said, decisive and bool(said))


def label_of(step: ShownStep) -> str:
    """The label of the transition that a step was."""
    shown = ", ".join(f"{name}={value}" for name, value in step.args.items())
    return f"{step.component}.{step.step}({shown})"


def memory_of(system: TransitionSystem, state: State) -> Memory:
    """What the components of a system know, beginning in `state`; variables that the system lacks are left out."""
    values = {name: plain_value(value) for name, value in system.describe(state).items()}
    narration = system.narration
    views = []
    for view in narration.views:
        cells = tuple(Cell(v, subject, fact, values[v]) for v, subject, fact in view.cells if v in values)
        if cells:
            views.append(View(view.view, cells, view.key, view.nothing, view.fleeting))
    return Memory(
        tuple(views),
        tuple(
            ShownChannel(
                channel.channel,
                _cell(values, channel.length, "length"),
                tuple(tuple(_cell(values, v, fact) for v, fact in e if v in values) for e in channel.entries),
                channel.subject,
                channel.about,
                tuple(
                    ShownReader(
                        reader.name,
                        _cell(values, reader.position, "position") if reader.position in values else None,
                        reader.only,
                        _cell(values, reader.busy, "busy") if reader.busy in values else None,
                    )
                    for reader in channel.readers
                ),
            )
            for channel in narration.channels
            if channel.length in values
        ),
        tuple(name for name, fact in narration.facts.items() if fact.compared),
        {
            name: ShownFact(fact.says, fact.denies, dict(fact.values))
            for name, fact in narration.facts.items()
        },
    )


def _cell(values: dict[str, Value], variable: str, fact: str) -> Cell:
    return Cell(variable, "", fact, values[variable])
