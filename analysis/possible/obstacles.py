"""What keeps a step from coming after the beginning of a question: the conditions of the step that are false there, and who makes them so.

A condition is a part of the step's guard, a bound of the scope, or what makes the step the one that is meant. Each is asked of every
state in which the beginning has happened, by one more search: alone, and together with all those before it. Where none is false alone, the first that is
false together with those before it is in the way. So what is said was found in every state, and not in an example.
"""

from collections.abc import Callable, Iterator, Sequence

from ...base.structs import Data
from ...checker.core.exploration import Budget, Exploration, Progress, Watcher
from ...checker.core.interpreter import Interpreter
from ...checker.core.trace import Trace
from ...checker.reduction.scales_of_time import with_scales
from ...checker.reduction.slicing import Slicer, transition_map
from ...checker.trace.causality import used_variables
from ...checker.trace.execution import replay
from ...model.language import Expr, State, TransitionSystem, Variable, variables_of
from ...model.language.expressions.expr import all_of, variable
from ...reports.answers.ask_report import Obstacle
from ..ask.asked_property import ID, Understood
from ..ask.monitor import conjuncts
from ..ask.states_meant import fact_of
from ..ask.steps_meant import call_of
from ..shown.steps import steps_of

MOST_STEPS = 12
"""Of a step that can be many transitions, so many are explained."""
MOST_NAMED = 4

Search = Callable[[TransitionSystem, Budget, Watcher | None], Exploration]


class Condition(Data):
    """One condition of a step, or of the end; `constraint` names the bound of the scope that it is."""

    where: Expr
    constraint: str = ""


class Wanted(Data):
    """What should come next: a transition (None: the state at the end), in words, with its conditions."""

    transition: int | None
    told: str
    conditions: tuple[Condition, ...]


class InTheWay(Data):
    """A condition that is false: in every state after the beginning, or in each where `others`, the ones before it, hold."""

    wanted: Wanted
    condition: Condition
    always: bool
    others: tuple[Condition, ...]
    trace: Trace


def in_the_way(
    system: TransitionSystem,
    understood: Understood,
    possible: int,
    beginning: Trace,
    budget: Budget,
    search: Search,
    watch: Callable[[Progress], None] | None = None,
) -> tuple[InTheWay, ...]:
    """What is in the way of each step that should come next, after so many that are possible; empty where the budget ran out."""
    after = _after(system, possible)
    wanted = list(_wanted(system, understood, possible))[:MOST_STEPS]
    asked: dict[str, Expr] = {}
    for w, one in enumerate(wanted):
        for c, condition in enumerate(one.conditions):
            before = [other.where for other in one.conditions[: c + 1]]
            asked[f"{w}.{c} alone"] = all_of((*after, condition.where))
            asked[f"{w}.{c} and before"] = all_of((*after, *before))
    questions = system.with_predicates(invariants={}, witnesses=asked)
    sliced = Slicer(questions).slice(invariants=(), resettabilities=(), livenesses=(), witnesses=list(asked))
    sliced = with_scales(sliced)
    answer = search(sliced, budget, watch)
    if not answer.complete:
        return ()
    numbers = transition_map(sliced, system)

    def run_to(name: str) -> Trace:
        return replay(system, tuple(numbers[i] for i in answer.witnesses[name]))

    found: list[InTheWay] = []
    for w, one in enumerate(wanted):
        size = len(one.conditions)
        alone = [c for c in range(size) if f"{w}.{c} alone" not in answer.witnesses]
        if alone:
            found += [InTheWay(one, one.conditions[c], True, (), beginning) for c in alone]
            continue
        c = next((c for c in range(size) if f"{w}.{c} and before" not in answer.witnesses), size)
        if c == size:  # only time is in the way
            continue
        found.append(
            InTheWay(one, one.conditions[c], False, one.conditions[:c], run_to(f"{w}.{c - 1} and before"))
        )
    return tuple(found)


def _after(system: TransitionSystem, possible: int) -> list[Expr]:
    """That the beginning has happened, and the next step may follow."""
    if possible:
        return [system.views[f"{ID}: {possible}"]]
    first = next((v for v in system.variables if v.name == f"{ID}.step[0]"), None)
    return [] if first is None else [variable(first)]


def _wanted(system: TransitionSystem, understood: Understood, possible: int) -> Iterator[Wanted]:
    order = understood.order
    if possible == len(order.steps):
        yield Wanted(None, "the state at the end", tuple(map(Condition, conjuncts(order.end))))
        return
    for number, where in order.steps[possible].events.items():
        t = system.transitions[number]
        bounds = [Condition(part, name) for name, e in t.constraints for part in conjuncts(e)]
        guard = [Condition(part) for part in conjuncts(t.guard)]
        meant = [Condition(part) for part in conjuncts(where)]
        yield Wanted(number, call_of(t), (*guard, *bounds, *meant))


def obstacle(system: TransitionSystem, found: InTheWay) -> Obstacle:
    """The same as reports tell it."""
    trace = found.trace
    own = deciding(Interpreter(system), found.condition.where, trace.states[-1])
    return Obstacle(
        step=found.wanted.told,
        needed=in_words(system, found.condition.where),
        always=found.always,
        there=met_by(system, own, trace.states[-1]),
        after=len(trace.steps),
        since=_since(system, trace, own, numbered=found.always),
        changed_by=_changed_by(system, own),
        constraint=found.condition.constraint,
    )


def deciding(interpreter: Interpreter, condition: Expr, state: State) -> list[Variable]:
    """The variables that decide a condition in a state, less those of the question."""
    used = used_variables(interpreter, [condition], state)
    place = interpreter.system.position
    read = sorted((v for v in used if v in place), key=place.__getitem__)
    return [v for v in read if not v.name.startswith(f"{ID}.")]


def met_by(system: TransitionSystem, read: Sequence[Variable], state: State) -> tuple[str, ...]:
    """What a state says of these variables, in words."""
    there = [
        fact_of(system, v.name, system.universe.decode(v.sort, state[system.position[v]]))
        for v in read[:MOST_NAMED]
    ]
    if len(read) > MOST_NAMED:
        there.append(f"and {len(read) - MOST_NAMED} more")
    return tuple(dict.fromkeys(there))


def _since(
    system: TransitionSystem, trace: Trace, read: Sequence[Variable], numbered: bool
) -> tuple[str, ...]:
    """The last steps of the run that changed these variables, with their numbers where the run is shown."""
    names = {v.name for v in read}
    last: dict[str, int] = {}
    for number, step in enumerate(trace.steps, 1):
        last |= {change.variable: number for change in step.changes if change.variable in names}
    told = steps_of(system, trace)
    found = sorted(set(last.values()))
    return tuple((f"step {n}: " if numbered else "") + told[n - 1].sentence.rstrip(".") for n in found)


def _changed_by(system: TransitionSystem, read: Sequence[Variable]) -> tuple[str, ...]:
    """The steps that can change these variables."""
    wanted = set(read)
    steps = dict.fromkeys(f"{t.part}.{t.step}" for t in system.transitions if wanted & t.updates.keys())
    shown = list(steps)[: 2 * MOST_NAMED]
    return (*shown, f"{len(steps) - len(shown)} more") if len(steps) > len(shown) else tuple(shown)


def in_words(system: TransitionSystem, condition: Expr) -> str:
    """A condition in words, as far as it is a simple one; else what it looks at."""
    said = _simple(system, condition)
    if said is not None:
        return said
    read = sorted(
        (v for v in variables_of([condition]) if v in system.position), key=system.position.__getitem__
    )
    names = [v.name for v in read[:MOST_NAMED]]
    more = f" and {len(read) - MOST_NAMED} more" if len(read) > MOST_NAMED else ""
    return f"a condition on {', '.join(names)}{more}"


def _simple(system: TransitionSystem, e: Expr, depth: int = 0) -> str | None:
    if e.op == "not":
        inner = e.args[0]
        if inner.op == "var":
            return fact_of(system, inner.value.name, False)
        said = _simple(system, inner, depth + 1)
        return None if said is None else f"not ({said})"
    if e.op == "var":
        return fact_of(system, e.value.name, True)
    if e.op == "eq":
        one, other = e.args if e.args[1].is_const else (e.args[1], e.args[0])
        if one.op == "var" and other.is_const:
            return fact_of(system, one.value.name, system.universe.decode(one.value.sort, other.value))
    if e.op in ("or", "and") and depth < 2 and len(e.args) <= 3:
        parts = [_simple(system, arg, depth + 1) for arg in e.args]
        if None not in parts:
            joint = f" {e.op} ".join(str(part) for part in parts)
            return f"({joint})" if depth else joint
    return None
