"""Preemption on concrete clusters."""

from podrace.model.environment.objects import Node, Pod
from podrace.model.scheduler.framework.status import NodeStatus
from tests.model.clusters import concrete, nodes, spec


def prepared(pods, on):
    model = concrete(spec(pods, on))
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


def choice(pods, on, preemptor):
    model, preemption = prepared(pods, on)
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
