"""Pods that are recreated under their name, as they were taken for one another."""

from __future__ import annotations

from ..environment.api import APIServer
from ..environment.names import Recreation, namesakes
from ..environment.objects import Node, Pod
from ..language import UNTOLD, Expr, Value, any_of, boolean, per, when
from ..scheduler import FailureHandler
from ..scheduler.failure import FailurePhase
from .change import before


@before(
    "105913",
    "the UID of a Binding is a precondition",
    first_in="1.23",
    issues=(105261, 102761),
)
class BindingByName(APIServer):
    """A Binding carried the UID, and nobody looked at it: the pod that had the name was bound (setPodHostAndAnnotations, 1.13 to 1.22)."""

    def can_bind(self, pod: Pod) -> Expr:
        return any_of(super(BindingByName, self).can_bind(named) for named in self.of_name(pod))

    def bind(self, pod: Pod, node: Node | Expr) -> None:
        for named in self.of_name(pod):
            with when(super().can_bind(named)):
                super().bind(named, node)


_RECREATED = "an attempt whose pod was recreated under its name is given up"


@before("138324", _RECREATED, first_in="1.36", issues=(138316,), since="1.19")
class AttemptGoesOnForAnother(FailureHandler):
    """The lister was asked by name, and the attempt went on with the object that it gave: its record, with what had rejected the pod that is gone,
    entered the queue as the other pod's, and so did its nomination. Done was called for the other's UID, so that the one that is gone stayed in
    flight for good.

    `goes_on[r]`: the attempt at `r.before` goes on as one at `r.after`.
    """

    goes_on = per(Recreation, boolean())

    phrases = UNTOLD

    def found_recreated(self, pod: Pod, other: Pod) -> None:
        for recreation in self.universe[Recreation]:
            if recreation.before is pod:
                self.goes_on[recreation] = True
        self.copy[pod] = self.pod_watch.lister[other].copy()
        self.patch_from(pod, self.pod_watch.lister[other])
        self.queue.begin_failure(pod)
        self.phase[pod] = FailurePhase.REQUEUE

    def put_back(self, pod: Pod) -> None:
        goes_on = self._goes_on(pod)
        for other in namesakes(self.universe, pod):
            with when(goes_on):
                self.queue.go_on_as(pod, other)
                self.queue.requeue(other, self.copy[pod])
        if namesakes(self.universe, pod):
            with when(~goes_on):
                super().put_back(pod)
        else:
            super().put_back(pod)

    def record_nomination(self, pod: Pod, field: Value) -> None:
        goes_on = self._goes_on(pod)
        for other in namesakes(self.universe, pod):
            with when(goes_on):
                self.nominator.add(other, self.nominee[pod], field)
        if namesakes(self.universe, pod):
            with when(~goes_on):
                super().record_nomination(pod, field)
        else:
            super().record_nomination(pod, field)

    def _goes_on(self, pod: Pod) -> Expr:
        return any_of(self.goes_on[r] for r in self.universe[Recreation] if r.before is pod)

    def finish(self, pod: Pod) -> None:
        super().finish(pod)
        for recreation in self.universe[Recreation]:
            if recreation.before is pod:
                self.goes_on[recreation] = False
