"""Races and hazards of which a version has nothing are said to be not there, and the others are run all the same."""

from __future__ import annotations

import pytest

from podrace.analysis.request.method import budget_for
from podrace.base.problems import UsageProblem
from podrace.reproduce.across import across
from podrace.reproduce.modules.toolchain import Go
from podrace.reproduce.request import Wanted
from podrace.scenarios import find_scenarios

NO_GO = Go("/nowhere/go", "go1.26.8")


def test_a_cluster_of_later_releases_is_not_there() -> None:
    scenarios = [*find_scenarios("device-twice"), *find_scenarios("gangs-deadlock")]
    found = across(scenarios, Wanted("", "v1.30.14"), NO_GO, budget_for())
    assert [(one.name, one.property, one.scheduler, one.verdict, one.words) for one in found] == [
        (
            "device-twice", "S-DEV", "v1.30.14", "NOT THERE",
            "device-twice: resourceClaims are modelled from 1.32 on: ask for a later release than 1.30.14",
        ),
        ("gangs-deadlock", "L-DEADLOCK", "v1.30.14", "NOT THERE", found[1].words),
    ]  # fmt: skip
    assert "GenericWorkload" in found[1].words or "GangScheduling" in found[1].words


def test_an_unknown_version_is_refused() -> None:
    with pytest.raises(UsageProblem, match=r"^--kubernetes: the model does not have v1\.99\.0, "):
        across(find_scenarios("device-twice"), Wanted("", "v1.99.0"), NO_GO, budget_for())
