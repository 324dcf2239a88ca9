"""How ResourceClaims come and go: claims made from templates, users who create and delete claims, the finalizer and the garbage collector.

A claim that a pod refers to by a ResourceClaimTemplate is made by the resource claim controller, which then names it in the pod's status:
two writes (syncPod and handleClaim in pkg/controller/resourceclaim/controller.go, 1.36). The second is an Apply by the pod's name, without its UID.
A deleted claim that is allocated stays, for its finalizer, until the controller has taken pods that are gone out of reservedFor, and the allocation.

Where no claim comes or goes nothing of this exists.
"""

from ...language import (
    Component,
    Expr,
    Value,
    Words,
    all_of,
    as_expr,
    boolean,
    changes,
    otherwise,
    per,
    require,
    step,
    tells,
    when,
)
from ..api import APIServer
from ..cluster.derived import Derived
from ..faults import Fault, Faults
from ..names import namesakes
from ..objects import OTHERS, OWN, Claim, Pod
from .claims import DELETING, GONE, NOT_YET, THERE, ClaimController, NameOfUser, ResourceClaims


class TemplateUser(Derived, found=lambda cluster: ((pod,) for pod in cluster.spec.pods if pod.generated)):
    """A pod that has claims made for it: it refers to templates."""

    pod: Pod


class ClaimMaker(Component):
    """The resource claim controller, as far as it creates claims. `naming[u]`: the claims exist, and the controller will write their names into the status of the pod that has the name.

    Its queue has one entry for each name of a pod, so that it does not work for two pods of one name at once.
    """

    api: APIServer
    resource_claims: ResourceClaims
    claim_controller: ClaimController

    kinds = (TemplateUser,)

    naming = per(TemplateUser, boolean())

    phrases = {
        "naming": Words(
            "resource claim controller: the claims of {0} are made",
            "resource claim controller: done with {0}",
        )
    }

    def user(self, pod: Pod) -> TemplateUser:
        """The pod as one for which claims are created."""
        return next(user for user in self.universe[TemplateUser] if user.pod is pod)

    def owner(self, claim: Claim) -> Pod | None:
        """The pod for which the claim is made."""
        return next((pod for pod in self.universe[Pod] if pod.name == claim.owner), None)

    def is_listed(self, pod: Pod) -> Expr:
        """Whether the controller's lister has the pod, and not as a pod that is being deleted. If a name is used again, the lister can be behind."""
        current = self.api.pod[pod]
        listed = as_expr(current.exists) & ~as_expr(current.terminating)
        for name in self.universe[NameOfUser]:
            stale = as_expr(self.claim_controller.lists_before[name])
            if name.before is pod:
                listed = listed | (stale & ~as_expr(current.exists))
            if name.after is pod:
                listed = listed & ~stale
        return listed

    def is_busy(self, pod: Pod) -> Expr:
        """Whether the controller handles another pod with the same name."""
        busy = as_expr(False)
        for other in namesakes(self.universe, pod):
            if other.generated:
                busy = busy | self.naming[self.user(other)]
        return busy

    @step(actor="resource claim controller", goroutine="making claims", each="claim")
    @tells("The resource claim controller makes {claim} from its template.")
    def make_claim(self, claim: Claim) -> None:
        """handleClaim: creates a claim with the pod as its owner, once. After the pod's last claim, the names are written."""
        pod = self.owner(claim)
        if pod is None or claim.exists or claim.special:
            require(False)
            return
        life = self.resource_claims.object[claim].life
        require((life == NOT_YET) & self.is_listed(pod) & ~self.is_busy(pod))
        self.resource_claims.put(claim, THERE)
        mine = [c for c in self.universe[Claim] if c.name in pod.generated]
        with when(all_of(self.resource_claims.object[c].life != NOT_YET for c in mine)):
            self.naming[self.user(pod)] = True

    @step(actor="resource claim controller", goroutine="naming claims", each="user")
    @tells(
        changes("api.pod.named", after=OTHERS),
        "The resource claim controller names the claims of {user} in the status of the pod of that name, which is another one by now.",
        changes("api.pod.named", after=OWN),
        "The resource claim controller names the claims of {user} in its status.",
        "The resource claim controller is to name the claims of {user} in its status, and the pod is gone.",
    )
    def name_claims(self, user: TemplateUser) -> None:
        """syncPod: ApplyStatus by namespace and name. Nothing checks that the pod is the owner of the claims."""
        require(self.naming[user])
        self.naming[user] = False
        self.api.name_claims(user.pod)


class ClaimDeletions(Component):
    """The clients that delete claims, and the removal of claims."""

    api: APIServer
    resource_claims: ResourceClaims
    claim_controller: ClaimController
    faults: Faults

    def delete(self, claim: Claim) -> None:
        """DELETE: removes the claim at once, or sets a deletion timestamp while the claim is allocated."""
        with when(self.resource_claims.object[claim].allocated):
            self.resource_claims.put(claim, DELETING)
        with otherwise():
            self.resource_claims.put(claim, GONE)

    @step(actor="user", fair=False)
    @tells("A user creates {claim}.")
    def create_claim(self, claim: Claim) -> None:
        """A user creates a claim that was not there at the start (once: a second would have a new UID)."""
        require(not claim.exists and claim.owner is None)
        require(self.resource_claims.object[claim].life == NOT_YET)
        self.faults.spend(Fault.CLAIM_CREATION, claim)
        self.resource_claims.put(claim, THERE)

    @step(actor="user", fair=False)
    @tells("A user deletes {claim}.")
    def delete_claim(self, claim: Claim) -> None:
        """A user deletes a claim."""
        require(bool(self.scope.claim_deletions))
        require(self.resource_claims.object[claim].life == THERE)
        self.faults.spend(Fault.CLAIM_DELETION, claim)
        self.delete(claim)

    @step(actor="garbage collector", each="claim")
    @tells("{claim} is deleted, because the pod that owns it is gone, or will not run any more.")
    def collect_claim(self, claim: Claim) -> None:
        """The garbage collector deletes the claims of a deleted pod. syncClaim deletes a claim that is not reserved and whose owner will not run."""
        pod = next((pod for pod in self.universe[Pod] if pod.name == claim.owner), None)
        require(pod is not None)
        current = self.api.pod[pod]
        finished = self.api.remains[pod] | (current.pending & current.terminating)
        done = select_done(current.exists, finished, self.resource_claims.is_reserved(claim))
        require((self.resource_claims.object[claim].life == THERE) & done)
        self.delete(claim)

    @step(actor="resource claim controller", goroutine="finalizers", each="claim")
    @tells(
        changes("resource_claims.object.device"),
        "The resource claim controller deallocates {claim}, which is being deleted.",
        "The resource claim controller takes the finalizer of {claim} away: it is gone.",
    )
    def release_claim(self, claim: Claim) -> None:
        """syncClaim: a claim that is being deleted and not reserved loses its allocation and then its finalizer, in two writes."""
        require(self.resource_claims.passes())
        current = self.resource_claims.object[claim]
        require((current.life == DELETING) & ~self.resource_claims.is_reserved(claim))
        with when(current.allocated):
            self.resource_claims.write(claim)
        with otherwise():
            self.resource_claims.put(claim, GONE)


def select_done(exists: Value, finished: Expr, reserved: Expr) -> Expr:
    """Whether a claim's owner is gone, or will not run and nobody has reserved the claim."""
    gone = ~as_expr(exists) & ~finished
    return gone | (finished & ~reserved)
