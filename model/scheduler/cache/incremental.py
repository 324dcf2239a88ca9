"""The snapshot as upstream keeps it up to date: only what changed since the last one (UpdateSnapshot in backend/cache/cache.go, 1.34).

Explored clusters take a full copy, which needs no memory between cycles. Both give a cycle the same view:
`agrees` holds after every update, whatever came before it (tests try that). Composed in like a change, this class
lets one explore the update itself, and what was wrong with it.
"""

from ...environment.cluster.footprint import UsedPort
from ...environment.cluster.pod_versions import PodVersion
from ...environment.objects import Node, Pod
from ...language import UNTOLD, Expr, all_of, any_of, as_expr, boolean, count, per, when
from .node_info import NodeInfos
from .node_tree import NodeTree
from .snapshot import Snapshot, SnapshotPod


class IncrementalSnapshot(Snapshot):
    """`live` is nodeInfoMap, `listed` and `before` are nodeInfoList; NodeInfos hold their pods node by node."""

    node_infos: NodeInfos
    node_tree: NodeTree

    holds = per(Node, per(Pod, boolean()))
    before = per(Node, per(Node, boolean()))  # nodeInfoList has the first before the second

    phrases = UNTOLD

    def update(self) -> Expr:
        new_nodes = self._copy_changed()
        stale = self.map_size > self.expected_size()
        for node in self.universe[Node]:
            with when(stale & self.is_gone(node)):
                self.live[node] = False
                for pod in self.universe[Pod]:
                    self.holds[node][pod] = False
                self.drop_ports(node)
        self.count_users()
        return self.renew_list(new_nodes | stale)

    def renew_list(self, changed: Expr) -> Expr:
        """Make the list of nodes anew if they have changed, and once more if it is not as long as the tree: that is an error."""
        with when(changed):
            self.list_nodes()
        inconsistent = self.length != self.node_tree.size
        with when(inconsistent):
            self.list_nodes()
        return inconsistent

    @property
    def length(self) -> Expr:
        """How long the list of nodes is."""
        return count(self.listed[n] for n in self.universe[Node])

    @property
    def map_size(self) -> Expr:
        """How many NodeInfos the snapshot has."""
        return count(self.live[n] for n in self.universe[Node])

    def expected_size(self) -> Expr:
        """More NodeInfos than this, and some of them are of nodes that are gone."""
        return self.node_tree.size

    def is_gone(self, node: Node) -> Expr:
        """Whether a NodeInfo may be taken out of the snapshot: its node is no longer in the cache."""
        return ~self.cache.live[node]

    def _copy_changed(self) -> Expr:
        """Copy every NodeInfo that changed and has a Node object; tell whether one of them is new."""
        new = []
        for node in self.universe[Node]:
            copied = self.node_infos.changed[node] & self.cache.live[node]
            new.append(copied & ~self.live[node])
            with when(copied):
                self.live[node] = True
                self.node_version[node] = self.cache.node_version[node]
                self.copy_ports(node)
                for pod in self.universe[Pod]:
                    on = self.cache.on(pod, node)
                    self.holds[node][pod] = on
                    with when(on):
                        self.pod[pod] = SnapshotPod(node=node, terminating=self.cache.pod[pod].terminating)
                        self.version[pod] = self.node_infos.version[pod]
            self.node_infos.changed[node] = False
        return any_of(new)

    def list_nodes(self) -> None:
        """The tree's nodes in the tree's order, those that the snapshot has."""
        nodes = self.universe[Node]
        for a in nodes:
            self.listed[a] = self.live[a] & self.node_tree.has(a)
            for b in nodes:
                if a is not b:
                    both = self.live[a] & self.live[b]
                    self.before[a][b] = both & self.node_tree.precedes(a, b)

    def clear(self) -> None:
        """The cycle is over; the next one goes on from here."""

    def on(self, pod: Pod, node: Node) -> Expr:
        return self.live[node] & self.holds[node][pod]

    # --- what else it is asked for -----------------------------------------------------------------------

    def index(self, node: Node) -> Expr:
        """The position of a node in the list."""
        return count(self.before[n][node] for n in self.universe[Node] if n is not node)

    def counts(self, version: PodVersion, node: Node) -> Expr:
        """Whether the node is in the list, and its NodeInfo holds the pod in this version."""
        held = self.on(version.pod, node) & (self.version[version.pod] == version)
        return self.listed[node] & held

    def has_affinity(self, node: Node) -> Expr:
        """HavePodsWithAffinityList: whether it has the node."""
        return any_of(self.counts(v, node) for v in self.universe[PodVersion] if v.footprint.affinity)

    def uses_claim(self, claim: str) -> Expr:
        """IsPVCUsedByPods."""
        users = [v for v in self.universe[PodVersion] if claim in v.footprint.claims]
        return any_of(self.counts(v, n) for v in users for n in self.universe[Node])

    def agrees(self) -> Expr:
        """Whether the snapshot is the cache as it is now: live nodes, the list of them, their pods and host ports.

        The order of the list may lag: it is made anew only when nodes come or go.
        """
        same = []
        for node in self.universe[Node]:
            live = self.cache.live[node]
            same += [self.live[node] == live, self.listed[node] == self.node_tree.has(node)]
            for pod in self.universe[Pod]:
                here = self.on(pod, node)
                version = self.version[pod] == self.node_infos.version[pod]
                same += [here == (live & self.cache.on(pod, node)), ~here | version]
            for port in self.universe[UsedPort]:
                same.append(~live | (self.port[node][port] == self.node_infos.port[node][port]))
        return all_of(as_expr(s) for s in same)
