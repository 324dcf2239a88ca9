"""The snapshot that one scheduling cycle works on (backend/cache/snapshot.go, 1.34)."""

from collections.abc import Mapping

from ...environment.cluster.footprint import UsedPort
from ...environment.cluster.node_versions import NodeVersion
from ...environment.cluster.pod_versions import PodVersion
from ...environment.objects import EXISTS, ON_NODE, TERMINATING, Node, Pod
from ...environment.storage.volumes import CountedClaim
from ...language import (
    UNTOLD,
    Component,
    Expr,
    Knowledge,
    Record,
    Value,
    any_of,
    as_expr,
    boolean,
    count,
    per,
    ref,
    when,
)
from ..framework.placement import Placement
from .scheduler_cache import Cache


class SnapshotPod(Record):
    """A pod as the snapshot shows it."""

    node = ref(Node)
    terminating = boolean()


class Snapshot(Component):
    """A copy of the cache's NodeInfos, and the nodes that the cycle tries.

    `hidden[n]`: the node is not in the placement that is assumed. `used[c]` is IsPVCUsedByPods of a claim that one pod only may use, `counted_nodes[c]` are the nodes whose pods were counted for that (see `count_users`).
    All but these nodes is cleared at the end of a cycle: every cycle begins with a new one. Upstream keeps it and copies what changed;
    `IncrementalSnapshot` does the same, and agrees with the full copy.
    """

    cache: Cache

    pod = per(Pod, SnapshotPod)
    live = per(Node, boolean())
    listed = per(Node, boolean())
    node_version = per(Node, ref(NodeVersion))
    version = per(Pod, ref(PodVersion))  # the object that the NodeInfo counts
    port = per(Node, per(UsedPort, boolean()))  # the host ports that the NodeInfo lists
    hidden = per(Node, boolean())
    used = per(CountedClaim, boolean())
    counted_nodes = per(CountedClaim, per(Node, boolean()))

    phrases = UNTOLD
    knowledge = (
        Knowledge(
            "snapshot", {"pod.node": ON_NODE, "pod.terminating": TERMINATING, "live": EXISTS}, fleeting=True
        ),
    )

    def update(self) -> Expr:
        """UpdateSnapshot, under the cache's lock: pods, nodes, and the list of nodes to try.

        Tells whether the result contradicts itself, an error that a full copy never gives.
        """
        for pod in self.universe[Pod]:
            cached = self.cache.pod[pod]
            self.pod[pod] = SnapshotPod(
                node=self.cache.node_of(pod), terminating=self.cache.node_of(pod).is_some & cached.terminating
            )
            self.version[pod] = self.cache.node_infos.version[pod]
        for node in self.universe[Node]:
            self.live[node] = self.cache.live[node]
            self.node_version[node] = self.cache.node_version[node]
            with when(self.cache.live[node]):
                self.copy_ports(node)
        self.list_nodes()
        self.count_users()
        return as_expr(False)

    def count_users(self) -> None:
        """The claims in use (usedPVCRefCounts): the counts of the last snapshot, with the changes that the cache has recorded since (139238).

        All are counted anew if nodes came or went since the last snapshot, or if a count were less than nothing. `cache.uncounted[c]` is by how much the count
        of the claim is too small; `counted_nodes` are those that the last snapshot had.
        """
        claims, nodes = self.universe[CountedClaim], self.universe[Node]
        if not self.cache.keeps_counts():
            return
        counts = {c: count(self.is_counted(pod) for pod in c.users) for c in claims}
        anew = as_expr(False)
        for claim in claims:
            anew = anew | (counts[claim] < self.cache.uncounted[claim])
            anew = anew | any_of(self.counted_nodes[claim][n] != self.cache.live[n] for n in nodes)
        for claim in claims:
            with when(anew):
                self.cache.uncounted[claim] = 0
            self.used[claim] = counts[claim] > self.cache.uncounted[claim]
            for node in nodes:
                self.counted_nodes[claim][node] = self.cache.live[node]

    def is_counted(self, pod: Pod) -> Expr:
        """Whether the pod is on a node that has a Node object."""
        return any_of(self.cache.on(pod, n) & self.cache.live[n] for n in self.universe[Node])

    def copy_ports(self, node: Node) -> None:
        """The host ports in the cache's NodeInfo of a node."""
        for port in self.universe[UsedPort]:
            self.port[node][port] = self.cache.node_infos.port[node][port]

    def drop_ports(self, node: Node) -> None:
        """The NodeInfo or the snapshot is gone."""
        for port in self.universe[UsedPort]:
            self.port[node][port] = False

    def list_nodes(self) -> None:
        """The nodes of the snapshot that have a Node object, which are the nodes to try."""
        for node in self.universe[Node]:
            self.listed[node] = self.cache.live[node]

    def assume(self, pod: Pod, node: Node) -> None:
        """AssumePod, in the cycle of a group: from now on the pod counts on the node."""
        self.pod[pod].node = node
        for port in self.universe[UsedPort]:
            if port.port in pod.host_ports:
                self.port[node][port] = True

    def assume_placement(self, within: Mapping[Node, Value]) -> None:
        """AssumePlacement: from now on only nodes of the placement are tried."""
        for node, inside in within.items():
            self.hidden[node] = self.listed[node] & ~as_expr(inside)
            self.listed[node] = self.listed[node] & inside

    def forget_placement(self) -> None:
        """ForgetPlacement."""
        for node in self.universe[Node]:
            self.listed[node] = self.listed[node] | self.hidden[node]
            self.hidden[node] = False

    def clear(self) -> None:
        """The cycle is over: its changes to the snapshot are dropped."""
        for pod in self.universe[Pod]:
            self.pod[pod] = SnapshotPod()
            self.version[pod] = None
        for node in self.universe[Node]:
            self.live[node] = False
            self.listed[node] = False
            self.hidden[node] = False
            self.node_version[node] = None
            self.drop_ports(node)
        for claim in self.universe[CountedClaim]:
            self.used[claim] = False

    def on(self, pod: Pod, node: Node) -> Expr:
        """Whether the snapshot has the pod on the node."""
        return self.pod[pod].node == node

    def placement(self) -> Placement:
        """The snapshot as the filters see it."""
        nodes = self.universe[Node]
        return Placement(
            {pod: {node: self.on(pod, node) for node in nodes} for pod in self.universe[Pod]},
            {node: self.live[node] for node in nodes},
            {pod: self.pod[pod].terminating for pod in self.universe[Pod]},
            shown={v: self.node_version[v.node] == v for v in self.universe[NodeVersion]},
            held={v: self.version[v.pod] == v for v in self.universe[PodVersion] if v.pod.later},
            ports={node: {p: self.port[node][p] for p in self.universe[UsedPort]} for node in nodes},
            used={c.name: self.used[c] for c in self.universe[CountedClaim]}
            if self.cache.keeps_counts()
            else None,
        )
