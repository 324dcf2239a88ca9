"""What the real scheduler can be made to do after a run: a guide of plans over a system's graph."""

from copy import copy

from ...checker.explicit.state_graph import StateGraph
from ...model.language import State
from ..random_runs.forcing import Forcing
from ..random_runs.random_runs import Model
from ..timing.timing import Timetable, Timing, Untimely


class Guided:
    """Goes along with one run: durations that the queue's timers allow for, and what can be forced."""

    def __init__(self, model: Model, graph: StateGraph) -> None:
        self._model, self._graph = model, graph
        self._table, self._forcing = Timetable(model.system, model.composition), Forcing(model.system)
        self._state = model.system.initial

    def for_another(self) -> "Guided":
        """One that goes along with another run from here; what it looks up in the system is not looked for again."""
        found = copy(self)
        found._table, found._forcing = self._table.for_another(), self._forcing.for_another()
        return found

    def take(self, edge: int) -> str:
        """Go on by an edge; or say why the real scheduler cannot be made to take it."""
        graph, before = self._graph, self._state
        step = self._model.system.transitions[graph.labels[edge]]
        name = f"{step.part}.{step.step}"
        if not self._forcing.allows(step, before):
            return f"{name}: cannot be held there"
        after: State = tuple(graph.codes[graph.targets[edge]].tolist())
        try:
            self._table.go(step, before, after)
        except Untimely:
            return f"{name}: no durations allow for it"
        self._forcing.go(step, before, after)
        self._state = after
        return ""

    def end(self, steps: int) -> Timing:
        """The waits of the first steps."""
        timing = self._table.timing
        return Timing(timing.waits[:steps], timing.ahead[:steps])
