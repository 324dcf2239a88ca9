"""Which pods a disruption budget counts as healthy, and which of those that are left out are kept so that its count can be said.

A scenario whose disruption controller counts pods has only the kept ones, and a budget wants no fewer than none of them. So where more healthy pods than it wants are left out, it could allow
less than its status says.
"""

from collections.abc import Sequence

from .inventory import Inventory
from .members import ClusterNode, ClusterPod
from .reading.cluster_objects import BudgetObject


def is_counted_by(budget: BudgetObject, pod: ClusterPod) -> bool:
    """Whether the pod is one of the healthy pods of the budget (countHealthyPods in pkg/controller/disruption, 1.36)."""
    healthy = pod.exists and pod.node is not None and pod.ready and not pod.terminating
    return healthy and pod.name not in budget.disrupted and budget.protects(pod.entity)


def surplus(budget: BudgetObject, pods: Sequence[ClusterPod]) -> int:
    """How many healthy pods more would have to be among these, for them to be as many as the budget allows to go; 0 if they are enough."""
    return max(0, -budget.short - sum(is_counted_by(budget, p) for p in pods))


def supporters(
    pods: Sequence[ClusterPod],
    nodes: Sequence[ClusterNode],
    more: Sequence[ClusterNode],
    inventory: Inventory,
) -> list[ClusterPod] | None:
    """The healthy pods on these nodes, and on `more`, with which the budgets of these pods allow what they do; None if there are not enough.

    Nobody is needed where all of these pods that have budgets are ready: then budgets stay as their status says.
    """
    there = [p for p in pods if p.exists and p.node is not None and not p.terminating]
    unready = [p for p in there if not p.ready and any(b.protects(p.entity) for b in inventory.budgets)]
    if not unready:
        return []
    lower = [p for p in there if any(q.priority > p.priority for q in pods)]
    budgets = [b for b in inventory.budgets if any(b.protects(p.entity) for p in (*unready, *lower))]
    found: list[ClusterPod] = []
    for budget in budgets:
        missing = surplus(budget, [*pods, *found])
        able = [
            p
            for node in (*nodes, *more)
            for p in inventory.on(node.name)
            if p not in pods and p not in found and is_counted_by(budget, p)
        ]
        if missing > len(able):
            return None
        found += able[:missing]
    return found
