"""The successful end of a scheduling cycle: assume the pod, reserve, permit, start the binding cycle (1.22)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import TYPE_CHECKING

from ..environment.faults import Fault
from ..environment.objects import ExtensionPoint, Node, Pod
from ..language import otherwise, require, step, when
from .attempt import SchedulingAttempt
from .framework.status import NodeVerdict, Phase

if TYPE_CHECKING:
    from .framework.waiting_pods import WaitingPods


class PermitAnswer(Enum):
    """What the Permit plugins say of an assumed pod."""

    ALLOW = 0
    WAIT = 1
    REJECT = 2


class Reservation(SchedulingAttempt):
    """What the cycle does once it has found nodes that the pod fits.

    A pod for which no plugin has work at an extension point passes it within the step before.
    """

    waiting: WaitingPods

    def extension_points(self, pod: Pod) -> Iterable[ExtensionPoint]:
        """Where plugins have work to do for the pod."""
        return pod.extension_points

    def cycle_points(self, pod: Pod) -> tuple[ExtensionPoint, ...]:
        """Those that the scheduling cycle passes once the pod is assumed, in their order."""
        passed = (ExtensionPoint.RESERVE, ExtensionPoint.PERMIT)
        return tuple(point for point in passed if point in self.extension_points(pod))

    def require_winner(self, pod: Pod, node: Node) -> None:
        """selectHost: the node is feasible, and no other scores better where scores decide."""
        require(self.at(Phase.SELECT, pod))
        feasible = {n: self.verdict[n] == NodeVerdict.FEASIBLE for n in self.universe[Node]}
        require(feasible[node] & self.scores.wins(pod, node, feasible))

    def require_host(self, pod: Pod, node: Node) -> None:
        """The pod is to be assumed on this node now."""
        self.require_winner(pod, node)

    @step(actor="scheduler", random=True)
    def assume(self, pod: Pod, node: Node) -> None:
        """AssumePod on one of the feasible nodes (each may win, unless scores decide)."""
        self.require_host(pod, node)
        refused = self.cache.assume(pod, node, self.copy)
        with when(refused):
            self.scheduler_error = True
            self.phase = Phase.FAIL
        with otherwise():
            self.host = node
            self.phase = Phase.ASSUMED

    @step(actor="scheduler")
    def start_binding(self, pod: Pod) -> None:
        """The assumed pod needs no nomination any more; its binding cycle starts, if no plugin has work before it."""
        require(self.at(Phase.ASSUMED, pod))
        self.nominator.delete(pod)
        self._go_on(pod, self.cycle_points(pod))

    def _go_on(self, pod: Pod, left: Sequence[ExtensionPoint]) -> None:
        if left:
            self.phase = _PHASES[left[0]]
        else:
            self.binding.start(pod, self.host, self.copy)
            self.end()

    @step(actor="scheduler")
    def reserve(self, pod: Pod, ok: bool) -> None:
        """The Reserve plugins; an error of one, and the assumed pod is forgotten."""
        points = self.cycle_points(pod)
        if ExtensionPoint.RESERVE not in points:
            require(False)
            return
        require(self.at(Phase.RESERVE, pod))
        if ok:
            self._go_on(pod, points[points.index(ExtensionPoint.RESERVE) + 1 :])
        else:
            self.faults.spend(Fault.PLUGIN_ERROR)
            self.scheduler_error = True
            self.phase = Phase.FORGET

    @step(actor="scheduler")
    def permit(self, pod: Pod, answer: PermitAnswer) -> None:
        """The Permit plugins; a pod that is to wait does so in its binding cycle."""
        if ExtensionPoint.PERMIT not in self.cycle_points(pod):
            require(False)
            return
        require(self.at(Phase.PERMIT, pod))
        if answer is PermitAnswer.REJECT:
            self.faults.spend(Fault.PERMIT_REJECTION)
            self.phase = Phase.FORGET
            return
        if answer is PermitAnswer.WAIT:
            self.waiting.add(pod)
        self._go_on(pod, ())

    @step(actor="scheduler")
    def forget(self, pod: Pod) -> None:
        """ForgetPod, after a plugin's error or rejection: nobody is woken."""
        if not self.cycle_points(pod):
            require(False)
        require(self.at(Phase.FORGET, pod))
        self.cache.forget(pod, self.host)
        self.phase = Phase.FAIL


_PHASES = {ExtensionPoint.RESERVE: Phase.RESERVE, ExtensionPoint.PERMIT: Phase.PERMIT}
