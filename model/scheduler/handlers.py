"""Event handlers (pkg/scheduler/eventhandlers.go, 1.19): how watch events reach the queue and the cache.

A handler works on one event at a time. Where it makes two locked calls, it makes two steps, and `busy`
says that it is between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..environment.objects import Node, Pod, PodObject
from ..environment.watch import Handler
from ..language import Component, Expr, boolean, otherwise, require, step, when
from .events import ASSIGNED_POD_DELETE, NODE_ADD

if TYPE_CHECKING:
    from ..environment.watch import NodeWatch, PodWatch
    from .cache import Cache
    from .queue import PriorityQueue


class EventHandlers(Component):
    """The handlers for unassigned pods (queue), assigned pods (cache) and nodes."""

    pod_watch: PodWatch
    node_watch: NodeWatch
    queue: PriorityQueue
    cache: Cache

    queue_busy = boolean()
    cache_busy = boolean()
    node_busy = boolean()

    # --- unassigned pods -----------------------------------------------------------------------------

    def skips_update(self, pod: Pod, new: PodObject) -> Expr:
        """skipPodUpdate: the pod is assumed, and nothing that matters differs from the assumed copy."""
        return self.cache.is_assumed(pod) & self.cache.copy[pod].same_as(new.copy())

    @step(actor="queue handler")
    def handle_for_queue(self, pod: Pod) -> None:
        """The queue's handler takes its next event: an unassigned pod was added, changed, or is so no more."""
        require(~self.queue_busy)
        old, new = self.pod_watch.take(Handler.QUEUE, pod)
        update = old.pending & new.pending
        with when(update & ~self.skips_update(pod, new)):
            self.queue_busy = True
        with otherwise():
            with when(new.pending & ~old.pending):
                self.queue.add(pod, new)
            with otherwise(~new.pending):
                self.queue.delete(pod)
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
            self.node_busy = True
        with otherwise():
            self.cache.remove_node(node)
            self.node_watch.processed()

    @step(actor="node handler")
    def wake_queue_for_node(self, node: Node) -> None:
        """After the cache, the queue: a new node wakes every parked pod."""
        require(self.node_busy)
        self.node_watch.take(node)
        self.queue.move_all(NODE_ADD)
        self.node_busy = False
        self.node_watch.processed()
