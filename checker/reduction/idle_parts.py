"""Which parts of what was asked for never took a step in a complete search, and what each of them waited for.

A part is a name and the transitions by which it acts. The search of a slice vouches for the transitions of the slice, and the value analysis for those that cannot
happen at all. Of a part with a transition that the slice left out nothing is said, unless it acts by another one.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from ...base.structs import Data
from ...model.language import Expr, Transition, TransitionSystem, all_of, variables_of
from ...model.language.expressions.sorts import BOOL
from ..core.exploration import Budget, Exploration
from .slicing import Slicer, key_of, step_name

Parts = Mapping[str, Sequence[int]]
"""Each part by its name, with the numbers of its transitions in the whole system."""

Explore = Callable[[TransitionSystem, Budget], Exploration]

MOST_STATES = 200_000
"""In a larger system nobody looks for the condition that stayed false: it takes another search."""

MOST_TRANSITIONS = 4
"""Of so many transitions of a part it is found out what they waited for; the one that came closest is named."""

NOTHING = "no step of this scenario stands for it"

MOST_CONDITIONS = 200
MOST_LETTERS = 120
MOST_NAMED = 3


def never_acted(
    slicer: Slicer,
    sliced: TransitionSystem,
    answer: Exploration,
    parts: Parts,
    explore: Explore,
    budget: Budget,
) -> dict[str, str]:
    """The parts that never took a step, each with the reason; none if the search was not complete."""
    if not answer.complete:
        return {}
    idle = dict(_idle(slicer, sliced, answer, parts))
    if not idle:
        return {}
    waiting = {name: [_waiting(t) for t in of[:MOST_TRANSITIONS]] for name, of in idle.items()}
    reached = _reached(sliced, answer, waiting, explore, budget)
    return {name: _reason(slicer, sliced, answer, parts[name], of, reached) for name, of in waiting.items()}


def steps_of(slicer: Slicer, sliced: TransitionSystem, parts: Parts) -> dict[str, tuple[str, ...] | None]:
    """The steps (`part.step`) by which each part acts; None of a part of which the slice leaves some out."""
    outside = slicer.outside_cone(sliced) if parts else frozenset()
    found: dict[str, tuple[str, ...] | None] = {}
    for name, members in parts.items():
        transitions = [slicer.system.transitions[i] for i in members]
        seen = outside.isdisjoint(map(key_of, transitions))
        found[name] = tuple(dict.fromkeys(map(step_name, transitions))) if seen else None
    return found


def never_acted_by_steps(
    steps: Mapping[str, tuple[str, ...] | None], fired: Collection[str]
) -> dict[str, str]:
    """As `never_acted`, of complete searches of many clusters, of which is known which steps ran in any of them: so of a part of which no step ever ran. `steps` is as `steps_of` gives it."""
    return {
        name: f"in no cluster ran {', '.join(of)}" if of else NOTHING
        for name, of in steps.items()
        if of is not None and not any(step in fired for step in of)
    }


def _idle(
    slicer: Slicer, sliced: TransitionSystem, answer: Exploration, parts: Parts
) -> Iterator[tuple[str, list[Transition]]]:
    """The parts that never acted, with their transitions in the slice."""
    unseen, number = slicer.outside_cone(sliced), {key_of(t): i for i, t in enumerate(sliced.transitions)}
    for name, members in parts.items():
        keys = [key_of(slicer.system.transitions[i]) for i in members]
        here = [number[key] for key in keys if key in number]
        if unseen.isdisjoint(keys) and not any(answer.fired[i] for i in here):
            yield name, [sliced.transitions[i] for i in here]


class _Condition(Data):
    """A part of a guard or of a constraint, with what is asked before it."""

    of: Expr
    before: tuple[Expr, ...]
    constraint: str = ""


class _Waiting(Data):
    transition: Transition
    conditions: tuple[_Condition, ...]


def _waiting(transition: Transition) -> _Waiting:
    found: list[_Condition] = []
    for name, whole in (("", transition.guard), *transition.constraints):
        for part in whole.args if whole.op == "and" else (whole,):
            found.append(_Condition(part, tuple(c.of for c in found), name))
    return _Waiting(transition, tuple(found))


def _reached(
    sliced: TransitionSystem,
    answer: Exploration,
    waiting: Mapping[str, Sequence[_Waiting]],
    explore: Explore,
    budget: Budget,
) -> set[tuple[Expr, ...]] | None:
    """Which conditions hold together in some state; None where it was not found out."""
    asked: dict[tuple[Expr, ...], Expr] = {}
    for one in (one for of in waiting.values() for one in of):
        for condition in one.conditions:
            for together in ((condition.of,), (*condition.before, condition.of)):
                asked[together] = all_of(together)
    if answer.states > MOST_STATES or len(asked) > MOST_CONDITIONS or not asked:
        return None
    names = {f"{i}": together for i, together in enumerate(asked)}
    question = sliced.with_predicates(
        invariants={},
        resettabilities={},
        livenesses={},
        witnesses={name: asked[together] for name, together in names.items()},
    )
    again = explore(question, budget)
    if not again.complete:
        return None
    return {together for name, together in names.items() if name in again.witnesses}


def _reason(
    slicer: Slicer,
    sliced: TransitionSystem,
    answer: Exploration,
    members: Sequence[int],
    waiting: Sequence[_Waiting],
    reached: set[tuple[Expr, ...]] | None,
) -> str:
    if not members:
        return NOTHING
    if not waiting:
        whole = slicer.system.transitions[members[0]]
        return _in_words(slicer.system, whole, slicer.impossible(whole), False)
    if reached is None:
        stopped = [c for one in waiting for c, _ in one.transition.constraints if c in answer.constraints_hit]
        label = waiting[0].transition.label
        return f"{label} is stopped by `{stopped[0]}`" if stopped else f"the guard of {label} never held"
    closest: dict[int, tuple[int, int, Transition, _Condition]] = {}
    for i, one in enumerate(waiting):
        for at, condition in enumerate(one.conditions):
            if (*condition.before, condition.of) not in reached:
                closest.setdefault(i, (len(one.conditions) - at, i, one.transition, condition))
    _, _, transition, condition = min(closest.values(), key=lambda one: one[:2])
    if condition.of.is_const:
        by_key = {key_of(slicer.system.transitions[i]): slicer.system.transitions[i] for i in members}
        return _in_words(slicer.system, transition, slicer.impossible(by_key[key_of(transition)]), False)
    return _in_words(sliced, transition, (condition.of, condition.constraint), (condition.of,) in reached)


def _in_words(
    system: TransitionSystem, transition: Transition, what: tuple[Expr, str] | None, sometimes: bool
) -> str:
    if what is None:
        return f"the guard of {transition.label} never held"
    condition, constraint = what
    bound = f" (`{constraint}`)" if constraint else ""
    told = shown(system, condition)
    if sometimes:
        return f"{transition.label} never meets {told}{bound} while the rest of its guard holds"
    return f"{transition.label} waits in vain for {told}{bound}"


# --- conditions in words -------------------------------------------------------------------------------------

_SIGNS = {"and": "and", "or": "or", "eq": "is", "lt": "<", "add": "+", "sub": "-", "mul": "*", "div": "/"}
_NEGATED = {"eq": "is not", "lt": ">="}


def shown(system: TransitionSystem, condition: Expr) -> str:
    """A condition for people; of one that is long, the variables that it looks at."""
    if len(text := _text(system, condition, MOST_LETTERS)) <= MOST_LETTERS:
        return text
    names = [v.name for v in system.variables if v in variables_of([condition])]
    more = f" and {len(names) - MOST_NAMED} more variables" if len(names) > MOST_NAMED else ""
    return f"a condition on {', '.join(names[:MOST_NAMED])}{more}"


def _text(system: TransitionSystem, node: Expr, left: int) -> str:
    """The text, or something longer than is `left`: a graph that shares nodes can have a text without end."""
    if left < 0:
        return "." * (MOST_LETTERS + 1)
    if node.op == "const":
        value = system.universe.decode(node.sort, node.value)
        said = value.name if hasattr(value, "name") else str(value)
        return {"None": "none", "True": "true", "False": "false"}.get(said, said)
    if not node.args:
        return str(node.value.name)
    if node.op == "not":
        (inner,) = node.args
        if inner.op not in _NEGATED:
            return f"not {_operand(system, inner, left - 4)}"
        return _joined(system, inner.args, _NEGATED[inner.op], left)
    if node.op == "ite":
        asked, yes, no = (_operand(system, arg, left // 2) for arg in node.args)
        return f"{yes} if {asked} else {no}"
    return _joined(system, node.args, _SIGNS[node.op], left)


def _joined(system: TransitionSystem, args: Sequence[Expr], sign: str, left: int) -> str:
    told: list[str] = []
    for arg in args:
        told.append(_operand(system, arg, left))
        left -= len(told[-1]) + len(sign)
    return f" {sign} ".join(told)


def _operand(system: TransitionSystem, node: Expr, left: int) -> str:
    text = _text(system, node, left)
    return (
        text
        if not node.args or (node.op == "not" and node.sort is BOOL and " " not in text[4:])
        else f"({text})"
    )
