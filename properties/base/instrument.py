"""Put properties beside a model and trace both into one transition system."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial

from ...model.cluster import Cluster, build_cluster
from ...model.environment.cluster.scope import SCALES
from ...model.environment.objects import ClusterSpec
from ...model.language import (
    Component,
    Expr,
    Fairness,
    Lasts,
    Transition,
    TransitionSystem,
    any_of,
    as_expr,
    topological,
    trace_system,
)
from ...model.language.expressions.expr import fresh_graph
from ...model.language.systems.system import evaluate_in
from .of_steps import OfSteps
from .property import Property


@fresh_graph()
def instrument(
    spec: ClusterSpec, classes: Sequence[type[Component]], properties: Sequence[type[Property]]
) -> TransitionSystem:
    """The system of `spec` with these changes and with a monitor for each property.

    Every property becomes an invariant or a resettability under its identifier; its witnesses are named `ID: witness`. Deadlock freedom has one
    more than it says itself: it claims something only of states in which nothing moves by itself, so one of them must be reached.
    Raises ModelError for a mistake in a change or a property.
    """
    model = build_cluster(spec, classes)
    of_steps = [cls for cls in properties if issubclass(cls, OfSteps)]
    companions = [cls for prop in of_steps for cls in prop.companions]
    monitors = [_attach(model, cls) for cls in dict.fromkeys((*companions, *properties))]
    system = trace_system(
        model,
        spec.name,
        invariants={m.id: m.holds for m in monitors if m.kind in ("invariant", "deadlock freedom")},
        resettabilities={m.id: m.holds for m in monitors if m.kind == "resettability"},
        livenesses={m.id: m.cases for m in monitors if m.kind == "liveness"},
        witnesses={name: read for m in monitors for name, read in _witnesses(model, m).items()},
    )
    if spec.scope.time == SCALES:
        system = replace(with_slow(system, spec.scope.slow), scales=True)
    if spec.scope.fair_flush:
        system = _with_a_fair_flush(system)
    untested = {
        f"{m.id}: a state that could violate it": as_expr(False) for m in monitors if _is_settled(system, m)
    }
    stuck = {m.id for m in monitors if m.kind == "deadlock freedom"}
    moving = any_of(t.enabled for t in system.transitions if t.fair)
    # One that is true by what the cluster and the release are says as much without such a state.
    asked = sorted(name for name in stuck if not system.invariants[name].is_const)
    quiet = {f"{name}: nothing moves by itself": ~moving for name in asked}
    system = system.with_predicates(
        invariants={
            name: moving | predicate if name in stuck else predicate
            for name, predicate in system.invariants.items()
        },
        witnesses={**system.witnesses, **quiet, **untested},
    )
    for cls in of_steps:
        system = cls.completed(system)
    return system


def alone(system: TransitionSystem, name: str, others: Collection[str]) -> TransitionSystem:
    """What `instrument` gives for one of the properties of a system, but for the order of what is joined by "and" or "or": without the others, what they remember and their witnesses."""
    memories = tuple(f"{other}." for other in others if other != name)
    witnesses = tuple(f"{other}: " for other in others if other != name)
    gone = {v for v in system.variables if v.name.startswith(memories)}
    return replace(
        system,
        variables=tuple(v for v in system.variables if v not in gone),
        transitions=tuple(
            replace(t, updates={v: e for v, e in t.updates.items() if v not in gone})
            if not gone.isdisjoint(t.updates)
            else t
            for t in system.transitions
        ),
        invariants={key: e for key, e in system.invariants.items() if key == name},
        resettabilities={key: e for key, e in system.resettabilities.items() if key == name},
        livenesses={key: cases for key, cases in system.livenesses.items() if key == name},
        witnesses={key: e for key, e in system.witnesses.items() if not key.startswith(witnesses)},
    )


def with_slow(system: TransitionSystem, actors: Collection[str]) -> TransitionSystem:
    """The system in which the steps of these actors may take minutes."""
    return replace(
        system,
        transitions=tuple(
            replace(t, lasts=Lasts.ANY_TIME) if t.actor in actors and t.lasts is Lasts.SHORT else t
            for t in system.transitions
        ),
    )


def _with_a_fair_flush(system: TransitionSystem) -> TransitionSystem:
    """The same with the periodic flush of long-parked pods among what a liveness counts on, for each pod."""

    def counted_on(t: Transition) -> Transition:
        if (t.part, t.step) != ("queue", "flush_unschedulable"):
            return t
        return replace(t, fairness=(Fairness(f"periodic flush of {dict(t.args)['pod'].name}"),))

    return replace(system, transitions=tuple(map(counted_on, system.transitions)))


def _is_settled(system: TransitionSystem, monitor: Property) -> bool:
    """Whether no step changes anything on which the claim of the property depends, and no witness of it shows that: the cluster has nothing that could violate it."""
    own = [e for name, e in system.witnesses.items() if name.startswith(f"{monitor.id}: ")]
    if monitor.may_be_given or isinstance(monitor, OfSteps) or any(e.is_const and not e.value for e in own):
        return False
    written = {variable for t in system.transitions for variable in t.updates}

    def is_open(said: Expr) -> bool:
        return any(
            node.op == "param" or node.value in written
            for node in topological([said])
            if not node.args and not node.is_const
        )

    if monitor.kind == "liveness":
        cases = (case.predicates for case in system.livenesses[monitor.id])
        return not any(
            any(map(is_open, case)) for case in cases if not any(e.is_const and not e.value for e in case)
        )
    claims = system.resettabilities if monitor.kind == "resettability" else system.invariants
    return not is_open(claims[monitor.id])


def _attach(model: Cluster, cls: type[Property]) -> Property:
    monitor = model.add(cls.id, cls)
    assert isinstance(monitor, Property)
    return monitor


def _witnesses(model: Cluster, monitor: Property) -> dict[str, Callable[[], Expr]]:
    with fresh_graph():
        names = list(evaluate_in(model, monitor.witnesses))
    if not names and monitor.kind == "liveness":
        return {f"{monitor.id}: the condition of a case holds": lambda: _some_case(monitor)}
    return {f"{monitor.id}: {name}": partial(_witness, monitor, name) for name in names}


def _some_case(monitor: Property) -> Expr:
    return any_of(as_expr(case.persistent) for case in monitor.cases())


def _witness(monitor: Property, name: str) -> Expr:
    return monitor.witnesses()[name]
