"""Owners of pods: the ReplicaSets, Jobs, StatefulSets and DaemonSets of a scenario, each with the pods that its controller may make.

An owner makes pods without end, each with a UID of its own. Here it has a few pods, and each stands for one such pod after the other: see
`Controllers.create`.
"""

from .derived import Derived, Found, Roster
from .nodes import Node
from .pods import Pod
from .workloads import OwnerKind, OwnerSpec


class Owner(Derived, named="{of.name}"):
    """An object that owns pods, of which its controller keeps so many in being."""

    about = "owner {}"
    of: OwnerSpec
    kind: OwnerKind
    replicas: int

    @classmethod
    def found_in(cls, cluster: Roster) -> Found:
        return ((of, of.kind, of.replicas) for of in cluster.spec.owners)


class Owned(Derived):
    """A pod of an owner. `node` is the one that a DaemonSet makes it for, `ordinal` that of a StatefulSet's pod; `slot` tells places apart."""

    pod: Pod
    owner: Owner
    slot: int
    node: Node | None

    @classmethod
    def found_in(cls, cluster: Roster) -> Found:
        pods, nodes = ({o.name: o for o in objects} for objects in (cluster.spec.pods, cluster.spec.nodes))
        for owner in cluster[Owner]:
            for slot, (place, names) in enumerate(owner.of.slots):
                node = nodes[place] if owner.kind is OwnerKind.DAEMON_SET else None
                yield from ((pods[name], owner, slot, node) for name in names)
