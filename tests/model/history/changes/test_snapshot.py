"""The NodeInfos of removed nodes in the snapshot, release by release."""

from __future__ import annotations

import pytest

from podrace.checker.search import check
from podrace.model.cluster import build_cluster
from podrace.model.environment.objects import Node, Pod, Term
from podrace.model.history import resolve
from podrace.model.language import Concrete
from podrace.model.scheduler.framework.status import NodeStatus, Phase
from podrace.properties import PROPERTIES, instrument
from tests.model.clusters import nodes, race_72124, spec

AROUND = ("1.13", "1.14", "1.16", "1.17", "1.18", "1.19", "1.20")


def ghost(release: str, **scope: int) -> tuple[Concrete, tuple[Node, ...], list[Pod]]:
    """A snapshot is taken, n0 is removed although x is on it, and another snapshot is taken."""
    on = (Node(0, "n0", 1, {"zone": "z"}), Node(1, "n1", 1, {"zone": "z"}))
    apart = Term({"app": "x"}, "zone", anti=True)
    pods = [
        Pod(0, "x", 1, node=on[0], labels={"app": "x"}),
        Pod(1, "y", 1, 0, node=on[1]),
        Pod(2, "p", 1, 10, terms=(apart,)),
        Pod(3, "q", 1, 20),
    ]
    cluster = spec(pods, on, **{"node_deletions": 1, **scope})
    model = Concrete(build_cluster(cluster, resolve(release).classes))
    cache, snapshot = model.part("cache"), model.part("snapshot")
    model.do(snapshot.update)
    model.do(lambda: cache.remove_node(on[0]))
    return model, on, pods


@pytest.mark.parametrize("release", AROUND)
def test_what_the_snapshot_has_of_a_removed_node(release: str) -> None:
    model, on, (x, *_) = ghost(release)
    snapshot = model.part("snapshot")
    inconsistent = model.do(snapshot.update)
    found = model.get(lambda: (snapshot.live[on[0]], snapshot.listed[on[0]]))
    stays = release in ("1.14", "1.16", "1.17")
    assert (found, bool(inconsistent)) == (
        ((True, False), False)
        if stays
        else ((True, False), True)
        if release == "1.19"
        else ((False, False), False)
    )
    model.do(lambda: model.part("cache").remove_pod(x))
    model.do(snapshot.update)
    assert model.get(lambda: (snapshot.live[on[0]], snapshot.listed[on[0]])) == (False, False)


@pytest.mark.parametrize("release", ["1.14", "1.16"])
def test_up_to_1_16_a_removed_node_stays_in_the_snapshot_and_the_live_tree_says_which_nodes_are_tried(
    release: str,
) -> None:
    """86964 and 84014 together: the pods of a dead NodeInfo go on to count, and its node is not tried."""
    model, on, (*_, q) = ghost(release, node_creations=1)
    scheduler, snapshot = model.part("scheduler"), model.part("snapshot")
    model.do(lambda: scheduler.pop(q))
    model.do(lambda: scheduler.take_snapshot(q))
    assert model.get(lambda: [snapshot.live[n] for n in on]) == [True, True]
    assert model.get(lambda: snapshot.on(model.model.entities[Pod][0], on[0])) is True
    assert model.get(lambda: scheduler.phase) is Phase.LISTED
    model.do(lambda: scheduler.list_tree(q))
    assert model.get(lambda: [snapshot.listed[n] for n in on]) == [False, True]
    model.do(lambda: scheduler.filter(q, on[1]))
    assert model.get(lambda: scheduler.verdict[on[0]]) is NodeStatus.UNTRIED


@pytest.mark.parametrize("release", AROUND)
def test_up_to_1_16_a_pod_on_a_removed_node_repels_others_from_its_zone(release: str) -> None:
    """From 1.17 on PreFilter plugins go through the list of nodes, which lacks the dead NodeInfo."""
    model, on, (_, y, p, _) = ghost(release)
    snapshot, filters = model.part("snapshot"), model.part("filters")
    model.do(lambda: model.part("cache").remove_pod(y))
    model.do(snapshot.update)
    rejecting = model.get(lambda: filters.rejected_by(p, on[1], snapshot.placement()))
    assert rejecting["InterPodAffinity"] is (release in ("1.14", "1.16"))


@pytest.mark.parametrize(
    ("release", "tried"), [("1.16", False), ("1.17", True), ("1.18", False), ("1.20", False)]
)
def test_only_in_1_17_preemption_tried_a_removed_node(release: str, tried: bool) -> None:
    model, on, (*_, q) = ghost(release)
    scheduler = model.part("scheduler")
    model.do(lambda: scheduler.pop(q))
    model.do(lambda: scheduler.take_snapshot(q))
    if release == "1.16":
        model.do(lambda: scheduler.list_tree(q))
    model.do(lambda: scheduler.filter(q, on[1]))
    verdict = model.get(lambda: scheduler.verdict[on[0]])
    assert verdict is (NodeStatus.REJECTED if tried else NodeStatus.UNTRIED)
    if release in ("1.18", "1.20"):
        model.do(lambda: scheduler.reread_preemptor(q))
        assert model.get(lambda: scheduler.phase) is Phase.DRY_RUN


def test_in_1_17_a_pod_could_be_nominated_to_a_node_that_was_gone() -> None:
    model, on, (x, *_, q) = ghost("1.17")
    scheduler = model.part("scheduler")
    for call in (
        lambda: scheduler.pop(q),
        lambda: scheduler.take_snapshot(q),
        lambda: scheduler.filter(q, on[1]),
        lambda: scheduler.fail(q),
        lambda: model.part("failure").patch(q),
        lambda: scheduler.reread_preemptor(q),
        lambda: scheduler.dry_run(q, on[0]),
        lambda: scheduler.dry_run(q, on[1]),
    ):
        model.do(call)
    assert model.get(lambda: scheduler.verdict[on[0]]) is NodeStatus.CANDIDATE
    model.do(lambda: scheduler.choose_candidate(q, on[0]))
    assert model.get(lambda: scheduler.nominee) is on[0]
    assert model.get(lambda: model.part("preemption").victim[x]) is True


@pytest.mark.parametrize(
    ("release", "expected"),
    [("1.17", "HOLDS"), ("1.18", "VIOLATED"), ("1.19", "VIOLATED"), ("1.20", "HOLDS")],
)
def test_issue_95124_was_in_1_18_and_1_19(release: str, expected: str) -> None:
    on = nodes(1, 2)
    pods = [Pod(0, "x", 1, node=on[0]), Pod(1, "p", 1), Pod(2, "q", 1)]
    cluster = spec(pods, on, node_deletions=1, pod_gc=False)
    (found,) = check(instrument(cluster, resolve(release).classes, [PROPERTIES["S-ERR"]]), ["S-ERR"])
    assert found.verdict.name == expected
    assert [step.step for step in found.trace.steps][-1] == "take_snapshot" if found.trace else True


@pytest.mark.parametrize("release", ["1.15", "1.17", "1.19"])
def test_where_no_node_can_go_the_snapshot_is_a_full_copy(release: str) -> None:
    cluster = race_72124()
    model = Concrete(build_cluster(cluster, resolve(release).classes))
    snapshot, node = model.part("snapshot"), cluster.nodes[0]
    model.do(snapshot.update)
    assert model.get(lambda: snapshot.live[node]) is True
    model.do(snapshot.clear)
    assert model.get(lambda: snapshot.live[node]) is False
