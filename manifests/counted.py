"""What topology spread constraints of kept pods count among the pods and nodes that are left out: numbers for each domain.

As those pods never move, the numbers stay; a scenario has them as `others` of a constraint.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from ..model.environment.placement_rules import SpreadConstraint
from .members import ClusterNode, ClusterPod
from .representative import Representative
from .skews import counts_node, means_pod
from .spread import Spread


def constraints_of(pod: ClusterPod, kept: Representative) -> list[SpreadConstraint]:
    """The constraints of a kept pod, as exact as in the whole cluster but for `misjudged` nodes; none if it is on a node."""
    if pod.node is not None:  # it is never scheduled again
        return []
    return [
        SpreadConstraint(c.topology_key, c.selector, c.max_skew, _others(pod, number, kept))
        for number, c in enumerate(pod.spread)
    ]


def _others(pod: ClusterPod, number: int, kept: Representative) -> dict[str, int]:
    """The numbers for the domains of kept nodes, and for the emptiest of the other domains: no more can matter."""
    spread = pod.spread[number]
    found: Counter[str] = Counter()
    for node in kept.inventory.nodes:
        if counts_node(pod, spread, node):
            counted = sum(means_pod(pod, spread, p) for p in kept.dropped_on(node))
            found[node.labels[spread.topology_key]] += counted
    here = {n.labels[spread.topology_key] for n in kept.nodes if counts_node(pod, _plain(spread), n)}
    elsewhere = sorted((number, domain) for domain, number in found.items() if domain not in here)
    others = {domain: number for domain, number in found.items() if domain in here and number}
    others |= {domain: number for number, domain in elsewhere[:1]}
    if len(found) < spread.min_domains > 1:  # then the emptiest domain counts as empty
        others[f"fewer-than-{spread.min_domains}-domains"] = 0
    return others


def _plain(spread: Spread) -> Spread:
    """The constraint with the policies that the model has."""
    return replace(spread, honors_affinity=True, honors_taints=False)


def misjudged(pod: ClusterPod, kept: Representative) -> Iterator[tuple[Spread, list[ClusterNode]]]:
    """The constraints of a kept pod whose policies count kept nodes otherwise than the model, with these nodes."""
    for spread in pod.spread if pod.node is None else ():
        model = _plain(spread)
        wrong = [n for n in kept.nodes if counts_node(pod, spread, n) != counts_node(pod, model, n)]
        if wrong:
            yield spread, wrong


def remarks_of(kept: Representative) -> Iterator[str]:
    """What is to be said of kept pods whose constraints the model cannot heed in full, with the pod's name."""
    for pod in kept.pods:
        for spread, nodes in misjudged(pod, kept):
            policies = [
                name
                for name, given in (
                    ("nodeAffinityPolicy", not spread.honors_affinity),
                    ("nodeTaintsPolicy", spread.honors_taints),
                )
                if given
            ]
            yield (
                f"{' and '.join(policies)} of the constraint by {spread.topology_key} is not modelled for kept nodes, and makes a "
                f"difference for {', '.join(n.name for n in nodes)}: the verdict is not about that policy (Pod/{pod.name})"
            )
