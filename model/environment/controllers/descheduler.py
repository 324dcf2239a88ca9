"""The descheduler: it evicts pods that would be better somewhere else, so that they are made anew and placed there (kubernetes-sigs/descheduler, 0.33).

It places nobody. It looks at pods and nodes as its informers have them, chooses, and asks the eviction subresource some time after. It evicts no pod without an owner, and
none of a DaemonSet (constraints.go of its DefaultEvictor). What a plugin takes for better, kube-scheduler need not: then the same happens again.
"""

from collections.abc import Callable

from ...language import (
    Expr,
    Words,
    any_of,
    as_expr,
    count,
    per,
    ref,
    require,
    select,
    step,
    tells,
    total,
    when,
)
from ..cluster.derived import Derived
from ..cluster.owned_pods import Owned
from ..cluster.workloads import OwnerKind, StrategyKind, StrategySpec
from ..node_fit import NodeFit, takes
from ..objects import Node, Pod
from .budgets import Budgets


class Strategy(
    Derived, named="{of.kind.value}", found=lambda cluster: ((of,) for of in cluster.spec.strategies)
):
    """A plugin of the descheduler that is enabled."""

    of: StrategySpec


class Descheduler(NodeFit):
    """The descheduler. `chosen[p]`: the plugin that has chosen the pod for eviction, and has not sent the eviction yet."""

    budgets: Budgets

    kinds = (Strategy,)

    chosen = per(Owned, ref(Strategy))

    phrases = {"chosen": Words("the descheduler has chosen {0}, by {after}", "", decisive=True)}

    # --- what it does ----------------------------------------------------------------------------------------

    @step(actor="descheduler", fair=False)
    @tells("The descheduler looks at the cluster, and {strategy} chooses {owned}.")
    def choose(self, owned: Owned, strategy: Strategy) -> None:
        """Deschedule or Balance of a plugin, from what its informers show: one pod at a time."""
        require(owned.owner.kind is not OwnerKind.DAEMON_SET)
        require(~any_of(as_expr(self.chosen[other]).is_some for other in self.universe[Owned]))
        require(self.stays(owned.pod) & self.is_misplaced(owned, strategy.of))
        if strategy.of.node_fit:
            require(self.fits_elsewhere(owned, strategy.of))
        self.chosen[owned] = strategy

    @step(actor="descheduler", each="owned")
    @tells("The descheduler asks for the eviction of {owned}.")
    def evict(self, owned: Owned) -> None:
        """The eviction subresource: refuses if a budget allows no disruption, or if the pod has two budgets. A deleted pod is not found."""
        require(as_expr(self.chosen[owned]).is_some)
        self.chosen[owned] = None
        pod, protecting = owned.pod, self.budgets.protecting(owned.pod)
        if not protecting:
            with when(self.stays(pod)):
                self.api.delete_pod(pod)
        elif self.budgets.kept and len(protecting) == 1:
            (budget,) = protecting
            with when(self.stays(pod) & ~self.budgets.evicting[pod] & (self.budgets.allowed[budget] > 0)):
                self.budgets.take(budget, pod)
                self.budgets.evicting[pod] = True

    # --- what it thinks --------------------------------------------------------------------------------------

    def is_misplaced(self, owned: Owned, strategy: StrategySpec) -> Expr:
        """Whether a plugin finds that the pod should run elsewhere."""
        found: dict[StrategyKind, Callable[[Owned, StrategySpec, Node, Node], Expr]] = {
            StrategyKind.NODE_TAINTS: self._is_repelled,
            StrategyKind.NODE_AFFINITY: self._asks_for_others,
            StrategyKind.SPREAD: self._is_crowded,
            StrategyKind.DUPLICATES: self._is_duplicate,
            StrategyKind.LOW_UTILIZATION: self._is_on_a_busy_node,
        }
        says = found[strategy.kind]
        return any_of(
            self.is_on(owned.pod, node) & shown & says(owned, strategy, node, content)
            for node in self.universe[Node]
            for shown, content in self.api.contents(node)
        )

    def _is_repelled(self, owned: Owned, strategy: StrategySpec, node: Node, content: Node) -> Expr:
        """removepodsviolatingnodetaints: whether the node has a NoSchedule taint that the pod does not tolerate."""
        return as_expr(not owned.pod.endures(content, ("NoSchedule",)))

    def _asks_for_others(self, owned: Owned, strategy: StrategySpec, node: Node, content: Node) -> Expr:
        """removepodsviolatingnodeaffinity: whether the node does not match the pod's required affinity, or another node matches its preferences better, and some other node is possible."""
        pod = owned.pod
        if not strategy.prefers:
            return as_expr(not pod.asks_for(content)) & self.fits_some(pod, self.universe[Node])
        if _likes(strategy, content):
            return as_expr(False)
        better = any_of(
            self.api.node_exists[other] & shown
            for other in self.universe[Node]
            for shown, version in self.api.contents(other)
            if _likes(strategy, version)
        )
        return better & self.fits_some(pod, self.universe[Node])

    def _is_crowded(self, owned: Owned, strategy: StrategySpec, node: Node, content: Node) -> Expr:
        """removepodsviolatingtopologyspreadconstraint: whether the pod's domain has more pods than the average, and more than maxSkew allows."""
        if not strategy.selector.matches(owned.pod.labels):
            return as_expr(False)
        here, domains = self._domains(strategy, content)
        return self._is_above(here, domains) & any_of(
            there & (here - number > strategy.max_skew) for there, number in domains
        )

    def _domains(self, strategy: StrategySpec, content: Node) -> tuple[Expr, list[tuple[Expr, Expr]]]:
        """For a node: how many pods count in its domain. For each domain: whether it exists, and how many pods count in it."""
        key = strategy.topology_key
        nodes: dict[str, list[tuple[Node, Expr]]] = {}
        for node in self.universe[Node]:
            for shown, version in self.api.contents(node):
                if key in version.labels:
                    nodes.setdefault(version.labels[key], []).append(
                        (node, self.api.node_exists[node] & shown)
                    )
        pods = [owned.pod for owned in self.universe[Owned] if strategy.selector.matches(owned.pod.labels)]
        numbers = {
            value: count(
                self.stays(pod) & any_of(self.is_on(pod, node) & there for node, there in members)
                for pod in pods
            )
            for value, members in nodes.items()
        }
        domains = [(any_of(there for _, there in nodes[value]), numbers[value]) for value in nodes]
        return numbers.get(content.labels.get(key, ""), as_expr(0)), domains

    def _is_above(self, here: Expr, domains: list[tuple[Expr, Expr]]) -> Expr:
        return here * count(there for there, _ in domains) > total(number for _, number in domains)

    def _is_below(self, here: Expr, domains: list[tuple[Expr, Expr]]) -> Expr:
        return here * count(there for there, _ in domains) < total(number for _, number in domains)

    def _is_duplicate(self, owned: Owned, strategy: StrategySpec, node: Node, content: Node) -> Expr:
        """removeduplicates: whether the node has more of the owner's pods than their number divided by the number of possible nodes, rounded up."""
        pods = [other.pod for other in self.universe[Owned] if other.owner is owned.owner]
        here = count(self.is_on(pod, node) & self.stays(pod) for pod in pods)
        everywhere = count(self.stays(pod) for pod in pods)
        targets = [
            self.api.node_exists[other]
            & any_of(s for s, v in self.api.contents(other) if takes(owned.pod, v))
            for other in self.universe[Node]
        ]
        number = count(targets)
        return (here > 1) & (number > 1) & ((here - 1) * number >= everywhere)

    def _is_on_a_busy_node(self, owned: Owned, strategy: StrategySpec, node: Node, content: Node) -> Expr:
        """lownodeutilization: whether the node's usage is above the target, and another node's is below the threshold."""
        busy = self._used(node) * 100 > strategy.high * content.cpu
        idle = any_of(
            self.api.node_exists[other] & shown & (self._used(other) * 100 < strategy.low * version.cpu)
            for other in self.universe[Node]
            if other is not node
            for shown, version in self.api.contents(other)
            if not version.unschedulable
        )
        return busy & idle

    def _used(self, node: Node) -> Expr:
        pods = self.universe[Pod]
        return total(select(self.is_on(pod, node), self.asked(pod, "cpu"), 0) for pod in pods)

    # --- where it thinks that a pod fits ---------------------------------------------------------------------

    def fits_elsewhere(self, owned: Owned, strategy: StrategySpec) -> Expr:
        """PodFitsAnyOtherNode. For topology spread, only nodes in domains with fewer pods than the average."""
        pod, nodes = owned.pod, self.universe[Node]
        if strategy.kind is StrategyKind.SPREAD:
            return any_of(
                shown
                & ~self.is_on(pod, node)
                & self.fits(pod, node, version)
                & self._is_below(*self._domains(strategy, version))
                for node in nodes
                for shown, version in self.api.contents(node)
                if strategy.topology_key in version.labels
            )
        return any_of(~self.is_on(pod, node) & self.fits_some(pod, (node,)) for node in nodes)


def _likes(strategy: StrategySpec, node: Node) -> bool:
    return all(node.labels.get(key) == value for key, value in strategy.prefers.items())
