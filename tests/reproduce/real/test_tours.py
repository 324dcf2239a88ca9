"""Every transition of all small scenarios, taken by the real scheduler, against the table of docs/notebook/tours-table.md: what `make real` runs.

`PODRACE_REAL` names the versions. With `PODRACE_UPDATE_GOLDEN` what was run is written into the table.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest

from podrace.analysis.request.in_release import refusal_of
from podrace.analysis.request.method import budget_for
from podrace.checker.core.exploration import Budget
from podrace.checker.explicit.state_graph import state_graph
from podrace.checker.trace.execution import replay
from podrace.model.history import GateProblem, resolve
from podrace.model.language import State, TransitionSystem, all_of, equal, select
from podrace.model.language.expressions.expr import const, variable
from podrace.properties import instrument
from podrace.reproduce.lockstep.lockstep import HELD
from podrace.reproduce.lockstep.request import plays
from podrace.reproduce.modules.module import parse_version
from podrace.reproduce.random_runs.random_runs import Model, Walker
from podrace.reproduce.running import built_for
from podrace.reproduce.tours.request import parse_code, tour_of
from podrace.reproduce.tours.tour import Asked, tour
from podrace.scenarios import Scenario, read_scenario
from tests.reproduce.real.test_real import go_or_skip
from tests.reproduce.real.tours_table import MOST, PAGE, VERSIONS, cell, put, read

CHOSEN = os.environ.get("PODRACE_REAL", "").replace(",", " ").split() or list(VERSIONS)
SCENARIOS = Path(__file__).parents[3] / "scenarios"

MUTANTS, RUNS = 10, 1_000
SEEN = ("api.pod", "cache.pod", "queue.sub_queue")


def model_of(name: str, release: str) -> Model | None:
    """The model of a scenario; None if it is none of one cluster on this release."""
    scenario: Scenario = read_scenario(SCENARIOS / f"{name}.yaml")
    try:
        composition = resolve(release, gates=scenario.feature_gates)
    except GateProblem:
        return None
    unplayed = any(pod.extender_selector for pod in scenario.spec.pods)
    if scenario.open or unplayed or refusal_of(scenario, composition) is not None:
        return None
    return Model(scenario, composition, instrument(scenario.spec, composition.classes, []))


def small(release: str) -> list[str]:
    """The scenarios of the table."""
    names = sorted(p.relative_to(SCENARIOS).with_suffix("").as_posix() for p in SCENARIOS.rglob("*.yaml"))
    models = ((name, model_of(name, release)) for name in names)
    return [name for name, model in models if model is not None and is_small(model.system)]


def is_small(system: TransitionSystem) -> bool:
    graph = state_graph(system, Budget(max_states=MOST))
    return graph.stopped is None and graph.edges <= MOST


@pytest.mark.real
@pytest.mark.parametrize("version", CHOSEN)
def test_every_transition_of_small_scenarios(version: str) -> None:
    go_or_skip()
    code = parse_code(version, None)
    built = built_for(code.version, go_or_skip(), print)
    table, column = read(PAGE.read_text(encoding="utf-8")), {}
    updates = bool(os.environ.get("PODRACE_UPDATE_GOLDEN"))
    for name in small(code.release) if updates else table:
        model = model_of(name, code.release)
        if model is not None:
            found = tour_of(model.scenario, model.composition, code, built, budget_for(), print)
            column[name] = cell(found)
            print(name, column[name])
    if updates:
        merged = {name: table.get(name, {}) for name in {*table, *column}}
        new = {
            name: cells | ({version: column[name]} if name in column else {})
            for name, cells in merged.items()
        }
        PAGE.write_text(put(PAGE.read_text(encoding="utf-8"), new), encoding="utf-8")
        return
    assert column == {name: cells[version] for name, cells in table.items() if version in cells}


@pytest.mark.real
@pytest.mark.parametrize("name", ["dead-node-in-snapshot"])
def test_a_mistake_in_one_transition_is_found(name: str) -> None:
    """One variable that one transition leaves as it was in one state: a thousand random runs do not come there, and the tour does."""
    built = built_for(parse_version("v1.36.3"), go_or_skip(), print)
    model = model_of(name, "1.36.3")
    assert model is not None
    taken = taken_at_random(model, RUNS)
    graph = state_graph(model.system)
    random, found = Random(name), 0
    names = [v.name for v in model.system.variables]
    sources = np.repeat(np.arange(graph.states), np.diff(graph.starts))
    for edge in random.sample(range(graph.edges), graph.edges):
        before, after = graph.codes[sources[edge]], graph.codes[graph.targets[edge]]
        changed = [i for i in np.flatnonzero(before != after).tolist() if names[i].startswith(SEEN)]
        state, number = tuple(before.tolist()), int(graph.labels[edge])
        if not changed or (state, number) in taken:
            continue
        mutant = replace(model, system=with_mistake(model.system, state, number, random.choice(changed)))
        wrong = state_graph(mutant.system, Budget(max_states=20_000))
        toured = tour(mutant, wrong, plays(built), Asked(forced=HELD, departures=1))
        transition = model.system.transitions[number]
        print(transition.label, dict(toured.causes), toured.runs)
        assert toured.causes, transition.label
        found += 1
        if found == MUTANTS:
            return
    raise AssertionError(f"random runs miss only {found} transitions")


def taken_at_random(model: Model, runs: int) -> set[tuple[State, int]]:
    """Which transitions so many runs of lockstep have taken, and in which states."""
    walker, random = Walker(model, Counter()), Random("runs")
    found: set[tuple[State, int]] = set()
    for _ in range(runs):
        path = walker.walk(random, random.randint(20, 60)).path
        states = replay(model.system, path).states
        found.update((state, number) for (state, _), number in zip(pairwise(states), path, strict=True))
    return found


def with_mistake(system: TransitionSystem, state: State, number: int, place: int) -> TransitionSystem:
    """The system whose transition leaves a variable as it is in this state."""
    there = all_of(
        equal(variable(v), const(v.sort, code)) for v, code in zip(system.variables, state, strict=True)
    )
    transition, wrong = system.transitions[number], system.variables[place]
    updates = dict(transition.updates)
    updates[wrong] = select(there, variable(wrong), updates[wrong])
    transitions = list(system.transitions)
    transitions[number] = replace(transition, updates=updates)
    return replace(system, transitions=tuple(transitions))
