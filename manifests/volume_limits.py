"""How many volumes nodes take, and where drivers have capacity for new ones: read to say where neither can matter, and in doubt where it can."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from ..base.structs import Data
from ..scenarios.tables.objects import NO_PROVISIONER
from .members import ClusterNode, ClusterPod
from .pod_claims import ClusterClaims, PodClaims
from .reading.csi_objects import IN_TREE, driver_of


class VolumeLimits(Data, slots=False):
    """What NodeVolumeLimits and the capacity check of VolumeBinding go by (nodevolumelimits/csi.go, volumebinding/binder.go, 1.36)."""

    claims: ClusterClaims
    bound: Sequence[ClusterPod]

    def doubts(
        self, pods: Sequence[ClusterPod], nodes: Sequence[ClusterNode], modelled: Collection[str] = ()
    ) -> Iterator[str]:
        """Why some of these pods, which wait, may be kept from some of these nodes; nothing of limits of drivers that are `modelled`."""
        for pod in pods:
            for name in pod.claims.volumes:
                yield from (f"{why} ({name} of {pod.name})" for why in self._of_capacity(name, pod.claims))
        for driver, names in self.wanted(pods).items():
            if driver not in modelled:
                yield from self._of_limits(driver, names, nodes)

    def wanted(self, pods: Sequence[ClusterPod]) -> dict[str, set[str]]:
        """The claims of these pods, by the CSI drivers that their volumes may be of."""
        found: dict[str, set[str]] = {}
        for pod in pods:
            for name in pod.claims.volumes:
                for driver in self.drivers(name, pod.claims):
                    found.setdefault(driver, set()).add(name)
        return found

    def matter(self, driver: str, names: set[str], nodes: Sequence[ClusterNode]) -> bool:
        """Whether it is known that the limit of a node, or a driver that is not there, can keep pods with these claims away."""
        return any(why.endswith("is not modelled") for why in self._of_limits(driver, names, nodes))

    def used(self, driver: str, node: str, pods: Iterable[ClusterPod]) -> set[str]:
        """The volumes of a driver that those of these pods use that are on the node."""
        own = [(name, pod) for pod in pods if pod.node == node for name in pod.claims.volumes]
        return {self.volume_of(name) for name, pod in own if driver in self.drivers(name, pod.claims)}

    def drivers(self, name: str, claims: PodClaims) -> set[str]:
        """The CSI drivers that the volume of a claim may be one of."""
        written = self.claims.volumes
        claim, open_ = written.claims.get(name), self.claims.open_volume(name, claims)
        found = {v.driver for v in open_.candidates} if open_ is not None else set()
        if open_ is not None and open_.provisioner:
            found.add(driver_of(open_.provisioner))
        if claim is not None and claim.bound and claim.wish.volume in written.volumes:
            found.add(written.volumes[claim.wish.volume].driver)
        return found - {"", NO_PROVISIONER}

    def _of_limits(self, driver: str, names: set[str], nodes: Sequence[ClusterNode]) -> Iterator[str]:
        written = self.claims.volumes
        known = written.drivers.get(driver)
        if not written.limits:
            yield f"how many volumes of {driver} a node takes is not known: dump csinodes, too"
            return
        listed = {n.name: written.limits.get(n.name, {}) for n in nodes}
        for node, drivers in listed.items():
            if known is not None and known.required and driver not in drivers:
                yield f"{driver} is not installed on Node/{node}, and keeps pods away until it is (preventPodSchedulingIfMissing), which is not modelled"
            most = drivers.get(driver)
            if most is None:
                continue
            used = self.used(driver, node, self.bound)
            there = used | {a.volume for a in written.attached if (a.node, a.driver) == (node, driver)}
            new = {self.volume_of(name) for name in names}
            # What is attached and no pod of the node uses counts beside the pod's own volumes, and so does its own, from before (Filter, 1.32 and later).
            if len(there | new) + len(new) > most:
                yield f"Node/{node} takes no more than {most} volumes of {driver}, which is not modelled"
            elif used and not written.attached and (known is None or known.attaches):
                yield f"which volumes of {driver} are attached to Node/{node} is not known: dump volumeattachments, too"

    def volume_of(self, name: str) -> str:
        """The volume of a claim, by its own name if it has one."""
        claim = self.claims.volumes.claims.get(name)
        return claim.wish.volume if claim is not None and claim.bound else name

    def _of_capacity(self, name: str, claims: PodClaims) -> Iterator[str]:
        """Why a volume may not be made for a claim on every node that it is for."""
        found = self.claims.open_volume(name, claims)
        old = {provisioner for provisioner, _ in IN_TREE.values()}
        if found is None or found.immediate or not found.provisioner or found.provisioner in old:
            return
        drivers = self.claims.volumes.drivers
        if not drivers:
            yield f"whether {found.provisioner} says where it has capacity is not known: dump csidrivers, too"
        elif found.provisioner in drivers and drivers[found.provisioner].capacity:
            yield f"where {found.provisioner} has capacity for a volume (CSIStorageCapacity) is not modelled"
