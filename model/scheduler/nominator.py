"""The nominator: which node each preemptor waits for (nominatedPodMap in scheduling_queue.go, 1.19)."""

from __future__ import annotations

from ..environment.objects import Node, Pod
from ..language import Component, Expr, Value, as_expr, per, ref, select


class Nominator(Component):
    """Nominations in memory, by pod."""

    node = per(Pod, ref(Node))

    def nominated_to(self, pod: Pod, node: Node) -> Expr:
        """Whether the scheduler knows of a nomination of `pod` to `node`."""
        return self.node[pod] == node

    def add(self, pod: Pod, node: Value, field: Value) -> None:
        """AddNominatedPod: drops the old entry; records `node`, or if none the object's own field."""
        chosen = as_expr(node, as_expr(self.node[pod]).sort)
        self.node[pod] = select(chosen.is_none, field, chosen)

    def update(self, pod: Pod, old_field: Value, new_field: Value) -> None:
        """UpdateNominatedPod: an update without the field on either side keeps the node in memory."""
        old, new = as_expr(old_field), as_expr(new_field)
        keep = old.is_none & new.is_none
        self.add(pod, select(keep, self.node[pod], None), new)

    def delete(self, pod: Pod) -> None:
        """DeleteNominatedPodIfExists."""
        self.node[pod] = None
