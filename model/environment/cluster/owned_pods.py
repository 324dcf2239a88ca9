"""Owners of pods: the ReplicaSets, Jobs, StatefulSets and DaemonSets of a scenario, each with the pods that its controller may make.

An owner makes pods without end, each with a UID of its own. Here it has a few pods, and each stands for one such pod after the other: see
`Controllers.create`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...language import Entity
from .cluster_spec import ClusterSpec
from .nodes import Node
from .pods import Pod
from .workloads import OwnerKind, OwnerSpec


class Owner(Entity):
    """An object that owns pods, of which its controller keeps so many in being."""

    about = "owner {}"

    def __init__(self, index: int, of: OwnerSpec) -> None:
        super().__init__(index, of.name)
        self.of, self.kind, self.replicas = of, of.kind, of.replicas


class Owned(Entity):
    """A pod of an owner. `node` is the one that a DaemonSet makes it for, `ordinal` that of a StatefulSet's pod; `slot` tells places apart."""

    def __init__(self, index: int, pod: Pod, owner: Owner, slot: int, node: Node | None) -> None:
        super().__init__(index, pod.name)
        self.pod, self.owner, self.slot, self.node = pod, owner, slot, node


def owners_of(spec: ClusterSpec) -> tuple[Owner, ...]:
    """The owners of a cluster."""
    return tuple(Owner(i, of) for i, of in enumerate(spec.owners))


def owned_of(spec: ClusterSpec, owners: Sequence[Owner]) -> tuple[Owned, ...]:
    """Their pods."""
    pods, nodes = {p.name: p for p in spec.pods}, {n.name: n for n in spec.nodes}
    found: list[Owned] = []
    for owner in owners:
        for slot, (place, names) in enumerate(owner.of.slots):
            node = nodes[place] if owner.kind is OwnerKind.DAEMON_SET else None
            found += [Owned(len(found) + i, pods[name], owner, slot, node) for i, name in enumerate(names)]
    return tuple(found)
