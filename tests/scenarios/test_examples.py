"""The scenarios that show no race: what holds in them, with exact counts, and that what they are about matters."""

from __future__ import annotations

from dataclasses import replace

import pytest

from podrace.checker.explicit import explore
from podrace.checker.search import check
from podrace.model.cluster import build_cluster
from podrace.model.environment.api import APIServer
from podrace.model.environment.objects import ClusterSpec
from podrace.model.history import resolve
from podrace.model.history.versions import canonical
from podrace.model.language import as_expr, trace_system
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import catalogue, find_scenarios
from tests.checker.slices import slice_system

V, H = "VIOLATED", "HOLDS"

ROWS = [
    ("waiting-victim", "1.22", "S-CAP", (H, 9938, 31371, 61, None)),
    ("waiting-victim", "1.22", "S-NOM", (H, 9938, 31371, 61, None)),
    ("waiting-victim", "1.22", "S-CONS", (H, 9938, 31371, 61, None)),
    # ForgetPod wakes nobody: the preemptor of a pod that was not bound yet stays parked.
    ("waiting-victim", "1.22", "S-STUCK", (V, 2461, 6688, 31, 31)),
    # Up to 1.21 a waiting victim was deleted, too.
    ("waiting-victim", "1.21", "S-CAP", (H, 10925, 35506, 64, None)),
    ("waiting-victim", "1.21", "S-STUCK", (V, 2407, 6729, 31, 31)),
    ("protected-by-budget", "1.22", "S-NOM", (H, 414, 989, 43, None)),
    ("protected-by-budget", "1.22", "S-STUCK", (H, 414, 989, 43, None)),
    ("protected-by-budget", "1.22", "S-CAP", (H, 414, 989, 43, None)),
    ("new-node-in-zone", "1.22", "S-STUCK", (H, 3266, 10066, 39, None)),
    ("new-node-in-zone", "1.22", "S-CAP", (H, 1, 0, 0, None)),
    ("new-node-in-zone", "1.22", "S-ERR", (H, 2739, 8043, 39, None)),
    # A nomination that was never written wakes nobody when its pod is deleted, also after 129058.
    ("lost-nomination", "1.34", "S-STUCK", (V, 34669, 101694, 33, 33)),
    # AssignedPodUpdated was told to few of the parked pods.
    ("label-lost", "1.31", "S-STUCK", (V, 134, 252, 15, 15)),
    # Up to 1.21 the node of the other zone woke the pod, too.
    ("new-node-in-zone", "1.21", "S-STUCK", (H, 2728, 8542, 39, None)),
]


@pytest.mark.parametrize(("name", "release", "identifier", "expected"), ROWS)
def test_verdict_and_counts(
    name: str, release: str, identifier: str, expected: tuple[str, int, int, int, int | None]
) -> None:
    (scenario,) = find_scenarios(name)
    system = instrument(scenario.spec, resolve(release).classes, [PROPERTIES[identifier]])
    (found,) = check(system, [identifier])
    steps = None if found.trace is None else len(found.trace.steps)
    assert (
        found.verdict.name,
        found.counts.states,
        found.counts.transitions,
        found.counts.depth,
        steps,
    ) == expected
    # Only p waits in the one: nobody else could take the room that is made for it. In the other p is alone, and fits on every node.
    assert found.vacuous == (
        (name, identifier) in {("protected-by-budget", "S-NOM"), ("new-node-in-zone", "S-CAP")}
    )
    assert found.stopped in (None, "answered")


def test_every_property_of_every_example_is_tested_on_its_release() -> None:
    for scenario in catalogue():
        if scenario.race is None:
            tested = {
                p
                for name, release, p, _ in ROWS
                if (name, release) == (scenario.name, canonical(scenario.release or ""))
            }
            # Starvation is tested in tests/races/test_starvation.py.
            claimed = {*scenario.properties, *scenario.also}
            assert tested == {p for p in claimed if PROPERTIES[p].kind != "liveness"}


def reached(spec: ClusterSpec, release: str, *pods: str) -> dict[str, bool]:
    """For each of these pods, whether it can be gone while p still waits.

    Once p is bound it may be tried again, from an old copy in the queue. Then it is itself in the way, and preempts for no good (109245).
    """
    model = build_cluster(spec, resolve(release).classes)
    api = model.parts["api"]
    assert isinstance(api, APIServer)
    named = {p.name: p for p in spec.pods}
    waits = named["p"]
    claims = {
        name: lambda q=named[name]: as_expr(api.pod[q].exists) | ~as_expr(api.pod[waits].pending)
        for name in pods
    }
    found = explore(slice_system(trace_system(model, invariants=claims)))
    return {name: name in found.violations for name in pods}


def test_the_budget_decides_whom_preemption_evicts() -> None:
    (scenario,) = find_scenarios("protected-by-budget")
    spec = scenario.spec
    assert reached(spec, "1.22", "web", "batch") == {"web": False, "batch": True}
    assert reached(replace(spec, budgets=()), "1.22", "web", "batch") == {"web": True, "batch": False}
