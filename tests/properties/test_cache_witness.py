"""S-CACHE is put to the test where the deletion of a node is handled, and not by a node that is yet to join."""

from __future__ import annotations

import pytest

from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import parse_scenario

CLUSTER = """
name: joins
title: A node joins, and may go
nodes: {{n1: {{cpu: 1}}, n2: {{cpu: 1, exists: false}}}}
pods: {{a: {{cpu: 1}}}}
scope: {{pod_events: 2, flush: false, backoff: false{faults}}}
"""


@pytest.mark.parametrize(
    ("faults", "states", "reached"),
    [
        ("", 4, None),
        (", node_deletions: 1", 20, 2),
        (", restarts: 1", 150, None),
        (", restarts: 1, node_deletions: 1", 2817, 2),
    ],
)
def test_a_node_that_is_yet_to_join_is_no_deletion(faults: str, states: int, reached: int | None) -> None:
    cluster = parse_scenario(CLUSTER.format(faults=faults), "joins.yaml").spec
    (found,) = check(instrument(cluster, resolve("1.36.3").classes, [PROPERTIES["S-CACHE"]]), ["S-CACHE"])
    assert (found.verdict.name, found.counts.states) == ("HOLDS", states)
    witness = "S-CACHE: the deletion of a node is handled"
    missed = (witness,) if reached is None else ()
    assert (found.vacuous, found.coverage.witnesses_missed) == (bool(missed), missed)
    assert found.coverage.witnesses_reached.get(witness) == reached
