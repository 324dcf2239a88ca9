"""What the scheduler knows of ResourceSlices, where these come and go (the informer of ResourceSlices, which DynamicResources lists in PreFilter; eventhandlers.go, 1.36)."""

from ...environment.objects import Device
from ...environment.storage.device_slices import DeviceSlice, DeviceSlices
from ...environment.storage.device_taints import DeviceTaints, TaintableDevice
from ...language import (
    Component,
    Expr,
    Lasts,
    Words,
    as_expr,
    boolean,
    changes,
    per,
    require,
    step,
    tells,
    when,
)
from ..framework.events import SLICE_CHANGE
from ..queue.moves import Mover
from ..queue.scheduling_queue import PriorityQueue


class SliceInformer(Component):
    """The informer of ResourceSlices. `shown[s]`: it has the slice, and has notified the queue. `tainted[d]`: the informer has the device's taint."""

    device_slices: DeviceSlices
    device_taints: DeviceTaints
    queue: PriorityQueue

    shown = per(DeviceSlice, boolean())
    tainted = per(TaintableDevice, boolean())

    steps_last = Lasts.SHORT

    phrases = {
        "shown": Words("slice informer: {0} is published", "slice informer: {0} is not published"),
        "tainted": Words("slice informer: {0} is tainted", ""),
    }

    def setup(self) -> None:
        for of in self.universe[DeviceSlice]:
            self.shown[of] = of.exists
        for device in self.universe[TaintableDevice]:
            self.tainted[device] = bool(device.device.taint)

    def relist(self) -> None:
        """A new process lists the slices before it schedules."""
        for of in self.universe[DeviceSlice]:
            self.shown[of] = self.device_slices.published[of]
        for device in self.universe[TaintableDevice]:
            self.tainted[device] = self.device_taints.tainted[device]

    def is_shown(self, device: Device) -> Expr:
        """Whether the informer has the device, with or without its taint. If one claim has several devices, each is checked."""
        of = None if device.parts else self.device_slices.slice_of(device)
        return as_expr(True) if of is None else as_expr(self.shown[of])

    @step(actor="slice informer", each="of")
    @tells(
        changes("slice_informer.shown", after=True),
        "The informer delivers that {of} is published.",
        "The informer delivers that {of} is not published any more.",
    )
    def deliver(self, of: DeviceSlice) -> None:
        """The store and then the queue's handler, in one step. A new slice wakes the pods that DynamicResources has rejected; a deleted slice wakes none."""
        published = self.device_slices.published[of]
        require(as_expr(published) != as_expr(self.shown[of]))
        self.queue.goes_on(Mover.SLICES)
        self.shown[of] = published
        with when(published):
            self.queue.move_all(SLICE_CHANGE)
            self.queue.moved_by(Mover.SLICES)

    @step(actor="slice informer", goroutine="taints", each="of")
    @tells("The informer delivers that {of} is tainted.")
    def deliver_taint(self, of: TaintableDevice) -> None:
        """The slice is updated, or changed by a rule, which causes an update event. Without the slice there is no event."""
        require(as_expr(self.device_taints.tainted[of]) & ~as_expr(self.tainted[of]))
        self.queue.goes_on(Mover.SLICES)
        self.tainted[of] = True
        with when(self.is_shown(of.device)):
            self.queue.move_all(SLICE_CHANGE)
            self.queue.moved_by(Mover.SLICES)
