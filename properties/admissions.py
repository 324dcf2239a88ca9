"""Properties of what kubelets make of the pods that they are given."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from ..model.environment.objects import Node, Pod
from ..model.language import Expr, any_of, as_expr
from . import truth
from .property import Property

if TYPE_CHECKING:
    from ..model.environment.kubelet import Kubelet


class NoPodRejected(Property):
    """No kubelet rejects a pod because its node has no room for it beside those that the kubelet is not done with.

    A user sees OutOfcpu, OutOfmemory or OutOfpods: the pod has failed, and whoever owns it has to make another. Kubelets decide only where the scope has
    `kubelet_admission`.
    """

    id = "S-ADMIT"
    concerns = "the rejected pod"
    issues = (106884,)

    kubelet: Kubelet

    def holds(self) -> Expr:
        return ~any_of(self.kubelet.rejected[pod] for pod in self.subjects)

    def witnesses(self) -> dict[str, Expr]:
        later = [pod for pod in self.subjects if pod.node is None]
        admitted = any_of(self.kubelet.runs[pod][node] for pod in later for node in self.nodes)
        return {"a kubelet admits a pod": admitted}


class RunningPodsFit(Property):
    """The pods that a kubelet is not done with never ask for more than its node can allocate, whatever has become of their objects.

    Else containers run together that were never to: two of them may have one exclusive CPU. Of a node whose object is updated the largest of its versions
    counts, of a pod the smallest. Kubelets decide only where the scope has `kubelet_admission`.
    """

    id = "S-RUN"
    issues = (104824,)

    kubelet: Kubelet

    @classmethod
    def caveat(cls, nodes: Sequence[Node], pods: Sequence[Pod] = ()) -> str:
        return truth.largest_counts(nodes)

    def holds(self) -> Expr:
        return ~any_of(truth.exceeds(self, n, partial(self._runs, n)) for n in self.nodes)

    def _runs(self, node: Node, pod: Pod) -> Expr:
        return as_expr(self.kubelet.runs[pod][node])

    def witnesses(self) -> dict[str, Expr]:
        later = [pod for pod in self.pods if pod.node is None]
        return {"a kubelet admits a pod": any_of(self.kubelet.runs[p][n] for p in later for n in self.nodes)}
