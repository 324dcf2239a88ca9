"""What has been read of a cluster: its sections as they are written, and what the model is given of them. Rules compare the one with the other."""

from collections.abc import Mapping

from ....model.environment import objects
from ....model.environment.cluster.node_versions import versions_of
from ....model.environment.cluster.pod_versions import pod_versions_of
from ....model.environment.cluster.workloads import ExtenderSpec, KeeperSpec, OwnerSpec, StrategySpec
from ....model.environment.controllers.autoscaler import is_leaving
from ...tables.file import SCOPE
from ...tables.table import Table
from ...values.labels import Members, read_members
from ...values.resources import Amounts, Units
from ...values.yaml_values import Value

Fields = Mapping[str, Value]
Updates = dict[str, dict[str, tuple[Fields, Amounts]]]


class Draft:
    """A cluster that is being read.

    `node_members` and `pod_members` are what is written, `nodes` and `pods` what the model is given; `as_read` are the pods without what their controllers add.
    `has` and `asked` are amounts, `backed` the devices that back what a pod asks for. `node_updates` and `pod_updates` have for each update all fields, and its amounts.
    """

    node_members: Members
    pod_members: Members
    has: dict[str, Amounts]
    asked: dict[str, Amounts]
    backed: dict[str, objects.Wish]
    node_updates: Updates
    pod_updates: Updates
    units: Units
    nodes: dict[str, objects.Node]
    as_read: tuple[objects.Pod, ...]
    pods: tuple[objects.Pod, ...]
    owners: tuple[OwnerSpec, ...]
    drivers: dict[str, objects.CsiDriver]
    volumes: dict[str, objects.Volume]
    volume_claims: dict[str, objects.VolumeClaim]
    devices: dict[str, objects.Device]
    supply: list[objects.Device]
    claims: dict[str, objects.Claim]
    keepers: tuple[KeeperSpec, ...]
    budgets: tuple[objects.DisruptionBudget, ...]
    groups: dict[str, objects.PodGroup]
    scope: objects.Scope
    strategies: tuple[StrategySpec, ...]
    extenders: tuple[ExtenderSpec, ...]

    def __init__(self, top: Value, sections: Mapping[str, Value]) -> None:
        self.top, self.sections = top, sections

    def members(self, section: str, kind: str, table: Table, example: str) -> Members:
        """The objects of a section as they are written, by name; none where it is not there."""
        return read_members(self.sections.get(section), kind, table.names, example)

    @property
    def config(self) -> objects.Config:
        """The scheduler's configuration."""
        return self.scope.config

    @property
    def owned(self) -> set[str]:
        """The pods that controllers make."""
        return {name for owner in self.owners for _, names in owner.slots for name in names}

    @property
    def absent(self) -> dict[str, list[str]]:
        """By the bound that lets them appear: the objects that are not there at the start, and the updates."""
        directed = {name for keeper in self.keepers for name in keeper.directs}
        nodes, pods = self.node_members.items(), self.pod_members.items()
        made_for_pods, tainted = self._is_on("autoscaler"), self._is_on("scale_down_taints")
        updates = [v for v in versions_of(self.nodes.values()) if v.content is not v.node]
        pod_updates = [v for v in pod_versions_of(self.pods) if v.content is not v.pod]
        volumes = [v for v in self.volumes.values() if not v.exists and v.provisioned_for is None]
        return {
            "pod_creations": [n for n, m in pods if not m.exists and n not in self.owned],
            "node_creations": [n for n, m in nodes if not m.exists and not made_for_pods],
            "node_updates": [v.name for v in updates if not (tainted and is_leaving(v))],
            "pod_updates": [v.name for v in pod_updates if v.name not in directed],
            "volume_creations": [
                *(v.name for v in volumes),
                *(c.name for c in self.volume_claims.values() if not c.exists),
            ],
            "claim_creations": [c.name for c in self.claims.values() if not c.exists and c.owner is None],
        }

    def _is_on(self, name: str) -> bool:
        """Whether the scope, which is not read yet, switches something on: an autoscaler makes the nodes that are not there, or puts its taint on those that are."""
        scope = self.sections.get("scope")
        given = scope.fields(SCOPE.names, "a mapping of bounds") if scope is not None else {}
        return name in given and given[name].boolean()

    @property
    def named(self) -> dict[str, list[str]]:
        """What faults can be aimed at, by section."""
        return {
            "pods": list(self.pod_members),
            "nodes": list(self.nodes),
            "volumes": list(self.volumes),
            "volumeClaims": list(self.volume_claims),
            "resourceClaims": list(self.claims),
            "controllers": [owner.name for owner in self.owners],
        }

    @property
    def there(self) -> set[str]:
        """What bounds of the scope may need: sections, extension points and finalizers that some pod has, taints that drive pods away."""
        points = {point for pod in self.pods for point in pod.extension_points}
        if self.groups:
            points.add(objects.ExtensionPoint.PERMIT)
        sections = {n for n, section in self.sections.items() if section.node.value or n == "extender"}
        forms = [v.content for v in versions_of(self.nodes.values())] + list(self.nodes.values())
        others = {"finalizers": any(pod.finalizers for pod in self.pods)}
        others["NoExecute"] = any(taint.effect == "NoExecute" for node in forms for taint in node.taints)
        return (
            sections | {point.value for point in points} | {name for name, given in others.items() if given}
        )

    def spec(self, name: str) -> objects.ClusterSpec:
        """The cluster."""
        amounts = {f"node {n}": some for n, some in self.has.items()}
        written = self.units.written(amounts | {f"pod {n}": some for n, some in self.asked.items()})
        return objects.ClusterSpec(
            name,
            self.pods,
            tuple(self.nodes.values()),
            self.scope,
            self.budgets,
            tuple(self.supply),
            tuple(self.claims.values()),
            tuple(self.groups.values()),
            self.units.shown(written),
            written,
            tuple(self.volumes.values()),
            tuple(self.volume_claims.values()),
            tuple(self.drivers.values()),
            self.owners,
            self.strategies,
            self.keepers,
            self.extenders,
        )
