"""The sections of a scenario file other than `nodes` and `pods`."""

from collections.abc import Callable, Iterable
from typing import Any

from ...model.environment.cluster.scope import BOUNDS
from ...model.environment.cluster.workloads import OwnerKind, OwnerSpec, StrategyKind, StrategySpec
from ...model.environment.objects import ClusterSpec, Scope
from ..reader.sections.pod_section import NAMESPACE_NAME
from ..tables.actors import CONTROLLERS, EXTENDERS, KEEPERS
from ..tables.file import CONFIG
from ..tables.objects import (
    ASKED,
    BUDGETS,
    CLAIMS,
    CSI_DRIVERS,
    DEVICES,
    GROUPS,
    STORAGE_CLASSES,
    VOLUME_CLAIMS,
    VOLUMES,
)
from ..tables.rules import selector_in_words
from ..tables.table import Table, plain
from .objects import nodes_in_words, pods_in_words, templates_of


def sections_of(spec: ClusterSpec) -> dict[str, Any]:
    """The sections of the cluster that say something, in the order in which they are written."""
    return {name: told for name, say in SECTIONS.items() if (told := say(spec))}


def _namespaces(spec: ClusterSpec) -> dict[str, Any]:
    found = {}
    for pod in spec.pods:
        own = {NAMESPACE_NAME: pod.namespace}
        labels = {k: v for k, v in pod.namespace_labels.items() if (k, v) not in own.items()}
        if labels:
            found[pod.namespace] = {"labels": labels}
    return found


def _each(table: Table, objects: Iterable[Any]) -> dict[str, Any]:
    """What a table says of each of these objects, by name."""
    return {of.name: plain(table.say(of)) for of in objects}


def _counters(spec: ClusterSpec) -> dict[str, int]:
    drawn = {
        c: None
        for of in spec.devices
        if not of.parts and not of.shared
        for c in of.draws
        if c.name != of.name
    }
    return {counter.name: counter.capacity for counter in drawn}


def _claims(spec: ClusterSpec) -> dict[str, Any]:
    """The claims that are there at the start, or that users create; others come from templates, and from the scheduler."""
    return _each(CLAIMS, (c for c in spec.claims if c.exists or (c.owner is None and not c.special)))


def _templates(spec: ClusterSpec) -> dict[str, Any]:
    claims = {claim.name: claim for claim in spec.claims}
    return {
        t: plain({row.name: row.said(claims[name]) for row in ASKED})
        for name, t in templates_of(spec).items()
    }


COUNTED = {OwnerKind.REPLICA_SET: "replicas", OwnerKind.DEPLOYMENT: "replicas", OwnerKind.JOB: "completions"}
"""How the number of pods that a controller wants is called, where it has one."""


def _controller(of: OwnerSpec) -> dict[str, Any]:
    by_node = {node: list(names) for node, names in of.slots}
    names = [name for _, names in of.slots for name in names]
    return {
        "kind": of.kind.value,
        **({COUNTED[of.kind]: of.replicas} if of.kind in COUNTED else {}),
        "pods": by_node if of.kind is OwnerKind.DAEMON_SET else names,
        **plain(CONTROLLERS.say(of)),
    }


def _strategy(of: StrategySpec) -> dict[str, Any]:
    found: dict[str, Any] = {"nodeFit": True} if of.node_fit else {}
    match of.kind:
        case StrategyKind.NODE_AFFINITY:
            found |= {"prefers": dict(of.prefers)} if of.prefers else {}
        case StrategyKind.SPREAD:
            found |= {
                "topologyKey": of.topology_key,
                "maxSkew": of.max_skew,
                **selector_in_words(of.selector),
            }
        case StrategyKind.LOW_UTILIZATION:
            found |= {"thresholds": of.low, "targetThresholds": of.high}
    return found


def _keepers(spec: ClusterSpec) -> dict[str, Any]:
    versions = {f"{pod.name}.{word}": (pod.name, word) for pod in spec.pods for word in pod.later}
    return {
        of.name: plain({**KEEPERS.say(of), "directs": dict(versions[name] for name in of.directs)})
        for of in spec.keepers
    }


def _extender(spec: ClusterSpec) -> dict[str, Any]:
    alone = len(spec.extenders) == 1 and not spec.extenders[0].name
    return plain(EXTENDERS.say(spec.extenders[0])) if alone else {}


def _scope(spec: ClusterSpec) -> dict[str, Any]:
    plain, always = Scope(), ("pod_events", "node_events")
    values = {name: getattr(spec.scope, name) for name in BOUNDS}
    told = {k: v for k, v in values.items() if k in always or v != getattr(plain, k)}
    for kind in dict.fromkeys(kind for kind, *_ in spec.scope.aims):
        named = {section: list(names) for section, names in spec.scope.aimed(kind).items()}
        told[kind] = {"count": values[kind], **named}
    return told


SECTIONS: dict[str, Callable[[ClusterSpec], dict[str, Any]]] = {
    "nodes": nodes_in_words,
    "devices": lambda spec: {
        of.shared or of.name: plain(DEVICES.say(of)) for of in spec.devices if not of.parts
    },
    "sharedCounters": _counters,
    "deviceClasses": lambda spec: {claim.of: {} for claim in spec.claims if claim.special},
    "resourceClaims": _claims,
    "resourceClaimTemplates": _templates,
    "csiDrivers": lambda spec: _each(CSI_DRIVERS, spec.drivers),
    "storageClasses": lambda spec: _each(
        STORAGE_CLASSES,
        [*(of.storage_class for of in spec.volumes), *(of.storage_class for of in spec.volume_claims)],
    ),
    # Without those that a provisioner may make.
    "volumes": lambda spec: _each(VOLUMES, (of for of in spec.volumes if of.provisioned_for is None)),
    "volumeClaims": lambda spec: _each(VOLUME_CLAIMS, spec.volume_claims),
    "podGroups": lambda spec: _each(GROUPS, spec.groups),
    "namespaces": _namespaces,
    "pods": pods_in_words,
    "podDisruptionBudgets": lambda spec: {
        of.name: {"selector": {}, **plain(BUDGETS.say(of))} for of in spec.budgets
    },
    "controllers": lambda spec: {of.name: _controller(of) for of in spec.owners},
    "descheduler": lambda spec: {of.kind.value: _strategy(of) for of in spec.strategies},
    "gateKeepers": _keepers,
    "extender": _extender,
    "extenders": lambda spec: {} if _extender(spec) else _each(EXTENDERS, spec.extenders),
    "config": lambda spec: plain(CONFIG.say(spec.scope.config)),
    "scope": _scope,
}
