"""Properties of the condition PodScheduled, by which users and autoscalers know what became of a pod."""

from collections.abc import Iterator

from ...model.environment.names import namesakes
from ...model.environment.objects import Pod
from ...model.language import Expr, any_of, as_expr, boolean, otherwise, per, when
from ...model.scheduler.api_dispatcher import APIDispatcher
from ...model.scheduler.cycles.failure import FailurePhase
from ..base.property import Property


class BoundPodsSayScheduled(Property):
    """No bound pod has the condition PodScheduled=False."""

    id = "S-COND"
    consequence = "A running pod still says PodScheduled=False. Monitoring reports it as Pending, and an autoscaler may add a node for it."
    concerns = "the pod with the condition"
    issues = (139417,)

    api_dispatcher: APIDispatcher

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for p in self.subjects:
            says = self.api.pod[p].assigned & self.api.pod[p].failed
            yield f"{p.name} is bound, and its condition PodScheduled is False", says

    def witnesses(self) -> dict[str, Expr]:
        says = {
            p: self.api.pod[p].failed
            | self.api_dispatcher.has_patch(p)
            | (self.failure.phase[p] == FailurePhase.PATCH)
            for p in self.pods
        }
        late = (
            (self.cache.is_assumed(p) | self.api.pod[p].assigned)
            & any_of(says[o] for o in (p, *namesakes(self.universe, p)))
            for p in self.subjects
        )
        return {
            "a pod is placed, and the condition of an attempt before that is there or still to come": any_of(
                late
            )
        }


class RejectedPodsSaySo(Property):
    """When the scheduler, the watches, the kubelets and the timers can take no step, every pending pod whose last attempt found it unschedulable has
    the condition PodScheduled=False with reason Unschedulable.

    Autoscalers create nodes only for pods with this condition, and users look for it. If the API server
    refuses the write, the failure handler does not repeat it. Then only the next attempt writes the
    condition, and a parked pod may lack it for a long time. The property ignores pods that are being deleted.
    """

    id = "S-TOLD"
    consequence = "The pod waits and does not say why. The autoscaler adds no node for it, and kubectl shows no reason, until its next attempt: 5 to 5.5 minutes, or indefinitely."
    kind = "deadlock freedom"
    concerns = "the pod without the condition"
    issues = (109796, 140098)

    rejected = per(Pod, boolean())  # the last attempt at the pod ended in a verdict

    def observe(self) -> None:
        for pod in self.subjects:
            with when(self.failure.phase[pod] != FailurePhase.NONE):
                self.rejected[pod] = self.failure.unschedulable[pod]
            with otherwise(self.scheduler.in_flight(pod)):
                self.rejected[pod] = False

    def _says_nothing(self, pod: Pod) -> Expr:
        current = self.api.pod[pod]
        return as_expr(self.rejected[pod]) & current.pending & ~current.terminating & ~current.failed

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for pod in self.subjects:
            yield (
                f"{pod.name} was found unschedulable, and its object does not say so",
                self._says_nothing(pod),
            )

    def witnesses(self) -> dict[str, Expr]:
        return {"an attempt at a pod ends in a verdict": any_of(self.rejected[pod] for pod in self.subjects)}
