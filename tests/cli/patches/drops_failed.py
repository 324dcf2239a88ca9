"""No race of requeued pods without requeued pods."""

from podrace.patching import Expr, Pod, PodCopy, PriorityQueue, SubQueue


class DropsFailed(PriorityQueue):
    """Every failed pod is dropped."""

    def requeue(self, pod: Pod, copy: PodCopy) -> Expr:
        taken = super().requeue(pod, copy)
        self.put(pod, SubQueue.NONE, PodCopy())
        return taken & ~taken
