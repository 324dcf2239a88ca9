"""The autoscaler: which nodes look empty, and what its second look changes."""

from __future__ import annotations

from podrace.model.environment.objects import ClusterSpec, Node, Pod, Scope
from podrace.model.language import as_expr
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
