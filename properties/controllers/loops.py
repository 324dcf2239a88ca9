"""Properties of those who take pods away and those who recreate them."""

from collections.abc import Iterator
from functools import partial

from ...model.environment.cluster.owned_pods import Owned, Owner
from ...model.environment.cluster.workloads import OwnerKind
from ...model.environment.controllers.replacement import Controllers
from ...model.environment.kubelet import Kubelet
from ...model.environment.objects import Pod
from ...model.language import Case, Expr, any_of, as_expr, before, boolean, count, per, when
from ..base.property import Property


class NoReplacementForEver(Property):
    """Pods of one owner are not removed from their nodes, created again and placed again indefinitely, and no node is created and removed indefinitely.

    Pods are removed by the descheduler, by preemption, by a kubelet that rejects them, with a node, or by
    their controller. The property ignores a pod that finishes by itself. Users act finitely often, so only
    the cluster's own components keep such a loop going.
    """

    id = "L-LOOP"
    consequence = "Pods are deleted, created and placed again without end, or nodes are added and removed. The workload never becomes stable, and nodes cost money."
    kind = "liveness"

    controllers: Controllers
    kubelet: Kubelet

    placed = per(
        Owner, boolean()
    )  # the last that happened to a pod of the owner is that it was placed, not that it was taken away

    def pods_of(self, owner: Owner) -> list[Pod]:
        """The owner's pods."""
        return [owned.pod for owned in self.universe[Owned] if owned.owner is owner]

    def stays(self, pod: Pod) -> Expr:
        """Whether the pod is on a node, and nobody has deleted it."""
        current = self.api.pod[pod]
        return as_expr(current.assigned & ~current.terminating)

    def observe(self) -> None:
        for owner in self.universe[Owner]:
            for pod in self.pods_of(owner):
                stays = partial(self.stays, pod)
                finished = self.api.finished[pod] & ~self.kubelet.rejected[pod]
                with when(before(stays) & ~stays() & ~finished):
                    self.placed[owner] = False
                with when(~before(stays) & stays()):
                    self.placed[owner] = True

    def cases(self) -> Iterator[Case]:
        for owner in self.universe[Owner]:
            moved = as_expr(self.placed[owner])
            yield Case(
                f"pods of {owner.name} are taken away, recreated and placed again, indefinitely",
                as_expr(True),
                (moved, ~moved),
            )
        for node in self.nodes if self.scope.autoscaler else ():
            there = as_expr(self.api.node_exists[node])
            yield Case(
                f"{node.name} is made and taken away again, indefinitely", as_expr(True), (there, ~there)
            )

    def witnesses(self) -> dict[str, Expr]:
        placed = {"a pod of an owner is placed": any_of(self.placed[o] for o in self.universe[Owner])}
        later = [node for node in self.nodes if not node.exists]
        made = {"a node is made": any_of(self.api.node_exists[node] for node in later)}
        return {**(placed if self.universe[Owner] else {}), **(made if self.scope.autoscaler else {})}


class NoMoreThanWanted(Property):
    """No owner has more pods than it wants. For a Job and a StatefulSet, this number includes terminating
    pods.

    A user sees two pods that do the work of one ordinal, or a surplus pod that takes another pod's room until its controller deletes it. With the podReplacementPolicy
    TerminatingOrFailed, a Job creates a pod while the previous pod terminates and still uses its room, as the policy says.
    """

    id = "S-MANY"
    consequence = "A controller runs more pods than its workload wants. The surplus pods take room, and a Job may do its work twice."

    def wanted(self, owner: Owner) -> int:
        """How many pods the owner wants at once."""
        return owner.replicas

    def counts(self, owned: Owned) -> Expr:
        """Whether the pod counts."""
        current = self.api.pod[owned.pod]
        if owned.owner.kind in (OwnerKind.JOB, OwnerKind.STATEFUL_SET):
            return as_expr(current.exists)
        return as_expr(current.exists & ~current.terminating)

    def number(self, owner: Owner) -> Expr:
        """How many pods of the owner count."""
        return count(self.counts(owned) for owned in self.universe[Owned] if owned.owner is owner)

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for owner in self.universe[Owner]:
            more = self.number(owner) > self.wanted(owner)
            yield f"{owner.name} has more than {self.wanted(owner)} of its pods", more

    def witnesses(self) -> dict[str, Expr]:
        later = [owned for owned in self.universe[Owned] if not owned.pod.exists]
        return {"a controller makes a pod": any_of(self.api.pod[owned.pod].exists for owned in later)}
