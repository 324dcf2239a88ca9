"""Tours with scales of time: the graph has no flush that comes before minutes have passed, and the driver is told nothing of when timers are due."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from podrace.checker.core.exploration import Budget
from podrace.checker.explicit.state_graph import state_graph
from podrace.model.environment.cluster.scope import SCALES
from podrace.model.history import resolve
from podrace.properties import instrument
from podrace.reproduce.random_runs.random_runs import Model
from podrace.reproduce.tours.cases import Cases
from podrace.reproduce.tours.request import in_time
from podrace.scenarios import find_scenarios
from tests.checker.reduction.test_scales_of_time import Queue, Retrying, traced


def test_a_flush_waits_in_a_tour() -> None:
    (scenario,) = find_scenarios("live-read-removes-node")
    composition = resolve("1.36.3")
    scope = replace(scenario.spec.scope, time=SCALES)
    of_any, system = (
        in_time(instrument(spec, composition.classes, []), Budget())
        for spec in (scenario.spec, replace(scenario.spec, scope=scope))
    )
    before, graph = state_graph(of_any), state_graph(system)
    assert [(one.states, one.edges) for one in (before, graph)] == [(1_685, 4_870), (646, 1_483)]
    names = [v.name for v in system.variables]
    cases = Cases(Model(scenario, composition, system), graph)
    sources = np.repeat(np.arange(graph.states), np.diff(graph.starts))
    changed: set[str] = set()
    told: set[str] = set()
    for edge in range(graph.edges):
        source, target = int(sources[edge]), int(graph.targets[edge])
        changed |= {names[i] for i in np.flatnonzero(graph.codes[source] != graph.codes[target]).tolist()}
        told |= cases._step(int(graph.labels[edge]), source, target, 0).changes.keys()
    assert changed - told == {name for name in changed if name.startswith("time.due")} != set()


def test_where_work_never_ends_a_tour_has_timers_at_any_moment() -> None:
    system = traced(Retrying, "never")
    assert in_time(system, Budget()) == replace(system, scales=False)
    assert in_time(traced(Queue, "never"), Budget(max_states=2)).scales is False
    assert "time.due[0]" in {v.name for v in in_time(traced(Queue, "never"), Budget()).variables}
