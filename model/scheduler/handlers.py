"""Event handlers (pkg/scheduler/eventhandlers.go, 1.22): how watch events reach the queue and the cache.

A handler works on one event at a time. Where it makes two locked calls, it makes two steps, and `busy`
says that it is between them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..environment.extension_points import ExtensionPoint
from ..environment.objects import Node, Pod, PodObject
from ..environment.watch import Handler
from ..language import Component, Expr, Value, as_expr, boolean, otherwise, per, require, step, when
from .events import ASSIGNED_POD_DELETE, NODE_ADD
from .placement import Placement

if TYPE_CHECKING:
    from ..environment.watch import NodeWatch, PodWatch
    from .cache import Cache
    from .cycle import Scheduler
    from .filters import Filters
    from .queue import PriorityQueue
    from .waiting import WaitingPods


class EventHandlers(Component):
    """The handlers for unassigned pods (queue), assigned pods (cache) and nodes.

    `admitted` says, while the node handler is between its two steps, which pods the new node would admit.
    """

    pod_watch: PodWatch
    node_watch: NodeWatch
    queue: PriorityQueue
    cache: Cache
    filters: Filters
    scheduler: Scheduler
    waiting: WaitingPods

    queue_busy = boolean()
    queue_rejecting = boolean()
    queue_waking = boolean()
    cache_busy = boolean()
    node_busy = boolean()
    admitted = per(Pod, boolean())

    # --- unassigned pods -----------------------------------------------------------------------------

    def skips_update(self, pod: Pod, new: PodObject) -> Expr:
        """Updates of an assumed pod are dropped."""
        return self.cache.is_assumed(pod)

    @step(actor="queue handler")
    def handle_for_queue(self, pod: Pod) -> None:
        """The queue's handler takes its next event: an unassigned pod was added, changed, or is so no more."""
        require(~self.queue_busy & ~self.queue_rejecting & ~self.queue_waking)
        old, new = self.pod_watch.take(Handler.QUEUE, pod)
        update = old.pending & new.pending
        with when(update & ~self.skips_update(pod, new)):
            self.queue_busy = True
        with otherwise():
            with when(new.pending & ~old.pending):
                self.queue.add(pod, new)
            with otherwise(~new.pending):
                self.queue.delete(pod)
            with when(new.pending | ~self.rejects_waiting(pod)):
                self.pod_watch.processed(Handler.QUEUE, pod, new)
            with otherwise():
                self.queue_rejecting = True

    def rejects_waiting(self, pod: Pod) -> Expr:
        """Whether a pod that leaves the queue's handler may wait for permission."""
        return as_expr(ExtensionPoint.PERMIT in self.scheduler.extension_points(pod))

    @step(actor="queue handler")
    def reject_waiting(self, pod: Pod) -> None:
        """deletePodFromSchedulingQueue goes on: RejectWaitingPod, for a pod that waits for permission."""
        if ExtensionPoint.PERMIT not in pod.extension_points:
            require(False)
        require(self.queue_rejecting)
        _, new = self.pod_watch.take(Handler.QUEUE, pod)
        waited = self.waiting.holds(pod)
        self.waiting.reject(pod)
        self.queue_rejecting = False
        with when(waited & self.rejection_wakes()):
            self.queue_waking = True
        with otherwise():
            self.pod_watch.processed(Handler.QUEUE, pod, new)

    def rejection_wakes(self) -> Expr:
        """Whether the parked pods are moved when a pod that waits for permission is rejected because it is gone."""
        return as_expr(True)

    @step(actor="queue handler")
    def wake_queue_after_rejection(self, pod: Pod) -> None:
        """The pod that was rejected had room on a node: the parked pods are moved, as after a deletion."""
        if ExtensionPoint.PERMIT not in pod.extension_points:
            require(False)
        require(self.queue_waking)
        _, new = self.pod_watch.take(Handler.QUEUE, pod)
        self.queue.move_all(ASSIGNED_POD_DELETE)
        self.queue_waking = False
        self.pod_watch.processed(Handler.QUEUE, pod, new)

    @step(actor="queue handler")
    def update_queue(self, pod: Pod) -> None:
        """updatePodInSchedulingQueue goes on: queue.Update."""
        require(self.queue_busy)
        old, new = self.pod_watch.take(Handler.QUEUE, pod)
        self.queue.update(pod, old, new)
        self.queue_busy = False
        self.pod_watch.processed(Handler.QUEUE, pod, new)

    # --- assigned pods ---------------------------------------------------------------------------------

    @step(actor="cache handler")
    def handle_for_cache(self, pod: Pod) -> None:
        """The cache's handler takes its next event: an assigned pod was added, changed or deleted."""
        require(~self.cache_busy)
        old, new = self.pod_watch.take(Handler.CACHE, pod)
        with when(new.assigned & ~old.assigned):
            self.cache.add_pod(pod, new)
        with otherwise(new.assigned):
            self.cache.update_pod(pod, new)
        with otherwise():
            self.cache.remove_pod(pod)
        self.cache_busy = True

    @step(actor="cache handler")
    def wake_queue(self, pod: Pod) -> None:
        """After the cache, the queue: a deleted pod wakes every parked pod, another those that asked for it."""
        require(self.cache_busy)
        _, new = self.pod_watch.take(Handler.CACHE, pod)
        with when(new.assigned):
            self.queue.move_matching(pod)
        with otherwise():
            self.queue.move_all(ASSIGNED_POD_DELETE)
        self.cache_busy = False
        self.pod_watch.processed(Handler.CACHE, pod, new)

    # --- nodes -----------------------------------------------------------------------------------------

    @step(actor="node handler")
    def handle_node(self, node: Node) -> None:
        """The node handler takes its next event; a deleted node wakes nobody."""
        require(~self.node_busy)
        event = self.node_watch.take(node)
        with when(event.exists):
            self.cache.add_node(node)
            self.check_admission(node)
            self.node_busy = True
        with otherwise():
            self.cache.remove_node(node)
            self.node_watch.processed()

    @step(actor="node handler")
    def wake_queue_for_node(self, node: Node) -> None:
        """After the cache, the queue: a new node wakes the parked pods that it would admit."""
        require(self.node_busy)
        self.node_watch.take(node)
        self.queue.move_all(NODE_ADD, self.admissible())
        self.node_busy = False
        self.node_watch.processed()
        for pod in self.universe[Pod]:
            self.admitted[pod] = False

    def check_admission(self, node: Node) -> None:
        """preCheckForNode, on the NodeInfo as AddNode leaves it."""
        nodes = self.universe[Node]
        cached = Placement(
            {pod: {n: self.cache.on(pod, n) for n in nodes} for pod in self.universe[Pod]},
            {n: self.cache.live[n] for n in nodes},
        )
        for pod in self.universe[Pod]:
            self.admitted[pod] = self.filters.admits(pod, node, cached)

    def admissible(self) -> Mapping[Pod, Value] | None:
        """The pods that the new node would admit; None for all."""
        return {pod: self.admitted[pod] for pod in self.universe[Pod]}
