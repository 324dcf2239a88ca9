"""What inter-pod affinity between kept pods and pods that are left out comes to: nodes that are closed to a pod for good.

As the pods that are left out never move, each such term is either met on a node or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..model.environment.objects import Term
from .members import ClusterNode, ClusterPod
from .representative import Representative


@dataclass(frozen=True, slots=True)
class Affinity:
    """The terms that a kept pod keeps, the kept nodes that are closed to it, and whether that says all that was said."""

    terms: Sequence[Term]
    closed: Sequence[ClusterNode]
    exact: bool


def affinity_of(pod: ClusterPod, kept: Representative) -> Affinity:
    """What is left of the affinity of a kept pod."""
    others = [p for p in kept.pods if p is not pod]
    terms, closed, exact = [], [], True
    if pod.node is not None:  # it is never scheduled again: what counts is whom it keeps away
        return Affinity(_repelling(pod, others), (), True)
    left_out = [p for p in kept.inventory.bound if p not in kept.pods]
    guarded = [(p, t) for p in left_out for t in p.terms if t.anti and t.matches(pod.entity)]
    closed += [n for n in kept.nodes if any(kept.situation.together(p, n, t) for p, t in guarded)]
    for term in pod.terms:
        meant = [p for p in kept.situation.meant(pod, term) if p not in kept.pods]
        near = [n for n in kept.nodes if any(kept.situation.together(p, n, term) for p in meant)]
        among = any(term.matches(p.entity) for p in others)
        if term.anti:
            closed += near
        elif meant and not among:
            closed += [n for n in kept.nodes if n not in near]
            continue
        elif meant and len(near) == len(kept.nodes):
            continue
        elif meant:
            exact = False
        if not term.anti or among:
            terms.append(term)
    return Affinity(terms, [n for n in kept.nodes if n in closed], exact)


def _repelling(pod: ClusterPod, others: Sequence[ClusterPod]) -> list[Term]:
    return [t for t in pod.terms if t.anti and any(t.matches(p.entity) for p in others)]
