"""Scheduling gates that go one by one, and who takes them away (`GateKeepers`)."""

from __future__ import annotations

from collections.abc import Sequence

from ..language import Entity, Universe
from .cluster.workloads import KeeperSpec
from .objects import ClusterSpec, Pod


class GateKeeper(Entity):
    """Whoever takes the gates of one name away."""

    about = "gate keeper {}"

    def __init__(self, index: int, of: KeeperSpec) -> None:
        super().__init__(index, of.name)
        self.of = of


class Gate(Entity):
    """A scheduling gate of a pod; `keeper` is None if a user may take it away, or nobody."""

    about = "{}"

    def __init__(self, index: int, pod: Pod, name: str, keeper: GateKeeper | None) -> None:
        super().__init__(index, f"gate {name} of {pod.name}")
        self.pod, self.gate, self.keeper = pod, name, keeper


def keepers_of(spec: ClusterSpec) -> tuple[GateKeeper, ...]:
    """The gate keepers of a cluster."""
    return tuple(GateKeeper(i, of) for i, of in enumerate(spec.keepers))


def gates_of(spec: ClusterSpec, keepers: Sequence[GateKeeper]) -> tuple[Gate, ...]:
    """The gates of its pods, if they go one by one."""
    known = {keeper.of.gate: keeper for keeper in keepers}
    found: list[Gate] = []
    for pod in spec.pods if keepers else ():
        found += [Gate(len(found) + i, pod, name, known.get(name)) for i, name in enumerate(pod.gates)]
    return tuple(found)


def most_gates(pods: Sequence[Pod], keepers: Sequence[object]) -> int:
    """How many gates a pod may have lost that has one left."""
    return max((len(pod.gates) - 1 for pod in pods), default=0) if keepers else 0


def go_one_by_one(universe: Universe, pod: Pod) -> bool:
    """Whether the pod's gates are taken away one after the other."""
    return any(gate.pod is pod for gate in universe[Gate])
