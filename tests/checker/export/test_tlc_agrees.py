"""TLC finds the same verdicts, states, transitions and depth. It tells states apart by 64-bit fingerprints."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from podrace.checker import explicit as native
from podrace.checker.explicit import reference
from podrace.checker.reduction.questions import explored_slice
from podrace.model.language import TransitionSystem
from podrace.properties import PROPERTIES, instrument
from tests.checker.export.combined import many_systems, once_each, one_of
from tests.checker.export.tools import TLC_JAR, require_tlc
from tests.checker.test_scenarios_agree import CASES, IDS
from tests.profiles import by_profile
from tests.tools.tlc import TlcAnswer, run_tlc


@pytest.fixture(autouse=True)
def _tlc() -> None:
    require_tlc()


def tlc(system: TransitionSystem, *, go_on: bool = False) -> TlcAnswer:
    with tempfile.TemporaryDirectory() as folder:
        return run_tlc(system, Path(folder), TLC_JAR, go_on=go_on)


def agree(name: str, events: int | None) -> int:
    """TLC's answer on a case, which must be podrace's; the number of states."""
    scenario, prop, composition = CASES[IDS.index(name)]
    spec = scenario.spec
    if events is not None:
        spec = replace(spec, scope=replace(spec.scope, pod_events=events))
    system = explored_slice(instrument(spec, composition.classes, [PROPERTIES[prop]]), prop)
    if native.explore(system).violations:
        assert len(tlc(system).violated) == 1
        system = replace(system, invariants={})
    graph = native.explore(replace(system, invariants={}, witnesses={}, resettabilities={}))
    found = tlc(system)
    assert found == TlcAnswer(
        complete=True,
        states=graph.states,
        depth=graph.depth,
        violated=frozenset(),
        transitions=graph.transitions,
    )
    return found.states


@pytest.mark.parametrize(
    ("name", "events", "states"),
    [
        ("removed-node-blocks-pods L-ISO 1.8.0", None, 709),
        pytest.param("removed-node-blocks-pods S-ERR 1.8.0 + 53647", None, 913, marks=pytest.mark.ci),
        pytest.param(
            "nominated-node-race S-NOM 1.13.0 + 72259 + 77990 + 90660", 1, 2881, marks=pytest.mark.ci
        ),
    ],
)
def test_on_scenarios(name: str, events: int | None, states: int) -> None:
    assert agree(name, events) == states


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        pytest.param("nominated-node-race S-NOMVIS 1.13.0", 15, marks=pytest.mark.ci),
        pytest.param("nominated-node-race S-NOM 1.13.0 + 72259", 18, marks=pytest.mark.ci),
        ("removed-node-blocks-pods S-ERR 1.8.0 + 53647", 7),
    ],
)
def test_shortest_counterexamples_are_equally_long(name: str, steps: int) -> None:
    scenario, prop, composition = CASES[IDS.index(name)]
    system = explored_slice(instrument(scenario.spec, composition.classes, [PROPERTIES[prop]]), prop)
    assert {name: len(path) for name, path in native.explore(system).violations.items()} == {prop: steps}
    assert tlc(system).run == steps


@pytest.mark.campaign
@pytest.mark.parametrize(
    "name", [i for i, (_, p, _) in zip(IDS, CASES, strict=True) if PROPERTIES[p].kind != "liveness"]
)
def test_on_all_scenarios(name: str) -> None:
    assert agree(name, None) > 0


def agree_together(parts: list[TransitionSystem]) -> None:
    """One run of TLC on all of them; verdicts one by one, and the sum of the states, are the reference engine's."""
    graphs = [reference.explore(replace(p, invariants={}, witnesses={}, resettabilities={})) for p in parts]
    broken = {f"s{i}_{name}" for i, p in enumerate(parts, 1) for name in reference.explore(p).violations}
    # TLC writes a whole run for each state that breaks an invariant: one state each is enough.
    found = tlc(once_each(one_of(parts)), go_on=True)
    assert found.violated == broken
    assert found.states == 1 + sum(g.states for g in graphs) + len(broken)


def test_on_many_random_systems() -> None:
    agree_together(many_systems(by_profile(fast=12, full=60), seed=7))


@pytest.mark.campaign
@pytest.mark.parametrize("batch", range(40))
def test_on_thousands_of_random_systems(batch: int) -> None:
    agree_together(many_systems(60, seed=2000 + batch))
