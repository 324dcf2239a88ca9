"""Preemption as it was."""

from collections.abc import Mapping

from ....environment.faults import Fault
from ....environment.objects import DisruptionBudget, Node, Pod
from ....language import Expr, Value, any_of, as_expr, otherwise, require, select, step, tells, when
from ....scheduler import AsyncPreemption, Preemption, Scheduler
from ....scheduler.framework.status import Phase
from ....scheduler.preemption.async_preemption import EVICTED, AsyncPhase
from ....scheduler.preemption.evaluator import highest
from ....scheduler.preemption.eviction_words import eviction
from ...registry.change import always, before, never, no, yes
from ...versions import PRE_RELEASES


@before(
    "135486",
    "a dry run that needs no victim is not an error, and extenders that preempt are called for the node",
    first_in=PRE_RELEASES[0],
)
class NobodyToEvictIsError(Preemption):
    """A dry run without victims ended in an error ("expected at least one victim pod"), so that the preemptor kept its nomination (1.22 to 1.37)."""

    is_placeholder = never

    def is_error(self, feasible: Expr, victims: Mapping[Pod, Expr]) -> Expr:
        return feasible & ~any_of(victims.values())


@before("101560", "a node where preemption would evict no pod is not a candidate", first_in="1.22")
class Before101560(Preemption):
    """A dry run that needed no victim gave a candidate, and the chooser took it at once."""

    def is_candidate(self, feasible: Expr, victims: Mapping[Pod, Expr]) -> Expr:
        return feasible

    is_error = never

    def preferred(self, pod: Pod, a: Node, b: Node) -> Expr:
        free_one = ~any_of(self.victims_on(a).values())
        free_two = ~any_of(self.victims_on(b).values())
        return select(free_two, False, free_one | super().preferred(pod, a, b))


@before(
    "128307",
    "the list of victims is sorted by importance alone",
    first_in="1.32",
    backports=("1.29.11", "1.30.7", "1.31.3"),
)
class ViolatorsListedFirst(Preemption):
    """The list had those first whose eviction violates a budget; the chooser looked at the first, and the last was evicted last."""

    def first_priority(self, pod: Pod, victims: Mapping[Pod, Expr], node: Node) -> Expr:
        violating = self.violations(pod, victims, node)
        return select(any_of(violating.values()), highest(violating), highest(victims))

    def is_listed_before(self, preemptor: Pod, a: Pod, b: Pod) -> Expr:
        return self.is_ahead(a, b, self.violators(preemptor))


@before("no-victims", "a node without lower-priority pods is not tried by preemption", first_in="1.21")
class EveryNodeTried(Preemption):
    """Every node was filtered again, also where nobody could be evicted."""

    worth_trying = always


@before("parallel-evictions", "the victims of a preemption are evicted in parallel", first_in="1.26")
class EvictionsInOrder(Preemption):
    """Victims were evicted one by one: violators of budgets first, then the most important."""

    def is_next_victim(self, preemptor: Pod, pod: Pod) -> Expr:
        return self.is_first_victim(preemptor, pod)


@before("gone-victims", "a victim that is already gone does not end the preemption", first_in="1.32")
class GoneVictimFailsPreemption(Scheduler):
    """The API server's NotFound was an error like any other."""

    @tells(*eviction("PostFilter ends in an error"))
    def evict(self, pod: Pod, victim: Pod, ok: bool) -> None:
        super().evict(pod, victim, ok)

    def victim_was_gone(self, victim: Pod) -> None:
        self.eviction_failed()


_ASYNC = "a goroutine evicts the victims while the preemptor waits (SchedulerAsyncPreemption)"


@before("async-preemption", _ASYNC, first_in="1.33", gate="SchedulerAsyncPreemption")
class NoPreemptionGoroutine(AsyncPreemption):
    """There was no such goroutine, and nothing kept a preemptor out of the queue."""

    is_there = no
    holds = never

    def require_phase(self, pod: Pod, phase: AsyncPhase) -> None:
        require(False)


@before(
    "preempts-for-the-popped",
    "victims are evicted for the popped pod, not for the pod that was found under its name",
    first_in="1.37",
)
class PreemptsForTheFound(Scheduler):
    """What Preempt read again by name was its preemptor to the end: the goroutine registered it, and PreEnqueue held it back."""

    def preemptors(self, pod: Pod) -> list[tuple[Pod, Expr]]:
        return [(pod, as_expr(True))]


@before("async-preemption", _ASYNC, first_in="1.33", gate="SchedulerAsyncPreemption")
class PreemptionInCycle(Scheduler):
    """The scheduling cycle evicted the victims itself."""

    preempts_in_cycle = yes

    def after_choice(self, pod: Pod, node: Node) -> None:
        self.advance_preemption()


@before(
    "133167",
    "a preemptor whose victims were all gone is activated",
    first_in="1.34",
    issues=(141694,),
    until="1.34.2",
)
class GoneVictimsWakeNobody(AsyncPreemption):
    """The goroutine did not mind whether anybody was left to be evicted."""

    nobody_was_left = never


@before(
    "137981", "a victim lowers its budgets only up to the first that has no disruption left", first_in="1.37"
)
class EveryBudgetIsSpent(Preemption):
    """A victim that one budget had no room for took from its other budgets all the same (filterPodsWithPDBViolation)."""

    is_spent = always


@before(
    "last-victim-gone",
    "a preemptor whose last victim was already gone is activated",
    first_in=PRE_RELEASES[0],
)
class GoneLastVictimWakesNobody(AsyncPreemption):
    """The goroutine activated the preemptor only if it had found none of the victims, or had stopped the last in memory (1.32 to 1.37)."""

    finds_nobody = never


@before(
    "140054",
    "a preemptor whose last victim was rejected in memory is activated",
    first_in="1.37",
    issues=(140082,),
)
class RejectionsWakeNobody(AsyncPreemption):
    """The goroutine did not activate the preemptor, although no event of the API server was to come."""

    def note_rejection(self, pod: Pod, rejected: Expr) -> None:
        """Not noted."""

    rejected_last = never


@before(
    "134730",
    "a preemptor is held back until the lister shows its last victim as gone or terminating",
    first_in="1.35",
    issues=(134249,),
)
class LastVictimUnawaited(AsyncPreemption):
    """The gate opened before the last victim was evicted, whatever had become of that eviction."""

    awaits_last = never

    def evicted_last(self, pod: Pod) -> None:
        self.conclude(pod)

    def leave_last(self, pod: Pod) -> None:
        """The preemptor had left before."""
        require(False)


@before("last-victim-spared", "the last victim is spared if the eviction of another failed", first_in="1.36")
class LastVictimTriedAnyway(AsyncPreemption):
    """The last victim was tried whatever had become of the others.

    With a cancelled context no call to the API server gets through; but a victim that waits for permission is rejected in memory.
    """

    def phase_after_others(self, pod: Pod) -> Expr:
        return as_expr(AsyncPhase.EVICT_LAST)

    @step(actor="preemption goroutine", each="pod")
    @tells("The goroutine tries to evict the last victim for {pod}, but its calls are cancelled.")
    def fail_to_evict_last(self, pod: Pod, victim: Pod) -> None:
        """An eviction failed before: the call is not even sent."""
        require(pod is not victim and self.may_fail())
        self.require_phase(pod, AsyncPhase.EVICT_LAST)
        require(self.last[pod] == victim)
        require(self.cancelled[pod] & ~self.waiting.holds(victim))
        self.evicted_last(pod)

    @step(actor="preemption goroutine", each="pod")
    @tells(*EVICTED)
    def evict_last(self, pod: Pod, victim: Pod, ok: bool) -> None:
        """The last victim is evicted, or after a failure only rejected in memory."""
        require(~as_expr(self.cancelled[pod]) | (ok & self.waiting.holds(victim)))
        super().evict_last(pod, victim, ok)


@before(
    "missing-status",
    "preemption does not try a node that the filters did not check",
    first_in="1.31",
    backports=("1.27.15", "1.28.11", "1.29.6", "1.30.2"),
)
class UnfilteredNodesTried(Preemption):
    """A node without a status was worth trying."""

    tries_unfiltered = yes


@before(
    "terminating-victims",
    "a victim that is already terminating is not deleted again",
    first_in="1.34",
    reverts=("1.34.2",),
)
class TerminatingVictimsDeleted(Scheduler):
    """Every victim was deleted, also one that was terminating."""

    def to_be_evicted(self, victim: Pod) -> Expr:
        return as_expr(self.preemption.victim[victim])


@before(
    "own-nomination",
    "only the failure handler withdraws the nomination of a pod that preemption cannot help",
    "1.34",
)
class OwnNominationClearedFirst(Scheduler):
    """Where no eviction on any node would help, preemption itself cleared the preemptor's nomination."""

    def hopeless(self, nominated: Value) -> None:
        with when(as_expr(nominated).is_some):
            self.phase = Phase.CLEAR_OWN_NOMINATION
        with otherwise():
            self.no_candidate()

    @step(actor="scheduler")
    @tells("No eviction would help: the scheduler withdraws {pod}'s own nomination at the API server.")
    def clear_own_nomination(self, pod: Pod) -> None:
        """No eviction anywhere would help: withdraw, at the API server, the preemptor's own nomination."""
        require(self.at(Phase.CLEAR_OWN_NOMINATION, pod))
        self.api.clear_nomination(pod)
        self.no_candidate()

    @step(actor="scheduler")
    @tells(
        "No eviction would help: the scheduler tries to withdraw {pod}'s own nomination, and the write fails."
    )
    def fail_to_clear_own_nomination(self, pod: Pod) -> None:
        """The write fails, which is logged."""
        require(bool(self.scope.status_failures))
        require(self.at(Phase.CLEAR_OWN_NOMINATION, pod))
        self.faults.spend(Fault.STATUS_FAILURE, pod)
        self.no_candidate()


@before(
    "nominated-status",
    "a preemptor does not wait for victims on a node where no eviction can make it fit",
    first_in="1.19",
)
class WaitsForHopelessNode(Preemption):
    """A terminating pod on the nominated node was waited for, whatever the filters said of the node."""

    is_retried = never


@before(
    "nominated-node-gone", "a preemptor does not wait for victims on a node that is gone", first_in="1.18"
)
class WaitsForGoneNode(Preemption):
    """The NodeInfo was looked up among all, also those that had lost their Node object (1.16; 1.17 was not read)."""

    shows_node = always


@before(
    "preemption-policy",
    "preemptionPolicy Never keeps a pod from preempting",
    first_in="1.19",
    gate="NonPreemptingPriority",
)
class EveryPodMayPreempt(Preemption):
    """The policy was not there, or behind a feature gate that was off."""

    may_preempt = always


@before(
    "disrupted-pods", "an eviction that a budget has already granted does not lower it again", first_in="1.19"
)
class DisruptedPodsCount(Preemption):
    """A budget's disruptedPods were not looked at."""

    takes_from = always


@before("budget-countdown", "each victim takes one disruption from its budgets", first_in="1.18")
class BudgetsAreNotSpent(Preemption):
    """A budget with any disruption left was violated by no number of victims."""

    def exceeds(self, budget: DisruptionBudget, pod: Pod, potential: Mapping[Pod, Expr]) -> Expr:
        return self.budgets.allowance(budget) <= 0


@before(
    "start-time-tie",
    "of equal candidates, preemption chooses the one whose victims started last",
    first_in="1.15",
)
class StartTimesIgnored(Preemption):
    """The chooser did not look at start times."""

    def earliest_start(self, victims: Mapping[Pod, Expr]) -> Expr:
        return as_expr(0)


@before(
    "141785",
    "preemption respects budgets with an empty selector, and those of pods without labels",
    first_in=PRE_RELEASES[0],
)
class EmptySelectorsIgnored(Preemption):
    """Preemption took an empty selector for one that matches no pod, and looked at no budget of a pod without labels (filterPodsWithPDBViolation,
    filterVictimsWithPDBViolation, 1.37). Evictions and the disruption controller counted such pods.
    """

    def budgets_of(self, pod: Pod) -> list[DisruptionBudget]:
        return [budget for budget in super().budgets_of(pod) if pod.labels and not budget.selector.empty]
