"""Properties of names that are used again: what was meant for a pod does not hit the one that has its name after it."""

from functools import partial

from ...model.environment.controllers.budgets import Budgets
from ...model.environment.names import Recreation
from ...model.environment.objects import Pod
from ...model.environment.pod_groups import Member
from ...model.environment.storage.claims import ClaimUse, ResourceClaims
from ...model.language import Expr, any_of, as_expr, before, when
from ...model.scheduler import DynamicResources, PodGroupStates
from ...model.scheduler.api_dispatcher import APIDispatcher
from ...model.scheduler.cycles.binding import BindingPhase
from ...model.scheduler.cycles.failure import FailurePhase
from ...model.scheduler.preemption.async_preemption import AsyncPhase, AsyncPreemption
from ..base.property import NeverHappens, Property


class WrittenByName(NeverHappens):
    """Remembers whether a write that was meant for a pod changed the object of the one that has its name after it."""

    may_be_given = True

    @property
    def recreations(self) -> tuple[Recreation, ...]:
        """Which pods take the names of others."""
        return self.universe[Recreation]

    def sent(self, pod: Pod) -> Expr:
        """Whether the write that was meant for the pod was sent in this step."""
        raise NotImplementedError

    def hit(self, pod: Pod) -> Expr:
        """Whether this step changed of the pod's object what such a write changes."""
        raise NotImplementedError

    def due(self, pod: Pod) -> Expr:
        """Whether such a write may still be sent for the pod."""
        raise NotImplementedError

    def observe(self) -> None:
        for recreation in self.recreations:
            with when(self.sent(recreation.before) & self.hit(recreation.after)):
                self.broken = True

    def witnesses(self) -> dict[str, Expr]:
        both = (self.api.pod[r.after].exists & self.due(r.before) for r in self.recreations)
        return {"a pod is recreated while the scheduler has the one before it in its hands": any_of(both)}


class BindingsHitTheirPod(WrittenByName):
    """No Binding that was made for one pod binds a later pod with the same name."""

    id = "S-IDENT"
    consequence = "A decision for a deleted pod binds a new pod of the same name. The new pod may run on an unsuitable node, or be rejected there."
    issues = (105261, 102761)

    def due(self, pod: Pod) -> Expr:
        return self._is_posting(pod) | self._is_under_way(pod)

    def _is_posting(self, pod: Pod) -> Expr:
        return self.binding.phase[pod] == BindingPhase.BIND

    def _is_under_way(self, pod: Pod) -> Expr:
        """Whether a Binding was sent of which nobody hears any more: it is executed some time after."""
        return self.process.sent[pod].is_some

    def sent(self, pod: Pod) -> Expr:
        parts = (self._is_posting, self._is_under_way)
        return any_of(before(partial(part, pod)) & ~part(pod) for part in parts)

    def hit(self, pod: Pod) -> Expr:
        def bound() -> Expr:
            return self.api.pod[pod].node.is_some

        return bound() & ~before(bound)


class EvictionsHitTheirPod(WrittenByName):
    """No eviction that preemption chose for one pod ends a later pod with the same name."""

    id = "S-IDVICTIM"
    consequence = (
        "Preemption deletes a new pod that has the name of its victim. A workload loses a pod for nothing."
    )

    async_preemption: AsyncPreemption

    def due(self, pod: Pod) -> Expr:
        goroutine = self.async_preemption
        return self.preemption.victim[pod] | any_of(
            goroutine.victim[p][pod] | ((goroutine.last[p] == pod) & self._is_due(p))
            for p in self.pods
            if p is not pod
        )

    def _is_due(self, preemptor: Pod) -> Expr:
        ended = (AsyncPhase.NONE, AsyncPhase.EVICTED, AsyncPhase.ACTIVATE)
        return ~any_of(self.async_preemption.phase[preemptor] == phase for phase in ended)

    def sent(self, pod: Pod) -> Expr:
        return any_of(
            before(partial(self._waits, p, pod)) & ~self._waits(p, pod) for p in self.pods if p is not pod
        ) | (before(lambda: as_expr(self.preemption.victim[pod])) & ~self.preemption.victim[pod])

    def _waits(self, preemptor: Pod, pod: Pod) -> Expr:
        goroutine = self.async_preemption
        last = (goroutine.last[preemptor] == pod) & (goroutine.phase[preemptor] == AsyncPhase.EVICT_LAST)
        among = goroutine.victim[preemptor][pod] & (goroutine.phase[preemptor] == AsyncPhase.EVICT)
        return last | among

    def hit(self, pod: Pod) -> Expr:
        def there() -> Expr:
            return self.api.pod[pod].exists & ~as_expr(self.api.pod[pod].terminating)

        return before(there) & ~there()


class GrantedEvictionsHitTheirPod(EvictionsHitTheirPod):
    """No eviction that was granted for one pod, with or without a budget, ends a later pod with the same name.

    In a violation, a drain, the descheduler or an autoscaler deletes a pod that it never named, without checking a budget.
    """

    id = "S-IDEVICT"
    consequence = "An eviction deletes a new pod instead of the old pod of the same name. A workload loses a pod that its budget may protect."
    issues = (142201,)

    budgets: Budgets

    def due(self, pod: Pod) -> Expr:
        return as_expr(self.budgets.evicting[pod])

    def sent(self, pod: Pod) -> Expr:
        return before(partial(self.due, pod)) & ~self.due(pod)


class StatusHitsItsPod(WrittenByName):
    """The failure handler never writes the condition or the nomination of one pod into the status of a later pod with the same name."""

    id = "S-IDSTATUS"
    consequence = "A new pod shows the condition or nomination of a deleted pod of its name. Users and autoscalers read a wrong reason, and the scheduler may reserve room wrongly."

    api_dispatcher: APIDispatcher

    def due(self, pod: Pod) -> Expr:
        return self._is_patching(pod) | self.api_dispatcher.has_patch(pod)

    def _is_patching(self, pod: Pod) -> Expr:
        return self.failure.phase[pod] == FailurePhase.PATCH

    def sent(self, pod: Pod) -> Expr:
        def is_writing() -> Expr:
            return self._is_patching(pod) | self.api_dispatcher.is_writing(pod)

        return before(is_writing) & ~is_writing()

    def hit(self, pod: Pod) -> Expr:
        def failed() -> Expr:
            found: Expr = self.api.pod[pod].failed
            return as_expr(found)

        def nominated() -> Expr:
            return self.api.pod[pod].nominated.is_some

        return (failed() & ~before(failed)) | (nominated() & ~before(nominated))


class SchedulerGoesOn(Property):
    """No handler of the scheduler ends the process because of an event. No goroutine ends the process because of the contents of a claim or the
    state of a group.
    """

    id = "S-EXIT"
    consequence = "The scheduler crashes. No pod is scheduled until it restarts or another replica takes over (some 15 seconds), and it may crash again on the same object."
    issues = (141255, 137371, 50916)
    may_be_given = True

    resource_claims: ResourceClaims
    dynamic_resources: DynamicResources
    pod_group_states: PodGroupStates

    def holds(self) -> Expr:
        panicked = self.dynamic_resources.has_panicked() | self.pod_group_states.has_panicked()
        return ~(self.handlers.has_ended_itself() | panicked)

    def witnesses(self) -> dict[str, Expr]:
        if self.universe[Member]:
            states = self.pod_group_states
            return {
                "a pod of a group is forgotten": any_of(
                    self.binding.phase[m.pod] == BindingPhase.FORGET for m in self.universe[Member]
                ),
                "a pod of a group is unscheduled": any_of(
                    states.unscheduled[m] for m in self.universe[Member]
                ),
            }
        swaps = self.universe[Recreation] if self.scope.relists else ()
        if self.universe[ClaimUse] and not swaps:
            return {
                "the claim of a pod is deallocated during its binding": any_of(
                    (self.binding.phase[use.pod] == BindingPhase.PRE_BIND)
                    & self.dynamic_resources.copy[use].allocated
                    & ~self.resource_claims.object[use.claim].allocated
                    for use in self.universe[ClaimUse]
                )
            }
        if not swaps and self.cache.may_be_elsewhere():
            return {
                "a pod is assumed on another node than the one that it is bound to": any_of(
                    self.cache.is_assumed(p)
                    & self.api.pod[p].node.is_some
                    & (self.api.pod[p].node != self.cache.node_of(p))
                    for p in self.pods
                )
            }
        gone = (self.pod_watch.lister[r.before].assigned & self.api.pod[r.after].exists for r in swaps)
        return {"a pod that had a node is recreated before the scheduler is notified of it": any_of(gone)}
