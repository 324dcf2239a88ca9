"""Properties of preemption: it ends, it does good at no higher price than it knows, and it brings about what priorities
promise.
"""

from collections.abc import Iterator
from functools import partial

from ...model.environment.controllers.budgets import Budgets
from ...model.environment.objects import DisruptionBudget, Node, Pod
from ...model.language import Case, Expr, any_of, as_expr, before, boolean, count, per, when
from ...model.scheduler.framework.status import NodeStatus, Phase
from ...model.scheduler.podgroups.pod_group_cycle import PodGroupCycle
from ...model.scheduler.preemption.async_preemption import AsyncPhase, AsyncPreemption
from ..base import truth
from ..base.property import Property
from ..scheduling.liveness import Liveness


class PreemptionEnds(Liveness):
    """No pod waits indefinitely while preemption chooses a node for it again and again."""

    id = "L-OVER"
    consequence = (
        "A pod evicts others again and again and never starts. Workloads lose pods for nothing, indefinitely."
    )
    concerns = "the pod that preempts again and again"
    issues = (72124,)

    def chosen(self, pod: Pod) -> Expr:
        """Whether preemption has just chosen a node for the pod."""
        return any_of(self.scheduler.decided(pod, n) for n in self.nodes)

    def cases(self) -> Iterator[Case]:
        for pod in self.subjects:
            waiting = truth.waits(self, pod)
            yield Case(
                f"{pod.name} preempts again and again and is never scheduled", waiting, (self.chosen(pod),)
            )

    def witnesses(self) -> dict[str, Expr]:
        return {"preemption chooses a node": any_of(self.chosen(p) for p in self.subjects)}


class NoLastingInversion(Liveness):
    """No pod that may preempt waits indefinitely if there is a node on which it would fit, at every moment, without the node's pods of lower priority."""

    id = "L-INV"
    consequence = "An important pod stays Pending indefinitely while less important ones keep the room that it may take."
    concerns = "the pod that waits"

    def held_back(self, pod: Pod, node: Node) -> Expr:
        """Whether the pod would fit on the node if the pods of lower priority were not there, and does not as it is."""
        where = truth.placement(self)
        present = where.present(pod, node)
        without = where.with_present(
            node, {q: here & ~(q.priority < pod.priority) for q, here in present.items()}
        )
        return (
            truth.waits(self, pod)
            & where.live[node]
            & ~truth.fits(self, pod, node, where)
            & truth.fits(self, pod, node, without)
        )

    def _case(self, pod: Pod, node: Node) -> str:
        return f"{pod.name} waits indefinitely for room that pods of lower priority have on {node.name}"

    def cases(self) -> Iterator[Case]:
        for pod in self.subjects:
            for node in self.nodes:
                if pod.preempts:
                    yield Case(self._case(pod, node), self.held_back(pod, node))

    def telling(self) -> Iterator[tuple[str, Expr]]:
        """Where a pod is nominated, it has made room already: another node is the point."""
        for pod in self.subjects:
            for node in self.nodes:
                yield self._case(pod, node), self.api.pod[pod].nominated != node

    def witnesses(self) -> dict[str, Expr]:
        held = (self.held_back(p, n) for p in self.subjects for n in self.nodes)
        return {"a pod of lower priority has the room": any_of(held)}


class NoPreemptionWithoutBenefit(Property):
    """Preemption chooses a node only if the preemptor does not fit there without an eviction.

    If no victim is needed, the next attempt finds the room without a preemption. A nomination would only exclude other pods from the room.
    """

    id = "S-GAIN"
    consequence = "Running pods are evicted though the preemptor would have fitted without that. Workloads lose pods for nothing."
    issues = (101560,)

    def is_candidate(self, node: Node) -> Expr:
        """Whether the dry run found the node to be a candidate."""
        return self.scheduler.verdict[node] == NodeStatus.CANDIDATE

    def pointless(self, node: Node) -> Expr:
        """Whether a candidate has no victims."""
        chooses = (self.scheduler.phase == Phase.DRY_RUN) & self.is_candidate(node)
        return chooses & ~any_of(self.preemption.victims_on(node).values())

    def holds(self) -> Expr:
        return ~any_of(self.pointless(n) for n in self.nodes)

    def witnesses(self) -> dict[str, Expr]:
        candidates = (self.is_candidate(n) for n in self.nodes)
        return {"preemption has a candidate": any_of(candidates)}


class OnePreemptionAtATime(Property):
    """Another preemption for a pod begins only when the last victim of the previous preemption is gone, or
    its deletion has been sent.

    In a violation, the pod chooses the same victim again and again, and each preemption sends another deletion of the victim.
    """

    id = "S-ONCE"
    consequence = "More pods are evicted for one pod than it needs. Workloads lose pods for nothing."
    issues = (134249,)

    async_preemption: AsyncPreemption
    pod_group_cycle: PodGroupCycle

    def last_is_to_go(self, pod: Pod) -> Expr:
        """Whether a goroutine has only the last victim of the pod to evict, and nobody else has deleted it."""
        goroutine, api = self.async_preemption, self.api.pod
        there = any_of(
            (goroutine.last[pod] == q) & api[q].exists & ~as_expr(api[q].terminating) for q in self.pods
        )
        return (goroutine.phase[pod] == AsyncPhase.EVICT_LAST) & there

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for p in self.pods:
            looks = self.scheduler.at(Phase.DRY_RUN, p) | self.pod_group_cycle.preempts(p)
            again = looks & self.last_is_to_go(p)
            yield f"{p.name} looks for victims again, while its last one is still to be evicted", again

    def witnesses(self) -> dict[str, Expr]:
        return {"a last victim is still to be evicted": any_of(self.last_is_to_go(p) for p in self.pods)}


class EvictionsCounted(Property):
    """The eviction subresource grants an eviction only if enough pods of the budget remain: as many as the budget wants to run.

    Two kinds of pods may be evicted without this condition: a pod that is not ready, as long as it is not
    ready, and a pod that has succeeded or failed. An eviction lowers disruptionsAllowed in the budget's
    status. Preemption does not. The disruption controller updates the status some time after pods are created
    or deleted. The property checks only evictions through the API server, because preemption may violate a
    budget if there is no other way.
    """

    id = "S-EVICT"
    consequence = "Evictions take more pods than the PodDisruptionBudget allows. The application runs with fewer replicas than promised."
    concerns = "the pod that is evicted"
    issues = (91492,)
    may_be_given = True

    budgets: Budgets

    overdrawn = boolean()

    def granted(self, pod: Pod) -> Expr:
        """Whether the eviction of the pod is granted, and not as that of one that has ended."""
        unasked = self.budgets.was_unready(pod) | self.api.finished[pod]
        return as_expr(self.budgets.evicting[pod]) & ~unasked

    def goes_ready(self, pod: Pod) -> Expr:
        """Whether the pod is bound, ready, not being deleted, and its eviction is granted as that of one that is not ready."""
        current = self.api.pod[pod]
        return (
            current.assigned
            & ~current.terminating
            & self.budgets.was_unready(pod)
            & self.budgets.is_ready(pod)
        )

    def observe(self) -> None:
        for pod in self.subjects:
            short = any_of(
                self.budgets.healthy(b) < self.budgets.desired(b)
                for b in self.universe[DisruptionBudget]
                if b.selects(pod)
            )
            with when(self.granted(pod) & ~before(partial(self.granted, pod)) & short):
                self.overdrawn = True
            if self.budgets.probes:
                deleted = ~self.api.pod[pod].exists | self.api.pod[pod].terminating
                with when(before(partial(self.goes_ready, pod)) & deleted & short):
                    self.overdrawn = True

    def holds(self) -> Expr:
        return ~as_expr(self.overdrawn)

    def witnesses(self) -> dict[str, Expr]:
        evicted = any_of(as_expr(self.budgets.evicting[p]) for p in self.subjects)
        return {"an eviction is granted": evicted}


class UnhealthyPodsCanGo(Property):
    """When the scheduler, the watches, the kubelets and the timers can take no step, a pod that has succeeded or failed can be evicted. So can a pod
    that is not ready, if as many other pods are healthy as its budget wants, or if the budget's policy is AlwaysAllow.

    In a violation, a drain waits for a pod that its budget does not count as healthy. Readiness matters only
    with `readiness` in the scope.
    """

    id = "S-DRAIN"
    consequence = "A drain, of kubectl or of the autoscaler, cannot evict the pod: it retries until somebody deletes the pod or changes its budget."
    kind = "deadlock freedom"
    concerns = "the pod that cannot be evicted"
    issues = (80389,)
    may_be_given = True

    budgets: Budgets

    def holds(self) -> Expr:
        return ~any_of(self.stays(pod) for pod in self.subjects)

    def stays(self, pod: Pod) -> Expr:
        """Whether the pod is not ready, or has ended, and its eviction is refused although it would harm nobody."""
        own = self.budgets.protecting(pod)
        if not self.budgets.kept or len(own) != 1:
            return as_expr(False)
        (budget,) = own
        paid = (self.budgets.allowed[budget] > 0) | self.budgets.evicting[pod]
        ended = self.budgets.has_ended(pod) & ~(paid | as_expr(self.budgets.ignores_ended()))
        return ended | self.stays_unready(pod, budget)

    def stays_unready(self, pod: Pod, budget: DisruptionBudget) -> Expr:
        """Whether the pod is not ready, and its eviction is refused although it would harm nobody."""
        if not self.budgets.probes:
            return as_expr(False)
        current = self.api.pod[pod]
        here = current.assigned & ~current.terminating & ~self.budgets.is_ready(pod)
        enough = (self.budgets.healthy(budget) >= self.budgets.desired(budget)) & (
            self.budgets.desired(budget) > 0
        )
        may = (
            self.budgets.spares(budget, pod) | (self.budgets.allowed[budget] > 0) | self.budgets.evicting[pod]
        )
        return here & (enough | as_expr(budget.always_allow)) & ~may

    def witnesses(self) -> dict[str, Expr]:
        def is_unready(pod: Pod) -> Expr:
            return (self.api.pod[pod].assigned & ~self.budgets.is_ready(pod)) | self.budgets.has_ended(pod)

        asked = [p for p in self.subjects if self.budgets.kept and len(self.budgets.protecting(p)) == 1]
        return {"a pod with a budget is not ready, or has ended": any_of(map(is_unready, asked))}


class BudgetsCounted(Property):
    """If preemption counts a victim as one that its budgets allow, these budgets still allow the eviction after all earlier evictions."""

    id = "S-PDB"
    consequence = "Preemption takes more pods than the PodDisruptionBudget allows. The application runs with fewer replicas than promised."
    concerns = "the victim"
    issues = (91492,)

    async_preemption: AsyncPreemption
    budgets: Budgets

    overdrawing = per(Pod, per(Pod, boolean()))

    def gone(self, pod: Pod) -> Expr:
        """Whether the pod was running at the start and is being deleted or gone; that it has finished is no disruption."""
        return (~self.api.pod[pod].exists | self.api.pod[pod].terminating) & ~as_expr(self.api.finished[pod])

    def is_used_up(self, budget: DisruptionBudget) -> Expr:
        """Whether the budget has room for no further pod."""
        if self.budgets.kept:
            return self.budgets.healthy(budget) <= self.budgets.desired(budget)
        spent = count(self.gone(p) for p in self.pods if p.node is not None and budget.selects(p))
        return spent >= budget.allowed

    def protected(self) -> list[Pod]:
        """The pods that a budget protects."""
        return [p for p in self.subjects if any(b.selects(p) for b in self.universe[DisruptionBudget])]

    def overdraws(self, preemptor: Pod, pod: Pod) -> Expr:
        """Whether preemption has found no room in the pod's budgets, and evicts it all the same: it had no better choice."""
        return any_of(
            self.snapshot.on(pod, n) & self.preemption.violating(preemptor, n)[pod] for n in self.nodes
        )

    def chosen(self, preemptor: Pod, pod: Pod) -> Expr:
        """Whether a goroutine is to evict the pod."""
        if not self.async_preemption.is_there():
            return as_expr(False)
        goroutine = self.async_preemption
        ended = (AsyncPhase.NONE, AsyncPhase.EVICTED, AsyncPhase.ACTIVATE)
        return goroutine.victim[preemptor][pod] & ~any_of(goroutine.phase[preemptor] == p for p in ended)

    def observe(self) -> None:
        for pod in self.protected():
            for preemptor in self.pods:
                chosen = partial(self.chosen, preemptor, pod)
                if preemptor is not pod and self.async_preemption.is_there():
                    with when(chosen() & ~before(chosen)):
                        self.overdrawing[preemptor][pod] = before(partial(self.overdraws, preemptor, pod))
                    with when(~chosen()):
                        self.overdrawing[preemptor][pod] = False

    def is_next(self, preemptor: Pod, pod: Pod) -> Expr:
        """Whether the preemptor's victim is next to be evicted, as if its budgets had room."""
        goroutine = self.async_preemption
        if not goroutine.is_there():
            evicting = (self.scheduler.phase == Phase.EVICT) & self.scheduler.in_flight(preemptor)
            return evicting & self.preemption.victim[pod] & ~self.overdraws(preemptor, pod)
        is_last = goroutine.last[preemptor] == pod
        evicting = (goroutine.phase[preemptor] == AsyncPhase.EVICT) & ~is_last
        evicting |= (goroutine.phase[preemptor] == AsyncPhase.EVICT_LAST) & is_last
        return evicting & goroutine.victim[preemptor][pod] & ~self.overdrawing[preemptor][pod]

    def holds(self) -> Expr:
        wrong = as_expr(False)
        for pod in self.protected():
            used_up = any_of(self.is_used_up(b) for b in self.universe[DisruptionBudget] if b.selects(pod))
            next_one = any_of(self.is_next(p, pod) for p in self.pods if p is not pod)
            wrong |= next_one & self.api.pod[pod].assigned & ~self.gone(pod) & used_up
        return ~wrong

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for pod in self.protected():
            for budget in self.universe[DisruptionBudget]:
                for p in self.pods:
                    if p is not pod and budget.selects(pod):
                        wrong = self.is_next(p, pod) & self.api.pod[pod].assigned & ~self.gone(pod)
                        told = f"{pod.name} is evicted for {p.name}, and its budget {budget.name} has no room"
                        yield told, wrong & self.is_used_up(budget)

    def witnesses(self) -> dict[str, Expr]:
        victims = (self.is_next(p, q) for q in self.protected() for p in self.pods if p is not q)
        return {"a pod with a budget is to be evicted": any_of(victims)}
