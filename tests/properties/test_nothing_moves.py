"""Deadlock freedom is put to the test in states in which nothing moves by itself: where there is none, HOLDS is vacuous."""

from __future__ import annotations

import pytest

from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import find_scenarios, parse_scenario
from tests.cli.patches.ticks import Ticks

CLUSTER = """
name: kept-waiting
title: A pod that fits nowhere
nodes: {n1: {cpu: 1}}
pods: {small: {cpu: 1, nodeName: n1}, large: {cpu: 1}}
scope: {pod_events: 1, flush: false}
"""

QUIET = "S-TOLD: nothing moves by itself"


@pytest.mark.parametrize(("patches", "quiet", "states"), [((), 12, 14), ((Ticks,), None, 14)])
def test_a_state_in_which_nothing_moves_must_be_reached(
    patches: tuple[type[Ticks], ...], quiet: int | None, states: int
) -> None:
    cluster = parse_scenario(CLUSTER, "kept-waiting.yaml").spec
    system = instrument(cluster, (*patches, *resolve("1.36.3").classes), [PROPERTIES["S-TOLD"]])
    (found,) = check(system, ["S-TOLD"])
    assert (found.verdict.name, found.counts.states) == ("HOLDS", states)
    assert found.coverage.witnesses_reached.get(QUIET) == quiet
    assert found.coverage.witnesses_missed == (() if quiet else (QUIET,))
    assert found.vacuous == (quiet is None)


def test_what_the_release_itself_settles_needs_no_such_state() -> None:
    """S-DRAIN is true of every state where nobody asks a budget for a pod that has ended."""
    (scenario,) = find_scenarios("undrained-when-ended")
    for release, asked in (("1.12", True), ("1.13", False)):
        system = instrument(scenario.spec, resolve(release).classes, [PROPERTIES["S-DRAIN"]])
        assert ("S-DRAIN: nothing moves by itself" in system.witnesses) == asked
