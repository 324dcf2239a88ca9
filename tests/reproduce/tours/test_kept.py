"""What a tour keeps: a later one of the same system by the same binary does not take it again, and any other does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from podrace.checker.explicit.state_graph import state_graph
from podrace.model.history import resolve
from podrace.reproduce.case import Case
from podrace.reproduce.modules.module import parse_version
from podrace.reproduce.outcome import Outcome, OutcomeStep
from podrace.reproduce.random_runs.random_runs import Model
from podrace.reproduce.running import Built
from podrace.reproduce.timing.timing import Timing
from podrace.reproduce.tours.guiding import Guided
from podrace.reproduce.tours.kept import KeptTour
from podrace.reproduce.tours.planning import Plan
from podrace.reproduce.tours.tour import Asked, Fate, tour
from podrace.scenarios import read_scenario

SCENARIOS = Path(__file__).parents[3] / "scenarios"
BUILT = Built(parse_version("v1.36.3"), Path("/cache/v1.36.3-one"), {})


def model_of(name: str = "unheard-signal") -> Model:
    scenario = read_scenario(SCENARIOS / f"{name}.yaml")
    return Model.of(scenario.text, resolve("1.36.3", gates=scenario.feature_gates))


def same(cases: Sequence[Case]) -> Mapping[str, Outcome]:
    """A scheduler that does what the model does."""
    return {case.id: Outcome(case.id, "DONE", steps=(OutcomeStep(),) * len(case.steps)) for case in cases}


def never(cases: Sequence[Case]) -> Mapping[str, Outcome]:
    raise AssertionError("nothing is left to be taken")


def test_what_was_taken_is_not_taken_again(tmp_path: Path) -> None:
    model = model_of()
    graph = state_graph(model.system)
    kept = KeptTour(tmp_path, BUILT, model, graph)
    assert not kept.get().any()
    first = tour(model, graph, same, Asked(1))
    plan: Plan[Timing] = Plan(graph, lambda: Guided(model, graph), np.zeros(graph.edges, np.uint8))
    runs = list(plan.runs())
    half = np.zeros(graph.edges, bool)
    half[[edge for run in runs[: len(runs) // 2] for edge in run.edges]] = True
    kept.put(half)
    assert (kept.get() == half).all()
    second = tour(model, graph, same, Asked(1, known=kept.get()))
    assert (first.count(Fate.TAKEN), second.count(Fate.TAKEN)) == (graph.edges, graph.edges)
    assert (first.runs, second.runs) == (len(runs), len(runs) - len(runs) // 2)
    kept.put(second.fates == Fate.TAKEN)
    last = tour(model, graph, never, Asked(1, known=kept.get()))
    assert (last.count(Fate.TAKEN), last.runs, last.is_whole) == (graph.edges, 0, True)


def test_what_lies_within_a_lock_is_never_known() -> None:
    model = model_of("53647")
    graph = state_graph(model.system)
    everything = np.ones(graph.edges, bool)
    found = tour(model, graph, never, Asked(1, known=everything))
    within = [f"{t.part}.{t.step}" == "scheduler.pop_amid_move" for t in model.system.transitions]
    assert found.count(Fate.WITHIN_LOCK) == int(np.array(within)[graph.labels].sum()) > 0


def test_only_the_same_tour_finds_it(tmp_path: Path) -> None:
    """Another binary, cluster or system does not, nor one with plugins of the user's, nor one that is to keep nothing."""
    model = model_of()
    graph = state_graph(model.system)
    KeptTour(tmp_path, BUILT, model, graph).put(np.ones(graph.edges, bool))
    scenario = model.scenario
    text = scenario.text.replace("n1: {cpu: 1}", "n1: {cpu: 2}")
    assert text != scenario.text
    larger = Model.of(text, resolve("1.36.3"))
    others = [
        KeptTour(tmp_path, replace(BUILT, folder=Path("/cache/v1.36.3-two")), model, graph),
        KeptTour(tmp_path, replace(BUILT, own="mine: NoNode (Filter)"), model, graph),
        KeptTour(tmp_path, BUILT, larger, graph),
        KeptTour(tmp_path, BUILT, model, replace(graph, targets=graph.targets[::-1].copy())),
        KeptTour(None, BUILT, model, graph),
    ]
    assert KeptTour(tmp_path, BUILT, model, graph).get().all()
    assert not any(other.get().any() for other in others)
    renamed = Model.of(scenario.text.replace("name: ", "name: another-", 1), resolve("1.36.3"))
    assert KeptTour(tmp_path, BUILT, renamed, state_graph(renamed.system)).get().all()


def test_what_somebody_else_has_written_is_not_believed(tmp_path: Path) -> None:
    model = model_of()
    graph = state_graph(model.system)
    kept = KeptTour(tmp_path, BUILT, model, graph)
    kept.put(np.zeros(graph.edges, bool))
    (file,) = tmp_path.rglob("*.json")
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('"entry":"AA', '"entry":"//'), encoding="utf-8")
    assert file.read_text(encoding="utf-8") != text
    assert not kept.get().any()
