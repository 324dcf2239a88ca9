"""Cluster events, and parked pods that only some of them move."""

from contextlib import suppress
from functools import partial

import pytest

from podrace.model.environment.objects import Node, Pod, PodCopy, Term
from podrace.model.language import NotEnabled
from podrace.model.scheduler.framework.events import (
    ANY_EVENT,
    ASSIGNED_POD_ADD,
    ASSIGNED_POD_DELETE,
    EVENTS,
    NODE_ADD,
    NODE_DELETE,
    Action,
    ClusterEvent,
    Plugin,
    default_plugins,
)
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from tests.model.clusters import concrete, nodes, spec


def test_actions_on_one_resource_are_compatible_if_they_overlap():
    labels = ClusterEvent("", "Node", Action.UPDATE_NODE_LABEL)
    assert labels.is_among(ClusterEvent("", "Node", Action.UPDATE))
    assert not labels.is_among(ClusterEvent("", "Node", Action.UPDATE_NODE_TAINT))
    assert not labels.is_among(ClusterEvent("", "Pod", Action.ALL))


def test_everything_is_among_the_wildcard():
    assert all(event.is_among(ANY_EVENT) for event in EVENTS.values())
    assert not NODE_ADD.is_among(ClusterEvent("", "*", Action.ADD))


@pytest.mark.parametrize(
    ("event", "asking"),
    [
        (NODE_ADD, {p.name for p in default_plugins()}),
        (ASSIGNED_POD_DELETE, {"NodeResourcesFit", "PodTopologySpread", "InterPodAffinity"}),
        (ASSIGNED_POD_ADD, {"PodTopologySpread", "InterPodAffinity"}),
        (NODE_DELETE, {"PodTopologySpread"}),
        (EVENTS["NodeLabelChange"], {"NodeAffinity", "PodTopologySpread", "InterPodAffinity"}),
        (EVENTS["NodeAllocatableChange"], {"NodeResourcesFit"}),
        (EVENTS["PvAdd"], set()),
    ],
)
def test_what_the_filters_register(event, asking):
    assert {p.name for p in default_plugins() if p.asked_for(event)} == asking


def failing_cycle(release):
    """A pod that is too big for n0 and whose affinity fails on n1, after its failed attempt."""
    on = (Node(0, "n0", 1), Node(1, "n1", 4))
    p = Pod(0, "p", 2, terms=(Term({"app": "x"}, "kubernetes.io/hostname"),))
    model = concrete(spec([p], on), release)
    scheduler, queue = model.part("scheduler"), model.part("queue")
    for call in (
        lambda: scheduler.pop(p),
        lambda: scheduler.take_snapshot(p),
        lambda: scheduler.filter(p, on[0]),
        lambda: scheduler.filter(p, on[1]),
        lambda: scheduler.reread_preemptor(p),
    ):
        model.do(call)
    for node in on:
        # Which nodes are worth a dry run is preemption's business.
        with suppress(NotEnabled):
            model.do(partial(scheduler.dry_run, p, node))
    for call in (
        lambda: scheduler.fail(p),
        lambda: model.part("failure").read(p),
        lambda: model.part("failure").requeue(p),
    ):
        model.do(call)
    return model, queue, p


def rejecting(model, queue, pod):
    rejected = model.get(lambda: {q.name: queue.rejected_by[pod][q] for q in queue.universe[Plugin]})
    return {name for name, so in rejected.items() if so}


@pytest.mark.parametrize(
    ("release", "noted"), [("1.20", set()), ("1.21", {"NodeResourcesFit", "InterPodAffinity"})]
)
def test_a_failed_attempt_notes_the_first_filter_that_fails_on_each_node(release, noted):
    model, queue, p = failing_cycle(release)
    assert rejecting(model, queue, p) == noted


@pytest.mark.parametrize(("release", "place"), [("1.21", SubQueue.BACKOFF), ("1.22", SubQueue.UNSCHEDULABLE)])
def test_from_1_22_an_event_moves_only_the_pods_of_plugins_that_asked_for_it(release, place):
    model, queue, p = failing_cycle(release)
    model.do(lambda: queue.move_all(EVENTS["PvAdd"]))
    assert model.get(lambda: queue.sub_queue[p]) is place
    model.do(lambda: queue.move_all(NODE_ADD))
    assert model.get(lambda: queue.sub_queue[p]) is SubQueue.BACKOFF


@pytest.mark.parametrize(
    ("release", "moved"),
    [
        ("1.20", {"NodeResourcesFit", "InterPodAffinity", "NodeAffinity"}),
        ("1.21", {"InterPodAffinity", "NodeAffinity"}),
        ("1.22", {"InterPodAffinity"}),
    ],
)
def test_in_1_21_only_node_resources_fit_had_registered_events(release, moved):
    """An assigned pod that comes moves the pods of whom it moves, by the plugin that rejected them."""
    p = Pod(0, "p", 1)
    model = concrete(spec([p], nodes(4)), release)
    queue = model.part("queue")
    plugins = {plugin.name: plugin for plugin in queue.universe[Plugin]}
    found = set()
    for name in ("NodeResourcesFit", "InterPodAffinity", "NodeAffinity"):
        model.do(partial(queue.rejected_by[p].__setitem__, plugins[name], True))
        if model.get(partial(queue.is_woken_by, p, ASSIGNED_POD_ADD)):
            found.add(name)
        model.do(partial(queue.rejected_by[p].__setitem__, plugins[name], False))
    assert found == moved


def test_a_pod_that_no_plugin_rejected_is_moved_by_every_event():
    p = Pod(0, "p", 1)
    model = concrete(spec([p], nodes(4)), "1.22")
    queue = model.part("queue")
    model.do(lambda: queue.pop(p))
    model.do(lambda: queue.requeue(p, PodCopy()))
    assert model.get(lambda: queue.matches(p, NODE_ADD)) is False
    model.do(lambda: queue.move_all(EVENTS["PvAdd"]))
    assert model.get(lambda: queue.sub_queue[p]) is SubQueue.BACKOFF


def test_a_pod_that_comes_anew_has_no_rejections():
    model, queue, p = failing_cycle("1.22")
    model.do(lambda: queue.delete(p))
    assert rejecting(model, queue, p) == set()
