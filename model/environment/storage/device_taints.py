"""Taints of devices, and who has pods leave for those with NoExecute (DRADeviceTaints, on since 1.36).

The driver of a device that has failed taints it in its ResourceSlice, or an administrator does so by a DeviceTaintRule. The scheduler gives it to no claim any more. The device taint
eviction controller (pkg/controller/devicetainteviction, 1.37.2) deletes each pod on a node that uses a claim which is allocated such a device and reserved for it. It deletes by UID. What
claims tolerate it reads in their allocations. tolerationSeconds count from when the device was tainted. Taints stay (A-CLAIM-TAINTS).
"""

from ...language import (
    Component,
    Expr,
    Words,
    any_of,
    as_expr,
    boolean,
    per,
    require,
    step,
    tells,
)
from ..api import APIServer
from ..cluster.derived import Derived, Found, Roster
from ..faults import Fault, Faults
from ..objects import Claim, Device, Pod
from .claims import ResourceClaims

EVICTING = "NoExecute"


class TaintableDevice(Derived, named="{device}"):
    """A device that may be tainted."""

    device: Device

    @classmethod
    def found_in(cls, cluster: Roster) -> Found:
        return (
            (device,)
            for device in cluster.spec.devices
            if (cluster.spec.scope.device_taints or device.taint) and not device.parts
        )

    @property
    def effect(self) -> str:
        """The effect of the taint that it has, or gets."""
        return self.device.taint or EVICTING


class DeviceTaints(Component):
    """Taints of devices. `tainted[d]`: the device has its taint. `overdue[d]`: it has had the taint for longer than tolerationSeconds."""

    api: APIServer
    faults: Faults
    resource_claims: ResourceClaims

    kinds = (TaintableDevice,)

    tainted = per(TaintableDevice, boolean())
    overdue = per(TaintableDevice, boolean())

    phrases = {"tainted": Words("API server: {0} is tainted", "", decisive=True)}

    def setup(self) -> None:
        for of in self.universe[TaintableDevice]:
            self.tainted[of] = bool(of.device.taint)

    def taintable(self, device: Device) -> TaintableDevice | None:
        """The device, if it can be tainted."""
        return next((of for of in self.universe[TaintableDevice] if of.device is device), None)

    def repels(self, device: Device, claim: Claim) -> Expr:
        """Whether the device has a taint that the claim does not tolerate."""
        of = self.taintable(device)
        return as_expr(False) if of is None or claim.accepts(of.effect) else as_expr(self.tainted[of])

    def keeps(self, claim: Claim) -> bool:
        """Whether the controller finds in an allocation that the claim tolerates NoExecute."""
        return claim.accepts(EVICTING)

    def is_seen(self, claim: Claim) -> bool:
        """Whether the controller finds the pods that use the claim: by their specification, or for an extended resource by their status (142289)."""
        return True

    def has_to_leave(self, pod: Pod, *, every: bool = True) -> Expr:
        """Whether a claim that is reserved for the pod has a device with a taint that evicts the pod. Unless `every`: as the controller sees it, and now."""
        return any_of(
            (claim.device == device) & self._evicts(of, name, every) & claim.reserved[pod]
            for of in self.universe[TaintableDevice]
            if of.effect == EVICTING
            for device in self.universe[Device]
            if of.device in (device, *device.parts)
            for name, claim in ((c, self.resource_claims.object[c]) for c in self.universe[Claim])
            if name.name in pod.claims and (every or self.is_seen(name))
        )

    def _evicts(self, of: TaintableDevice, claim: Claim, every: bool) -> Expr:
        tolerates = claim.accepts(EVICTING) if every else self.keeps(claim)
        if tolerates and not claim.briefly:
            return as_expr(False)
        return as_expr(self.overdue[of] if tolerates and not every else self.tainted[of])

    @step(actor="device driver", fair=False)
    @tells("{of} has failed: its driver gives it a taint with NoExecute.")
    def taint(self, of: TaintableDevice) -> None:
        """UPDATE of the slice, or a new DeviceTaintRule."""
        require(bool(self.scope.device_taints) and not of.device.taint)
        require(~as_expr(self.tainted[of]))
        self.faults.spend(Fault.DEVICE_TAINT, of.device)
        self.tainted[of] = True

    @step(actor="device taint eviction controller", goroutine="clock", each="of")
    @tells("{of} has been tainted for longer than claims tolerate.")
    def age(self, of: TaintableDevice) -> None:
        """The time when the taint was added, and tolerationSeconds. The time of the allocation does not matter."""
        require(of.effect == EVICTING and any(claim.briefly for claim in self.universe[Claim]))
        require(as_expr(self.tainted[of]) & ~as_expr(self.overdue[of]))
        self.overdue[of] = True

    @step(actor="device taint eviction controller", each="pod")
    @tells("The device taint eviction controller deletes {pod}, whose device is tainted.")
    def evict(self, pod: Pod) -> None:
        """maybeDeletePod: a DELETE with the UID as its precondition, some time after the informers have shown pod, claim and taint."""
        require(bool(self.universe[TaintableDevice] and pod.claims))
        current = self.api.pod[pod]
        require(current.assigned & ~current.terminating & self.has_to_leave(pod, every=False))
        self.api.end_victim(pod)
