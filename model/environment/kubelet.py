"""The kubelets: each ends the pods of its node that are to terminate, and, where the scope has `kubelet_admission`, decides which it runs (pkg/kubelet, 1.36).

A pod that does not fit beside the others (lifecycle/predicate.go: resources, how many pods, host ports, node affinity, NoExecute taints) is rejected: its phase is Failed, with a reason such
as OutOfcpu. The others are the pods that the kubelet knows, and is not done with (GetActivePods): also one whose object says already that it has finished.
A pod whose object is gone is not among them, although its containers may still run (104824, as the comment there says).
A pod that grows counts for its kubelet with what it has been allocated: the kubelet allocates more when that fits beside what the others were allocated, puts it off until
then (Deferred), or, where the node is too small for it, says that it never will (Infeasible). For the scheduler it counts with what its user wants from the moment of the write.
Where a node's condition Ready is Unknown, its kubelet hears of nothing and reports nothing; what runs there runs on.
"""

from collections.abc import Callable
from functools import partial

from ..language import (
    Component,
    Expr,
    Words,
    all_of,
    any_of,
    as_expr,
    boolean,
    changes,
    count,
    integer,
    per,
    require,
    select,
    smallest,
    step,
    tells,
    total,
    when,
)
from .api import APIServer
from .cluster.node_health import DecidesOnHealth
from .cluster.pod_versions import PodVersion, in_form
from .objects import Node, Pod, Scope


def admits(scope: Scope) -> int:
    """Whether kubelets decide which pods they run, as 0 or 1."""
    return int(scope.kubelet_admission)


def _last_allocated(scope: Scope) -> int:
    return scope.facts.last_version * admits(scope)


class Kubelet(Component):
    """One kubelet per node.

    `runs[p][n]`: the kubelet of n has admitted the pod, and is not done with it. `rejected[p]`: a kubelet has rejected it. `allocated[p]`: of a pod
    that is resized, the version whose requests it has been allocated.
    """

    api: APIServer
    node_lifecycle: DecidesOnHealth

    runs = per(Pod, per(Node, boolean(possible=admits)))
    rejected = per(Pod, boolean(possible=admits))
    allocated = per(Pod, integer(0, _last_allocated))

    phrases = {
        "runs": Words("kubelet of {1}: {0} runs", "kubelet of {1}: it is done with {0}"),
        "rejected": Words("{0} is rejected by its kubelet", decisive=True),
        "allocated": Words("{0} has been allocated what it asks for", decisive=True),
    }

    def setup(self) -> None:
        for pod in self.universe[Pod]:
            if pod.node is not None:
                self.runs[pod][pod.node] = admits(self.scope) == 1

    @step(actor="kubelet", each="pod")
    @tells("The kubelet admits {pod}.")
    def admit(self, pod: Pod) -> None:
        """HandlePodAdditions: admits a pod that is new on the node, if it fits next to the others."""
        require(self.scope.kubelet_admission)
        require(
            self.is_new(pod)
            & any_of(self.is_at_work_on(pod, n) & self.fits(pod, n) for n in self.universe[Node])
        )
        for node in self.universe[Node]:
            with when(self.is_on(pod, node)):
                self.runs[pod][node] = True
        if is_ever_resized(pod):
            self.allocated[pod] = self.api.pod[pod].version

    @step(actor="kubelet", each="pod")
    @tells(
        "The kubelet rejects {pod}, which does not fit next to the pods that it is not done with: it has failed, and its object stays."
    )
    def reject(self, pod: Pod) -> None:
        """rejectPod: the pod does not fit."""
        require(self.scope.kubelet_admission)
        require(
            self.is_new(pod)
            & any_of(self.is_at_work_on(pod, n) & ~self.fits(pod, n) for n in self.universe[Node])
        )
        self.rejected[pod] = True
        self.api.finish_pod(pod)

    @step(actor="kubelet", each="pod")
    @tells("The kubelet allocates to {pod} what it asks for by now.")
    def allocate(self, pod: Pod) -> None:
        """handlePodResourcesResize: allocates the requested size, if it fits next to the others' allocations."""
        require(self.scope.kubelet_admission and is_ever_resized(pod))
        require(self.is_resizing(pod) & self._is_where(pod, lambda node: self.fits(pod, node)))
        self.allocated[pod] = self.api.pod[pod].version

    @step(actor="kubelet", goroutine="kubelet's refusals of resizes", each="version")
    @tells(
        "The kubelet says that it can never give {version} what it asks for: it counts for what it was allocated."
    )
    def refuse(self, version: PodVersion) -> None:
        """handlePodResourcesResize: the node is too small (Infeasible), and the status says so. The scheduler counts the allocated version of the pod."""
        pod = version.pod
        require(self.scope.kubelet_admission and is_ever_resized(pod))
        require(self.is_resizing(pod) & (self.allocated[pod] == version.number))
        require(self._is_where(pod, lambda node: self.is_too_small(pod, node)))
        self.api.update_pod(version)

    def is_resizing(self, pod: Pod) -> Expr:
        """Whether the pod requests more than it was allocated. (If it requests less, it has less as soon as its status says so.)"""
        current = self.api.pod[pod]
        grown = any_of(
            in_form(self.universe, pod, current.version, partial(_request, r))
            > in_form(self.universe, pod, self.allocated[pod], partial(_request, r))
            for r in pod.resources
        )
        return current.assigned & ~current.terminating & grown

    def _is_where(self, pod: Pod, question: Callable[[Node], Expr]) -> Expr:
        return any_of(
            self.runs[pod][n] & self.is_at_work_on(pod, n) & question(n) for n in self.universe[Node]
        )

    def is_too_small(self, pod: Pod, node: Node) -> Expr:
        """Whether the pod requests more than the whole node has."""

        def exceeds(form: Pod) -> Expr:
            return any_of(
                shown & any_of(form.request(r) > content.allocatable(r) for r in form.resources)
                for shown, content in self.api.contents(node)
            )

        return in_form(self.universe, pod, self.api.pod[pod].version, exceeds)

    @step(actor="kubelet", each="pod")
    @tells("The kubelet is done with {pod}, whose object is gone, or said so before.")
    def stop(self, pod: Pod) -> None:
        """SyncTerminatedPod: a pod that has finished, or was deleted without grace, no longer runs."""
        require(self.scope.kubelet_admission)
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
    @tells(
        changes("api.lingers"),
        "The containers of {pod} have stopped: the kubelet is done with it, and its finalizers keep the object.",
        "The containers of {pod} have stopped: the kubelet removes the object.",
    )
    def finish_termination(self, pod: Pod) -> None:
        """The containers of a terminating pod have stopped: the kubelet removes the object."""
        current = self.api.pod[pod]
        require(current.assigned & current.terminating & ~self.api.lingers[pod])
        require(any_of(self.is_at_work_on(pod, node) for node in self.universe[Node]))
        self.let_go(pod)
        self.api.remove_pod(pod)

    @step(actor="kubelet", fair=False)
    @tells(
        "The containers of {pod} have ended by themselves: the kubelet reports that it has finished, and its object stays."
    )
    def report_finished(self, pod: Pod) -> None:
        """A pod has succeeded or failed. A pod that is being deleted is skipped, because its object is removed soon."""
        require(pod.finishes)
        current = self.api.pod[pod]
        require(current.assigned & ~current.terminating)
        require(any_of(self.is_at_work_on(pod, node) for node in self.universe[Node]))
        if self.scope.kubelet_admission:
            require(~self.is_new(pod))
        self.end(pod)
        self.api.finish_pod(pod)

    def end(self, pod: Pod) -> None:
        """The kubelet has stopped the pod before it writes the phase that says that the pod has finished (108366)."""
        self.let_go(pod)

    def let_go(self, pod: Pod) -> None:
        """The kubelet has stopped the pod, and no longer counts it."""
        if self.scope.kubelet_admission:
            for node in self.universe[Node]:
                self.runs[pod][node] = False

    def is_on(self, pod: Pod, node: Node) -> Expr:
        """Whether the pod's object has this node, and the node exists."""
        current = self.api.pod[pod]
        return current.assigned & (current.node == node) & self.api.node_exists[node]

    def is_reachable(self, node: Node) -> Expr:
        """Whether the node's kubelet and the API server can reach each other."""
        if self.scope.node_lifecycle:
            return ~self.node_lifecycle.is_silent(node)
        if all(content.reachable for _, content in self.api.contents(node)):
            return as_expr(True)
        return any_of(shown & as_expr(content.reachable) for shown, content in self.api.contents(node))

    def is_at_work_on(self, pod: Pod, node: Node) -> Expr:
        """Whether the pod is on the node, and its kubelet receives the pod's events."""
        return self.is_on(pod, node) & self.is_reachable(node)

    def is_new(self, pod: Pod) -> Expr:
        """Whether the pod is bound, not being deleted, and not admitted by a kubelet yet."""
        current = self.api.pod[pod]
        return (
            current.assigned & ~current.terminating & ~any_of(self.runs[pod][n] for n in self.universe[Node])
        )

    def fits(self, pod: Pod, node: Node) -> Expr:
        """generalFilter: the node matches, and has room for the pod's requests next to the others (PodRequests, as the scheduler counts)."""
        return any_of(
            shown & (self.suits(pod, content) & self.has_room(pod, node, content) & self.has_ports(pod, node))
            for shown, content in self.api.contents(node)
        )

    def suits(self, pod: Pod, node: Node) -> Expr:
        """Whether the node has the labels that the pod requires, and no taint that would evict it."""

        def question(form: Pod) -> Expr:
            return as_expr(form.asks_for(node) and form.endures(node))

        return in_form(self.universe, pod, self.api.pod[pod].version, question)

    def counts(self, pod: Pod, node: Node) -> Expr:
        """Whether the kubelet counts this pod when it admits a new one: it knows the object, and has not stopped the pod."""
        known = self.is_on(pod, node) | (self.api.finished[pod] & self.api.remains[pod])
        return as_expr(self.runs[pod][node]) & known

    def has_room(self, pod: Pod, node: Node, content: Node) -> Expr:
        """fitsRequest: compares each requested resource, and the number of pods."""
        others = {o: self.counts(o, node) for o in self.universe[Pod] if o is not pod}

        def enough(resource: str) -> Expr:
            asked = self.asked(pod, resource)
            taken = total(select(there, self.held(o, resource), 0) for o, there in others.items())
            return (asked == 0) | (taken + asked <= content.allocatable(resource))

        fits = all_of(enough(resource) for resource in pod.resources)
        return fits if content.pods is None else fits & (count(others.values()) + 1 <= content.pods)

    def has_ports(self, pod: Pod, node: Node) -> Expr:
        """Whether no counted pod has a host port that the pod wants."""
        return ~any_of(
            self.counts(o, node) for o in self.universe[Pod] if o is not pod and pod.wants_port_of(o)
        )

    def asked(self, pod: Pod, resource: str) -> Expr:
        """The requests in the pod's object; without an object, those with which it was created."""
        return in_form(self.universe, pod, self.api.pod[pod].version, lambda form: form.request(resource))

    def held(self, pod: Pod, resource: str) -> Expr:
        """What a running pod counts for: its allocation, or less if it requests less."""
        asked = self.asked(pod, resource)
        if not is_ever_resized(pod):
            return asked
        return smallest(asked, in_form(self.universe, pod, self.allocated[pod], partial(_request, resource)))


def is_ever_resized(pod: Pod) -> bool:
    """Whether what the pod asks for may change."""
    return any(other.requests != pod.requests for other in pod.later.values())


def _request(resource: str, form: Pod) -> Expr:
    return form.request(resource)
