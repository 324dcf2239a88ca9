"""Properties evaluated on states that were seen: no step of the model led from one to the next.

What a property remembers is worked out from two seen states, as if one step had led from the first to the second.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ...base.structs import Data
from ...checker.core.interpreter import Interpreter
from ...model.cluster import build_cluster
from ...model.environment.objects import ClusterSpec
from ...model.language import Component, Expr, State, TransitionSystem, as_expr, variables_of
from ...model.language.declarations.tracer import StepTrace, tracing
from ...model.language.expressions.expr import Variable, fresh_graph, variable
from ...model.language.systems.system import evaluate_in, initialise, model_variables
from ...properties import PROPERTIES, Property
from ...properties.base.of_steps import OfSteps
from ...reports.step import Value
from ..case import codes_of, typed

Seen = Mapping[str, Value]
"""What was seen: values by the names of the model's variables."""


class _Monitor(Data, slots=False):
    """A property: the predicate, what it remembers after a step, and what it reads of the model."""

    holds: Expr
    remembers: Mapping[Variable, Expr]
    reads: frozenset[str]


@dataclass
class Monitors:
    """The invariants of a cluster that can be evaluated on states that were seen."""

    monitors: Mapping[str, _Monitor]
    _system: TransitionSystem = field(repr=False)
    _codes: Mapping[str, Mapping[Any, int]] = field(repr=False)
    _width: int = 0

    def readable(self, seen: Iterable[str]) -> list[str]:
        """The properties that read nothing but these variables."""
        known = frozenset(seen)
        return [name for name, one in self.monitors.items() if one.reads <= known]

    def violated(self, states: Sequence[Seen], names: Sequence[str]) -> dict[str, int]:
        """Of these properties, those that are violated, with the number of the first state that violates it. Each state has all that is seen."""
        found = dict[str, int]()
        for number, bad in enumerate(self.each(states, names)):
            for name in bad:
                found.setdefault(name, number)
        return found

    def each(self, states: Sequence[Seen], names: Sequence[str]) -> Iterator[list[str]]:
        """Those of these properties that each state violates. It ends with a state that has no place in the model: nothing can be said from there on."""
        interpreter, place = Interpreter(self._system), self._system.position
        now = self._start(states[0])
        for number, seen in enumerate(states):
            following = self._with(now, seen)
            if following is None:
                return
            if number and following != now:
                both = (*now[: self._width], *following[: self._width])
                changed = list(following)
                for name in names:
                    for one, expr in self.monitors[name].remembers.items():
                        if one in place:
                            changed[place[one]] = interpreter.evaluate(expr, both)
                following = tuple(changed)
            both = (*following[: self._width], *following[: self._width])
            yield [name for name in names if not interpreter.holds(self.monitors[name].holds, both)]
            now = following

    def _start(self, seen: Seen) -> State:
        return self._with(self._system.initial, seen) or self._system.initial

    def _with(self, state: State, seen: Seen) -> State | None:
        made = list(state)
        for name, value in seen.items():
            codes = self._codes.get(name)
            if codes is None:
                continue
            code = codes.get(typed(value))
            if code is None:
                return None
            made[self._places[name]] = code
        return tuple(made)

    @cached_property
    def _places(self) -> Mapping[str, int]:
        """Where the variables of one state are."""
        return {v.name: place for place, v in enumerate(self._system.variables[: self._width])}


@fresh_graph()
def monitors_of(spec: ClusterSpec, classes: Sequence[type[Component]], names: Iterable[str]) -> Monitors:
    """The monitors of those of the properties that can be evaluated on seen states: invariants that no step tells anything beside the state."""
    model = build_cluster(spec, classes)
    parts: dict[str, Property] = {}
    for name in names:
        kind = PROPERTIES[name]
        if kind.kind == "invariant" and not issubclass(kind, OfSteps):
            part = model.add(kind.id, kind)
            assert isinstance(part, Property)
            parts[name] = part
    initialise(model)
    own = tuple(v for v in model_variables(model) if v.lo != v.hi)
    later = {v: Variable(f"{v.name} afterwards", v.sort, v.lo, v.hi, v.initial) for v in own}
    remembered = {v for v in own if v.name.partition(".")[0] in parts}
    found = {name: _monitor(model, part, later, remembered) for name, part in parts.items()}
    system = TransitionSystem(
        name=spec.name,
        universe=model.entities,
        variables=(*own, *later.values()),
        transitions=(),
        invariants={},
    )
    codes = {v.name: codes_of(model.entities, v) for v in own if v not in remembered}
    return Monitors(found, system, codes, len(own))


def _monitor(
    model: Any, part: Property, later: Mapping[Variable, Variable], remembered: set[Variable]
) -> _Monitor:
    trace = StepTrace()
    trace.values = {v: variable(then) for v, then in later.items() if v not in remembered}
    given = dict(trace.values)
    with tracing(trace):
        part.observe()
    remembers = {v: e for v, e in trace.values.items() if given.get(v) is not e}
    holds = as_expr(evaluate_in(model, part.holds))
    earlier = {then: v for v, then in later.items()}
    reads = {earlier.get(v, v) for v in variables_of([holds, *remembers.values()])} - remembered
    return _Monitor(holds, remembers, frozenset(v.name for v in reads))
