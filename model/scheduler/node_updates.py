"""Updates of nodes in the scheduler: updateNodeInCache (eventhandlers.go, 1.36) after the cache has the new object.

The queue is told of each kind of change by itself, one move after the other (NodeSchedulingPropertiesChange in framework/events.go), so that
a scheduling cycle may come between two of them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ..environment.cluster.node_versions import NodeChange, NodeVersion, versions_in
from ..environment.objects import Node, Pod
from ..environment.watch import NodeWatch
from ..language import UNTOLD, Component, Expr, Lasts, Value, as_expr, ref, require, step, tells, when
from .cache.scheduler_cache import Cache
from .framework.events import NodeUpdate
from .queue.moves import Mover
from .queue.scheduling_queue import PriorityQueue


class NodeHandler(Protocol):
    """The node handler, whose event an update is."""

    node_busy: Any

    def check_admission(self, node: Node) -> None:
        """Note which pods the node would admit, where that is asked."""

    def admissible(self) -> Mapping[Pod, Value] | None:
        """The pods that the node would admit; None for all."""

    def end_of_node_event(self) -> None:
        """The handler has finished its event."""


class NodeUpdates(Component):
    """The node handler's moves for an update that are still to come. `old` is the node's version before the update, `kind` the next move's kind."""

    cache: Cache
    queue: PriorityQueue
    handlers: NodeHandler
    node_watch: NodeWatch

    old = ref(NodeVersion)
    kind = ref(NodeUpdate)

    steps_last = Lasts.SHORT

    phrases = UNTOLD

    def is_telling(self) -> Expr:
        """Whether moves for an update are still to come."""
        return self.kind.is_some

    def is_update(self, node: Node) -> Expr:
        """Whether the event updates a node that the handler already knows."""
        if not self.versions(node):
            return as_expr(False)
        return self.cache.live[node]

    def versions(self, node: Node) -> list[NodeVersion]:
        """The versions of a node that has more than one."""
        return versions_in(self.universe, node)

    def begin(self, node: Node, event: Any) -> None:
        """The handler has taken an update event: the cache gets the object, then the queue is notified of the changes."""
        cached = self.cache.node_version[node]
        for old in self.versions(node):
            for new in self.versions(node):
                with when((cached == old) & (event.version == new)):
                    self._update(old, new)

    def _update(self, old: NodeVersion, new: NodeVersion) -> None:
        self.cache.update_version(old, new)
        kinds = self.told_kinds(NodeChange(old.content, new.content))
        if kinds:
            self.handlers.check_admission(new.content)
            self.old, self.kind = old, kinds[0]
            self.handlers.node_busy = True
        else:
            self.node_watch.processed()

    def told_kinds(self, change: NodeChange) -> Sequence[NodeUpdate]:
        """The kinds of change about which the queue is notified, in order. To cordon a node is not one of them."""
        return [kind for kind in self.universe[NodeUpdate] if kind.happens(change)]

    @step(actor="node handler")
    @tells("The node handler wakes parked pods, because of {version}: {kind}.")
    def wake_queue(self, version: NodeVersion, kind: NodeUpdate) -> None:
        """The queue is notified after the cache: the parked pods that can fit because of one kind of change."""
        olds = [v for v in self.versions(version.node) if v is not version]
        changes = {old: NodeChange(old.content, version.content) for old in olds}
        require(any(kind in self.told_kinds(change) for change in changes.values()))
        require(self.handlers.node_busy & (self.kind == kind))
        event = self.node_watch.take(version.node)
        require(event.version == version)
        before = self.old
        for old, change in changes.items():
            kinds = list(self.told_kinds(change))
            if kind in kinds:
                with when(before == old):
                    self.queue.move_all(kind.event, self.handlers.admissible(), about=change)
                    following = kinds[kinds.index(kind) + 1 :]
                    self.kind = following[0] if following else None
        self.queue.moved_by(Mover.NODE_HANDLER)
        with when(~self.is_telling()):
            self.old = None
            self.handlers.end_of_node_event()
