"""What speaks of several pods: budgets for their disruption, and groups."""

from collections.abc import Sequence

from ...language import Entity, Expr, as_expr
from .placement_rules import Selector
from .pods import Pod
from .resources import Quantity


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
        """Whether the budget protects the pod (getPodDisruptionBudgets, getPodsForPdb, 1.36): an empty selector every pod of the namespace, one that cannot be parsed nobody."""
        selected = self.selector.valid and self.selector.matches(pod.labels)
        return selected and pod.namespace == self.namespace


class PodGroup(Entity):
    """A PodGroup (in 1.35 a pod group of a Workload): a gang of at least `min_count` pods, or, without, a group with the basic policy.

    `parent` names the CompositePodGroup that it belongs to. That is one of these, too: `min_group_count` of its groups are scheduled together.
    `exists` is False for one that a user may create later. `topology_key` (spec.schedulingConstraints.topology): its pods go to nodes with one value of this label.
    """

    about = "pod group {}"

    def __init__(
        self,
        index: int,
        name: str,
        min_count: int | None = None,
        exists: bool = True,
        topology_key: str | None = None,
        parent: str | None = None,
        min_group_count: int | None = None,
    ) -> None:
        super().__init__(index, name)
        self.min_count, self.exists, self.topology_key = min_count, exists, topology_key
        self.parent, self.min_group_count = parent, min_group_count
