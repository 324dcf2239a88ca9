"""What a state asks about the parameters: the conditions whose truth decides what happens there.

A guard is always asked. Of a conjunction that does not hold, one condition that does not hold says enough, and
best one without parameters; of a choice, what chooses and what is chosen; of a transition, its updates only where it can be taken.
Which conditions are asked is an expression over state and parameters like any other. So it is compiled as the system is:
a step that is always enabled writes, for each condition that guards ask, in which case of the state it was asked, or that it was not; and for each transition
a step that is enabled where the transition is writes so what its updates ask. So where a state has few successors, little is computed.

Parameters that answer all that is asked in a state alike give it the same successors and the same predicates.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from ...base.structs import Data
from ...model.language import (
    BOOL,
    INT,
    Expr,
    Transition,
    TransitionSystem,
    Variable,
    all_of,
    any_of,
    equal,
    negate,
    select,
    topological,
)
from ...model.language.expressions.expr import as_expr, fresh_graph
from ..parametric.grounding import Condition, conditions

_MOST_NODES = 1500
"""How many expressions a step of the questionnaire computes, about: the time to compile one grows faster than its size."""

Asked = tuple[tuple[Expr, Expr], ...]
"""Expressions, and where each is evaluated."""

Groups = list[tuple[Expr, Asked]]
"""What is asked, and in which states at all: there it is evaluated, elsewhere not."""


class Questionnaire(Data, slots=False):
    """A system whose steps write down what a state asks: `variables` has for each condition the variable for its case, from 0; -1: not asked.

    What a state asks is what any of its successors says: those that say something about a condition say the same.
    """

    system: TransitionSystem
    conditions: tuple[Condition, ...]
    variables: tuple[Variable, ...]


Questionnaires = tuple[Questionnaire | None, Questionnaire | None, Questionnaire | None, list[Expr]]


def questionnaires(system: TransitionSystem) -> Questionnaires:
    """What is asked to find the successors of a state; to check its predicates; to see what livenesses look at; and all questions.

    None where nothing is.

    Raises as `conditions`.
    """
    with fresh_graph():
        found = [c for c in conditions(system) if any(case is not None for case in c.cases)]
        questions = list(dict.fromkeys(case[0] for c in found for case in c.cases if case is not None))
        always = as_expr(True)
        guards = tuple(pair for t in system.transitions for pair in _of_guard(t))
        taken = [
            (
                all_of((t.guard, *(c for _, c in t.constraints))),
                tuple((e, always) for e in t.updates.values()),
            )
            for t in system.transitions
        ]
        tables = (system.invariants, system.witnesses, system.resettabilities)
        predicates = [e for table in tables for e in table.values()]
        observed = system.liveness_predicates()
        return (
            _questionnaire(system, found, [(always, guards), *taken]),
            _questionnaire(system, found, [(always, tuple((e, always) for e in predicates))]),
            _questionnaire(system, found, [(always, tuple((e, always) for e in observed))]),
            questions,
        )


def predicates_ask(system: TransitionSystem) -> bool:
    """Whether it ever depends on the parameters which invariants and resettabilities hold in a state. Raises as `conditions`."""
    with fresh_graph():
        found = [c for c in conditions(system) if any(case is not None for case in c.cases)]
        predicates = (*system.invariants.values(), *system.resettabilities.values())
        asked = _demanded(found, tuple((e, as_expr(True)) for e in predicates))
        return any(c.expression in asked for c in found)


def _of_guard(t: Transition) -> Iterator[tuple[Expr, Expr]]:
    yield t.guard, as_expr(True)
    # Each constraint that does not hold is hit, also where another stops the transition already.
    yield from ((e, t.guard) for _, e in t.constraints)


def _questionnaire(system: TransitionSystem, found: list[Condition], groups: Groups) -> Questionnaire | None:
    demanded = [_demanded(found, asked) for _, asked in groups]
    known = [c for c in found if any(c.expression in some for some in demanded)]
    if not known:
        return None
    variables = {
        c: Variable(f"asked {number}", INT, -1, len(c.cases) - 1, -1) for number, c in enumerate(known)
    }
    steps: list[Transition] = []
    for (where, _), some in zip(groups, demanded, strict=True):
        updates = [
            (variable, select(some[c.expression], _case(c), as_expr(-1)))
            for c, variable in variables.items()
            if c.expression in some
        ]
        for part in _divided(updates):
            steps.append(
                Transition("family", "ask", (("part", len(steps)),), "family", False, where, (), dict(part))
            )
    asking = replace(
        system,
        name=f"{system.name}, asked",
        variables=(*system.variables, *variables.values()),
        transitions=tuple(steps),
        invariants={},
        witnesses={},
        resettabilities={},
        livenesses={},
        views={},
    )
    return Questionnaire(asking, tuple(known), tuple(variables.values()))


def _demanded(found: list[Condition], asked: Asked) -> dict[Expr, Expr]:
    """Where each condition is asked."""
    stops = {c.expression: c for c in found}
    nodes = topological(e for e, _ in asked)
    open_ones: set[Expr] = set()
    for node in nodes:
        if node.op == "param" or any(a in open_ones for a in node.args):
            open_ones.add(node)
    where: dict[Expr, list[Expr]] = {}

    def ask(node: Expr, condition: Expr) -> None:
        if node in open_ones and not (condition.is_const and not condition.value):
            where.setdefault(node, []).append(condition)

    for e, condition in asked:
        ask(e, condition)
    result = {}
    for node in reversed(nodes):
        if node not in where:
            continue
        here = any_of(where[node])
        if node in stops:
            result[node] = here
            for leaf in stops[node].leaves:
                ask(leaf, here)
        elif node.op in ("and", "or"):
            _ask_junction(node, here, open_ones, ask)
        elif node.op == "ite":
            chooses, yes, no = node.args
            fixed = yes not in open_ones and no not in open_ones
            ask(chooses, all_of((here, negate(equal(yes, no)))) if fixed else here)
            ask(yes, all_of((here, chooses)))
            ask(no, all_of((here, negate(chooses))))
        else:
            for arg in node.args:
                ask(arg, here)
    return result


def _ask_junction(node: Expr, here: Expr, open_ones: set[Expr], ask: Callable[[Expr, Expr], None]) -> None:
    """The first argument that decides; all of them where none does; and none where one without parameters decides."""

    def decides(arg: Expr) -> Expr:
        return negate(arg) if node.op == "and" else arg

    closed = any_of(decides(a) for a in node.args if a not in open_ones)
    here = all_of((here, negate(closed)))
    undecided = node if node.op == "and" else negate(node)
    before: list[Expr] = []
    for arg in (a for a in node.args if a in open_ones):
        first = all_of((decides(arg), *(negate(decides(b)) for b in before)))
        ask(arg, all_of((here, any_of((undecided, first)))))
        before.append(arg)


def _case(condition: Condition) -> Expr:
    """The number of the case that a state is in."""
    number = as_expr(0)
    for leaf in condition.leaves:
        if leaf.sort is BOOL:
            number = number * 2 + select(leaf, as_expr(1), as_expr(0))
        elif leaf.sort is INT:
            number = number * (leaf.hi - leaf.lo + 1) + (leaf - leaf.lo)
        else:
            raise ValueError(f"a comparison of parameters depends on a value of sort {leaf.sort}")
    return number


def _divided(updates: list[tuple[Variable, Expr]]) -> Iterable[list[tuple[Variable, Expr]]]:
    part: list[tuple[Variable, Expr]] = []
    known: set[Expr] = set()
    for variable, value in updates:
        more = set(topological([value]))
        if part and len(known | more) > _MOST_NODES:
            yield part
            part, known = [], set()
        part.append((variable, value))
        known |= more
    if part:
        yield part


def answers_of(questionnaire: Questionnaire, cases: Iterable[int]) -> Mapping[Expr, bool]:
    """The questions that a row asks; what each says where its condition holds."""
    found: dict[Expr, bool] = {}
    for condition, number in zip(questionnaire.conditions, cases, strict=True):
        case = condition.cases[number] if number >= 0 else None
        if case is not None:
            found[case[0]] = case[1]
    return found
