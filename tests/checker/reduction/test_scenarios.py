"""Reduced and unreduced searches give the same answers on the scenarios, all of them up to a million states."""

from __future__ import annotations

import pytest

from podrace.checker.core.exploration import Budget
from podrace.checker.explicit import explore
from podrace.checker.reduction.dependence import dependence_of
from podrace.model.language import TransitionSystem
from tests.checker.reduction.test_agreement import answers
from tests.checker.test_scenarios_agree import CASES, IDS, sliced

# States with and without reduction, on the smallest backlog.
SMALL = {
    "removed-node-blocks-pods L-ISO 1.8 + 53647": (1810, 1491),
    "nominated-node-race S-NOM 1.13 + 72259 + 77990 + 90660": (2143, 2127),
    "node-comes-back-empty S-CAP 1.19 + 93938": (26302, 19018),
}


def compare(system: TransitionSystem, budget: Budget) -> tuple[int, int]:
    """The numbers of states; the answers must be the same."""
    full = explore(system, budget)
    if full.stopped == "states":
        pytest.skip("too large")
    reduced = explore(system, dependence=dependence_of(system))
    assert answers(reduced) == answers(full)
    return full.states, reduced.states


@pytest.mark.parametrize("case", SMALL)
def test_answers_on_a_small_backlog(case: str) -> None:
    system = sliced(*CASES[IDS.index(case)], pod_events=1)
    assert compare(system, Budget()) == SMALL[case]


@pytest.mark.campaign
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_answers_on_scenarios(case: tuple[object, ...]) -> None:
    compare(sliced(*case), Budget(max_states=1_000_000))  # type: ignore[arg-type]
