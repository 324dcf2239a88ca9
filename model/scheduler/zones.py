"""Zones: what nodes are spread over (component-helpers, GetZoneKey)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..environment.objects import Node
from ..language import Entity

REGION_LABELS = ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")
ZONE_LABELS = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")


class Zone(Entity):
    """A failure domain. Nodes without zone labels share the zone named by the empty string."""


def zone_key(labels: Mapping[str, str]) -> str:
    """The zone of a node with these labels: region/zone, or the empty string."""
    region, zone = (
        next((labels[k] for k in keys if labels.get(k)), "") for keys in (REGION_LABELS, ZONE_LABELS)
    )
    return f"{region}/{zone}" if region or zone else ""


def zones_named(keys: Iterable[str]) -> tuple[Zone, ...]:
    """One zone for each key."""
    return tuple(Zone(i, key) for i, key in enumerate(dict.fromkeys(keys)))


def zones_of(nodes: Iterable[Node]) -> tuple[Zone, ...]:
    """The zones that these nodes are in."""
    return zones_named(zone_key(node.labels) for node in nodes)
