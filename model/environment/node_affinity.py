"""Which nodes a pod asks for: spec.nodeSelector and required node affinity (component-helpers, nodeaffinity.go, 1.22)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .selectors import Requirement

NODE_NAME = "metadata.name"
"""The only field of a node that `matchFields` may name."""


@dataclass(frozen=True, slots=True)
class NodeTerm:
    """A nodeSelectorTerm: every requirement on labels and on fields is met. One without any matches no node."""

    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether the node with this name and these labels is meant."""
        if not (self.expressions or self.fields):
            return False
        by_field = all(len(f.values) == 1 and f.holds({NODE_NAME: name}) for f in self.fields)
        return by_field and all(e.holds(labels) for e in self.expressions)


@dataclass(frozen=True, slots=True)
class NodeAffinity:
    """requiredDuringSchedulingIgnoredDuringExecution: one of the terms matches."""

    terms: Sequence[NodeTerm]

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether the node with this name and these labels is admitted; no term admits none."""
        return any(term.matches(name, labels) for term in self.terms)
