"""The scheduler cache as it was."""

from __future__ import annotations

from ..environment.objects import Node, Pod, PodCopy, PodObject
from ..language import Expr, boolean, per, select, when
from ..scheduler import Cache
from .change import before


@before(
    "93938",
    "a removed node's pods stay in the cache until their own events come",
    first_in="1.20",
    issues=(86920, 89552),
    since="1.18",
)
class Before93938(Cache):
    """RemoveNode dropped the NodeInfo with its pods (86964), although the cache still counted them as added.

    When the node came back it looked empty: no event for its pods was due.
    """

    dropped = per(Pod, boolean())

    def node_of(self, pod: Pod) -> Expr:
        return select(self.dropped[pod], None, self.pod[pod].node)

    def remove_node(self, node: Node) -> None:
        for pod in self.universe[Pod]:
            with when(self.pod[pod].node == node):
                self.dropped[pod] = True
        super().remove_node(node)

    def assume(self, pod: Pod, node: Node, copy: PodCopy) -> None:
        self.dropped[pod] = False
        super().assume(pod, node, copy)

    def _set(self, pod: Pod, new: PodObject) -> None:
        self.dropped[pod] = False
        super()._set(pod, new)

    def _drop(self, pod: Pod) -> None:
        self.dropped[pod] = False
        super()._drop(pod)
