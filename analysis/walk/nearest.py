"""The nearest state that words mean, from where a walk stands or from the start: one search, as for any property."""

from dataclasses import replace

from ...base.problems import UsageProblem
from ...base.structs import Data
from ...base.text import counted
from ...checker.core.exploration import Budget
from ...checker.core.result import Verdict
from ...checker.reduction.conclusion import conclude
from ...checker.reduction.questions import slice_for
from ...checker.reduction.slicing import Slicer
from ...checker.search import engine_of
from ...model.language import Expr, State, Transition, TransitionSystem, Variable, negate
from ...model.language.expressions.expr import any_of, const, fresh_graph, parameter, variable
from ...model.language.expressions.graph import substitute
from ..ask.states_meant import state_meant
from ..ask.steps_meant import StepsMeant
from .explorer import Explorer
from .walk import Walk

WANTED = "WANTED"
STEP = "step:"
"""Before the words of a step: the nearest state in which it can be taken."""


class Nearest(Data):
    """What was found: the walk there (None: there is none, or a budget ran out), and what is to be said of it."""

    walk: Walk | None
    words: str


def nearest(
    explorer: Explorer, walk: Walk, words: str, budget: Budget, from_here: bool, engine: str = "native"
) -> Nearest:
    """The walk to the nearest state that these words mean. Raises UsageProblem if they mean none."""
    start = walk.taken if from_here else ()
    whence = "from here" if from_here else "from the start"
    with fresh_graph():
        where, told = _meant(explorer, words)
        system = beginning_in(
            explorer.system.with_predicates(invariants={WANTED: negate(where)}, views={}),
            explorer.state_after(start),
        )
        slicer = Slicer(system)
        sliced = slice_for(slicer, "invariant", [WANTED])
        result = conclude(slicer, sliced, engine_of(engine)(sliced, budget, None), WANTED, engine)
    told = told.rstrip(".")
    searched = f"{counted(result.counts.states or 0, 'state')} searched"
    if result.trace is not None:
        steps = counted(len(result.trace.steps), "step")
        return Nearest(
            walk.along((*start, *result.trace.path)), f"{told}: {steps} {whence}, and no fewer ({searched})."
        )
    if result.verdict is Verdict.HOLDS:
        return Nearest(None, f"{told}: no walk {whence} leads there, within the scope ({searched}).")
    return Nearest(
        None, f"{told}: not decided {whence}: the search ended before all was explored ({searched})."
    )


def what_can_go_wrong(explorer: Explorer, walk: Walk, budget: Budget) -> dict[str, Nearest]:
    """The nearest violation of each safety property that the scenario names, from where the walk stands. Raises UsageProblem if it names none."""
    names = [name for name in explorer.safety if name in explorer.asked]
    if not names:
        raise UsageProblem(f"{explorer.name} names no safety property: ask for one, such as `find S-CAP`")
    return {name: nearest(explorer, walk, name, budget, from_here=True) for name in names}


def _meant(explorer: Explorer, words: str) -> tuple[Expr, str]:
    system, name = explorer.system, words.strip()
    if name in explorer.safety:
        return negate(system.invariants[name]), f"{name} is violated: {explorer.safety[name]}"
    steps = StepsMeant(system)
    if not words.startswith(STEP):
        state = state_meant(system, words, steps.names)
        return state.where, state.told
    step = steps.of(words.removeprefix(STEP).strip())
    can = [system.transitions[n].enabled & where for n, where in step.events.items()]
    if not can:
        raise UsageProblem(f"`{words}`: no step has these words")
    return any_of(can), f"can come next: {' or '.join(step.told)}"


def beginning_in(system: TransitionSystem, state: State) -> TransitionSystem:
    """The same system with runs that begin in another of its states; transitions keep their numbers. Without predicates that are no invariants."""
    new = {
        v: Variable(v.name, v.sort, v.lo, v.hi, code) for v, code in zip(system.variables, state, strict=True)
    }

    def leaf(e: Expr) -> Expr:
        if e.op == "const":
            return const(e.sort, e.value)
        return parameter(e.value) if e.op == "param" else variable(new.get(e.value, e.value))

    bare = system.with_predicates(witnesses={}, resettabilities={}, livenesses={}, views={})
    table = substitute(bare.roots(), leaf)

    def begun(t: Transition) -> Transition:
        return replace(
            t,
            guard=table[t.guard],
            constraints=tuple((name, table[e]) for name, e in t.constraints),
            updates={new.get(v, v): table[e] for v, e in t.updates.items()},
        )

    return replace(
        bare,
        variables=tuple(new.values()),
        transitions=tuple(map(begun, bare.transitions)),
        invariants={name: table[e] for name, e in bare.invariants.items()},
    )
