"""A node becomes too small for a pod in flight: the hint is asked when the pod comes back, with the nomination that its object has then (isPodWorthRequeuing, 1.38)."""

from __future__ import annotations

import pytest

from podrace.model.cluster import build_cluster
from podrace.model.environment.cluster.node_versions import NodeChange, NodeVersion
from podrace.model.environment.objects import Node, Pod, PodCopy
from podrace.model.history import resolve
from podrace.model.language import Concrete, any_of
from podrace.model.scheduler.framework.events import NodeUpdate, Plugin
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from podrace.scenarios import parse_scenario

CLUSTER = """
nodes: {n1: {cpu: 2, updates: {smaller: {cpu: 1}}}, n2: {cpu: 3}}
pods: {p: {cpu: 2, priority: 10}}
scope: {node_updates: 1, flush: false}
"""
PARKED, BACK = SubQueue.UNSCHEDULABLE, SubQueue.BACKOFF


def in_flight(release: str, rejected_by: str) -> tuple[Concrete, Pod, dict[str, Node], NodeChange]:
    """p is in flight, and the plugin has rejected it; n1 is about to become smaller."""
    model = Concrete(build_cluster(parse_scenario(CLUSTER, "x.yaml").spec, resolve(release).classes))
    queue, (pod,) = model.part("queue"), model.model.entities[Pod]
    (plugin,) = [p for p in model.model.entities[Plugin] if p.name == rejected_by]

    def reject() -> None:
        queue.in_flight[pod] = True
        queue.sub_queue[pod] = SubQueue.NONE
        queue.rejected_by[pod][plugin] = True

    model.do(reject)
    initial, smaller = model.model.entities[NodeVersion]
    on = {node.name: node for node in model.model.entities[Node]}
    return model, pod, on, NodeChange(initial.content, smaller.content)


@pytest.mark.parametrize(
    ("release", "nominated", "rejected_by", "where"),
    [
        ("1.38.0-beta.0", "n1", "NodeResourcesFit", BACK),
        ("1.38.0-beta.0", "n2", "NodeResourcesFit", PARKED),
        ("1.38.0-beta.0", None, "NodeResourcesFit", PARKED),
        ("1.38.0-beta.0", "n1", "NodeUnschedulable", PARKED),
        ("1.37.2", "n1", "NodeResourcesFit", PARKED),
    ],
)
def test_the_nomination_of_the_object_that_comes_back_decides(
    release: str, nominated: str | None, rejected_by: str, where: SubQueue
) -> None:
    model, pod, on, change = in_flight(release, rejected_by)
    queue = model.part("queue")
    (size,) = [kind for kind in queue.universe[NodeUpdate] if kind.name == "NodeAllocatableChange"]
    model.do(lambda: queue.move_all(size.event, about=change))
    assert not any(model.get(lambda: [queue.in_flight_events[pod][p] for p in queue.universe[Plugin]]))

    def come_back() -> None:
        queue.requeue(pod, PodCopy(nominated=None if nominated is None else on[nominated]))

    model.do(come_back)
    assert model.get(lambda: queue.sub_queue[pod]) is where
    assert not model.get(lambda: any_of(queue.shrunk[one] for one in queue.nominees(pod)))


def test_an_update_that_leaves_enough_is_nothing_to_it() -> None:
    model, pod, on, change = in_flight("1.38.0-beta.0", "NodeResourcesFit")
    queue = model.part("queue")
    (size,) = [kind for kind in queue.universe[NodeUpdate] if kind.name == "NodeAllocatableChange"]
    model.do(lambda: queue.move_all(size.event, about=NodeChange(change.old, change.old)))
    model.do(lambda: queue.requeue(pod, PodCopy(nominated=on["n1"])))
    assert model.get(lambda: queue.sub_queue[pod]) is PARKED
