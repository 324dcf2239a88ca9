"""The autoscaler: which nodes look empty, and what its second look changes."""

from __future__ import annotations

from functools import partial

from podrace.model.cluster import build_cluster
from podrace.model.environment.controllers.autoscaler import TO_BE_DELETED
from podrace.model.environment.objects import ClusterSpec, Node, Pod, Scope, Taint
from podrace.model.history import resolve
from podrace.model.language import Concrete, as_expr
from podrace.properties.scheduling.cache_views import CacheFollowsNodeEvents
from podrace.scenarios import parse_scenario
from tests.model.clusters import concrete, enabled


def cluster(*, again: bool, downs: int = 2) -> ClusterSpec:
    nodes = (Node(0, "n", 2), Node(1, "m", 2))
    pods = (Pod(0, "a", 1, node=nodes[1]), Pod(1, "p", 1))
    return ClusterSpec("scaled", pods, nodes, Scope(scale_downs=downs, scale_down_looks_again=again))


def test_a_node_with_a_pod_or_a_nomination_is_not_empty() -> None:
    of = cluster(again=False)
    model = concrete(of, "1.36")
    autoscaler, api, (n, m), (a, p) = model.part("autoscaler"), model.part("api"), of.nodes, of.pods
    assert [enabled(model, lambda node=node: autoscaler.find_empty(node)) for node in (n, m)] == [True, False]
    model.do(lambda: api.set_nomination(p, n))
    assert not enabled(model, lambda: autoscaler.find_empty(n))
    model.do(lambda: api.remove_pod(a))
    assert enabled(model, lambda: autoscaler.find_empty(m))


def test_what_it_saw_once_decides_without_a_second_look() -> None:
    of = cluster(again=False)
    model = concrete(of, "1.36")
    autoscaler, api, (n, _), (_, p) = model.part("autoscaler"), model.part("api"), of.nodes, of.pods
    model.do(lambda: autoscaler.find_empty(n))
    assert not enabled(model, lambda: autoscaler.find_empty(n))
    model.do(lambda: api.bind(p, n))
    assert not enabled(model, lambda: autoscaler.spare(n))
    model.do(lambda: autoscaler.take_away(n))
    assert not model.get(lambda: as_expr(api.node_exists[n]))
    assert not model.get(lambda: as_expr(autoscaler.doomed[n]))


def test_a_second_look_spares_a_node_that_is_not_empty_any_more() -> None:
    of = cluster(again=True)
    model = concrete(of, "1.36")
    autoscaler, api, (n, _), (_, p) = model.part("autoscaler"), model.part("api"), of.nodes, of.pods
    model.do(lambda: autoscaler.find_empty(n))
    assert [enabled(model, lambda s=s: s(n)) for s in (autoscaler.take_away, autoscaler.spare)] == [
        True,
        False,
    ]
    model.do(lambda: api.bind(p, n))
    assert [enabled(model, lambda s=s: s(n)) for s in (autoscaler.take_away, autoscaler.spare)] == [
        False,
        True,
    ]
    model.do(lambda: autoscaler.spare(n))
    assert model.get(lambda: as_expr(api.node_exists[n]))


def test_as_many_nodes_as_the_scope_allows() -> None:
    of = cluster(again=False, downs=1)
    model = concrete(of, "1.36")
    autoscaler, api, (n, m), (a, _) = model.part("autoscaler"), model.part("api"), of.nodes, of.pods
    model.do(lambda: api.remove_pod(a))
    model.do(lambda: autoscaler.find_empty(n))
    assert not enabled(model, lambda: autoscaler.find_empty(m))


def tainted(*, waits: bool = False) -> ClusterSpec:
    node = Node(0, "n", 2)
    node.later["leaving"] = Node(0, "n", 2, taints=[Taint(TO_BE_DELETED)])
    scope = Scope(scale_downs=1, scale_down_taints=True, scale_down_waits=waits)
    return ClusterSpec("tainted", (Pod(0, "p", 1),), (node,), scope)


def test_the_taint_comes_first_then_a_look_at_bound_pods() -> None:
    of = tainted()
    model = concrete(of, "1.36")
    part, api, (n,), (p,) = model.part("autoscaler"), model.part("api"), of.nodes, of.pods
    model.do(lambda: part.find_empty(n))
    assert not enabled(model, lambda: part.look_again(n))
    model.do(lambda: part.put_taint(n))
    assert not enabled(model, lambda: part.put_taint(n))
    assert not enabled(model, lambda: part.take_away(n))
    model.do(lambda: api.set_nomination(p, n))
    model.do(lambda: part.look_again(n))
    model.do(lambda: api.bind(p, n))
    # What it saw decides.
    assert not enabled(model, lambda: part.spare(n))
    model.do(lambda: part.take_away(n))
    assert not model.get(lambda: as_expr(api.node_exists[n]))


def test_the_taint_goes_if_somebody_is_there() -> None:
    of = tainted()
    model = concrete(of, "1.36")
    part, api, (n,), (p,) = model.part("autoscaler"), model.part("api"), of.nodes, of.pods
    model.do(lambda: part.find_empty(n))
    model.do(lambda: api.bind(p, n))
    assert not enabled(model, lambda: part.spare(n))
    model.do(lambda: part.put_taint(n))
    assert not enabled(model, lambda: part.look_again(n))
    model.do(lambda: part.spare(n))
    assert not model.get(lambda: part.is_tainted(n))
    assert not model.get(lambda: as_expr(part.doomed[n]))


def test_it_waits_until_the_scheduler_has_heard_of_the_taint() -> None:
    of = tainted(waits=True)
    model = concrete(of, "1.36")
    part, (n,), (p,) = model.part("autoscaler"), of.nodes, of.pods
    model.do(lambda: part.find_empty(n))
    model.do(lambda: part.put_taint(n))
    assert not enabled(model, lambda: part.look_again(n))
    model.do(lambda: model.part("scheduler").pop(p))
    model.do(lambda: model.part("node_watch").take(n))
    model.do(lambda: model.part("node_watch").processed())
    assert not enabled(model, lambda: part.look_again(n))


def test_a_node_is_made_for_a_pod_that_fits_nowhere_once_the_last_one_is_forgotten() -> None:
    nodes = (Node(0, "n", 1), Node(1, "m", 2, exists=False))
    pods = (Pod(0, "p", 2), Pod(1, "q", 3))
    of = ClusterSpec("made", pods, nodes, Scope(autoscaler=True, autoscaler_nominates=True))
    model = concrete(of, "1.36")
    part, api, (n, m), (p, q) = model.part("autoscaler"), model.part("api"), nodes, pods
    assert not enabled(model, lambda: part.make_node(m, p))
    for pod in pods:
        model.do(partial(api.patch_status, pod, failed=True, nominated=None))
    assert not enabled(model, lambda: part.make_node(n, p))
    assert not enabled(model, lambda: part.make_node(m, q))
    model.do(lambda: part.make_node(m, p))
    assert model.get(lambda: api.pod[p].nominated) is m
    assert not enabled(model, lambda: part.find_empty(m))
    model.do(lambda: api.set_nomination(p, None))
    model.do(lambda: part.find_empty(m))
    model.do(lambda: part.take_away(m))
    # The watch still has events of it.
    assert not enabled(model, lambda: part.make_node(m, p))


def test_no_node_is_made_for_a_pod_that_waits_for_victims_unless_their_node_is_gone() -> None:
    """FilterOutExpendableAndSplit: a pod that is nominated to a node which is there needs no other."""
    nodes = (n := Node(0, "n", 2), Node(1, "m", 2, exists=False))
    pods = (Pod(0, "v", 2, node=n), Pod(1, "p", 2, 10))
    of = ClusterSpec("preempts", pods, nodes, Scope(autoscaler=True))
    model = concrete(of, "1.36")
    part, api, (n, m), p = model.part("autoscaler"), model.part("api"), nodes, pods[1]
    model.do(partial(api.patch_status, p, failed=True, nominated=n))
    assert not enabled(model, lambda: part.make_node(m, p))
    model.do(partial(api.clear_nomination, p))
    assert enabled(model, lambda: part.make_node(m, p))
    model.do(partial(api.set_nomination, p, n))
    assert not enabled(model, lambda: part.make_node(m, p))
    model.do(partial(api.write_node, n, exists=False))
    assert enabled(model, lambda: part.make_node(m, p))


def test_pods_of_a_daemon_set_keep_no_node_and_no_node_is_made_for_them() -> None:
    spec = parse_scenario(
        "name: x\ntitle: x\nrelease: '1.36'\nproperties: [S-SCALE]\n"
        "nodes: {n: {cpu: 2}, m: {cpu: 2, exists: false}}\n"
        "pods: {a: {cpu: 1, nodeName: n}, b: {cpu: 1, exists: false}}\n"
        "controllers: {agent: {kind: DaemonSet, pods: {n: [a], m: [b]}}}\n"
        "scope: {autoscaler: true}\n"
    ).spec
    model = concrete(spec, "1.36")
    autoscaler, (n, m), (a, b) = model.part("autoscaler"), spec.nodes, spec.pods
    assert autoscaler.keeping() == []
    assert enabled(model, lambda: autoscaler.find_empty(n))
    assert not enabled(model, lambda: autoscaler.make_node(m, b))
    assert model.get(lambda: autoscaler.is_on(a, n))


def test_monitors_keep_nothing_of_the_node_that_had_the_name_before() -> None:
    """The node that is made is a new one: what S-CACHE saw of the one before says nothing about it."""
    nodes = (Node(0, "n", 1), Node(1, "m", 2, exists=False))
    of = ClusterSpec("made", (Pod(0, "p", 2),), nodes, Scope(autoscaler=True))
    cluster = build_cluster(of, resolve("1.36").classes)
    monitor = cluster.add(CacheFollowsNodeEvents.id, CacheFollowsNodeEvents)
    model, (n, m), (p,) = Concrete(cluster), nodes, of.pods
    model.do(lambda: model.part("api").patch_status(p, failed=True, nominated=None))
    for node in (n, m):
        model.do(partial(monitor.handled.__setitem__, node, True))
    model.do(lambda: model.part("autoscaler").make_node(m, p))
    assert model.get(lambda: [monitor.handled[node] for node in (n, m)]) == [True, False]
