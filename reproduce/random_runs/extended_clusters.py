"""Random small clusters whose pods ask for extended resources that devices back (from 1.36 on), for lockstep, as scenario files.

A number determines a cluster: one or two nodes, one to three devices of one class, two or three pods, of which one or two ask for a device. The two minutes for which PreBind waits for the informer are left out: the waits
between steps do not know them.
"""

from random import Random
from typing import Any

import yaml

GPU = "example.com/gpu"
FAULTS = ("bind_failures", "status_failures", "pod_deletions")


def extended_cluster(number: int) -> str:
    """The scenario file of this number."""
    random = Random(f"extended {number}")

    def chance(probability: float) -> bool:
        return random.random() < probability

    nodes = [f"n{i + 1}" for i in range(random.choice((1, 2, 2)))]
    devices = [f"d{i + 1}" for i in range(random.choice((1, 2, 2, 3)))]
    pods: dict[str, dict[str, Any]] = {}
    for i in range(random.choice((2, 2, 3))):
        pods[f"p{i + 1}"] = {"cpu": 1, "priority": random.randint(0, 2)}
        if i == 0 or (i == 1 and chance(0.8)):
            pods[f"p{i + 1}"]["resources"] = {GPU: 1}
        if chance(0.4):
            pods[f"p{i + 1}"]["terminationGracePeriodSeconds"] = 0
    scope: dict[str, Any] = {"pod_events": random.randint(3, 4), "claim_events": random.randint(3, 4)}
    scope["file_order"] = True
    scope |= {fault: random.randint(1, 2) for fault in FAULTS if chance(0.6)}
    made: dict[str, Any] = {
        "name": f"extended-{number}",
        "nodes": {node: {"cpu": random.choice((1, 2, 3))} for node in nodes},
        "deviceClasses": {"gpu": {"extendedResourceName": GPU}},
        "devices": {d: {"node": random.choice(nodes), "deviceClassName": "gpu"} for d in devices},
        "pods": pods,
        "scope": scope,
    }
    if chance(0.3):
        made["resourceClaims"] = {"p1-extended-resources": {"deviceClassName": "gpu"}}
        if chance(0.5):
            made["resourceClaims"]["p1-extended-resources"] |= {"device": "d1", "reservedFor": ["p1"]}
    return yaml.safe_dump(made, sort_keys=False)
