"""How many volumes nodes take, and where drivers have capacity for new ones: read to say where neither can matter, and in doubt where it can."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from ..base.structs import Data
from ..scenarios.tables.objects import NO_PROVISIONER
from .members import ClusterNode, ClusterPod
from .pod_claims import ClusterClaims, PodClaims
from .reading.csi_objects import OLD_PROVISIONERS, driver_of


class Keeper(Data):
    """Why a limit of volumes, or a driver that is not there, may keep pods away. `known`: it can; if not, that is not known."""

    why: str
    known: bool = False


class VolumeLimits(Data, slots=False):
    """What NodeVolumeLimits and the capacity check of VolumeBinding go by (nodevolumelimits/csi.go, volumebinding/binder.go, 1.36)."""

    claims: ClusterClaims
    bound: Sequence[ClusterPod]

    def doubts(
        self,
        pods: Sequence[ClusterPod],
        nodes: Sequence[ClusterNode],
        modelled: Collection[str] = (),
        others: Sequence[ClusterPod] = (),
    ) -> Iterator[str]:
        """Why some of these pods, which wait, may be kept from some of these nodes, also by `others` that wait; nothing of limits of drivers that are `modelled`."""
        every = self.wanted([*pods, *others])
        for pod in pods:
            for name in pod.claims.volumes:
                yield from (f"{why} ({name} of {pod.name})" for why in self._of_capacity(name, pod.claims))
        for driver, names in self.wanted(pods).items():
            if driver not in modelled:
                yield from (keeper.why for keeper in self._of_limits(driver, names, nodes, every[driver]))

    def wanted(self, pods: Sequence[ClusterPod]) -> dict[str, set[str]]:
        """The claims of these pods, by the CSI drivers that their volumes may be of."""
        found: dict[str, set[str]] = {}
        for pod in pods:
            for name in pod.claims.volumes:
                own = range(1, pod.stands_for if name in pod.claims.templates else 1)
                for driver in self.drivers(name, pod.claims):
                    found.setdefault(driver, set()).update({name, *(f"{name} {i}" for i in own)})
        return found

    def matter(self, driver: str, names: set[str], nodes: Sequence[ClusterNode]) -> bool:
        """Whether it is known that the limit of a node, or a driver that is not there, can keep pods with these claims away."""
        return any(keeper.known for keeper in self._of_limits(driver, names, nodes))

    def used(self, driver: str, node: str, pods: Iterable[ClusterPod]) -> set[str]:
        """The volumes of a driver that those of these pods use that are on the node, with disks that they name themselves."""
        there = [pod for pod in pods if pod.node == node]
        own = [(name, pod.claims) for pod in there for name in pod.claims.volumes]
        disks = {f"a disk of {pod.name}" for pod in there if driver in pod.claims.disks}
        return disks | {self.volume_of(name) for name, claims in own if driver in self.drivers(name, claims)}

    def drivers(self, name: str, claims: PodClaims) -> set[str]:
        """The CSI drivers that the volume of a claim may be one of."""
        return {driver for driver, _ in self._sources(name, claims)} - {"", NO_PROVISIONER}

    def has_aliases(self, driver: str) -> bool:
        """Whether two PersistentVolumes are one volume of the driver, by their handle."""
        handles = [v.handle for v in self.claims.volumes.volumes.values() if v.driver == driver and v.handle]
        return len({*handles}) < len(handles)

    def is_translated(self, name: str, claims: PodClaims) -> bool:
        """Whether the volume of a claim may be one of an older plugin, in whose place a CSI driver is."""
        return any(driver and translated for driver, translated in self._sources(name, claims))

    def _sources(self, name: str, claims: PodClaims) -> Iterator[tuple[str, bool]]:
        """The CSI drivers that the volume of a claim may be one of, and whether an older plugin is named for it."""
        written = self.claims.volumes
        claim, open_ = written.claims.get(name), self.claims.open_volume(name, claims)
        found = list(open_.candidates) if open_ is not None else []
        if open_ is not None and open_.provisioner:
            yield driver_of(open_.provisioner), open_.provisioner in OLD_PROVISIONERS
        if claim is not None and claim.bound and claim.wish.volume in written.volumes:
            found.append(written.volumes[claim.wish.volume])
        yield from ((volume.driver, volume.translated) for volume in found)

    def _of_limits(
        self, driver: str, names: set[str], nodes: Sequence[ClusterNode], every: Collection[str] = ()
    ) -> Iterator[Keeper]:
        written = self.claims.volumes
        known = written.drivers.get(driver)
        if not written.limits:
            yield Keeper(f"how many volumes of {driver} a node takes is not known: dump csinodes, too")
            return
        listed = {n.name: written.limits.get(n.name, {}) for n in nodes}
        new = {self.volume_of(name) for name in names}
        all_new = new | {self.volume_of(name) for name in every}
        # Where a pod runs with such a volume, one is attached.
        untold = not written.attached and any(self.used(driver, p.node, [p]) for p in self.bound if p.node)
        for node, drivers in listed.items():
            if known is not None and known.required and driver not in drivers:
                yield Keeper(
                    f"{driver} is not installed on Node/{node}, and keeps pods away until it is (preventPodSchedulingIfMissing), which is not modelled",
                    known=True,
                )
            elif driver not in drivers and not written.drivers:
                yield Keeper(
                    f"whether {driver} keeps pods from Node/{node}, where it is not installed, is not known: dump csidrivers, too"
                )
            most = drivers.get(driver)
            if most is None:
                continue
            used = self.used(driver, node, self.bound)
            there = used | {a.volume for a in written.attached if (a.node, a.driver) == (node, driver)}
            # What is attached and no pod of the node uses counts together with the pod's own volumes, and so does its own, from before (Filter, 1.32 and later).
            if len(there | all_new) + len(new) > most:
                yield Keeper(
                    f"Node/{node} takes no more than {most} volumes of {driver}, which is not modelled",
                    known=True,
                )
            elif untold and (known is None or known.attaches):
                yield Keeper(
                    f"which volumes of {driver} are attached to Node/{node} is not known: dump volumeattachments, too"
                )

    def volume_of(self, name: str) -> str:
        """The volume of a claim, by its own name if it has one."""
        claim = self.claims.volumes.claims.get(name)
        return claim.wish.volume if claim is not None and claim.bound else name

    def _of_capacity(self, name: str, claims: PodClaims) -> Iterator[str]:
        """Why a volume may not be made for a claim on every node that it is for."""
        found = self.claims.open_volume(name, claims)
        if found is None or found.immediate or not found.provisioner or found.provisioner in OLD_PROVISIONERS:
            return
        drivers = self.claims.volumes.drivers
        if not drivers:
            yield f"whether {found.provisioner} says where it has capacity is not known: dump csidrivers, too"
        elif found.provisioner in drivers and drivers[found.provisioner].capacity:
            yield f"where {found.provisioner} has capacity for a volume (CSIStorageCapacity) is not modelled"
