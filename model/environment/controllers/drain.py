"""An autoscaler that takes away nodes which are not empty: it has their pods evicted first (cluster-autoscaler, core/scaledown; Karpenter, controllers/node/termination).

The planner finds that all pods of a node would fit on others, beside those that are there and those that wait, and that their budgets allow it (simulator/cluster.go). The node is tainted,
and the actuator lists the pods that are bound to it, evicts each by the eviction subresource, waits until they are gone, and deletes the node (actuation/drain.go). Who is bound to the node after that
list goes with it. Karpenter (`scale_down_until_empty`) lists anew until nobody is left. An eviction that a budget does not allow is tried again, until the autoscaler gives up, and takes its
taint away.

Only pods that a controller makes anew are moved; any other keeps its node. Pods of a DaemonSet stay, and go with the node.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any, Protocol

from ...language import (
    Expr,
    Value,
    Words,
    all_of,
    any_of,
    as_expr,
    boolean,
    count,
    per,
    require,
    select,
    step,
    tells,
    total,
    when,
)
from ..cluster.owned_pods import Owned
from ..faults import Fault, Faults
from ..node_fit import NodeFit, takes
from ..objects import DisruptionBudget, Node, Pod, Scope
from .budgets import Budgets


def _drains(scope: Scope) -> int:
    return int(scope.scale_down_drains)


class Autoscales(Protocol):
    """What is asked of the autoscaler."""

    doomed: Any  # per node, a bool
    cleared: Any  # per node, a bool

    def keeping(self) -> Sequence[Pod]:
        """The pods that keep a node in being."""

    def looks_empty(self, node: Node) -> Expr:
        """Whether nobody is on the node, or is to go there."""

    def let_stay(self, node: Node) -> None:
        """The node is not taken away after all."""


class Drain(NodeFit):
    """The autoscaler's drains. `draining[n]`: it has decided to move the pods of the node. `listed[p]`: it will evict the pod."""

    autoscaler: Autoscales
    budgets: Budgets
    faults: Faults

    draining = per(Node, boolean(possible=_drains))
    listed = per(Pod, boolean(possible=_drains))

    phrases = {
        "draining": Words("the autoscaler is about to drain {0}", "", decisive=True),
        "listed": Words("the autoscaler is to evict {0}", "", decisive=True),
    }

    @property
    def drains(self) -> bool:
        """Whether nodes are taken away that are not empty."""
        return bool(self.scope.scale_down_drains)

    # --- the planner -------------------------------------------------------------------------------------------

    @step(actor="autoscaler", fair=False)
    @tells("The autoscaler finds that all pods of {node} fit on other nodes.")
    def find_movable(self, node: Node) -> None:
        """SimulateNodeRemoval: the node is not empty, and its pods can be moved."""
        require(self.drains)
        require(self.api.node_exists[node] & ~as_expr(self.autoscaler.doomed[node]))
        require(~self.autoscaler.looks_empty(node) & self.can_be_moved(node))
        if not self.scope.autoscaler:
            self.faults.spend(Fault.SCALE_DOWN, node)
        self.autoscaler.doomed[node] = True
        self.draining[node] = True

    def can_be_moved(self, node: Node) -> Expr:
        """Whether the pods that keep the node can be recreated elsewhere, all together and next to the waiting pods, and no budget prevents this."""
        keeping = self.autoscaler.keeping()
        movable = {owned.pod for owned in self.universe[Owned]} & set(keeping)
        stuck = any_of(self.is_on(pod, node) for pod in keeping if pod not in movable)
        allowed = all_of(self._allows(budget, node) for budget in self.universe[DisruptionBudget])
        twice = any_of(self.is_on(pod, node) for pod in movable if len(self.budgets.protecting(pod)) > 1)
        return ~stuck & ~twice & allowed & self._has_places(node, keeping)

    def _allows(self, budget: DisruptionBudget, node: Node) -> Expr:
        asked = count(
            self.is_on(pod, node) & self.stays(pod) for pod in self.universe[Pod] if budget.selects(pod)
        )
        return asked <= as_expr(self.budgets.allowed[budget])

    def _has_places(self, node: Node, keeping: Sequence[Pod]) -> Expr:
        """Whether all pods that are on the node or wait have room on other nodes at the same time."""
        others = [other for other in self.universe[Node] if other is not node]
        homeless = {
            pod: self.is_on(pod, node) | (self.api.pod[pod].pending & as_expr(not pod.foreign))
            for pod in keeping
        }
        choices = product(others, repeat=len(keeping))
        return any_of(self._all_fit(dict(zip(keeping, places, strict=True)), homeless) for places in choices)

    def _all_fit(self, places: dict[Pod, Node], homeless: dict[Pod, Expr]) -> Expr:
        fits = [~homeless[pod] | self._takes(pod, place) for pod, place in places.items()]
        for place in dict.fromkeys(places.values()):
            moved = [pod for pod, other in places.items() if other is place]
            fits.append(~any_of(homeless[pod] for pod in moved) | self._has_room_for(place, moved, homeless))
        return all_of(fits)

    def _takes(self, pod: Pod, node: Node) -> Expr:
        there = self.api.node_exists[node]
        return there & any_of(shown for shown, content in self.api.contents(node) if takes(pod, content))

    def _has_room_for(self, node: Node, moved: Sequence[Pod], homeless: dict[Pod, Expr]) -> Expr:
        def used(resource: str) -> Expr:
            there = total(select(self.is_on(q, node), self.asked(q, resource), 0) for q in self.universe[Pod])
            return there + total(select(homeless[q], self.asked(q, resource), 0) for q in moved)

        resources = dict.fromkeys(r for pod in moved for r in pod.resources)
        return any_of(
            shown & all_of(used(r) <= content.allocatable(r) for r in resources)
            for shown, content in self.api.contents(node)
        )

    # --- the actuator ------------------------------------------------------------------------------------------

    def list_pods(self, node: Node) -> None:
        """GetPodsToMove, after the taint: lists the pods that are bound to the node now; they will be evicted."""
        for pod in self._asked_to_go():
            with when(self.draining[node] & self.is_on(pod, node) & self.stays(pod)):
                self.listed[pod] = True

    def _asked_to_go(self) -> Sequence[Pod]:
        """The pods that a drain evicts from such a node."""
        return self.autoscaler.keeping()

    def is_to_go(self, pod: Pod, node: Node) -> Expr:
        """Whether the pod is on the node, and the autoscaler will evict it."""
        if pod not in self._asked_to_go():
            return as_expr(False)
        here = self.is_on(pod, node) & self.draining[node] & self.autoscaler.cleared[node]
        return here & (as_expr(self.listed[pod]) | self.scope.scale_down_until_empty)

    @step(actor="autoscaler", goroutine="autoscaler's evictions", each="pod")
    @tells("The autoscaler evicts {pod}.")
    def evict(self, pod: Pod) -> None:
        """evictPod: retried while the budget allows no disruption. A deleted pod is skipped."""
        require(self.drains and pod in self._asked_to_go())
        protecting = self.budgets.protecting(pod)
        require(any_of(self.is_to_go(pod, node) for node in self.universe[Node]) & self.stays(pod))
        if protecting and self.budgets.kept:
            require(~as_expr(self.budgets.evicting[pod]) & (self.budgets.allowed[protecting[0]] > 0))
            self.budgets.take(protecting[0], pod)
            self.budgets.evicting[pod] = True
        else:
            require(not protecting)
            self.api.delete_pod(pod)
        self.listed[pod] = False

    @step(actor="autoscaler", goroutine="autoscaler's evictions", each="pod")
    @tells("The autoscaler finds that {pod}, which it was to evict, is gone.")
    def miss(self, pod: Pod) -> None:
        """The eviction finds no pod, or a pod that already terminates."""
        require(self.drains)
        require(self.listed[pod] & ~self.stays(pod))
        self.listed[pod] = False

    def is_waiting(self, node: Node) -> Expr:
        """Whether pods still have to be evicted or to end. With `scale_down_until_empty`, this includes all pods on the node."""

        def keeps(pod: Pod) -> Expr:
            ends = self.api.pod[pod].terminating
            if self.budgets.kept:
                ends = ends | self.budgets.evicting[pod]
            return self.is_on(pod, node) & (self.is_to_go(pod, node) | ends)

        return as_expr(self.draining[node]) & any_of(keeps(pod) for pod in self._asked_to_go())

    @step(actor="autoscaler", each="node")
    @tells("The autoscaler gives up the drain of {node}: a budget is against it.")
    def give_up(self, node: Node) -> None:
        """Evictions have failed for too long (max-pod-eviction-time): the taint is removed."""
        require(self.drains and self.budgets.kept)
        refused = any_of(
            self.is_to_go(pod, node) & self.stays(pod) & (self.budgets.allowed[budget] == 0)
            for pod in self._asked_to_go()
            for budget in self.budgets.protecting(pod)
        )
        require(self.draining[node] & refused)
        self.autoscaler.let_stay(node)

    def forget(self, node: Value) -> None:
        """The drain's decision is dropped."""
        if not self.drains:
            return
        for known in self.universe[Node]:
            with when(as_expr(node) == known):
                self.draining[known] = False
        for pod in self.universe[Pod]:
            with when(self.api.pod[pod].node == node):
                self.listed[pod] = False
