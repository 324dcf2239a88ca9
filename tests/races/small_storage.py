"""Small clusters with claims of devices and of volumes, and what every property of the catalogue says of each on three versions."""

from __future__ import annotations

import csv
from pathlib import Path

from podrace.properties import PROPERTIES
from podrace.scenarios import Scenario, parse_scenario

VERSIONS = ("1.34.4", "1.35.4", "1.36.3")
TABLE = Path(__file__).with_name("small_storage.tsv")
_NODES = {1: "n1: {cpu: 2}", 2: "n1: {cpu: 1}\n  n2: {cpu: 1}"}
_WAITS = "volumeBindingMode: WaitForFirstConsumer"
_CLAIM = "{storageClassName: s}"


def _devices(nodes: int, devices: str, claims: str, a: str, b: str) -> str:
    return (
        f"nodes:\n  {_NODES[nodes]}\ndevices: {{{devices}}}\nresourceClaims: {{{claims}}}\n"
        f"pods:\n  a: {{cpu: 1, resourceClaims: [{a}]}}\n  b: {{cpu: 1, resourceClaims: [{b}]}}\n"
    )


def _volumes(nodes: int, kind: str, volumes: str, claims: tuple[str, ...], a: str, b: str) -> str:
    there = f"volumes: {{{volumes}}}\n" if volumes else ""
    listed = ", ".join(f"{claim}: {_CLAIM}" for claim in claims)
    return (
        f"nodes:\n  {_NODES[nodes]}\nstorageClasses: {{s: {{{kind}}}}}\n{there}volumeClaims: {{{listed}}}\n"
        f"pods:\n  a: {{cpu: 1, volumes: [{a}]}}\n  b: {{cpu: 1, volumes: [{b}]}}\n"
    )


def _on(*nodes: str) -> str:
    return ", ".join(
        f"pv{i}: {{storageClassName: s, nodes: [{node}]}}" for i, node in enumerate(nodes, start=1)
    )


_MADE = f"{_WAITS}, provisioner: csi"
_ANYWHERE = "pv1: {storageClassName: s}"
ASKED = [
    identifier
    for identifier, prop in PROPERTIES.items()
    if prop.kind != "resettability"
    and not prop.__module__.endswith((".groups", ".admissions", ".loops", ".taints", ".gates"))
    and identifier not in ("S-IDEVICT", "S-DRAIN", "S-TOLD", "S-SPREAD", "S-DTAINT", "L-DTAINT", "S-LIMIT")
]
"""All properties but the resettabilities, that of topology spread, and those of groups of pods, of kubelets that decide, of controllers that make pods, of taints
that have pods leave, of keepers of gates, and of evictions through the API: these clusters have none of them. Nor were S-TOLD, S-DTAINT, L-DTAINT and S-LIMIT asked, which came later."""

CLUSTERS = {
    "one device, two claims": _devices(1, "d1: {node: n1}", "c1: {}, c2: {}", "c1", "c2"),
    "two devices, shared claim": _devices(1, "d1: {node: n1}, d2: {node: n1}", "c1: {}", "c1", "c1"),
    "a device on each of two nodes, two claims": _devices(
        2, "d1: {node: n1}, d2: {node: n2}", "c1: {}, c2: {}", "c1", "c2"
    ),
    "one device for two nodes, shared claim": _devices(2, "d1: {}", "c1: {}", "c1", "c1"),
    "one volume, two claims": _volumes(1, _WAITS, _on("n1"), ("c1", "c2"), "c1", "c2"),
    "two volumes, two claims": _volumes(1, _WAITS, _on("n1", "n1"), ("c1", "c2"), "c1", "c2"),
    "one volume, shared claim": _volumes(1, _WAITS, _on("n1"), ("c1",), "c1", "c1"),
    "a volume on each of two nodes, two claims": _volumes(
        2, _WAITS, _on("n1", "n2"), ("c1", "c2"), "c1", "c2"
    ),
    "a volume for two nodes, shared claim": _volumes(2, _WAITS, _ANYWHERE, ("c1",), "c1", "c1"),
    "volumes are made, two claims": _volumes(2, _MADE, "", ("c1", "c2"), "c1", "c2"),
    "a volume is made, shared claim": _volumes(1, _MADE, "", ("c1",), "c1", "c1"),
    "claims that wait for nobody": _volumes(
        2,
        "volumeBindingMode: Immediate",
        f"{_ANYWHERE}, pv2: {{storageClassName: s}}",
        ("c1", "c2"),
        "c1",
        "c2",
    ),
}


def scenario(cluster: str, version: str, events: int = 2) -> Scenario:
    """One of the clusters on a version, with so many undelivered events of a kind at most."""
    head = f'name: small\ntitle: {cluster}\nrelease: "{version}"\n'
    scope = f"scope: {{pod_events: {events}, claim_events: {events}, flush: false, backoff: false}}\n"
    return parse_scenario(head + CLUSTERS[cluster] + scope)


def found() -> list[dict[str, str]]:
    """The rows of the table: cluster, version, states, and which properties were violated or left undecided."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))
