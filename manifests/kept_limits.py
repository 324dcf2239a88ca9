"""How many volumes of CSI drivers the kept nodes take, in the words of a scenario, where that can keep kept pods away.

Kept are the claims of kept pods for volumes of the driver, also those that are bound. Volumes of pods that are left out make the limits of their nodes smaller, and
what is attached to a kept node for no pod is a volume by itself, which is detached later.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from ..scenarios.tables.objects import BINDING_MODES as MODES
from ..scenarios.tables.objects import MAX_ALLOWED
from ..scenarios.values.labels import MAX_ENTITIES
from .members import ClusterNode, ClusterPod
from .volume_limits import VolumeLimits

Sections = dict[str, Any]
"""The sections of a scenario by name."""


def keep_limits(
    limits: VolumeLimits,
    pods: Sequence[ClusterPod],
    nodes: Sequence[ClusterNode],
    sections: Sections,
    of_pods: dict[str, list[str]],
) -> list[str]:
    """Put limits that matter into the sections, and claims among those of pods. Gives the drivers; of others nothing is kept."""
    kept = []
    for driver, names in limits.wanted([p for p in pods if p.node is None]).items():
        if not limits.matter(driver, names, nodes):
            continue
        found, own = deepcopy(sections), deepcopy(of_pods)
        if _keep(driver, limits, pods, nodes, found, own):
            sections.update(found)
            of_pods.update(own)
            kept.append(driver)
    return kept


def _keep(
    driver: str,
    limits: VolumeLimits,
    pods: Sequence[ClusterPod],
    nodes: Sequence[ClusterNode],
    sections: Sections,
    of_pods: dict[str, list[str]],
) -> bool:
    classes = sections.setdefault("storageClasses", {})
    volumes, claims = sections.setdefault("volumes", {}), sections.setdefault("volumeClaims", {})
    classes[driver] = {"volumeBindingMode": MODES[1], "csiDriver": driver}
    known = limits.claims.volumes.drivers.get(driver)
    # Not modelled: several PersistentVolumes that count as one.
    if (known is not None and not known.attaches) or limits.has_aliases(driver):
        return False
    if not _keep_claims(driver, limits, pods, sections, of_pods):
        return False
    most = _limits_of(driver, limits, [pod for pod in limits.bound if pod not in pods], nodes, volumes)
    if not most or min(most.values()) < 0 or max(len(volumes), len(claims)) > MAX_ENTITIES:
        return False
    if all(of["storageClassName"] != driver for of in (*volumes.values(), *claims.values())):
        del classes[driver]
    if not volumes:
        del sections["volumes"]
    required = {"preventPodSchedulingIfMissing": True} if known is not None and known.required else {}
    sections.setdefault("csiDrivers", {})[driver] = {"nodes": most, **required}
    return True


def _keep_claims(
    driver: str,
    limits: VolumeLimits,
    pods: Sequence[ClusterPod],
    sections: Sections,
    of_pods: dict[str, list[str]],
) -> bool:
    """Keep the claims of these pods for volumes of the driver, if all of them can be kept."""
    classes, volumes, claims = (sections[name] for name in ("storageClasses", "volumes", "volumeClaims"))
    written = limits.claims.volumes
    for pod in pods:
        for name in pod.claims.volumes:
            drivers = limits.drivers(name, pod.claims)
            if driver not in drivers:
                continue
            claim = written.claims.get(name)
            if len(drivers) > 1 or pod.claims.devices:
                return False
            if name in claims and claims[name]["storageClassName"] != driver:
                if classes[claims[name]["storageClassName"]].setdefault("csiDriver", driver) != driver:
                    return False
            elif claim is None or not claim.bound or claim.unusable:
                return False
            else:
                volumes[claim.wish.volume] = {"storageClassName": driver, "claimRef": name}
                claims[name] = {"storageClassName": driver, "volumeName": claim.wish.volume}
            if name not in of_pods.setdefault(pod.name, []):
                of_pods[pod.name].append(name)
            # Not modelled: volumes that count only while a pod uses them, and pods that no detached volume wakes, as all their claims are made for them.
            unheard = pod.node is None and pod.claims.templates.keys() >= {*pod.claims.volumes}
            if unheard or limits.is_translated(name, pod.claims):
                return False
    return True


def _limits_of(
    driver: str,
    limits: VolumeLimits,
    others: Sequence[ClusterPod],
    nodes: Sequence[ClusterNode],
    volumes: dict[str, Any],
) -> dict[str, int] | None:
    """How many volumes of the driver each node takes in addition to those of the other pods, with what is attached among `volumes`; None if that cannot be said."""
    written = limits.claims.volumes
    most: dict[str, int] = {}
    for node in nodes:
        told = written.limits.get(node.name, {})
        if driver not in told:
            return None  # it may come later, and with what limit nobody knows
        static = limits.used(driver, node.name, others)
        if static & volumes.keys() or any(
            driver in p.claims.disks for p in limits.bound if p.node == node.name
        ):
            return None
        limit = told[driver]
        most[node.name] = MAX_ALLOWED if limit is None else min(MAX_ALLOWED, limit - len(static))
        in_use = limits.used(driver, node.name, limits.bound)
        if in_use and not written.attached:
            return None
        for at in written.attached:
            if (at.node, at.driver) == (node.name, driver) and at.volume not in in_use:
                of = volumes.setdefault(at.volume, {"storageClassName": driver})
                there = written.volumes.get(at.volume)
                if there is None or there.translated or of.setdefault("attachedTo", node.name) != node.name:
                    return None
    return most
