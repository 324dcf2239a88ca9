"""Properties of what can still happen: no dead end while a pod waits for a node that it fits."""

from __future__ import annotations

from ..model.language import Expr, any_of
from . import truth
from .property import Property


class NotStuck(Property):
    """Whenever no step of the scheduler, the watches, the kubelets or the timers can run, no pending pod fits
    a live node.

    The periodic flush of long-parked pods is not counted on: it hides stuck pods for minutes.
    """

    id = "S-STUCK"
    concerns = "the pod that waits"
    kind = "deadlock freedom"
    issues = (72124, 73216)

    def holds(self) -> Expr:
        return ~truth.some_pod_waits_in_vain(self)

    def witnesses(self) -> dict[str, Expr]:
        return {"a pod waits although it fits": truth.some_pod_waits_in_vain(self)}


class PodsOfRemovedNodesDoNoHarm(Property):
    """While pods of a removed node are cached, a pod that fits a live node can still be scheduled: the scheduler,
    the watches and the kubelets alone can bring about a state in which no such pod waits.

    A violation is a state from which they cannot, whatever the order in which they act.
    """

    id = "L-ISO"
    concerns = "the pod that waits"
    kind = "resettability"
    issues = (50813,)

    def pods_on_removed_nodes(self) -> Expr:
        """Whether the cache holds a pod on a node that does not exist."""
        return any_of(self.cache.on(p, n) & ~self.api.node_exists[n] for p in self.pods for n in self.nodes)

    def holds(self) -> Expr:
        return ~self.pods_on_removed_nodes() | ~truth.some_pod_waits_in_vain(self)

    def witnesses(self) -> dict[str, Expr]:
        return {
            "a pod that fits waits while a removed node's pods are cached": self.pods_on_removed_nodes()
            & truth.some_pod_waits_in_vain(self)
        }
