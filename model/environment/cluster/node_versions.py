"""Versions of a node's object: what becomes of a node that is cordoned, tainted, labelled or resized in a run.

A scenario gives a node its versions by name; the first, `initial`, is the node as it is created. Each is a whole node, which filters and
hints look at like at any other, so that nobody has to know which fields can change.
"""

from collections.abc import Iterable

from ....base.structs import Data
from ...language import Entity, Universe
from .nodes import Node

INITIAL = "initial"
"""The name of the version that a node is created in."""


class NodeVersion(Entity):
    """One version of a node's object. `content` is the node as this version describes it."""

    def __init__(self, index: int, word: str, node: Node, content: Node) -> None:
        super().__init__(index, f"{node.name}.{word}")
        self.node, self.content = node, content


class NodeChange(Data):
    """What an update of a node's object is about: the old object, and the new one."""

    old: Node
    new: Node


def versions_in(universe: Universe, node: Node) -> list[NodeVersion]:
    """The versions of a node that has several, the initial one first; none of one that stays as it is."""
    return [version for version in universe[NodeVersion] if version.node is node]


def versions_of(nodes: Iterable[Node]) -> tuple[NodeVersion, ...]:
    """The versions of the nodes that have more than one."""
    found: list[NodeVersion] = []
    for node in nodes:
        if node.later:
            for word, content in {INITIAL: node, **node.later}.items():
                found.append(NodeVersion(len(found), word, node, content))
    return tuple(found)
