"""Devices and ResourceClaims at the API server, and the controller that looks after claims (dynamic resource allocation, resource.k8s.io).

A claim asks for one device. It is allocated or not (status.allocation), and status.reservedFor names the pods that may use it. Every write
has a new resourceVersion. Which version a copy of a claim is, is known by how many writes came after it (`Versions`). `timed_out[c]`: the allocation is older than the time-out for binding conditions. That is told by
a clock and the time in the allocation, which every copy of it has; here it is true of the present allocation (A-CLAIM-CLOCK).

The controller is kube-controller-manager's (pkg/controller/resourceclaim/controller.go, 1.36). Where there are no claims, nothing of this exists.
"""

from typing import Any, Protocol

from ....base.structs import Data
from ...language import (
    Component,
    Expr,
    Fact,
    Knowledge,
    Record,
    Value,
    Words,
    any_of,
    as_expr,
    boolean,
    changes,
    clamp,
    count,
    fifo,
    integer,
    one_of,
    per,
    record,
    ref,
    require,
    select,
    step,
    tells,
    when,
)
from ..api import APIServer
from ..cluster.derived import Derived, Found, Roster
from ..cluster.scope import conditions_possible, passing_claims
from ..faults import Fault, Faults
from ..names import Recreation
from ..objects import OWN, Claim, Device, Pod, Scope

MOST_BEHIND = 7
"""A copy that so many writes or more have made old is just old."""

MOST_SHARERS = 7
"""So many pods can count on one allocation in flight."""


THERE, NOT_YET, DELETING, GONE = range(4)
"""How a claim is: there, to come, with a deletion timestamp, or gone for good."""


PENDING, READY, FAILED = range(3)
"""What the driver has said of the allocated device's binding conditions: nothing yet, that they are met, that one of failure is."""


def last_readiness(scope: Scope) -> int:
    """The last of these, where some device has binding conditions."""
    return FAILED if conditions_possible(scope) else PENDING


def last_life(scope: Scope) -> int:
    """The last of these, where claims come and go."""
    return GONE if passing_claims(scope) else THERE


class ClaimUse(Derived, named="{claim} of {pod}"):
    """That a pod refers to a claim (spec.resourceClaims): pod by pod, each in the order of its specification."""

    pod: Pod
    claim: Claim

    @classmethod
    def found_in(cls, cluster: Roster) -> Found:
        named = {claim.name: claim for claim in cluster.spec.claims}
        return ((pod, named[name]) for pod in cluster.spec.pods for name in pod.claims)


class ClaimShare(Derived):
    """A claim to which a pod of a group refers: the group's pods can share an allocation of it that is in flight."""

    claim: Claim

    @classmethod
    def found_in(cls, cluster: Roster) -> Found:
        shared = {name for pod in cluster.spec.pods if pod.group is not None for name in pod.claims}
        return ((claim,) for claim in cluster.spec.claims if claim.name in shared)


class ClaimWatch(Derived, named="claims", found=lambda cluster: [()] if cluster.spec.claims else []):
    """The watch of claims: there is one if there are claims."""


class NameOfUser(Derived, named="{after}"):
    """The name of a pod with claims that is created anew: the controller's lister has one pod of a name at a time."""

    before: Pod
    after: Pod

    @classmethod
    def found_in(cls, cluster: Roster) -> Found:
        pairs = ((r.before, r.after) for r in cluster[Recreation])
        return ((before, after) for before, after in pairs if before.claims and after.claims)


class ClaimChange(Data, slots=False):
    """A change of a claim in the assume cache: whether its allocation went, whether its status is another at all, whether it is new, or gone."""

    claim: Claim
    deallocated: Expr
    differs: Expr
    added: Expr | None = None
    gone: Expr | None = None


def _backlog(scope: Scope) -> int:
    return scope.claim_events


class ClaimObject(Record):
    """What of a ResourceClaim object matters: the allocated device, the pods in reservedFor, and what status.devices says of binding conditions."""

    device = ref(Device)
    reserved = per(Pod, boolean())
    life = integer(0, last_life)
    readiness = integer(0, last_readiness)

    @property
    def allocated(self) -> Expr:
        """status.allocation is set."""
        return as_expr(self.device).is_some


class ClaimEvent(Record):
    """An event of the watch: the claim, and its object after the write."""

    claim = ref(Claim)
    object = record(ClaimObject)


class Versions(Protocol):
    """Who holds copies of claims."""

    def written(self, claim: Claim) -> None:
        """The claim was written: what the part holds of it is one version older."""


def older(lag: Value) -> Expr:
    """How far behind a copy is after one more write."""
    return clamp(as_expr(lag) + 1, 0, MOST_BEHIND)


class ResourceClaims(Component):
    """The API server's ResourceClaims, and the events that the scheduler's informer has not received yet."""

    claim_cache: Versions
    dynamic_resources: Versions
    claim_controller: Versions
    faults: Faults

    kinds = (ClaimUse, ClaimShare, ClaimWatch)

    object = per(Claim, ClaimObject)
    events = per(ClaimWatch, fifo(_backlog, ClaimEvent))
    timed_out = per(Claim, boolean(possible=conditions_possible))

    phrases = {
        "object.device": Words(
            "API server: {0} is allocated {after}", "API server: {0} is deallocated", decisive=True
        ),
        "object.reserved": Words(
            "API server: {0} is reserved for {1}",
            "API server: {0} is no longer reserved for {1}",
            decisive=True,
        ),
        "object.life": Words(decisive=True),
    }
    knowledge = (
        Knowledge(
            "API server",
            {
                "object.device": Fact("device", "allocated {value}", "not allocated"),
                "object.reserved": Fact("reserved", "reserved for it", "not reserved for it"),
            },
        ),
    )

    def setup(self) -> None:
        for claim in self.universe[Claim]:
            self.object[claim].device = claim.device
            for pod in self.universe[Pod]:
                self.object[claim].reserved[pod] = pod.name in claim.reserved
            if claim.readiness:
                self.object[claim].readiness = claim.readiness
            if claim.timed_out:
                self.timed_out[claim] = True
            if not claim.exists:
                self.object[claim].life = NOT_YET

    def has_conditions(self) -> bool:
        """Whether some device has binding conditions."""
        return bool(conditions_possible(self.scope))

    def awaited(self, device: Value) -> Expr:
        """Whether the device has binding conditions."""
        return any_of(as_expr(device) == d for d in self.universe[Device] if d.conditions)

    def report(self, claim: Claim, readiness: int) -> None:
        """The driver writes the result of the binding conditions to status.devices."""
        self.object[claim].readiness = readiness
        self._tell(claim)

    def passes(self) -> bool:
        """Whether claims can be created and deleted."""
        return bool(passing_claims(self.scope))

    def is_there(self, claim: Claim) -> Expr:
        """Whether the claim exists and is not deleted."""
        return self.object[claim].life == THERE if self.passes() else as_expr(True)

    def is_stored(self, claim: Claim) -> Expr:
        """Whether the claim exists, deleted or not."""
        return one_of(self.object[claim].life, THERE, DELETING) if self.passes() else as_expr(True)

    def ends_undelivered(self, claim: Claim) -> Expr:
        """How many deletions of the claim the informer has not received yet."""
        return count(
            (events.length > i) & (events.entry(i).claim == claim) & (events.entry(i).object.life == GONE)
            for watch in self.universe[ClaimWatch]
            for events in (self.events[watch],)
            for i in range(events.capacity)
        )

    def put(self, claim: Claim, life: int) -> None:
        """POST, DELETE, or an UPDATE that removes the finalizer of a deleted claim. A removed claim leaves nothing behind."""
        self.object[claim].life = life
        if life == GONE:
            self._forget_conditions(claim, as_expr(True))
            self.object[claim].device = None
            for pod in self.universe[Pod]:
                self.object[claim].reserved[pod] = False
        self._tell(claim)

    def write(
        self,
        claim: Claim,
        device: Value = None,
        reserved: dict[Pod, Value] | None = None,
        *,
        keeps: bool = False,
    ) -> None:
        """UPDATE of the status: another device (unless it `keeps` the current one), and these changes of reservedFor.

        A write that changes nothing has no event, and no new version.
        """
        new_device = as_expr(self.object[claim].device) if keeps else device
        old: Any = self.object[claim]
        differs = any_of(as_expr(old.reserved[pod]) != value for pod, value in (reserved or {}).items())
        if not keeps:
            differs = differs | (as_expr(old.device) != new_device)
        with when(differs):
            self._forget_conditions(claim, as_expr(old.device) != new_device)
            self.object[claim].device = new_device
            for pod, value in (reserved or {}).items():
                self.object[claim].reserved[pod] = value
            self._tell(claim)

    def _forget_conditions(self, claim: Claim, changes: Expr) -> None:
        """The entries in status.devices and their time are removed with the allocation."""
        if self.has_conditions():
            with when(changes):
                self.object[claim].readiness = PENDING
                self.timed_out[claim] = False

    def _tell(self, claim: Claim) -> None:
        for part in (self.claim_cache, self.dynamic_resources, self.claim_controller):
            part.written(claim)
        for watch in self.universe[ClaimWatch]:
            self.events[watch].push(ClaimEvent(claim=claim, object=self.object[claim]))

    @step(actor="claim informer", fair=False)
    @tells(
        "The watch of claims is interrupted: a list shows the informer how {claim} is by now, and one of its changes is never told."
    )
    def miss_update(self, claim: Claim) -> None:
        """A list after an interrupted watch shows only the current state of an object, without its history."""
        require(bool(self.scope.missed_claim_updates))
        for watch in self.universe[ClaimWatch]:
            events = self.events[watch]
            require(~events.is_empty & (events.head.claim == claim) & (self.later_events(watch, claim) > 0))
            self.faults.spend(Fault.MISSED_CLAIM_UPDATE, claim)
            events.pop()

    def later_events(self, watch: ClaimWatch, claim: Claim) -> Expr:
        """How many events of the claim follow the oldest one: the object of the oldest event is behind by this number."""
        events = self.events[watch]
        count = as_expr(0)
        for i in range(1, events.capacity):
            count = count + select((events.length > i) & (events.entry(i).claim == claim), 1, 0)
        return count

    def is_reserved(self, claim: Claim) -> Expr:
        """Whether any pod is in reservedFor."""
        return any_of(self.object[claim].reserved[pod] for pod in self.universe[Pod])


class ClaimController(Component):
    """The resource claim controller.

    What it writes it has from its lister, with that version: a write from a stale object fails, and is repeated. So it acts on the object as it is.
    Of pods its lister tells, which may be behind. That matters where a name is used again: `lists_before[n]`: the lister has the first pod of the name.
    """

    api: APIServer
    resource_claims: ResourceClaims

    kinds = (NameOfUser,)

    lists_before = per(NameOfUser, boolean())

    phrases = {
        "lists_before": Words("", "resource claim controller: its lister has the pod before {0} no longer")
    }

    def setup(self) -> None:
        for name in self.universe[NameOfUser]:
            self.lists_before[name] = name.before.exists

    def written(self, claim: Claim) -> None:
        """Nothing is stored between two steps."""

    def is_gone(self, pod: Pod) -> Expr:
        """Whether the pod is deleted or finished, or its name belongs to another pod. If the lister lacks the pod, the API server is asked."""
        gone = ~as_expr(self.api.pod[pod].exists)
        for name in self.universe[NameOfUser]:
            if name.before is pod and not pod.finishes:
                gone = gone & ~as_expr(self.lists_before[name])
            if name.after is pod:
                gone = gone | self.is_taken_for_replaced(name)
        return gone

    def is_taken_for_replaced(self, name: NameOfUser) -> Expr:
        """The lister has a pod of the name with another UID. The controller does not check whether that pod is the older one."""
        return as_expr(self.lists_before[name])

    @step(actor="resource claim controller", goroutine="pod informer")
    @tells("The resource claim controller's informer hears that the first pod of the name {name} is gone.")
    def hear_of_end(self, name: NameOfUser) -> None:
        """The lister no longer has the first pod of the name."""
        before = name.before
        require(
            self.lists_before[name]
            & ~as_expr(self.api.pod[before].exists)
            & ~as_expr(self.api.remains[before])
        )
        self.lists_before[name] = False

    @step(actor="resource claim controller", each="claim")
    @tells(
        changes("resource_claims.object.device"),
        "The resource claim controller finds that no pod uses {claim} any more, and deallocates it.",
        "The resource claim controller takes pods that are gone out of reservedFor of {claim}.",
    )
    def sync_claim(self, claim: Claim) -> None:
        """syncClaim: removes pods that are gone or finished from reservedFor. After the last of them, it removes the allocation."""
        pods = [pod for pod in self.universe[Pod] if claim.name in pod.claims or pod.name in claim.reserved]
        current = self.resource_claims.object[claim]
        stale = {pod: current.reserved[pod] & self.is_gone(pod) for pod in pods}
        require(any_of(stale.values()))
        remains = any_of(current.reserved[pod] & ~self.is_gone(pod) for pod in pods)
        device = select(remains, current.device, None)
        self.resource_claims.write(
            claim, device, {pod: current.reserved[pod] & ~gone for pod, gone in stale.items()}
        )

    @step(actor="resource claim controller", each="use")
    @tells("The resource claim controller reserves {use}, which is on a node already.")
    def reserve_for_pod(self, use: ClaimUse) -> None:
        """syncPod and reserveFor: adds a pod that is on a node to reservedFor of an allocated claim."""
        current, pod = self.resource_claims.object[use.claim], self.api.pod[use.pod]
        require(not use.claim.special)  # it looks at spec.resourceClaims only
        require(pod.assigned & ~pod.terminating & current.allocated & ~current.reserved[use.pod])
        require(self.resource_claims.is_there(use.claim))
        if use.claim.name in use.pod.generated:
            require(pod.named == OWN)
        for name in self.universe[NameOfUser]:
            if name.after is use.pod:
                require(~as_expr(self.lists_before[name]))
        self.resource_claims.write(use.claim, None, {use.pod: True}, keeps=True)
