"""The parameters that a system leaves open, and the system that a choice of them gives."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from ...model.language import INT, Expr, Parameter, TransitionSystem, Variable, substitute
from ...model.language.expressions.expr import as_expr, const, fresh_graph, parameter, variable


def with_parameters(system: TransitionSystem, values: Mapping[str, int]) -> TransitionSystem:
    """The system with these values for its parameters; one that is not named stays unknown.

    Variables, transitions and their order stay as they are, also where a guard turns out to be false. Raises ValueError
    for a value outside of its parameter's range.
    """

    def chosen(p: Parameter) -> Expr:
        if p.name not in values:
            return parameter(p)
        value = values[p.name]
        if not p.lo <= value <= p.hi:
            raise ValueError(f"`{p.name}` is in {p.lo}..{p.hi}, so it cannot be {value}")
        return as_expr(value)

    return _replaced(system, chosen)


def as_variables(
    system: TransitionSystem, ranges: Mapping[str, tuple[int, int]]
) -> tuple[TransitionSystem, dict[Variable, str]]:
    """The system in which every parameter is a variable that no transition changes, within the range for its name.

    Also the names of the parameters by variable; one with a single value is a constant. From a state in which the variables
    have the values v, it does what `with_parameters(system, v)` does: one system stands for all choices.
    """
    made = {name: Variable(f"parameter {name}", INT, lo, hi, lo) for name, (lo, hi) in ranges.items()}
    replaced = _replaced(system, lambda p: variable(made[p.name]))
    kept = {v: name for name, v in made.items() if v.lo != v.hi}
    return replace(replaced, variables=(*system.variables, *kept)), kept


def _replaced(system: TransitionSystem, p: Callable[[Parameter], Expr]) -> TransitionSystem:
    def leaf(node: Expr) -> Expr:
        if node.op == "const":
            return const(node.sort, node.value)
        return variable(node.value) if node.op == "var" else p(node.value)

    with fresh_graph():
        new = substitute([*system.roots(), *system.views.values()], leaf)
        return replace(
            system.with_expressions(new),
            transitions=tuple(
                replace(
                    t,
                    guard=new[t.guard],
                    constraints=tuple((name, new[e]) for name, e in t.constraints),
                    updates={v: new[e] for v, e in t.updates.items()},
                )
                for t in system.transitions
            ),
        )
