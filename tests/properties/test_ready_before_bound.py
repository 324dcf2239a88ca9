"""S-READY where a node is deleted, and joins again under its name: it has to be ready anew, and nobody is asked about a node that is gone."""

from __future__ import annotations

import pytest

from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import parse_scenario

REJOINS = """
name: rejoins
title: A node is deleted, and may join again
nodes: {{n1: {{cpu: 1}}}}
pods: {{p: {{cpu: 1, exists: false}}}}
scope: {{pod_events: 2, node_events: 2, node_lifecycle: true, node_deletions: 1, node_creations: {joins}, pod_creations: 1, backoff: false, flush: false}}
"""


@pytest.mark.parametrize(
    ("release", "joins", "found"),
    [
        # A pod that was on its way to the node before is bound to the one that has joined, which has its taint already: no release looks again.
        ("1.13", 1, ("VIOLATED", 2065, 5663, 11)),
        ("1.14", 1, ("VIOLATED", 1710, 4732, 11)),
        ("1.36", 1, ("VIOLATED", 1183, 3430, 10)),
        # Bound to a node that is gone, it is on none that is not ready.
        ("1.14", 0, ("HOLDS", 189, 381, 18)),
        ("1.36", 0, ("HOLDS", 129, 237, 25)),
    ],
)
def test_a_node_that_joins_again(release: str, joins: int, found: tuple[str, int, int, int]) -> None:
    cluster = parse_scenario(REJOINS.format(joins=joins), "rejoins.yaml").spec
    system = instrument(cluster, resolve(release).classes, [PROPERTIES["S-READY"]])
    (result,) = check(system, ["S-READY"])
    counts = result.counts
    assert (result.verdict.name, counts.states, counts.transitions, counts.depth) == found
