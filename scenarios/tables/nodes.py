"""Nodes, and what their objects may be updated to."""

from ...model.environment.cluster.nodes import READY
from ..values.labels import label_key
from .amounts import said_number
from .directives import read_taints
from .kinds import FLAG, LABELS, Kind, list_of, names_to, one_of, part, ranged, refers, whole
from .resources import BYTES, CPU, FEATURES, MAX_PODS, MAX_VERSIONS, RESOURCES
from .rules import taint_in_words
from .table import Field, Table

HOSTNAME = "kubernetes.io/hostname"
STATUS = one_of(("True", "False", "Unknown"), "a status")
CONDITIONS = Kind(
    "types to statuses",
    part("conditions"),
    lambda value: {
        label_key(kind): STATUS.read(status)
        for kind, status in value.items("a mapping from types to statuses, such as {Ready: Unknown}")
    },
)

# fmt: off
NODES = Table("`nodes`", "node", [
    Field("cpu", CPU, "required", "allocatable CPU, such as 2, 0.5 or 500m; or a [range](#ranges)"),
    Field("memory", BYTES, "0", "allocatable memory, such as 128Mi, 1.5G or 1e9"),
    Field("ephemeral-storage", BYTES, "0", "allocatable local storage"),
    Field("resources", RESOURCES, "none", "other allocatable resources, such as `{example.com/gpu: 1}` (`hugepages-*` in bytes)"),
    Field("pods", ranged(0, MAX_PODS), "no limit", "how many pods the node admits", attribute="pods", say=lambda node: said_number(node.room[1])),
    Field("labels", LABELS, "none", "its labels; podrace adds `kubernetes.io/hostname`", attribute="labels", say=lambda node: {k: v for k, v in node.labels.items() if (k, v) != (HOSTNAME, node.name)}),
    Field("taints", list_of("list of taints", refers("", "taint")), "none", "its taints; a taint with NoExecute evicts pods only with `taint_eviction` in the scope", attribute="taints", read=read_taints, say=lambda node: [taint_in_words(taint) for taint in node.taints]),
    Field("unschedulable", FLAG, "false", "spec.unschedulable; podrace does not add the taint that controllers add: write it under `taints`", attribute="unschedulable"),
    Field("conditions", CONDITIONS, "Ready is True", "its conditions. With `{Ready: Unknown}`, the node has lost its connection, and its kubelet receives and reports nothing. Only with `node_lifecycle` in the scope, a controller sets taints for conditions. Otherwise, write the taint into the update with the condition, or into a later one", attribute="conditions", say=lambda node: {k: v for k, v in node.conditions.items() if (k, v) != (READY, "True")}),
    Field("declaredFeatures", FEATURES, "none", "the features that it declares (from 1.36 on)", attribute="features", say=lambda node: sorted(node.features)),
    Field("exists", FLAG, "true", "false: the node does not exist at the start, and may join later", say=lambda node: None if node.exists else False),
    Field("updates", names_to("updates by name", "nodeUpdate", 1, MAX_VERSIONS - 1), "none", "the updates of the node's object that can happen: see below"),
])

NODE_UPDATES = Table("`updates` of a node", "nodeUpdate", [
    Field("cpu", CPU, "as for the node", "allocatable CPU; not a range"),
    Field("memory", BYTES, "as for the node", "allocatable memory"),
    Field("ephemeral-storage", BYTES, "as for the node", "allocatable local storage"),
    Field("resources", RESOURCES, "as for the node", "other allocatable resources"),
    Field("pods", whole(0, MAX_PODS), "as for the node", "how many pods the node admits"),
    Field("labels", LABELS, "as for the node", "all its labels"),
    Field("taints", list_of("list of taints", refers("", "taint")), "as for the node", "all its taints"),
    Field("unschedulable", FLAG, "as for the node", "whether the node is cordoned"),
    Field("conditions", CONDITIONS, "as for the node", "all its conditions"),
    Field("declaredFeatures", FEATURES, "as for the node", "all features that it declares"),
], about="What changes in the node's object; what is not named stays.")
