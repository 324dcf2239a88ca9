"""Every option of a scope and every section of a scenario that has something act, each with what it needs to act."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any

Scenario = dict[str, Any]

TAINT = {"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"}

BASE: Scenario = {
    "name": "features",
    "nodes": {"n": {"cpu": 4}},
    "pods": {"a": {"cpu": 1, "nodeName": "n"}, "b": {"cpu": 1}},
    "scope": {"pod_events": 3, "node_events": 2, "flush": False, "backoff": False},
}


def _scope(**options: Any) -> Scenario:
    return {"scope": options}


def _pods(**pods: Any) -> Scenario:
    return {"pods": {name: {"cpu": 1, **fields} for name, fields in pods.items()}}


def merged(one: Scenario, other: Mapping[str, Any]) -> Scenario:
    """Two scenarios as one: of two numbers the larger one counts, of two mappings the members of both."""
    found = deepcopy(one)
    for key, value in other.items():
        mine = found.get(key)
        if isinstance(mine, dict) and isinstance(value, dict):
            found[key] = merged(mine, value)
        else:
            found[key] = max(mine, value) if isinstance(mine, int) else deepcopy(value)
    return found


def _all(*scenarios: Scenario) -> Scenario:
    found: Scenario = {}
    for one in scenarios:
        found = merged(found, one)
    return found


REJECTED = _pods(large={"cpu": 4})
WINS = {"pods": {"urgent": {"cpu": 4, "priority": 10}}}
BUDGET: Scenario = {
    "podDisruptionBudgets": {
        "few": {"minAvailable": 0, "disruptionsAllowed": 1, "selector": {"matchLabels": {"app": "x"}}}
    },
    "pods": {"e": {"cpu": 0, "nodeName": "n", "labels": {"app": "x"}}},
    "scope": {"disruption_controller": True},
}
OWNED: Scenario = {
    "controllers": {"web": {"kind": "ReplicaSet", "pods": ["w1", "w2"]}},
    "pods": {"w1": {"cpu": 1, "nodeName": "n"}, "w2": {"cpu": 1, "exists": False}},
    "scope": {"pod_deletions": 1},
}
GPU: Scenario = {
    "deviceClasses": {"gpu": {}},
    "devices": {"gpu1": {"node": "n", "deviceClassName": "gpu"}},
    "resourceClaims": {"c1": {"deviceClassName": "gpu"}},
    "pods": {"d": {"cpu": 0, "resourceClaims": ["c1"]}},
}
DISK: Scenario = {
    "storageClasses": {
        "csi": {"volumeBindingMode": "WaitForFirstConsumer", "provisioner": "csi.example.com"}
    },
    "volumeClaims": {"v1": {"storageClassName": "csi"}},
    "pods": {"s": {"cpu": 0, "volumes": ["v1"]}},
}
SCALED = _all({"nodes": {"m": {"cpu": 4}}}, _scope(scale_downs=2, pod_deletions=2))
EXTENDED: Scenario = {
    "nodes": {"n": {"resources": {"example.com/gpu": 2}}},
    "extender": {"resource": "example.com/gpu", "verbs": ["filter", "bind"]},
    "pods": {"x": {"cpu": 0, "resources": {"example.com/gpu": 1}}},
}
UNHEALTHY = _scope(node_lifecycle=True)

FEATURES: Mapping[str, Scenario] = {
    "node_deletions": _scope(node_deletions=1),
    "a node that joins": {"nodes": {"k": {"cpu": 4, "exists": False}}},
    "updates of a node": {"nodes": {"n": {"updates": {"cordoned": {"unschedulable": True}}}}},
    "updates of a pod": {"pods": {"u": {"cpu": 2, "updates": {"smaller": {"cpu": 1}}}}},
    "labels of a pod": {"pods": {"l": {"cpu": 1, "updates": {"labelled": {"labels": {"l": "x"}}}}}},
    "pod_deletions": _scope(pod_deletions=1),
    "a pod that comes": _pods(c={"exists": False}),
    "bind_failures": _scope(bind_failures=1),
    "lost_replies": _scope(lost_replies=1),
    "late_bindings": _scope(late_bindings=1),
    "write_failures": _all(WINS, _scope(write_failures=1)),
    "status_failures": _all(REJECTED, _scope(status_failures=1)),
    "plugin_errors": _all(_pods(r={"cpu": 0, "extensionPoints": ["reserve"]}), _scope(plugin_errors=1)),
    "permit_rejections": _all(
        _pods(t={"cpu": 0, "extensionPoints": ["permit"]}), _scope(permit_rejections=1)
    ),
    "restarts": _scope(restarts=1),
    "leader_changes": _scope(leader_changes=1),
    "external_binds": _scope(external_binds=1),
    "evictions": _all(BUDGET, _scope(evictions=1)),
    "disruption_controller_lags": _all(BUDGET, _scope(evictions=1, disruption_controller_lags=True)),
    "readiness_losses": _all(BUDGET, _scope(readiness=True, readiness_losses=1)),
    "start_failures": _all(
        BUDGET, _pods(f={"labels": {"app": "x"}}), _scope(readiness=True, pod_phases=True, start_failures=1)
    ),
    "scale_downs": SCALED,
    "scale_down_looks_again": _all(SCALED, _scope(scale_down_looks_again=True)),
    "scale_down_taints": _all(SCALED, _scope(scale_down_taints=True)),
    "scale_down_waits": _all(SCALED, _scope(scale_down_taints=True, scale_down_waits=True)),
    "scale_down_drains": _all(SCALED, OWNED, _scope(scale_down_taints=True, scale_down_drains=True)),
    "scale_down_until_empty": _all(
        SCALED, OWNED, _scope(scale_down_taints=True, scale_down_drains=True, scale_down_until_empty=True)
    ),
    "autoscaler": _all(REJECTED, {"nodes": {"g": {"cpu": 4, "exists": False}}}, _scope(autoscaler=True)),
    "autoscaler_nominates": _all(
        REJECTED,
        {"nodes": {"g": {"cpu": 4, "exists": False}}},
        _scope(autoscaler=True, autoscaler_nominates=True),
    ),
    "scale_down_keeps_room": _all(SCALED, _pods(c={"exists": False}), _scope(scale_down_keeps_room=True)),
    "relists": _scope(relists=1),
    "watch_stalls": _scope(watch_stalls=1),
    "a volume claim": DISK,
    "provision_failures": _all(DISK, _scope(provision_failures=1)),
    "volume_deletions": _all(DISK, _scope(volume_deletions=1)),
    "a volume claim that comes": _all(DISK, {"volumeClaims": {"v1": {"exists": False}}}),
    "a limit of volumes that is told late": _all(
        DISK,
        {
            "csiDrivers": {"ebs": {"nodes": {"n": ["none", 1]}}},
            "storageClasses": {"csi": {"csiDriver": "ebs"}},
        },
    ),
    "bind_timeouts": _all(DISK, _scope(bind_timeouts=1)),
    "claim_deletions": _all(GPU, _scope(claim_deletions=1)),
    "a claim that comes": _all(GPU, {"resourceClaims": {"c1": {"exists": False}}}),
    "missed_claim_updates": _all(GPU, _scope(missed_claim_updates=1, claim_deletions=1)),
    "device_failures": _all(
        GPU, {"devices": {"gpu1": {"bindingConditions": True}}}, _scope(device_failures=1)
    ),
    "filter_timeouts": _all(GPU, _scope(filter_timeouts=1)),
    "a selector that fails": _all(GPU, {"resourceClaims": {"c1": {"selectorFailsOn": ["gpu1"]}}}),
    "claims for several devices": _all(
        GPU,
        {
            "devices": {"gpu2": {"node": "n", "deviceClassName": "gpu"}},
            "resourceClaims": {"c1": {"count": 2}},
        },
    ),
    "claims with alternatives": {
        **GPU,
        "resourceClaims": {"c1": {"firstAvailable": ["big", {"deviceClassName": "gpu"}]}},
    },
    "devices that are shared": _all(
        GPU, {"devices": {"gpu1": {"capacity": 2}}, "resourceClaims": {"c1": {"capacity": 1}}}
    ),
    "partitions of devices": _all(
        GPU, {"sharedCounters": {"memory": 2}, "devices": {"gpu1": {"consumesCounters": {"memory": 1}}}}
    ),
    "devices that are tainted": _all(
        GPU,
        {
            "devices": {"gpu1": {"taint": "NoExecute"}},
            "resourceClaims": {"c1": {"tolerates": "all", "tolerationSeconds": True}},
        },
    ),
    "device_taints": _all(GPU, _scope(device_taints=1)),
    "device_withdrawals": _all(GPU, _scope(device_withdrawals=1)),
    "a device that comes": _all(GPU, {"devices": {"gpu1": {"exists": False}}}),
    "controllers": OWNED,
    "controller_restarts": _all(OWNED, _scope(controller_restarts=1)),
    "extender_failures": _all(EXTENDED, _scope(extender_failures=1)),
    "late_answers": _all(EXTENDED, {"extender": {"counts": "filtered"}}, _scope(late_answers=1)),
    "kubelet_admission": _scope(kubelet_admission=True),
    "taint_eviction": _all(
        {"nodes": {"n": {"updates": {"hot": {"taints": [{"key": "hot", "effect": "NoExecute"}]}}}}},
        _scope(taint_eviction=True),
    ),
    "node_lifecycle": _all(UNHEALTHY, {"nodes": {"sick": {"cpu": 1, "conditions": {"Ready": "Unknown"}}}}),
    "heartbeat_losses": _all(UNHEALTHY, _scope(heartbeat_losses=1)),
    "node_failures": _all(UNHEALTHY, _scope(node_failures=1)),
    "bound_finalizers": _all(
        _pods(h={"cpu": 0, "finalizers": ["x"]}), _scope(bound_finalizers=True, pod_deletions=1)
    ),
    "a second scheduler": _pods(o={"schedulerName": "other"}),
    "a gate keeper": {
        "gateKeepers": {"quota": {"gate": "q"}},
        "pods": {"q": {"cpu": 1, "schedulingGates": [{"name": "q"}]}},
    },
    "a group that comes": {
        "featureGates": {"GangScheduling": True},
        "podGroups": {"g": {"minCount": 1, "exists": False}},
        "pods": {"m": {"cpu": 1, "podGroup": "g"}},
    },
    "a descheduler": _all(
        OWNED,
        {"descheduler": {"RemovePodsViolatingNodeTaints": {}}},
        {"nodes": {"n": {"updates": {"hot": {"taints": [{"key": "hot", "effect": "NoSchedule"}]}}}}},
    ),
}


def combined(names: Iterable[str]) -> Scenario:
    """The scenario that has all of these features. Of the autoscaler's taint each node has its update."""
    found = BASE
    for name in names:
        found = merged(found, FEATURES[name])
    if found["scope"].get("scale_down_taints"):
        for node in found["nodes"].values():
            node.setdefault("updates", {})["leaving"] = {"taints": [TAINT]}
    return found
