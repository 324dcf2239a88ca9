"""Properties of taints that have pods leave: the taint eviction controller ends those that must go, and no others."""

from collections.abc import Iterator
from functools import partial

from ...model.environment.cluster.node_health import NO_SCHEDULE, NOT_READY, Health, in_health
from ...model.environment.cluster.placement_rules import Taint
from ...model.environment.cluster.pod_versions import in_form
from ...model.environment.controllers.node_lifecycle import NodeLifecycle
from ...model.environment.controllers.taint_eviction import Fate, TaintEviction, Work, fate
from ...model.environment.kubelet import Kubelet
from ...model.environment.names import Recreation
from ...model.environment.objects import READY, Node, Pod
from ...model.language import Expr, any_of, as_expr, before, boolean, per, when
from ..base import truth
from ..base.property import Property
from .names import WrittenByName


class _OfTaints(Property):
    """What a node's taints mean for a pod, as the API server has both."""

    taint_eviction: TaintEviction

    def has_to_leave(self, pod: Pod) -> Expr:
        """Whether the pod is bound to a node with a NoExecute taint that it does not tolerate, or not indefinitely."""
        if not self.scope.taint_eviction:
            return as_expr(False)
        current = self.api.pod[pod]
        return current.assigned & any_of(
            (current.node == node) & self.api.node_exists[node] & self._repels(pod, node)
            for node in self.nodes
        )

    def _repels(self, pod: Pod, node: Node) -> Expr:
        own = [v for v in self.versions if v.node is node]
        shown = [(self.api.node_version[node] == v, v.content) for v in own] or [(as_expr(True), node)]
        return any_of(shows & self._goes(pod, content) for shows, content in shown)

    def _goes(self, pod: Pod, node: Node) -> Expr:
        def question(form: Pod) -> Expr:
            return as_expr(fate(form, node) is not Fate.STAYS)

        return in_form(self.universe, pod, self.api.pod[pod].version, question)


class _DeletionsHaveReasons(_OfTaints):
    """The taint eviction controller begins to delete a pod only if there was a reason at some moment since the pod was bound."""

    had_to = per(Pod, boolean())  # leave, at some moment since it was bound
    broken = boolean()

    def has_reason(self, pod: Pod) -> Expr:
        """Whether the pod, bound to a node, has to leave it now."""
        raise NotImplementedError

    def observe(self) -> None:
        for pod in self.subjects:
            deletes = partial(self.taint_eviction.deletes, pod)
            with when(deletes() & ~before(deletes) & self.api.pod[pod].exists & ~self.had_to[pod]):
                self.broken = True
            with when(self.has_reason(pod)):
                self.had_to[pod] = True
            with when(~self.api.pod[pod].assigned):
                self.had_to[pod] = False

    def holds(self) -> Expr:
        return ~self.broken


class OnlyTaintedPodsEvicted(_DeletionsHaveReasons):
    """The taint eviction controller begins to delete a pod only if, since the pod was bound, its node has had
    a taint that the pod tolerates only for a limited time or not at all.

    If the taint was removed since then and the controller does not know this yet, the property is not violated. S-IDTAINT checks which pod has the name when the
    DELETE arrives.
    """

    id = "S-TAINT"
    consequence = "A running pod is deleted though it tolerates every taint of its node. Its workload loses a pod for nothing."
    concerns = "the pod that is deleted"
    issues = (139992, 119862)

    def has_reason(self, pod: Pod) -> Expr:
        return self.has_to_leave(pod)

    def setup(self) -> None:
        for pod in self.pods:
            self.had_to[pod] = pod.exists and pod.node is not None and fate(pod, pod.node) is not Fate.STAYS

    def witnesses(self) -> dict[str, Expr]:
        begun = any_of(self.taint_eviction.is_at(p, Work.DELETE) for p in self.pods)
        return {"the controller begins to delete a pod": begun}


class NobodyLeavesReadyNodes(_DeletionsHaveReasons):
    """The taint eviction controller begins to delete a pod only if one of two things happened since the pod was bound. Its node was not ready at some moment, or an actor other than the node lifecycle controller tainted the node.

    When a node is ready again, its taints are removed some time later, NoSchedule before NoExecute. In a
    violation, a pod is bound between these two removals and is evicted when its toleration ends, or the event
    that the taints are gone reaches the taint eviction controller late.
    """

    id = "S-BACK"
    consequence = "A running pod is deleted though its node was ready all the time. Its workload loses a pod for nothing."
    concerns = "the pod that is deleted"
    issues = (112930,)

    node_lifecycle: NodeLifecycle

    def setup(self) -> None:
        for pod in self.pods:
            there = pod.node if pod.exists else None
            self.had_to[pod] = there is not None and (not there.ready or _repels_beside_health(pod, there))

    def has_reason(self, pod: Pod) -> Expr:
        """Whether the pod is bound to a node that is gone, or not ready, or has a taint of somebody else by which it has to leave."""
        if not self.scope.taint_eviction:
            return as_expr(False)
        current = self.api.pod[pod]
        return current.assigned & ~any_of(
            (current.node == node) & self.api.node_exists[node] & ~self._gives_reason(pod, node)
            for node in self.nodes
        )

    def _gives_reason(self, pod: Pod, node: Node) -> Expr:
        own = [v for v in self.versions if v.node is node]
        shown = [(self.api.node_version[node] == v, v.content) for v in own] or [(as_expr(True), node)]

        def question(content: Node, form: Pod) -> Expr:
            return as_expr(not content.ready or _repels_beside_health(form, content))

        number = self.api.pod[pod].version
        return any_of(
            shows & in_form(self.universe, pod, number, partial(question, content))
            for shows, content in shown
        )

    def witnesses(self) -> dict[str, Expr]:
        late = any_of(self.taint_eviction.has_old_taint(p) for p in self.pods)
        return {"a pod is on a node that is ready, and for the controller the node has a taint still": late}


def _repels_beside_health(pod: Pod, node: Node) -> bool:
    """Whether the pod has to leave for a taint that is not the node lifecycle controller's."""
    return fate(pod, in_health(node, Health(node.conditions[READY], frozenset()))) is not Fate.STAYS


class NobodyBeforeReady(Property):
    """No pod is bound to a node that has not been ready since it joined, unless it tolerates the taint node.kubernetes.io/not-ready with NoSchedule.

    Without a node lifecycle controller (`node_lifecycle`) in the scope, the scenario says when nodes are ready.
    """

    id = "S-READY"
    consequence = "A pod is bound to a node that has never been ready. It stays in ContainerCreating until the node is ready, or is evicted after its toleration, 5 minutes by default."
    concerns = "the pod that is bound"
    issues = (72129, 63897)

    was_ready = per(Node, boolean())
    broken = boolean()

    def setup(self) -> None:
        for node in self.nodes:
            self.was_ready[node] = node.exists

    def observe(self) -> None:
        for node in self.nodes:
            for pod in self.subjects:
                on = partial(self._is_on, pod, node)
                # A Binding to a node that is gone is not about one that joins: was_ready is of the node that is there.
                with when(on() & ~before(on) & self.api.node_exists[node] & ~self.was_ready[node]):
                    self.broken = True
            with when(~self.api.node_exists[node]):
                self.was_ready[node] = False
            with when(self.api.node_exists[node] & self._is_ready(node)):
                self.was_ready[node] = True

    def _is_on(self, pod: Pod, node: Node) -> Expr:
        if any(t.tolerates(Taint(NOT_READY, "", NO_SCHEDULE)) for t in pod.tolerations):
            return as_expr(False)
        current = self.api.pod[pod]
        return current.assigned & (current.node == node)

    def _is_ready(self, node: Node) -> Expr:
        own = [v for v in self.versions if v.node is node]
        if not own:
            return as_expr(node.ready)
        return any_of(self.api.node_version[node] == v for v in own if v.content.ready)

    def holds(self) -> Expr:
        return ~self.broken

    def witnesses(self) -> dict[str, Expr]:
        return {
            "a node that has joined, and that a pod asks for, is not ready yet": any_of(
                self.api.node_exists[n] & ~self.was_ready[n]
                for n in self.nodes
                if any(truth.asks_for(p, n) for p in self.subjects)
            )
        }


class TaintEvictionsHitTheirPod(WrittenByName):
    """No deletion that the taint eviction controller planned for one pod ends a later pod with the same name."""

    id = "S-IDTAINT"
    consequence = "A new pod is deleted because of a taint on the node of an old pod with the same name. A workload loses a pod for nothing."

    taint_eviction: TaintEviction

    def due(self, pod: Pod) -> Expr:
        return self.taint_eviction.deletes(pod)

    def sent(self, pod: Pod) -> Expr:
        return before(partial(self.due, pod)) & ~self.due(pod)

    def hit(self, pod: Pod) -> Expr:
        def stays() -> Expr:
            current = self.api.pod[pod]
            return current.exists & ~current.terminating

        return before(stays) & ~stays()


class TaintedPodsLeave(_OfTaints):
    """When the scheduler, the watches, the kubelets, the timers and the taint eviction controller can take no step, each pod on a node tolerates the
    node's NoExecute taints indefinitely, or has been deleted.

    Without the taint eviction controller (`taint_eviction`) in the scope, no pod has to leave.
    """

    id = "S-LEAVE"
    consequence = "A pod stays on a node whose taint it does not tolerate, indefinitely. A drained or broken node keeps its pod until somebody deletes the pod."
    kind = "deadlock freedom"
    concerns = "the pod that stays"
    issues = (107543, 125332)

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for p in self.subjects:
            stays = self.has_to_leave(p) & ~self.api.pod[p].terminating
            yield (
                f"{p.name} is on a node with a NoExecute taint that it does not tolerate, and nobody deletes it",
                stays,
            )

    def witnesses(self) -> dict[str, Expr]:
        return {"a pod has to leave its node": any_of(self.has_to_leave(p) for p in self.subjects)}


class NothingLeftOfWorks(Property):
    """Once the taint eviction controller has deleted a pod, handled its deletion and ended its goroutine, it keeps nothing under the pod's name.

    In a violation, what is left makes the controller plan no deletion for the next pod with this name.
    """

    id = "S-KEPT"
    consequence = "The controller keeps the planned eviction of a deleted pod. Its memory grows. A later pod of the same name may be evicted wrongly, or is never evicted."
    issues = (125332, 107543)

    taint_eviction: TaintEviction

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for pod in self.pods:
            if self.taint_eviction.name_of(pod) is pod:
                yield (
                    f"The controller keeps work under the name of {pod.name}",
                    self.taint_eviction.keeps(pod),
                )

    def witnesses(self) -> dict[str, Expr]:
        return {
            "the controller has deleted a pod": any_of(
                self.taint_eviction.is_at(p, Work.END) for p in self.pods
            )
        }


class NamesRunOnce(Property):
    """No two pods with the same name run at the same time: a kubelet stops the first before another kubelet admits the second.

    The model's kubelets admit and reject pods only with `kubelet_admission` in the scope.
    """

    id = "S-TWIN"
    consequence = "Two pods with the same name, for example of a StatefulSet, run at the same time. Both can write to the same data."
    issues = (54368,)

    kubelet: Kubelet

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for r in self.universe[Recreation]:
            both = self._runs(r.before) & self._runs(r.after)
            yield f"{r.before.name} and {r.after.name}, which has its name, run at the same time", both

    def _runs(self, pod: Pod) -> Expr:
        return any_of(self.kubelet.runs[pod][node] for node in self.nodes)

    def witnesses(self) -> dict[str, Expr]:
        return {
            "the pod that was recreated runs": any_of(self._runs(r.after) for r in self.universe[Recreation])
        }
