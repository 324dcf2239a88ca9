"""What pods are scheduled among: nodes, priority classes and disruption budgets."""

from collections.abc import Iterable, Mapping

from ...base.structs import Data
from ...base.text import known_names, one_line
from ...model.environment.objects import DisruptionBudget, Pod, Selector, Taint
from ...scenarios.tables.directives import read_taints
from ...scenarios.tables.objects import EVICTION, MAX_ALLOWED
from ...scenarios.tables.pods import MAX_PRIORITY, MIN_PRIORITY, POLICY
from ...scenarios.tables.selectors import read_selector
from ...scenarios.template import HIGHEST_PRIORITY
from ...scenarios.values.labels import label_key
from .conditions import read_conditions
from .manifest_files import Remarks
from .manifest_values import Fields, Manifest
from .metadata import Meta
from .pod_objects import PodSpec
from .resource_amounts import Amounts, most_of, read_amounts, read_quantity

MANY_PODS = 100_000
HOSTNAME = "kubernetes.io/hostname"


class NodeObject(Data):
    """A Node. `pods` is how many it admits, None for no limit, `ready` the status of its condition Ready, `features` those that it declares."""

    meta: Meta
    allocatable: Amounts
    pods: int | None
    taints: tuple[Taint, ...]
    unschedulable: bool
    ready: str = "True"
    features: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The node's name."""
        return self.meta.name

    @property
    def labels(self) -> Mapping[str, str]:
        """The node's labels; like podrace's scenarios, with its name as hostname where it has none."""
        return {HOSTNAME: self.meta.name, **self.meta.labels}


def read_node(meta: Meta, fields: Fields, remarks: Remarks) -> NodeObject:
    """A Node. What it can allocate is its capacity where only that is written, as the API server fills in.

    One that an API server has stored admits no pods unless it says how many (AllowedPodNumber in framework/types.go, 1.36); written by hand, any number.
    Like the scheduler, it goes by taints, and not by conditions.
    """
    spec, status = fields.below("spec"), fields.below("status")
    has = status.get("allocatable", status.get("capacity"))
    if has is None and meta.uid and "status" in fields:
        remarks.add("the node has not said yet what it can allocate: it has room for nobody", meta.shown)
        return NodeObject(meta, {"cpu": 0}, 0, tuple(read_taints(spec.get("taints"))), False, "False")
    if has is None:
        fields.place.fail(
            f"`status.allocatable` is missing: without it nobody knows what fits on {meta.name}; "
            "dump the node with kubectl get -o yaml, or write it"
        )
    if "capacity" in status and "allocatable" in status:
        read_amounts(status["capacity"], lambda _: None)
    amounts = read_amounts(
        has,
        lambda resource: remarks.add(
            f"the node has more {one_line(resource)} than podrace counts: it counts with {most_of(resource)}",
            meta.shown,
        ),
    )
    if "cpu" not in amounts and not meta.uid:
        has.fail("`cpu` is missing: give what the node can allocate, such as 4 or 3920m")
    if "cpu" not in amounts:
        remarks.add("the node does not say how much cpu it has: as to kube-scheduler, none", meta.shown)
        amounts["cpu"] = 0
    pods = _number_of_pods(has.mapping("a mapping").get("pods"), meta, remarks)
    if pods is None and meta.uid:
        remarks.add("the node does not say how many pods it admits: as to kube-scheduler, none", meta.shown)
        pods = 0
    taints = tuple(read_taints(spec.get("taints")))
    ready, _ = read_conditions(status).get("Ready", ("True", ""))
    declared = status.elements("declaredFeatures", "a list of features")
    return NodeObject(
        meta,
        amounts,
        pods,
        taints,
        spec.boolean("unschedulable"),
        ready,
        frozenset(label_key(feature) for feature in declared),
    )


def _number_of_pods(value: Manifest | None, meta: Meta, remarks: Remarks) -> int | None:
    """A quantity, as every amount of a node: 110, "110" or 1e2."""
    if value is None:
        return None
    amount = read_quantity(value, "a number of pods")
    if amount is None or amount.denominator != 1:
        value.expect(f"a whole number from 0 to {MANY_PODS}")
    if amount > MANY_PODS:
        remarks.add(f"the node has more pods than podrace counts: it counts with {MANY_PODS}", meta.shown)
    return min(int(amount), MANY_PODS)


SYSTEM_CLASSES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
PREEMPTS = "PreemptLowerPriority"
MANY = 1 << 31


class PriorityClass(Data):
    """A PriorityClass."""

    name: str
    value: int
    default: bool
    policy: str


class BudgetObject(Data):
    """A PodDisruptionBudget with what the disruption controller last wrote; `disrupted` are names of pods.

    `short`: how many healthy pods it has too few; where it has more than it wants, below zero. `always_allow`: by its policy pods that are not ready may be evicted at any time.
    """

    meta: Meta
    selector: Selector
    allowed: int
    disrupted: frozenset[str]
    short: int = 0
    always_allow: bool = False

    @property
    def entity(self) -> DisruptionBudget:
        """The budget as the model knows it."""
        return DisruptionBudget(
            0, self.meta.name, self.selector, self.allowed, namespace=self.meta.namespace, disrupted=tuple(self.disrupted)
        )  # fmt: skip

    def protects(self, pod: Pod) -> bool:
        """Whether the scheduler counts a pod among those that the budget protects."""
        return self.entity.selects(pod)


class Priorities:
    """The priority classes, and how a pod's priority is found (plugin/pkg/admission/priority)."""

    def __init__(self, classes: Iterable[PriorityClass]) -> None:
        given = {c.name: c for c in classes}
        system = {n: PriorityClass(n, v, False, PREEMPTS) for n, v in SYSTEM_CLASSES.items()}
        self.classes = {**system, **given}
        defaults = [c for c in given.values() if c.default]
        # Of several defaults the API server takes the least.
        self.default = min(defaults, key=lambda c: c.value) if defaults else None

    def of(self, spec: PodSpec) -> tuple[int, bool]:
        """A pod's priority, and whether it may preempt. What the pod says of itself counts first."""
        named = spec.priority_class
        found = self.default
        if named is not None and (name := named.text("the name of a PriorityClass")):
            if name not in self.classes and spec.priority is None:
                named.fail(
                    f"there is no PriorityClass {named.described}, and the pod does not say its priority; "
                    f"{known_names(name, self.classes)}; dump priorityclasses, too"
                )
            found = self.classes.get(name)
        priority = spec.priority if spec.priority is not None else found.value if found else 0
        policy = spec.policy or (found.policy if found else PREEMPTS)
        return priority, policy == PREEMPTS


def read_class(meta: Meta, fields: Fields) -> PriorityClass:
    """A PriorityClass."""
    most = MAX_PRIORITY if meta.name.startswith("system-") else HIGHEST_PRIORITY
    return PriorityClass(
        meta.name,
        fields.need("value", "a PriorityClass has a value").integer(MIN_PRIORITY, most),
        fields.boolean("globalDefault"),
        fields.read("preemptionPolicy", POLICY.read) or PREEMPTS,
    )


def read_budget(meta: Meta, fields: Fields, remarks: Remarks) -> BudgetObject | None:
    """A PodDisruptionBudget; None if it protects no pod from the scheduler."""
    described = fields.need("spec", "a PodDisruptionBudget has at least `spec.selector`")
    spec, status = described.mapping("a mapping with `selector`"), fields.below("status")
    allowed = status.integer("disruptionsAllowed", 0, MANY, 0)
    if "disruptionsAllowed" not in status:
        remarks.add("the budget has no status yet: it allows no disruption", meta.shown)
    disrupted = (
        status["disruptedPods"].items("a mapping from pods to times") if "disruptedPods" in status else ()
    )
    names = frozenset(f"{meta.namespace}/{key.node.value}" for key, _ in disrupted)
    selector = spec.read("selector", read_selector) or Selector(nothing=True)
    if selector.nothing:
        remarks.add("a budget without a selector protects no pod: left out", meta.shown)
        return None
    short = -allowed
    if "currentHealthy" in status and "desiredHealthy" in status:
        short = status["desiredHealthy"].integer(0, MANY) - status["currentHealthy"].integer(0, MANY)
    always = spec.read("unhealthyPodEvictionPolicy", EVICTION.read) == "AlwaysAllow"
    return BudgetObject(meta, selector, min(allowed, MAX_ALLOWED), names, short, always)
