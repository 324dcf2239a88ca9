"""L-PEND where nodes and pods change: the scope bounds how often, so that things stay as they are from some moment on, and then a pod that fits may not wait for ever."""

from __future__ import annotations

import pytest

from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import find_scenarios

V, H = "VIOLATED", "HOLDS"


@pytest.mark.parametrize(
    ("name", "release", "verdict", "states"),
    [
        ("taint-removed", "1.23", V, 460),
        ("taint-removed", "1.24", H, 1603),
        ("two-changes", "1.29", V, 141),
        ("two-changes", "1.30", H, 660),
        ("label-lost", "1.31", V, 134),
        ("label-lost", "1.32", H, 287),
        ("tainted-domain", "1.31", V, 133),
        ("tainted-domain", "1.32", H, 340),
        ("unheard-extender", "1.23", V, 133),
        ("unheard-extender", "1.28", H, 399),
        ("scenarios/hazards/domain-lost.yaml", "1.36", V, 86),
        ("scenarios/hazards/relabelled-domain.yaml", "1.36", V, 86),
        ("scenarios/hazards/finished-victim.yaml", "1.32", H, 480),
        ("scenarios/hazards/finished-victim.yaml", "1.36", V, 535),
    ],
)
def test_a_pod_that_fits_in_the_end_does_not_wait_for_ever(
    name: str, release: str, verdict: str, states: int
) -> None:
    (scenario,) = find_scenarios(name)
    classes = resolve(release, gates=scenario.feature_gates).classes
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES["L-PEND"]]), ["L-PEND"])
    assert (found.verdict.name, found.counts.states) == (verdict, states)
