"""Properties of whoever takes nodes away because they look empty."""

from functools import partial

from ...model.environment.controllers.autoscaler import Autoscaler
from ...model.environment.objects import Node, Pod
from ...model.language import Expr, any_of, as_expr, before, when
from ...model.scheduler.cycles.binding import BindingPhase
from ..base import truth
from ..base.property import NeverHappens


class EmptyNodesOnly(NeverHappens):
    """The autoscaler removes no node that has a pod. It also removes no node that the scheduler has chosen for a pod that waits for permission or for PreBind plugins.

    A wait for permission or for PreBind plugins may take minutes. The property ignores pods that do not wait, because their Binding is sent at once, and pods of DaemonSets, which are deleted with
    their node.
    """

    id = "S-SCALE"
    consequence = "The autoscaler removes a node that a pod was placed on. The pod is lost or its binding fails, and it waits for another node, often minutes."
    concerns = "the pod on the node"
    issues = (125491,)

    autoscaler: Autoscaler

    def is_for(self, pod: Pod, node: Node) -> Expr:
        """Whether the node is that of the pod: it is bound there, or its binding cycle waits."""
        current, cycle = self.api.pod[pod], self.binding
        bound = current.assigned & ~current.terminating & (current.node == node)
        waits = any_of(cycle.phase[pod] == p for p in (BindingPhase.WAIT_ON_PERMIT, BindingPhase.PRE_BIND))
        return bound | (waits & (as_expr(cycle.node[pod]) == node))

    def _concerned(self) -> list[Pod]:
        keeping = self.autoscaler.keeping()
        return [pod for pod in self.subjects if pod in keeping]

    def doomed(self, node: Node) -> Expr:
        """Whether the autoscaler is about to take away a node that is there."""
        return self.autoscaler.doomed[node] & self.api.node_exists[node]

    def observe(self) -> None:
        for node in self.nodes:
            taken = (
                before(partial(self.doomed, node))
                & ~self.autoscaler.doomed[node]
                & ~self.api.node_exists[node]
            )
            with when(taken & any_of(self.is_for(pod, node) for pod in self._concerned())):
                self.broken = True

    def witnesses(self) -> dict[str, Expr]:
        chosen = any_of(self.is_for(p, n) for p in self._concerned() for n in self.nodes)
        return {
            "a pod has a node": chosen,
            "the autoscaler is about to take away a node that a pod asks for": any_of(
                self.doomed(n) for n in self.nodes if any(truth.asks_for(p, n) for p in self._concerned())
            ),
        }
