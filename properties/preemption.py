"""Properties of preemption: it does good, and at no higher price than it knows."""

from __future__ import annotations

from ..model.environment.objects import Budget, Node, Pod
from ..model.language import Expr, any_of, count
from ..model.scheduler.verdicts import NodeVerdict, Phase
from .property import Property


class NoPreemptionWithoutBenefit(Property):
    """Preemption chooses a node only if somebody has to go there for the preemptor to fit.

    Where nobody has to go, the next attempt would find the room by itself; a nomination only keeps it from others.
    """

    id = "S-GAIN"
    issues = (101560,)

    def is_candidate(self, node: Node) -> Expr:
        """Whether the dry run found the node to be a candidate."""
        found: Expr = self.scheduler.verdict[node] == NodeVerdict.CANDIDATE
        return found

    def pointless(self, node: Node) -> Expr:
        """Whether a candidate has no victims."""
        chooses = (self.scheduler.phase == Phase.DRY_RUN) & self.is_candidate(node)
        return chooses & ~any_of(self.preemption.victims_on(node).values())

    def holds(self) -> Expr:
        return ~any_of(self.pointless(n) for n in self.nodes)

    def goals(self) -> dict[str, Expr]:
        candidates = (self.is_candidate(n) for n in self.nodes)
        return {"preemption has a candidate": any_of(candidates)}


class BudgetsCounted(Property):
    """A victim is evicted as one that its budgets have room for only if they have, after all evictions so far."""

    id = "S-PDB"
    concerns = "the victim"
    issues = (91492,)

    def gone(self, pod: Pod) -> Expr:
        """Whether the pod was running at the start and is being deleted or gone."""
        return ~self.api.pod[pod].exists | self.api.pod[pod].terminating

    def spent(self, budget: Budget) -> Expr:
        """How many of the pods that the budget protects have been deleted so far."""
        return count(self.gone(p) for p in self.pods if p.node is not None and budget.selects(p))

    def overdrawn(self, pod: Pod, node: Node) -> Expr:
        """Whether the pod is next to be evicted from the node as if its budgets had room, and one has none."""
        preemptors = [p for p in self.pods if p is not pod]
        counted = any_of(
            self.scheduler.in_flight(p) & self.preemption.violating(p, node)[pod] for p in preemptors
        )
        next_one = (self.scheduler.phase == Phase.EVICT) & self.preemption.victim[pod]
        used_up = any_of(self.spent(b) >= b.allowed for b in self.universe[Budget] if b.selects(pod))
        return next_one & self.snapshot.on(pod, node) & ~self.gone(pod) & ~counted & used_up

    def holds(self) -> Expr:
        return ~any_of(self.overdrawn(p, n) for p in self.subjects for n in self.nodes)

    def goals(self) -> dict[str, Expr]:
        protected = [p for p in self.subjects if any(b.selects(p) for b in self.universe[Budget])]
        evicting = self.scheduler.phase == Phase.EVICT
        return {
            "a pod with a budget is to be evicted": evicting
            & any_of(self.preemption.victim[p] for p in protected)
        }
