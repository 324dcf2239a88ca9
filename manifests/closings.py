"""How a scenario says that a node is closed to a pod: by a mark that is made for that pod alone.

For most pods the mark is a label of the node, and a node affinity of the pod that asks for nodes without it. Topology spread,
though, counts only the nodes that the node affinity of the pod allows, and a node that is closed for another reason it counts all
the same; so for a pod with such constraints the mark is a taint that every other pod tolerates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..model.environment.objects import Taint, Toleration
from .closed import Affinity
from .members import ClusterNode, ClusterPod


@dataclass(frozen=True, slots=True)
class Closing:
    """The mark by which nodes are closed to a pod."""

    pod: ClusterPod
    key: str
    nodes: Sequence[ClusterNode]

    @property
    def taint(self) -> Taint | None:
        """The mark, if it is a taint."""
        return Taint(self.key) if self.pod.spread else None


def closings_of(pods: Iterable[ClusterPod], affinity: Mapping[str, Affinity]) -> list[Closing]:
    """The marks for these pods, one for each to which nodes are closed."""
    return [
        Closing(pod, f"podrace.io/closed-to-{i}", affinity[pod.name].closed)
        for i, pod in enumerate(pods)
        if affinity[pod.name].closed
    ]


def tolerations_of(
    pod: ClusterPod, nodes: Sequence[ClusterNode], closings: Sequence[Closing]
) -> list[Toleration]:
    """What of the pod's tolerations matters on these nodes, and that it tolerates the marks of the others."""
    taints = [t for n in nodes for t in n.repelling]
    own = [t for t in pod.tolerations if any(t.tolerates(taint) for taint in taints)]
    if any(c.pod is pod and c.taint for c in closings):
        own = list(dict.fromkeys(_narrow(own, taints)))
    return own + [Toleration(c.key, "Exists") for c in closings if c.taint and c.pod is not pod]


def _narrow(tolerations: Iterable[Toleration], taints: Sequence[Taint]) -> Iterator[Toleration]:
    """Without one that tolerates every key, for it would tolerate the pod's own mark as well."""
    for toleration in tolerations:
        if toleration.key:
            yield toleration
        else:
            yield from (Toleration(t.key, "Exists", "", t.effect) for t in taints if toleration.tolerates(t))
