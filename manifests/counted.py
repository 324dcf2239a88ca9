"""What topology spread constraints of kept pods count among the pods and nodes that are left out: numbers for each domain.

As those pods never move, the numbers stay; a scenario has them as `others` of a constraint.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model.environment.placement_rules import SpreadConstraint
from .members import ClusterNode, ClusterPod
from .representative import Representative
from .situation import plain
from .spread import Spread


def constraints_of(pod: ClusterPod, kept: Representative) -> list[SpreadConstraint]:
    """The constraints of a kept pod, as exact as in the whole cluster but for `misjudged` nodes; none if it is on a node."""
    if pod.node is not None:  # it is never scheduled again
        return []

    def rest(node: ClusterNode) -> list[ClusterPod] | None:
        return kept.dropped_on(node) if node in kept.nodes else None

    return [
        SpreadConstraint(
            c.topology_key, c.selector, c.max_skew, kept.situation.others(pod, i, kept.nodes, rest)
        )
        for i, c in enumerate(pod.spread)
    ]


def misjudged(pod: ClusterPod, kept: Representative) -> Iterator[tuple[Spread, list[ClusterNode]]]:
    """The constraints of a kept pod whose policies count kept nodes otherwise than the model, with these nodes."""
    for spread in pod.spread if pod.node is None else ():
        model, counts = plain(spread), kept.situation.counts
        wrong = [n for n in kept.nodes if counts(pod, spread, n) != counts(pod, model, n)]
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
