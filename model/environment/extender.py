"""An HTTP extender (extender.go, 1.36): another process that the scheduler asks, with a view of the cluster of its own.

The scheduler calls it in the scheduling cycle once the plugins have filtered (`SchedulePod.ask_extender`), after the dry runs of preemption
(`PostFilter.ask_extender_about_victims`) and in the binding cycle (`Binding.bind_by_extender`); the calls are requests with a time-out. Nobody tells the extender what became of its answer: that the pod
was not bound after all, or that it fits nowhere, it learns from its own informer, or never. What it has learnt since it rejected a pod it tells nobody either.

What the extenders of gpushare, HAMi and the like keep count of is an extended resource, whose devices they choose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..language import (
    Component,
    Entity,
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
    words,
)
from .cluster.workloads import ExtenderSpec, Noting
from .objects import ClusterSpec, Node, Pod

if TYPE_CHECKING:
    from .api import APIServer


class Managed(Entity):
    """A pod that asks for a resource which an extender manages (IsInterested)."""

    def __init__(self, index: int, pod: Pod, extender: ExtenderSpec) -> None:
        super().__init__(index, pod.name)
        self.pod, self.extender = pod, extender


def managed_pods(spec: ClusterSpec) -> tuple[Managed, ...]:
    """The pods of the cluster that its extender is asked about."""
    of = spec.extender
    asked: Sequence[Pod] = [p for p in spec.pods if of is not None and p.requests.get(of.resource, 0)]
    return tuple(Managed(i, pod, of) for i, pod in enumerate(asked) if of is not None)


class Extender(Component):
    """`counted[p]`: the node on which the extender counts the pod. `late[p]`: a call to bind the pod has timed out, and the extender is still at it."""

    api: APIServer

    counted = per(Managed, ref(Node))
    late = per(Managed, ref(Node))

    phrases = words(
        {
            "counted": Words(
                "extender: it counts {0} on {after}", "extender: it counts {0} no longer", decisive=True
            ),
            "late": Words("extender: it is still about to bind {0} to {after}", ""),
        }
    )

    def setup(self) -> None:
        for managed in self.universe[Managed]:
            if managed.pod.exists and managed.pod.node is not None:
                self.counted[managed] = managed.pod.node

    def managed(self, pod: Pod) -> Managed | None:
        """The pod, if the extender is asked about it (IsInterested)."""
        return next((m for m in self.universe[Managed] if m.pod is pod), None)

    def _spec(self, pod: Pod) -> ExtenderSpec | None:
        managed = self.managed(pod)
        return None if managed is None else managed.extender

    def filters(self, pod: Pod) -> bool:
        """Whether it is asked which nodes the pod may go to."""
        spec = self._spec(pod)
        return spec is not None and spec.filters

    def binds(self, pod: Pod) -> bool:
        """Whether it binds the pod (IsBinder)."""
        spec = self._spec(pod)
        return spec is not None and spec.binds

    def preempts(self, pod: Pod) -> bool:
        """Whether it has a say in preemption for the pod (SupportsPreemption)."""
        spec = self._spec(pod)
        return spec is not None and spec.preempts

    def picks(self, pod: Pod) -> bool:
        """Whether it answers the filter call with one node, and counts the pod there from then on."""
        spec = self._spec(pod)
        return spec is not None and spec.filters and spec.noting is Noting.FILTERED

    def is_ignorable(self, pod: Pod) -> bool:
        """Whether its errors are passed over."""
        spec = self._spec(pod)
        return spec is not None and spec.ignorable

    # --- what it says ----------------------------------------------------------------------------------------

    def has_room(self, pod: Pod, node: Node, gone: Mapping[Pod, Value] | None = None) -> Expr:
        """Whether, by its own count, the node has room for the pod, once the `gone` are not there any more."""
        managed = self.managed(pod)
        assert managed is not None
        resource = managed.extender.resource
        others = [m for m in self.universe[Managed] if m is not managed]
        used = total(
            select(
                (self.counted[m] == node) & ~as_expr((gone or {}).get(m.pod, False)),
                m.pod.request(resource),
                0,
            )
            for m in others
        )
        return used + pod.request(resource) <= node.allocatable(resource)

    def note(self, pod: Pod, node: Value) -> None:
        """It counts the pod on the node from now on."""
        managed = self.managed(pod)
        if managed is not None:
            self.counted[managed] = node

    def note_binding(self, pod: Pod, node: Value) -> None:
        """It has bound the pod."""
        managed = self.managed(pod)
        if managed is not None and managed.extender.noting is not Noting.HEARD:
            self.counted[managed] = node

    def postpone(self, pod: Pod, node: Value) -> None:
        """The call to bind the pod has timed out at the scheduler; the extender goes on."""
        managed = self.managed(pod)
        if managed is not None:
            self.late[managed] = node

    # --- what it does by itself ------------------------------------------------------------------------------

    @step(actor="extender's informer", each="managed")
    @tells("The extender hears what has become of {managed}.")
    def hear(self, managed: Managed) -> None:
        """Its informer shows that the pod is bound, or gone, or has finished. What it noted of a pod that waits stays."""
        current = self.api.pod[managed.pod]
        require(current.assigned | ~as_expr(current.exists))
        require(self.counted[managed] != current.node)
        self.counted[managed] = current.node

    @step(actor="extender", each="managed")
    @tells("The extender binds {managed}, long after the scheduler has stopped waiting for that.")
    def land(self, managed: Managed) -> None:
        """The Binding of a call that has timed out."""
        if not managed.extender.binds:
            require(False)
            return
        node = self.late[managed]
        require(as_expr(node).is_some)
        with when(self.api.can_bind(managed.pod)):
            for known in self.universe[Node]:
                with when(node == known):
                    self.api.bind(managed.pod, known)
            self.note_binding(managed.pod, node)
        self.late[managed] = None
