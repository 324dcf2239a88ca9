"""A cluster, and the scope in which it is explored."""

from collections.abc import Mapping
from dataclasses import field

from ....base.structs import Data
from ...language import Parameter
from .nodes import Node
from .pod_sets import DisruptionBudget, PodGroup
from .pods import Pod
from .scope import Scope
from .storage import Claim, CsiDriver, Device, Volume, VolumeClaim
from .workloads import ExtenderSpec, KeeperSpec, OwnerSpec, StrategySpec


class ClusterSpec(Data, slots=False):
    """A cluster and the scope in which it is explored.

    `units` are those in which amounts of resources are counted, a number and a suffix of Kubernetes each, and `written` how
    an amount of a resource is written for `node NAME` or `pod NAME`. Only reports look at both.
    """

    name: str
    pods: tuple[Pod, ...]
    nodes: tuple[Node, ...]
    scope: Scope = field(default_factory=Scope)
    budgets: tuple[DisruptionBudget, ...] = ()
    devices: tuple[Device, ...] = ()
    claims: tuple[Claim, ...] = ()
    groups: tuple[PodGroup, ...] = ()
    units: Mapping[str, tuple[int, str]] = field(default_factory=dict, compare=False, repr=False)
    written: Mapping[tuple[str, str, int], str] = field(default_factory=dict, compare=False, repr=False)
    volumes: tuple[Volume, ...] = ()
    volume_claims: tuple[VolumeClaim, ...] = ()
    drivers: tuple[CsiDriver, ...] = ()
    owners: tuple[OwnerSpec, ...] = ()
    strategies: tuple[StrategySpec, ...] = ()
    keepers: tuple[KeeperSpec, ...] = ()
    extenders: tuple[ExtenderSpec, ...] = ()

    @property
    def unknown(self) -> tuple[Parameter, ...]:
        """The quantities that it leaves unknown."""
        entities: tuple[Node | Pod | DisruptionBudget, ...] = (*self.nodes, *self.pods, *self.budgets)
        return tuple(q for entity in entities for q in entity.quantities if isinstance(q, Parameter))
