"""The binding cycle: one goroutine per assumed pod (pkg/scheduler/scheduler.go, 1.19)."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from ..environment.disturbances import Disturbance
from ..environment.objects import Node, Pod, PodCopy
from ..language import Component, Expr, Value, enum, limit, otherwise, per, ref, require, step, when

if TYPE_CHECKING:
    from ..environment.api import APIServer
    from ..environment.disturbances import Disturbances
    from .cache import Cache
    from .failure import FailureHandler


class BindingPhase(Enum):
    """The next thing that a pod's binding cycle does."""

    NONE = 0
    BIND = 1
    FINISH = 2
    FINISH_FAILED = 3
    FORGET = 4
    FAIL = 5


class Reply(Enum):
    """What the API server makes of the Binding, and what of that the scheduler hears.

    An error can mean that nothing was written, or that only the reply was lost.
    """

    ANSWERED = 0
    FAILED = 1
    LOST = 2


class Binding(Component):
    """Binding cycles by pod: the target node, and the object that was assumed."""

    api: APIServer
    disturbances: Disturbances
    cache: Cache
    failure: FailureHandler

    phase = per(Pod, enum(BindingPhase))
    node = per(Pod, ref(Node))
    copy = per(Pod, PodCopy)

    def start(self, pod: Pod, node: Value, copy: PodCopy) -> None:
        """`go func()` at the end of scheduleOne."""
        limit("one binding cycle per pod", self.phase[pod] == BindingPhase.NONE)
        self.phase[pod] = BindingPhase.BIND
        self.node[pod] = node
        self.copy[pod] = copy

    def active(self, pod: Pod) -> Expr:
        """Whether a binding cycle of the pod runs."""
        return self.phase[pod] != BindingPhase.NONE

    def _end(self, pod: Pod) -> None:
        self.phase[pod] = BindingPhase.NONE
        self.node[pod] = None
        self.copy[pod] = PodCopy()

    @step(actor="binding cycle", each="pod")
    def bind(self, pod: Pod, reply: Reply) -> None:
        """POST the Binding."""
        require(self.phase[pod] == BindingPhase.BIND)
        if reply is Reply.FAILED:
            self.disturbances.spend(Disturbance.BIND_FAILURE)
        elif reply is Reply.LOST:
            self.disturbances.spend(Disturbance.LOST_REPLY)
        self.phase[pod] = BindingPhase.FINISH_FAILED
        if reply is not Reply.FAILED:
            with when(self.api.can_bind(pod)):
                self.api.bind(pod, self.node[pod])
                if reply is Reply.ANSWERED:
                    self.phase[pod] = BindingPhase.FINISH

    @step(actor="binding cycle", each="pod")
    def finish(self, pod: Pod) -> None:
        """FinishBinding, whether the bind succeeded or not."""
        succeeded = self.phase[pod] == BindingPhase.FINISH
        require(succeeded | (self.phase[pod] == BindingPhase.FINISH_FAILED))
        self.cache.finish_binding(pod)
        with when(succeeded):
            self._end(pod)
        with otherwise():
            self.phase[pod] = BindingPhase.FORGET

    @step(actor="binding cycle", each="pod")
    def forget(self, pod: Pod) -> None:
        """ForgetPod: the bind failed."""
        require(self.phase[pod] == BindingPhase.FORGET)
        self.cache.forget(pod, self.node[pod])
        self.phase[pod] = BindingPhase.FAIL

    @step(actor="binding cycle", each="pod")
    def fail(self, pod: Pod) -> None:
        """The failure handler takes over."""
        require(self.phase[pod] == BindingPhase.FAIL)
        self.failure.begin(pod, self.copy[pod], None, unschedulable=False)
        self._end(pod)
