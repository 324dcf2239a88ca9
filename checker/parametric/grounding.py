"""What a system can learn about its unknown parameters: comparisons, with the state taken out of them.

A parameter reaches the behaviour of a system only through comparisons. In `lt(capacity, sum over pods of ite(pod is
there, request, 0))`, the state decides which requests are summed; for each of these cases what is left
is a condition on the parameters alone, a *question*. Two choices of parameters that answer every question alike make every
guard, update and predicate of the system the same function of the state, so they have the same transition system.

Questions are found by letting everything in a comparison that is not a sum of parameters take every value it may,
whether or not a reachable state gives it: that can only make more of them, and a finer division than is needed.

Where comparisons are only ever used together (not enough CPU, or not enough memory), what counts is what they say
together: the questions are asked of the largest conditions that are built from comparisons of connected parameters.
"""

from collections.abc import Iterator
from itertools import product

from ...base.structs import Data
from ...model.language import BOOL, INT, Expr, ModelError, TransitionSystem, topological
from ...model.language.expressions.expr import const
from ...model.language.expressions.graph import rebuilt
from ..core.union_find import UnionFind

MOST_CASES = 1 << 14
"""How many cases of the state one condition may have."""


class TooManyCases(ValueError):
    """A condition on parameters depends on more of the state than can be enumerated."""


def questions(system: TransitionSystem) -> list[Expr]:
    """Conditions on parameters whose answers decide how the system behaves, in the graph in use, each once.

    Call it within `fresh_graph`. Raises TooManyCases, and ValueError for a system that keeps a parameter in its state.
    """
    cases = (case for condition in conditions(system) for case in condition.cases)
    return list(dict.fromkeys(case[0] for case in cases if case is not None))


class Condition(Data):
    """A condition on parameters somewhere in a system, and what is left of it in each case of the state.

    `leaves` are what of the state it depends on. `cases` are in the order of all their values, the last leaf's first: a
    question, and whether the condition holds where its answer is yes; None where the condition does not depend on the parameters.
    """

    expression: Expr
    leaves: tuple[Expr, ...]
    cases: tuple[tuple[Expr, bool] | None, ...]


def conditions(system: TransitionSystem) -> list[Condition]:
    """The conditions through which the parameters reach the behaviour of a system; raises as `questions`, and is called as that is."""
    found = []
    for condition in _Parameters(system).conditions():
        # A condition and its negation are one question.
        cases = tuple(
            None if case.is_const else (case.args[0], False) if case.op == "not" else (case, True)
            for case in _cases(condition)
        )
        found.append(Condition(condition, tuple(leaves_of(condition)), cases))
    return found


class _Parameters:
    """Where parameters are in the graph of a system."""

    def __init__(self, system: TransitionSystem) -> None:
        self.nodes = topological(system.roots())
        self.below: dict[Expr, frozenset[Expr]] = {}
        for node in self.nodes:
            if node.op == "param":
                self.below[node] = frozenset([node])
            elif _is_arithmetic(node):
                self.below[node] = frozenset().union(
                    *(self.below.get(a, frozenset()) for a in _summands(node))
                )
        self.below = {node: parameters for node, parameters in self.below.items() if parameters}
        for t in system.transitions:
            for variable, update in t.updates.items():
                if update in self.below:
                    raise ValueError(
                        f"{t.label} keeps a parameter in `{variable.name}`: its values cannot be enumerated"
                    )
        self.roots = set(system.roots())

    def conditions(self) -> Iterator[Expr]:
        """The largest conditions that only comparisons of connected parameters make up."""
        parts = UnionFind[Expr]()
        comparisons = {n: self._compared(n) for n in self.nodes if self._compared(n)}
        for parameters in comparisons.values():
            parts.join(parameters)
        pure: dict[Expr, frozenset[Expr]] = dict(comparisons)
        for node in self.nodes:
            if node.op in ("and", "or") and all(_plain(a) in comparisons for a in node.args):
                if all(_sums(_plain(a)) for a in node.args):
                    parts.join(q for a in node.args for q in comparisons[_plain(a)])
        for node in self.nodes:
            if node.op in ("not", "and", "or") and all(a in pure for a in node.args):
                parameters = frozenset().union(*(pure[a] for a in node.args))
                if parts.connected(parameters) and _count(node) <= MOST_CASES:
                    pure[node] = parameters
        hidden = set(pure)
        for node in self.nodes:
            if node not in pure:
                hidden.difference_update(node.args)
        hidden -= self.roots
        for node in pure:
            if node not in hidden:
                if _count(node) > MOST_CASES:
                    raise TooManyCases(
                        f"a comparison of {', '.join(sorted(map(repr, pure[node])))} has more than {MOST_CASES:,} "
                        "cases: fewer pods or nodes have fewer"
                    )
                yield node

    def _compared(self, node: Expr) -> frozenset[Expr]:
        if node.op not in ("eq", "lt"):
            return frozenset()
        return frozenset().union(*(self.below.get(a, frozenset()) for a in node.args))


def _plain(node: Expr) -> Expr:
    return node.args[0] if node.op == "not" else node


def _is_arithmetic(node: Expr) -> bool:
    return node.sort is INT and node.op in ("add", "sub", "mul", "div", "ite")


def _summands(node: Expr) -> tuple[Expr, ...]:
    return node.args[1:] if node.op == "ite" else node.args


def _sums(comparison: Expr) -> bool:
    """Whether the state has a say in the comparison."""
    return bool(leaves_of(comparison))


def leaves_of(condition: Expr) -> list[Expr]:
    """What of the state a condition depends on: conditions of choices, and numbers that are no parameters."""
    found: dict[Expr, None] = {}
    for node in _above_the_state(condition):
        if node.op == "ite" and _has_state(node.args[0]):
            found[node.args[0]] = None
        elif node.op == "var":
            found[node] = None
    return list(found)


def _above_the_state(condition: Expr) -> list[Expr]:
    """The nodes of a condition down to the conditions of choices, which are left out; arguments first."""
    order: list[Expr] = []
    seen: set[Expr] = set()

    def visit(node: Expr) -> None:
        if node not in seen:
            seen.add(node)
            hides = node.op == "ite" and _has_state(node.args[0])
            for arg in _summands(node) if hides else node.args:
                visit(arg)
            order.append(node)

    visit(condition)
    return order


def _count(condition: Expr) -> int:
    cases = 1
    for leaf in leaves_of(condition):
        cases *= 2 if leaf.sort is BOOL else leaf.hi - leaf.lo + 1
    return cases


def _cases(condition: Expr) -> Iterator[Expr]:
    """The condition with each value of what it depends on put in."""
    leaves = leaves_of(condition)
    ranges = [range(2) if leaf.sort is BOOL else range(leaf.lo, leaf.hi + 1) for leaf in leaves]
    for codes in product(*ranges):
        try:
            yield with_values(condition, dict(zip(leaves, codes, strict=True)))
        except ModelError as error:  # a divisor of which the state makes sure that it is positive
            raise ValueError(
                f"a comparison of parameters cannot be taken out of the state: {error}"
            ) from None


def with_values(condition: Expr, values: dict[Expr, int]) -> Expr:
    """The condition on parameters that is left when what it depends on of the state has these values."""
    new: dict[Expr, Expr] = {}
    for node in _above_the_state(condition):
        if node in values and node.op != "ite":
            new[node] = const(node.sort, values[node])
        elif node.op == "ite" and node.args[0] in values:
            chosen = node.args[1] if values[node.args[0]] else node.args[2]
            new[node] = new[chosen]
        elif not node.args:
            new[node] = node
        else:
            made = rebuilt(node.op, (new[a] for a in node.args))
            if made.op == "ite":  # where nothing of the state was chosen, what is known of its range holds
                made.lo, made.hi = max(made.lo, node.lo), min(made.hi, node.hi)
            new[node] = made
    return new[condition]


def _has_state(condition: Expr) -> bool:
    return any(node.op == "var" for node in topological([condition]))
