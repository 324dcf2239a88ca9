"""Pods that wait for permission to be bound (framework/runtime/waiting_pods_map.go, 1.36).

A Permit plugin that answers Wait puts the pod into a map; the pod's binding cycle takes it out when a signal is
there. The signal is a channel of one place: the first of Allow, Reject and Preempt counts, all later ones are lost, and say so.
"""

from enum import Enum

from ...environment.faults import Fault, Faults
from ...environment.objects import ExtensionPoint, Pod
from ...language import (
    Component,
    Expr,
    Fact,
    Knowledge,
    Words,
    enum,
    per,
    require,
    spoken,
    step,
    tells,
    when,
)


@spoken(
    AWAITED="waits for permission",
    ALLOWED="is allowed",
    REFUSED="is rejected",
    PREEMPTED="is rejected as a victim",
)
class Signal(Enum):
    """What the map has of a pod."""

    NONE = 0
    AWAITED = 1
    ALLOWED = 2
    REFUSED = 3
    PREEMPTED = 4


class PermitAnswer(Enum):
    """What the Permit plugins say of an assumed pod."""

    ALLOW = 0
    WAIT = 1
    REJECT = 2


class WaitingPods(Component):
    """The waiting pods by UID, and the Permit plugin that decides on them at any time."""

    faults: Faults

    signal = per(Pod, enum(Signal))

    phrases = {
        "signal": Words("waiting pods: {0} {after}", "waiting pods: {0} leaves the map", decisive=True)
    }
    knowledge = (Knowledge("other goroutines", {"signal": Fact("permit", "{value}")}),)

    def holds(self, pod: Pod) -> Expr:
        """GetWaitingPod: whether the pod is in the map, even if it was answered."""
        return self.signal[pod] != Signal.NONE

    def add(self, pod: Pod) -> None:
        """Adds the pod to the waiting pods."""
        self.signal[pod] = Signal.AWAITED

    def remove(self, pod: Pod) -> None:
        """The binding cycle has read the signal."""
        self.signal[pod] = Signal.NONE

    def hears(self, pod: Pod) -> Expr:
        """Whether a signal to the pod would be kept."""
        return self.signal[pod] == Signal.AWAITED

    def allow(self, pod: Pod) -> None:
        """Allow: sends to the waiting pod, without blocking."""
        with when(self.hears(pod)):
            self.signal[pod] = Signal.ALLOWED

    def reject(self, pod: Pod) -> None:
        """Reject: sends to the waiting pod, without blocking."""
        with when(self.hears(pod)):
            self.signal[pod] = Signal.REFUSED

    def preempt(self, pod: Pod) -> None:
        """Preempt (Reject by preemption, up to 1.35): sends a status that names DefaultPreemption, without blocking."""
        with when(self.hears(pod)):
            self.signal[pod] = Signal.PREEMPTED

    def stops(self, pod: Pod) -> Expr:
        """What Reject and Preempt return: whether they end the wait. They do not if the pod was already allowed or stopped."""
        return self.hears(pod)

    def answered(self, pod: Pod) -> Expr:
        """Whether the binding cycle no longer has to wait."""
        return self.holds(pod) & (self.signal[pod] != Signal.AWAITED)

    # --- the plugin --------------------------------------------------------------------------------------

    def undecided(self, pod: Pod) -> Expr:
        """Whether the plugin has not decided on the pod yet. It decides once."""
        return self.signal[pod] == Signal.AWAITED

    @step(actor="permit plugin", each="pod")
    @tells("The Permit plugin lets {pod} go on.")
    def permit(self, pod: Pod) -> None:
        """The plugin allows a waiting pod."""
        require(ExtensionPoint.PERMIT in pod.extension_points)
        require(self.undecided(pod))
        self.allow(pod)

    @step(actor="permit plugin", fair=False)
    @tells("The Permit plugin rejects {pod}.")
    def refuse(self, pod: Pod) -> None:
        """The plugin rejects a waiting pod, or the pod has waited too long."""
        require(ExtensionPoint.PERMIT in pod.extension_points or pod.group is not None)
        require(self.undecided(pod))
        self.faults.spend(Fault.PERMIT_REJECTION, pod)
        self.reject(pod)
