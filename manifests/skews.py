"""Where the pods lie that topology spread constraints count, in the whole cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from .members import REPELLING, ClusterNode, ClusterPod
from .spread import Spread


def counts_node(pod: ClusterPod, spread: Spread, node: ClusterNode) -> bool:
    """Whether a constraint of the pod counts a node: what lies there, and its domain (calPreFilterState, 1.34)."""
    if not all(c.topology_key in node.labels for c in pod.spread):
        return False
    if spread.honors_affinity and not pod.entity.asks_for(node.entity):
        return False
    repelling = [t for t in node.taints if t.effect in REPELLING] if spread.honors_taints else []
    return all(any(t.tolerates(taint) for t in pod.tolerations) for taint in repelling)


def means_pod(pod: ClusterPod, spread: Spread, other: ClusterPod) -> bool:
    """Whether a constraint of the pod means another pod that is on a node; an empty selector means all of the namespace."""
    return (
        other.namespace == pod.namespace and not other.terminating and spread.selector.matches(other.labels)
    )


@dataclass(frozen=True, slots=True)
class _Tally:
    """What a constraint counts: the domain of each node that counts, and how many pods there are in each domain."""

    pod: ClusterPod
    domain: Mapping[str, str]
    pods: Mapping[str, int]


class Skews:
    """The arithmetic of topology spread in a cluster as it is, and with some of its pods gone."""

    def __init__(self, nodes: Sequence[ClusterNode], bound: Sequence[ClusterPod]) -> None:
        self._nodes, self._bound = nodes, bound
        self._tallies: dict[tuple[int, int], _Tally] = {}

    def allow(
        self,
        pod: ClusterPod,
        node: ClusterNode,
        gone: Collection[ClusterPod] = (),
        more: Collection[ClusterPod] = (),
    ) -> bool:
        """Whether the pod's constraints allow it on the node as things are, without `gone` and with `more` on the node."""
        if not all(c.topology_key in node.labels for c in pod.spread):
            return False
        return all(self._allows(i, pod, node, gone, more) for i in range(len(pod.spread)))

    def domains(self, pod: ClusterPod, number: int) -> int:
        """How many domains the pod's constraint of this number has."""
        return len(self._tally(pod, number).pods)

    def _allows(
        self,
        number: int,
        pod: ClusterPod,
        node: ClusterNode,
        gone: Collection[ClusterPod],
        more: Collection[ClusterPod],
    ) -> bool:
        spread, tally = pod.spread[number], self._tally(pod, number)
        pods = dict(tally.pods)
        changes = [(p, p.node or "", -1) for p in gone] + [(p, node.name, 1) for p in more]
        for other, at, change in changes:
            if at in tally.domain and self._counts(pod, spread, other):
                pods[tally.domain[at]] += change
        least = min(pods.values()) if len(pods) >= spread.min_domains else 0
        here = pods.get(node.labels[spread.topology_key], 0)
        return here + spread.selector.matches(pod.labels) - least <= spread.max_skew

    def _counts(self, pod: ClusterPod, spread: Spread, other: ClusterPod) -> bool:
        return not spread.selector.empty and means_pod(pod, spread, other)

    def _tally(self, pod: ClusterPod, number: int) -> _Tally:
        key = (id(pod), number)
        if key not in self._tallies:
            spread = pod.spread[number]
            domain = {
                n.name: n.labels[spread.topology_key] for n in self._nodes if counts_node(pod, spread, n)
            }
            pods = Counter(dict.fromkeys(domain.values(), 0))
            pods.update(
                domain[p.node] for p in self._bound if p.node in domain and self._counts(pod, spread, p)
            )
            # The pod is kept with it, so that no other pod takes its identity.
            self._tallies[key] = _Tally(pod, domain, pods)
        return self._tallies[key]
