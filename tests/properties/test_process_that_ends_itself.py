"""S-CACHE where a handler ends the process: the one that is started then has its nodes from a list, whatever was handled before."""

from __future__ import annotations

import pytest

from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import parse_scenario

LISTED = """
name: listed
title: A list shows another pod under a name while a node joins, or goes
nodes: {n1: {cpu: 2}, n2: {cpu: 1, exists: false}}
pods:
  web: {cpu: 2, nodeName: n1, terminationGracePeriodSeconds: 0}
  web-again: {cpu: 2, recreates: web, terminationGracePeriodSeconds: 0}
scope: {pod_events: 3, pod_deletions: 1, relists: 1, node_creations: 1, node_deletions: 1}
"""


@pytest.mark.parametrize(
    ("name", "found"),
    [("S-EXIT", ("VIOLATED", 216, 403, 4)), ("S-CACHE", ("HOLDS", 74449, 267819, None))],
)
def test_the_cache_follows_the_nodes_of_the_process_that_is_started(
    name: str, found: tuple[str, int, int, int | None]
) -> None:
    cluster = parse_scenario(LISTED, "listed.yaml").spec
    (result,) = check(instrument(cluster, resolve("1.36").classes, [PROPERTIES[name]]), [name])
    steps = None if result.trace is None else len(result.trace.steps)
    assert (result.verdict.name, result.counts.states, result.counts.transitions, steps) == found
