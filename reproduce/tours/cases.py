"""Cases straight from a graph's states: what the interpreter would tell of a run, in a hundredth of the time.

Nothing else is taken from it: a difference that is told is of a run which the interpreter has executed.
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from ...checker.core.trace import plain_value
from ...checker.explicit.state_graph import StateGraph
from ...reports.step import Value
from ..case import CHOICE, Case, CaseStep, order_of, rivals, variables_of_model
from ..lockstep.lockstep import case_for
from ..random_runs.random_runs import Model, RandomRun
from ..timing.timing import Timing


class Cases:
    """The cases of one model's runs."""

    def __init__(self, model: Model, graph: StateGraph) -> None:
        self._model, self._graph = model, graph
        self._first = case_for(RandomRun(model, (), Timing((), ())), "")
        self._names = [variable.name for variable in model.system.variables]
        own = variables_of_model(model.system)
        self._own = np.array([name in own for name in self._names])
        decode = model.system.universe.decode
        self._decode = [
            lambda code, sort=v.sort: plain_value(decode(sort, code)) for v in model.system.variables
        ]
        self._values: dict[tuple[int, int], Value] = {}
        transitions = model.system.transitions
        self._steps = [f"{t.part}.{t.step}" for t in transitions]
        self._arguments: list[dict[str, Value]] = [
            {name: plain_value(value) for name, value in t.args} for t in transitions
        ]

    def case(self, name: str, source: int, edges: Sequence[int], timing: Timing) -> Case:
        """The case of a run that begins in the first state; `source` is that state."""
        steps = []
        for edge, wait in zip(edges, timing.waits, strict=True):
            target = int(self._graph.targets[edge])
            steps.append(self._step(int(self._graph.labels[edge]), source, target, wait))
            source = target
        order = order_of(self._model.scenario.spec, self._first.initial, steps)
        return msgspec.structs.replace(self._first, id=name, steps=steps, order=order)

    def _step(self, number: int, source: int, target: int, wait: int) -> CaseStep:
        before, after = self._graph.codes[source], self._graph.codes[target]
        changes = {
            self._names[place]: self._value(place, int(after[place]))
            for place in np.flatnonzero((before != after) & self._own).tolist()
        }
        name, actor = self._steps[number], self._model.system.transitions[number].actor
        others = self._rivals(name, number, source)
        return CaseStep(name, actor, self._arguments[number], wait, changes, others)

    def _rivals(self, name: str, number: int, source: int) -> tuple[str, ...]:
        if name != CHOICE:
            return ()
        starts, labels = self._graph.starts, self._graph.labels
        enabled = map(int, labels[starts[source] : starts[source + 1]])
        same = [n for n in enabled if self._steps[n] == name]
        return rivals(self._model.system, number, same)

    def _value(self, place: int, code: int) -> Value:
        if (place, code) not in self._values:
            self._values[place, code] = self._decode[place](code)
        return self._values[place, code]
