"""The other objects of the API server: namespaces, budgets, devices, volumes, their claims, groups of pods."""

from typing import Any

from ...model.environment.cluster.storage import EVERY_EFFECT
from ...model.environment.objects import Claim, CsiDriver
from ...model.environment.storage.claims import FAILED, PENDING, READY
from ..values.yaml_values import Value
from .amounts import quantity_in_words
from .kinds import FLAG, LABELS, NAME, Kind, list_of, one_of, part, ranged, refers, text, whole
from .rules import selector_in_words
from .table import Field, Table, plain

MAX_ALLOWED, MAX_AVAILABLE = 1000, 15
MAX_SHARE, MAX_COUNT = 64, 4
EFFECTS = ("NoSchedule", "NoExecute")
CONDITIONS = {"pending": PENDING, "met": READY, "failed": FAILED, "timedOut": PENDING}
NO_PROVISIONER, PROVISIONER = "kubernetes.io/no-provisioner", "example.com/provisioner"

EVICTION = one_of(("IfHealthyBudget", "AlwaysAllow"), "a policy", "word")
CLASS_NAME = text("name", "the name of a device class")
BINDING_MODES = ("Immediate", "WaitForFirstConsumer")
MODE = one_of(BINDING_MODES, "a volume binding mode")
ACCESS_MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")
MODES = list_of("list of modes", one_of(ACCESS_MODES, "an access mode"), wanted="a list of access modes")


def _conditions_in_words(claim: Claim) -> str | None:
    """What is known of the binding conditions of the claim's device at the start."""
    return {READY: "met", FAILED: "failed"}.get(claim.readiness, "timedOut" if claim.timed_out else None)


def _device_in_words(claim: Claim) -> str | list[str] | None:
    """What is allocated to the claim at the start, as the file calls it."""
    if claim.device is None:
        return None
    return [part.name for part in claim.device.parts] or claim.device.shared or claim.device.name


# fmt: off
NAMESPACES = Table("`namespaces`", "namespace", [
    Field("labels", LABELS, "none", "the namespace's labels"),
])

BUDGETS = Table("`podDisruptionBudgets`", "podDisruptionBudget", [
    Field("selector", refers("label selector", "labelSelector"), "required", "the pods that the budget protects. For evictions and the disruption controller, an empty selector selects all pods of the namespace. For preemption, an empty selector selects no pods (141785 changes this, in no release yet)", missing="say which pods the budget protects", say=lambda budget: selector_in_words(budget.selector)),
    Field("disruptionsAllowed", ranged(0, MAX_ALLOWED), "0", "status.disruptionsAllowed; only `disruption_controller` changes it", say=lambda budget: quantity_in_words(budget.quantities[0])),
    Field("namespace", NAME, "the part of the budget's name before a slash, or default", "the budget's namespace", say=lambda budget: None if "/" in budget.name or budget.namespace == "default" else budget.namespace),
    Field("disruptedPods", list_of("list of pods", text("")), "none", "status.disruptedPods: evictions that the status already counts (from 1.19 on)", say=lambda budget: sorted(budget.disrupted)),
    Field("minAvailable", whole(0, MAX_AVAILABLE), "the pods that run at the start, minus `disruptionsAllowed`", "how many healthy pods the budget wants; only with `disruption_controller`", attribute="min_available", say=lambda budget: budget.min_available),
    Field("unhealthyPodEvictionPolicy", EVICTION, "IfHealthyBudget", "AlwaysAllow: pods that are not ready can be evicted at any time (from 1.27 on). IfHealthyBudget: only while enough other pods are healthy (`readiness`)", attribute="always_allow", read=lambda value: EVICTION.read(value) == "AlwaysAllow", say=lambda budget: "AlwaysAllow" if budget.always_allow else None),
])

def _several(read: Kind) -> Kind:
    """One, or a list of them."""
    return Kind(f"{read.words}, or several", {"anyOf": [read.schema, {"type": "array", "items": read.schema, "minItems": 1}]})


COUNTERS = Kind("counters to whole numbers", {"type": "object", "additionalProperties": whole(1, MAX_SHARE).schema})
WISH = Table("`firstAvailable`", "wish", [
    Field("deviceClassName", CLASS_NAME, "none", "the device class", attribute="of"),
    Field("count", whole(1, MAX_COUNT), "1", "how many devices of the class this alternative requests", attribute="count"),
])

DEVICES = Table("`devices`", "device", [
    Field("node", text("name of a node"), "none", "the node of the device; without this field, all nodes reach the device", say=lambda device: None if device.node is None else device.node.name),
    Field("deviceClassName", CLASS_NAME, "none", "its device class; all devices without this field are in one class", attribute="of"),
    Field("bindingConditions", FLAG, "false", "true: a pod is bound only after the driver has reported that the device is ready (from 1.36 on)", attribute="conditions"),
    Field("exists", FLAG, "true", "false: the driver publishes the device some time after its node has joined", say=lambda device: None if device.exists else False),
    Field("capacity", whole(1, MAX_SHARE), "none", "how much all claims together can consume of the device. With this field, several claims can share the device (allowMultipleAllocations, from 1.36 on)", say=lambda device: next(iter(device.draws)).capacity if device.shared else None),
    Field("taint", one_of(EFFECTS, "an effect of taints"), "none", "the effect of the taint that the device has from the start (from 1.36 on); `device_taints` add NoExecute later", attribute="taint"),
    Field("consumesCounters", COUNTERS, "none", "for a partition of a larger device: the amount that it uses of each of the [`sharedCounters`](#sharedcounters) (from 1.36 on)", say=lambda device: {} if device.shared or device.parts else {c.name: n for c, n in device.draws.items() if c.name != device.name}),
])

ASKED = (
    Field("deviceClassName", CLASS_NAME, "none", "the device class from which the claim requests devices", say=lambda claim: None if claim.listed else claim.of or None),
    Field("count", whole(1, MAX_COUNT), "1", "how many devices of the class the claim requests", say=lambda claim: None if claim.listed or claim.wishes[0].count == 1 else claim.wishes[0].count),
    Field("firstAvailable", list_of("list of device classes, or of [`firstAvailable`](#firstavailable)", Kind("", {"anyOf": [CLASS_NAME.schema, part("wish")]}), least=1), "none", "in place of `deviceClassName`: the claim gets the first alternative of this list that is available (from 1.34 on)", say=lambda claim: [plain(WISH.say(w)) for w in claim.wishes] if claim.listed else None),
    Field("capacity", whole(1, MAX_SHARE), "all", "how much the claim consumes of a shared device", attribute="amount"),
    Field("adminAccess", FLAG, "false", "true: the claim has administrator access, so other claims can have the same device, too (from 1.36 on)", attribute="admin"),
    Field("tolerates", one_of((*EFFECTS, EVERY_EFFECT), "an effect of taints, or all"), "none", "which taints of devices the claim tolerates: those with this effect, or all", attribute="tolerates"),
    Field("selectorFailsOn", list_of("list of devices", text("")), "none", "devices for which the claim's selector cannot be evaluated, so that Filter returns an error", attribute="fails_on", say=lambda claim: sorted(claim.fails_on)),
    Field("tolerationSeconds", FLAG, "false", "true: the claim tolerates NoExecute until some time after the device was tainted", attribute="briefly"),
)

CLAIMS = Table("`resourceClaims`", "resourceClaim", [
    Field("device", _several(text("name of a device")), "none", "the devices that are allocated at the start", say=_device_in_words),
    *ASKED,
    Field("reservedFor", list_of("list of pods", text("")), "none", "status.reservedFor at the start; a bound pod must be in reservedFor of each of its claims", say=lambda claim: sorted(claim.reserved)),
    Field("bindingConditions", one_of(tuple(CONDITIONS), "what has become of binding conditions"), "pending", "the state of its device's binding conditions at the start; timedOut: the conditions are still pending after the time limit", say=_conditions_in_words),
    Field("exists", FLAG, "true", "false: a user may create it later, as often as `claim_creations` says", say=lambda claim: None if claim.exists else False),
])

TEMPLATES = Table("`resourceClaimTemplates`", "resourceClaimTemplate", ASKED)

DEVICE_CLASSES = Table("`deviceClasses`", "deviceClass", [
    Field("extendedResourceName", text("name"), "none", "the extended resource that devices of the class back"),
])

def _limit(value: Value) -> tuple[int | None, int]:
    """How many volumes a node takes, at first and later."""
    if not value.is_list:
        return (MOST_VOLUMES.read(value),) * 2
    found = value.elements("two limits, such as [none, 1]")
    if len(found) != 2:
        value.expect("two limits, the first and the last, such as [none, 1]")
    first = None if found[0].node.value == "none" else MOST_VOLUMES.read(found[0])
    last = MOST_VOLUMES.read(found[1])
    if first is not None and first > last:
        value.fail("a limit that shrinks is not modelled (A-CSI): give the smaller one first")
    return first, last


def _limits(value: Value) -> dict[str, tuple[int | None, int]]:
    members = list(value.items("a mapping from nodes to limits"))
    if not members:
        value.fail("there is no node: say how many volumes nodes take, such as {n1: 1}")
    return {key.scalar("the name of a node"): _limit(of) for key, of in members}


def _limits_in_words(driver: CsiDriver) -> dict[str, Any]:
    return {n: last if first == last else ["none" if first is None else first, last] for n, (first, last) in driver.limits.items()}


MOST_VOLUMES = whole(0, MAX_ALLOWED)
LIMITS = Kind("nodes to whole numbers, or to [first, last]", {"type": "object", "minProperties": 1, "additionalProperties": {"anyOf": [MOST_VOLUMES.schema, {"type": "array", "minItems": 2, "maxItems": 2, "prefixItems": [{"anyOf": [MOST_VOLUMES.schema, {"const": "none"}]}, MOST_VOLUMES.schema]}]}}, _limits)

CSI_DRIVERS = Table("`csiDrivers`", "csiDriver", [
    Field("nodes", LIMITS, "required", "for each node with the driver, how many of the driver's volumes the node can have (the limit in its CSINode). [none, 1]: the driver starts on the node later, with the limit 1. Nodes that are not listed do not have the driver", attribute="limits", missing="say how many volumes nodes take, such as {n1: 1}", say=_limits_in_words),
    Field("preventPodSchedulingIfMissing", FLAG, "false", "true: no pod with a volume of the driver is placed on a node without the driver (from 1.37 on)", attribute="required"),
])

STORAGE_CLASSES = Table("`storageClasses`", "storageClass", [
    Field("volumeBindingMode", MODE, "Immediate", "when claims of the class are bound", attribute="immediate", read=lambda value: MODE.read(value) == "Immediate", say=lambda of: "Immediate" if of.immediate else "WaitForFirstConsumer"),
    Field("provisioner", text("name"), "kubernetes.io/no-provisioner", "the provisioner that creates volumes for claims of the class. Without a provisioner, only the `volumes` of the file exist", attribute="provisions", read=lambda value: value.scalar("the name of a provisioner") != NO_PROVISIONER, say=lambda of: PROVISIONER if of.provisions else None),
    Field("csiDriver", text("name of a driver"), "none", "the driver of the class's volumes, one of `csiDrivers`. It limits the number of volumes on a node", attribute="driver"),
])

VOLUMES = Table("`volumes`", "volume", [
    Field("storageClassName", text("name of a class"), "required", "its class", missing="name one of `storageClasses`", say=lambda volume: volume.storage_class.name),
    Field("nodes", list_of("list of nodes", text("")), "all", "the nodes that its node affinity names", say=lambda volume: [node.name for node in volume.nodes]),
    Field("claimRef", text("name of a claim"), "none", "the claim for which the volume is reserved at the start, or from its creation on", attribute="claim", say=lambda volume: volume.claim),
    Field("exists", FLAG, "true", "false: an administrator may create it later, as often as `volume_creations` says", attribute="exists", say=lambda volume: None if volume.exists else False),
    Field("attachedTo", text("name of a node"), "none", "the node to which the volume is still attached at the start, for a pod that is gone. Volumes of bound pods are attached without this field", attribute="attached"),
])

VOLUME_CLAIMS = Table("`volumeClaims`", "volumeClaim", [
    Field("storageClassName", text("name of a class"), "required", "its class", missing="name one of `storageClasses`", say=lambda claim: claim.storage_class.name),
    Field("volumeName", text("name of a volume"), "none", "the volume that the claim names at the start. Claim and volume are bound if the volume's `claimRef` is this claim", say=lambda claim: None if claim.volume is None else claim.volume.name),
    Field("accessModes", MODES, "none", "only ReadWriteOncePod has an effect: at most one pod can use the claim at a time", say=lambda claim: ["ReadWriteOncePod"] if claim.exclusive else None),
    Field("exists", FLAG, "true", "false: a user may create it later", say=lambda claim: None if claim.exists else False),
])

GROUPS = Table("`podGroups`", "podGroup", [
    Field("minCount", whole(1, 8, "1 to 8"), "none", "the group is a gang: at least this many of its pods must be bound together. A group without `minCount` has the policy basic", attribute="min_count"),
    Field("exists", FLAG.called("true or false"), "true", "false: a user may create the group later", attribute="exists", say=lambda group: None if group.exists else False),
    Field("topologyKey", text("key of a label"), "none", "all pods of the group must be on nodes with the same value of this label (`spec.schedulingConstraints.topology`, in 1.38.0-beta.0 with TopologyAwareWorkloadScheduling)", attribute="topology_key"),
    Field("parent", text("name of a group with `minGroupCount`"), "none", "the parent group. The group is part of its parent, and is scheduled together with it (`spec.parentCompositePodGroupName`, in 1.38.0-beta.0 with CompositePodGroup)", attribute="parent"),
    Field("minGroupCount", whole(1, 8, "1 to 8"), "none", "the group is a CompositePodGroup: it contains groups in place of pods, and at least this many of its groups must be scheduled together", attribute="min_group_count"),
])
