"""Preemption on concrete clusters."""

import dataclasses

import pytest

from podrace.checker.search import check
from podrace.model.environment.objects import DisruptionBudget, Node, Pod, PodCopy, PodObject, Selector
from podrace.model.history import resolve
from podrace.model.scheduler.framework.status import NodeStatus
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from podrace.properties import PROPERTIES, instrument
from tests.model.clusters import concrete, nodes, spec


def prepared(pods, on, release="1.19", budgets=()):
    cluster = dataclasses.replace(spec(pods, on), budgets=budgets)
    model = concrete(cluster, release)
    model.do(model.part("snapshot").update)
    return model, model.part("preemption")


def dry_run(pods, on, preemptor, node):
    model, preemption = prepared(pods, on)
    feasible, victims = model.get(lambda: preemption.dry_run(preemptor, node))
    return feasible, [p.name for p, is_victim in victims.items() if is_victim]


def test_the_most_important_pods_are_reprieved_first():
    on = nodes(4)
    pods = [
        Pod(0, "low", 1, 0, node=on[0]),
        Pod(1, "high", 1, 5, node=on[0]),
        Pod(2, "big", 2, 3, node=on[0]),
        Pod(3, "p", 2, 10),
    ]
    assert dry_run(pods, on, pods[3], on[0]) == (True, ["big"])


def test_pods_of_equal_priority_are_no_victims():
    on = nodes(2)
    pods = [Pod(0, "same", 2, 10, node=on[0]), Pod(1, "p", 2, 10)]
    assert dry_run(pods, on, pods[1], on[0]) == (False, [])


def test_a_nominated_pod_of_equal_priority_counts_in_the_dry_run():
    on = nodes(2)
    pods = [Pod(0, "v", 2, 0, node=on[0]), Pod(1, "p", 2, 10), Pod(2, "nominated", 1, 10)]
    model, preemption = prepared(pods, on)
    model.do(lambda: model.part("nominator").add(pods[2], on[0], None))
    assert model.get(lambda: preemption.dry_run(pods[1], on[0]))[0] is False


def choice(pods, on, preemptor, **how):
    model, preemption = prepared(pods, on, **how)
    scheduler = model.part("scheduler")

    def try_all():
        for node in on:
            feasible, victims = preemption.dry_run(preemptor, node)
            assert model._plain(feasible), "each node is meant to be a candidate"
            scheduler.verdict[node] = NodeStatus.CANDIDATE
            for pod, is_victim in victims.items():
                if model._plain(is_victim):
                    preemption.victim[pod] = True

    model.do(try_all)
    return [n.name for n in on if model.get(lambda n=n: preemption.may_be_chosen(preemptor, n))]


def two_nodes(first, second):
    """Two nodes of capacity 2, filled with pods of these priorities (one of size 2, or two of size 1)."""
    on = (Node(0, "a", 2), Node(1, "b", 2))
    pods: list[Pod] = []
    for node, priorities in zip(on, (first, second), strict=True):
        for priority in priorities:
            pods.append(Pod(len(pods), f"v{len(pods)}", 2 // len(priorities), priority, node=node))
    preemptor = Pod(len(pods), "p", 2, 100)
    return [*pods, preemptor], on, preemptor


def test_the_lowest_highest_priority_victim_decides_first():
    assert choice(*two_nodes([5], [3, 3])) == ["b"]


def test_then_the_sum_of_priorities_where_a_further_victim_always_weighs_more():
    assert choice(*two_nodes([5, 1], [5])) == ["b"]
    assert choice(*two_nodes([5, 1], [5, 2])) == ["a"]
    assert choice(*two_nodes([5, -4], [5])) == ["b"]


def test_full_ties_leave_the_choice_open():
    assert choice(*two_nodes([5], [5])) == ["a", "b"]


def test_a_preemptor_waits_while_its_victims_terminate():
    on = nodes(2)
    pods = [Pod(0, "v", 2, 0, node=on[0]), Pod(1, "p", 2, 10)]
    model, preemption = prepared(pods, on)
    assert model.get(lambda: preemption.eligible(pods[1], on[0])) is True

    def terminate():
        model.part("snapshot").pod[pods[0]].terminating = True

    model.do(terminate)
    assert model.get(lambda: preemption.eligible(pods[1], on[0])) is False
    assert model.get(lambda: preemption.eligible(pods[1], None)) is True


# --- a nominated node that is gone -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("release", "eligible"), [("1.16", False), ("1.18", True), ("1.30", True), ("1.36", True)]
)
def test_a_victim_on_a_node_that_is_gone_is_not_waited_for(release, eligible):
    on = nodes(1, 1)
    pods = [Pod(0, "v", 1, 0, node=on[0]), Pod(1, "p", 1, 10)]
    model = concrete(spec(pods, on), release)
    snapshot, preemption, cache = (model.part(name) for name in ("snapshot", "preemption", "cache"))
    model.do(lambda: cache.update_pod(pods[0], PodObject(exists=True, node=on[0], terminating=True)))
    model.do(snapshot.update)
    assert model.get(lambda: preemption.eligible(pods[1], on[0])) is False
    # The NodeInfo outlives its Node object while pods are in it.
    model.do(lambda: cache._lose(on[0]))
    model.do(snapshot.update)
    if release != "1.18":  # there the cache dropped the pods with the node
        assert model.get(lambda: snapshot.on(pods[0], on[0])) is True
    assert model.get(lambda: preemption.eligible(pods[1], on[0])) is eligible


@pytest.mark.parametrize(("release", "found"), [("1.36", "HOLDS")])
def test_a_preemptor_goes_elsewhere_when_its_nominated_node_is_gone(release, found):
    on = nodes(1, 1)
    pods = [Pod(0, "v", 1, 0, node=on[0]), Pod(1, "p", 1, 10), Pod(2, "w", 1, 0, node=on[1])]
    cluster = spec(pods, on, pod_events=1, node_events=1, node_deletions=1, pod_gc=False, fair_flush=True)
    classes = resolve(release, ("139162",)).classes
    (judged,) = check(instrument(cluster, classes, [PROPERTIES["L-INV"]]), ["L-INV"])
    assert judged.verdict.name == found


# --- the order of victims --------------------------------------------------------------------------------------


def budgeted():
    """On each of two nodes, a pod with a budget that has no disruption left, and one without."""
    on = (Node(0, "a", 2), Node(1, "b", 2))
    web = {"app": "x"}
    pods = [
        Pod(0, "violator", 1, 5, node=on[0], labels=web),
        Pod(1, "top", 1, 9, node=on[0]),
        Pod(2, "second", 1, 6, node=on[1], labels=web),
        Pod(3, "low", 1, 1, node=on[1]),
        Pod(4, "p", 2, 100),
    ]
    return pods, on, (DisruptionBudget(0, "x", Selector(web), 0),)


ORDER = [
    ("1.29.6", "a", "top"),
    ("1.30.4", "a", "top"),
    ("1.30.14", "b", "violator"),
    ("1.31", "a", "top"),
    ("1.31.14", "b", "violator"),
    ("1.32", "b", "violator"),
    ("1.32.2", "b", "violator"),
    ("1.33", "b", "violator"),
    ("1.36", "b", "violator"),
]


@pytest.mark.parametrize(("release", "node", "last"), ORDER)
def test_128307_victims_go_by_importance_alone(release, node, last):
    """Both nodes cost one violation; the first victim of the list decides between them, and the last is evicted last."""
    pods, on, budgets = budgeted()
    assert choice(pods, on, pods[4], release=release, budgets=budgets) == [node]
    model, preemption = prepared(pods, on, release, budgets)
    victims = dict.fromkeys(pods[:2], True)
    assert model.get(lambda: preemption.last_of(pods[4], victims)).name == last


@pytest.mark.parametrize(("release", "violating"), [("1.36.4", ["one", "two"]), ("1.37", ["one"])])
def test_137981_a_victim_takes_from_no_budget_after_the_first_without_room(release, violating):
    """Budget a has no room for pod one, so that from 1.37 on it leaves b's only disruption to pod two."""
    (n0,) = nodes(4)
    one, two = (
        Pod(0, "one", 1, 5, node=n0, labels={"of": "a", "all": "b"}),
        Pod(1, "two", 1, 4, node=n0, labels={"all": "b"}),
    )
    preemptor = Pod(2, "p", 4, 10)
    budgets = (
        DisruptionBudget(0, "a", Selector({"of": "a"}), 0),
        DisruptionBudget(1, "b", Selector({"all": "b"}), 1),
    )
    model, preemption = prepared([one, two, preemptor], (n0,), release, budgets)
    found = model.get(lambda: preemption.violating(preemptor, n0))
    assert [pod.name for pod, violates in found.items() if violates] == violating


# --- the nominations that are withdrawn ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("release", "where", "field", "withdrawn"),
    [
        ("1.30", SubQueue.ACTIVE, True, True),
        ("1.30", SubQueue.ACTIVE, False, False),
        ("1.30", SubQueue.NONE, True, True),
        ("1.30", SubQueue.NONE, False, False),
        ("1.31", SubQueue.ACTIVE, True, True),
        ("1.31", SubQueue.ACTIVE, False, False),
        ("1.31", SubQueue.NONE, True, False),
        ("1.36", SubQueue.UNSCHEDULABLE, True, True),
        ("1.36", SubQueue.UNSCHEDULABLE, False, False),
        ("1.36", SubQueue.NONE, True, False),
    ],
)
def test_a_nomination_is_withdrawn_only_if_the_known_object_carries_it(release, where, field, withdrawn):
    """Up to 1.30 the nominator had an object of its own, from 1.31 on the queue's is asked for (125820)."""
    on = nodes(2)
    pods = [Pod(0, "v", 2, 0, node=on[0]), Pod(1, "low", 1, 5), Pod(2, "p", 2, 10)]
    model, preemption = prepared(pods, on, release)
    told = on[0] if field else None
    kept = PodCopy() if where is SubQueue.NONE else PodCopy(nominated=told)
    model.do(lambda: model.part("queue").put(pods[1], where, kept))
    model.do(lambda: model.part("nominator").add(pods[1], on[0], told))
    model.do(lambda: preemption.commit(pods[2], on[0]))
    assert model.get(lambda: preemption.to_clear[pods[1]]) is withdrawn
    goroutine = model.part("async_preemption")
    if release == "1.36":
        model.do(lambda: goroutine.start(pods[2], on[0], {pods[0]: True}, pods[0]))
        model.do(lambda: goroutine.begin(pods[2], on[0]))
        assert model.get(lambda: goroutine.to_clear[pods[2]][pods[1]]) is withdrawn
        model.do(lambda: goroutine.end(pods[2]))
        assert model.get(lambda: goroutine.to_clear[pods[2]][pods[1]]) is False


@pytest.mark.parametrize(
    ("release", "again"),
    [("1.33", True), ("1.34", False), ("1.34.2", True), ("1.34.4", True), ("1.35", False)],
)
def test_a_victim_that_terminates_is_deleted_again_but_in_1_34_and_from_1_35_on(release, again):
    on = nodes(1)
    pods = [Pod(0, "v", 1, 0, node=on[0]), Pod(1, "p", 1, 10)]
    model = concrete(spec(pods, on), release)
    snapshot, preemption, cache = (model.part(name) for name in ("snapshot", "preemption", "cache"))
    model.do(lambda: cache.update_pod(pods[0], PodObject(exists=True, node=on[0], terminating=True)))
    model.do(snapshot.update)

    def chosen():
        preemption.victim[pods[0]] = True

    model.do(chosen)
    assert model.get(lambda: model.part("scheduler").to_be_evicted(pods[0])) is again
    # 133167 came and went with it.
    nobody_left = model.get(lambda: model.part("async_preemption").nobody_was_left(pods[1]))
    assert nobody_left is (release == "1.34")
