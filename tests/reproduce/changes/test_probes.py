"""Random runs of the base's model on both sides of a change: which lines they execute, and where the code leaves the model."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytest

from podrace.reports.reproduction import Differing
from podrace.reports.verify.code_change import Probed
from podrace.reproduce.case import Case
from podrace.reproduce.changes import probes as module
from podrace.reproduce.changes.departures import playable
from podrace.reproduce.changes.lines import NOTHING, ChangedLine, Counted
from podrace.reproduce.changes.probes import OF_GROUPS, RUNS, Probe, probes, random_clusters
from podrace.reproduce.modules.module import parse_version
from podrace.reproduce.outcome import Outcome, OutcomeStep
from podrace.reproduce.running import Built
from podrace.scenarios import Scenario, find_scenarios

BEFORE, AFTER = (Built(parse_version("1.36.3"), Path(name), {}) for name in ("before", "after"))
NEW = ChangedLine("pkg/scheduler/a.go", 3, (3, 1))
GONE = ChangedLine("pkg/scheduler/a.go", 2, (2, 1), removed=True)


def outcome(case: Case, differs_at: int | None) -> Outcome:
    """A run as the model has it, but for the step that differs."""
    odd = Differing("queue.sub_queue[p]", "ACTIVE", "BACKOFF")
    steps = [
        OutcomeStep(differs=(odd,) if number == differs_at else ()) for number, _ in enumerate(case.steps, 1)
    ]
    return Outcome(case.id, "DONE" if differs_at is None else "DIFFERS", steps=tuple(steps))


def probed(
    monkeypatch: pytest.MonkeyPatch,
    differing: Mapping[str, int | None],
    lines: Sequence[ChangedLine] = (NEW,),
    own_base: bool = False,
    asked: list[str] | None = None,
) -> Probe:
    """The runs of a scenario where each side differs at this step of its runs, if at any."""

    def at_once(built: Built, cases: Sequence[Case], counted: Iterable[ChangedLine] = ()) -> object:
        side = built.folder.name
        if asked is not None:
            asked.append(side)
        all_of_them = frozenset(counted)
        return {case.id: outcome(case, differing[side]) for case in cases}, Counted(all_of_them, all_of_them)

    def run_cases(built: Built, cases: Sequence[Case]) -> dict[str, Outcome]:
        return {case.id: outcome(case, differing[built.folder.name]) for case in cases}

    monkeypatch.setattr(module, "replayed_at_once", at_once)
    monkeypatch.setattr(module, "run_cases", run_cases)
    found = list(
        probes(
            deque(scenario()), "1.36.3", (BEFORE, AFTER), lines, 1, lambda: True, lambda text: None, own_base
        )
    )
    assert len(found) == 1
    return found[0]


def scenario() -> list[Scenario]:
    return find_scenarios("53647")


def test_runs_that_go_as_the_model_does(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    found = probed(monkeypatch, {"after": None, "before": None}, asked=asked)
    assert asked == ["after"], "the unchanged code is run where there is a reason to"
    assert found.reached
    assert found.told == Probed(scenario()[0].name, RUNS, found.steps, 1, ())
    assert found.steps == sum(len(case.steps) for case in found.cases) > RUNS


def test_a_removed_line_is_executed_by_the_unchanged_code(monkeypatch: pytest.MonkeyPatch) -> None:
    found = probed(monkeypatch, {"after": None, "before": None}, lines=(GONE,))
    assert (found.counted[0].executed, found.counted[1].executed) == ({GONE}, frozenset())
    assert len(found.seen[0]) == len(found.seen[1]) == RUNS


def test_a_departure_of_the_changed_code(monkeypatch: pytest.MonkeyPatch) -> None:
    found = probed(monkeypatch, {"after": 2, "before": None})
    assert found.departures
    assert {len(place.case.steps) for place in found.places} == {2}
    assert {place.cause for place in found.places} == {one.cause for one in found.departures}
    assert found.told.departures[0].words.endswith(": queue.sub_queue[p]: model ACTIVE, real BACKOFF")


@pytest.mark.parametrize("before", [1, 2])
def test_what_the_unchanged_code_does_as_well_is_none(monkeypatch: pytest.MonkeyPatch, before: int) -> None:
    assert not probed(monkeypatch, {"after": 2, "before": before}).departures


def test_an_unchanged_tree_that_is_further_from_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    sides = {"after": None, "before": 2}
    assert not probed(monkeypatch, sides).departures
    found = probed(monkeypatch, sides, own_base=True)
    assert all(one.words.startswith("the unchanged code differs: ") for one in found.departures)
    assert found.departures


@pytest.mark.parametrize(("release", "gate"), [("1.36.3", "GangScheduling"), ("1.37.2", "GenericWorkload")])
def test_clusters_with_groups_are_those_of_the_release(release: str, gate: str) -> None:
    some = [one for one in random_clusters(release) if one.spec.groups]
    assert len(some) == OF_GROUPS
    model = playable(some[0], release)
    assert model is not None
    assert (gate, True) in model.composition.gates


def test_no_run_is_made_when_time_is_up() -> None:
    ended = probes(deque(scenario()), "1.36.3", (BEFORE, AFTER), (NEW,), 1, lambda: False, lambda text: None)
    assert list(ended) == []


def test_nothing_counted_is_not_reached() -> None:
    assert not Probe(scenario()[0], (), (NOTHING, NOTHING), ((), ()), 0).reached
