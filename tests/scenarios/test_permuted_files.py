"""The order in which a file lists its objects alters no verdict, unless the line Scope says that such an order was taken."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.analysis.chain import verdict_on
from podrace.analysis.request.in_release import refusal_of
from podrace.analysis.request.plan import Run, compose_for
from podrace.analysis.shown.orders import LISTED
from podrace.base.problems import Problem
from podrace.checker.core.exploration import Budget
from podrace.reports.document import Finding
from podrace.scenarios import Scenario, parse_scenario
from tests.profiles import examples
from tests.scenarios.features import BASE, FEATURES, combined, merged
from tests.scenarios.features import Scenario as Written

CROWDS: Mapping[str, Written] = {
    "equal pods that wait": {"pods": {"b1": {"cpu": 3}, "b2": {"cpu": 3}}},
    "equal victims": {
        "pods": {"v1": {"cpu": 1, "nodeName": "n"}, "v2": {"cpu": 2, "nodeName": "n"}, "urgent": {"cpu": 3, "priority": 10}}
    },
    "zones": {
        "nodes": {"n": {"labels": {"topology.kubernetes.io/zone": "x"}}, "m": {"cpu": 2, "labels": {"topology.kubernetes.io/zone": "y"}}, "o": {"cpu": 1, "labels": {"topology.kubernetes.io/zone": "y"}}}
    },
    "two budgets": {
        "pods": {"v1": {"cpu": 1, "nodeName": "n", "labels": {"app": "x"}}, "v2": {"cpu": 2, "nodeName": "n", "labels": {"app": "x", "tier": "y"}}, "urgent": {"cpu": 3, "priority": 10}},
        "podDisruptionBudgets": {
            "one": {"minAvailable": 1, "disruptionsAllowed": 1, "selector": {"matchLabels": {"app": "x"}}},
            "two": {"minAvailable": 1, "disruptionsAllowed": 0, "selector": {"matchLabels": {"tier": "y"}}},
        },
    },
    "two nodes": {"nodes": {"m": {"cpu": 1}}},
    "pods on both": {"nodes": {"m": {"cpu": 1}}, "pods": {"w": {"cpu": 1, "nodeName": "m"}}, "scope": {"pod_deletions": 1}},
}  # fmt: skip
"""What has several objects of a kind, so that there is an order of them."""

RELEASES = (
    "1.8.0",
    "1.13.0",
    "1.14.0",
    "1.18.0",
    "1.19.0",
    "1.22.17",
    "1.27.0",
    "1.29.6",
    "1.32.2",
    "1.34.0",
    "1.36.3",
    "1.37.2",
)
PROPERTIES = ("S-CAP", "S-NOM", "S-NOMVIS", "S-STUCK", "L-PEND", "S-CONS", "S-FLIGHT", "S-PDB", "S-GAIN", "S-LEAK")  # fmt: skip


def shuffled(written: Written, seed: int) -> Written:
    """The same file with the objects of each section in another order."""
    chance = random.Random(seed)

    def mixed(section: Any) -> Any:
        return (
            dict(chance.sample(list(section.items()), len(section))) if isinstance(section, dict) else section
        )

    return {name: mixed(section) for name, section in written.items()}


def finding(written: Written, release: str, prop: str, states: int) -> Finding | None:
    """The verdict; None where the reader or the release does not take the file."""
    try:
        scenario: Scenario = parse_scenario(json.dumps(written), "permuted.yaml")
        composition = compose_for(scenario, release, (), ())
        if refusal_of(scenario, composition) is not None:
            return None
        return verdict_on(Run(scenario, composition, prop), Budget(max_states=states, jobs=1))
    except Problem:
        return None


def differing(names: list[str], seed: int, release: str, prop: str, states: int) -> str:
    """What differs between a file and another order of it; empty if nothing does, or the line Scope says so."""
    whole = combined([name for name in names if name in FEATURES]) if names else BASE
    for name in names:
        whole = merged(whole, CROWDS.get(name, {}))
    return told_apart(whole, shuffled(whole, seed), release, prop, states)


def told_apart(first: Written, second: Written, release: str, prop: str, states: int) -> str:
    """What differs between two files; empty if nothing does, or the line Scope says so."""
    found = [finding(one, release, prop, states) for one in (first, second)]
    if any(one is None or one.verdict == "INCONCLUSIVE" for one in found):
        return ""
    one, other = (f for f in found if f is not None)
    if LISTED in (*one.scope.values(), *other.scope.values()):
        return ""
    told = [(f.verdict, len(f.trace or ()), f.vacuous) for f in (one, other)]
    return (
        ""
        if told[0] == told[1]
        else f"{told} on {release}, {prop}: {json.dumps(first)} and {json.dumps(second)}"
    )


def questions(kinds: list[str], most: int) -> st.SearchStrategy[tuple[list[str], int, str, str]]:
    return st.tuples(
        st.lists(st.sampled_from(kinds), min_size=1, max_size=most, unique=True),
        st.integers(0, 1 << 16),
        st.sampled_from(RELEASES),
        st.sampled_from(PROPERTIES),
    )


@pytest.mark.ci
@settings(max_examples=examples(4))
@given(questions([*CROWDS], 2))
def test_the_order_of_a_file_alters_no_verdict(asked: tuple[list[str], int, str, str]) -> None:
    assert differing(*asked, 1_000) == ""


@pytest.mark.ci
def test_the_law_fails_where_the_order_of_the_file_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """With `file_order` p preempts only where it is listed before r. Scope says which order that is; once it is not looked at, the law is broken."""
    pods = {"v": {"cpu": 1, "nodeName": "n"}, "p": {"cpu": 2, "priority": 1}, "r": {"cpu": 1, "priority": 1}}
    scope = {"pod_events": 1, "flush": False, "backoff": False, "file_order": True}
    one = {"name": "x", "nodes": {"n": {"cpu": 2}}, "pods": pods, "scope": scope}
    other = one | {"pods": dict(reversed(pods.items()))}
    asked = "1.36.3", "S-GAIN", 60_000
    assert told_apart(one, other, *asked) == ""
    monkeypatch.setattr("tests.scenarios.test_permuted_files.LISTED", "no word of Scope")
    assert told_apart(one, one, *asked) == ""
    assert told_apart(one, other, *asked).startswith(
        "[('HOLDS', 0, False), ('HOLDS', 0, True)] on 1.36.3, S-GAIN: "
    )


@pytest.mark.campaign
@settings(max_examples=1_000)
@given(questions([*CROWDS, *FEATURES], 3))
def test_so_it_is_whatever_acts(asked: tuple[list[str], int, str, str]) -> None:
    assert differing(*asked, 20_000) == ""
