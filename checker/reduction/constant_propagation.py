"""What cannot happen in a system is taken out of it: point 2 of `slicing`."""

from dataclasses import replace
from functools import cached_property

from ...model.language import Expr, Transition, TransitionSystem, Variable, substitute
from ...model.language.expressions.expr import const, fresh_graph, parameter, variable
from .value_analysis import ValueAnalysis, transition_roots


def predicates_of(system: TransitionSystem) -> list[Expr]:
    """Every predicate that a search of the system decides."""
    predicates = [*system.invariants.values(), *system.witnesses.values(), *system.resettabilities.values()]
    return predicates + system.liveness_predicates()


class ConstantPropagation:
    """The values that everything in a system can have, and the system without what they rule out.

    Which values there are does not depend on the predicates, so one analysis serves every slice of the system.
    """

    def __init__(self, system: TransitionSystem) -> None:
        self._system = system.with_predicates(views={})
        self._found = ValueAnalysis(self._system, predicates_of(self._system))

    @cached_property
    def happening(self) -> tuple[Transition, ...]:
        """The transitions whose guard may hold."""
        return tuple(t for t in self._system.transitions if self._found.may_hold(t.guard))

    def impossible(self, transition: Transition) -> tuple[Expr, str] | None:
        """The first condition of a transition that can never hold, and the name of its constraint, empty for the guard; None if each can by itself."""
        for name, whole in (("", transition.guard), *transition.constraints):
            for part in whole.args if whole.op == "and" else (whole,):
                if not self._found.may_hold(part):
                    return part, name
        return None

    @cached_property
    def propagated(self) -> TransitionSystem:
        """The system without the others; what has one value is a constant, ranges are no wider than need be."""
        system, found, happening = self._system, self._found, self.happening
        propagated: dict[Variable, Variable] = {}

        def leaf(node: Expr) -> Expr:
            if node.op == "const":
                return const(node.sort, node.value)
            if node.op == "var":
                return variable(reduced(node.value))
            return parameter(node.value)

        def reduced(v: Variable) -> Variable:
            if v not in propagated:
                propagated[v] = Variable(v.name, v.sort, *found.range_of_variable(v), v.initial)
            return propagated[v]

        with fresh_graph():
            restricted = replace(system, transitions=happening)
            new = substitute([*transition_roots(restricted), *predicates_of(system)], leaf, found.range_of)

            def rebuilt(t: Transition) -> Transition:
                possible = all(found.may_hold(constraint) for _, constraint in t.constraints)
                constraints = tuple((name, new[e]) for name, e in t.constraints)
                updates = {reduced(v): new[e] for v, e in t.updates.items()} if possible else {}
                return replace(
                    t,
                    guard=new[t.guard],
                    constraints=tuple((name, e) for name, e in constraints if not (e.is_const and e.value)),
                    updates={v: e for v, e in updates.items() if v.lo != v.hi and e is not variable(v)},
                )

            transitions = tuple(rebuilt(t) for t in happening)
        return replace(
            system.with_expressions(new),
            variables=tuple(n for n in map(reduced, system.variables) if n.lo != n.hi),
            transitions=transitions,
        )
