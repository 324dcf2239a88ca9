"""The binding cycle, and what the API server makes of a Binding, as they were."""

from ....environment.api import APIServer
from ....environment.objects import ExtensionPoint, Pod, PodObject
from ....language import Expr, Lasts, Value, otherwise, require, step, tells, when
from ....scheduler import Binding
from ....scheduler.cycles.binding import BindingPhase
from ....scheduler.cycles.failure import FailureHandler
from ...registry.change import before, never

_DONE_BEFORE_PRE_BIND = "Done runs before PreBind, which no longer rejects a pod"


@before("130189", _DONE_BEFORE_PRE_BIND, first_in="1.33", issues=(129967,), since="1.32")
class DoneAfterPreBind(Binding):
    """Events were kept for a pod until its PreBind plugins were through."""

    def bindable(self, pod: Pod) -> None:
        if not self._works_at_pre_bind(pod):
            super().bindable(pod)

    @step(actor="binding cycle", each="pod", lasts=Lasts.ANY_TIME)
    def pre_bind(self, pod: Pod, ok: bool) -> None:
        """The PreBind plugins, and Done if they have succeeded."""
        super().pre_bind(pod, ok)
        if ok and self._works_at_pre_bind(pod):
            super().bindable(pod)

    def _works_at_pre_bind(self, pod: Pod) -> bool:
        return ExtensionPoint.PRE_BIND in self.scheduler.extension_points(pod)


@before("130189", _DONE_BEFORE_PRE_BIND, first_in="1.33", issues=(129967,), since="1.32")
class FailsInFlightAtPreBind(FailureHandler):
    """A pod that PreBind ended was still in flight when it was requeued, while the scheduling loop went on."""

    def may_meet_pop(self, pod: Pod) -> bool:
        return super().may_meet_pop(pod) or ExtensionPoint.PRE_BIND in self.scheduler.extension_points(pod)


@before(
    "133021",
    "a pod is nominated at the API server before its binding cycle waits (NominatedNodeNameForExpectation)",
    first_in="1.35",
    issues=(132383,),
    gate="NominatedNodeNameForExpectation",
    gated_in="1.35",
)
class NotAnnounced(Binding):
    """The binding cycle went straight to WaitOnPermit, and nobody asked the PreBind plugins whether they had work.

    1.34 has the gate, off, and with it on no failure withdrew a nomination; 135103 turned it on for 1.35.
    """

    def begin(self, pod: Pod) -> None:
        self.pass_permit(pod)

    @step(actor="binding cycle", each="pod")
    def announce(self, pod: Pod) -> None:
        """Nothing was announced."""
        require(False)

    @step(actor="binding cycle", each="pod")
    def fail_to_announce(self, pod: Pod) -> None:
        """Nothing was announced."""
        require(False)

    @step(actor="binding cycle", each="pod")
    def fail_pre_flight(self, pod: Pod) -> None:
        """Nobody was asked."""
        require(False)


@before(
    "132443",
    "a Binding clears the nomination, and a bound pod gets none (ClearingNominatedNodeNameAfterBinding)",
    first_in="1.35",
    issues=(132385,),
    gate="ClearingNominatedNodeNameAfterBinding",
)
class BoundPodsKeepNominations(APIServer):
    """A pod kept its nomination when it was bound, and could be nominated after that. (Its gate is the API server's; 135103 turned it on.)"""

    def nominated_when_bound(self, old: PodObject) -> Value:
        return old.nominated

    def may_be_nominated(self, pod: Pod) -> Expr:
        return self.pod[pod].exists


@before("135502", "preemption stops a pod in PreBind in memory", first_in="1.36", issues=(132332,))
class PreBindIsNotStopped(Binding):
    """Preemption deleted a pod whose PreBind plugins ran; they ran on."""

    may_be_cancelled = never

    def cancel(self, pod: Pod) -> None:
        """Nobody could."""

    @step(actor="binding cycle", each="pod", lasts=Lasts.ANY_TIME)
    def stop_pre_bind(self, pod: Pod) -> None:
        """Nobody could."""
        require(False)


@before("136204", "the end of a binding is not reported to the cache", first_in="1.36")
class BindingReported(Binding):
    """FinishBinding told the cache that the Binding was over, so that the assumed pod could expire (in effect up to 1.24)."""

    def bind_returned(self, pod: Pod, succeeded: Expr) -> None:
        with when(succeeded):
            self.phase[pod] = BindingPhase.FINISH
        with otherwise():
            self.phase[pod] = BindingPhase.FINISH_FAILED

    @step(actor="binding cycle", each="pod")
    @tells("The binding goroutine reports to the cache that the binding of {pod} is over.")
    def finish(self, pod: Pod) -> None:
        """FinishBinding, whether the bind succeeded or not."""
        succeeded = self.phase[pod] == BindingPhase.FINISH
        require(succeeded | (self.phase[pod] == BindingPhase.FINISH_FAILED))
        self.cache.finish_binding(pod)
        super().bind_returned(pod, succeeded)


@before("138855", "a Binding that failed temporarily is posted again", first_in="1.37", issues=(138255,))
class BindingPostedOnce(Binding):
    """Any error of the call ended the binding cycle."""

    def repeat_bind(self, pod: Pod) -> None:
        require(False)
