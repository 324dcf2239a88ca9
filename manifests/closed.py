"""What inter-pod affinity between kept pods and pods that are left out comes to: nodes that are closed to a pod for good.

As the pods that are left out never move, each such term is either met on a node or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    if pod.node is not None:  # it is never scheduled again: what counts is whom it keeps away
        return Affinity(_about([t for t in pod.terms if t.anti], others), (), True)
    situation = kept.situation
    attracted, repelled = [[t for t in pod.terms if t.anti == anti] for anti in (False, True)]

    def met_by(some: Iterable[ClusterPod]) -> list[ClusterPod]:
        return [p for p in some if attracted and all(t.matches(p.entity) for t in attracted)]

    def closed(terms: Sequence[Term]) -> list[ClusterNode]:
        return [n for n in kept.nodes if not situation.has_affinity(pod, terms, n, left_out)]

    left_out = [p for p in kept.inventory.bound if p not in kept.pods]
    if not met_by(left_out):
        return Affinity([*attracted, *_about(repelled, others)], closed(repelled), True)
    if not met_by(others):
        return Affinity(_about(repelled, others), closed(pod.terms), True)
    away = closed(repelled)
    everywhere = all(situation.has_affinity(pod, attracted, n, left_out) for n in kept.nodes if n not in away)
    terms = [*([] if everywhere else attracted), *_about(repelled, others)]
    return Affinity(terms, away, everywhere)


def _about(terms: Iterable[Term], pods: Sequence[ClusterPod]) -> list[Term]:
    return [t for t in terms if any(t.matches(p.entity) for p in pods)]
