"""Properties of what kubelets make of the pods that they are given, and of placements that they can only reject."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from ...model.environment.cluster.pod_versions import PodVersion, in_form
from ...model.environment.kubelet import Kubelet, is_ever_resized
from ...model.environment.objects import Node, Pod
from ...model.language import Expr, any_of, as_expr, boolean, per, select
from ...model.scheduler.framework.filters import UNSCHEDULABLE
from ...model.scheduler.framework.placement import Placement
from ..base import truth
from ..base.property import Property
from .bindings import BoundAmiss


class NoPodRejected(Property):
    """No kubelet rejects a pod because the node has no room for it next to the pods that still run, or because the node does not suit it.

    A user sees OutOfcpu, OutOfmemory, OutOfpods, NodeAffinity or TaintToleration (for NoExecute taints): the
    pod has failed, and its owner must create another. The model's kubelets admit and reject pods only with
    `kubelet_admission` in the scope.
    """

    id = "S-ADMIT"
    consequence = "The kubelet rejects a pod that the scheduler has placed (OutOfcpu, OutOfpods, NodeAffinity). It ends as Failed, and its controller, if it has one, creates another."
    concerns = "the rejected pod"
    issues = (106884,)

    kubelet: Kubelet

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for pod in self.subjects:
            yield f"The kubelet has rejected {pod.name}", as_expr(self.kubelet.rejected[pod])

    def witnesses(self) -> dict[str, Expr]:
        later = [pod for pod in self.subjects if pod.node is None]
        admitted = any_of(self.kubelet.runs[pod][node] for pod in later for node in self.nodes)
        return {"a kubelet admits a pod": admitted}


class RunningPodsFit(Property):
    """The pods that still run on a node never request more than the node can allocate, even if their objects are deleted.

    In a violation, containers run together that do not fit together: for example, two of them have one
    exclusive CPU. If a node is updated in the run, the property uses its largest version. If a pod is
    updated, the property uses its smallest version. The model's kubelets admit and reject pods only with
    `kubelet_admission` in the scope.
    """

    id = "S-RUN"
    consequence = "The containers on a node ask for more than the node has. They slow each other down, or the kernel kills one because memory runs out."
    issues = (104824,)

    kubelet: Kubelet

    @classmethod
    def caveat(cls, nodes: Sequence[Node], pods: Sequence[Pod] = ()) -> str:
        return truth.largest_counts(nodes)

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for n in self.nodes:
            yield (
                f"What the kubelet of {n.name} runs asks for more than {n.name} has",
                truth.exceeds(self, n, partial(self._runs, n)),
            )

    def _runs(self, node: Node, pod: Pod) -> Expr:
        return as_expr(self.kubelet.runs[pod][node])

    def witnesses(self) -> dict[str, Expr]:
        later = [pod for pod in self.pods if pod.node is None]
        return {"a kubelet admits a pod": any_of(self.kubelet.runs[p][n] for p in later for n in self.nodes)}


class PortsGivenOnce(BoundAmiss):
    """No pod is bound to the node on which it was assumed if the attempt's snapshot showed another pod with the same host port on this node.

    The kubelet can only reject such a pod (S-ADMIT). The property ignores pods that the snapshot did not have yet, for example because another client bound them. It also ignores pods of groups.
    """

    id = "S-PORT"
    consequence = "Two pods on one node want the same host port. The kubelet rejects the second one (NodePorts), or it cannot listen."

    beside = per(Pod, boolean())  # it was assumed beside such a pod
    broken = boolean()

    def observe(self) -> None:
        for pod in self.subjects:
            nodes = self.nodes if self._rivals(pod) else ()
            self.note(self.beside, pod, {node: partial(self._is_taken, pod, node) for node in nodes})

    def _rivals(self, pod: Pod) -> list[Pod]:
        return [other for other in self.pods if other is not pod and pod.wants_port_of(other)]

    def _is_taken(self, pod: Pod, node: Node) -> Expr:
        return any_of(self.snapshot.on(other, node) for other in self._rivals(pod))

    def witnesses(self) -> dict[str, Expr]:
        tried = any_of(
            self.scheduler.in_flight(pod) & self.snapshot.on(other, node)
            for pod in self.subjects
            for other in self._rivals(pod)
            for node in self.nodes
        )
        return {"a pod is tried while the snapshot holds one with the same host port": tried}


class PlacedWhereItMayBe(BoundAmiss):
    """No pod is bound to the node on which it was assumed if the snapshot of that attempt showed the node as unsuitable: cordoned, with a taint that the pod does not tolerate, or without a label that the pod requires.

    The property ignores changes of the node after the snapshot. The snapshot shows a node as in the last
    update that the node handler received. For the pod, the property uses the API server's object at the
    moment at which the scheduler assumes the pod.
    """

    id = "S-SUIT"
    consequence = "A pod runs on a node that was cordoned or tainted, or that lacks a label that the pod requires. It stays there, may be evicted at once, or the kubelet rejects it (NodeAffinity)."
    issues = (63197,)

    unsuited = per(Pod, boolean())  # it was assumed on such a node
    broken = boolean()

    def observe(self) -> None:
        for pod in self.subjects:
            shown = {node: partial(self._shows_unsuited, pod, node) for node in self.nodes}
            ever = {node: is_so for node, is_so in shown.items() if is_so() is not as_expr(False)}
            self.note(self.unsuited, pod, ever)

    def _shows_unsuited(self, pod: Pod, node: Node) -> Expr:
        def of_form(form: Pod) -> Expr:
            return self.snapshot.placement().ask(node, lambda seen, _: as_expr(not _suits(form, seen)))

        return in_form(self.universe, pod, self.api.pod[pod].version, of_form)

    def witnesses(self) -> dict[str, Expr]:
        tried = any_of(
            self.scheduler.in_flight(pod) & self._shows_unsuited(pod, node)
            for pod in self.subjects
            for node in self.nodes
        )
        return {"a pod is tried while the snapshot shows a node that is not one for it": tried}


def _suits(pod: Pod, node: Node) -> bool:
    """Whether the pod may be put on a node that says this, whatever is on it."""
    taints = [t for t in node.taints if t.effect in ("NoSchedule", "NoExecute")]
    if node.unschedulable:
        taints.append(UNSCHEDULABLE)
    return pod.asks_for(node) and all(any(t.tolerates(taint) for t in pod.tolerations) for taint in taints)


class DeferredResizesKeepNobodyOut(Property):
    """When the scheduler, the watches, the kubelets and the timers can take no step, no pending pod fits on a node if the node's pods count with their allocated resources.

    The scheduler counts the size that the user requests, although the kubelet may defer the resize
    indefinitely. The model's kubelets defer resizes only with `kubelet_admission` in the scope. For a pod
    that is not resized, or that no kubelet has received, the property uses the requests.
    """

    id = "S-DEFER"
    consequence = "A deferred resize reserves room that its pod does not use yet. Other pods stay Pending, indefinitely if the resize never fits."
    kind = "deadlock freedom"
    concerns = "the pod that is excluded"
    issues = (135107,)

    kubelet: Kubelet

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        where = truth.placement(self)
        where = replace(where, held={v: self._is_held(v) for v in self.pod_versions})
        yield from _kept_out(self, where, "what its pods were allocated")

    def _is_held(self, version: PodVersion) -> Expr:
        pod = version.pod
        asks = self.api.pod[pod].version == version.number
        if not is_ever_resized(pod):
            return asks
        has = any_of(self.kubelet.runs[pod][node] for node in self.nodes) & self.kubelet.is_resizing(pod)
        return select(has, self.kubelet.allocated[pod] == version.number, asks)

    def witnesses(self) -> dict[str, Expr]:
        resized = [pod for pod in self.pods if is_ever_resized(pod)]
        return {"a kubelet puts a resize off": any_of(self.kubelet.is_resizing(pod) for pod in resized)}


class EndedPodsKeepNobodyOut(Property):
    """When the scheduler, the watches, the kubelets and the timers can take no step, no pending pod fits on a node, even if pods without running containers are not counted.

    When a deleted pod has stopped, its finalizers can keep its object until their owner removes them. This happens only with `bound_finalizers` in the scope.
    """

    id = "S-LINGER"
    consequence = "A pod that has ended keeps its room. Other pods stay Pending, until it is deleted or the node restarts."
    kind = "deadlock freedom"
    concerns = "the pod that is excluded"
    issues = (96515,)

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        where = truth.placement(self)
        on = {
            pod: {node: there & ~as_expr(self.api.lingers[pod]) for node, there in nodes.items()}
            for pod, nodes in where.on.items()
        }
        yield from _kept_out(self, replace(where, on=on), "the pods of which something runs")

    def witnesses(self) -> dict[str, Expr]:
        return {"finalizers keep a pod of which nothing runs": any_of(self.api.lingers[p] for p in self.pods)}


def _kept_out(prop: Property, where: Placement, beside: str) -> Iterator[tuple[str, Expr]]:
    """Each pod and each node, and whether the pod waits although it fits there in this placement."""
    for pod in prop.subjects:
        for node in prop.nodes:
            fits = truth.waits(prop, pod) & where.live[node] & truth.fits(prop, pod, node, where)
            yield f"{pod.name} waits, and would fit on {node.name} next to {beside}", fits
