"""No race of requeued pods without requeued pods."""

from podrace.model.environment.objects import Pod, PodCopy
from podrace.model.language import Expr
from podrace.model.scheduler import PriorityQueue
from podrace.model.scheduler.queue.scheduling_queue import SubQueue


class DropsFailed(PriorityQueue):
    """Every failed pod is dropped."""

    def requeue(self, pod: Pod, copy: PodCopy) -> Expr:
        taken = super().requeue(pod, copy)
        self.put(pod, SubQueue.NONE, PodCopy())
        return taken & ~taken
