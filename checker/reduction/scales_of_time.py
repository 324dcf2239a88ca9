"""Scales of time: minutes pass only while nothing shorter is under way.

A step that lasts SHORT is under way where it can run. A state in which no such step can run is *quiet*, and any time may pass there. A
timer of MINUTES fires in a quiet state in which it is armed, which is where its guard holds. Once it was armed in a quiet state it is
*due*, and fires at any later moment, amid anything, until it is disarmed: each guard of timers has a variable for that. Nothing else is added, and a run with scales of time is also a run without.

Only what is not short can happen in a quiet state, so only such steps make timers due, and they do so for all that are armed. A timer that was armed a moment ago
may have been armed minutes ago, as any time may pass before the step.

Minutes also pass in work that never ends, such as a pod that is retried again and again: each short step is taken, or cannot be taken some time. Where a timer can stay armed so, and never become
due, `time: scales` says nothing, and a search with the timers at any moment decides instead (`endless`).

`with_scales` makes an ordinary system of this. Engines, reductions and exports need to know nothing more. A guard that looks at all others would undo a slice, so a system is
sliced first, and gets its scales then. Where a state of the system is quiet, its slice is quiet, too, because it has fewer
steps. So the slice has every run that the system has with scales, and may have more. `confirm_time` holds a run of the slice to the system: what the
slice does not see comes to rest where the slice is quiet, or goes on for so long that minutes pass.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ...model.language import (
    BOOL,
    Case,
    Expr,
    Fairness,
    Lasts,
    State,
    Transition,
    TransitionSystem,
    Variable,
    any_of,
    as_expr,
    negate,
    substitute,
    variables_of,
)
from ...model.language.expressions.expr import fresh_graph, variable
from ..core.exploration import Path
from ..core.interpreter import Interpreter
from ..trace.execution import ReplayError

MOST_RESTING = 5_000
"""So many steps are put into a run for what the slice does not see to come to rest. More of them take minutes."""

_DUE, _WAITS = "time.due", "time.waits"
_ENDLESS = "work goes on indefinitely while a timer waits"


def with_scales(system: TransitionSystem) -> TransitionSystem:
    """The system whose timers of minutes wait as the scales of time say; the same if it asks for no scales, or has no timers."""
    guards = dict.fromkeys(t.guard for t in system.transitions if t.lasts is Lasts.MINUTES)
    if not system.scales or not guards:
        return replace(system, scales=False) if system.scales else system
    with fresh_graph():
        quiet = is_quiet(system)
        due = {guard: Variable(f"{_DUE}[{i}]", BOOL, 0, 1, 0) for i, guard in enumerate(guards)}
        seen = {guard: variables_of([guard]) for guard in guards}

        def laid(t: Transition) -> Transition:
            updates = dict(t.updates)
            for guard, bit in due.items():
                waited = variable(bit)
                if t.lasts is not Lasts.SHORT:
                    waited = waited | (guard & quiet)
                if not seen[guard].isdisjoint(t.updates):
                    waited = waited & _after(guard, t)
                if waited is not variable(bit):
                    updates[bit] = waited
            may = variable(due[t.guard]) | quiet if t.lasts is Lasts.MINUTES else as_expr(True)
            return replace(t, guard=t.guard & may, updates=updates)

        return replace(
            system,
            variables=(*system.variables, *due.values()),
            transitions=tuple(map(laid, system.transitions)),
            views={
                f"{_WAITS}[{i}]": guard & ~variable(bit) & ~quiet
                for i, (guard, bit) in enumerate(due.items())
            },
            scales=False,
        )


def endless(timed: TransitionSystem) -> TransitionSystem | None:
    """The system of which nothing is asked but what `asking_endless` asks; None of a system without scales of time."""
    asked = asking_endless(timed)
    return asked and asked.with_predicates(invariants={}, witnesses={}, resettabilities={})


def asking_endless(timed: TransitionSystem) -> TransitionSystem | None:
    """The system with the question, too, whether a timer can be armed indefinitely without becoming due, as a liveness of runs in which no short step waits indefinitely; None of a system without scales of time."""
    cases = tuple(Case(name, waits) for name, waits in timed.views.items() if name.startswith(_WAITS))
    if not cases:
        return None

    def fairness(t: Transition) -> tuple[Fairness, ...]:
        return (Fairness(t.label, within_bounds=True),) if t.lasts is Lasts.SHORT else ()

    return replace(
        timed,
        livenesses={_ENDLESS: cases},
        views={},
        transitions=tuple(replace(t, fairness=fairness(t)) for t in timed.transitions),
    )


def is_due(variable: Variable) -> bool:
    """Whether it says of a timer that it may fire amid anything."""
    return variable.name.startswith(_DUE)


def is_quiet(system: TransitionSystem) -> Expr:
    """Whether nothing short is under way. A step that a bound stops is not."""
    return negate(any_of(t.enabled for t in system.transitions if t.lasts is Lasts.SHORT))


def _after(guard: Expr, t: Transition) -> Expr:
    """Whether the guard will hold after a step."""
    return substitute([guard], lambda leaf: t.updates.get(leaf.value, leaf) if leaf.op == "var" else leaf)[
        guard
    ]


def confirm_time(
    timed: TransitionSystem,
    system: TransitionSystem,
    numbers: Path,
    path: Path,
    parameters: Mapping[str, int] | None = None,
) -> Path | None:
    """The run of `system` with its scales of time that a run of its slice with scales of time stands for; None if minutes pass in it because something the slice does not see does not come to rest.

    `numbers` maps the slice's transitions, which `path` consists of. The run is executed. Where a timer could not fire, the steps that the slice does not see are put in at the last moment before at which
    the slice was quiet. Raises ReplayError.
    """
    if endless(timed) is None:
        return tuple(numbers[i] for i in path)
    rests: set[int] = set()
    moments = _quiet_moments(timed, path, parameters)
    run = _Run(Interpreter(with_scales(system), parameters), frozenset(numbers))
    try:
        while (stopped := run.take([numbers[i] for i in path], rests)) is not None:
            earlier = [moment for moment in moments if moment <= stopped and moment not in rests]
            if not earlier:
                label = system.transitions[numbers[path[stopped]]].label
                raise ReplayError(
                    f"step {stopped + 1} of {len(path)}: for `{label}`, minutes would pass amid other work",
                    stopped,
                )
            rests.add(earlier[-1])
    except _NoRest:
        return None
    return tuple(run.taken)


class _NoRest(Exception):
    """What a slice does not see goes on, and on."""


def _quiet_moments(slice_: TransitionSystem, path: Path, parameters: Mapping[str, int] | None) -> list[int]:
    """Before which steps of a run of the slice nothing short is under way."""
    with fresh_graph():
        quiet = is_quiet(slice_)
    interpreter, state, found = Interpreter(slice_, parameters), slice_.initial, []
    for position, number in enumerate(path):
        if interpreter.holds(quiet, state):
            found.append(position)
        state = interpreter.successor(state, number)
    return found


class _Run:
    """A run of a system with scales of time. `shown` are the transitions that the slice sees."""

    def __init__(self, interpreter: Interpreter, shown: frozenset[int]) -> None:
        self.interpreter = interpreter
        transitions = interpreter.system.transitions
        self.hidden = [i for i, t in enumerate(transitions) if i not in shown and t.lasts is Lasts.SHORT]
        self.taken: list[int] = []

    def take(self, path: Sequence[int], rests: Collection[int]) -> int | None:
        """Take a path from the start, and before these steps what the slice does not see; the first step that cannot be taken, None if all can."""
        self.taken = []
        state = self.interpreter.initial
        for position, number in enumerate(path):
            if position in rests:
                state = self._rested(state)
            if number not in self.interpreter.enabled(state, [number]):
                return position
            state = self._step(state, number)
        return None

    def _step(self, state: State, number: int) -> State:
        self.taken.append(number)
        return self.interpreter.successor(state, number)

    def _rested(self, state: State) -> State:
        """The state after steps that the slice does not see, in turns, once none of them can run."""
        last = dict.fromkeys(self.hidden, -1)
        for turn in range(MOST_RESTING):
            enabled = self.interpreter.enabled(state, self.hidden)
            if not enabled:
                return state
            number = min(enabled, key=lambda i: last[i])
            last[number] = turn
            state = self._step(state, number)
        raise _NoRest
