"""Nodes that pods have to leave, that are not ready, and that declare features; pods for them."""

from __future__ import annotations

from typing import Any

from tests.manifests.test_representative import node, pod

RESTARTS = "RestartAllContainersOnContainerExits"


def tainted(name: str, *taints: dict[str, str], ready: str = "True") -> dict[str, Any]:
    found = node(name)
    found["spec"] = {"taints": list(taints)}
    found["status"]["conditions"] = [
        {"type": "MemoryPressure", "status": "False"},
        {"type": "Ready", "status": ready},
    ]
    return found


def tolerating(seconds: int | None = None, key: str = "dry") -> dict[str, Any]:
    time = {} if seconds is None else {"tolerationSeconds": seconds}
    keys = {"key": key} if key else {}
    return {"tolerations": [{**keys, "operator": "Exists", "effect": "NoExecute", **time}]}


def declaring(name: str, *features: str) -> dict[str, Any]:
    found = node(name)
    found["status"]["declaredFeatures"] = list(features)
    return found


def restarting(name: str) -> dict[str, Any]:
    made = pod(name, "1")
    rules = [
        {"action": "Restart"},
        {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [3]}},
    ]
    made["spec"]["containers"][0]["restartPolicyRules"] = rules
    return made
