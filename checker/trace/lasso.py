"""Lassos: how a run can go on for ever. A prefix from the initial state, then a cycle that repeats."""

from collections.abc import Iterator, Sequence
from itertools import count

from ...model.language import Case, Expr, Fairness, State, TransitionSystem, all_of, any_of, negate
from ...model.language.expressions.expr import fresh_graph
from ..core.exploration import Lasso, Path
from ..core.interpreter import Interpreter
from ..core.trace import FairAnswer, LassoTrace, Trace
from .execution import ReplayError, replay

MAX_STEPS, MAX_ROUNDS = 50_000, 4
"""How many steps `complete` takes before it gives up: so many, or so many rounds of the slice's cycle for each hidden transition and one more, if that is more."""


def complete(slice_: TransitionSystem, system: TransitionSystem, lasso: Lasso, numbers: Path) -> Lasso:
    """The lasso of `system` that a lasso of its slice stands for; `numbers` maps the slice's transitions.

    The slice shows nothing of the fair sets that it dropped. Their steps are put in wherever one of them waits,
    whoever acted longest ago first, and the cycle is repeated until the whole state repeats too. ReplayError if it
    does not within MAX_STEPS, or MAX_ROUNDS of a long cycle.
    """
    shown = slice_.fair_sets
    hidden = [i for f, members in system.fair_sets.items() if f not in shown for i in members]
    prefix, cycle = tuple(numbers[i] for i in lasso.prefix), tuple(numbers[i] for i in lasso.cycle)
    interpreter = Interpreter(system)
    run = _Run(interpreter, replay(system, prefix).states[-1])
    most = max(MAX_STEPS, MAX_ROUNDS * (1 + len(hidden)) * len(cycle))
    seen: dict[State, list[int]] = {}  # the turns, where the slice's cycle begins again, by their states
    for turn in count():
        if len(run.taken) > most:
            break
        begins = len(run.taken)
        seen.setdefault(run.states[-1], []).append(begins)
        for number in (*cycle, None):
            for _ in range(1 + turn % (len(hidden) + 1)):
                run.let(hidden)
            if number is not None:
                run.act(number)
        ends = len(run.taken)
        if ends == begins:
            return Lasso((*prefix, *run.taken), (), lasso.case)
        for start in _some(seen.get(run.states[-1], [])):
            found = tuple(run.taken[start:])
            if _unmet(interpreter, run.states[start:], found) is None:
                return Lasso((*prefix, *run.taken[:start]), found, lasso.case)
    raise ReplayError(f"a lasso of the slice did not close within {most} steps", len(prefix))


class _Run:
    """A run that goes on."""

    def __init__(self, interpreter: Interpreter, start: State) -> None:
        self.interpreter = interpreter
        self.states, self.taken = [start], list[int]()
        self.last: dict[int, int] = {}

    def act(self, number: int) -> None:
        """Take one transition."""
        self.states.append(self.interpreter.successor(self.states[-1], number))
        self.last[number] = len(self.taken)
        self.taken.append(number)

    def let(self, numbers: Sequence[int]) -> None:
        """Take the one of these that is enabled and was taken longest ago, if there is one."""
        if not numbers:
            return
        enabled = set(self.interpreter.enabled(self.states[-1]))
        able = [number for number in numbers if number in enabled]
        if able:
            self.act(min(able, key=lambda number: (self.last.get(number, -1), number)))


def _some(turns: Sequence[int]) -> Iterator[int]:
    """The last turn, the second last, the fourth last, and so on: the cycle should be short."""
    back = 1
    while back <= len(turns):
        yield turns[-back]
        back *= 2


def confirm_lasso(system: TransitionSystem, lasso: Lasso, liveness: str) -> Trace:
    """Execute a lasso and check all that makes it a counterexample.

    Its cycle ends where it began; all along it the case's condition persists; what must recur does; and to every
    fair set of the system the cycle is fair. ReplayError says what is not so.
    """
    interpreter = Interpreter(system)
    trace = replay(system, (*lasso.prefix, *lasso.cycle))
    turn = len(lasso.prefix)
    states = trace.states[turn:]
    if states[0] != states[-1]:
        raise ReplayError(f"the {len(lasso.cycle)} steps after step {turn} do not lead back", turn)
    case = case_of(system, liveness, lasso.case)
    for position, state in enumerate(states):
        if not interpreter.holds(case.persistent, state):
            raise ReplayError(
                f"`{liveness}` is not starved of `{case.name}` after step {turn + position}", turn + position
            )
    for number, condition in enumerate(case.recurrent, 1):
        if not any(interpreter.holds(condition, state) for state in states):
            raise ReplayError(f"condition {number} of `{case.name}` never holds on the cycle", turn)
    unmet = _unmet(interpreter, states, lasso.cycle)
    if unmet is not None:
        raise ReplayError(f"the cycle is not fair to `{unmet.name}`", turn)
    return LassoTrace(
        trace.steps,
        trace.states,
        turn=turn,
        case=case.name,
        fairness=dict(answers(interpreter, states, lasso.cycle)),
    )


def at_rest(system: TransitionSystem) -> dict[str, Expr]:
    """For each liveness an invariant under its name: no run comes to rest in violation of it.

    A run may rest where no fair set waits.
    """
    with fresh_graph():
        waits = any_of(
            system.transitions[i].waits(f) for f, members in system.fair_sets.items() for i in members
        )
        return {
            name: waits | negate(any_of(all_of(case.predicates) for case in cases))
            for name, cases in system.livenesses.items()
        }


def resting_case(system: TransitionSystem, path: Path, liveness: str) -> str:
    """The case that a run which rests after `path` violates."""
    state, interpreter = replay(system, path).states[-1], Interpreter(system)
    for case in system.livenesses[liveness]:
        if all(interpreter.holds(e, state) for e in case.predicates):
            return case.name
    raise ReplayError(f"the run of {len(path)} steps rests in no violation of `{liveness}`", len(path))


def case_of(system: TransitionSystem, liveness: str, name: str) -> Case:
    """One case of a liveness property. ValueError if it has none of this name."""
    for case in system.livenesses.get(liveness, ()):
        if case.name == name:
            return case
    raise ValueError(f"{system.name} has no liveness `{liveness}` with a case `{name}`")


def answers(
    interpreter: Interpreter, states: tuple[State, ...] | list[State], cycle: Path
) -> Iterator[tuple[Fairness, FairAnswer]]:
    """How the cycle is fair to each set that it is fair to."""
    system = interpreter.system
    around = list(states[:-1]) or list(states)
    for fairness, members in system.fair_sets.items():
        guards = [system.transitions[i].waits(fairness) for i in members]
        waits = [any(interpreter.holds(guard, s) for guard in guards) for s in around]
        if not any(waits):
            yield fairness, "never waits"
        elif any(number in members for number in cycle):
            yield fairness, "acts"
        elif not fairness.strong and not all(waits):
            yield fairness, "rests"


def _unmet(interpreter: Interpreter, states: tuple[State, ...] | list[State], cycle: Path) -> Fairness | None:
    met = {fairness for fairness, _ in answers(interpreter, states, cycle)}
    return next((f for f in interpreter.system.fair_sets if f not in met), None)
