"""The devices that ResourceSlices publish, as the allocator knows them: which nodes reach each, which taints it has, and which claims may have it.

Of a pool only the newest generation counts, and nothing of it before all its slices are there (GatherPools in
k8s.io/dynamic-resource-allocation/structured, 1.36). A device that is beyond the model is left out, and a claim that might have it is in doubt.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping

from ..model.environment.objects import NodeAffinity, Taint
from .reading.device_objects import DeviceKey, DeviceObject, DeviceWish, SliceObject, WrittenDevices, matches
from .reading.device_taints import evicting, not_tolerated
from .reading.manifest_files import Remarks

SELECTOR_UNREAD = "a selector of devices says more than comparisons of a driver and attributes that they have: it is taken to be met"


class PublishedDevices:
    """The devices of a cluster with these nodes. `selected` says which nodes a selector means. `at`: which nodes reach each device."""

    def __init__(
        self,
        written: WrittenDevices,
        nodes: Collection[str],
        selected: Callable[[NodeAffinity], frozenset[str]],
        remarks: Remarks,
    ) -> None:
        self._classes, self._rules = written.classes, written.rules
        self._nodes, self._selected, self._remarks = frozenset(nodes), selected, remarks
        self._published: dict[DeviceKey, DeviceObject] = {}
        self._left_out: dict[DeviceKey, DeviceObject] = {}
        self._read(written)
        self.at: Mapping[DeviceKey, frozenset[str]] = {k: self._where(d) for k, d in self._published.items()}
        self._candidates: dict[DeviceWish, tuple[DeviceKey, ...]] = {}
        self._heeded_from: dict[DeviceWish, dict[str, str]] = {}

    def _read(self, written: WrittenDevices) -> None:
        newest: dict[tuple[str, str], int] = {}
        for one in written.slices:
            pool = (one.driver, one.pool)
            newest[pool] = max(newest.get(pool, 0), one.generation)
        current = [s for s in written.slices if s.generation == newest[s.driver, s.pool]]
        there = Counter((s.driver, s.pool) for s in current)
        names = Counter(device.key for s in current for device in s.devices)
        twice = {key[:2] for key, number in names.items() if number > 1}
        for one in current:
            if there[one.driver, one.pool] != one.parts:
                self._pass_over(one, "not complete")
            elif (one.driver, one.pool) in twice:
                self._pass_over(one, "not valid, as it has a device twice")
            else:
                for device in one.devices:
                    self._keep(device)

    def _pass_over(self, one: SliceObject, why: str) -> None:
        self._remarks.add(
            f"the pool is {why}, and its devices are left out: the allocator passes over it, too",
            one.meta.shown,
        )

    def _keep(self, device: DeviceObject) -> None:
        shown = f"device {device.key[2]} of {device.key[1]}"
        if device.unlike:
            self._remarks.add(f"{device.unlike}, which is not modelled: left out", shown)
            self._left_out[device.key] = device
            return
        if self.taints(device):
            self._remarks.add("the device is tainted: only claims that tolerate that may have it", shown)
        self._published[device.key] = device

    def _where(self, device: DeviceObject) -> frozenset[str]:
        where = device.where
        if where.node:
            return self._nodes & {where.node}
        return self._nodes if where.selector is None else self._selected(where.selector)

    def taints(self, device: DeviceObject, surely: bool = False) -> tuple[Taint, ...]:
        """The taints that a device has, or may have; `surely`: only those that are known to be its."""
        rules = (r for r in self._rules if r.means(device.key) and not (surely and r.unlike))
        return (*device.taints, *(r.taint for r in rules))

    def heeded_from(self, wish: DeviceWish) -> dict[str, str]:
        """What of the devices that suit a claim counts only from some release on, and which (pkg/features/kube_features.go)."""
        if wish in self._heeded_from:
            return self._heeded_from[wish]
        some = [d for d in self._published.values() if self._suits(d, wish) is not False]
        told = {
            "taints of devices count": ("1.36", any(d.taints for d in some)),
            "binding conditions count": ("1.36", any(d.conditions for d in some)),
            "a DeviceTaintRule counts": ("1.37", any(r.means(d.key) for r in self._rules for d in some)),
            "firstAvailable counts": ("1.34", bool(wish.others)),
        }
        found = {what: first for what, (first, is_there) in told.items() if is_there}
        return self._heeded_from.setdefault(wish, found)

    def _suits(self, device: DeviceObject, wish: DeviceWish) -> bool | None:
        of = self._classes.get(wish.of)
        return matches(device, (*(of.selectors if of else ()), *wish.selectors))

    def _meets(self, device: DeviceObject, wish: DeviceWish) -> bool | None:
        """Whether a claim may have the device; None if nobody knows. Selectors come first, as in allocateOne: one that fails does so for a tainted device, too."""
        met = self._suits(device, wish)
        if not met or not not_tolerated(self.taints(device), wish.tolerations):
            return met
        return False if not_tolerated(self.taints(device, surely=True), wish.tolerations) else None

    def candidates(self, wish: DeviceWish) -> tuple[DeviceKey, ...]:
        """The devices that a claim may have, whether or not another claim has them; also those of which nobody knows."""
        if wish not in self._candidates:
            said = {key: self._meets(device, wish) for key, device in self._published.items()}
            if None in said.values():
                self._remarks.add(SELECTOR_UNREAD, f"DeviceClass/{wish.of}")
            self._candidates[wish] = tuple(key for key, met in said.items() if met is not False)
        return self._candidates[wish]

    def doubt(self, wish: DeviceWish) -> str:
        """Why the candidates of a claim may be others than these; "" if they are not."""
        for device in self._left_out.values():
            if self._meets(device, wish) is not False:
                return f"it may have {device.key[2]} of {device.key[1]}, but {device.unlike}"
        if any(self._meets(device, wish) is None for device in self._published.values()):
            return "podrace does not read the selector of its devices, or one has not the attribute that it names"
        return ""

    def evicts(self, key: DeviceKey, wish: DeviceWish) -> bool:
        """Whether pods with such a claim are evicted for a taint of the device."""
        device = self._published.get(key) or self._left_out.get(key)
        return device is not None and evicting(self.taints(device), wish.tolerations)

    def has_conditions(self, key: DeviceKey) -> bool:
        """Whether a pod is bound only once the driver has said that the device is ready."""
        return self._published[key].conditions
