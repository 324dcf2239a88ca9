"""Pods, nodes and budgets: what of a Kubernetes object a scheduler race can depend on.

Names, labels, affinity terms and the initial placement are fixed by the scenario. Requests, capacities and priorities are
quantities: constants in explicit checking, unknown in symbolic checking.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import field, replace
from enum import Enum

from ..language import Entity, Expr, Fact, Parameter, Record, Value, as_expr, boolean, integer, ref
from ..language.quick_dataclasses import dataclass
from ..language.sorts import sort_of_ref
from .placement_rules import (
    NO_WISHES,
    HostPort,
    NodeAffinity,
    NodeTerm,
    Operator,
    Requirement,
    Selector,
    SpreadConstraint,
    Taint,
    Term,
    Toleration,
    Wishes,
)
from .scope import DEFAULTS, Config, Scope, gates_possible, last_gate, last_name, last_version, with_more
from .workloads import ExtenderSpec, KeeperSpec, OwnerSpec, StrategySpec

Quantity = int | Parameter

NATIVE = ("cpu", "memory", "ephemeral-storage")


def is_scalar_resource(name: str) -> bool:
    """Whether the scheduler counts a resource that is not native: a name without a domain is ignored."""
    return "/" in name or name.startswith(("hugepages-", "attachable-volumes-"))


def amounts(
    cpu: Quantity, memory: Quantity, ephemeral: Quantity, extended: Mapping[str, Quantity] | None
) -> dict[str, Quantity]:
    """The resources that the scheduler counts, by name."""
    counted = {name: amount for name, amount in (extended or {}).items() if is_scalar_resource(name)}
    return {"cpu": cpu, "memory": memory, "ephemeral-storage": ephemeral, **counted}


class ExtensionPoint(Enum):
    """Where a plugin has work to do for a pod; the value is how a scenario names it."""

    RESERVE = "reserve"
    PERMIT = "permit"
    PRE_BIND = "preBind"


READY = "Ready"
"""The condition of a node that its kubelet reports."""


class Node(Entity):
    """A node: allocatable resources, how many pods it admits (None for no limit), labels and taints.

    `conditions` are statuses by type; Ready is True unless it says otherwise. `features` is status.declaredFeatures.
    `later` are the versions that its object may be updated to, by name; each has the name and the index of the node.
    """

    about = "node {}"

    def __init__(
        self,
        index: int,
        name: str,
        cpu: Quantity,
        labels: Mapping[str, str] | None = None,
        exists: bool = True,
        *,
        memory: Quantity = 0,
        ephemeral: Quantity = 0,
        extended: Mapping[str, Quantity] | None = None,
        pods: Quantity | None = None,
        taints: Sequence[Taint] = (),
        unschedulable: bool = False,
        conditions: Mapping[str, str] | None = None,
        features: Iterable[str] = (),
        hostname_label: bool = True,
        later: Mapping[str, Node] | None = None,
    ) -> None:
        super().__init__(index, name)
        self.later = dict(later or {})
        self._allocatable = amounts(cpu, memory, ephemeral, extended)
        self._pods = pods
        self.labels = {**({"kubernetes.io/hostname": name} if hostname_label else {}), **(labels or {})}
        self.exists = exists
        self.taints, self.unschedulable = tuple(taints), unschedulable
        self.conditions = {READY: "True", **(conditions or {})}
        self.features = frozenset(features)

    @property
    def ready(self) -> bool:
        """The kubelet has said so, and not long ago (IsNodeReady)."""
        return self.conditions[READY] == "True"

    @property
    def reachable(self) -> bool:
        """Whether the node's kubelet and the API server hear of each other: else the node lifecycle controller makes Ready Unknown."""
        return self.conditions[READY] != "Unknown"

    @property
    def cpu(self) -> Expr:
        """Allocatable CPU, in the scenario's unit."""
        return self.allocatable("cpu")

    def allocatable(self, resource: str) -> Expr:
        """How much of a resource the node has."""
        return as_expr(self._allocatable.get(resource, 0))

    def with_cpu(self, cpu: Quantity) -> Node:
        """The same node with another capacity."""
        other = copy(self)
        other._allocatable = {**self._allocatable, "cpu": cpu}
        return other

    @property
    def pods(self) -> Expr | None:
        """How many pods the node admits; None for no limit."""
        return None if self._pods is None else as_expr(self._pods)

    @property
    def room(self) -> tuple[Mapping[str, Quantity], Quantity | None]:
        """status.allocatable: resources by name, and how many pods."""
        return self._allocatable, self._pods

    @property
    def quantities(self) -> tuple[Quantity | None, ...]:
        """All that is counted of it."""
        return (*self._allocatable.values(), self._pods)


def node_or_none(value: Value) -> Expr:
    """A node, a symbolic reference to one, or None, as an expression."""
    return as_expr(value, sort_of_ref(Node))


NOW = 1 << 40
"""The start time of a pod that has none yet: later than every other."""


class Pod(Entity):
    """A pod: requests, priority, labels, affinity terms, and where it is in the beginning.

    `node` is the node that it is bound to at the start. `exists` is False for a pod that a user may
    create later. `graceful` is False for terminationGracePeriodSeconds 0: a DELETE removes it at once.
    `start` is status.startTime, as a number. `preempts` is False for preemptionPolicy Never.
    `namespace_labels` are those of the pod's namespace. `node_selector` and the required `node_affinity` say which
    nodes the pod may go to, `spread` how evenly it and its like must lie over them, `wishes` what it would like. `extension_points` are those at
    which some plugin has work to do for the pod. `host_ports` are the ports of its node that it occupies. `gated`: it is created
    with scheduling gates, of which `gates` are the names where they matter. `finalizers`: its object stays when it is deleted, until whoever set them has taken them away.
    `recreates` names the pod whose name it takes when that one is gone. `finishes`: once it is bound, its containers may end by themselves.
    `claims` are the names of the ResourceClaims that it refers to: the plugin DynamicResources then has work at Reserve and PreBind.
    `generated` are those of them that are made for it, from templates; `extended_claim`, if any, the special one for the extended resources that devices back: the last.
    `volumes` are the names of the PersistentVolumeClaims that it mounts, `exclusive` those of them that one pod only may use.
    `group` is the name of the pod group that it belongs to (spec.schedulingGroup).
    `extender_selector` are the labels that an extender of the scheduler wants of the pod's node. `foreign`: another scheduler places it (spec.schedulerName).
    `features` are those that its node has to declare: upstream infers them from the specification. `ready` is False for one that is bound at the start and not ready.
    `later` are the versions that its object may be updated to, by name;
    each has the name and the index of the pod, and a `number`; that of the pod as it is created is 0.
    """

    def __init__(
        self,
        index: int,
        name: str,
        cpu: Quantity,
        priority: Quantity = 0,
        *,
        memory: Quantity = 0,
        ephemeral: Quantity = 0,
        extended: Mapping[str, Quantity] | None = None,
        namespace: str = "default",
        namespace_labels: Mapping[str, str] | None = None,
        uid: str | None = None,
        start: int | None = None,
        preempts: bool = True,
        labels: Mapping[str, str] | None = None,
        terms: Sequence[Term] = (),
        tolerations: Sequence[Toleration] = (),
        node_selector: Mapping[str, str] | None = None,
        node_affinity: NodeAffinity | None = None,
        node: Node | None = None,
        exists: bool = True,
        graceful: bool = True,
        extension_points: Iterable[ExtensionPoint] = (),
        claims: Sequence[str] = (),
        generated: Iterable[str] = (),
        extended_claim: str | None = None,
        volumes: Sequence[str] = (),
        exclusive: Iterable[str] = (),
        group: str | None = None,
        spread: Sequence[SpreadConstraint] = (),
        wishes: Wishes = NO_WISHES,
        gated: bool = False,
        gates: Sequence[str] = (),
        finalizers: bool = False,
        recreates: str | None = None,
        host_ports: Sequence[HostPort] = (),
        finishes: bool = False,
        extender_selector: Mapping[str, str] | None = None,
        foreign: bool = False,
        features: Iterable[str] = (),
        ready: bool = True,
        later: Mapping[str, Pod] | None = None,
    ) -> None:
        super().__init__(index, name)
        self._requests, self._priority = amounts(cpu, memory, ephemeral, extended), priority
        self.namespace, self.namespace_labels = namespace, dict(namespace_labels or {})
        self.uid = name if uid is None else uid
        self.start = NOW if start is None else start
        self.preempts = preempts
        self.labels, self.tolerations = dict(labels or {}), tuple(tolerations)
        self.terms = tuple(_owned(term, namespace) for term in terms)
        self.node_selector, self.node_affinity = dict(node_selector or {}), node_affinity
        self.node, self.exists, self.graceful = node, exists, graceful
        self.claims = (*claims, *(() if extended_claim is None else (extended_claim,)))
        self.extended_claim = extended_claim
        by_claims = {ExtensionPoint.RESERVE, ExtensionPoint.PRE_BIND} if self.claims or volumes else set()
        self.extension_points = frozenset(extension_points) | by_claims
        self.gated, self.gates = gated or bool(gates), tuple(gates)
        self.volumes, self.exclusive = tuple(volumes), frozenset(exclusive)
        self.generated = frozenset(generated)
        self.group = group
        self.spread, self.wishes, self.finalizers = tuple(spread), wishes, finalizers
        self.host_ports, self.recreates, self.finishes = tuple(host_ports), recreates, finishes
        self.extender_selector, self.foreign = dict(extender_selector or {}), foreign
        self.features, self.ready = frozenset(features), ready
        self.later, self.number = dict(later or {}), 0
        for number, version in enumerate(self.later.values(), start=1):
            version.number = number

    def asks_for(self, node: Node) -> bool:
        """Whether nodeSelector and required node affinity both match the node (GetRequiredNodeAffinity, 1.22)."""
        selected = all(node.labels.get(k) == v for k, v in self.node_selector.items())
        return selected and (self.node_affinity is None or self.node_affinity.matches(node.name, node.labels))

    def endures(self, node: Node, effects: Collection[str] = ("NoExecute",)) -> bool:
        """Whether the pod tolerates all taints of the node with these effects: those that would have it leave, if no others are named."""
        return all(
            taint.effect not in effects or any(t.tolerates(taint) for t in self.tolerations)
            for taint in node.taints
        )

    def passes_extender(self, node: Node) -> bool:
        """Whether the extender lets the pod go to the node; one that has no say lets all go."""
        return all(node.labels.get(k) == v for k, v in self.extender_selector.items())

    def wants_port_of(self, other: Pod) -> bool:
        """Whether the pod cannot be on the node of the other for a port that both want."""
        return any(own.conflicts(port) for own in self.host_ports for port in other.host_ports)

    def with_cpu(self, cpu: Quantity, priority: Quantity, node: Node | None) -> Pod:
        """The same pod with another request and priority, on a node that takes the place of its own."""
        other = copy(self)
        other._requests, other._priority, other.node = {**self._requests, "cpu": cpu}, priority, node
        return other

    def bare(self) -> Pod:
        """What a reference to the pod tells: namespace, name and UID. It asks for nothing, and has priority 0 and no labels."""
        return Pod(
            self.index,
            self.name,
            0,
            namespace=self.namespace,
            namespace_labels=self.namespace_labels,
            uid=self.uid,
        )

    @property
    def requests(self) -> Mapping[str, Quantity]:
        """What the pod asks for, by resource."""
        return self._requests

    @property
    def cpu(self) -> Expr:
        """Requested CPU, in the scenario's unit."""
        return self.request("cpu")

    def request(self, resource: str) -> Expr:
        """How much of a resource the pod asks for."""
        return as_expr(self._requests.get(resource, 0))

    @property
    def resources(self) -> tuple[str, ...]:
        """The resources that the pod names; the native ones are always among them."""
        return tuple(self._requests)

    @property
    def priority(self) -> Expr:
        """The value of the pod's PriorityClass."""
        return as_expr(self._priority)

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """All that is counted of it."""
        return (*self._requests.values(), self._priority)


def _owned(term: Term, namespace: str) -> Term:
    own = not term.namespaces and term.namespace_selector is None
    return replace(term, namespaces=(namespace,)) if own else term


class DisruptionBudget(Entity):
    """A PodDisruptionBudget, with the status that the disruption controller last wrote (it stays as it is).

    `disrupted` are the names in status.disruptedPods: evictions that the budget has already paid for. `min_available`: so many of its pods it wants, if it is
    not as many as run at the start, less what it allows then. `always_allow`: of unhealthyPodEvictionPolicy AlwaysAllow.
    """

    def __init__(
        self,
        index: int,
        name: str,
        selector: Selector,
        allowed: Quantity = 0,
        *,
        namespace: str = "default",
        disrupted: Sequence[str] = (),
        min_available: int | None = None,
        always_allow: bool = False,
    ) -> None:
        super().__init__(index, name)
        self.selector, self.namespace, self.disrupted = selector, namespace, frozenset(disrupted)
        self.min_available, self.always_allow = min_available, always_allow
        self._allowed = allowed

    @property
    def allowed(self) -> Expr:
        """status.disruptionsAllowed."""
        return as_expr(self._allowed)

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """All that is counted of it."""
        return (self._allowed,)

    def selects(self, pod: Pod) -> bool:
        """Whether the budget protects the pod."""
        selected = bool(pod.labels) and not self.selector.empty and self.selector.matches(pod.labels)
        return selected and pod.namespace == self.namespace


class Device(Entity):
    """A device that a driver has published, on a node; none for one that every node can reach. `of` is the device class that it is in.

    `conditions`: it has binding conditions, so that a pod is bound only once its driver has said that the device is ready.
    """

    about = "device {}"

    def __init__(
        self, index: int, name: str, node: Node | None = None, of: str = "", *, conditions: bool = False
    ) -> None:
        super().__init__(index, name)
        self.node, self.of, self.conditions = node, of, conditions

    def is_on(self, node: Node) -> bool:
        """Whether an allocation of the device lets a pod go to the node."""
        return self.node is None or self.node is node


class Claim(Entity):
    """A ResourceClaim, which asks for one device of the class `of`; with the device and the names of the pods that it is reserved for at the start.

    `exists` is False for one that comes later: a user creates it, or, if it has an `owner`, the controller makes it from a template for that pod.
    `special`: it stands for the extended resources that its owner asks for and devices back. The scheduler makes it, and may do so again when it is gone.
    `readiness` is what is known of its device's binding conditions at the start (`environment.storage.claims`), and `timed_out` whether it was waited for long enough.
    """

    about = "claim {}"

    def __init__(
        self,
        index: int,
        name: str,
        device: Device | None = None,
        reserved: Sequence[str] = (),
        of: str = "",
        *,
        exists: bool = True,
        owner: str | None = None,
        special: bool = False,
        readiness: int = 0,
        timed_out: bool = False,
    ) -> None:
        super().__init__(index, name)
        self.readiness, self.timed_out = readiness, timed_out
        self.device, self.reserved, self.of = device, frozenset(reserved), of
        self.exists, self.owner, self.special = exists, owner, special


class PodGroup(Entity):
    """A PodGroup (in 1.35 a pod group of a Workload): a gang of at least `min_count` pods, or, without, a group with the basic policy.

    `exists` is False for one that a user may create later.
    """

    about = "pod group {}"

    def __init__(self, index: int, name: str, min_count: int | None = None, exists: bool = True) -> None:
        super().__init__(index, name)
        self.min_count, self.exists = min_count, exists


@dataclass(frozen=True)
class StorageClass:
    """A StorageClass: whether claims of it wait for a consumer (volumeBindingMode), and whether it has a provisioner."""

    name: str
    immediate: bool = False
    provisions: bool = False


class Volume(Entity):
    """A PersistentVolume: the nodes that its node affinity ties it to (none for all), and the claim that it is reserved for at the start.

    `provisioned_for` names the claim for which a provisioner may make it: until then it does not exist, nor has it a node.
    """

    about = "volume {}"

    def __init__(
        self,
        index: int,
        name: str,
        storage_class: StorageClass,
        nodes: Sequence[Node] = (),
        *,
        claim: str | None = None,
        exists: bool = True,
        provisioned_for: str | None = None,
    ) -> None:
        super().__init__(index, name)
        self.storage_class, self.nodes = storage_class, tuple(nodes)
        self.claim, self.exists, self.provisioned_for = claim, exists, provisioned_for

    def is_on(self, node: Node) -> bool:
        """Whether the node affinity lets pods use the volume on the node."""
        return not self.nodes or any(node.index == other.index for other in self.nodes)


class VolumeClaim(Entity):
    """A PersistentVolumeClaim: its class, the volume that it names at the start, and whether it is bound to it.

    `exclusive`: its access mode is ReadWriteOncePod.
    """

    about = "volume claim {}"

    def __init__(
        self,
        index: int,
        name: str,
        storage_class: StorageClass,
        volume: Volume | None = None,
        *,
        completed: bool = False,
        exists: bool = True,
        exclusive: bool = False,
    ) -> None:
        super().__init__(index, name)
        self.storage_class, self.volume, self.completed = storage_class, volume, completed
        self.exists, self.exclusive = exists, exclusive


@dataclass(frozen=True)
class ClusterSpec:
    """A cluster and the scope in which it is explored.

    `units` are those in which amounts of resources are counted, a number and a suffix of Kubernetes each, and `written` how
    an amount of a resource is written for `node NAME` or `pod NAME`. Only reports look at both.
    """

    name: str
    pods: tuple[Pod, ...]
    nodes: tuple[Node, ...]
    scope: Scope = field(default_factory=Scope)
    budgets: tuple[DisruptionBudget, ...] = ()
    devices: tuple[Device, ...] = ()
    claims: tuple[Claim, ...] = ()
    groups: tuple[PodGroup, ...] = ()
    units: Mapping[str, tuple[int, str]] = field(default_factory=dict, compare=False, repr=False)
    written: Mapping[tuple[str, str, int], str] = field(default_factory=dict, compare=False, repr=False)
    volumes: tuple[Volume, ...] = ()
    volume_claims: tuple[VolumeClaim, ...] = ()
    owners: tuple[OwnerSpec, ...] = ()
    strategies: tuple[StrategySpec, ...] = ()
    keepers: tuple[KeeperSpec, ...] = ()
    extender: ExtenderSpec | None = None

    @property
    def unknown(self) -> tuple[Parameter, ...]:
        """The quantities that it leaves unknown."""
        entities: tuple[Node | Pod | DisruptionBudget, ...] = (*self.nodes, *self.pods, *self.budgets)
        return tuple(q for entity in entities for q in entity.quantities if isinstance(q, Parameter))


EXISTS = Fact("exists", "exists", "gone", compared=True)
ON_NODE = Fact("node", "on {value}", "on no node", compared=True)
NOMINATED = Fact("nominated", "nominated to {value}", "not nominated", compared=True)
FAILED = Fact("failed", "PodScheduled=False")
TERMINATING = Fact("terminating", "being deleted")
GATED = Fact("gated", "gated")
"""What can be known of a pod's object; EXISTS of a node, too."""


def facts_of_pods(name: str) -> dict[str, Fact]:
    """What a table `name` of pod objects says."""
    return {f"{name}.{fact.name}": fact for fact in (EXISTS, ON_NODE, NOMINATED, FAILED, TERMINATING, GATED)}


class PodObject(Record):
    """A pod object as the API server stores it and watches deliver it (status.phase is not modelled)."""

    exists = boolean()
    node = ref(Node)  # spec.nodeName
    nominated = ref(Node)  # status.nominatedNodeName
    failed = boolean()  # condition PodScheduled=False, reason Unschedulable
    terminating = boolean()  # metadata.deletionTimestamp is set
    gated = boolean(possible=gates_possible)  # spec.schedulingGates names any
    opened = integer(0, last_gate)  # how many gates it has lost, as long as it has another
    version = integer(
        0, last_version
    )  # what else is not status: the number of its PodVersion, where there are several
    named = integer(0, last_name)  # status.resourceClaimStatuses: OWN, or OTHERS, where there are templates

    @property
    def assigned(self) -> Expr:
        """spec.nodeName is set."""
        return as_expr(self.exists) & as_expr(self.node).is_some

    @property
    def pending(self) -> Expr:
        """Exists without spec.nodeName."""
        return as_expr(self.exists) & as_expr(self.node).is_none

    def copy(self) -> PodCopy:
        """What a component keeps of an object that is not assigned."""
        return PodCopy(
            nominated=self.nominated,
            failed=self.failed,
            terminating=self.terminating,
            gated=self.gated,
            version=self.version,
            named=self.named,
        )


class PodCopy(Record):
    """A component's own copy of a pod object without spec.nodeName."""

    nominated = ref(Node)
    failed = boolean()
    terminating = boolean()
    gated = boolean(possible=gates_possible)
    version = integer(0, last_version)
    named = integer(0, last_name)


OWN, OTHERS = 1, 2
"""What a pod's status names: its own claims, or, written by somebody who was late, those of the pod that had its name before."""


__all__ = [
    "DEFAULTS",
    "NATIVE",
    "NOW",
    "OTHERS",
    "OWN",
    "Claim",
    "ClusterSpec",
    "Config",
    "Device",
    "DisruptionBudget",
    "HostPort",
    "Node",
    "NodeAffinity",
    "NodeTerm",
    "Operator",
    "Pod",
    "PodCopy",
    "PodObject",
    "Quantity",
    "Requirement",
    "Scope",
    "Selector",
    "StorageClass",
    "Taint",
    "Term",
    "Toleration",
    "Volume",
    "VolumeClaim",
    "is_scalar_resource",
    "node_or_none",
    "with_more",
]  # fmt: skip
