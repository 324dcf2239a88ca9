"""What groups of pods do on the real scheduler: traces of `scenarios/groups/`, with GangScheduling on."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.analysis.asked.method import Method, budget_for
from podrace.reproduce.across import across
from podrace.reproduce.asked import Wanted
from podrace.scenarios import find_scenarios
from tests.reproduce.real.test_real import CHOSEN, go_or_skip

GROUPS = Path(__file__).parents[3] / "scenarios" / "groups"

TRACES = [
    ("gone-member-assigned", "S-GROUPSTATE", 10),
    ("quorum-unseen", "L-GANG", 24),
    ("allowed-while-trying", "S-QUORUM", 32),
    ("bound-by-others", "S-GROUPSTATE", 3),
    ("bound-alone", "S-QUORUM", 37),
    ("half-bound", "L-WHOLE", 67),
]
"""Scenarios there, the property that each violates, and in how many steps."""


@pytest.mark.real
@pytest.mark.skipif("1.36.3" not in CHOSEN, reason="the cycle of a group is of 1.36")
@pytest.mark.parametrize(
    ("name", "identifier", "steps"),
    TRACES,
)
def test_groups_of_pods(name: str, identifier: str, steps: int) -> None:
    found = across(
        find_scenarios(str(GROUPS / f"{name}.yaml")),
        Wanted("", "1.36.3"),
        go_or_skip(),
        budget_for(),
        Method(),
        say=print,
    )
    assert [(one.property, one.verdict, len(one.steps)) for one in found] == [
        (identifier, "REPRODUCED", steps)
    ]
