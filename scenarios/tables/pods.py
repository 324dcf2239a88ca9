"""Pods, and what their objects may be updated to."""

from ...model.environment.cluster.pods import NOW, ExtensionPoint, Pod
from ..values.yaml_values import Value
from .amounts import quantity_in_words
from .directives import read_node_affinity, read_tolerations
from .host_ports import read_host_ports
from .kinds import (
    FLAG,
    LABEL_KEY,
    LABELS,
    NAME,
    WORD,
    Kind,
    Schema,
    list_of,
    names_to,
    object_of,
    one_of,
    part,
    ranged,
    refers,
    text,
    whole,
)
from .placement import PORT
from .resources import BYTES, CPU, FEATURES, MAX_VERSIONS, REASONS, RESOURCES
from .rules import (
    host_port_in_words,
    node_affinity_in_words,
    selector_in_words,
    spread_in_words,
    terms_in_words,
    time_in_words,
    toleration_in_words,
)  # fmt: skip
from .table import Field, Table

# PriorityClass values: users may go up to a billion, the system classes use two.
MIN_PRIORITY, MAX_PRIORITY = -(1 << 31), 2_000_001_000
DEFAULT_SCHEDULER = "default-scheduler"
"""The profile of kube-scheduler that is modelled; pods with another name are a second scheduler's."""

GRACE = whole(0, 1 << 31)
POLICY = one_of(("PreemptLowerPriority", "Never"), "a preemption policy")
PHASE = one_of(("Pending", "Running"), "a phase", "word")
POINT = one_of([point.value for point in ExtensionPoint], "an extension point")
POINTS = list_of("list of reserve, permit, preBind", POINT)
FINALIZERS = list_of(
    "list of names", LABEL_KEY, wanted="a list of finalizers, such as [batch.kubernetes.io/job-tracking]"
)
HOST_PORTS = Kind("list of ports", {"type": "array", "items": {"anyOf": [PORT.schema, part("hostPort")]}})


def _claims(*forms: Schema) -> Kind:
    """Claims by their names, or as Kubernetes writes them."""
    return Kind("list of claims", {"type": "array", "items": {"anyOf": [WORD, *forms]}})


_FROM_TEMPLATE = "resourceClaimTemplateName"
_SOURCE = object_of({"claimName": WORD}, ["claimName"])
CLAIMS_OF_POD = _claims(
    object_of({"name": WORD, "resourceClaimName": WORD}, ["resourceClaimName"]),
    object_of({"name": WORD, _FROM_TEMPLATE: WORD}, ["name", _FROM_TEMPLATE]),
)
MOUNTS = _claims(object_of({"name": WORD, "persistentVolumeClaim": _SOURCE}, ["persistentVolumeClaim"]))


def _points(value: Value) -> list[ExtensionPoint]:
    return value.distinct("a list of extension points", lambda element: ExtensionPoint(POINT.read(element)))


def _points_in_words(pod: Pod) -> list[str]:
    """The extension points that only the file can have named."""
    by_claims = {ExtensionPoint.RESERVE, ExtensionPoint.PRE_BIND} if pod.claims or pod.volumes else set()
    return [point.value for point in ExtensionPoint if point in pod.extension_points - by_claims]


# fmt: off
PODS = Table("`pods`", "pod", [
    Field("cpu", CPU, "required", "requested CPU"),
    Field("memory", BYTES, "0", "requested memory"),
    Field("ephemeral-storage", BYTES, "0", "requested local storage"),
    Field("resources", RESOURCES, "none", "other requested resources"),
    Field("priority", ranged(MIN_PRIORITY, MAX_PRIORITY), "0", "the value of the pod's PriorityClass", attribute="priority", say=lambda pod: quantity_in_words(pod.quantities[-1])),
    Field("preemptionPolicy", POLICY, "PreemptLowerPriority", "Never: the pod does not preempt (from 1.19 on)", attribute="preempts", read=lambda value: POLICY.read(value) != "Never", say=lambda pod: None if pod.preempts else "Never"),
    Field("namespace", NAME, "the part of the pod's name before a slash, or default", "the pod's namespace", say=lambda pod: None if "/" in pod.name or pod.namespace == "default" else pod.namespace),
    Field("labels", LABELS, "none", "its labels", attribute="labels"),
    Field("nodeName", text("name of a node"), "none", "the node to which the pod is bound at the start", say=lambda pod: None if pod.node is None else pod.node.name),
    Field("exists", FLAG, "true", "false: the pod does not exist at the start, and a user may create it later", say=lambda pod: None if pod.exists or pod.recreates is not None else False),
    Field("creationTimestamp", text("time"), "none", "metadata.creationTimestamp of a pod that waits at the start; only the order of these times matters. Give a time to all waiting pods or to none. Of pods with the same priority, the queue takes the earliest first. Pods with equal times or without times are taken [in any order](#which-of-equal-pods-comes-first)"),
    Field("startTime", text("time"), "later than all", "status.startTime of a bound pod, such as 2021-08-04T12:00:00Z; only the order of these times matters", say=lambda pod: None if pod.start == NOW else time_in_words(pod.start)),
    Field("terminationGracePeriodSeconds", GRACE, "not 0", "0: a DELETE removes the pod immediately. With any other value, the pod terminates first; the number does not matter", attribute="graceful", read=lambda value: GRACE.read(value) > 0, say=lambda pod: None if pod.graceful else 0),
    Field("tolerations", list_of("list of tolerations", refers("", "toleration")), "none", "see below", attribute="tolerations", read=read_tolerations, say=lambda pod: [toleration_in_words(t) for t in pod.tolerations]),
    Field("nodeSelector", LABELS, "none", "labels that the node must have", attribute="node_selector"),
    Field("nodeAffinity", refers("mapping", "nodeAffinity"), "none", "the nodes on which the pod can run", attribute="node_affinity", read=read_node_affinity, say=node_affinity_in_words),
    Field("podAffinity", refers("mapping", "podAffinity"), "none", "the pods with which this pod must share a domain", say=lambda pod: terms_in_words(pod.terms, False, (pod.namespace,))),
    Field("podAntiAffinity", refers("mapping", "podAffinity"), "none", "the pods with which this pod must not share a domain", say=lambda pod: terms_in_words(pod.terms, True, (pod.namespace,))),
    Field("topologySpreadConstraints", list_of("list of constraints", refers("", "topologySpreadConstraint")), "none", "how evenly pods must be spread over domains of nodes (from 1.18 on)", say=spread_in_words),
    Field("defaultSpread", refers("label selector", "labelSelector"), "none", "the selector of the pod's service or controller. A pod without `topologySpreadConstraints` gets soft default constraints from it, over host names and zones (from 1.20 on; the earlier SelectorSpread is not modelled); only with `scored`", say=lambda pod: next((selector_in_words(c.selector) for c in pod.wishes.spread if c.by_default), None)),
    Field("extensionPoints", POINTS, "none", "the extension points at which a plugin handles the pod (from 1.15 on)", attribute="extension_points", read=_points, say=_points_in_words),
    Field("schedulingGates", list_of("list of gates", refers("", "schedulingGate")), "none", "gates that keep the pod out of the queue (from 1.27 on). A user may remove all of them at once, or they stay. [`gateKeepers`](#gatekeepers) remove them one by one", say=lambda pod: [{"name": gate} for gate in pod.gates]),
    Field("finalizers", FINALIZERS, "none", "finalizers, such as `batch.kubernetes.io/job-tracking` of a Job's pods. If the pod is deleted before it is bound, its object stays until a controller removes all finalizers. With `bound_finalizers` in the scope, this is also true of a bound pod", attribute="finalizers", read=lambda value: bool(FINALIZERS.read(value)), say=lambda pod: ["podrace.io/finalizer"] if pod.finalizers else None),
    Field("hostPorts", HOST_PORTS, "none", "the ports of its node that the pod occupies; a number such as `80` is short for `{port: 80}`", attribute="host_ports", read=read_host_ports, say=lambda pod: [host_port_in_words(port) for port in pod.host_ports]),
    Field("finishes", FLAG, "false", "true: the bound pod can succeed or fail. A pod that has succeeded or failed frees its room, and its object stays until a user deletes it", attribute="finishes"),
    Field("recreates", text("name of a pod"), "none", "the pod that this pod replaces. When the replaced pod is gone, this pod is created once, with the same name and a new UID, as a StatefulSet does. Reports use the names of the scenario", say=lambda pod: pod.recreates),
    Field("ignore", REASONS, "none", "properties that ignore this pod, each with a reason, see [configuration](configuration.md#for-single-pods)"),
    Field("updates", names_to("updates by name", "podUpdate", 1, MAX_VERSIONS - 1), "none", "the updates of the pod's object that can happen: see below"),
    Field("resourceClaims", CLAIMS_OF_POD, "none", "the claims that the pod refers to. By name: `[gpu]`. As Kubernetes writes them: `[{name: gpu, resourceClaimName: gpu}]`. With a template, from which a claim is created for the pod: `[{name: gpu, resourceClaimTemplateName: gpu}]`"),
    Field("volumes", MOUNTS, "none", "the PersistentVolumeClaims whose volumes the pod mounts. By name: `[data]`. As Kubernetes writes them: `[{name: data, persistentVolumeClaim: {claimName: data}}]`", say=lambda pod: list(pod.volumes)),
    Field("podGroup", text("name of a group", "the name of a pod group"), "none", "the group that the pod belongs to (`spec.schedulingGroup`)", attribute="group"),
    Field("extenderSelector", LABELS, "none", "labels that a node must have. An extender of the scheduler rejects a node without these labels, after the plugins have accepted the node", attribute="extender_selector"),
    Field("requiredFeatures", FEATURES, "none", "the features that its node must declare (from 1.36 on); Kubernetes infers them from the other fields of the pod", attribute="features", say=lambda pod: sorted(pod.features)),
    Field("schedulerName", text("name"), "default-scheduler", "with any other name, a second scheduler places the pod. It has the same filters, and its own cache. There is at most one such scheduler", attribute="foreign", read=lambda value: value.scalar("a name") != DEFAULT_SCHEDULER, say=lambda pod: "second-scheduler" if pod.foreign else None),
    Field("ready", FLAG, "true", "false: the pod is bound and not ready at the start. Its readiness probe fails until a user repairs the pod (`readiness`)", attribute="ready", say=lambda pod: None if pod.ready else False),
    Field("phase", PHASE, "Running", "Pending: the pod is bound at the start, and its kubelet has not started it yet. With `ready: false`, the pod cannot start until a user repairs it (`pod_phases`)", attribute="started", read=lambda value: PHASE.read(value) != "Pending", say=lambda pod: None if pod.started else "Pending"),
    Field("deleted", FLAG, "false", "true: the pod is bound at the start and already being deleted: its kubelet stops it. Not together with `controllers`", attribute="deleted"),
])

POD_UPDATES = Table("`updates` of a pod", "podUpdate", [
    Field("cpu", CPU, "as for the pod", "requested CPU; not a range"),
    Field("memory", BYTES, "as for the pod", "requested memory"),
    Field("labels", LABELS, "as for the pod", "all its labels"),
    Field("tolerations", list_of("list of tolerations", refers("", "toleration")), "as for the pod", "all its tolerations, including the initial ones: the API server refuses to remove any"),
    Field("nodeSelector", LABELS, "as for the pod", "all labels that the pod's node must have, including those of the first version. They can change only while the pod has scheduling gates"),
    Field("nodeAffinity", refers("node affinity", "nodeAffinity"), "as for the pod", "its node affinity. Each term has at least the requirements of the pod's first version. The affinity can change only while the pod has scheduling gates"),
], about="What changes in the pod's object; what is not named stays.")

GATES_OF_POD = Table("`schedulingGates`", "schedulingGate", [
    Field("name", LABEL_KEY, "required", "the gate's name, such as example.com/quota", missing="a gate is known by its name"),
])
