"""PersistentVolumes and PersistentVolumeClaims at the API server.

A claim is unbound, or bound to a volume (spec.volumeName, with the annotation bind-completed). The scheduler tells by the annotation selected-node where
a volume is to be made for it. Every write has a new resourceVersion. Which version a copy of an object is, is known by how many writes came after
it. Where there are no claims of volumes, nothing of this exists.
"""

from collections.abc import Iterable
from typing import Any, Protocol

from ....base.structs import Data
from ...language import (
    UNTOLD,
    Component,
    Expr,
    Fact,
    Knowledge,
    Record,
    Value,
    Words,
    all_of,
    any_of,
    as_expr,
    boolean,
    clamp,
    per,
    ref,
    require,
    step,
    tells,
    when,
)
from ..api import APIServer
from ..cluster.derived import Derived, Found, Roster
from ..faults import Fault, Faults
from ..objects import Node, Pod, Volume, VolumeClaim

MOST_BEHIND = 7
"""A copy that so many writes or more have made old is just old."""


class VolumeUse(Derived, named="{claim} of {pod}"):
    """That a pod mounts a claim's volume (spec.volumes): pod by pod, each in the order of its specification."""

    pod: Pod
    claim: VolumeClaim

    @classmethod
    def found_in(cls, cluster: Roster) -> Found:
        named = {claim.name: claim for claim in cluster.spec.volume_claims}
        return ((pod, named[name]) for pod in cluster.spec.pods for name in pod.volumes)


class CountedClaim(Derived):
    """A claim of which the scheduler counts the pods that use it, because one only may (ReadWriteOncePod)."""

    claim: VolumeClaim
    users: tuple[Pod, ...]

    @classmethod
    def found_in(cls, cluster: Roster) -> Found:
        pods, claims = cluster.spec.pods, cluster.spec.volume_claims
        return ((c, tuple(pod for pod in pods if c.name in pod.volumes)) for c in claims if c.exclusive)


class StorageWatch(
    Derived, named="volumes", found=lambda cluster: [()] if cluster.spec.volume_claims else []
):
    """The watches of volumes and of their claims: there are some if there are claims."""


class VolumeClaimChange(Data, slots=False):
    """A PersistentVolumeClaim was created, or updated."""

    claim: VolumeClaim


class VolumeObject(Record):
    """What of a PersistentVolume matters: spec.claimRef, and, of one that was provisioned, the node to which its node affinity ties it."""

    exists = boolean()
    claim = ref(VolumeClaim)
    node = ref(Node)


class VolumeClaimObject(Record):
    """What of a PersistentVolumeClaim matters.

    `selected` is the annotation selected-node, `completed` bind-completed, `asked` storage-provisioner, by which the PV controller asks for a volume.
    """

    exists = boolean()
    terminating = boolean()
    volume = ref(Volume)
    selected = ref(Node)
    completed = boolean()
    asked = boolean()

    @property
    def is_bound(self) -> Expr:
        """isPVCFullyBound: spec.volumeName is set, and the annotation bind-completed."""
        return as_expr(self.volume).is_some & self.completed


def reaches(volume: Volume, object: Any, node: Node) -> Expr:
    """Whether the node affinity of a volume lets pods use it on the node."""
    if volume.provisioned_for is None:
        return as_expr(volume.is_on(node))
    return as_expr(object.node == node)


def older(lag: Value) -> Expr:
    """How far behind a copy is after one more write."""
    return clamp(as_expr(lag) + 1, 0, MOST_BEHIND)


class Copies(Protocol):
    """Who holds copies of volumes and claims."""

    def volume_written(self, volume: Volume) -> None:
        """The volume was written: what the part holds of it is one version older."""

    def claim_written(self, claim: VolumeClaim) -> None:
        """The claim was written."""


class Storage(Component):
    """The API server's PersistentVolumes and PersistentVolumeClaims."""

    volume_cache: Copies
    volume_binding: Copies
    pv_controller: Copies

    kinds = (VolumeUse, CountedClaim, StorageWatch)

    volume = per(Volume, VolumeObject)
    claim = per(VolumeClaim, VolumeClaimObject)

    phrases = {
        "volume.exists": Words("API server: {0} is created", "API server: {0} is deleted", decisive=True),
        "volume.claim": Words(
            "API server: {0} is reserved for {after}",
            "API server: {0} is reserved for no claim any more",
            decisive=True,
        ),
        "claim.exists": Words("API server: {0} is created", "API server: {0} is gone", decisive=True),
        "claim.terminating": Words("API server: {0} is being deleted", decisive=True),
        "claim.volume": Words("API server: {0} is bound to {after}", decisive=True),
        "claim.selected": Words(
            "API server: {0} is to have a volume on {after}",
            "API server: no node is selected for {0} any more",
            decisive=True,
        ),
    }
    knowledge = (
        Knowledge(
            "API server",
            {
                "volume.claim": Fact("claim", "reserved for {value}", "reserved for no claim"),
                "claim.volume": Fact("volume", "bound to {value}", "not bound"),
                "claim.selected": Fact("selected", "for {value}", "for no node"),
            },
        ),
    )

    def setup(self) -> None:
        for volume in self.universe[Volume]:
            self.volume[volume] = volume_at_start(volume, self.universe[VolumeClaim])
        for claim in self.universe[VolumeClaim]:
            self.claim[claim] = claim_at_start(claim)

    def write_volume(self, volume: Volume, new: VolumeObject) -> None:
        """A write of a volume. A write that changes nothing causes no event and no new version."""
        old: Any = self.volume[volume]
        with when(~old.same_as(new)):
            self.volume[volume] = new
            for part in (self.volume_cache, self.volume_binding, self.pv_controller):
                part.volume_written(volume)

    def write_claim(self, claim: VolumeClaim, new: VolumeClaimObject) -> None:
        """A write of a claim. A write that changes nothing causes no event and no new version."""
        old: Any = self.claim[claim]
        with when(~old.same_as(new)):
            self.claim[claim] = new
            for part in (self.volume_cache, self.volume_binding, self.pv_controller):
                part.claim_written(claim)

    def users(self, claim: VolumeClaim) -> list[Pod]:
        """The pods that mount the claim's volume."""
        return [pod for pod in self.universe[Pod] if claim.name in pod.volumes]


def volume_at_start(volume: Volume, claims: Iterable[VolumeClaim]) -> VolumeObject:
    """A volume's object at the start."""
    owner = next((claim for claim in claims if claim.name == volume.claim), None)
    return VolumeObject(exists=volume.exists, claim=owner)


def claim_at_start(claim: VolumeClaim) -> VolumeClaimObject:
    """A claim's object at the start."""
    return VolumeClaimObject(exists=claim.exists, volume=claim.volume, completed=claim.completed)


class StorageUsers(Component):
    """Users and administrators that create and delete volumes and claims, and the finalizer that protects claims in use.

    A claim in use is deleted once no pod on a node mounts it (pkg/controller/volume/pvcprotection); a pod without a node does not keep it.
    """

    api: APIServer
    storage: Storage
    faults: Faults

    made_claim = per(VolumeClaim, boolean())
    made_volume = per(Volume, boolean())

    phrases = UNTOLD

    def is_mounted(self, claim: VolumeClaim) -> Expr:
        """Whether a pod that has a node mounts the claim."""
        return any_of(self.api.pod[pod].assigned for pod in self.storage.users(claim))

    @step(actor="user", fair=False)
    @tells("A user creates {claim}.")
    def create_claim(self, claim: VolumeClaim) -> None:
        """A user creates a claim that the cluster did not have at the start (once: a second would have a new UID)."""
        require(not claim.exists)
        require(~as_expr(self.made_claim[claim]))
        self.made_claim[claim] = True
        self.faults.spend(Fault.VOLUME_CREATION, claim)
        self.storage.write_claim(claim, VolumeClaimObject(exists=True))

    @step(actor="user", fair=False)
    @tells("An administrator creates {volume}.")
    def create_volume(self, volume: Volume) -> None:
        """An administrator, or a provisioner of static volumes, creates a volume that the cluster did not have at the start."""
        require(not volume.exists and volume.provisioned_for is None)
        require(~as_expr(self.made_volume[volume]))
        self.made_volume[volume] = True
        self.faults.spend(Fault.VOLUME_CREATION, volume)
        self.storage.write_volume(volume, volume_as_created(volume, self.universe[VolumeClaim]))

    @step(actor="user", fair=False)
    @tells("A user deletes {claim}.")
    def delete_claim(self, claim: VolumeClaim) -> None:
        """A user deletes a claim. While a pod on a node mounts it, it only gets a deletion timestamp."""
        current = self.storage.claim[claim]
        require(current.exists & ~current.terminating)
        self.faults.spend(Fault.VOLUME_DELETION, claim)
        mounted = self.is_mounted(claim)
        with when(mounted):
            self.storage.write_claim(claim, current.replace(terminating=True))
        with when(~mounted):
            self.storage.write_claim(claim, VolumeClaimObject())

    @step(actor="pvc protection")
    @tells("No pod on a node mounts {claim} any more: it is gone.")
    def release_claim(self, claim: VolumeClaim) -> None:
        """The finalizer of a claim that is being deleted is removed when no pod on a node mounts it any more."""
        current = self.storage.claim[claim]
        require(current.exists & current.terminating & ~self.is_mounted(claim))
        self.storage.write_claim(claim, VolumeClaimObject())

    @step(actor="user", fair=False)
    @tells("An administrator deletes {volume}.")
    def delete_volume(self, volume: Volume) -> None:
        """An administrator deletes a volume. A finalizer keeps a volume to which a claim is bound (pvprotection)."""
        require(self.storage.volume[volume].exists)
        require(all_of(self.storage.claim[c].volume != volume for c in self.universe[VolumeClaim]))
        self.faults.spend(Fault.VOLUME_DELETION, volume)
        self.storage.write_volume(volume, VolumeObject())


def volume_as_created(volume: Volume, claims: Iterable[VolumeClaim]) -> VolumeObject:
    """The object of a volume that an administrator creates."""
    owner = next((claim for claim in claims if claim.name == volume.claim), None)
    return VolumeObject(exists=True, claim=owner)
