"""What the event handlers do in the queue, release by release."""

import pytest

from podrace.model.environment.objects import Node, Pod, PodCopy, PodObject, Taint, Term
from podrace.model.scheduler.failure import FailedAttempt, FailurePhase
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from tests.model.clusters import concrete, nodes, spec


def places(model, *pods):
    return [model.get(lambda p=p: model.part("queue").sub_queue[p]) for p in pods]


def parked(model, pod):
    queue = model.part("queue")
    model.do(lambda: queue.put(pod, SubQueue.UNSCHEDULABLE, PodCopy()))


@pytest.mark.parametrize(("release", "big_waits"), [("1.21", False), ("1.22", True)])
def test_a_new_node_wakes_the_pods_that_it_would_admit(release, big_waits):
    on = (Node(0, "n0", 2, exists=False),)
    small, big = Pod(0, "small", 1), Pod(1, "big", 4)
    model = concrete(spec([small, big], on, node_creations=1), release)
    handlers = model.part("handlers")
    for pod in (small, big):
        parked(model, pod)
    model.do(lambda: model.part("node_watch").publish(on[0], True))
    model.do(lambda: handlers.handle_node(on[0]))
    model.do(lambda: handlers.wake_queue_for_node(on[0]))
    assert places(model, small, big) == [
        SubQueue.BACKOFF,
        SubQueue.UNSCHEDULABLE if big_waits else SubQueue.BACKOFF,
    ]
    assert model.get(lambda: model.part("queue").moved) is True
    assert model.get(lambda: [handlers.admitted[p] for p in (small, big)]) == [False, False]


@pytest.mark.parametrize(
    ("node", "asking", "admitted"),
    [
        ({"labels": {"zone": "a"}}, {"node_selector": {"zone": "a"}}, True),
        ({"labels": {"zone": "a"}}, {"node_selector": {"zone": "b"}}, False),
        ({"taints": [Taint("k")]}, {}, False),
        ({"unschedulable": True}, {}, True),  # preCheckForNode looks at taints only
        ({}, {"terms": [Term({"app": "x"}, "zone")]}, True),
        ({"pods": 0}, {}, False),
    ],
)
def test_what_a_new_node_admits(node, asking, admitted):
    on, pod = (Node(0, "n0", 2, exists=False, **node),), Pod(0, "p", 1, **asking)
    model = concrete(spec([pod], on, node_creations=1), "1.22")
    handlers = model.part("handlers")
    model.do(lambda: model.part("node_watch").publish(on[0], True))
    model.do(lambda: handlers.handle_node(on[0]))
    assert model.get(lambda: handlers.admitted[pod]) is admitted


@pytest.mark.parametrize(("release", "dropped"), [("1.21", False), ("1.22", True)])
def test_an_update_that_matters_to_the_assumed_copy(release, dropped):
    on, pod = nodes(4), Pod(0, "p", 1)
    model = concrete(spec([pod], on), release)
    handlers = model.part("handlers")
    model.do(lambda: model.part("cache").assume(pod, on[0], PodCopy()))
    changed = PodObject(exists=True, failed=True)
    assert model.get(lambda: handlers.skips_update(pod, changed)) is dropped
    assert model.get(lambda: handlers.skips_update(pod, PodObject(exists=True))) is True


@pytest.mark.parametrize(
    ("release", "follows"), [("1.20", FailurePhase.REQUEUE), ("1.21", FailurePhase.NOMINATE)]
)
def test_a_failed_pod_that_is_bound_after_all(release, follows):
    on, pod = nodes(4), Pod(0, "p", 1)
    model = concrete(spec([pod], on), release)
    failure = model.part("failure")
    model.do(lambda: failure.begin(pod, FailedAttempt(PodCopy())))
    model.do(lambda: model.part("pod_watch").lister.__setitem__(pod, PodObject(exists=True, node=on[0])))
    model.do(lambda: failure.read(pod))
    assert model.get(lambda: failure.phase[pod]) is follows
