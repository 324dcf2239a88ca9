"""Properties of the scheduler's views: the cache against the events that were handled, the snapshot against the cache."""

from collections.abc import Iterator
from functools import partial

from ...model.environment.faults import Fault
from ...model.environment.objects import Node
from ...model.language import Expr, all_of, any_of, as_expr, before, boolean, per, when
from ...model.scheduler.framework.status import Phase
from ..base.property import Property


class CacheFollowsNodeEvents(Property):
    """A node is live in the cache if and only if the last event that the cache has handled for it is not its deletion."""

    id = "S-CACHE"
    consequence = "The scheduler sees a node that is gone, or does not see one that exists. Pods fail to bind, or stay Pending although a node is empty, until the next event of this node."
    issues = (56261,)

    handled = per(Node, boolean())
    # Whether a deletion was handled, where the nodes themselves do not tell: see `_remembers`.
    removed = boolean()

    def setup(self) -> None:
        for node in self.nodes:
            self.handled[node] = node.exists

    def observe(self) -> None:
        for node in self.nodes:
            head = self.node_watch.log.head
            started = ~before(lambda: self.handlers.node_busy) & self.handlers.node_busy
            added = started & (head.node == node)
            with when(added):
                self.handled[node] = True
            with when(self._removed(node)):
                self.handled[node] = False
                if self._remembers():
                    self.removed = True
            with when(self._started_anew()):
                self.handled[node] = self.cache.live[node]

    def _remembers(self) -> bool:
        """Whether a node may count as not there although no deletion of it was handled: it joins later, or another process found it gone."""
        anew = self.scope.restarts or self.scope.leader_changes or self.handlers.ends()
        return bool(anew) or not all(node.exists for node in self.nodes)

    def _started_anew(self) -> Expr:
        """Whether another process has taken over in this step: what was handled before is nothing to it."""
        ended = zip(self.handlers.ends(), before(self.handlers.ends), strict=True)
        return self._struck(Fault.RESTART, Fault.LEADER_CHANGE) | any_of(now & ~then for now, then in ended)

    def _struck(self, *kinds: Fault) -> Expr:
        """Whether this step is one of these faults."""
        return any_of(
            self.process.faults.left[k] < before(partial(self._left, k))
            for k in kinds
            if getattr(self.scope, k.value)
        )

    def _left(self, kind: Fault) -> Expr:
        return self.process.faults.left[kind]

    def _removed(self, node: Node) -> Expr:
        """Whether this step handled the deletion of the node: its event left the log without a second step, and was not lost."""

        def first(exists: bool) -> Expr:
            log = self.node_watch.log
            return (log.length > 0) & (log.head.node == node) & (log.head.exists == exists)

        shorter = self.node_watch.log.length < before(lambda: self.node_watch.log.length)
        return shorter & before(lambda: first(False)) & ~self._struck(Fault.RELIST)

    def holds(self) -> Expr:
        return all_of(self.cache.live[n] == self.handled[n] for n in self.nodes)

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for n in self.nodes:
            has = as_expr(self.cache.live[n])
            yield f"The cache has {n.name}, whose deletion its handler was told", has & ~self.handled[n]
            yield f"The cache does not have {n.name}, of which its handler was told", ~has & self.handled[n]

    def witnesses(self) -> dict[str, Expr]:
        handled = self.removed if self._remembers() else any_of(~self.handled[n] for n in self.nodes)
        return {"the deletion of a node is handled": as_expr(handled)}


class SnapshotIsTheCache(Property):
    """When a scheduling cycle begins to filter, it considers exactly the live nodes of its snapshot."""

    id = "S-SNAP"
    consequence = "An attempt skips a live node, or tries a deleted one. The pod may become Unschedulable although a node has room, and waits for its next attempt."
    issues = (95124, 86919)

    def is_filtering(self) -> Expr:
        """Whether a cycle has its snapshot and has nothing concluded."""
        phases = (Phase.FILTERING, Phase.FILTERING_NOMINATED)
        return any_of(self.scheduler.phase == phase for phase in phases)

    def holds(self) -> Expr:
        same = all_of(self.snapshot.listed[n] == self.snapshot.live[n] for n in self.nodes)
        return ~self.is_filtering() | same

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for n in self.nodes:
            differs = self.is_filtering() & (self.snapshot.listed[n] != self.snapshot.live[n])
            yield f"The cycle filters, and its snapshot and the list of its nodes differ on {n.name}", differs

    def witnesses(self) -> dict[str, Expr]:
        changed = any_of(~self.cache.live[n] for n in self.nodes)
        return {"a cycle filters while a node is gone": self.is_filtering() & changed}
