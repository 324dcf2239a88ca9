"""Searches from where random runs end: they find what lies behind more states than a search has room for, and never say more than that."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings

from podrace.checker.core.exploration import Budget
from podrace.checker.core.result import Result, Verdict
from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.model.language import TransitionSystem
from podrace.properties import PROPERTIES, instrument
from podrace.reports.verdict_words import verdict_words
from podrace.scenarios import parse_scenario
from tests.checker.machines import graph, house
from tests.profiles import examples
from tests.random_systems import systems

APART = "labels: {app: x}, podAntiAffinity: {required: [{topologyKey: kubernetes.io/hostname, matchLabels: {app: x}}]}"

RESTART = f"""
nodes: {{n1: {{cpu: 4}}, n2: {{cpu: 4}}}}
storageClasses: {{local: {{volumeBindingMode: WaitForFirstConsumer, provisioner: local.example.com}}}}
volumeClaims: {{data-0: {{storageClassName: local}}, data-1: {{storageClassName: local}}}}
pods:
  r0: {{cpu: 1, volumes: [data-0], {APART}}}
  r1: {{cpu: 1, volumes: [data-1], {APART}}}
scope: {{pod_events: 1, flush: false, backoff: false, restarts: 1}}
"""
"""126499: a restart after a volume was asked for lets the other pod onto the volume's node. More than 104,953,435 states."""

LOST_NODE = """
nodes: {n1: {cpu: 2}, n2: {cpu: 2}}
pods: {v1: {cpu: 2, nodeName: n1}, v2: {cpu: 2, nodeName: n2}, p: {cpu: 2, priority: 10}}
scope: {pod_events: 1, flush: false, backoff: false, heartbeat_losses: 1, node_lifecycle: true}
"""
"""95752, where a kubelet is cut off: a second preemption of p sends its DELETE for a victim that is gone. More than 30 million states."""

NOBODY = """
nodes: {n1: {cpu: 3}}
pods:
  v: {cpu: 1, priority: 0, nodeName: n1, terminationGracePeriodSeconds: 0}
  w: {cpu: 2, priority: 0, nodeName: n1}
  p: {cpu: 2, priority: 10}
  q: {cpu: 2, priority: 20, exists: false}
scope: {pod_events: 1, pod_deletions: 1, flush: false}
"""
"""The dry run that would evict nobody, with one event of a pod under way at a time; with two, more than 30 million states."""


def decided(text: str, release: str, name: str, budget: Budget) -> Result:
    spec = parse_scenario("name: t\n" + text).spec
    (found,) = check(instrument(spec, resolve(release).classes, [PROPERTIES[name]]), [name], budget)
    return found


@pytest.mark.ci
@pytest.mark.parametrize(
    ("text", "release", "name", "walks", "steps"),
    [
        (RESTART, "1.34", "L-PLACE", 21, 21),
        pytest.param(LOST_NODE, "1.36.4", "S-STUCK", 35, 64, marks=pytest.mark.nightly),
    ],
    ids=["a dead end", "an invariant"],
)
def test_what_no_search_comes_to_is_found(text: str, release: str, name: str, walks: int, steps: int) -> None:
    found = decided(text, release, name, Budget(max_states=1_000_000, walks=walks))
    assert found.trace is not None
    assert (found.verdict, found.stopped) == (Verdict.VIOLATED, "states")
    assert (found.counts.walks, len(found.trace.steps)) == (walks, steps)
    assert f"the last of {walks} random runs found it: a shorter run may" in verdict_words(found)
    assert "no run is shorter" not in verdict_words(found)


@pytest.mark.ci
def test_one_event_at_a_time_decides_the_dry_run_that_evicts_nobody() -> None:
    found = decided(NOBODY, "1.36.3", "S-NOM", Budget())
    assert (found.verdict, found.vacuous, found.counts.states) == (Verdict.HOLDS, False, 4_967_528)


def test_finding_nothing_says_nothing() -> None:
    for result in check(house(), budget=Budget(max_states=3, walks=7), engine="reference"):
        assert (result.verdict, result.counts.walks) == (Verdict.INCONCLUSIVE, 7)
        assert verdict_words(result).endswith(
            "Searches from the ends of 7 random runs found no violation, either."
        )


def test_a_search_that_is_complete_is_the_whole_answer() -> None:
    alone, without = (check(house(), budget=Budget(walks=n), engine="reference")[0] for n in (9, 0))
    assert (alone.verdict, alone.counts.walks, alone.counts.states) == (Verdict.HOLDS, 0, 8)
    assert verdict_words(alone) == verdict_words(without)


@settings(max_examples=examples(60))
@given(systems())
def test_what_is_found_is_so(system: TransitionSystem) -> None:
    """Only VIOLATED is ever added, and only where the whole search says the same."""
    assume(system.invariants or system.resettabilities or system.livenesses)
    whole = check(system, engine="reference")
    part = check(system, budget=Budget(max_states=2), engine="reference")
    farther = check(system, budget=Budget(max_states=2, walks=6), engine="reference")
    for all_, before, after in zip(whole, part, farther, strict=True):
        if before.verdict is not Verdict.INCONCLUSIVE:
            assert (after.verdict, after.counts.walks) == (before.verdict, 0)
        elif after.verdict is not Verdict.INCONCLUSIVE:
            assert after.verdict is all_.verdict is Verdict.VIOLATED
            assert after.counts.walks > 0


def test_a_search_from_a_far_state_has_the_whole_run() -> None:
    """A chain of 40 states: of each kind, what is only at its end."""
    edges = {(n, n + 1): n != 38 for n in range(39)}
    chain = graph(edges, 40, invariants={"before": set(range(39))}, resettabilities={"start": {0, 38}})
    for result, steps in zip(check(chain, budget=Budget(max_states=30, walks=9)), (39, 39), strict=True):
        assert (result.verdict, result.stopped) == (Verdict.VIOLATED, "states")
        assert result.trace is not None
        assert len(result.trace.steps) == steps
