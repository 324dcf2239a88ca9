"""Taints of devices with NoExecute, and who has pods leave for them (DRADeviceTaints, on since 1.36).

The driver of a device that has failed taints it in its ResourceSlice, or an administrator does so by a DeviceTaintRule. The scheduler gives it to no claim any more. The device taint
eviction controller (pkg/controller/devicetainteviction, 1.37.2) deletes each pod on a node that uses a claim which is allocated such a device and reserved for it. It deletes by UID. Claims tolerate
nothing here, and taints stay (A-CLAIM-TAINTS).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...language import Component, Expr, Words, any_of, as_expr, boolean, per, require, step, tells, words
from ..cluster.derived import Derived, Found, Roster
from ..faults import Fault
from ..objects import Claim, Device, Pod

if TYPE_CHECKING:
    from ..api import APIServer
    from ..faults import Faults
    from .claims import ResourceClaims


class TaintableDevice(Derived, named="{device}"):
    """A device that may be tainted."""

    device: Device

    @classmethod
    def found_in(cls, cluster: Roster) -> Found:
        return ((device,) for device in cluster.spec.devices if cluster.spec.scope.device_taints)


class DeviceTaints(Component):
    """`tainted[d]`: the device has a taint with NoExecute."""

    api: APIServer
    faults: Faults
    resource_claims: ResourceClaims

    kinds = (TaintableDevice,)

    tainted = per(TaintableDevice, boolean())

    phrases = words({"tainted": Words("API server: {0} is tainted", "", decisive=True)})

    def taintable(self, device: Device) -> TaintableDevice | None:
        """The device as one that may be tainted, if any may."""
        return next((of for of in self.universe[TaintableDevice] if of.device is device), None)

    def is_tainted(self, device: Device) -> Expr:
        """Whether the device has the taint."""
        of = self.taintable(device)
        return as_expr(False) if of is None else as_expr(self.tainted[of])

    def is_seen(self, claim: Claim) -> bool:
        """Whether the controller finds the pods that use the claim: by their specification, and for an extended resource by their status (142289)."""
        return True

    def has_to_leave(self, pod: Pod, *, every: bool = True) -> Expr:
        """Whether a claim of the pod is allocated a tainted device and reserved for it; unless `every`, one that the controller finds."""
        return any_of(
            (claim.device == of.device) & self.tainted[of] & claim.reserved[pod]
            for of in self.universe[TaintableDevice]
            for name, claim in ((c, self.resource_claims.object[c]) for c in self.universe[Claim])
            if name.name in pod.claims and (every or self.is_seen(name))
        )

    @step(actor="device driver", fair=False)
    @tells("{of} has failed: its driver gives it a taint with NoExecute.")
    def taint(self, of: TaintableDevice) -> None:
        """UPDATE of the slice, or a DeviceTaintRule that is created."""
        require(~as_expr(self.tainted[of]))
        self.faults.spend(Fault.DEVICE_TAINT, of.device)
        self.tainted[of] = True

    @step(actor="device taint eviction controller", each="pod")
    @tells("The device taint eviction controller deletes {pod}, whose device is tainted.")
    def evict(self, pod: Pod) -> None:
        """maybeDeletePod: a DELETE with the UID as its precondition, some time after the informers have shown pod, claim and taint."""
        require(bool(self.scope.device_taints and pod.claims))
        current = self.api.pod[pod]
        require(current.assigned & ~current.terminating & self.has_to_leave(pod, every=False))
        self.api.end_victim(pod)
