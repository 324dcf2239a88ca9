"""A crowded cluster of 300 nodes and 2,700 pods: whoever waits has to evict three pods, and so have its rivals."""

from __future__ import annotations

import json
from typing import Any

NODES, ON_EACH, WAITING = 300, 9, 6


def crowded(waiting: int = WAITING, priority: int = 1000) -> str:
    """The objects as JSON. Of the nine pods on a node three are batch work of 1 CPU, and six stay."""
    items = [_node(i) for i in range(NODES)]
    for i in range(NODES):
        items += [_pod(f"batch-{i}-{k}", "1", -10, "batch", f"n{i:03}") for k in range(3)]
        items += [_pod(f"serve-{i}-{k}", "500m", 1000, "serve", f"n{i:03}") for k in range(ON_EACH - 3)]
    items += [_pod(f"wants-{k}", "3", priority, "wants") for k in range(waiting)]
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
