"""Watches and informers: one watch per kind, so events of one kind arrive in the order of the writes.

The informer's store (what listers read) runs ahead of the handlers. Pod events reach the scheduler
through two filtering handlers, one feeding the queue (unassigned pods) and one feeding the cache (assigned pods),
each in order and independent of the other (client-go shared informers; one goroutine per handler).
"""

from __future__ import annotations

from enum import Enum
from typing import Any, TYPE_CHECKING

from ..language import (
    Component,
    Expr,
    Record,
    Value,
    boolean,
    clamp,
    fifo,
    integer,
    per,
    record,
    ref,
    require,
    select,
    smallest,
    step,
    when,
)
from .objects import Node, Pod, PodObject, Scope

if TYPE_CHECKING:
    from .api import APIServer


class Handler(Enum):
    """The two event handlers on the pod informer."""

    QUEUE = 0
    CACHE = 1


class PodEvent(Record):
    """One event of the pod watch: the pod and its object after the write."""

    pod = ref(Pod)
    object = record(PodObject)


class NodeEvent(Record):
    """One event of the node watch."""

    node = ref(Node)
    exists = boolean()


def pod_backlog(scope: Scope) -> int:
    """Capacity of the pod watch."""
    return scope.pod_events


def node_backlog(scope: Scope) -> int:
    """Capacity of the node watch."""
    return scope.node_events


class PodWatch(Component):
    """The pod watch: events not yet seen by everyone, the lister, and what each handler last saw.

    `log` holds the events that some handler has not processed. The first `listed` of them are in the
    informer's store; the first `done[h]` have been processed by handler h.
    """

    log = fifo(pod_backlog, PodEvent)
    listed = integer(0, lambda scope: scope.pod_events)
    done = per(Handler, integer(0, lambda scope: scope.pod_events))
    lister = per(Pod, PodObject)
    seen = per(Handler, per(Pod, PodObject))

    def setup(self) -> None:
        for pod in self.universe[Pod]:
            start = PodObject(exists=pod.exists, node=pod.node)
            self.lister[pod] = start
            for handler in Handler:
                self.seen[handler][pod] = start

    def publish(self, pod: Pod, new: PodObject) -> None:
        """The API server appends an event."""
        self.log.push(PodEvent(pod=pod, object=new))

    @step(actor="pod informer")
    def store(self, pod: Pod) -> None:
        """The next event of the pod watch reaches the informer's store: listers see it from here on."""
        event = self._entry(self.listed)
        require(event.pod == pod)
        self.lister[pod] = event.object
        self.listed = clamp(self.listed + 1, 0, self.log.capacity)

    def _entry(self, position: Expr) -> Any:
        found = self.log.entry(self.log.capacity - 1)
        found = PodEvent(pod=select(position < self.log.capacity, found.pod, None), object=found.object)
        for i in reversed(range(self.log.capacity - 1)):
            here = self.log.entry(i)
            found = PodEvent(
                pod=select(position == i, here.pod, found.pod),
                object=Record.choose(position == i, here.object, found.object),
            )
        return found

    def next_for(self, handler: Handler, pod: Pod) -> Any:
        """The object in the next event of `handler`; requires that it is about `pod` and in the store."""
        require(self.done[handler] < self.listed)
        event = self._entry(self.done[handler])
        require(event.pod == pod)
        return event.object

    def processed(self, handler: Handler, pod: Pod) -> None:
        """The handler is through with its next event; events that both have processed are forgotten."""
        self.seen[handler][pod] = self._entry(self.done[handler]).object
        self.done[handler] = clamp(self.done[handler] + 1, 0, self.log.capacity)
        passed = smallest(self.done[Handler.QUEUE], self.done[Handler.CACHE]) > 0
        with when(passed):
            self.log.pop()
            self.listed = clamp(self.listed - 1, 0, self.log.capacity)
            for h in Handler:
                self.done[h] = clamp(self.done[h] - 1, 0, self.log.capacity)


class NodeWatch(Component):
    """The node watch: undelivered events, the lister, and the node that the handler is busy with."""

    api: APIServer

    log = fifo(node_backlog, NodeEvent)
    listed = integer(0, lambda scope: scope.node_events)
    lister = per(Node, boolean())

    def setup(self) -> None:
        for node in self.universe[Node]:
            self.lister[node] = node.exists

    def publish(self, node: Node, exists: Value) -> None:
        """The API server appends an event."""
        self.log.push(NodeEvent(node=node, exists=exists))

    @step(actor="node informer")
    def store(self, node: Node) -> None:
        """The next event of the node watch reaches the informer's store."""
        for i in range(self.log.capacity):
            with when(self.listed == i):
                require(self.log.entry(i).node == node)
                self.lister[node] = self.log.entry(i).exists
        require(self.listed < self.log.length)
        self.listed = clamp(self.listed + 1, 0, self.log.capacity)

    def next_event(self, node: Node) -> Any:
        """The next event for the handler; requires that it is about `node` and in the store."""
        require(self.listed > 0)
        require(self.log.head.node == node)
        return self.log.head

    def processed(self) -> None:
        """The handler is through with its event."""
        self.log.pop()
        self.listed = clamp(self.listed - 1, 0, self.log.capacity)
