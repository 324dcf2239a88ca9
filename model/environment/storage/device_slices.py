"""ResourceSlices that come and go: which devices their drivers publish.

A driver publishes a device some time after its node has joined, and takes it back when it is stopped or restarted (the kubelet does that for it, pkg/kubelet/cm/dra/plugin).
A node owns the slices of its devices: the garbage collector deletes them when it is gone. Each device has a slice of its own here (A-CLAIM-SLICES).

Where all devices are there from the start to the end nothing of this exists.
"""

from ...language import (
    Component,
    Expr,
    Words,
    all_of,
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
from ..objects import Claim, Device, Node, Pod
from .claims import ResourceClaims
from .device_taints import DeviceTaints
from .supply import Supply


class DeviceSlice(Derived, named="{device}"):
    """The ResourceSlice of a device that is not there throughout."""

    device: Device

    @classmethod
    def found_in(cls, cluster: Roster) -> Found:
        taken_back = bool(cluster.spec.scope.device_withdrawals)
        return (
            (device,)
            for device in cluster.spec.devices
            if not device.parts and (taken_back or not device.exists)
        )

    @property
    def exists(self) -> bool:
        """Whether it is there at the start."""
        return self.device.exists


class DeviceSlices(Component):
    """ResourceSlices. `published[s]`: the slice is at the API server."""

    api: APIServer
    faults: Faults
    resource_claims: ResourceClaims
    device_taints: DeviceTaints

    kinds = (DeviceSlice,)

    published = per(DeviceSlice, boolean())

    phrases = {
        "published": Words(
            "API server: {0} is published", "API server: {0} is not published any more", decisive=True
        )
    }

    def setup(self) -> None:
        for of in self.universe[DeviceSlice]:
            self.published[of] = of.exists

    def slice_of(self, device: Device) -> DeviceSlice | None:
        """The slice of a device, unless the slice always exists."""
        return next((of for of in self.universe[DeviceSlice] if of.device is device), None)

    def is_published(self, device: Device, claim: Claim) -> Expr:
        """Whether the API server has the device, without a taint that the claim does not tolerate."""
        if device.parts:
            return all_of(self.is_published(part, claim) for part in device.parts)
        of, tainted = self.slice_of(device), self.device_taints.repels(device, claim)
        return ~tainted if of is None else as_expr(self.published[of]) & ~tainted

    def has_node(self, device: Device) -> Expr:
        """Whether the device's node exists."""
        return as_expr(True) if device.node is None else as_expr(self.api.node_exists[device.node])

    def could_have(self, pod: Pod, node: Node, *, to_come: bool = False) -> Expr:
        """Whether the pod's claims are allocated on the node or can be: to free published devices, or, with `to_come`, to devices that may be published later."""
        claims, devices = self.universe[Claim], self.universe[Device]
        own = sorted((c for c in claims if c.name in pod.claims), key=lambda c: c.admin)
        allocated = self.resource_claims.object
        found = [~any_of(allocated[c].device == d for d in devices if not d.is_on(node)) for c in own]
        supply = Supply(
            devices,
            lambda d: any_of(allocated[c].device == d for c in claims),
            lambda d, claim: to_come or self.is_published(d, claim),
        )
        return all_of(found) & supply.can_give([(c, allocated[c].allocated) for c in own], node)

    @step(actor="device driver", goroutine="publishing", each="of")
    @tells("The driver of {of} publishes it.")
    def publish(self, of: DeviceSlice) -> None:
        """POST of the slice, after the driver runs on the device's node."""
        require(~as_expr(self.published[of]) & self.has_node(of.device))
        self.published[of] = True

    @step(actor="device driver", fair=False)
    @tells("The driver of {of} is stopped: its slice is deleted.")
    def withdraw(self, of: DeviceSlice) -> None:
        """DELETE of the slice, by the driver, or by the kubelet if the driver is missing."""
        require(bool(self.scope.device_withdrawals))
        require(as_expr(self.published[of]) & self.has_node(of.device))
        self.faults.spend(Fault.DEVICE_WITHDRAWAL, of.device)
        self.published[of] = False

    @step(actor="garbage collector", goroutine="slices", each="of")
    @tells("The slice of {of} is deleted, as its node is gone.")
    def collect(self, of: DeviceSlice) -> None:
        """The garbage collector deletes the slice, which its node owned."""
        require(as_expr(self.published[of]) & ~self.has_node(of.device))
        self.published[of] = False
