"""HTTP extenders (extender.go, 1.36). Each is another process that the scheduler asks, with a view of the cluster of its own.

The scheduler calls it in the scheduling cycle once the plugins have filtered (`FindNodes.ask_extender`) and before it chooses a node (`FindNodes.ask_for_scores`), after the dry runs of preemption
(`PostFilter.ask_extender_about_victims`) and in the binding cycle (`Binding.bind_by_extender`); the calls are requests with a time-out. There may be several, which are called in their order, ignorable ones last (buildExtenders in scheduler.go). Nobody tells the extender what became of its answer: that the pod
was not bound after all, or that it fits nowhere, it learns from its own informer, or never. What it has learnt since it rejected a pod it tells nobody either.

What the extenders of gpushare, HAMi and the like keep count of is an extended resource, whose devices they choose.
"""

from collections.abc import Mapping

from ..language import (
    Component,
    Expr,
    Value,
    Words,
    as_expr,
    per,
    ref,
    require,
    select,
    step,
    tells,
    total,
    when,
)
from .api import APIServer
from .cluster.derived import Derived, Found, Roster
from .cluster.workloads import ExtenderSpec, Noting
from .objects import Node, Pod


class HTTPExtender(Derived):
    """An extender of the scheduler's configuration."""

    name: str
    spec: ExtenderSpec

    @classmethod
    def found_in(cls, cluster: Roster) -> Found:
        extenders = cluster.spec.extenders
        for i, of in enumerate(extenders, 1):
            yield "the extender" if len(extenders) == 1 else f"extender {of.name or i}", of


class Managed(Derived):
    """A pod that an extender is asked about (IsInterested): one that asks for a resource which it manages, or, if it manages none, any."""

    name: str
    pod: Pod
    asked: HTTPExtender
    extender: ExtenderSpec

    @classmethod
    def found_in(cls, cluster: Roster) -> Found:
        alone = len(cluster[HTTPExtender]) == 1
        for of in cluster[HTTPExtender]:
            for pod in cluster.spec.pods:
                if of.spec.resource is None or pod.requests.get(of.spec.resource, 0):
                    yield pod.name if alone else f"{pod.name} of {of.name}", pod, of, of.spec


class Extender(Component):
    """The extenders. `counted[m]`: the node on which an extender counts the pod. `late[m]`: a call to bind the pod has timed out, and the extender still executes it."""

    api: APIServer

    kinds = (HTTPExtender, Managed)

    counted = per(Managed, ref(Node))
    late = per(Managed, ref(Node))

    phrases = {
        "counted": Words(
            "extender: it counts {0} on {after}", "extender: it counts {0} no longer", decisive=True
        ),
        "late": Words("extender: it is still about to bind {0} to {after}", ""),
    }

    def setup(self) -> None:
        for managed in self.universe[Managed]:
            if managed.extender.resource and managed.pod.exists and managed.pod.node is not None:
                self.counted[managed] = managed.pod.node

    def asked_about(self, pod: Pod) -> list[Managed]:
        """The pod, once for each extender that is asked about it (IsInterested), in call order."""
        found = [m for m in self.universe[Managed] if m.pod is pod]
        return sorted(found, key=lambda managed: self.comes_last(managed.extender))

    def comes_last(self, extender: ExtenderSpec) -> bool:
        """Whether the extender is called after the extenders that follow it in the configuration."""
        return extender.ignorable

    def filters(self, pod: Pod) -> list[HTTPExtender]:
        """The extenders that filter nodes for the pod."""
        return [m.asked for m in self.asked_about(pod) if m.extender.filters]

    def prioritises(self, pod: Pod) -> list[HTTPExtender]:
        """The extenders that score nodes for the pod (IsPrioritizer)."""
        return [m.asked for m in self.asked_about(pod) if m.extender.scores]

    def binds(self, pod: Pod) -> list[HTTPExtender]:
        """The extenders that can bind the pod (IsBinder)."""
        return [m.asked for m in self.asked_about(pod) if m.extender.binds]

    def preempts(self, pod: Pod) -> list[HTTPExtender]:
        """The extenders that take part in preemption for the pod (SupportsPreemption)."""
        return [m.asked for m in self.asked_about(pod) if m.extender.preempts]

    def managed(self, pod: Pod, extender: HTTPExtender) -> Managed:
        """The pod, as a pod that this extender manages."""
        (found,) = [m for m in self.asked_about(pod) if m.asked is extender]
        return found

    def picks(self, pod: Pod, extender: HTTPExtender) -> bool:
        """Whether the extender answers the filter call with one node, and counts the pod there from then on."""
        return extender in self.filters(pod) and extender.spec.noting is Noting.FILTERED

    # --- what it says ----------------------------------------------------------------------------------------

    def has_room(self, managed: Managed, node: Node, gone: Mapping[Pod, Value] | None = None) -> Expr:
        """Whether the extender accepts the node for the pod: by its own count there is room without the pods in `gone`."""
        of = managed.extender
        if of.nodes is not None and node.name not in of.nodes:
            return as_expr(False)
        if of.resource is None:
            return as_expr(True)
        resource = of.resource
        others = [m for m in self.universe[Managed] if m.asked is managed.asked and m.pod is not managed.pod]
        used = total(
            select(
                (self.counted[m] == node) & ~as_expr((gone or {}).get(m.pod, False)),
                m.pod.request(resource),
                0,
            )
            for m in others
        )
        return used + managed.pod.request(resource) <= node.allocatable(resource)

    def note(self, managed: Managed, node: Value) -> None:
        """The extender counts the pod on the node from now on."""
        self.counted[managed] = node

    def note_binding(self, managed: Managed, node: Value) -> None:
        """The extender has bound the pod."""
        if managed.extender.resource and managed.extender.noting is not Noting.HEARD:
            self.counted[managed] = node

    def postpone(self, managed: Managed, node: Value) -> None:
        """The call to bind the pod has timed out at the scheduler. The extender continues."""
        self.late[managed] = node

    # --- what it does by itself ------------------------------------------------------------------------------

    @step(actor="extender's informer", each="managed")
    @tells("The extender hears what has become of {managed}.")
    def hear(self, managed: Managed) -> None:
        """The extender's informer shows that the pod is bound, gone or finished. Its notes about a waiting pod stay."""
        require(managed.extender.resource is not None)
        current = self.api.pod[managed.pod]
        require(current.assigned | ~as_expr(current.exists))
        require(self.counted[managed] != current.node)
        self.counted[managed] = current.node

    @step(actor="extender", each="managed")
    @tells("The extender binds {managed}, long after the scheduler has stopped waiting for that.")
    def land(self, managed: Managed) -> None:
        """The Binding of a call that has timed out."""
        require(managed.extender.binds)
        node = self.late[managed]
        require(as_expr(node).is_some)
        with when(self.api.can_bind(managed.pod)):
            for known in self.universe[Node]:
                with when(node == known):
                    self.api.bind(managed.pod, known)
            self.note_binding(managed, node)
        self.late[managed] = None
