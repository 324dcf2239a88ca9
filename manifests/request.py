"""What the model says of pods and nodes of a cluster: its own filters and its own preemption, asked with constants.

Nothing in this room decides by itself whether a pod fits, whom affinity or topology spread means, or who would have to go.
It asks here, and the functions that engines explore answer (`Filters`, `Preemption`), as of the newest release.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from functools import cache
from typing import Any

from ..base.structs import Data
from ..model.cluster import build_cluster
from ..model.environment.cluster.placement_rules import SpreadConstraint
from ..model.environment.objects import ClusterSpec, DisruptionBudget, Node, Pod, Taint
from ..model.language import Component, Concrete, Expr, as_expr
from ..model.scheduler import Filters, Preemption, Snapshot
from ..model.scheduler.framework.filters import UNSCHEDULABLE
from ..model.scheduler.framework.placement import Placement
from ..model.scheduler.framework.status import Code

__all__ = ["UNSCHEDULABLE", "Asked", "NodeLayout", "repels"]


class NodeLayout(Data):
    """Which pods are on which nodes, and who of them terminates."""

    on: Mapping[Pod, Node]
    leaving: Collection[Pod] = ()

    def placement(self, node: Node) -> Placement:
        """The same as filters see it, with this node, also where nobody is on it; in the graph in use."""
        yes, no = as_expr(True), as_expr(False)
        nodes = dict.fromkeys([node, *self.on.values()])
        return Placement(
            {pod: {n: yes if n is at else no for n in nodes} for pod, at in self.on.items()},
            dict.fromkeys(nodes, yes),
            dict.fromkeys(self.leaving, yes),
        )


class Asked:
    """The parts of the model that answer. Every question brings its own pods and nodes; only the budgets stay."""

    def __init__(self, budgets: Sequence[DisruptionBudget] = ()) -> None:
        self._placement: Placement | None = None
        numbered = [copy(budget) for budget in budgets]
        for i, budget in enumerate(numbered):
            budget.index = i
        spec = ClusterSpec("asked", (), (), budgets=tuple(numbered))
        self._model = Concrete(build_cluster(spec, self._changes()))
        self._filters: Filters = self._model.model.parts["filters"]  # type: ignore[assignment]
        self._preemption: Preemption = self._model.model.parts["preemption"]  # type: ignore[assignment]

    def _changes(self) -> list[type[Component]]:
        asked = self

        class Given(Snapshot):
            """A snapshot that shows what the question says."""

            def placement(self) -> Placement:
                assert asked._placement is not None
                return asked._placement

        class AsAsked(Filters):
            """A representative begins without nominations, so both passes of the filters are the same; and any pod may need features of its node."""

            def asks_for_features(self) -> bool:
                return True

            def run_with_nominated(self, pod: Pod, node: Node, placement: Placement) -> Expr:
                return self.run(pod, node, placement)

        class Remembering(Preemption):
            """Which budgets protect a pod is asked once for all pods of a namespace with the same labels: a cluster has many budgets, and few kinds of labels."""

            def budgets_of(self, pod: Pod) -> list[DisruptionBudget]:
                key = pod.namespace, frozenset(pod.labels.items())
                if key not in protecting:
                    protecting[key] = super().budgets_of(pod)
                return protecting[key]

        protecting: dict[tuple[str, frozenset[tuple[str, str]]], list[DisruptionBudget]] = {}
        return [Given, AsAsked, Remembering]

    def _ask(self, node: Node, layout: NodeLayout, question: Callable[[Placement], Any]) -> Any:
        def put() -> Any:
            self._placement = layout.placement(node)
            return question(self._placement)

        return self._model.get(put)

    def _passes(self, plugin: Callable[..., Any], pod: Pod, node: Node, layout: NodeLayout) -> bool:
        return self._ask(node, layout, lambda placement: plugin(pod, node, placement)) is Code.SUCCESS

    def fits(self, pod: Pod, node: Node, layout: NodeLayout) -> bool:
        """Whether all filters let the pod pass (RunFilterPlugins)."""
        return bool(self._ask(node, layout, lambda placement: self._filters.fits(pod, node, placement)))

    def has_resources(self, pod: Pod, node: Node, layout: NodeLayout) -> bool:
        """Whether NodeResourcesFit lets the pod pass."""
        return self._passes(self._filters.node_resources, pod, node, layout)

    def tolerates(self, pod: Pod, node: Node) -> bool:
        """Whether TaintToleration lets the pod pass."""
        return self._passes(self._filters.taints_tolerated, pod, node, NodeLayout({}))

    def has_affinity(self, pod: Pod, node: Node, layout: NodeLayout) -> bool:
        """Whether InterPodAffinity lets the pod pass."""
        return self._passes(self._filters.inter_pod_affinity, pod, node, layout)

    def domain(
        self, pod: Pod, constraint: SpreadConstraint, node: Node, layout: NodeLayout
    ) -> tuple[str, int] | None:
        """The domain that the node gives to a topology spread constraint of the pod, and how many pods of the layout it
        counts there; None if the constraint does not count the node.
        """
        found = self._ask(node, layout, lambda placement: self._filters.domains(pod, constraint, placement))
        return next(((value, number) for value, (exists, number) in found.items() if exists), None)

    def potential_victims(self, pod: Pod, node: Node, layout: NodeLayout) -> list[Pod]:
        """The pods on the node that preemption may evict for the pod at all; nobody where the pod may not preempt."""
        if not self._model.get(lambda: self._preemption.may_preempt(pod)):
            return []
        found = self._ask(node, layout, lambda _: self._preemption.potential_victims(pod, node))
        return [q for q, may_go in found.items() if may_go]

    def victims(self, pod: Pod, node: Node, layout: NodeLayout) -> list[Pod]:
        """Whom the dry run of preemption would evict from the node (selectVictimsOnNode); nobody where it is no candidate."""
        candidate, victims = self._ask(node, layout, lambda _: self._preemption.dry_run(pod, node))
        return [q for q, goes in victims.items() if candidate and goes]


@cache
def repels(taint: Taint) -> bool:
    """Whether a taint keeps a pod away that does not tolerate it."""
    return not Asked().tolerates(Pod(0, "pod", 0), Node(0, "node", 0, taints=[taint]))
