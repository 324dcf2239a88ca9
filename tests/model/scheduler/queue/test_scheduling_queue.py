"""The scheduling queue, call by call."""

from functools import partial

import pytest

from podrace.model.environment.objects import Pod, PodCopy, PodObject, Term
from podrace.model.language import NotEnabled
from podrace.model.scheduler.cycles.failure import FailedAttempt
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from tests.model.clusters import concrete, nodes, spec


def make(*priorities, release="1.19", **kwargs):
    pods = [Pod(i, f"p{i}", 1, priority) for i, priority in enumerate(priorities)]
    model = concrete(spec(pods, nodes(4)), release, **kwargs)
    return model, model.part("queue"), pods


def places(model, queue, pods):
    return [model.get(lambda p=p: queue.sub_queue[p]) for p in pods]


def heads(model, queue, pods):
    return [p for p in pods if model.get(lambda p=p: queue.is_head(p))]


def fail(model, queue, pod):
    """A failed attempt of a popped pod, from reading the cycle number to the requeue."""
    model.do(lambda: queue.begin_failure(pod))
    model.do(lambda: queue.requeue(pod, PodCopy(failed=True)))


def test_pop_takes_the_highest_priority_then_the_oldest():
    model, queue, (a, b, c) = make(1, 5, 5)
    order = []
    for _ in range(3):
        (head,) = heads(model, queue, [a, b, c])
        model.do(lambda head=head: queue.pop(head))
        order.append(head)
    assert order == [b, c, a]


def test_only_the_head_can_be_popped():
    model, queue, (a, b) = make(1, 5)
    with pytest.raises(NotEnabled):
        model.do(lambda: queue.pop(a))
    assert places(model, queue, [a, b]) == [SubQueue.ACTIVE, SubQueue.ACTIVE]


def test_before_71488_any_of_several_equals_is_the_head():
    model, queue, (a, b, c) = make(5, 5, 1, release="1.13")
    assert heads(model, queue, [a, b, c]) == [a, b]


def test_a_requeued_pod_waits_behind_its_equals():
    model, queue, (a, b) = make(5, 5)
    model.do(lambda: queue.pop(a))
    fail(model, queue, a)
    model.do(queue.move_all)
    model.do(lambda: queue.flush_backoff(a))
    assert heads(model, queue, [a, b]) == [b]


def test_a_failed_pod_is_parked():
    model, queue, (a,) = make(5)
    model.do(lambda: queue.pop(a))
    fail(model, queue, a)
    assert places(model, queue, [a]) == [SubQueue.UNSCHEDULABLE]


def test_a_move_request_since_the_pop_sends_a_failed_pod_to_backoff():
    model, queue, (a,) = make(5)
    model.do(lambda: queue.pop(a))
    model.do(queue.move_all)
    fail(model, queue, a)
    assert places(model, queue, [a]) == [SubQueue.BACKOFF]


@pytest.mark.parametrize(
    ("release", "expected"), [("1.13", SubQueue.UNSCHEDULABLE), ("1.14", SubQueue.BACKOFF)]
)
def test_change_73309_keeps_a_move_request_over_the_next_pop(release, expected):
    model, queue, (a, b) = make(5, 1, release=release)
    failure = model.part("failure")
    model.do(lambda: queue.pop(a))
    model.do(lambda: failure.begin(a, FailedAttempt(PodCopy(), unschedulable=True)))
    model.do(queue.move_all)
    model.do(lambda: queue.pop(b))
    model.do(lambda: queue.requeue(a, PodCopy(failed=True)))
    assert places(model, queue, [a]) == [expected]


def test_up_to_1_14_a_pod_without_the_condition_is_not_parked():
    model, queue, (a,) = make(5, release="1.13")
    model.do(lambda: queue.pop(a))
    model.do(lambda: queue.requeue(a, PodCopy(failed=False)))
    assert places(model, queue, [a]) == [SubQueue.ACTIVE]


def test_a_move_reaches_parked_pods_only():
    model, queue, (a, b) = make(5, 1)
    model.do(lambda: queue.pop(a))
    fail(model, queue, a)
    model.do(queue.move_all)
    assert places(model, queue, [a, b]) == [SubQueue.BACKOFF, SubQueue.ACTIVE]


def test_an_assigned_pod_wakes_those_with_a_matching_affinity_term():
    term = Term({"app": "x"}, "kubernetes.io/hostname")
    waiting = Pod(0, "waiting", 1, terms=(term,))
    other = Pod(1, "other", 1)
    arrived = Pod(2, "arrived", 1, labels={"app": "x"})
    model = concrete(spec([waiting, other, arrived], nodes(4)))
    queue = model.part("queue")
    for pod in (waiting, other):
        model.do(partial(queue.pop, pod))
        fail(model, queue, pod)
    model.do(lambda: queue.move_matching(arrived))
    assert places(model, queue, [waiting, other]) == [SubQueue.BACKOFF, SubQueue.UNSCHEDULABLE]


def test_an_update_of_the_status_leaves_a_parked_pod_parked():
    model, queue, (a,) = make(5)
    model.do(lambda: queue.pop(a))
    fail(model, queue, a)
    old, new = PodObject(exists=True), PodObject(exists=True, failed=True)
    model.do(lambda: queue.update(a, old, new))
    assert places(model, queue, [a]) == [SubQueue.UNSCHEDULABLE]
    assert model.get(lambda: queue.copy[a].failed) is True


def test_an_update_of_a_pod_in_no_queue_adds_it_to_activeq():
    model, queue, (a,) = make(5)
    model.do(lambda: queue.pop(a))
    model.do(lambda: queue.update(a, PodObject(exists=True), PodObject(exists=True, failed=True)))
    assert places(model, queue, [a]) == [SubQueue.ACTIVE]


def test_a_pod_that_is_back_already_is_not_requeued():
    model, queue, (a,) = make(5)
    model.do(lambda: queue.pop(a))
    model.do(lambda: queue.update(a, PodObject(exists=True), PodObject(exists=True, failed=True)))
    model.do(lambda: queue.requeue(a, PodCopy()))
    assert places(model, queue, [a]) == [SubQueue.ACTIVE]
    assert model.get(lambda: queue.copy[a].failed) is True


def test_1_8_has_one_fifo_that_events_do_not_touch():
    model, queue, (a, b) = make(1, 5, release="1.8")
    assert heads(model, queue, [a, b]) == [a]
    model.do(lambda: queue.pop(a))
    model.do(lambda: queue.requeue(a, PodCopy(failed=True)))
    assert places(model, queue, [a, b]) == [SubQueue.ACTIVE, SubQueue.ACTIVE]
    assert heads(model, queue, [a, b]) == [b]


@pytest.mark.parametrize(("release", "place"), [("1.20", SubQueue.ACTIVE), ("1.21", SubQueue.BACKOFF)])
def test_change_98829_keeps_an_updated_pod_in_its_backoff(release, place):
    model, queue, (a,) = make(5, release=release)
    model.do(lambda: queue.pop(a))
    fail(model, queue, a)
    old, new = PodObject(exists=True), PodObject(exists=True, terminating=True)
    model.do(lambda: queue.update(a, old, new))
    assert places(model, queue, [a]) == [place]
    model.do(lambda: queue.update(a, new, new))
    assert places(model, queue, [a]) == [place]


def test_activate_takes_a_waiting_pod_to_activeq():
    model, queue, (a, b) = make(5, 1, release="1.22")
    model.do(lambda: queue.pop(a))
    model.do(lambda: queue.activate(a))
    assert places(model, queue, [a, b]) == [SubQueue.NONE, SubQueue.ACTIVE]
    fail(model, queue, a)
    model.do(lambda: queue.activate(a))
    assert places(model, queue, [a]) == [SubQueue.ACTIVE]


def test_a_precheck_leaves_the_other_pods_parked():
    model, queue, (a, b) = make(5, 1, release="1.22")
    for pod in (a, b):
        model.do(lambda pod=pod: queue.pop(pod))
        fail(model, queue, pod)
    model.do(lambda: queue.move_all(admitted={b: True, a: False}))
    assert places(model, queue, [a, b]) == [SubQueue.UNSCHEDULABLE, SubQueue.BACKOFF]
    assert model.get(lambda: queue.moved) is True
