"""Priority classes and disruption budgets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..model.environment.objects import Budget, Pod, Selector
from ..scenarios.reader.budgets import MAX_ALLOWED
from ..scenarios.reader.errors import known_names
from ..scenarios.reader.labels import read_selector
from ..scenarios.reader.pods import MAX_PRIORITY, MIN_PRIORITY, POLICIES
from ..scenarios.template import HIGHEST_PRIORITY
from .documents import Manifest
from .metadata import Meta
from .pods import PodSpec
from .remarks import Remarks

SYSTEM_CLASSES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
PREEMPTS = "PreemptLowerPriority"
MANY = 1 << 31


@dataclass(frozen=True, slots=True)
class PriorityClass:
    """A PriorityClass."""

    name: str
    value: int
    default: bool
    policy: str


@dataclass(frozen=True, slots=True)
class BudgetObject:
    """A PodDisruptionBudget with what the disruption controller last wrote; `disrupted` are names of pods."""

    meta: Meta
    selector: Selector
    allowed: int
    disrupted: frozenset[str]

    @property
    def entity(self) -> Budget:
        """The budget as the model knows it."""
        return Budget(
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


def read_class(top: Manifest, meta: Meta) -> PriorityClass:
    """A PriorityClass."""
    fields = top.fields(("value", "globalDefault", "preemptionPolicy"), "a PriorityClass")
    if "value" not in fields:
        top.fail("`value` is missing: a PriorityClass has a value")
    most = MAX_PRIORITY if meta.name.startswith("system-") else HIGHEST_PRIORITY
    return PriorityClass(
        meta.name,
        fields["value"].integer(MIN_PRIORITY, most),
        fields["globalDefault"].boolean() if "globalDefault" in fields else False,
        fields["preemptionPolicy"].one_of(POLICIES, "a preemption policy")
        if "preemptionPolicy" in fields
        else PREEMPTS,
    )


def read_budget(
    top: Manifest, meta: Meta, fields: Mapping[str, Manifest], remarks: Remarks
) -> BudgetObject | None:
    """A PodDisruptionBudget; None if it protects no pod from the scheduler."""
    if "spec" not in fields:
        top.fail("`spec` is missing: a PodDisruptionBudget has at least `spec.selector`")
    spec = fields["spec"].fields(("selector",), "a mapping with `selector`")
    status = (
        fields["status"].fields(("disruptionsAllowed", "disruptedPods"), "a mapping")
        if "status" in fields
        else {}
    )
    allowed = status["disruptionsAllowed"].integer(0, MANY) if "disruptionsAllowed" in status else 0
    if "disruptionsAllowed" not in status:
        remarks.add("the budget has no status yet: it allows no disruption", meta.shown)
    disrupted = (
        status["disruptedPods"].items("a mapping from pods to times") if "disruptedPods" in status else ()
    )
    names = frozenset(f"{meta.namespace}/{key.node.value}" for key, _ in disrupted)
    selector = read_selector(spec["selector"]) if "selector" in spec else Selector(nothing=True)
    if selector.nothing or selector.empty:
        remarks.add("the scheduler takes an empty selector for one that matches no pod: left out", meta.shown)
        return None
    return BudgetObject(meta, selector, min(allowed, MAX_ALLOWED), names)
