"""Which kept pods their controllers make anew, and why the others come only once.

A controller is kept with its kept pods: it wants as many as are there, and makes another one when one of them is gone. What it does for pods that are left out is left out as they are.
Each of its pods stands for one after the other (see `controllers` of a scenario), so all of them are written from one template: that of a pod that waits.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import field

from ..base.structs import Data
from ..model.environment.cluster.placement_rules import NODE_NAME
from ..model.environment.cluster.workloads import OwnerKind
from ..model.environment.objects import NodeAffinity, NodeTerm
from .inventory import Inventory
from .members import ClusterNode, ClusterPod

KINDS: Mapping[str, OwnerKind] = {
    **{kind.value: kind for kind in OwnerKind},
    "ReplicationController": OwnerKind.REPLICA_SET,
}
"""The kinds of owners whose controllers are modelled. A ReplicationController has the controller of ReplicaSets (pkg/controller/replication)."""

BY_PLACE = (OwnerKind.STATEFUL_SET, OwnerKind.DAEMON_SET)
"""Those whose pods each have a place of their own, in which the next one comes."""

MOST_PODS = 8
"""A controller of a scenario has no more pods than this."""


class KeptController(Data):
    """A controller, by Kind/namespace/name, with the pods that it may make, and how many it wants; of a DaemonSet each is for the node of the same place in `nodes`.

    `parallel` and `waits_for_end` are what an `OwnerSpec` says; `assumed`: the object that would say so is not among the objects.
    """

    owner: str
    kind: OwnerKind
    pods: tuple[ClusterPod, ...]
    wanted: int
    nodes: tuple[str, ...] = ()
    parallel: bool = False
    waits_for_end: bool = False
    assumed: bool = False

    @property
    def template(self) -> ClusterPod:
        """The pod as which all are written."""
        return self.pods[0]


class KeptControllers(Data):
    """The controllers of kept pods, and of each other kept pod why nobody makes it anew."""

    controllers: Sequence[KeptController] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)

    def of(self, pod: ClusterPod) -> KeptController | None:
        """The controller that makes the pod anew, if one does."""
        return next((c for c in self.controllers if pod in c.pods), None)


def with_controllers(
    pods: Sequence[ClusterPod], nodes: Sequence[ClusterNode], asked: ClusterPod, inventory: Inventory
) -> tuple[tuple[ClusterPod, ...], KeptControllers]:
    """The kept pods with one more for each controller that needs a second one, and their controllers. `asked` is the pod of the question."""
    found: list[KeptController] = []
    left_out: dict[str, str] = {}
    dropped: set[str] = set()
    for owner in dict.fromkeys(pod.owner for pod in pods):
        own = [pod for pod in pods if pod.owner == owner]
        kind = KINDS.get(owner.partition("/")[0])
        spare = {p.name for p in own if kind in BY_PLACE and not p.exists and p is not asked}
        own = [pod for pod in own if pod.name not in spare]
        why = _why_not(owner, kind, own, nodes) or _untouched(own, pods, nodes)
        if why or kind is None:
            left_out |= {pod.name: why for pod in own}
            continue
        dropped |= spare
        found.append(_controller(owner, kind, own, asked, inventory))
    known = {pod.name: pod for controller in found for pod in controller.pods}
    there = {pod.name: pod for pod in pods if pod.name not in dropped}
    return tuple({**there, **known}.values()), KeptControllers(found, left_out)


def _controller(
    owner: str, kind: OwnerKind, own: Sequence[ClusterPod], asked: ClusterPod, inventory: Inventory
) -> KeptController:
    """The controller of these pods: it wants those that are there, and the one that is asked about."""
    pods = list(own)
    wanted = sum(pod.exists or pod is asked for pod in pods)
    if kind not in BY_PLACE and all(pod.exists for pod in pods):
        pods.append(pods[0].again())
    written = inventory.managed.get(owner)
    if kind is OwnerKind.STATEFUL_SET:
        pods.sort(key=_ordinal)
    nodes = tuple(_node_of(pod) or "" for pod in pods) if kind is OwnerKind.DAEMON_SET else ()
    says = kind in (OwnerKind.STATEFUL_SET, OwnerKind.JOB)
    parallel = kind is OwnerKind.STATEFUL_SET and written is not None and not written.ordered
    return KeptController(
        owner, kind, tuple(pods), wanted, nodes, parallel, written is not None and written.waits_for_end, says and written is None
    )  # fmt: skip


def _why_not(
    owner: str, kind: OwnerKind | None, own: Sequence[ClusterPod], nodes: Sequence[ClusterNode]
) -> str:
    """Why no controller is kept for these pods; empty if one can be."""
    if not owner:
        return "it has no controller"
    if kind is None:
        return f"the controller of a {owner.partition('/')[0]} is not modelled"
    return next(iter(_reasons(kind, own, {node.name for node in nodes})), "")


def _untouched(own: Sequence[ClusterPod], pods: Sequence[ClusterPod], nodes: Sequence[ClusterNode]) -> str:
    """Why none of these pods is ever gone, so that nobody has to make one: empty if one may be."""
    taken = any(pod.priority > one.priority for one in own for pod in pods)
    leaves = any(node.executing for node in nodes)
    return "" if taken or leaves else NOBODY_TAKES_IT


NOBODY_TAKES_IT = (
    "nobody takes it away: no more important pod is kept, and no kept node has a taint with NoExecute"
)


def _reasons(kind: OwnerKind, own: Sequence[ClusterPod], nodes: set[str]) -> Iterator[str]:
    if any(pod.claims.volumes or pod.claims.devices for pod in own):
        yield "of a pod with claims that is made again and again nothing is modelled"
    if any(pod.group for pod in own):
        yield "of a pod of a group that is made again and again nothing is modelled"
    if any(pod.ignored for pod in own):
        yield "an annotation ignores properties of it, and the next pod is another one"
    if any(pod.terminating for pod in own):
        yield "it is being deleted, and its controller has replaced it already"
    if len({_template(pod, kind) for pod in own}) > 1:
        yield "the kept pods of its controller differ, and a controller has one template"
    if len(own) + 1 > MOST_PODS:
        yield f"its controller would have more than {MOST_PODS} pods"
    if kind in BY_PLACE and not all(pod.exists for pod in own):
        yield f"it is asked about as one that its {kind.value} would create"
    if kind is OwnerKind.DAEMON_SET and any(_node_of(pod) not in nodes for pod in own):
        yield "it is for a node that is not kept"
    if kind is OwnerKind.DAEMON_SET and len({_node_of(pod) for pod in own}) < len(own):
        yield "its controller has two pods for one node, and wants one (a rolling update with maxSurge)"


def _template(pod: ClusterPod, kind: OwnerKind) -> Hashable:
    """What a controller gives all its pods."""
    affinity = without_name(pod.node_affinity) if kind is OwnerKind.DAEMON_SET else pod.node_affinity
    return repr((
        sorted(pod.requests.items()), pod.priority, pod.preempts, pod.grace == 0, pod.tolerations, sorted(pod.node_selector.items()),
        affinity, pod.terms, pod.spread, pod.host_ports, sorted(pod.features),
    ))  # fmt: skip


def _node_of(pod: ClusterPod) -> str | None:
    """The node for which a DaemonSet has made the pod: where it is, or what its node affinity names."""
    if pod.node is not None:
        return pod.node
    terms = pod.node_affinity.terms if pod.node_affinity else ()
    named = {v for term in terms for f in term.fields if f.key == NODE_NAME for v in f.values}
    return named.pop() if len(named) == 1 else None


def without_name(affinity: NodeAffinity | None) -> NodeAffinity | None:
    """Node affinity without the name of the node, which a DaemonSet's controller puts there for each pod; None where nothing is left."""
    terms = tuple(NodeTerm(term.expressions) for term in affinity.terms) if affinity else ()
    return NodeAffinity(terms) if any(term.expressions for term in terms) else None


def _ordinal(pod: ClusterPod) -> tuple[int, str]:
    number = pod.name.rpartition("-")[2]
    return (int(number) if number.isdecimal() else 0, pod.name)
