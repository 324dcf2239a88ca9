"""A small set of Kubernetes objects, one of every kind and with every field that is read, to be changed by tests."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import yaml

Path = tuple[str | int, ...]

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def meta(name: str, namespace: str = "shop", uid: str = "", **more: Any) -> dict[str, Any]:
    return {"name": name, "namespace": namespace, "uid": uid or f"uid-{name}", **more}


def spec(cpu: str, **more: Any) -> dict[str, Any]:
    return {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}], **more}


def owned(kind: str, name: str) -> list[dict[str, Any]]:
    return [{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": f"uid-{name}", "controller": True}]


OBJECTS: dict[str, dict[str, Any]] = {
    "node": {
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": "n1", "uid": "uid-n1", "labels": {"zone": "a"}},
        "spec": {"taints": [{"key": "team", "value": "shop", "effect": "NoSchedule"}], "unschedulable": False},
        "status": {
            "allocatable": {"cpu": "2", "memory": "4Gi", "ephemeral-storage": "10Gi", "pods": "110", "example.com/gpu": "1"},
            "capacity": {"cpu": "2", "memory": "5Gi"},
        },
    },
    "class": {
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000,
        "globalDefault": False, "preemptionPolicy": "PreemptLowerPriority",
    },
    "namespace": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"team": "shop"}}},
    "victim": {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": meta("batch-1", labels={"app": "batch"}, ownerReferences=owned("ReplicaSet", "batch")),
        "spec": spec("2", nodeName="n1", priority=0, terminationGracePeriodSeconds=0, tolerations=[{"operator": "Exists"}]),
        "status": {"phase": "Running", "startTime": "2026-01-01T00:00:00Z"},
    },
    "preemptor": {
        "apiVersion": "v1", "kind": "Pod", "metadata": meta("api-1", labels={"app": "api"}),
        "spec": {
            "containers": [
                {
                    "name": "c",
                    "resources": {"requests": {"cpu": "1500m", "memory": "1Gi"}, "limits": {"cpu": "2", "memory": "1Gi"}},
                }
            ],
            "initContainers": [{"name": "i", "restartPolicy": "Never", "resources": {"requests": {"cpu": "2"}}}],
            "overhead": {"cpu": "0"}, "priorityClassName": "high", "schedulerName": "default-scheduler",
            "preemptionPolicy": "PreemptLowerPriority", "terminationGracePeriodSeconds": 30,
            "tolerations": [{"key": "team", "operator": "Equal", "value": "shop", "effect": "NoSchedule"}],
            "nodeSelector": {"zone": "a"},
            "affinity": {
                "nodeAffinity": {
                    REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]}
                },
                "podAntiAffinity": {
                    REQUIRED: [{"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "none"}}, "namespaces": ["shop"]}]
                },
            },
            "schedulingGates": [], "volumes": [],
            "topologySpreadConstraints": [
                {
                    "maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "minDomains": 1,
                    "labelSelector": {"matchLabels": {"app": "api"}}, "matchLabelKeys": [],
                    "nodeAffinityPolicy": "Honor", "nodeTaintsPolicy": "Ignore",
                },
                {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"},
            ],
        },
        "status": {"phase": "Pending"},
    },
    "rival": {
        "apiVersion": "v1", "kind": "Pod", "metadata": meta("search-1", labels={"app": "search"}),
        "spec": spec("1", priority=1000, tolerations=[{"key": "team", "operator": "Exists"}]),
    },
    "replicaset": {
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": meta("batch"),
        "spec": {
            "replicas": 1, "selector": {"matchLabels": {"app": "batch"}},
            "template": {"metadata": {"labels": {"app": "batch"}}, "spec": spec("2")},
        },
    },
    "deployment": {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta("web"),
        "spec": {
            "replicas": 2, "selector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": spec("3")},
        },
    },
    "job": {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": meta("report"),
        "spec": {"parallelism": 2, "completions": 3, "suspend": False, "template": {"spec": spec("3")}},
        "status": {"succeeded": 1},
    },
    "budget": {
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta("batch", uid="uid-pdb"),
        "spec": {"selector": {"matchLabels": {"app": "batch"}}},
        "status": {"disruptionsAllowed": 1, "disruptedPods": {}},
    },
    "config": {
        "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "percentageOfNodesToScore": 50,
        "profiles": [
            {
                "schedulerName": "default-scheduler",
                "plugins": {"filter": {"disabled": [{"name": "VolumeZone"}], "enabled": [{"name": "Mine"}]}},
                "pluginConfig": [{"name": "DefaultPreemption", "args": {"minCandidateNodesPercentage": 20}}],
            }
        ],
    },
}  # fmt: skip


def objects(*names: str) -> list[dict[str, Any]]:
    """Copies of these objects, or of all."""
    return [deepcopy(OBJECTS[name]) for name in names or OBJECTS]


def text_of(some: list[dict[str, Any]]) -> str:
    """Objects as documents of one text."""
    text: str = yaml.dump_all(some, Dumper=yaml.CSafeDumper, sort_keys=False)
    return text


def at(path: Path, change: Any, delete: bool = False) -> str:
    """The text with one value changed; `path` begins with the name of an object."""
    copies = {name: deepcopy(o) for name, o in OBJECTS.items()}
    place: Any = copies
    for key in path[:-1]:
        place = place[key]
    if delete:
        del place[path[-1]]
    else:
        place[path[-1]] = change
    return text_of(list(copies.values()))
