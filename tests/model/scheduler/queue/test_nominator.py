"""The nominator, release by release."""

import pytest

from podrace.model.environment.objects import Pod, PodObject
from tests.model.clusters import concrete, nodes, spec


def make(release="1.19", **kwargs):
    on = nodes(4, 4)
    pods = [Pod(0, "a", 1, 5), Pod(1, "b", 1, 5)]
    model = concrete(spec(pods, on), release, **kwargs)
    return model, model.part("nominator"), pods, on


def node_of(model, nominator, pod):
    return model.get(lambda: nominator.node[pod])


def test_an_explicit_node_overrides_the_field():
    model, nominator, (a, _), (n0, n1) = make()
    model.do(lambda: nominator.add(a, n0, n1))
    assert node_of(model, nominator, a) is n0
    model.do(lambda: nominator.add(a, None, n1))
    assert node_of(model, nominator, a) is n1


def test_add_without_any_node_drops_the_entry():
    model, nominator, (a, _), (n0, _) = make()
    model.do(lambda: nominator.add(a, n0, None))
    model.do(lambda: nominator.add(a, None, None))
    assert node_of(model, nominator, a) is None


@pytest.mark.parametrize(("release", "kept"), [("1.14", False), ("1.15", True)])
def test_change_77990_keeps_the_node_over_an_update_without_the_field(release, kept):
    model, nominator, (a, _), (n0, _) = make(release)
    model.do(lambda: nominator.add(a, n0, None))
    model.do(lambda: nominator.update(a, None, None))
    assert node_of(model, nominator, a) is (n0 if kept else None)


@pytest.mark.parametrize("release", ["1.14", "1.15"])
def test_an_update_that_sets_changes_or_removes_the_field_is_followed(release):
    model, nominator, (a, _), (n0, n1) = make(release)
    model.do(lambda: nominator.update(a, None, n0))
    assert node_of(model, nominator, a) is n0
    model.do(lambda: nominator.update(a, n0, n1))
    assert node_of(model, nominator, a) is n1
    model.do(lambda: nominator.update(a, n1, None))
    assert node_of(model, nominator, a) is None


@pytest.mark.parametrize(("release", "kept"), [("1.12", False), ("1.13", True)])
def test_change_70898_keeps_the_nomination_of_a_popped_pod(release, kept):
    model, nominator, (a, _), (n0, _) = make(release)
    model.do(lambda: nominator.add(a, n0, None))
    model.do(lambda: model.part("queue").pop(a))
    assert node_of(model, nominator, a) is (n0 if kept else None)


def test_in_1_9_a_nomination_is_seen_only_on_a_queued_object():
    model, nominator, (a, _), (n0, _) = make("1.9")
    queue = model.part("queue")
    model.do(lambda: queue.update(a, PodObject(exists=True), PodObject(exists=True, nominated=n0)))
    assert model.get(lambda: nominator.nominated_to(a, n0)) is True
    model.do(lambda: queue.pop(a))
    assert model.get(lambda: nominator.nominated_to(a, n0)) is False


@pytest.mark.parametrize(
    ("release", "shown", "recorded"),
    [
        ("1.21", "gone", True),
        ("1.21", "bound", True),
        ("1.22", "gone", False),
        ("1.22", "bound", True),
        ("1.23", "bound", True),
        ("1.24", "gone", False),
        ("1.24", "bound", False),
    ],
)
def test_what_is_gone_is_refused_since_102498_and_what_is_bound_since_109245(release, shown, recorded):
    model, nominator, (a, _), (n0, n1) = make(release)
    lister = model.part("pod_watch").lister
    model.do(lambda: lister.__setitem__(a, PodObject(exists=shown == "bound", node=n1)))
    model.do(lambda: nominator.add(a, n0, None))
    assert node_of(model, nominator, a) is (n0 if recorded else None)
