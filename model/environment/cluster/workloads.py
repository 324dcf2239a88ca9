"""Those who act beside the scheduler as a scenario gives them: who makes pods anew, who has them evicted so that they are, who holds them back, and whom the scheduler asks."""

from collections.abc import Mapping
from dataclasses import field
from enum import Enum

from ....base.structs import Data
from .placement_rules import Selector


class OwnerKind(Enum):
    """The kind of an owner of pods; the value is how a scenario names it. A Deployment makes its pods by a ReplicaSet."""

    REPLICA_SET = "ReplicaSet"
    DEPLOYMENT = "Deployment"
    JOB = "Job"
    STATEFUL_SET = "StatefulSet"
    DAEMON_SET = "DaemonSet"


class OwnerSpec(Data, slots=False):
    """An owner: a controller keeps so many of its pods in being.

    `replicas` is how many it wants; of a Job, how many are to succeed (spec.completions), all of them at once. `slots` are its pods: for each place
    the names of those that may stand for it. A place is an ordinal of a StatefulSet, or the name of a node of a DaemonSet; other owners have
    one. `parallel`: a StatefulSet's podManagementPolicy is Parallel. `waits_for_end`: a Job's podReplacementPolicy is Failed: a pod is replaced
    when it has ended, not when it begins to.
    """

    name: str
    kind: OwnerKind
    replicas: int
    slots: tuple[tuple[str, tuple[str, ...]], ...]
    parallel: bool = False
    waits_for_end: bool = False


class KeeperSpec(Data, slots=False):
    """A gate keeper: a controller that holds pods back by the scheduling gate with this name, and takes it away.

    `quota`: how many pods from which it has removed its gate can exist at the same time; None for any number. `waits_for`: gates of other names that have to be gone
    before it looks at a pod. `directs` are the versions that it has pods become, as they are named (`pod.version`): in the update that takes the gate away,
    or, with `apart`, in one before it.
    """

    name: str
    gate: str
    quota: int | None = None
    waits_for: tuple[str, ...] = ()
    directs: tuple[str, ...] = ()
    apart: bool = False


class StrategyKind(Enum):
    """A plugin of the descheduler; the value is its name."""

    NODE_TAINTS = "RemovePodsViolatingNodeTaints"
    NODE_AFFINITY = "RemovePodsViolatingNodeAffinity"
    SPREAD = "RemovePodsViolatingTopologySpreadConstraint"
    DUPLICATES = "RemoveDuplicates"
    LOW_UTILIZATION = "LowNodeUtilization"


class StrategySpec(Data, slots=False):
    """A plugin of the descheduler that is enabled, with its arguments.

    `node_fit`: it evicts only what fits on some other node (nodeFit of the DefaultEvictor, topologyBalanceNodeFit of the spread). `prefers`: the labels of the nodes
    that pods prefer (preferredDuringSchedulingIgnoredDuringExecution). `topology_key`, `max_skew`, `selector`: the constraint that it balances, which
    the scheduler takes for a score (ScheduleAnyway). `low`, `high`: the shares of a node's CPU, in per cent, below and above which it is used too little and too much.
    """

    kind: StrategyKind
    node_fit: bool = False
    prefers: Mapping[str, str] = field(default_factory=dict)
    topology_key: str = ""
    max_skew: int = 1
    selector: Selector = field(default_factory=Selector)
    low: int = 0
    high: int = 100


class Noting(Enum):
    """When an extender begins to count a pod on a node; the value is how a scenario names it."""

    HEARD = "heard"  # when its own informer shows the pod there
    BOUND = "bound"  # when it binds the pod, or is notified of it
    FILTERED = "filtered"  # when it answers the filter call, with one node only, as HAMi does


class ExtenderSpec(Data, slots=False):
    """An extender (schedulerapi.Extender): of which resource it keeps count (managedResources), and what it is called for.

    One without a resource is asked about all pods. `ignored_by_scheduler`: NodeResourcesFit does not look at the resource. `filters`, `binds`, `preempts`: it has the verb;
    it prioritises where it has `scores`, by the names of nodes. `nodes`: those that it lets through, None for all. `ignorable`: its errors are passed over. `unresolvable`: what it rejects
    it calls unresolvable (failedAndUnresolvableNodes). `name` tells it from others.
    """

    resource: str | None = None
    ignored_by_scheduler: bool = False
    filters: bool = False
    binds: bool = False
    preempts: bool = False
    ignorable: bool = False
    noting: Noting = Noting.HEARD
    name: str = ""
    nodes: frozenset[str] | None = None
    scores: tuple[tuple[str, int], ...] = ()
    weight: int = 1
    unresolvable: bool = False

    def prefers(self, node: str) -> int:
        """The score that it gives a node, from 0 to 10; one that it does not name has none."""
        return dict(self.scores).get(node, 0)
