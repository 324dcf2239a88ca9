"""NodeInfos (framework/types.go, 1.34): what the pods on each node add up to, and which NodeInfos changed last.

Which pods a NodeInfo holds is the cache's business; here is what follows from it, but for the host ports, which depend on what was
there before. Explored clusters look at nothing of this but the ports, so that it costs them no state.
"""

from collections.abc import Iterable, Iterator
from typing import Protocol

from ...environment.cluster.footprint import UsedPort
from ...environment.cluster.pod_versions import PodVersion, first_version
from ...environment.objects import Node, Pod, node_or_none
from ...language import (
    Component,
    Expr,
    Value,
    Words,
    as_expr,
    boolean,
    otherwise,
    per,
    record,
    ref,
    select,
    total,
    when,
)
from .order import NodeOrder


class PodsOnNodes(Protocol):
    """Which NodeInfo holds which pods: the cache decides, NodeInfos only add up."""

    def on(self, pod: Pod, node: Node) -> Expr:
        """Whether the NodeInfo of `node` holds the pod."""

    def has_entry(self, node: Node) -> Expr:
        """Whether the node has a NodeInfo."""


class NodeInfos(Component):
    """Sums, host ports and generations of the NodeInfos.

    `port[n][q]`: the NodeInfo of n lists the port (UsedPorts). It is a set: of two pods with the same port, the one that leaves takes it off
    the list for both, until the other one is put into the NodeInfo anew.

    Generations only ever decide which NodeInfos changed since the last snapshot, and in which order:
    `changed` and `recent` say just that. The list is doubly linked upstream, most recent change first.
    """

    cache: PodsOnNodes

    version = per(Pod, ref(PodVersion))  # the object that the NodeInfo counts
    port = per(Node, per(UsedPort, boolean()))
    changed = per(Node, boolean())
    recent = record(NodeOrder)

    phrases = {
        "port": Words(
            "cache: the NodeInfo of {0} lists {1}", "cache: the NodeInfo of {0} lists {1} no longer"
        )
    }

    def setup(self) -> None:
        for node in self.universe[Node]:
            with when(self.cache.has_entry(node)):
                self.touch(node)
        for pod in self.universe[Pod]:
            if pod.exists and pod.node is not None:
                self.version[pod] = first_version(self.universe, pod)
                for port in self.universe[UsedPort]:
                    if port.port in pod.host_ports:
                        self.port[pod.node][port] = True

    # --- changes: after the cache has noted where the pod is now -----------------------------------------

    def add(self, pod: Pod, node: Value, version: Value) -> None:
        """NodeInfo.AddPod."""
        self.version[pod] = version
        self._set_ports(pod, node, True)
        self._touch_one(node)

    def remove(self, pod: Pod, node: Value) -> None:
        """NodeInfo.RemovePod: frees the pod's ports, even if another pod has the same port."""
        self._set_ports(pod, node, False)
        self.version[pod] = None
        self._touch_one(node)

    def touch(self, node: Node) -> None:
        """A new generation: the NodeInfo moves to the head of the list, or leaves the list if the cache has dropped it."""
        self.changed[node] = True
        with when(self.cache.has_entry(node)):
            self.recent.put_first(node)
        with otherwise():
            self.recent.remove(node)
            for port in self.universe[UsedPort]:
                self.port[node][port] = False

    def _touch_one(self, node: Value) -> None:
        for n in self.universe[Node]:
            with when(node_or_none(node) == n):
                self.touch(n)

    def _set_ports(self, pod: Pod, node: Value, used: bool) -> None:
        for has, port in self._ports_of(pod):
            for n in self.universe[Node]:
                with when(has & (node_or_none(node) == n)):
                    self.port[n][port] = used

    def _ports_of(self, pod: Pod) -> Iterator[tuple[Expr, UsedPort]]:
        """The host ports that the pod's object can request, each with its condition. A pod's ports never change; versions with footprints can differ."""
        for port in self.universe[UsedPort]:
            if port.port in pod.host_ports:
                yield as_expr(True), port
        for version in self.versions_of(pod):
            for port in version.footprint.ports:
                yield self.version[pod] == version, port

    # --- sums ----------------------------------------------------------------------------------------------

    def versions_of(self, pod: Pod) -> list[PodVersion]:
        """Every version of a pod."""
        return [v for v in self.universe[PodVersion] if v.pod is pod]

    def counts(self, version: PodVersion, node: Node) -> Expr:
        """Whether the NodeInfo of the node holds the pod in this version."""
        return self.cache.on(version.pod, node) & (self.version[version.pod] == version)

    def requested(self, node: Node, resource: str) -> Expr:
        """NodeInfo.Requested."""
        found = ((v, v.footprint.requests(resource)) for v in self.universe[PodVersion])
        return self._sum(node, found)

    def nonzero_requested(self, node: Node, resource: str) -> Expr:
        """NodeInfo.NonZeroRequested."""
        found = ((v, v.footprint.nonzero_requests(resource)) for v in self.universe[PodVersion])
        return self._sum(node, found)

    def _sum(self, node: Node, amounts: Iterable[tuple[PodVersion, int]]) -> Expr:
        return total(select(self.counts(v, node), amount, 0) for v, amount in amounts)
