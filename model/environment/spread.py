"""Topology spread constraints of a pod (spec.topologySpreadConstraints)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .selectors import Selector


@dataclass(frozen=True)
class SpreadConstraint:
    """A hard constraint (DoNotSchedule): how unevenly the pods of `selector` may lie over the values of a node label.

    `others` says how many more pods it counts in which domain: pods that are no part of the cluster that is modelled, but
    stay where they are. A domain that is named there does not go when its nodes do.
    """

    topology_key: str
    selector: Selector
    max_skew: int = 1
    others: Mapping[str, int] = field(default_factory=dict)

    def counts(self, labels: Mapping[str, str]) -> bool:
        """Whether a pod with these labels, in the namespace of the constraint's owner, is counted."""
        return self.selector.matches(labels)
