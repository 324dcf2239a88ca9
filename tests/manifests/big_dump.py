"""A crowded cluster of 300 nodes and 2,700 pods: whoever waits has to evict somebody, and so have its rivals."""

from __future__ import annotations

import json
from typing import Any

NODES, ON_EACH, WAITING = 300, 9, 6


def crowded(victims: int = 3) -> str:
    """The objects as JSON. Of the nine pods on a node the `victims` are batch work of 3 CPU together, and the others stay."""
    items = [_node(i) for i in range(NODES)]
    for i in range(NODES):
        batch, serve = f"{3000 // victims}m", f"{3000 // (ON_EACH - victims)}m"
        items += [_pod(f"batch-{i}-{k}", batch, -10, "batch", f"n{i:03}") for k in range(victims)]
        items += [_pod(f"serve-{i}-{k}", serve, 1000, "serve", f"n{i:03}") for k in range(ON_EACH - victims)]
    items += [_pod(f"wants-{k}", "3", 1000, "wants") for k in range(WAITING)]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


def _node(i: int) -> dict[str, Any]:
    labels = {"kubernetes.io/hostname": f"n{i:03}", "topology.kubernetes.io/zone": f"z{i % 3}"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"n{i:03}", "labels": labels},
        "status": {"allocatable": {"cpu": "6", "memory": "32Gi", "pods": "110"}},
    }


def _pod(name: str, cpu: str, priority: int, app: str, node: str = "") -> dict[str, Any]:
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": app,
        "uid": f"uid-{app}",
        "controller": True,
    }
    spec: dict[str, Any] = {
        "priority": priority,
        "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}],
    }
    if node:
        spec["nodeName"] = node
    meta = {"name": name, "namespace": "shop", "labels": {"app": app}, "ownerReferences": [owner]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
