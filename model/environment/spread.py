"""Topology spread constraints of a pod (spec.topologySpreadConstraints)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .selectors import Selector


@dataclass(frozen=True)
class SpreadConstraint:
    """A hard constraint (DoNotSchedule): how unevenly the pods of `selector` may lie over the values of a node label."""

    topology_key: str
    selector: Selector
    max_skew: int = 1

    def counts(self, labels: Mapping[str, str]) -> bool:
        """Whether a pod with these labels, in the namespace of the constraint's owner, is counted."""
        return self.selector.matches(labels)
