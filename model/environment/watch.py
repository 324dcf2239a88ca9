"""Watches and informers: one watch per kind, so events of one kind arrive in the order of the writes.

The informer's store (what listers read) runs ahead of the handlers. Pod events reach the scheduler
through one handler, in the order of the writes; here it has two halves, one feeding the queue (unassigned pods) and one
feeding the cache (assigned pods), that take turns. Up to 1.34 they were two filtering handlers, each in order and
independent of the other (client-go shared informers; one goroutine per handler).
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Protocol

from ..language import (
    Channel,
    Component,
    Expr,
    Knowledge,
    Lasts,
    Reader,
    Record,
    Value,
    Words,
    any_of,
    as_expr,
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
    tells,
    when,
)
from .api import APIServer
from .cluster.node_versions import NodeVersion
from .faults import Fault, Faults
from .names import found_by_name
from .objects import EXISTS, Node, Pod, PodObject, Scope, facts_of_pods


class Handler(Enum):
    """The two halves of the event handler on the pod informer."""

    QUEUE = 0
    CACHE = 1


class PodEvent(Record):
    """One event of the pod watch: the pod, its object after the write, and whose filters let it pass."""

    pod = ref(Pod)
    object = record(PodObject)
    for_queue = boolean()
    for_cache = boolean()

    def relevant(self, handler: Handler) -> Expr:
        """Whether the event passes the handler's filter."""
        return as_expr(self.for_queue if handler is Handler.QUEUE else self.for_cache)


class NodeEvent(Record):
    """One event of the node watch."""

    node = ref(Node)
    exists = boolean()
    version = ref(NodeVersion)


def pod_backlog(scope: Scope) -> int:
    """Capacity of the pod watch: what the scope says, and at least what one list gives."""
    return max(scope.pod_events, scope.facts.listed_pods)


def node_backlog(scope: Scope) -> int:
    """Capacity of the node watch, by the same rule."""
    return max(scope.node_events, scope.facts.listed_nodes)


class PodWatch(Component):
    """The pod watch: events that some handler has not handled, the lister, and what each handler saw last.

    `log` holds the events that some handler has still to process. The first `listed` of them are in the
    informer's store. `next[h]` is the position of the next event that passes the filter of handler h, or
    the length of the log if there is none: a handler passes over what its filter hides without a step,
    because nobody could tell when it did. `seen[h]` is the last object that h was given, zero if
    the object no longer passes its filter.

    A handler can only be given what is in the store; when it takes an event that is not, the store receives
    everything up to that event in the same step. The step `store` lets listers run further ahead.

    `stalled`: the connection is silent without being closed. The store receives nothing more, until the informer lists all pods.
    """

    api: APIServer
    faults: Faults

    log = fifo(pod_backlog, PodEvent)
    listed = integer(0, pod_backlog)
    next = per(Handler, integer(0, pod_backlog))
    lister = per(Pod, PodObject)
    seen = per(Handler, per(Pod, PodObject))
    stalled = boolean()

    phrases = {
        "stalled": Words("the pod watch has stalled", "the pod watch delivers events again"),
        "lister.exists": Words("lister: {0} exists", "lister: {0} is gone"),
        "lister.node": Words("lister: {0} is bound to {after}"),
        "lister.nominated": Words("lister: {0} is nominated to {after}"),
        "lister.failed": Words("lister: {0} has PodScheduled=False"),
        "lister.terminating": Words("lister: {0} is being deleted"),
        "lister.gated": Words("lister: {0} has scheduling gates", "lister: {0} has no scheduling gates"),
    }
    knowledge = (Knowledge("lister", facts_of_pods("lister")),)
    channels = (Channel("pod watch", "log", "pod", (Reader("the lister", "pod_watch.listed"),)),)

    def setup(self) -> None:
        for pod in self.universe[Pod]:
            start = self.api.at_start(pod)
            self.lister[pod] = start
            if pod.exists and not (pod.foreign and pod.node is None):
                self.seen[Handler.QUEUE if pod.node is None else Handler.CACHE][pod] = start

    def publish(self, pod: Pod, old: PodObject, new: PodObject) -> None:
        """The API server publishes a write; `old` is the object before it. A stalled watch does not receive the event."""
        if not self.scope.watch_stalls:
            self.append(pod, old, new, most=self.scope.pod_events)
            return
        with when(~as_expr(self.stalled)):
            self.append(pod, old, new, most=self.scope.pod_events)

    def append(
        self, pod: Pod, old: PodObject, new: PodObject, for_all: Value = False, most: int | None = None
    ) -> None:
        """Adds an event for the informer. `for_all`: no filter hides it. `most`: a limit of waiting events that is lower than the log's length."""
        relevant = {h: self.passes(h, pod, old) | self.passes(h, pod, new) | for_all for h in Handler}
        length = self.log.length
        for handler in Handler:
            idle = self.next[handler] == length
            with when(idle & ~relevant[handler]):
                self.next[handler] = clamp(length + 1, 0, self.log.capacity)
        self.log.push(
            PodEvent(
                pod=pod, object=new, for_queue=relevant[Handler.QUEUE], for_cache=relevant[Handler.CACHE]
            ),
            most,
        )

    def passes(self, handler: Handler, pod: Pod, shown: PodObject) -> Expr:
        """Whether the handler's filter accepts this object of the pod. The queue's filter also checks the pod's scheduler name (responsibleForPod)."""
        if pod.foreign and handler is Handler.QUEUE:
            return as_expr(False)
        return passes(handler, shown)

    def under_name(self, pod: Pod) -> PodObject:
        """What the lister's Get returns for the pod's name. It can be another pod with this name."""
        return found_by_name(self.universe, pod, self.lister)

    @step(actor="pod informer", lasts=Lasts.SHORT)
    @tells("The informer's store receives the next event, about {pod}: listers see it from now on.")
    def store(self, pod: Pod) -> None:
        """The next event of the pod watch reaches the informer's store, so that listers see it."""
        require(any_of((self.listed == i) & (self.log.entry(i).pod == pod) for i in range(self.log.capacity)))
        self._store_up_to(self.listed)

    @step(actor="pod informer", fair=False)
    @tells("The pod watch stalls: the informer's store receives no more events.")
    def stall(self) -> None:
        """The watch is interrupted: undelivered events are lost, and none follows until the informer lists all pods."""
        _stall(self)

    def _store_up_to(self, position: Expr) -> None:
        listed = self.listed
        if self.scope.watch_stalls:
            require(~as_expr(self.stalled) | (position < listed))
        for i in range(self.log.capacity):
            event = self.log.entry(i)
            with when((listed <= i) & (position >= i)):
                for pod in self.universe[Pod]:
                    with when(event.pod == pod):
                        self.lister[pod] = event.object
                self.listed = i + 1

    def take(self, handler: Handler, pod: Pod) -> tuple[Any, Any]:
        """A handler's next event, as the old and the new object. Requires that the event is about `pod`."""
        require(self.is_turn(handler))
        position = self.next[handler]
        here = [(position == i, self.log.entry(i)) for i in range(self.log.capacity)]
        require(any_of(at & (event.pod == pod) for at, event in here))
        new = PodObject()
        for at, event in here:
            new = Record.choose(at, event.object, new)
        self._store_up_to(position)
        return self.seen[handler][pod], new

    def is_turn(self, handler: Handler) -> Expr:
        """Whether the handler's goroutine calls this handler now: the cache's handler gets each event first, then the queue's."""
        queue, cache = self.next[Handler.QUEUE], self.next[Handler.CACHE]
        first: Expr = queue < cache
        return first if handler is Handler.QUEUE else ~first

    def processed(self, handler: Handler, pod: Pod, new: PodObject) -> None:
        """The handler has finished its event. Events that no handler needs are dropped."""
        self.seen[handler][pod] = Record.choose(self.passes(handler, pod, new), new, PodObject())
        following = self.log.length
        for i in reversed(range(self.log.capacity)):
            waiting = (self.next[handler] < i) & self.log.entry(i).relevant(handler)
            following = select(waiting, i, following)
        self.next[handler] = following
        done = smallest(self.next[Handler.QUEUE], self.next[Handler.CACHE])
        self.log.drop(done)
        for h in Handler:
            self.next[h] = clamp(self.next[h] - done, 0, self.log.capacity)
        self.listed = clamp(self.listed - done, 0, self.log.capacity)

    @step(actor="pod informer", fair=False)
    @tells("The pod watch was interrupted: the informer sees only the result of the missed events.")
    def resume(self) -> None:
        """The watch was interrupted, and the informer lists all pods: of what it missed it sees the outcome only.

        A pod that is gone gives a deletion whose last state is unknown: it carries the object that the store had. Of deletions, as of other
        events, the scenario's order is taken; upstream's is that of a Go map, and of the list (client-go's RealFIFO.Replace).
        """
        _interrupt(self)
        for handler in Handler:
            self.next[handler] = 0
        for gone in _in_order(self):
            for pod in self.universe[Pod]:
                stored, current = self.lister[pod], self.api.pod[pod]
                told = ~current.exists if gone else as_expr(current.exists)
                with when(~stored.same_as(current) & told & ~self.is_hidden(pod)):
                    self.append(pod, self.replaced(pod), current, gone and self.tombstones_for_all())

    def is_hidden(self, pod: Pod) -> Expr:
        """Whether the list hides that the pod is gone, because another pod has its name. The deletion is delivered nevertheless (updatePod, 141255)."""
        return as_expr(False)

    def replaced(self, pod: Pod) -> PodObject:
        """The store's object of a pod for which a list shows a change."""
        return self.lister[pod]

    def deletions_first(self) -> bool:
        """Whether the handlers get the deletions of missing pods before the pods that are listed."""
        return True

    def tombstones_for_all(self) -> Expr:
        """Whether a deletion with an unknown last state is delivered to both handlers, whatever its object says."""
        return as_expr(True)

    def relist(self, handled: bool) -> None:
        """A new informer lists all pods. The store has them immediately; the handlers, too, if the scheduler waits for their initial list.

        Otherwise each object is an event that the handlers have still to be given.
        """
        self.reset()
        for pod in self.universe[Pod]:
            current = self.api.pod[pod]
            self.lister[pod] = current
            if handled:
                for handler in Handler:
                    shown = self.passes(handler, pod, current)
                    self.seen[handler][pod] = Record.choose(shown, current, PodObject())
            else:
                with when(current.exists):
                    self.append(pod, PodObject(), current)
        self.listed = self.log.length


def passes(handler: Handler, pod: PodObject) -> Expr:
    """Whether a handler's filter lets an object pass: pending pods for the queue, assigned ones for the cache."""
    return pod.pending if handler is Handler.QUEUE else pod.assigned


def _stall(watch: PodWatch | NodeWatch) -> None:
    require(bool(watch.scope.watch_stalls))
    watch.faults.spend(Fault.WATCH_STALL)
    require(~as_expr(watch.stalled))
    watch.stalled = True


def _interrupt(watch: PodWatch | NodeWatch) -> None:
    require(bool(watch.scope.relists))
    watch.faults.spend(Fault.RELIST)
    require((watch.listed == 0) & ((watch.log.length > 0) | as_expr(watch.stalled)))
    watch.stalled = False
    watch.log.drop(watch.log.length)


def _in_order(watch: PodWatch | NodeWatch) -> tuple[bool, bool]:
    """Of the objects that a list does not show any more (True) and those that it shows (False): those of which the handlers are notified first come first."""
    return (True, False) if watch.deletions_first() else (False, True)


class CachesNodes(Protocol):
    """What the handler of nodes keeps: which exist, and in which version."""

    live: Any
    node_version: Any


class NodeWatch(Component):
    """The node watch: undelivered events, the lister, and the node that the handler is working on. `stalled`: as for the pod watch."""

    api: APIServer
    faults: Faults
    cache: CachesNodes

    log = fifo(node_backlog, NodeEvent)
    listed = integer(0, node_backlog)
    lister = per(Node, boolean())
    stalled = boolean()

    phrases = {
        "lister": Words("lister: node {0} exists", "lister: node {0} is gone"),
        "stalled": Words("the node watch has stalled", "the node watch delivers events again"),
    }
    knowledge = (Knowledge("lister", {"lister": EXISTS}),)
    channels = (Channel("node watch", "log", "node", (Reader("the lister", "node_watch.listed"),)),)

    def setup(self) -> None:
        for node in self.universe[Node]:
            self.lister[node] = node.exists

    def publish(self, node: Node, exists: Value, version: Value = None) -> None:
        """The API server publishes a write. A stalled watch does not receive the event."""
        event = NodeEvent(node=node, exists=exists, version=version)
        if not self.scope.watch_stalls:
            self.log.push(event, self.scope.node_events)
            return
        with when(~as_expr(self.stalled)):
            self.log.push(event, self.scope.node_events)

    @step(actor="node informer", fair=False)
    @tells("The node watch stalls: the informer's store receives no more events.")
    def stall(self) -> None:
        """The watch is interrupted: undelivered events are lost, and none follows until the informer lists all nodes."""
        _stall(self)

    @step(actor="node informer", fair=False)
    @tells("The node watch was interrupted: the informer sees only the result of the missed events.")
    def resume(self) -> None:
        """The watch was interrupted, and the informer lists all nodes (see PodWatch.resume).

        A node that was deleted and created again is updated for the informer, and so is one that was updated several times. The handler is through with
        all that the store has, so that what it put into the cache is the old object. A node that is as the cache has it makes no event here: its Update
        changes nothing.
        """
        _interrupt(self)
        for gone in _in_order(self):
            for node in self.universe[Node]:
                exists, version = as_expr(self.api.node_exists[node]), self.api.node_version[node]
                cached = (self.cache.live[node] == exists) & (self.cache.node_version[node] == version)
                told = ~exists if gone else exists
                with when(told & ~(cached & (self.lister[node] == exists))):
                    shown = self.api.first_version(node) if gone else version
                    self.log.push(NodeEvent(node=node, exists=exists, version=shown))

    def deletions_first(self) -> bool:
        """As for the pod watch."""
        return True

    @step(actor="node informer", lasts=Lasts.SHORT)
    @tells("The informer's store receives the next event, about node {node}.")
    def store(self, node: Node) -> None:
        """The next event of the node watch reaches the informer's store."""
        if self.scope.watch_stalls:
            require(~as_expr(self.stalled))
        require(
            any_of((self.listed == i) & (self.log.entry(i).node == node) for i in range(self.log.capacity))
        )
        for i in range(self.log.capacity):
            with when(self.listed == i):
                self.lister[node] = self.log.entry(i).exists
        self.listed = clamp(self.listed + 1, 0, self.log.capacity)

    def take(self, node: Node) -> Any:
        """The handler's next event, which is in the store from now on. Requires that the event is about `node`."""
        event = self.log.head
        require(event.node == node)
        if self.scope.watch_stalls:
            require(~as_expr(self.stalled) | (self.listed > 0))
        with when(self.listed == 0):
            self.lister[node] = event.exists
            self.listed = 1
        return event

    def processed(self) -> None:
        """The handler has finished its event."""
        self.log.pop()
        self.listed = clamp(self.listed - 1, 0, self.log.capacity)

    def relist(self, handled: bool) -> None:
        """A new informer lists all nodes (see PodWatch.relist)."""
        self.reset()
        for node in self.universe[Node]:
            self.lister[node] = self.api.node_exists[node]
            if not handled:
                with when(self.api.node_exists[node]):
                    self.log.push(NodeEvent(node=node, exists=True, version=self.api.node_version[node]))
        self.listed = self.log.length
