"""Clusters with budgets, several resources, start times and scores: traced, explored, and free where unused."""

import dataclasses

import pytest

from podrace.checker import explicit as native
from podrace.checker.explicit import reference
from podrace.model.cluster import build_cluster
from podrace.model.environment.objects import (
    ClusterSpec,
    Config,
    DisruptionBudget,
    Node,
    Pod,
    Scope,
    Selector,
    Taint,
    Term,
)
from podrace.model.history import RELEASES, resolve
from podrace.model.language import Parameter, all_of, any_of, as_expr, trace_system
from podrace.model.scheduler.framework.status import NodeStatus, Phase
from tests.checker.slices import slice_system
from tests.model.clusters import spec


def cluster(**scope):
    on = (
        Node(0, "a", 2, memory=2, pods=3),
        Node(1, "b", 2, memory=2, taints=[Taint("k")]),
    )
    pods = [
        Pod(0, "v", 1, 0, memory=1, node=on[0], labels={"app": "x"}, graceful=False, start=3),
        Pod(1, "w", 1, 0, memory=1, node=on[0], labels={"app": "x"}, graceful=False, start=5),
        Pod(2, "p", 1, 10, memory=2),
    ]
    budgets = (DisruptionBudget(0, "x", Selector({"app": "x"}), 1),)
    return ClusterSpec("rich", tuple(pods), on, Scope(**scope), budgets)


def traced(of, release="1.22", invariant=None):
    model = build_cluster(of, resolve(release).classes)
    api = model.parts["api"]
    pods = of.pods
    claim = invariant or (lambda: all_of([as_expr(api.pod[pods[2]].node) != of.nodes[1]]))
    return trace_system(model, invariants={"claim": claim})


def test_victims_that_violate_a_budget_are_evicted_first_and_both_engines_say_so():
    of = cluster(pod_events=2, flush=False)
    model = build_cluster(of, resolve("1.22").classes)
    pod = model.parts["api"].pod
    v, w, _ = of.pods
    claim = {"w goes before v": lambda: as_expr(pod[v].exists) | ~as_expr(pod[w].exists)}
    witness = {"both go": lambda: ~as_expr(pod[v].exists)}
    system = slice_system(trace_system(model, invariants=claim, witnesses=witness))
    found = native.explore(system)
    expected = reference.explore(system)
    assert dataclasses.replace(found, seconds=0) == dataclasses.replace(expected, seconds=0)
    assert found.states > 100
    assert not found.violations
    assert found.witnesses


@pytest.mark.parametrize(
    "release",
    [pytest.param(r, marks=() if i % 6 == 0 else pytest.mark.nightly) for i, r in enumerate(RELEASES)],
)
def test_quantities_may_be_unknown(release):
    size, high, low = Parameter("size", 0, 8), Parameter("high", -5, 100), Parameter("low", -5, 100)
    on = (Node(0, "a", Parameter("room", 0, 8), memory=size, pods=Parameter("places", 0, 4)), Node(1, "b", 2))
    pods = [
        Pod(0, "v", size, low, labels={"app": "x"}, node=on[0], start=3),
        Pod(1, "p", 1, high, memory=size),
        Pod(
            2, "q", size, high, terms=[Term({"app": "x"}, "kubernetes.io/hostname", required=False, weight=7)]
        ),
    ]
    budgets = (DisruptionBudget(0, "x", Selector({"app": "x"}), Parameter("allowed", 0, 2)),)
    scope = Scope(config=Config(scored=True, min_candidates=1))
    system = trace_system(
        build_cluster(ClusterSpec("s", tuple(pods), on, scope, budgets), resolve(release).classes)
    )
    assert len(system.transitions) > 20


def explored(of, release="1.22"):
    on = of.nodes
    model = build_cluster(of, resolve(release).classes)
    api = model.parts["api"]
    system = trace_system(model, witnesses={"bound": lambda: as_expr(api.pod[of.pods[-1]].node) == on[0]})
    found = native.explore(slice_system(system))
    return found.states, found.transitions


def test_what_a_cluster_does_not_use_costs_nothing():
    plain, rich = Node(0, "a", 2), Node(0, "a", 2, memory=9, extended={"example.com/gpu": 1}, pods=9)
    counts = {
        explored(spec([Pod(0, "v", 2, 0, node=node), Pod(1, "p", 2, 10)], (node,))) for node in (plain, rich)
    }
    assert len(counts) == 1


def test_with_scores_only_the_best_node_wins():
    on = (Node(0, "a", 2), Node(1, "b", 2))
    term = Term({"app": "x"}, "kubernetes.io/hostname", required=False)
    pods = (Pod(0, "e", 1, labels={"app": "x"}, node=on[0]), Pod(1, "other", 0), Pod(2, "p", 1, terms=[term]))

    def never_on_b(config):
        of = ClusterSpec("s", pods, on, Scope(config=config))
        return native.explore(slice_system(traced(of))).violations

    assert never_on_b(Config())
    assert not never_on_b(Config(scored=True))


@pytest.mark.parametrize("release", ["1.19", "1.31", "1.36"])
def test_no_dry_run_is_waited_for_where_a_preemptor_is_bound_to_a_node_without_hope(release):
    """Somebody binds p to b, whose taint no eviction mends; NodeName then refuses a, the only node that was worth a dry run."""
    on = (Node(0, "a", 1), Node(1, "b", 1, taints=[Taint("k")]))
    pods = (Pod(0, "v", 1, 0, node=on[0], graceful=False), Pod(1, "p", 1, 10))
    of = ClusterSpec("bound", pods, on, Scope(pod_events=2, flush=False, external_binds=1))
    model = build_cluster(of, resolve(release).classes)
    scheduler, api = model.parts["scheduler"], model.parts["api"]

    def something_to_do():
        left = [scheduler.verdict[n] == s for n in on for s in (NodeStatus.REJECTED, NodeStatus.CANDIDATE)]
        return ~(scheduler.phase == Phase.DRY_RUN) | any_of(left)

    on_b = {"bound to b": lambda: (as_expr(api.pod[pods[1]].node) == on[1]) & (scheduler.phase == Phase.FAIL)}
    system = trace_system(model, invariants={"claim": something_to_do}, witnesses=on_b)
    found = native.explore(slice_system(system))
    assert found.complete
    assert found.violations == {}
    assert list(found.witnesses) == ["bound to b"]
