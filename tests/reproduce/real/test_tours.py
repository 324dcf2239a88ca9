"""Every transition of all small scenarios, taken by the real scheduler, against the first table of docs/notebook/tours-table.md: what `make real` runs.

`PODRACE_REAL` names the versions. With PODRACE_REAL_TOURS=large those of the second table are toured, too. With `PODRACE_UPDATE_GOLDEN` what was run is written into the tables,
after each tour: a run that is interrupted goes on from there, since what was taken is kept.
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
from podrace.checker.core.kept import cache_directory
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
from tests.reproduce.real.tours_table import MOST, PAGE, SMALL, VERSIONS, cell, is_small, put, read

CHOSEN = os.environ.get("PODRACE_REAL", "").replace(",", " ").split() or list(VERSIONS)
SCENARIOS = Path(__file__).parents[3] / "scenarios"
LARGE = os.environ.get("PODRACE_REAL_TOURS") == "large"

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


def scenarios_of(release: str) -> list[str]:
    """The scenarios of the tables that are asked for, the smallest first."""
    names = sorted(p.relative_to(SCENARIOS).with_suffix("").as_posix() for p in SCENARIOS.rglob("*.yaml"))
    models = ((name, model_of(name, release)) for name in names)
    sizes = {name: size_of(model.system) for name, model in models if model is not None}
    return sorted(
        (name for name, size in sizes.items() if size is not None), key=lambda name: sizes[name] or 0
    )


def size_of(system: TransitionSystem) -> int | None:
    """The transitions of a scenario; None if these are more than the tables have."""
    most = MOST if LARGE else SMALL
    graph = state_graph(system, Budget(max_states=most))
    return graph.edges if graph.stopped is None and graph.edges <= most else None


@pytest.mark.real
@pytest.mark.parametrize("version", CHOSEN)
def test_every_transition_of_small_scenarios(version: str) -> None:
    go_or_skip()
    code = parse_code(version, None)
    built = built_for(code.version, go_or_skip(), print)
    table, column = read(PAGE.read_text(encoding="utf-8")), {}
    updates = bool(os.environ.get("PODRACE_UPDATE_GOLDEN"))
    asked = [name for name, cells in table.items() if LARGE or is_small(cells)]
    for name in scenarios_of(code.release) if updates else asked:
        model = model_of(name, code.release)
        if model is None:
            continue
        cache = cache_directory() / "tours" if updates else None
        found = tour_of(model.scenario, model.composition, code, built, budget_for(), print, cache)
        column[name] = cell(found)
        print(name, column[name])
        if updates:
            table.setdefault(name, {})[version] = column[name]
            PAGE.write_text(put(PAGE.read_text(encoding="utf-8"), table), encoding="utf-8")
    if not updates:
        assert column == {name: table[name][version] for name in asked if version in table[name]}


def test_the_totals_are_those_of_the_rows() -> None:
    """The page is as it would be written, and each row is in its table."""
    text = PAGE.read_text(encoding="utf-8")
    assert put(text, read(text)) == text
    assert [is_small(cells) for cells in read(text).values()] == sorted(map(is_small, read(text).values()))[
        ::-1
    ]


def test_a_row_moves_when_it_grows() -> None:
    text = PAGE.read_text(encoding="utf-8")
    table = read(text)
    name = next(name for name, cells in table.items() if is_small(cells))
    table[name] = dict.fromkeys(VERSIONS, "59,000 of 60,000: 400 not forced, 600 behind those")
    grown = put(text, table)
    before, _, after = grown.partition("| Scenario |")[2].partition("| Scenario |")
    assert f"| {name} |" not in before
    assert f"| {name} | 59,000 of 60,000: 400 not forced, 600 behind those |" in after
    assert read(grown)[name] == table[name]


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
