"""The extension points between AssumePod and the Binding, as they were."""

from collections.abc import Iterable

from ....environment.faults import Fault
from ....environment.objects import ExtensionPoint, Node, Pod
from ....language import UNTOLD, Expr, boolean, per, require, step, tells
from ....scheduler import Binding, EventHandlers, Scheduler, WaitingPods
from ....scheduler.cycles.binding import BindingPhase
from ....scheduler.framework.status import Phase
from ....scheduler.framework.waiting_pods import PermitAnswer, Signal
from ...registry.change import always, before, never


@before("framework", "the scheduler has Reserve, Permit and PreBind plugins", first_in="1.15")
class NoExtensionPoints(Scheduler):
    """From AssumePod the cycle went straight to the Binding (1.14 had the first hooks; they are left out)."""

    def extension_points(self, pod: Pod) -> Iterable[ExtensionPoint]:
        return ()


_PERMIT_IN_CYCLE = "Permit plugins run in the scheduling cycle"


@before("permit-in-cycle", _PERMIT_IN_CYCLE, first_in="1.18")
class NoPermitInCycle(Scheduler):
    """The scheduling cycle ended with AssumePod."""

    def cycle_points(self, pod: Pod) -> tuple[ExtensionPoint, ...]:
        return tuple(p for p in super().cycle_points(pod) if p is not ExtensionPoint.PERMIT)


@before("permit-in-cycle", _PERMIT_IN_CYCLE, first_in="1.18")
class PermitInBindingCycle(Binding):
    """The binding cycle asked the Permit plugins, and waited where one said so (1.15 to 1.17)."""

    def begin(self, pod: Pod) -> None:
        if ExtensionPoint.PERMIT in self.scheduler.extension_points(pod):
            self.phase[pod] = BindingPhase.PERMIT
        else:
            super().begin(pod)

    @step(actor="binding cycle", each="pod")
    @tells("The Permit plugins answer about {pod}: {answer}.")
    def permit(self, pod: Pod, answer: PermitAnswer) -> None:
        """The Permit plugins; a pod that is to wait enters the map of waiting pods."""
        require(self.phase[pod] == BindingPhase.PERMIT)
        if answer is PermitAnswer.REJECT:
            self.faults.spend(Fault.PERMIT_REJECTION, pod)
            self.rejected[pod] = True
            self.phase[pod] = BindingPhase.FORGET
        elif answer is PermitAnswer.WAIT:
            self.waiting.add(pod)
            self.phase[pod] = BindingPhase.WAIT_ON_PERMIT
        else:
            self.phase[pod] = self.phase_after_permit(pod)


@before("buffered-signal", "a signal for a waiting pod is kept until the pod listens", first_in="1.18")
class UnbufferedSignal(WaitingPods):
    """The channel had no place: a signal that came before the binding cycle listened was lost (1.15 to 1.17).

    `decided` says that the plugin has spoken: it does not know that nobody heard.
    """

    listening = per(Pod, boolean())
    decided = per(Pod, boolean())

    phrases = UNTOLD

    def hears(self, pod: Pod) -> Expr:
        return super().hears(pod) & self.listening[pod]

    def undecided(self, pod: Pod) -> Expr:
        return super().undecided(pod) & ~self.decided[pod]

    def allow(self, pod: Pod) -> None:
        self.decided[pod] = True
        super().allow(pod)

    @step(actor="permit plugin", fair=False)
    @tells("The Permit plugin rejects {pod}.")
    def refuse(self, pod: Pod) -> None:
        """The plugin rejects a waiting pod, or the pod has waited too long."""
        super().refuse(pod)
        self.decided[pod] = True

    def remove(self, pod: Pod) -> None:
        super().remove(pod)
        self.listening[pod] = False
        self.decided[pod] = False

    @step(actor="binding cycle", each="pod")
    @tells("The binding goroutine of {pod} begins to listen for the Permit plugins.")
    def listen(self, pod: Pod) -> None:
        """The binding cycle begins to wait for a signal."""
        require(ExtensionPoint.PERMIT in pod.extension_points)
        require((self.signal[pod] == Signal.AWAITED) & ~self.listening[pod])
        self.listening[pod] = True


@before(
    "permit-timers",
    "a time-out is another signal to a waiting pod, and the plugin's own answer cancels it",
    first_in="1.17",
)
class ListenersTimeOut(WaitingPods):
    """The time-out was the listener's own: it was never lost, and it came whatever signal had been lost (1.15, 1.16).

    Since then a pod that was not listening waits until it is deleted or preempted: the timers stop with the plugin's first word.
    """

    @step(actor="binding cycle", each="pod")
    @tells("{pod} has waited for permission for too long, and is rejected.")
    def time_out(self, pod: Pod) -> None:
        """The signal was lost, and the listener waits no longer. (That a plugin decides too late is its refusal.)"""
        require(ExtensionPoint.PERMIT in pod.extension_points)
        require(self.hears(pod) & ~self.undecided(pod))
        self.signal[pod] = Signal.REFUSED


@before(
    "reject-on-delete", "a pod that is deleted while it waits for permission is rejected", first_in="1.17"
)
class DeletionUnheard(EventHandlers):
    """A waiting pod went on waiting, whatever became of its object."""

    rejects_waiting = never


@before("119046", "a pod that a Permit plugin rejects is recorded as rejected by it", first_in="1.28")
class PermitRejectionUnrecorded(Scheduler):
    """The rejection was no FitError: nothing said which plugin's events the pod waited for (1.22 to 1.27)."""

    def record_refusal(self, pod: Pod) -> None:
        """Not recorded."""


@before(
    "119785",
    "a waiting pod that is rejected is recorded as rejected by the plugin that rejected it",
    first_in="1.29",
)
class WaitRejectionUnrecorded(Binding):
    """What WaitOnPermit returned was no FitError (1.22 to 1.28)."""

    def record_refusal(self, pod: Pod) -> None:
        """Not recorded."""


_PREEMPTED = (
    "a waiting pod that is preempted is requeued with an error; a pod that was allowed just before is deleted"
)


@before("135719", _PREEMPTED, first_in="1.36")
class LostSignalsUntold(WaitingPods):
    """Whoever stopped a waiting pod was not told that it had been allowed before, and did nothing else."""

    def stops(self, pod: Pod) -> Expr:
        return self.holds(pod)


@before("135719", _PREEMPTED, first_in="1.36")
class PreemptionIsVerdict(Binding):
    """Preemption rejected a waiting pod like its plugin: the pod was unschedulable."""

    is_verdict = always


@before("waiting-victims-kept", "a victim that waits for permission is not deleted", first_in="1.22")
class WaitingVictimsDeleted(Scheduler):
    """A victim was deleted at the API server, and then rejected if it was waiting (1.16 to 1.21)."""

    def require_deletion(self, victim: Pod) -> None:
        pass

    def victim_deleted(self, victim: Pod) -> None:
        if ExtensionPoint.PERMIT in self.extension_points(victim):
            self.phase = Phase.REJECT_VICTIM
        else:
            self.done_with(victim)

    @step(actor="scheduler")
    def reject_waiting(self, pod: Pod, victim: Pod) -> None:
        """A victim that has just been deleted is rejected if it waits for permission."""
        require(pod is not victim and self.rejects_in_cycle(victim))
        require(self.at(Phase.REJECT_VICTIM, pod) & self.preemption.is_next_victim(pod, victim))
        self.waiting.preempt(victim)
        self.done_with(victim)


@before("waiting-victims-rejected", "a victim that waits for permission is rejected", first_in="1.16")
class WaitingVictimsIgnored(Scheduler):
    """A victim was deleted, and its binding cycle went on waiting (1.15)."""

    def victim_deleted(self, victim: Pod) -> None:
        self.done_with(victim)


@before("reserve-after-assume", "Reserve plugins run once the pod is assumed", first_in="1.19")
class ReserveBeforeAssume(Scheduler):
    """Reserve came first: its error left nothing to be forgotten."""

    def cycle_points(self, pod: Pod) -> tuple[ExtensionPoint, ...]:
        return tuple(p for p in super().cycle_points(pod) if p is not ExtensionPoint.RESERVE)

    @step(actor="scheduler", random=True)
    @tells("The Reserve plugins run for {pod}.")
    def reserve_first(self, pod: Pod, node: Node, ok: bool) -> None:
        """The Reserve plugins, on one of the feasible nodes."""
        require(ExtensionPoint.RESERVE in self.extension_points(pod))
        self.require_winner(pod, node)
        if ok:
            self.host = node
            self.phase = Phase.RESERVED
        else:
            self.faults.spend(Fault.PLUGIN_ERROR, pod)
            self.scheduler_error = True
            self.phase = Phase.FAIL

    def require_host(self, pod: Pod, node: Node) -> None:
        if ExtensionPoint.RESERVE in self.extension_points(pod):
            require(self.at(Phase.RESERVED, pod) & (self.host == node))
        else:
            super().require_host(pod, node)
