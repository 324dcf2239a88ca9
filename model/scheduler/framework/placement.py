"""Placements: which pods are on which nodes, from somebody's point of view.

Filters work on a placement, so that the same rules answer for a snapshot, for a snapshot without
victims, and for what is really bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace

from ....base.structs import Data
from ...environment.cluster.footprint import UsedPort
from ...environment.cluster.node_versions import NodeVersion
from ...environment.cluster.pod_versions import PodVersion
from ...environment.objects import HostPort, Node, Pod
from ...environment.storage.csi_nodes import CsiView
from ...language import Expr, any_of, as_expr, select, when

Ports = Mapping[UsedPort, Expr]
"""Host ports, and whether a NodeInfo lists each (UsedPorts)."""


def with_ports_of(pods: Mapping[Pod, Expr], ports: Ports) -> Ports:
    """What is listed once these pods, each if it is so, were put into the NodeInfo (AddPod)."""
    return {used: listed | _some_has(used, pods) for used, listed in ports.items()}


def without_ports_of(pods: Mapping[Pod, Expr], ports: Ports) -> Ports:
    """What is listed once these pods, each if it is so, were taken out of the NodeInfo (RemovePod): also of ports that others have, nothing."""
    return {used: listed & ~_some_has(used, pods) for used, listed in ports.items()}


def _some_has(used: UsedPort, pods: Mapping[Pod, Expr]) -> Expr:
    return any_of(here for pod, here in pods.items() if used.port in pod.host_ports)


class Placement(Data, slots=False):
    """`on[pod][node]`: the NodeInfo of the node holds the pod. `live[node]`: the node has a Node object. `leaving[pod]`: it terminates.

    `added[pod][node]`: the pod was added to the NodeInfo because it is nominated there, whether or not the NodeInfo holds it already.
    A pod that is tried while it is in a NodeInfo is among the pods there, as any other. `before[pod][node]` is `on` as PreFilter saw it,
    where preemption has taken victims away since. `shown[version]`: of a node whose object has several versions, it shows this one;
    `held[version]`: of a pod whose object has several, it holds this one. `ports[node][port]`: the NodeInfo of the node lists the host port;
    where nothing is said of a node, it lists those of the pods there. `twice[node]`: the list of nodes that PreFilter goes through has the node twice.
    `used[claim]`: PreFilter counts the claim, which one pod only may use, as used; where nothing is said, if a pod that was there uses it. `csi`: limits of volumes and attachments; where nothing is said, those that the informers show.

    Rules ask a placement about one node with `ask`, which gives them each version of it as a node of its own, in a placement in which the
    other versions are no live nodes, and each version of a pod is a pod of its own, which is on a node if it is held. So no rule has to
    know that nodes and pods change.
    """

    on: Mapping[Pod, Mapping[Node, Expr]]
    live: Mapping[Node, Expr]
    leaving: Mapping[Pod, Expr] = field(default_factory=dict)
    added: Mapping[Pod, Mapping[Node, Expr]] = field(default_factory=dict)
    before: Mapping[Pod, Mapping[Node, Expr]] | None = None
    shown: Mapping[NodeVersion, Expr] = field(default_factory=dict)
    held: Mapping[PodVersion, Expr] = field(default_factory=dict)
    ports: Mapping[Node, Ports] = field(default_factory=dict)
    twice: Mapping[Node, Expr] = field(default_factory=dict)
    used: Mapping[str, Expr] | None = None
    csi: CsiView | None = None

    # --- versions of nodes -----------------------------------------------------------------------------

    def ask(self, node: Node, question: Callable[[Node, Placement], Expr]) -> Expr:
        """What the question answers about the node in the version that the placement shows."""
        found: Expr | None = None
        for shows, content, seen in self.versions(node):
            if found is None:
                found = question(content, seen)
            else:
                with when(shows):
                    said = question(content, seen)
                found = select(shows, said, found)
        assert found is not None
        return found

    def versions(self, node: Node) -> Iterator[tuple[Expr, Node, Placement]]:
        """Each version of a node: whether it is shown, what it says, and the placement to ask about it."""
        if not self.shown and not self.held:
            yield as_expr(True), node, self
            return
        seen = self._apart()
        own = [(shows, v.content) for v, shows in self.shown.items() if v.node is node]
        for shows, content in own or [(as_expr(True), node)]:
            yield shows, content, seen

    def _apart(self) -> Placement:
        """The same with each version as a node or a pod of its own, which is live if it is shown, or there if it is held."""
        parts: dict[Node, list[tuple[Node, Expr]]] = {}
        for version, shows in self.shown.items():
            parts.setdefault(version.node, []).append((version.content, shows))
        pods: dict[Pod, list[tuple[Pod, Expr]]] = {}
        for one, is_held in self.held.items():
            pods.setdefault(one.pod, []).append((one.content, is_held))

        def apart(row: Mapping[Node, Expr]) -> dict[Node, Expr]:
            found: dict[Node, Expr] = {}
            for node, here in row.items():
                for content, shows in parts.get(node, [(node, as_expr(True))]):
                    found[content] = here & shows
            return found

        def rows(table: Mapping[Pod, Mapping[Node, Expr]]) -> dict[Pod, Mapping[Node, Expr]]:
            found: dict[Pod, Mapping[Node, Expr]] = {}
            for pod, row in table.items():
                places = apart(row)
                for content, there in pods.get(pod, []):
                    found[content] = {node: here & there for node, here in places.items()}
                if pod not in pods:
                    found[pod] = places
            return found

        before = None if self.before is None else rows(self.before)
        return replace(
            self,
            on=rows(self.on),
            live=apart(self.live),
            twice=apart(self.twice),
            leaving={form: here for pod, here in self.leaving.items() for form in _forms(pods, pod)},
            added=rows(self.added),
            before=before,
            shown={},
            held={},
            ports={
                content: {port: used & shows for port, used in ports.items()}
                for node, ports in self.ports.items()
                for content, shows in parts.get(node, [(node, as_expr(True))])
            },
        )

    # --- what it says ----------------------------------------------------------------------------------

    @property
    def nodes(self) -> list[Node]:
        """Every node."""
        return list(self.live)

    @property
    def prefiltered(self) -> Mapping[Pod, Mapping[Node, Expr]]:
        """Where the pods were when the PreFilter plugins ran."""
        return self.on if self.before is None else self.before

    @property
    def copies(self) -> list[tuple[Pod, Mapping[Node, Expr]]]:
        """All that NodeInfos may count, with the nodes: each pod, and those that were added, once more."""
        return [*self.on.items(), *self.added.items()]

    def counted(self, node: Node) -> list[tuple[Pod, Expr]]:
        """All that the NodeInfo of the node may count, and whether it does."""
        return [(q, row[node]) for q, row in self.copies if node in row]

    def present(self, pod: Pod, node: Node) -> dict[Pod, Expr]:
        """For each other pod, whether it counts on the node."""
        return {q: row[node] for q, row in self.on.items() if q is not pod}

    def is_leaving(self, pod: Pod) -> Expr:
        """Whether the pod terminates; not where nothing is said of it."""
        return as_expr(self.leaving.get(pod, False))

    def used_ports(self, node: Node) -> list[tuple[HostPort, Expr]]:
        """The host ports that the NodeInfo of the node may list, and whether it does: also those of pods that were added."""
        more = [(q, row[node]) for q, row in self.added.items() if node in row]
        if node in self.ports:
            listed = [(used.port, taken) for used, taken in self.ports[node].items()]
        else:
            listed, more = [], self.counted(node)
        return [*listed, *((port, here) for q, here in more for port in q.host_ports)]

    def with_present(self, node: Node, present: Mapping[Pod, Expr], ports: Ports | None = None) -> Placement:
        """The same, except for which of these pods count on one node, and which host ports its NodeInfo lists, where it says so of any."""
        changed = {
            q: {**row, node: as_expr(present[q])} if q in present else row for q, row in self.on.items()
        }
        known = self.ports if ports is None or node not in self.ports else {**self.ports, node: ports}
        return replace(self, on=changed, before=self.prefiltered, ports=known)

    def with_added(self, node: Node, pods: Mapping[Pod, Expr]) -> Placement:
        """The same with these pods added to the NodeInfo of a node; one that is there already counts twice."""
        return replace(self, added={q: {node: added} for q, added in pods.items()})


def _forms(pods: Mapping[Pod, list[tuple[Pod, Expr]]], pod: Pod) -> list[Pod]:
    return [content for content, _ in pods[pod]] if pod in pods else [pod]
