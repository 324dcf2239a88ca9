"""Limits of volumes: what must never be so."""

from collections.abc import Iterator

from ...model.environment.objects import Pod, VolumeClaim
from ...model.environment.storage.csi_nodes import Attachable, CsiLimit, CsiNodes
from ...model.language import Expr, any_of, as_expr, before, boolean, count, per, when
from ..placement.bindings import AboutOwnBindings
from .volumes import AboutVolumes


class NodesTakeTheirVolumes(AboutOwnBindings, AboutVolumes):
    """When the scheduler binds a pod, the node's volumes of each CSI driver do not exceed the driver's limit.
    This includes attached volumes and volumes that the node's pods use.

    If a driver has not started yet on the node, the property uses the limit that the driver will report. It
    counts a volume until the volume is detached. If all volumes of a pod are already on the node, the
    property does not check the pod's Binding.
    """

    id = "S-LIMIT"
    consequence = "A node has more volumes than its limit allows. A pod stays in ContainerCreating, as AttachVolume fails, until another volume is detached, or until the pod is deleted."
    issues = (95911, 126502)
    concerns = "the pod that is bound"

    csi_nodes: CsiNodes

    too_many = per(Pod, boolean())

    def is_full(self, of: CsiLimit) -> Expr:
        """Whether the node has as many volumes of the driver as it takes."""
        return self.carried(of) >= self.csi_nodes.limit(of)[1]

    def carried(self, of: CsiLimit) -> Expr:
        """How many volumes of the driver the node has."""
        return count(
            as_expr(self.csi_nodes.attached[at]) | self.csi_nodes.is_used(at)
            for at in self.universe[Attachable]
            if at.node is of.node and at.volume.storage_class.driver == of.driver.name
        )

    def limits(self, pod: Pod) -> list[CsiLimit]:
        """The limits that count for a pod."""
        own = {c.storage_class.driver for c in self.universe[VolumeClaim] if c.name in pod.volumes}
        return [of for of in self.universe[CsiLimit] if of.driver.name in own]

    def observe(self) -> None:
        super().observe()
        for pod in self.pods:
            was_bound = before(lambda pod=pod: self.api.pod[pod].assigned)  # type: ignore[misc]
            exceeds = any_of(
                (self.api.pod[pod].node == of.node)
                & (self.carried(of) > self.csi_nodes.limit(of)[1])
                & (self.carried(of) > before(lambda of=of: self.carried(of)))  # type: ignore[misc]
                for of in self.limits(pod)
            )
            with when(self.counts(pod) & ~was_bound & exceeds):
                self.too_many[pod] = True

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for pod in self.subjects:
            if pod.node is None and self.limits(pod):
                yield f"{pod.name} is bound to a node that takes no more volumes", as_expr(self.too_many[pod])

    def witnesses(self) -> dict[str, Expr]:
        waits = any_of(
            self.api.pod[p].pending & self.is_full(of) for p in self.subjects for of in self.limits(p)
        )
        return {"a pod waits while a node takes no more volumes": waits}
