"""The kubelets: each ends the pods of its node that are to terminate, and, where the scope has `kubelet_admission`, decides which it runs (pkg/kubelet, 1.36).

A pod that does not fit beside the others (lifecycle/predicate.go: resources, how many pods, host ports, node affinity, NoExecute taints) is rejected: its phase is Failed, with a reason such
as OutOfcpu. The others are the pods that the kubelet knows, and is not done with (GetActivePods): also one whose object says already that it has finished.
A pod whose object is gone is not among them, although its containers may still run (104824, as the comment there says).
Where a node's condition Ready is Unknown, its kubelet hears of nothing and reports nothing; what runs there runs on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..language import (
    Component,
    Expr,
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
    words,
)
from .node_versions import versions_in
from .objects import Node, Pod
from .pod_versions import in_form

if TYPE_CHECKING:
    from .api import APIServer


def _admits(scope: object) -> int:
    return int(getattr(scope, "kubelet_admission", False))


class Kubelet(Component):
    """One kubelet per node.

    `runs[p][n]`: the kubelet of n has admitted the pod, and is not done with it. `rejected[p]`: a kubelet has rejected it.
    """

    api: APIServer

    runs = per(Pod, per(Node, boolean(possible=_admits)))
    rejected = per(Pod, boolean(possible=_admits))

    phrases = words(
        {
            "runs": Words("kubelet of {1}: {0} runs", "kubelet of {1}: it is done with {0}"),
            "rejected": Words("{0} is rejected by its kubelet", decisive=True),
        }
    )

    def setup(self) -> None:
        for pod in self.universe[Pod]:
            if pod.node is not None:
                self.runs[pod][pod.node] = _admits(self.scope) == 1

    @step(actor="kubelet", each="pod")
    @tells("The kubelet admits {pod}.")
    def admit(self, pod: Pod) -> None:
        """HandlePodAdditions: a pod that is new on the node fits beside the others."""
        if not self.scope.kubelet_admission:
            require(False)
            return
        require(
            self.is_new(pod)
            & any_of(self.is_at_work_on(pod, n) & self.fits(pod, n) for n in self.universe[Node])
        )
        for node in self.universe[Node]:
            with when(self.is_on(pod, node)):
                self.runs[pod][node] = True

    @step(actor="kubelet", each="pod")
    @tells(
        "The kubelet rejects {pod}, which does not fit beside the pods that it is not done with: it has failed, and its object stays."
    )
    def reject(self, pod: Pod) -> None:
        """rejectPod: the pod does not fit."""
        if not self.scope.kubelet_admission:
            require(False)
            return
        require(
            self.is_new(pod)
            & any_of(self.is_at_work_on(pod, n) & ~self.fits(pod, n) for n in self.universe[Node])
        )
        self.rejected[pod] = True
        self.api.finish_pod(pod)

    @step(actor="kubelet", each="pod")
    @tells("The kubelet is done with {pod}, whose object is gone, or said so before.")
    def stop(self, pod: Pod) -> None:
        """SyncTerminatedPod: nothing is left of a pod that was deleted without grace, or that is said to have finished."""
        if not self.scope.kubelet_admission:
            require(False)
            return
        current = self.api.pod[pod]
        left = [
            self.runs[pod][n] & ~(current.assigned & (current.node == n)) & self.is_reachable(n)
            for n in self.universe[Node]
        ]
        require(any_of(left))
        for node, over in zip(self.universe[Node], left, strict=True):
            with when(over):
                self.runs[pod][node] = False

    @step(actor="kubelet", each="pod")
    @tells("The containers of {pod} have stopped: the kubelet removes the object.")
    def finish_termination(self, pod: Pod) -> None:
        """The containers of a terminating pod have stopped: the kubelet removes the object."""
        current = self.api.pod[pod]
        require(current.assigned & current.terminating)
        require(any_of(self.is_at_work_on(pod, node) for node in self.universe[Node]))
        self.let_go(pod)
        self.api.remove_pod(pod)

    @step(actor="kubelet", fair=False)
    @tells(
        "The containers of {pod} have ended by themselves: the kubelet reports that it has finished, and its object stays."
    )
    def report_finished(self, pod: Pod) -> None:
        """A pod has succeeded or failed. One that is being deleted is not looked at: its object goes soon in any case."""
        if not pod.finishes:
            require(False)
            return
        current = self.api.pod[pod]
        require(current.assigned & ~current.terminating)
        require(any_of(self.is_at_work_on(pod, node) for node in self.universe[Node]))
        if self.scope.kubelet_admission:
            require(~self.is_new(pod))
        self.end(pod)
        self.api.finish_pod(pod)

    def end(self, pod: Pod) -> None:
        """Before the phase is written that says that a pod has finished, the kubelet is done with it (108366)."""
        self.let_go(pod)

    def let_go(self, pod: Pod) -> None:
        """The kubelet is done with the pod."""
        if self.scope.kubelet_admission:
            for node in self.universe[Node]:
                self.runs[pod][node] = False

    def is_on(self, pod: Pod, node: Node) -> Expr:
        """Whether the pod's object says that it is on this node, and the node is there."""
        current = self.api.pod[pod]
        return current.assigned & (current.node == node) & self.api.node_exists[node]

    def is_reachable(self, node: Node) -> Expr:
        """Whether the kubelet of the node and the API server hear of each other."""
        if all(content.reachable for _, content in self.contents(node)):
            return as_expr(True)
        return any_of(shown & as_expr(content.reachable) for shown, content in self.contents(node))

    def is_at_work_on(self, pod: Pod, node: Node) -> Expr:
        """Whether the pod is on the node, and its kubelet hears of it."""
        return self.is_on(pod, node) & self.is_reachable(node)

    def is_new(self, pod: Pod) -> Expr:
        """Whether no kubelet has admitted the pod yet that is bound, and not being deleted."""
        current = self.api.pod[pod]
        return (
            current.assigned & ~current.terminating & ~any_of(self.runs[pod][n] for n in self.universe[Node])
        )

    def fits(self, pod: Pod, node: Node) -> Expr:
        """generalFilter: the node matches, and has what the pod asks for beside the others (PodRequests, as the scheduler counts)."""
        return any_of(
            shown & (self.suits(pod, content) & self.has_room(pod, node, content) & self.has_ports(pod, node))
            for shown, content in self.contents(node)
        )

    def suits(self, pod: Pod, node: Node) -> Expr:
        """Whether the node has the labels that the pod asks for, and no taint that would have it leave."""

        def question(form: Pod) -> Expr:
            return as_expr(form.asks_for(node) and form.endures(node))

        return in_form(self.universe, pod, self.api.pod[pod].version, question)

    def counts(self, pod: Pod, node: Node) -> Expr:
        """Whether a pod is among those that a new one must fit beside: the kubelet knows its object, and is not done with it."""
        known = self.is_on(pod, node) | (self.api.finished[pod] & self.api.remains[pod])
        return as_expr(self.runs[pod][node]) & known

    def has_room(self, pod: Pod, node: Node, content: Node) -> Expr:
        """fitsRequest: each resource that the pod asks for, and how many pods there are."""
        others = {o: self.counts(o, node) for o in self.universe[Pod] if o is not pod}

        def enough(resource: str) -> Expr:
            asked = self.asked(pod, resource)
            taken = total(select(there, self.asked(o, resource), 0) for o, there in others.items())
            return (asked == 0) | (taken + asked <= content.allocatable(resource))

        fits = all_of(enough(resource) for resource in pod.resources)
        return fits if content.pods is None else fits & (count(others.values()) + 1 <= content.pods)

    def has_ports(self, pod: Pod, node: Node) -> Expr:
        """Whether no pod that counts has a host port that the pod wants."""
        return ~any_of(
            self.counts(o, node) for o in self.universe[Pod] if o is not pod and pod.wants_port_of(o)
        )

    def asked(self, pod: Pod, resource: str) -> Expr:
        """What a pod asks for, as its object says it; one without an object, as it was created."""
        return in_form(self.universe, pod, self.api.pod[pod].version, lambda form: form.request(resource))

    def contents(self, node: Node) -> Iterator[tuple[Expr, Node]]:
        """What the node's object may say, and whether it does."""
        versions = versions_in(self.universe, node)
        if not versions:
            yield as_expr(True), node
        for version in versions:
            yield as_expr(self.api.node_version[node]) == version, version.content
