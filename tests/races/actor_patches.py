"""Proposed patches for what docs/actors.md tells of, each as a subclass of a part of the model."""

from __future__ import annotations

from collections.abc import Sequence

from podrace.model.environment.controllers.replacement import Phase
from podrace.patching import (
    TO_BE_DELETED,
    Autoscaler,
    Budgets,
    Code,
    Controllers,
    Descheduler,
    DisruptionBudget,
    Drain,
    Expr,
    Filters,
    Gate,
    GateKeepers,
    Node,
    OtherScheduler,
    Owned,
    Owner,
    Placement,
    Pod,
    StrategyKind,
    StrategySpec,
    Taint,
    any_of,
    as_expr,
    require,
)


class PreferredHaveRoom(Descheduler):
    """Of the nodes that a pod prefers those alone count on which it fits."""

    def _asks_for_others(self, owned: Owned, strategy: StrategySpec, node: Node, content: Node) -> Expr:
        asks: Expr = super()._asks_for_others(owned, strategy, node, content)
        preferred = (
            shown
            & as_expr(all(version.labels.get(k) == v for k, v in strategy.prefers.items()))
            & self.fits(owned.pod, other, version)
            for other in self.universe[Node]
            for shown, version in self.api.contents(other)
        )
        return asks & any_of(preferred) if strategy.prefers else asks


class FitsThere(Descheduler):
    """The spread evicts a pod only if it fits into a domain that has fewer than the average (567 and what came after it)."""

    def is_misplaced(self, owned: Owned, strategy: StrategySpec) -> Expr:
        misplaced: Expr = super().is_misplaced(owned, strategy)
        return (
            misplaced & self.fits_elsewhere(owned, strategy)
            if strategy.kind is StrategyKind.SPREAD
            else misplaced
        )


class LessBusyElsewhere(Descheduler):
    """LowNodeUtilization evicts a pod only if it leaves a node that it would not make busier than the target."""

    def _is_on_a_busy_node(self, owned: Owned, strategy: StrategySpec, node: Node, content: Node) -> Expr:
        busy: Expr = super()._is_on_a_busy_node(owned, strategy, node, content)
        pod = owned.pod
        better = any_of(
            shown
            & self.fits(pod, other, version)
            & ((self._used(other) + self.asked(pod, "cpu")) * 100 <= strategy.high * version.cpu)
            for other in self.universe[Node]
            if other is not node
            for shown, version in self.api.contents(other)
        )
        return busy & better


class ListsAfresh(Controllers):
    """A controller that starts anew lists what the API server has, and acts only then."""

    def restart(self, owner: Owner) -> None:
        super().restart(owner)
        for owned in self.universe[Owned]:
            if owned.owner is owner:
                self.seen[owned] = self.phase(owned)


class ReplacedWhenGone(Controllers):
    """Every Job waits until a pod of its has ended (podReplacementPolicy: Failed)."""

    def counts(self, owned: Owned) -> Expr:
        counts: Expr = super().counts(owned)
        return counts | (self.seen[owned] == Phase.TERMINATING)


class NodesApart(Filters):
    """The last node is the second scheduler's alone: labels and selectors keep each scheduler's pods to its own nodes."""

    def node_affinity(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        found: Expr = super().node_affinity(pod, node, placement)
        last = len(self.universe[Node]) - 1
        return found if (node.index == last) is pod.foreign else as_expr(Code.UNRESOLVABLE)


class NominationsHeeded(OtherScheduler):
    """The second scheduler puts no pod on a node to which one of a higher priority is nominated, whoever places that."""

    def fits(self, pod: Pod, node: Node, where: Placement) -> Expr:
        kept = any_of(
            (other.priority > pod.priority)
            & self.api.pod[other].pending
            & (self.api.pod[other].nominated == node)
            for other in self.universe[Pod]
        )
        return super().fits(pod, node, where) & ~kept


class KeptForPending(Autoscaler):
    """A node on which a pod that waits would fit is not empty, whether that pod says so or not."""

    def looks_empty(self, node: Node) -> Expr:
        """Nobody is there, and nobody who waits could go there."""
        empty: Expr = super().looks_empty(node)
        waits = [p for p in self.universe[Pod] if not p.foreign]
        return empty & ~any_of(self.api.pod[p].pending & self.would_fit(p, node) for p in waits)


class EvictsByUID(Budgets):
    """An eviction deletes the pod that it was granted for, or none (142203 has the resourceVersion as a precondition)."""

    def hit_by_name(self, pod: Pod) -> Sequence[Pod]:
        """No other."""
        return ()


class OwnGateLast(GateKeepers):
    """A keeper but the first looks at a pod once the gates of those before it are gone."""

    def may_act(self, gate: Gate) -> Expr:
        may: Expr = super().may_act(gate)
        assert gate.keeper is not None
        first = [o for o in self.others(gate) if o.keeper is not None and o.keeper.index < gate.keeper.index]
        return may & ~any_of(self.is_shut(other) for other in first)


class WaitsAfterTaint(Autoscaler):
    """The second look comes when whoever chose the node before the taint was seen has bound (scale_down_waits)."""

    def look_again(self, node: Node) -> None:
        super().look_again(node)
        require(self.is_heard(node))


class KeptWhereRoom(Autoscaler):
    """No node is taken away on which a pod that waits fits beside those that are there."""

    def looks_empty(self, node: Node) -> Expr:
        """Nobody is there who keeps it, and nobody who waits could go there now."""
        empty: Expr = super().looks_empty(node)
        return empty & ~any_of(
            self.api.pod[p].pending & self.fits_some(p, (node,)) for p in self.keeping() if not p.foreign
        )


class ToleratingStay(Drain):
    """A pod that tolerates the taint of the drain is not evicted, and keeps no node."""

    def _asked_to_go(self) -> Sequence[Pod]:
        pods: Sequence[Pod] = super()._asked_to_go()
        taint = Taint(TO_BE_DELETED)
        return [pod for pod in pods if not any(t.tolerates(taint) for t in pod.tolerations)]


class DuplicatesHaveRoom(Descheduler):
    """RemoveDuplicates evicts a pod only if another node has room for it, as nodeFit asks."""

    def _is_duplicate(self, owned: Owned, strategy: StrategySpec, node: Node, content: Node) -> Expr:
        duplicate: Expr = super()._is_duplicate(owned, strategy, node, content)
        return duplicate & self.fits_elsewhere(owned, strategy)


class TaintsUnheeded(Filters):
    """A profile without TaintToleration: kube-scheduler places pods where the descheduler would not have them."""

    def taints_tolerated(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        return as_expr(Code.SUCCESS)


class ReadinessAsked(Budgets):
    """The eviction subresource counts the pods of the budget itself, as the API server has them, and does not trust the status."""

    def take(self, budget: DisruptionBudget, pod: Pod) -> None:
        require(self.healthy(budget) > self.desired(budget))
        super().take(budget, pod)


class UnreadyWithoutPrecondition(Budgets):
    """The DELETE of a pod that is not ready had no precondition: not upstream's; what the precondition is for."""

    def conflicts(self, pod: Pod) -> Expr:
        return as_expr(False)
