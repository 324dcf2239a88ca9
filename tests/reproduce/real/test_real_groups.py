"""What groups of pods do on the real scheduler: traces of `scenarios/groups/`, with GangScheduling on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from podrace.analysis.request.method import Method, budget_for
from podrace.reproduce.across import across
from podrace.reproduce.go_tests.names import name_of
from podrace.reproduce.go_tests.running import run_go_tests
from podrace.reproduce.modules.module import parse_version
from podrace.reproduce.request import Wanted
from podrace.scenarios import find_scenarios
from tests.reproduce.go_tests.test_go_tests import GROUPS as WRITTEN
from tests.reproduce.go_tests.test_go_tests import group_test
from tests.reproduce.real.test_real import CHOSEN, go_or_skip

GROUPS = Path(__file__).parents[3] / "scenarios" / "groups"

TRACES = [
    ("1.36.3", "gone-member-assigned", "S-GROUPSTATE", 10),
    ("1.36.3", "quorum-unseen", "L-GANG", 24),
    ("1.36.3", "allowed-while-trying", "S-QUORUM", 32),
    ("1.36.3", "bound-by-others", "S-GROUPSTATE", 3),
    ("1.36.3", "bound-alone", "S-QUORUM", 37),
    ("1.36.3", "half-bound", "L-WHOLE", 67),
    ("1.35.4", "two-gangs-one-single", "L-DEADLOCK", 62),
    ("1.35.4", "mixed-priorities", "L-GANG", 66),
    ("1.37.2", "pending-forgotten", "L-PEND", 50),
    ("1.37.2", "parked-by-the-gone", "L-PEND", 4),
    ("1.37.2", "ghost-in-state", "S-GROUPSTATE", 14),
    ("1.37.2", "unsaid-without-nodes", "L-TOLD", 14),
    ("1.37.2", "cut-in-half", "L-WHOLE", 64),
    ("1.37.2", "cut-by-a-gang", "L-WHOLE", 94),
    ("1.37.2", "victims-gone-already", "L-GANG", 61),
    ("1.37.2", "victim-being-bound", "L-GANG", 50),
    ("1.37.2", "rejected-and-counted", "S-QUORUM", 17),
    ("1.37.2", "half-refused", "L-WHOLE", 61),
    ("1.37.2", "kept-by-the-gone", "L-GANG", 44),
    ("1.37.2", "member-counted-twice", "S-STUCK", 73),
    ("1.37.2", "quorum-unseen", "L-GANG", 21),
    ("1.37.2", "half-bound", "L-WHOLE", 60),
    ("1.38.0-beta.0", "ghost-in-state", "S-GROUPSTATE", 14),
    ("1.38.0-beta.0", "half-a-tree", "S-QUORUM", 13),
    ("1.38.0-beta.0", "half-a-tree", "L-WHOLE", 56),
    ("1.38.0-beta.0", "split-between-domains", "S-DOMAIN", 51),
]
"""Versions, scenarios there, the property that each is asked about and violates, and in how many steps."""


@pytest.mark.real
@pytest.mark.parametrize(("version", "name", "identifier", "steps"), TRACES)
def test_groups_of_pods(version: str, name: str, identifier: str, steps: int) -> None:
    if version not in CHOSEN:
        pytest.skip(f"{version} is not chosen")
    given = find_scenarios(str(GROUPS / f"{name}.yaml"))
    if version.startswith(("1.37", "1.38")):
        given = [
            one
            if one.release == version
            else replace(one, release=version, feature_gates={"GenericWorkload": True})
            for one in given
        ]
    found = across(
        given,
        Wanted("", version, properties=(identifier,)),
        go_or_skip(),
        budget_for(),
        Method(),
        say=print,
    )
    assert [(one.property, one.verdict, len(one.steps)) for one in found] == [
        (identifier, "REPRODUCED", steps)
    ]


SAID = {
    "kept-by-the-gone": "a is gone, and its deletion has been handled, but the cache keeps its room on n1: ",
    "member-counted-twice": "s was bound to n1 only after ",
}


@pytest.mark.real
@pytest.mark.parametrize("name", WRITTEN)
def test_their_go_tests_fail(name: str) -> None:
    version = parse_version(WRITTEN[name][0])
    if version.plain not in CHOSEN:
        pytest.skip(f"{version} is not chosen")
    found = run_go_tests(version, go_or_skip(), group_test(name), (), print)[name_of(name)]
    assert (found.passed, [said.startswith(SAID[name]) for said in found.said]) == (False, [True])
