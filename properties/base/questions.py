"""What a property asks of a scheduler: its predicates, its observer and its witnesses, by themselves, over the variables that they read.

A property reads the scheduler by the scheduler's own queries, such as `Cache.is_assumed`. A change that overrides one of these changes the question
besides the scheduler, and an answer to another question is no fix.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial

from ...base.structs import Data
from ...model.cluster import build_cluster
from ...model.environment.objects import ClusterSpec
from ...model.language import Component, Expr, as_expr, topological
from ...model.language.declarations.tracer import StepTrace, tracing
from ...model.language.expressions.expr import Variable, const, fresh_graph, variable
from ...model.language.expressions.graph import substitute, variables_of
from ...model.language.systems.system import evaluate_in, initialise, model_variables
from .of_steps import OfSteps
from .property import Property

_COMMUTES = frozenset(("and", "or", "eq", "add", "mul"))


class Alteration(Data):
    """What becomes of a question, and of where it begins, when changes are added to a scheduler.

    `tested_by_another`: the question is the same, and what shows that it was put to the test is not. `extended_by` are variables of the changes' own that the question reads: before they change for the first time, it is the same. `begins` are variables
    that have another value at first.
    """

    is_another: bool = False
    tested_by_another: bool = False
    extended_by: tuple[str, ...] = ()
    begins: tuple[str, ...] = ()


@fresh_graph()
def alteration(
    spec: ClusterSpec,
    before: Sequence[type[Component]],
    after: Sequence[type[Component]],
    prop: type[Property],
) -> Alteration:
    """What a property asks of a cluster with the changes `before` and with those `after`. Raises ModelError for a mistake in one of them."""
    old, old_tests, first = _asked(spec, before, prop)
    new, new_tests, second = _asked(spec, after, prop)
    known = {v.name: v.initial for v in first}
    own = {v.name: v for v in second if v.name not in known}
    read = sorted({v.name.removesuffix("'") for v in variables_of(new.values())} & own.keys())
    is_another = _digest(old, {}) != _digest(new, own)
    return Alteration(
        is_another,
        not is_another and _digest(old_tests, {}) != _digest(new_tests, own),
        tuple(read),
        tuple(v.name for v in second if known.get(v.name, v.initial) != v.initial),
    )


def _asked(
    spec: ClusterSpec, classes: Sequence[type[Component]], prop: type[Property]
) -> tuple[dict[str, Expr], dict[str, Expr], list[Variable]]:
    """Every expression of the question, its witnesses, and all variables of the model."""
    model = build_cluster(spec, classes)
    theirs = model_variables(model)
    companions = prop.companions if issubclass(prop, OfSteps) else ()
    monitors = [model.add(cls.id, cls) for cls in dict.fromkeys((*companions, prop))]
    initialise(model)
    found: dict[str, Expr] = {}
    tests: dict[str, Expr] = {}
    for monitor in monitors:
        assert isinstance(monitor, Property)
        found |= evaluate_in(model, partial(_predicates, monitor))
        found |= _observed(monitor, theirs)
        witnesses = evaluate_in(model, monitor.witnesses)
        tests |= {f"{monitor.id} {name}": as_expr(seen) for name, seen in witnesses.items()}
    mine = [v for v in model_variables(model) if v not in set(theirs)]
    found |= {f"{v.name} at first": const(v.sort, v.initial) for v in mine}
    return found, tests, theirs


def _predicates(monitor: Property) -> dict[str, Expr]:
    if monitor.kind != "liveness":
        return {monitor.id: as_expr(monitor.holds())}
    return {
        f"{monitor.id} {case.name} {number}": as_expr(predicate)
        for case in monitor.cases()
        for number, predicate in enumerate(case.predicates)
    }


def _observed(monitor: Property, variables: Sequence[Variable]) -> dict[str, Expr]:
    """What the property remembers of a step that may change every variable: each has a new value, of which nothing is known."""
    if type(monitor).observe is Component.observe:
        return {}
    trace = StepTrace()
    fresh = {
        v: variable(Variable(f"{v.name}'", v.sort, v.lo, v.hi, v.initial)) for v in variables if v.lo != v.hi
    }
    trace.values.update(fresh)
    with tracing(trace):
        monitor.observe()
    return {f"{v.name} afterwards": e for v, e in trace.values.items() if v not in fresh}


def _digest(asked: Mapping[str, Expr], own: Mapping[str, Variable]) -> str:
    """A hash of what is asked, whatever order it was built in, while each of `own` has its first value."""

    def leaf(node: Expr) -> Expr:
        mine = own.get(node.value.name.removesuffix("'")) if node.op == "var" else None
        return node if mine is None else const(node.sort, mine.initial)

    new = substitute(asked.values(), leaf)
    known: dict[Expr, str] = {}
    for node in topological(new[e] for e in asked.values()):
        below = [known[arg] for arg in node.args]
        value = node.value.name if node.op in ("var", "param") else node.value
        written = repr((node.op, sorted(below) if node.op in _COMMUTES else below, value))
        known[node] = hashlib.sha256(written.encode()).hexdigest()
    return repr(sorted((name, known[new[e]]) for name, e in asked.items()))
