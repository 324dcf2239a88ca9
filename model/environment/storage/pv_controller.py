"""The PV controller of kube-controller-manager (pkg/controller/volume/persistentvolume/pv_controller.go, 1.36), and a provisioner beside it.

The controller binds a claim to the volume that is reserved for it, or, if the claim does not wait for a consumer, to any that fits. For a claim without
such a volume it asks the provisioner for one, whether the claim waits for no consumer, or the scheduler has selected a node.
"""

from typing import Any

from ...language import (
    Component,
    Expr,
    Words,
    all_of,
    any_of,
    as_expr,
    boolean,
    integer,
    per,
    ref,
    require,
    step,
    tells,
    when,
)
from ..api import APIServer
from ..faults import Fault, Faults
from ..objects import Node, Volume, VolumeClaim
from .volumes import MOST_BEHIND, Storage, StorageWatch, VolumeObject, older, volume_at_start


class PVController(Component):
    """The PersistentVolume controller. `volume[v]` is its copy of the volume, which is behind by `lag[v]`. The controller knows its own writes immediately, and sees claims as they are.

    A write from a stale object fails, and is repeated: so each write is possible only with a copy that is current.
    """

    storage: Storage

    volume = per(Volume, VolumeObject)
    lag = per(Volume, integer(0, MOST_BEHIND))

    phrases = {"volume.claim": Words("PV controller: {0} is reserved for {after}")}

    def setup(self) -> None:
        for volume in self.universe[Volume]:
            self.volume[volume] = volume_at_start(volume, self.universe[VolumeClaim])

    def volume_written(self, volume: Volume) -> None:
        """A write at the API server makes the copy one version older."""
        self.lag[volume] = older(self.lag[volume])

    def claim_written(self, claim: VolumeClaim) -> None:
        """Nothing: the provisioner stores no claims."""

    def _write(self, volume: Volume, new: VolumeObject) -> None:
        require(self.lag[volume] == 0)
        self.storage.write_volume(volume, new)
        self.volume[volume] = new
        self.lag[volume] = 0

    @step(actor="pv informer of the controller")
    @tells("The PV controller hears what has become of volumes.")
    def hear(self, watch: StorageWatch) -> None:
        """The informer's store receives all events up to one moment."""
        require(any_of(self.lag[volume] != 0 for volume in self.universe[Volume]))
        for volume in self.universe[Volume]:
            self.volume[volume] = self.storage.volume[volume]
            self.lag[volume] = 0

    # --- claims ----------------------------------------------------------------------------------------------

    def is_open(self, claim: VolumeClaim) -> Expr:
        """syncUnboundClaim: whether the claim exists, and its binding is not complete."""
        current = self.storage.claim[claim]
        return current.exists & ~current.completed

    def is_reserved(self, volume: Volume, claim: VolumeClaim) -> Expr:
        """IsVolumeBoundToClaim, for the controller's copy of the volume."""
        known: Any = self.volume[volume]
        return known.exists & (known.claim == claim) & as_expr(volume.storage_class is claim.storage_class)

    def is_free(self, volume: Volume, claim: VolumeClaim) -> Expr:
        """Whether the controller can use the volume for the claim."""
        known: Any = self.volume[volume]
        same = volume.storage_class is claim.storage_class
        return known.exists & as_expr(known.claim).is_none & as_expr(same)

    def has_reserved(self, claim: VolumeClaim) -> Expr:
        """Whether some volume is reserved for the claim."""
        return any_of(self.is_reserved(volume, claim) for volume in self.universe[Volume])

    @step(actor="pv controller", goroutine="pv controller")
    @tells("The PV controller reserves {volume} for {claim}.")
    def reserve_volume(self, claim: VolumeClaim, volume: Volume) -> None:
        """bindVolumeToClaim: for a claim that does not wait for a consumer, or that names its volume. For claims that wait, the scheduler chooses the volume."""
        current = self.storage.claim[claim]
        wanted = as_expr(current.volume)
        any_will_do = wanted.is_none & as_expr(claim.storage_class.immediate) & ~self.has_reserved(claim)
        require(current.exists & self.is_free(volume, claim))
        require((self.is_open(claim) & any_will_do) | (wanted == volume))
        known: Any = self.volume[volume]
        self._write(volume, known.replace(claim=claim))

    @step(actor="pv controller")
    @tells("The PV controller binds {claim} to {volume}, which is reserved for it.")
    def bind_claim(self, claim: VolumeClaim, volume: Volume) -> None:
        """bindClaimToVolume: writes spec.volumeName and bind-completed together."""
        current = self.storage.claim[claim]
        wanted = as_expr(current.volume)
        require(self.is_open(claim) & self.is_reserved(volume, claim))
        require(wanted.is_none | (wanted == volume))
        self.storage.write_claim(claim, current.replace(volume=volume, completed=True))

    @step(actor="pv controller")
    @tells("The PV controller asks the provisioner for a volume for {claim}.")
    def ask_provisioner(self, claim: VolumeClaim) -> None:
        """provisionClaim: the controller knows no suitable volume, and the claim either does not wait for a consumer, or has a selected node."""
        require(claim.storage_class.provisions)
        current = self.storage.claim[claim]
        require(self.is_open(claim) & as_expr(current.volume).is_none & ~current.asked)
        require(~self.has_reserved(claim))
        if claim.storage_class.immediate:
            require(all_of(~self.is_free(volume, claim) for volume in self.universe[Volume]))
        else:
            require(as_expr(current.selected).is_some)
        self.storage.write_claim(claim, current.replace(asked=True))

    # --- volumes ---------------------------------------------------------------------------------------------

    @step(actor="pv controller")
    @tells("The PV controller gives up {volume}, whose claim has another volume, or is gone.")
    def release_volume(self, volume: Volume) -> None:
        """syncVolume: a volume whose claim is gone or bound elsewhere is unbound, or deleted if it was provisioned.

        A static volume whose claim is gone is retained as it is (Released), and one that was created for its claim stays reserved for it.
        """
        known: Any = self.volume[volume]
        elsewhere, gone = as_expr(False), as_expr(False)
        for claim in self.universe[VolumeClaim]:
            current, own = self.storage.claim[claim], known.claim == claim
            other = as_expr(current.volume).is_some & (current.volume != volume)
            elsewhere = elsewhere | (own & current.exists & other)
            gone = gone | (own & ~current.exists)
        if volume.provisioned_for is not None:
            require(known.exists & (elsewhere | gone))
            self._write(volume, VolumeObject())
            return
        require(volume.claim is None)
        require(known.exists & elsewhere)
        self._write(volume, known.replace(claim=None))


class Provisioner(Component):
    """An external provisioner (sig-storage-lib-external-provisioner, controller/controller.go), which creates volumes.

    `busy[c]`: it is making a volume for the claim; `node[c]`: where, as the claim said when it began.
    """

    api: APIServer
    storage: Storage
    faults: Faults

    busy = per(VolumeClaim, boolean())
    node = per(VolumeClaim, ref(Node))

    phrases = {"node": Words("provisioner: a volume for {0} is to be on {after}")}

    @step(actor="provisioner")
    @tells("The provisioner begins to make a volume for {claim}.")
    def begin(self, claim: VolumeClaim) -> None:
        """shouldProvision: the claim requests provisioning and has no volume. If it waits for a consumer, it names the node."""
        require(claim.storage_class.provisions)
        current = self.storage.claim[claim]
        require(~as_expr(self.busy[claim]) & current.exists & current.asked & ~current.terminating)
        require(as_expr(current.volume).is_none & ~self._is_made(claim))
        if not claim.storage_class.immediate:
            require(as_expr(current.selected).is_some)
            self.node[claim] = current.selected
        self.busy[claim] = True

    def _is_made(self, claim: VolumeClaim) -> Expr:
        return any_of(self.storage.volume[v].exists for v in self._made_for(claim))

    def _made_for(self, claim: VolumeClaim) -> list[Volume]:
        return [v for v in self.universe[Volume] if v.provisioned_for == claim.name]

    def _end(self, claim: VolumeClaim) -> None:
        self.busy[claim] = False
        self.node[claim] = None

    @step(actor="provisioner")
    @tells("The provisioner has made {volume} on {node}, and creates it at the API server.")
    def create(self, volume: Volume, node: Node) -> None:
        """provisionClaimOperation: POST of a volume that is reserved for the claim. For a claim that does not wait for a consumer, on any node."""
        for claim in self.universe[VolumeClaim]:
            if volume.provisioned_for == claim.name:
                require(self.busy[claim])
                require(self.api.node_exists[node])
                if not claim.storage_class.immediate:
                    require(self.node[claim] == node)
                self.storage.write_volume(volume, VolumeObject(exists=True, claim=claim, node=node))
                self._end(claim)
                return
        require(False)

    @step(actor="provisioner", fair=False)
    @tells(
        "The provisioner cannot make a volume for {claim} there, and lets the scheduler select another node."
    )
    def give_up(self, claim: VolumeClaim) -> None:
        """rescheduleProvisioning: removes the annotation selected-node, if it has not changed."""
        require(claim.storage_class.provisions and not claim.storage_class.immediate)
        require(self.busy[claim])
        self.faults.spend(Fault.PROVISION_FAILURE, claim)
        self._reschedule(claim)

    def _reschedule(self, claim: VolumeClaim) -> None:
        current = self.storage.claim[claim]
        still = current.exists & as_expr(current.volume).is_none & (current.selected == self.node[claim])
        with when(still):
            self.storage.write_claim(claim, current.replace(selected=None))
        self._end(claim)

    @step(actor="provisioner")
    @tells(
        "The node on which a volume for {claim} is to be made is gone: the provisioner lets the scheduler select another."
    )
    def leave_node(self, claim: VolumeClaim) -> None:
        """The same if the node is gone (from version 8.0 of the library)."""
        require(claim.storage_class.provisions and not claim.storage_class.immediate)
        node = as_expr(self.node[claim])
        there = any_of((node == n) & self.api.node_exists[n] for n in self.universe[Node])
        require(self.busy[claim] & ~there)
        self._reschedule(claim)
