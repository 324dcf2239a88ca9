"""Who else acts on the kept pods and nodes: pods that are not ready or being deleted, finalizers, and nodes that their kubelets do not report to be ready.

A scenario has such an actor only where a kept object gives it something to do: each multiplies the states. What a dump cannot say is taken at its worst: a pod that is not ready stays so until somebody mends it, and whoever
set a finalizer may never take it away. A budget never allows less, or more, than its status says: where it would if kept pods alone were counted, nobody counts, and that is said.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from ..base.structs import Data
from ..scenarios.tables.objects import MAX_ALLOWED
from .counted_pods import is_counted_by, surplus
from .left_out import leaving
from .members import ClusterNode, ClusterPod
from .reading.cluster_objects import BudgetObject
from .representative import Representative, victims_of

MOST_COUNTED = 15
"""A budget of a scenario wants no more pods than this."""


class KeptBudget(Data):
    """A budget as the kept pods see it: those that are left out neither come nor go. `wanted` is how many of the kept ones are to be healthy, None where nobody counts."""

    budget: BudgetObject
    allowed: int
    paid: tuple[str, ...]
    wanted: int | None = None


class Lives:
    """What of all this is in the scenario of a representative."""

    def __init__(self, kept: Representative) -> None:
        self.kept = kept
        self._bound = [p for p in kept.pods if p.exists and p.node is not None and not kept.is_placed(p)]
        gone = {p.name for p, _ in leaving(kept)} | {p.name for p in victims_of(kept)}
        self.lingering = [p for p in self._bound if p.finalizers and (p.name in gone or p.terminating)]
        made = kept.makers is not None and bool(kept.makers.controllers)
        self.deleted = [] if made else [p for p in self._bound if p.terminating]
        there = [p for p in kept.pods if p.exists and p.node is not None]
        unready = [p for p in there if not p.ready and not p.terminating and self._budgets_of(p)]
        self._unheeded = unready if made else []
        self._not_ready = unready
        said = [] if made else [b for b in self._concerned(unready) if _unlike(b, there)]
        self._uncounted = said if unready else []
        self.unready: Sequence[ClusterPod] = [] if made or self._uncounted else unready
        self._there = there

    @property
    def ailing(self) -> list[ClusterNode]:
        """The kept nodes that the node lifecycle controller has something to do for."""
        return [n for n in self.kept.nodes if n.ails]

    def _budgets_of(self, pod: ClusterPod) -> list[BudgetObject]:
        return [b for b in self.kept.inventory.budgets if b.protects(pod.entity)]

    def _concerned(self, unready: Sequence[ClusterPod]) -> list[BudgetObject]:
        """The budgets that protect a kept pod which may be evicted, or one of these."""
        some = [*victims_of(self.kept), *unready]
        return [b for b in self.kept.inventory.budgets if any(b.protects(p.entity) for p in some)]

    @property
    def budgets(self) -> Iterator[KeptBudget]:
        """The budgets that protect a kept pod which is less important than another, or one that is not ready: nobody else is ever taken away."""
        victims = {p.name for p in victims_of(self.kept)} | {p.name for p in self.unready}
        for budget in self._concerned(self.unready):
            own = [p for p in self.kept.pods if budget.protects(p.entity)]
            paid = tuple(sorted(budget.disrupted & {p.name for p in own}))
            if not self.unready:
                protected = {p.name for p in own} & victims
                yield KeptBudget(budget, budget.allowed, tuple(n for n in paid if n in protected))
                continue
            healthy = sum(is_counted_by(budget, p) for p in own)
            wanted = min(MOST_COUNTED, max(0, healthy + budget.short))
            yield KeptBudget(budget, max(0, healthy - wanted), paid, wanted)

    @property
    def scope(self) -> dict[str, Any]:
        """What the scenario's scope says of them."""
        nodes = self.kept.nodes
        departing = len(nodes) if all(n.deleted for n in nodes) else 0
        return {
            **({"disruption_controller": True, "readiness": True} if self.unready else {}),
            **({"pod_phases": True} if any(p.unstarted for p in self.unready) else {}),
            **({"bound_finalizers": True} if self.lingering else {}),
            **({"node_lifecycle": True} if self.ailing else {}),
            **({"node_deletions": departing} if departing else {}),
        }

    @property
    def properties(self) -> tuple[str, ...]:
        """What is asked because of them."""
        return (*(["S-DRAIN"] if self.unready else []), *(["S-LINGER"] if self.lingering else []))

    def of(self, pod: ClusterPod) -> dict[str, Any]:
        """What the scenario says of a pod."""
        found: dict[str, Any] = {}
        if pod in self.unready:
            found |= {**({"phase": "Pending"} if pod.unstarted else {}), "ready": False}
        if pod in self.deleted:
            found["deleted"] = True
        if pod in self.lingering:
            found["finalizers"] = list(pod.finalizers)
        return found

    def lines(self, pod: ClusterPod) -> Iterator[str]:
        """What the account says of a pod."""
        if pod in self.unready:
            how = "Pending" if pod.unstarted else "not ready"
            yield f"{how}: its budget does not count it, and it stays so until somebody mends it"
        elif pod in self._not_ready and self._uncounted:
            yield "not ready, which is not looked at: its budgets stay as their status says"
        if pod in self.deleted:
            yield "being deleted: its kubelet stops it"
        if pod in self.lingering:
            yield f"its finalizers keep its object: {', '.join(pod.finalizers)}"
        elif pod.finalizers:
            yield f"its finalizers are left out, as if it were gone at once when it is deleted: {', '.join(pod.finalizers)}"

    def remarks(self) -> Iterator[str]:
        """What of the kept objects is left out, with the object."""
        for pod in self._unheeded:
            yield (
                "whether a pod is ready is not looked at together with controllers that recreate pods: its budget counts as its status says, without --controllers "
                f"it is looked at (Pod/{pod.name})"
            )
        for budget in self._uncounted:
            names = [p.name for p in self._not_ready]
            yield (
                f"{_unlike(budget, self._there)}; it stays as its status says: that {' and '.join(names)} {'is' if len(names) == 1 else 'are'} "
                f"not ready is not looked at, and S-DRAIN is not asked (PodDisruptionBudget/{budget.meta.name})"
            )
        nodes = self.kept.nodes
        for node in nodes if not all(n.deleted for n in nodes) else ():
            if node.deleted:
                yield f"the node is being deleted: that it goes is not in the scenario, as another kept node stays (Node/{node.name})"


def _unlike(budget: BudgetObject, pods: Sequence[ClusterPod]) -> str:
    """Why a disruption controller that counts these pods alone would have the budget allow something else than its status says; empty if it would not."""
    left = max(0, -budget.short)
    if min(left, MAX_ALLOWED) != budget.allowed:
        return (
            f"disruptionsAllowed of the budget is {budget.allowed}, and currentHealthy and desiredHealthy leave {left}, "
            "so that it is still to be counted again"
        )
    if missing := surplus(budget, pods):
        return (
            f"the budget allows {budget.allowed} to go, and {missing} of the healthy pods that it can spare {'is' if missing == 1 else 'are'} left out, "
            "which a scenario that counts pods cannot say (a larger --pods or --nodes may keep them)"
        )
    return ""
