"""Bounded search and the native engine agree on the scenarios, at depths that Z3 reaches in seconds."""

from __future__ import annotations

import pytest

from podrace.checker.core.exploration import Budget
from podrace.checker.core.result import Verdict
from podrace.checker.explicit import explore
from podrace.model.history import resolve
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import find_scenarios
from tests.checker.slices import slice_system
from tests.tools.symbolic.bounded import search

DEEP = pytest.mark.campaign

CASES = [
    ("72124", "S-NOMVIS", (), 15),
    pytest.param("72124", "S-NOMVIS", ("72259",), 11, marks=pytest.mark.ci),
    pytest.param("72124", "S-NOMVIS", ("72259",), 15, marks=DEEP),
    pytest.param("72124", "S-NOM", ("72259",), 18, marks=DEEP),
    pytest.param("73309", "S-STUCK", (), 12, marks=DEEP),
    pytest.param("93938", None, (), 12, marks=DEEP),
    pytest.param("update-skips-backoff", None, (), 12, marks=DEEP),
    pytest.param("waiting-victim", None, (), 12, marks=DEEP),
    pytest.param("phantom-preemptor", None, (), 12, marks=DEEP),
    pytest.param("preemption-of-nobody", None, (), 12, marks=DEEP),
]


@pytest.mark.parametrize(("name", "prop", "fixes", "steps"), CASES)
def test_on_scenarios(name: str, prop: str | None, fixes: tuple[str, ...], steps: int) -> None:
    (scenario,) = find_scenarios(name)
    wanted = prop or scenario.properties[0]
    assert scenario.release is not None
    system = instrument(scenario.spec, resolve(scenario.release, fixes).classes, [PROPERTIES[wanted]])
    asked = slice_system(system, invariants=[wanted], witnesses=(), resettabilities=(), livenesses=())
    explored = explore(asked, Budget(max_states=20_000 if steps < 12 else 3_000_000))
    path = explored.violations.get(wanted)
    found = search(system, wanted, steps)
    if path is not None and len(path) <= steps:
        assert (found.verdict, found.counts.depth) == (Verdict.VIOLATED, len(path))
    else:
        assert explored.complete or explored.depth > steps
        assert (found.verdict, found.counts.depth, found.stopped) == (Verdict.INCONCLUSIVE, steps, "steps")
