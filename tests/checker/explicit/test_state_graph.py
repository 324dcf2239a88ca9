"""The whole graph of a system, as the interpreter has it."""

from __future__ import annotations

from hypothesis import given, settings

from podrace.checker.core.exploration import Budget
from podrace.checker.core.interpreter import Interpreter
from podrace.checker.explicit.state_graph import state_graph
from podrace.model.language import TransitionSystem
from tests.profiles import examples
from tests.random_systems import systems


@given(systems())
@settings(max_examples=examples(40))
def test_states_and_edges_are_those_of_the_interpreter(system: TransitionSystem) -> None:
    system = system.with_predicates(invariants={}, witnesses={}, resettabilities={})
    graph = state_graph(system)
    assert graph.stopped is None
    interpreter = Interpreter(system)
    rows = [tuple(row) for row in graph.codes.tolist()]
    assert rows[0] == system.initial
    assert len(set(rows)) == graph.states
    for state, row in enumerate(rows):
        first, last = graph.starts[state], graph.starts[state + 1]
        edges = [(int(graph.labels[e]), rows[graph.targets[e]]) for e in range(first, last)]
        assert edges == [(t, interpreter.successor(row, t)) for t in interpreter.enabled(row)]
    assert graph.starts[-1] == graph.edges
    cut = state_graph(system, Budget(max_states=1))
    assert (cut.states, cut.stopped) == ((1, None) if graph.states == 1 else (1, "states"))
