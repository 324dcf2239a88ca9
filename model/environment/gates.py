"""Scheduling gates that go one by one, and who takes them away (`GateKeepers`)."""

from collections.abc import Sequence

from ..language import Universe
from .cluster.derived import Derived, Found, Roster
from .cluster.workloads import KeeperSpec
from .objects import Pod


class GateKeeper(Derived, named="{of.name}", found=lambda cluster: ((of,) for of in cluster.spec.keepers)):
    """Whoever takes the gates of one name away."""

    about = "gate keeper {}"
    of: KeeperSpec


class Gate(Derived, named="gate {gate} of {pod}"):
    """A scheduling gate of a pod, where gates go one by one; `keeper` is None if a user may take it away, or nobody."""

    pod: Pod
    gate: str
    keeper: GateKeeper | None

    @classmethod
    def found_in(cls, cluster: Roster) -> Found:
        known = {keeper.of.gate: keeper for keeper in cluster[GateKeeper]}
        return ((pod, name, known.get(name)) for pod in cluster.spec.pods if known for name in pod.gates)


def most_gates(pods: Sequence[Pod], keepers: Sequence[object]) -> int:
    """How many gates a pod may have lost that has one left."""
    return max((len(pod.gates) - 1 for pod in pods), default=0) if keepers else 0


def go_one_by_one(universe: Universe, pod: Pod) -> bool:
    """Whether the pod's gates are taken away one after the other."""
    return any(gate.pod is pod for gate in universe[Gate])
