"""The cluster as somebody sees it in one state: what is on which node, what is meant to go there, what is pending.

The layout-free part of every drawing of the cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .evidence import Picture, PodShape, ShownCluster
from .quantities import asks_words, has_words
from .states import Facts, State
from .step import Value


@dataclass(frozen=True, slots=True)
class Placed:
    """A pod in a drawing: how much room it takes, and whether it is assumed, or being deleted."""

    name: str
    size: int
    label: str
    assumed: bool = False
    terminating: bool = False


@dataclass(frozen=True, slots=True)
class Box:
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


@dataclass(frozen=True, slots=True)
class Scene:
    """A drawing's content: the nodes, and the pods that exist and are on none of them."""

    title: str
    boxes: tuple[Box, ...]
    pending: tuple[Placed, ...]

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


def scenes(cluster: ShownCluster, state: State) -> tuple[Scene, ...]:
    """The cluster through the eyes of everybody who is to be drawn."""
    return tuple(_scene(cluster, picture, state) for picture in cluster.pictures)


def main_resource(cluster: ShownCluster) -> str | None:
    """The resource by which pods are drawn: the first that any pod asks for; None: all pods are drawn alike."""
    return next((name for pod in cluster.pods for name in pod.requests), None)


def _scene(cluster: ShownCluster, picture: Picture, state: State) -> Scene:
    placed: Facts = state.views.get(picture.placed) or {}
    nominated: Facts = state.views.get(picture.nominated) or {}
    resource = main_resource(cluster)
    boxes = []
    for node in cluster.nodes:
        about = placed.get(f"node {node.name}", {})
        boxes.append(
            Box(
                node.name,
                about.get("exists", True) is True,
                node.capacity.get(resource, 0) if resource else (node.pods or len(cluster.pods)),
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
    return Scene(picture.title, tuple(boxes), tuple(pending))


def _at(facts: Facts, pod: PodShape, fact: str) -> Value:
    return facts.get(pod.name, {}).get(fact)


def _placed(
    cluster: ShownCluster, pod: PodShape, resource: str | None, facts: Mapping[str, Mapping[str, Value]]
) -> Placed:
    return Placed(
        pod.name,
        pod.requests.get(resource, 0) if resource else 1,
        asks_words(cluster, pod),
        _at(facts, pod, "assumed") is True,
        _at(facts, pod, "terminating") is True,
    )
