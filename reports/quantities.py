"""Amounts of resources as their reader wrote them: the model counts in units of its own, which are nobody's business."""

from collections.abc import Mapping

from .evidence import NodeShape, PodShape, ShownCluster


def quantity(cluster: ShownCluster, resource: str, amount: int) -> str:
    """An amount that the model counts, as Kubernetes writes it."""
    number, suffix = cluster.units.get(resource, (1, ""))
    found = amount * number
    if suffix == "m" and found % 1000 == 0:
        found, suffix = found // 1000, ""
    return f"{found}{suffix}" if found else "0"


def has_words(cluster: ShownCluster, node: NodeShape) -> str:
    """What a node has, as it is written."""
    return _words(cluster, node.capacity, node.written)


def asks_words(cluster: ShownCluster, pod: PodShape) -> str:
    """What a pod asks for, as it is written."""
    return _words(cluster, pod.requests, pod.written)


def _words(cluster: ShownCluster, amounts: Mapping[str, int], written: Mapping[str, str]) -> str:
    found = {r: written.get(r) or quantity(cluster, r, amount) for r, amount in amounts.items()}
    return ", ".join(f"{amount} {resource}" for resource, amount in found.items())
