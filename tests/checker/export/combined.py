"""Systems made of other systems, so that one run of another checker answers many questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import hypothesis
from hypothesis.strategies import SearchStrategy

from podrace.model.language import (
    INT,
    Expr,
    Transition,
    TransitionSystem,
    Variable,
    all_of,
    any_of,
    as_expr,
    equal,
    negate,
    substitute,
)
from podrace.model.language.expressions.expr import const, variable
from tests.random_systems import systems
from tests.random_universe import UNIVERSE


def many_systems(
    count: int, seed: int, kind: SearchStrategy[TransitionSystem] | None = None
) -> list[TransitionSystem]:
    """Random systems, always the same for one seed; of a kind, if it is given."""
    found: list[TransitionSystem] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count, database=None, phases=[hypothesis.Phase.generate], derandomize=False
    )
    @hypothesis.given(systems(witnesses=0, resettabilities=0) if kind is None else kind)
    def collect(system: TransitionSystem) -> None:
        found.append(system)

    collect()
    return found


def renamed(system: TransitionSystem, prefix: str) -> TransitionSystem:
    """The same system with other names for variables and invariants."""
    fresh = {v: Variable(f"{prefix}.{v.name}", v.sort, v.lo, v.hi, v.initial) for v in system.variables}

    def leaf(node: Expr) -> Expr:
        return variable(fresh[node.value]) if node.op == "var" else const(node.sort, node.value)

    new = substitute(system.roots(), leaf)
    return replace(
        system,
        variables=tuple(fresh.values()),
        transitions=tuple(
            replace(
                t,
                part=prefix,
                guard=new[t.guard],
                constraints=tuple((name, new[e]) for name, e in t.constraints),
                updates={fresh[v]: new[e] for v, e in t.updates.items()},
            )
            for t in system.transitions
        ),
        invariants={f"{prefix}.{name}": new[e] for name, e in system.invariants.items()},
        witnesses={},
        resettabilities={},
    )


def one_of(systems: Sequence[TransitionSystem]) -> TransitionSystem:
    """The first step chooses one of the systems, which then runs alone. Invariants hold where theirs does not run."""
    chosen = Variable("chosen", INT, 0, len(systems), 0)
    parts = [renamed(s, f"s{i}") for i, s in enumerate(systems, 1)]
    transitions: list[Transition] = []
    invariants: dict[str, Expr] = {}
    for i, part in enumerate(parts, 1):
        here = equal(variable(chosen), i)
        transitions.append(step(f"choose{i}", equal(variable(chosen), 0), {chosen: as_expr(i)}))
        transitions += [replace(t, guard=all_of((here, t.guard))) for t in part.transitions]
        invariants.update({name: any_of((negate(here), e)) for name, e in part.invariants.items()})
    return TransitionSystem(
        name="one of many",
        universe=UNIVERSE,
        variables=(chosen, *(v for part in parts for v in part.variables)),
        transitions=tuple(transitions),
        invariants=invariants,
    )


def once_each(system: TransitionSystem) -> TransitionSystem:
    """The same, but each invariant that can be broken is broken in exactly one further state, where all ends."""
    alarm = Variable("alarm", INT, 0, len(system.invariants), 0)
    quiet = equal(variable(alarm), 0)
    reset = {v: const(v.sort, v.initial) for v in system.variables}
    return replace(
        system,
        variables=(alarm, *system.variables),
        transitions=(
            *(replace(t, guard=all_of((quiet, t.guard))) for t in system.transitions),
            *(
                step(f"alarm{i}", all_of((quiet, negate(e))), {**reset, alarm: as_expr(i)})
                for i, e in enumerate(system.invariants.values(), 1)
            ),
        ),
        invariants={name: negate(equal(variable(alarm), i)) for i, name in enumerate(system.invariants, 1)},
    )


def recoverable(system: TransitionSystem, name: str) -> TransitionSystem:
    """Counts, by an invariant, the states from which fair transitions alone can bring a resettability about.

    The system runs; at any moment the state may be remembered, and from then on only fair transitions happen;
    where the predicate holds, all but the remembered state may be forgotten. The invariant is broken exactly then, so
    the states that break it are as many as the states that can recover.
    """
    phase = Variable("phase", INT, 0, 2, 0)
    origin = {v: Variable(f"origin.{v.name}", v.sort, v.lo, v.hi, v.initial) for v in system.variables}
    running, remembered = equal(variable(phase), 0), equal(variable(phase), 1)

    def may_run(t: Transition) -> Expr:
        return any_of((running, remembered)) if t.fair else running

    remember = {phase: as_expr(1), **{o: variable(v) for v, o in origin.items()}}
    forget = {phase: as_expr(2), **{v: const(v.sort, v.initial) for v in origin}}
    return replace(
        system,
        variables=(phase, *system.variables, *origin.values()),
        transitions=(
            *(replace(t, guard=all_of((may_run(t), t.guard))) for t in system.transitions),
            step("remember", running, remember),
            step("forget", all_of((remembered, system.resettabilities[name])), forget),
        ),
        invariants={"not yet": negate(equal(variable(phase), 2))},
        witnesses={},
        resettabilities={},
    )


def step(name: str, guard: Expr, updates: dict[Variable, Expr]) -> Transition:
    """A transition of nobody's."""
    return Transition(
        part="test", step=name, args=(), actor="test", fair=True, guard=guard, constraints=(), updates=updates
    )
