"""The cluster as somebody sees it in one state: what is on which node, what is meant to go there, what is pending.

The layout-free part of every drawing of the cluster.
"""

from collections.abc import Mapping
from math import inf

from ..base.structs import Data
from .evidence import NodeShape, Picture, PodShape, ShownCluster
from .quantities import asks_words, has_words
from .states import Facts, State
from .step import Value

PODS = "pods"
"""The resource of which every pod takes one: a place on the node."""


class Placed(Data):
    """A pod in a drawing: how much room it takes, and whether it is assumed, or being deleted."""

    name: str
    size: int
    label: str
    assumed: bool = False
    terminating: bool = False


class Box(Data):
    """A node: its room, what is on it, and which pods are nominated to it."""

    name: str
    exists: bool
    capacity: int
    label: str
    pods: tuple[Placed, ...]
    nominated: tuple[Placed, ...]

    @property
    def used(self) -> int:
        """How much of the room is taken."""
        return sum(pod.size for pod in self.pods)


class Scene(Data):
    """A drawing's content: the nodes, and the pods that exist and are on none of them.

    Sizes are of `resource`; without one, all pods are drawn alike, as nothing limits them.
    """

    title: str
    boxes: tuple[Box, ...]
    pending: tuple[Placed, ...]
    resource: str = ""

    @property
    def caption(self) -> str:
        """What the drawing shows, and what its areas mean."""
        return f"{self.title} (areas: {self.resource})" if self.resource else self.title

    @property
    def words(self) -> str:
        """The drawing for those who cannot see it."""
        parts = []
        for box in self.boxes:
            on = ", ".join(p.name + (" (assumed)" if p.assumed else "") for p in box.pods) or "no pod"
            meant = f"; nominated to it: {', '.join(p.name for p in box.nominated)}" if box.nominated else ""
            gone = "" if box.exists else " (no such node)"
            parts.append(f"On {box.name}{gone}: {on}{meant}.")
        if self.pending:
            parts.append(f"Pending: {', '.join(p.name for p in self.pending)}.")
        return f"The cluster {self.title}. {' '.join(parts)}"


def scenes(cluster: ShownCluster, state: State, resource: str | None = None) -> tuple[Scene, ...]:
    """The cluster through the eyes of everybody who is to be drawn, by the resource that is asked for, or the scarcest."""
    resource = resource or scarcest(cluster)
    return tuple(_scene(cluster, picture, state, resource) for picture in cluster.pictures)


def resources_asked_for(cluster: ShownCluster) -> list[str]:
    """The resources that any pod asks for, and the places for pods where a node has fewer than there are pods; the scarcest first.

    Scarce is of what all pods ask for most, compared with what all nodes have.
    """
    asked = dict.fromkeys(name for pod in cluster.pods for name, amount in pod.requests.items() if amount)
    found = [*asked, *([PODS] if _is_limited(cluster) else [])]
    return sorted(found, key=lambda name: -_scarcity(cluster, name))


def scarcest(cluster: ShownCluster) -> str:
    """The resource by which pods are drawn; PODS, where they are drawn alike."""
    return next(iter(resources_asked_for(cluster)), PODS)


def _is_limited(cluster: ShownCluster) -> bool:
    return any(node.pods is not None and node.pods < len(cluster.pods) for node in cluster.nodes)


def _scarcity(cluster: ShownCluster, resource: str) -> float:
    asked = sum(_asks(pod, resource) for pod in cluster.pods)
    there = sum(_has(cluster, node, resource) for node in cluster.nodes)
    return asked / there if there else inf


def _asks(pod: PodShape, resource: str) -> int:
    return 1 if resource == PODS else pod.requests.get(resource, 0)


def _has(cluster: ShownCluster, node: NodeShape, resource: str) -> int:
    if resource == PODS:
        return len(cluster.pods) if node.pods is None else min(node.pods, len(cluster.pods))
    return node.capacity.get(resource, 0)


def _scene(cluster: ShownCluster, picture: Picture, state: State, resource: str) -> Scene:
    placed: Facts = state.views.get(picture.placed) or {}
    nominated: Facts = state.views.get(picture.nominated) or {}
    boxes = []
    for node in cluster.nodes:
        about = placed.get(f"node {node.name}", {})
        boxes.append(
            Box(
                node.name,
                about.get("exists", True) is True,
                _has(cluster, node, resource),
                has_words(cluster, node),
                tuple(
                    _placed(cluster, p, resource, placed)
                    for p in cluster.pods
                    if _at(placed, p, "node") == node.name
                ),
                tuple(
                    _placed(cluster, p, resource, {})
                    for p in cluster.pods
                    if _at(nominated, p, "nominated") == node.name and _at(placed, p, "node") is None
                ),
            )
        )
    pending = (
        _placed(cluster, p, resource, placed)
        for p in cluster.pods
        if _at(placed, p, "exists") is True and _at(placed, p, "node") is None
    )
    said = "" if resource == PODS and not _is_limited(cluster) else resource
    return Scene(picture.title, tuple(boxes), tuple(pending), said)


def _at(facts: Facts, pod: PodShape, fact: str) -> Value:
    return facts.get(pod.name, {}).get(fact)


def _placed(
    cluster: ShownCluster, pod: PodShape, resource: str, facts: Mapping[str, Mapping[str, Value]]
) -> Placed:
    return Placed(
        pod.name,
        _asks(pod, resource),
        asks_words(cluster, pod),
        _at(facts, pod, "assumed") is True,
        _at(facts, pod, "terminating") is True,
    )
