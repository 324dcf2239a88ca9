"""Random small clusters with volumes for lockstep, as scenario files: one or two nodes, up to two volumes, one or two claims, two or three pods that mount them.

A number determines a cluster. Claims are of a class whose volumes are there, or of one whose volumes can also be made, and pods may share a claim. Left out are claims and volumes that come and go, whose events the model does not tell
one by one (A-VOLUME-EVENTS), and backoffs and flushes: a look whether the claims are bound takes a second, which the waits between steps do not know.
"""

from random import Random
from typing import Any

import yaml

FAULTS = ("pod_deletions", "bind_failures", "status_failures", "provision_failures")


def volume_cluster(number: int) -> str:
    """The scenario file of this number."""
    random = Random(f"volumes {number}")

    def chance(probability: float) -> bool:
        return random.random() < probability

    nodes = [f"n{i + 1}" for i in range(random.choice((1, 2, 2)))]
    makes = chance(0.5)
    kind = {"volumeBindingMode": "WaitForFirstConsumer"}
    if makes:
        kind["provisioner"] = "csi.example.com"
    volumes: dict[str, dict[str, Any]] = {}
    for i in range(random.choice((0, 1, 1, 2) if makes else (1, 1, 2, 2))):
        volumes[f"pv{i + 1}"] = {"storageClassName": "c", "nodes": [random.choice(nodes)]}
    claims: dict[str, dict[str, Any]] = {}
    for i in range(random.choice((1, 1, 2))):
        claims[f"c{i + 1}"] = {"storageClassName": "c"}
    pods: dict[str, dict[str, Any]] = {}
    for i in range(random.choice((2, 2, 3))):
        pods[f"p{i + 1}"] = {"cpu": 1, "priority": random.randint(0, 2)}
        if i == 0 or chance(0.7):
            some = random.sample(list(claims), min(len(claims), random.choice((1, 1, 2))))
            pods[f"p{i + 1}"]["volumes"] = some
        if chance(0.4):
            pods[f"p{i + 1}"]["terminationGracePeriodSeconds"] = 0
    scope: dict[str, Any] = {
        "pod_events": random.randint(2, 4),
        "file_order": True,
        "flush": False,
        "backoff": False,
    }
    scope |= {fault: random.randint(1, 2) for fault in FAULTS if chance(0.4)}
    if not makes:
        scope.pop("provision_failures", None)
    drivers = {} if makes else _limited(Random(f"limits {number}"), nodes, volumes, claims)
    if drivers:
        kind["csiDriver"] = "csi.example.com"
    made: dict[str, Any] = {
        "name": f"volumes-{number}",
        "nodes": {node: {"cpu": random.choice((1, 2, 3))} for node in nodes},
        "csiDrivers": drivers,
        "storageClasses": {"c": kind},
        "volumes": volumes,
        "volumeClaims": claims,
        "pods": pods,
        "scope": scope,
    }
    return yaml.safe_dump({key: value for key, value in made.items() if value != {}}, sort_keys=False)


def _limited(
    random: Random, nodes: list[str], volumes: dict[str, dict[str, Any]], claims: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """In a third of these clusters a CSI driver whose volumes the nodes take one or two of; their claims are bound from the start."""
    if len(claims) > len(volumes) or random.random() >= 1 / 3:
        return {}
    for claim, volume in zip(claims, volumes, strict=False):
        claims[claim]["volumeName"], volumes[volume]["claimRef"] = volume, claim
    return {"csi.example.com": {"nodes": {node: random.choice((1, 1, 2)) for node in nodes}}}
