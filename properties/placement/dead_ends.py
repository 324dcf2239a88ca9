"""Dead ends: a decision takes away the only place of a pod, and nothing can place it any more.

The other properties of waiting pods ask whether a pod fits *now*. A volume that was made on a node, a device that was allocated, a node selector that was
written, or another pod that was placed can end that for good: then the pod fits nowhere, and all of them hold.
"""

from collections.abc import Callable, Sequence

from ...model.environment.faults import Fault
from ...model.environment.objects import Node, Pod, PodGroup
from ...model.language import Expr, any_of, as_expr, before, boolean, select, substitute
from ...model.language.expressions.expr import const
from ..base import truth
from ..base.property import Property
from .placing_together import MOST_PLACEMENTS, PlacingTogether, are_too_many, to_be_placed

BY_OTHERS = (
    Fault.POD_UPDATE,
    Fault.POD_DELETION,
    Fault.EVICTION,
    Fault.EXTERNAL_BIND,
    Fault.VOLUME_CREATION,
    Fault.VOLUME_DELETION,
    Fault.CLAIM_CREATION,
    Fault.CLAIM_DELETION,
)
"""What users and administrators do that can change which pods have a place together; changes of nodes are seen as such."""


class PlaceableStaysPlaceable(Property):
    """If all pods could be placed together when the last pod was created, they can still be placed in every later state. That is, without users
    and faults, the cluster can reach a state in which each pod is on a node, is gone, or waits for a scheduling gate.

    A violation is a dead end: the scheduler, the watches, the kubelets and the controllers can no longer
    reach a state in which each pod is on a node, is gone, or waits for a scheduling gate, in any order of
    their steps. A step with several outcomes can have any of them. The property assumes no periodic flush of
    parked pods, unless the scope says so. The property allows preemption: a pod that preemption deletes does
    not have to be placed again.

    *Together* means one after the other, in some order, each on a node that exists and passes all filters for
    it. A pod that is bound or assumed when another one is created stays where it is. For all other pods, the
    property ignores the volumes and devices that they got later, and the node that a gate keeper chose for
    them. A pod of a gang also waits for gates while the gang has fewer than minCount pods without gates.

    Whenever a pod is created, the property asks again whether all pods can be placed together. If they
    cannot, some pod has to wait, and the property says nothing until the next pod is created. It also asks
    again when a node changes, and when users update, delete, evict or bind pods, or change volumes and
    claims. If the change itself makes the placement impossible, this is no dead end. If controllers create
    pods, L-PLACE can wrongly hold.
    """

    id = "L-PLACE"
    consequence = "The scheduler places pods so that the last one never fits, although all would have fitted. It stays Pending until somebody moves or deletes a pod, or adds a node."
    concerns = "the pod that can no longer be placed"
    kind = "resettability"
    issues = (126499, 121436)

    owed = boolean()  # all pods that exist could be placed together when the last of them was created

    @classmethod
    def caveat(cls, nodes: Sequence[Node], pods: Sequence[Pod] = ()) -> str:
        if not are_too_many(nodes, [pod for pod in pods if pod.node is None]):
            return ""
        return f"it says nothing of more than {MOST_PLACEMENTS:,} ways to place the pods: look at fewer pods or nodes"

    # --- what it remembers -----------------------------------------------------------------------------

    def setup(self) -> None:
        self.owed = self._fit_together()

    def observe(self) -> None:
        never = as_expr(False)
        came, changed = self._comes(), self._changes()
        if came is never and changed is never:
            return
        now = self._fit_together()
        self.owed = select(came, now, select(changed, self.owed & now, self.owed))

    def _comes(self) -> Expr:
        """Whether a pod is created in this step, or the group that some wait for."""
        pods = [self._turns(lambda p=p: as_expr(self.api.pod[p].exists)) for p in self.pods]  # type: ignore[misc]
        groups = [
            self._turns(lambda g=g: as_expr(self.pod_groups.exists[g]))  # type: ignore[misc]
            for g in self.universe[PodGroup]
        ]
        return any_of([*pods, *groups])

    def _changes(self) -> Expr:
        """Whether users or administrators act in this step, a node changes, or a pod finishes."""
        left, exists, version = self.process.faults.left, self.api.node_exists, self.api.node_version
        found = [
            as_expr(left[kind]) < before(lambda kind=kind: left[kind])  # type: ignore[misc]
            for kind in BY_OTHERS
            if getattr(self.scope, kind.value)
        ]
        for node in self.nodes:
            found.append(as_expr(exists[node]) != before(lambda node=node: exists[node]))  # type: ignore[misc]
            if node.later:
                found.append(as_expr(version[node]) != before(lambda node=node: version[node]))  # type: ignore[misc]
        found += [
            self._turns(lambda p=p: ~as_expr(self.api.pod[p].exists))  # type: ignore[misc]
            for p in self.pods
            if p.finishes
        ]
        return any_of(found)

    @staticmethod
    def _turns(holds: Callable[[], Expr]) -> Expr:
        """Whether it holds, and did not before the step: False at once for steps that can only end it."""
        now, was = holds(), before(holds)
        known = was.args[0] if was.op == "not" else was
        value = const(known.sort, int(was is not known))
        return substitute([now], lambda leaf: value if leaf is known else leaf)[now] & ~was

    # --- what it claims --------------------------------------------------------------------------------

    def _is_there(self, pod: Pod) -> Expr:
        return as_expr(self.api.pod[pod].exists) & ~self.api.pod[pod].terminating

    def _waits(self, pod: Pod) -> Expr:
        """Whether the pod is to be placed: neither it nor its gang waits for scheduling gates."""
        member = self.pod_groups.member(pod)
        free = as_expr(True)
        if member is not None:
            free = self.pod_groups.complete(
                member.group, lambda m: self._is_there(m.pod) & ~self.api.pod[m.pod].gated
            )
        gated = truth.waits_for_gates(self, pod)
        return self._is_there(pod) & ~self.api.pod[pod].assigned & ~gated & free

    @property
    def _mine(self) -> list[Pod]:
        """The pods that this scheduler is to place."""
        return [pod for pod in to_be_placed(self) if not pod.foreign]

    def holds(self) -> Expr:
        waiting = [self._waits(pod) for pod in self._mine if pod in self.subjects]
        return ~self.owed | ~any_of(waiting)

    def witnesses(self) -> dict[str, Expr]:
        mine = [pod for pod in self._mine if pod in self.subjects]
        waits = any_of(self._waits(pod) for pod in mine)
        placed = any_of(self._is_there(pod) & self.api.pod[pod].assigned for pod in mine)
        return {
            "pods wait that can be placed together": self.owed & waits,
            "such pods have been placed": self.owed & placed & ~waits,
        }

    # --- whether all can be placed together ------------------------------------------------------------

    def _fit_together(self) -> Expr:
        """Whether there is a place for every pod that is there, as the class says."""
        if not self._mine or are_too_many(self.nodes, to_be_placed(self)):
            return as_expr(False)
        return PlacingTogether(self).is_possible()
