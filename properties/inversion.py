"""Livenesses of preemption: it ends, and it brings about what priorities promise."""

from __future__ import annotations

from collections.abc import Iterator

from ..model.environment.objects import Node, Pod
from ..model.language import Case, Expr, any_of
from . import truth
from .liveness import Liveness


class PreemptionEnds(Liveness):
    """No pod preempts for ever: it is not so that preemption chooses a node for it again and again, and it waits on,
    overtaken each time.
    """

    id = "L-OVER"
    concerns = "the pod that preempts again and again"
    issues = (72124,)

    def chosen(self, pod: Pod) -> Expr:
        """Whether preemption has just chosen a node for the pod."""
        return any_of(self.scheduler.decided(pod, n) for n in self.nodes)

    def cases(self) -> Iterator[Case]:
        for pod in self.subjects:
            waiting = truth.waits(self, pod)
            yield Case(
                f"{pod.name} preempts again and again and is never scheduled", waiting, (self.chosen(pod),)
            )

    def witnesses(self) -> dict[str, Expr]:
        return {"preemption chooses a node": any_of(self.chosen(p) for p in self.subjects)}


class NoLastingInversion(Liveness):
    """No pod that may preempt waits for ever while at every moment one and the same node would have room for it but for
    pods of lower priority.
    """

    id = "L-INV"
    concerns = "the pod that waits"

    def held_back(self, pod: Pod, node: Node) -> Expr:
        """Whether the pod would fit on the node if the pods of lower priority were not there, and does not as it is."""
        where = truth.placement(self)
        present = where.present(pod, node)
        without = where.with_present(
            node, {q: here & ~(q.priority < pod.priority) for q, here in present.items()}
        )
        return (
            truth.waits(self, pod)
            & where.live[node]
            & ~self.filters.fits(pod, node, where)
            & self.filters.fits(pod, node, without)
        )

    def cases(self) -> Iterator[Case]:
        for pod in self.subjects:
            for node in self.nodes:
                if pod.preempts:
                    yield Case(
                        f"{pod.name} waits for ever for room that pods of lower priority have on {node.name}",
                        self.held_back(pod, node),
                    )

    def witnesses(self) -> dict[str, Expr]:
        held = (self.held_back(p, n) for p in self.subjects for n in self.nodes)
        return {"a pod of lower priority has the room": any_of(held)}
