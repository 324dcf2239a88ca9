"""The scheduler cache, call by call."""

import pytest

from podrace.model.environment.objects import Pod, PodCopy, PodObject
from tests.model.clusters import concrete, nodes, spec

GONE = {"node": None, "assumed": False, "bound": False, "terminating": False}


def make(release="1.20"):
    on = nodes(4, 4)
    pods = [Pod(0, "a", 1), Pod(1, "b", 1, node=on[1])]
    model = concrete(spec(pods, on), release)
    return model, model.part("cache"), pods, on


def test_bound_pods_and_nodes_are_there_at_the_start():
    model, cache, (a, b), (n0, n1) = make()
    assert model.get(lambda: cache.on(b, n1)) is True
    assert model.get(lambda: cache.knows(a)) is False
    assert [model.get(lambda n=n: cache.live[n]) for n in (n0, n1)] == [True, True]


def test_assume_then_forget():
    model, cache, (a, _), (n0, n1) = make()
    model.do(lambda: cache.assume(a, n0, PodCopy(failed=True)))
    assert model.get(lambda: cache.is_assumed(a)) is True
    model.do(lambda: cache.forget(a, n1))
    assert model.get(lambda: cache.is_assumed(a)) is True, "forgetting it on another node is an error"
    model.do(lambda: cache.forget(a, n0))
    assert model.get(lambda: cache.pod[a]) == GONE
    assert model.get(lambda: cache.copy[a].failed) is False


def test_the_add_event_confirms_an_assumed_pod_where_the_event_says():
    model, cache, (a, _), (n0, n1) = make()
    model.do(lambda: cache.assume(a, n0, PodCopy()))
    model.do(lambda: cache.add_pod(a, PodObject(exists=True, node=n1)))
    assert model.get(lambda: cache.pod[a]) == {**GONE, "node": n1}
    model.do(lambda: cache.add_pod(a, PodObject(exists=True, node=n0)))
    assert model.get(lambda: cache.pod[a].node) is n1, "adding a confirmed pod is an error"


def test_an_assumed_pod_is_neither_updated_nor_removed_by_events():
    model, cache, (a, _), (n0, _) = make()
    model.do(lambda: cache.assume(a, n0, PodCopy()))
    model.do(lambda: cache.update_pod(a, PodObject(exists=True, node=n0, terminating=True)))
    model.do(lambda: cache.remove_pod(a))
    assert model.get(lambda: cache.pod[a]) == {**GONE, "node": n0, "assumed": True}


@pytest.mark.parametrize(
    ("release", "kept"), [("1.15", True), ("1.17", True), ("1.18", False), ("1.19", True), ("1.20", True)]
)
def test_a_removed_node_keeps_its_pods_except_in_1_18(release, kept):
    model, cache, (_, b), (_, n1) = make(release)
    model.do(lambda: cache.remove_node(n1))
    assert model.get(lambda: cache.live[n1]) is False
    model.do(lambda: cache.add_node(n1))
    assert model.get(lambda: cache.on(b, n1)) is kept
    assert model.get(lambda: cache.knows(b)) is True
    model.do(lambda: cache.update_pod(b, PodObject(exists=True, node=n1)))
    assert model.get(lambda: cache.on(b, n1)) is True


def test_an_assumed_pod_expires_only_after_its_binding_finished():
    model, cache, (a, _), (n0, _) = make()
    snapshot = model.part("snapshot")
    model.do(lambda: cache.assume(a, n0, PodCopy()))
    assert model.get(lambda: cache.pod[a].bound) is False
    model.do(lambda: cache.finish_binding(a))
    assert model.get(lambda: cache.pod[a].bound) is True
    model.do(snapshot.update)
    assert model.get(lambda: snapshot.on(a, n0)) is True


def test_a_pod_that_is_yet_to_be_created_is_not_there_at_the_start():
    on = nodes(4)
    late = Pod(0, "late", 1, node=on[0], exists=False)
    model = concrete(spec([late], on, pod_creations=1))
    assert model.get(lambda: model.part("cache").pod[late]) == GONE


def test_an_update_of_a_node_that_the_cache_has_no_object_of_gives_it_one():
    """UpdateNode of internal/cache/cache.go: SetNode, whatever the NodeInfo had before."""
    model, cache, (_, b), (_, n1) = make()
    zone = cache.node_tree.zone_by_labels(n1)
    model.do(lambda: cache.remove_node(n1))
    model.do(lambda: cache.update_node(n1, None, zone))
    assert model.get(lambda: (cache.live[n1], cache.on(b, n1))) == (True, True)


@pytest.mark.parametrize(
    ("option", "may"),
    [
        ({}, False), ({"pod_deletions": 1}, False), ({"lost_replies": 1}, True), ({"late_bindings": 1}, True), ({"assume_expiries": 1}, True),
        ({"leader_changes": 1}, True), ({"extender_failures": 1}, True), ({"external_binds": 1}, True),
    ],
)  # fmt: skip
def test_each_bound_alone_may_have_a_pod_assumed_elsewhere(option: dict[str, int], may: bool) -> None:
    """With one of them taken for two, changes that are written only then would be left out."""
    model = concrete(spec([Pod(0, "a", 1, 0)], nodes(1), **option), "1.22")
    assert model.part("cache").may_be_elsewhere() is may
