"""Random small clusters with the newer kinds of devices and claims (from 1.36 on) for lockstep, as scenario files: one or two nodes, up to four devices, two or three pods.

A number determines a cluster, and which kinds it has: slices that come and go, devices that are tainted, alternatives, several devices for one claim, partitions of a device, devices that claims share, and
administrators' access. There is one shared device at most in a class: the allocator tries devices in one order for all claims of a pod, so that it cannot be led to another share for the second of them.
"""

from collections.abc import Callable
from random import Random
from typing import Any

import yaml

from .claim_clusters import FAULTS, claim_cluster

KINDS = ("slices", "taints", "choices", "several", "partitions", "shares", "admin")
FIRST = 36
"""The first minor release that the model has all of these in."""


def clusters_with_claims(minor: int) -> Callable[[int], str]:
    """The clusters with claims for a release: every second one has newer kinds, where the release has these."""
    if minor < FIRST:
        return claim_cluster
    return lambda number: device_cluster(number) if number % 2 else claim_cluster(number)


def device_cluster(number: int) -> str:
    """The scenario file of this number."""
    return yaml.safe_dump(_Drawing(Random(f"devices {number}"), number).cluster(), sort_keys=False)


class _Drawing:
    def __init__(self, random: Random, number: int) -> None:
        self.random, self.number = random, number
        self.kind = KINDS[number // 2 % len(KINDS)]
        self.nodes = [f"n{i + 1}" for i in range(random.choice((1, 1, 2)))]
        self.classes = ["gpu", "big"] if self.kind in ("choices", "partitions") else ["gpu"]

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def cluster(self) -> dict[str, Any]:
        counted = self.kind in ("partitions", "shares", "admin")
        claims = {f"c{i + 1}": self._claim() for i in range(self.random.choice((1, 2, 2, 3)))}
        scope: dict[str, Any] = {
            "pod_events": self.random.randint(2, 4),
            "claim_events": self.random.randint(2, 3),
            "file_order": True,
            **{fault: self.random.randint(1, 2) for fault in FAULTS if self.chance(0.4)},
        }
        if self.kind in ("taints", "admin") or (not counted and self.chance(0.2)):
            scope["device_taints"] = self.random.randint(1, 2)
        if self.kind == "slices" or (not counted and self.chance(0.2)):
            scope["device_withdrawals"] = self.random.randint(1, 2)
        return {
            "name": f"devices-{self.number}",
            "nodes": {node: {"cpu": self.random.choice((1, 2, 3))} for node in self.nodes},
            **(
                {"sharedCounters": {"memory": self.random.choice((2, 3))}}
                if self.kind == "partitions"
                else {}
            ),
            "devices": self._devices(),
            "resourceClaims": claims,
            "pods": {f"p{i + 1}": self._pod(claims, i == 0) for i in range(self.random.choice((2, 2, 3)))},
            "scope": scope,
        }

    def _devices(self) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        for i in range(self.random.choice((1, 2, 2, 3)) + (self.kind in ("several", "partitions"))):
            device: dict[str, Any] = {"deviceClassName": self.random.choice(self.classes)}
            if self.chance(0.8):
                device["node"] = self.random.choice(self.nodes)
            if self.kind == "partitions" and (i == 0 or self.chance(0.7)):
                device["consumesCounters"] = {"memory": self.random.choice((1, 1, 2))}
            elif self.kind == "shares" and i == 0:
                device["capacity"] = self.random.choice((1, 2, 3))
            elif self.kind == "slices" and self.chance(0.5):
                device["exists"] = False
            elif self.kind in ("taints", "admin") and self.chance(0.3):
                device["taint"] = self.random.choice(("NoSchedule", "NoExecute"))
            found[f"d{i + 1}"] = device
        return found

    def _claim(self) -> dict[str, Any]:
        claim: dict[str, Any] = {"deviceClassName": self.random.choice(self.classes)}
        if self.kind == "choices" and self.chance(0.7):
            first = self.random.sample(self.classes, 2)
            claim = {
                "firstAvailable": [
                    {"deviceClassName": of, "count": self.random.choice((1, 1, 2))} for of in first
                ]
            }
        elif self.kind in ("several", "choices", "partitions") and self.chance(0.5):
            claim["count"] = 2
        elif self.kind == "shares" and self.chance(0.7):
            claim["capacity"] = self.random.choice((1, 1, 2))
        elif self.kind == "admin" and self.chance(0.5):
            claim["adminAccess"] = True
        if self.kind in ("taints", "admin") and self.chance(0.4):
            claim["tolerates"] = self.random.choice(("NoSchedule", "NoExecute", "all"))
            if claim["tolerates"] != "NoSchedule" and self.chance(0.4):
                claim["tolerationSeconds"] = True
        return claim

    def _pod(self, claims: dict[str, Any], wants: bool) -> dict[str, Any]:
        pod: dict[str, Any] = {"cpu": 1, "priority": self.random.randint(0, 2)}
        if wants or self.chance(0.85):
            most = min(len(claims), self.random.choice((1, 1, 2)))
            pod["resourceClaims"] = self.random.sample(list(claims), most)
        if self.chance(0.4):
            pod["terminationGracePeriodSeconds"] = 0
        return pod
