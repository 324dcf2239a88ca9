"""The runs of a system as constraints, one step after the other, from its initial state.

Each step has one Z3 bool for every transition that may happen at this depth, exactly one of which is true, and a term for each
variable: what is assigned by the transition that was chosen, or else what it was before. What the value analysis finds
constant at a depth is a constant there, and a variable that nothing can have changed keeps its term.

Parameters are free constants, the same at every step.

What can be constant at a depth is found by the value analysis, one step of it for each of the run (`ValuesWithin`): what is possible
within k steps is what was possible within k - 1, and what the transitions that were possible then assign. Early on little can
have happened, which keeps an unrolling small: most of the first steps are constants.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import z3

from podrace.checker.core.exploration import Path
from podrace.checker.reduction.value_analysis import ValueAnalysis, transition_roots
from podrace.checker.smt.theories import Term, Theory
from podrace.checker.smt.translate import constant, fitted, translate, unknown
from podrace.model.language import Expr, Parameter, Transition, TransitionSystem, Variable, topological
from tests.checker.unknown_parameters import parameters_of


class Unrolling:
    """All runs of `depth` steps, at first of none; `extend` appends one step.

    `predicates` are conditions over a state that can be asked about in the last state.
    """

    def __init__(
        self, system: TransitionSystem, predicates: Iterable[Expr], theory: Theory, parameters: ParameterTerms
    ) -> None:
        self.system, self.theory, self.parameters = system, theory, parameters
        predicates = list(predicates)
        self._nodes = topological([*transition_roots(system), *predicates])
        self._values = ValuesWithin(system, predicates)
        self._state = {v: constant(theory, v.sort, v.initial, v.lo, v.hi) for v in system.variables}
        self._choices: list[dict[int, Term]] = []
        self._terms = self._translated()

    @property
    def depth(self) -> int:
        """The number of steps."""
        return len(self._choices)

    def broken(self, predicate: Expr) -> Term:
        """That a predicate does not hold in the last state."""
        return z3.Not(self._terms[predicate])

    def extend(self) -> list[Term]:
        """One step more; gives the constraints that describe it, to be added to those given before."""
        terms, transitions = self._terms, self.system.transitions
        possible = [i for i, t in enumerate(transitions) if self._values.may_happen(t)]
        chosen = {i: z3.Bool(f"{self.depth}:{transitions[i].label}") for i in possible}
        constraints = [z3.Or(list(chosen.values()))]
        if len(chosen) > 1:
            constraints.append(z3.AtMost(*chosen.values(), 1))
        for i, here in chosen.items():
            t = transitions[i]
            constraints += [
                z3.Implies(here, terms[e])
                for e in (t.guard, *(constraint for _, constraint in t.constraints))
            ]
        following = dict(self._state)
        for v in self.system.variables:
            writers = [i for i in possible if v in transitions[i].updates]
            if writers:
                following[v] = unknown(self.theory, f"{v.name}@{self.depth + 1}", v.sort, v.lo, v.hi)
                constraints.append(following[v] == self._assigned(v, chosen, writers))
        self._choices.append(chosen)
        self._state = following
        self._values.advance()
        self._terms = self._translated()
        return constraints

    def path(self, model: Term) -> Path:
        """The run that a model of the constraints describes."""
        return tuple(
            next(i for i, here in chosen.items() if z3.is_true(model.eval(here, model_completion=True)))
            for chosen in self._choices
        )

    def _assigned(self, variable: Variable, chosen: Mapping[int, Term], writers: Iterable[int]) -> Term:
        result = self._state[variable]
        for i in writers:
            update = self.system.transitions[i].updates[variable]
            value = fitted(self.theory, self._terms[update], update, variable.lo, variable.hi)
            result = z3.If(chosen[i], value, result)
        return result

    def _translated(self) -> dict[Expr, Term]:
        def leaf(node: Expr) -> Term:
            return self.parameters[node.value] if node.op == "param" else self._state[node.value]

        return translate(self._nodes, self.theory, leaf, self._values.range_of)


class ParameterTerms:
    """The unknown parameters of a system as Z3 constants, by themselves and by their names."""

    def __init__(self, system: TransitionSystem, theory: Theory, others: Iterable[Expr] = ()) -> None:
        self.theory = theory
        known = {q.name: q for q in parameters_of(system)}
        for node in topological(others):
            if node.op == "param":
                known.setdefault(node.value.name, node.value)
        self.known: dict[str, Parameter] = dict(sorted(known.items()))
        self._terms = {
            name: theory.unknown(f"parameter {name}", q.lo, q.hi) for name, q in self.known.items()
        }

    def __getitem__(self, p: Parameter) -> Term:
        return self._terms[p.name]

    def terms(self) -> list[Term]:
        """The constants."""
        return list(self._terms.values())

    def constraints(self) -> list[Term]:
        """That each parameter is in its range."""
        return [
            c for name, q in self.known.items() for c in self.theory.within(self._terms[name], q.lo, q.hi)
        ]

    def term(self, condition: Expr) -> Term:
        """The term of an expression that reads nothing but parameters."""

        def leaf(node: Expr) -> Term:
            if node.op != "param":
                raise ValueError(f"`{node.value.name}` is no parameter: it changes from state to state")
            return self[node.value]

        return translate(topological([condition]), self.theory, leaf)[condition]

    def chosen(self, model: Term) -> dict[str, int]:
        """The values of a model, by the names of the parameters."""
        return {
            name: self.theory.code(model.eval(self._terms[name], model_completion=True), q.lo)
            for name, q in self.known.items()
        }


class ValuesWithin(ValueAnalysis):
    """The values within `depth` steps, at first within none; `advance` allows one step more."""

    def __init__(self, system: TransitionSystem, predicates: Iterable[Expr]) -> None:
        self.depth = 0
        super().__init__(system, predicates)

    def advance(self) -> None:
        """One step more."""
        for t in [t for t in self.system.transitions if self.may_happen(t)]:
            for variable, update in t.updates.items():
                at = self._at[update]
                self._join(variable, self._values[at], self._low[at])
        self.depth += 1
        self._solve()

    def may_happen(self, transition: Transition) -> bool:
        """Whether a transition can be enabled after at most `depth` steps."""
        return all(
            self.may_hold(e)
            for e in (transition.guard, *(constraint for _, constraint in transition.constraints))
        )

    def _solve(self) -> None:
        for index in range(len(self._nodes)):
            self._values[index] = self._evaluate(index)
