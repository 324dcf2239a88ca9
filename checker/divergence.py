"""Where two systems part: a state that both reach by the same steps, and in which they decide differently.

A decision is which transitions are enabled, and what they do to the variables that both systems have. Transitions are
the same if their labels are. What is found is walked through in both systems by the reference interpreter before it is
given.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from ..base.structs import Data
from ..model.language import (
    Expr,
    State,
    TransitionSystem,
    Variable,
    all_of,
    any_of,
    equal,
    negate,
    substitute,
)
from ..model.language.expressions.expr import const, fresh_graph, variable
from .core.exploration import Budget, Path
from .core.interpreter import Interpreter
from .core.result import Verdict
from .core.trace import Trace, plain_value
from .search import check
from .trace.execution import replay

_SAME = "both decide alike"

Plain = bool | int | str | None

Kind = Literal["only before", "only after", "another effect"]


class Decision(Data):
    """One transition that the two systems treat differently; of another effect, the variables with both new values."""

    label: str
    kind: Kind
    values: Mapping[str, tuple[Plain, Plain]] = field(default_factory=dict)


class Difference(Data):
    """After this run, which both systems have (`trace` is that of the first), they decide differently."""

    trace: Trace
    decisions: tuple[Decision, ...]


class Divergence(Data):
    """The answer. Without a `difference`: `alike` says that there is none in any reachable state, and otherwise nothing is
    known. `shortest`: no shorter run leads to a difference.
    """

    difference: Difference | None
    alike: bool
    shortest: bool


def divergence(before: TransitionSystem, after: TransitionSystem, budget: Budget | None = None) -> Divergence:
    """Search the first system for a state in which the second would decide differently.

    Variables that only the second has are taken to be as at the start; where they are not, a difference may be missed
    and none is claimed to be absent.
    """
    names = {v.name for v in before.variables}
    comparable = names == {v.name for v in after.variables}
    start = _decisions(before, before.initial, after, after.initial)
    if start or _common(before, before.initial, after) != _common(after, after.initial, before):
        return Divergence(Difference(replay(before, ()), tuple(start)), False, True)
    with fresh_graph():
        differs = _differs(before, after)
        same = before.with_predicates(
            invariants={_SAME: negate(differs)}, witnesses={}, resettabilities={}, livenesses={}, views={}
        )
    if differs.is_const and not differs.value:
        return Divergence(None, comparable, False)
    (found,) = check(same, [_SAME], budget)
    if found.trace is None:
        return Divergence(None, comparable and found.verdict is Verdict.HOLDS, False)
    return Divergence(_walk(before, after, found.trace.path), False, comparable)


def _differs(before: TransitionSystem, after: TransitionSystem) -> Expr:
    """That the two would decide differently, over the variables of the first; in the graph in use."""
    own = {v.name: v for v in before.variables}

    def leaf(node: Expr) -> Expr:
        if node.op == "const":
            return const(node.sort, node.value)
        if node.op != "var":
            raise ValueError(f"`{node.op}`: systems with unknown parameters cannot be compared")
        kept: Variable | None = own.get(node.value.name)
        return const(node.sort, node.value.initial) if kept is None else variable(kept)

    def moves(system: TransitionSystem) -> dict[str, tuple[Expr, dict[str, Expr]]]:
        new = substitute(system.roots(), leaf)
        return {
            t.label: (
                all_of([new[t.guard], *(new[e] for _, e in t.constraints)]),
                {v.name: new[e] for v, e in t.updates.items() if v.name in own},
            )
            for t in system.transitions
        }

    first, second = moves(before), moves(after)
    found = [enabled for label, (enabled, _) in first.items() if label not in second]
    found += [enabled for label, (enabled, _) in second.items() if label not in first]
    shared = {v.name for v in after.variables}
    for label in first.keys() & second.keys():
        (able, effect), (able_too, other) = first[label], second[label]
        found.append(negate(equal(able, able_too)))
        changed = dict.fromkeys(name for name in (*effect, *other) if name in shared)
        unlike = [
            negate(equal(effect.get(name, variable(own[name])), other.get(name, variable(own[name]))))
            for name in changed
        ]
        found.append(all_of([able, any_of(unlike)]))
    return any_of(found)


def _walk(before: TransitionSystem, after: TransitionSystem, path: Path) -> Difference | None:
    """The first difference on this run of the first system."""
    one, other = Interpreter(before), Interpreter(after)
    numbers = {t.label: n for n, t in enumerate(after.transitions)}
    here, there = before.initial, after.initial
    for taken in range(len(path) + 1):
        found = _decisions(before, here, after, there)
        if found:
            return Difference(replay(before, path[:taken]), tuple(found))
        if taken < len(path):
            here = one.successor(here, path[taken])
            there = other.successor(there, numbers[before.transitions[path[taken]].label])
    return None


def _decisions(
    before: TransitionSystem, here: State, after: TransitionSystem, there: State
) -> list[Decision]:
    """What the two decide differently, each in its own state; effects first."""
    one, other = Interpreter(before), Interpreter(after)
    first = {before.transitions[n].label: n for n in one.enabled(here)}
    second = {after.transitions[n].label: n for n in other.enabled(there)}
    found = []
    for label in first:
        if label not in second:
            continue
        ours = _common(before, one.successor(here, first[label]), after)
        theirs = _common(after, other.successor(there, second[label]), before)
        unlike = {name: (value, theirs[name]) for name, value in ours.items() if value != theirs[name]}
        if unlike:
            found.append(Decision(label, "another effect", unlike))
    found += [Decision(label, "only before") for label in first if label not in second]
    found += [Decision(label, "only after") for label in second if label not in first]
    return found


def _common(system: TransitionSystem, state: State, other: TransitionSystem) -> dict[str, Plain]:
    shared = {v.name for v in other.variables}
    return {name: plain_value(value) for name, value in system.describe(state).items() if name in shared}
