"""Replay: runs executed step by step by the reference interpreter, and what they are claimed to show.

Whatever an engine claims is a list of transition numbers. It becomes a trace only by being executed
here, and a counterexample only by being confirmed here: nothing else is ever shown.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import replace

from ...model.language import Expr, State, TransitionSystem
from ..core.exploration import Path
from ..core.interpreter import Interpreter
from ..core.remembering import RememberingInterpreter
from ..core.trace import Step, Trace, VariableChange

MAX_CONFIRMED_STATES = 2_000
"""How many states `confirm_no_way_back` looks at, unless told otherwise."""


class ReplayError(Exception):
    """A claimed run is not a run, or does not show what it was claimed to show.

    `step` counts from 0: the first step that could not be taken, or the number of the state that is
    not as claimed. `enabled` lists what could have happened there.
    """

    def __init__(self, message: str, step: int, enabled: tuple[str, ...] = ()) -> None:
        self.step, self.enabled = step, enabled
        super().__init__(message)


def replay(system: TransitionSystem, path: Path) -> Trace:
    """Execute `path` from the initial state; ReplayError if one of its steps cannot be taken."""
    return _replay(Interpreter(system), path)


def confirm(
    system: TransitionSystem, path: Path, invariant: str, parameters: Mapping[str, int] | None = None
) -> Trace:
    """Execute `path` and check that its last state, and no earlier one, violates the invariant.

    `parameters` are the values of those that the system leaves open.
    """
    interpreter = Interpreter(system, parameters)
    trace = _replay(interpreter, path)
    predicate = _predicate(system, "invariant", invariant)
    broken = [not interpreter.holds(predicate, state) for state in trace.states]
    _first_at_end(broken, "violates", f"the invariant `{invariant}`")
    return trace


def confirm_witness(
    system: TransitionSystem, path: Path, witness: str, parameters: Mapping[str, int] | None = None
) -> Trace:
    """Execute `path` and check that its last state, and no earlier one, satisfies the witness; `parameters` as of `confirm`."""
    interpreter = Interpreter(system, parameters)
    trace = _replay(interpreter, path)
    predicate = _predicate(system, "witness", witness)
    reached = [interpreter.holds(predicate, state) for state in trace.states]
    _first_at_end(reached, "reaches", f"the witness `{witness}`")
    return trace


def confirm_no_way_back(
    system: TransitionSystem,
    path: Path,
    resettability: str,
    max_states: int = MAX_CONFIRMED_STATES,
    parameters: Mapping[str, int] | None = None,
) -> Trace:
    """Execute `path` and check that fair transitions lead from its end to no state of the resettability.

    Looks at no more than `max_states` states; `closed` of the trace says whether that was all of them. `parameters` are
    the values of those that the system leaves open.
    """
    interpreter = RememberingInterpreter(system, parameters)
    trace = _replay(interpreter, path)
    predicate = _predicate(system, "resettability", resettability)
    start = trace.states[-1]
    ways: dict[State, Path] = {start: ()}
    waiting = deque([start])
    closed = True
    fair = [number for number, transition in enumerate(system.transitions) if transition.fair]
    while waiting:
        state = waiting.popleft()
        if interpreter.holds(predicate, state):
            way = " then ".join(system.transitions[n].label for n in ways[state]) or "no step at all"
            raise ReplayError(
                f"the run of {len(path)} steps ends where there is a way back: `{resettability}` is reached from there by {way}",
                len(path),
                _labels(interpreter, start),
            )
        for number in interpreter.enabled(state, fair):
            target = interpreter.successor(state, number)
            if target in ways:
                continue
            if len(ways) >= max_states:
                closed = False
                continue
            ways[target] = (*ways[state], number)
            waiting.append(target)
    return replace(trace, closure=len(ways), closed=closed)


def _replay(interpreter: Interpreter, path: Path) -> Trace:
    system = interpreter.system
    states = [system.initial]
    steps: list[Step] = []
    for position, number in enumerate(path):
        state = states[-1]
        why = _disabled_reason(interpreter, state, number)
        if why is not None:
            available = _labels(interpreter, state)
            raise ReplayError(
                f"step {position + 1} of {len(path)}: {why}; enabled there: {', '.join(available) or 'nothing'}",
                position,
                available,
            )
        states.append(interpreter.successor(state, number))
        steps.append(step_between(system, number, state, states[-1]))
    return Trace(tuple(steps), tuple(states))


def _disabled_reason(interpreter: Interpreter, state: State, number: int) -> str | None:
    transitions = interpreter.system.transitions
    if not 0 <= number < len(transitions):
        return f"there is no transition {number}, only 0..{len(transitions) - 1}"
    label = transitions[number].label
    if not interpreter.holds(transitions[number].guard, state):
        return f"`{label}` is not enabled, its guard is false"
    blocking = interpreter.blocking(state, number)
    if blocking:
        return f"`{label}` is stopped by the constraint `{blocking[0]}`"
    return None


def _labels(interpreter: Interpreter, state: State) -> tuple[str, ...]:
    return tuple(interpreter.system.transitions[n].label for n in interpreter.enabled(state))


def step_between(system: TransitionSystem, number: int, before: State, after: State) -> Step:
    """One transition as it was executed, with what it changed."""
    transition, decode = system.transitions[number], system.universe.decode
    changes = tuple(
        VariableChange(variable.name, decode(variable.sort, old), decode(variable.sort, new))
        for variable, old, new in zip(system.variables, before, after, strict=True)
        if old != new
    )
    return Step(
        transition=number,
        label=transition.label,
        actor=transition.actor,
        part=transition.part,
        step=transition.step,
        args=transition.args,
        changes=changes,
    )


def _predicate(system: TransitionSystem, kind: str, name: str) -> Expr:
    tables = {
        "invariant": system.invariants,
        "witness": system.witnesses,
        "resettability": system.resettabilities,
    }
    if name not in tables[kind]:
        known = ", ".join(f"`{n}`" for n in tables[kind]) or "none"
        raise ValueError(f"{system.name} has no {kind} `{name}`; it has {known}")
    return tables[kind][name]


def _first_at_end(found: list[bool], verb: str, what: str) -> None:
    last = len(found) - 1
    if not found[last]:
        raise ReplayError(f"the last state of the run, after {last} steps, {_not(verb)} {what}", last)
    if any(found[:last]):
        first = found.index(True)
        raise ReplayError(f"the run {verb} {what} after {first} of its {last} steps already", first)


def _not(verb: str) -> str:
    return f"does not {'violate' if verb == 'violates' else 'reach'}"
