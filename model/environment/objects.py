"""Pods as the API server stores them and as components copy them; and, under one name for all who ask for them, the objects of a cluster."""

from __future__ import annotations

from ..language import Expr, Fact, Record, as_expr, boolean, integer, ref
from .cluster.cluster_spec import ClusterSpec as ClusterSpec
from .cluster.nodes import READY as READY
from .cluster.nodes import Node as Node
from .cluster.nodes import node_or_none as node_or_none
from .cluster.placement_rules import HostPort as HostPort
from .cluster.placement_rules import NodeAffinity as NodeAffinity
from .cluster.placement_rules import NodeTerm as NodeTerm
from .cluster.placement_rules import Operator as Operator
from .cluster.placement_rules import Requirement as Requirement
from .cluster.placement_rules import Selector as Selector
from .cluster.placement_rules import Taint as Taint
from .cluster.placement_rules import Term as Term
from .cluster.placement_rules import Toleration as Toleration
from .cluster.pod_sets import DisruptionBudget as DisruptionBudget
from .cluster.pod_sets import PodGroup as PodGroup
from .cluster.pods import NOW as NOW
from .cluster.pods import ExtensionPoint as ExtensionPoint
from .cluster.pods import Pod as Pod
from .cluster.resources import NATIVE as NATIVE
from .cluster.resources import Quantity as Quantity
from .cluster.resources import is_scalar_resource as is_scalar_resource
from .cluster.scope import DEFAULTS as DEFAULTS
from .cluster.scope import Config as Config
from .cluster.scope import Scope as Scope
from .cluster.scope import gates_possible, last_gate, last_name, last_version
from .cluster.storage import Claim as Claim
from .cluster.storage import Counter as Counter
from .cluster.storage import CsiDriver as CsiDriver
from .cluster.storage import Device as Device
from .cluster.storage import StorageClass as StorageClass
from .cluster.storage import Volume as Volume
from .cluster.storage import VolumeClaim as VolumeClaim
from .cluster.storage import Wish as Wish

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
