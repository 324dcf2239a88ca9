"""Snapshots of releases in which it makes a difference that the snapshot is kept between cycles."""

from dataclasses import replace

from ....environment.objects import Node, Pod, Scope
from ....language import Expr
from ....scheduler import IncrementalSnapshot, Snapshot
from ....scheduler.framework.placement import Placement

LIST_IN_SNAPSHOT = "the list of nodes to try is a part of the snapshot"
"""The title of 84014, which is in several files."""


def nodes_come(scope: Scope) -> bool:
    """Whether a node may come in a run."""
    return bool(scope.node_creations or scope.autoscaler)


def nodes_go(scope: Scope) -> bool:
    """Whether a node may go in a run."""
    return bool(scope.node_deletions or scope.scale_downs or scope.autoscaler)


class KeptSnapshot(IncrementalSnapshot):
    """Kept up to date where that makes a difference; elsewhere a full copy, which is the same and remembers nothing."""

    def remembers(self) -> bool:
        """Whether it makes a difference."""
        return False

    def reads_list(self) -> bool:
        """Whether PreFilter plugins go through the list of nodes, rather than through all NodeInfos."""
        return True

    def keeps_list(self) -> bool:
        """Whether the list is made anew only when nodes come or go."""
        return True

    def update(self) -> Expr:
        return super().update() if self.remembers() else Snapshot.update(self)

    def list_nodes(self) -> None:
        if self.remembers():
            super().list_nodes()
        else:
            self.read_tree()

    def read_tree(self) -> None:
        """The nodes of the cache's tree, as it is now."""
        Snapshot.list_nodes(self)

    def clear(self) -> None:
        if not self.remembers():
            Snapshot.clear(self)

    def on(self, pod: Pod, node: Node) -> Expr:
        return super().on(pod, node) if self.remembers() else Snapshot.on(self, pod, node)

    def placement(self) -> Placement:
        seen = super().placement()
        if not (self.remembers() and self.reads_list()):
            return seen
        return replace(seen, live={node: live & self.listed[node] for node, live in seen.live.items()})
