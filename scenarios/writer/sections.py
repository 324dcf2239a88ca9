"""The sections of a scenario file other than `nodes` and `pods`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...model.environment.cluster.scope import BOUNDS
from ...model.environment.cluster.workloads import (
    ExtenderSpec,
    Noting,
    OwnerKind,
    OwnerSpec,
    StrategyKind,
    StrategySpec,
)
from ...model.environment.objects import DEFAULTS, Claim, ClusterSpec, DisruptionBudget, Scope
from ...model.environment.storage.claims import FAILED, READY
from ..reader.sections.config_section import NUMBERS, SWITCHES
from ..reader.sections.pod_section import NAMESPACE_NAME
from .amounts import quantity_in_words
from .objects import nodes_in_words, pods_in_words, templates_of
from .rules import selector_in_words

PROVISIONER = "example.com/provisioner"


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


def _budgets(spec: ClusterSpec) -> dict[str, Any]:
    return {budget.name: _budget(budget) for budget in spec.budgets}


def _budget(budget: DisruptionBudget) -> dict[str, Any]:
    (allowed,) = budget.quantities
    named = "/" in budget.name or budget.namespace == "default"
    return {
        "selector": selector_in_words(budget.selector),
        "disruptionsAllowed": quantity_in_words(allowed),
        **({} if named else {"namespace": budget.namespace}),
        **({"disruptedPods": sorted(budget.disrupted)} if budget.disrupted else {}),
        **({} if budget.min_available is None else {"minAvailable": budget.min_available}),
        **({"unhealthyPodEvictionPolicy": "AlwaysAllow"} if budget.always_allow else {}),
    }


def _devices(spec: ClusterSpec) -> dict[str, Any]:
    return {
        device.name: {
            **({} if device.node is None else {"node": device.node.name}),
            **({"deviceClassName": device.of} if device.of else {}),
            **({"bindingConditions": True} if device.conditions else {}),
        }
        for device in spec.devices
    }


def _claims(spec: ClusterSpec) -> dict[str, Any]:
    """The claims that are there at the start, or that users create; others come from templates, and from the scheduler."""
    return {
        claim.name: _claim(claim)
        for claim in spec.claims
        if (claim.owner is None or claim.exists) and not (claim.special and not claim.exists)
    }


def _claim(claim: Claim) -> dict[str, Any]:
    conditions = {READY: "met", FAILED: "failed"}.get(claim.readiness, "timedOut" if claim.timed_out else "")
    return {
        **({"device": claim.device.name} if claim.device is not None else {}),
        **({"deviceClassName": claim.of} if claim.of else {}),
        **({"reservedFor": sorted(claim.reserved)} if claim.reserved else {}),
        **({"bindingConditions": conditions} if conditions else {}),
        **({} if claim.exists else {"exists": False}),
    }


def _templates(spec: ClusterSpec) -> dict[str, Any]:
    named, of = templates_of(spec), {claim.name: claim.of for claim in spec.claims}
    return {t: {"deviceClassName": of[claim]} if of[claim] else {} for claim, t in named.items()}


def _device_classes(spec: ClusterSpec) -> dict[str, Any]:
    return {claim.of: {} for claim in spec.claims if claim.special}


def _storage_classes(spec: ClusterSpec) -> dict[str, Any]:
    classes = [volume.storage_class for volume in spec.volumes]
    classes += [claim.storage_class for claim in spec.volume_claims]
    return {
        of.name: {
            "volumeBindingMode": "Immediate" if of.immediate else "WaitForFirstConsumer",
            **({"provisioner": PROVISIONER} if of.provisions else {}),
        }
        for of in classes
    }


def _volumes(spec: ClusterSpec) -> dict[str, Any]:
    """The volumes but for those that a provisioner may make."""
    return {
        volume.name: {
            "storageClassName": volume.storage_class.name,
            **({"nodes": [node.name for node in volume.nodes]} if volume.nodes else {}),
            **({} if volume.claim is None else {"claimRef": volume.claim}),
            **({} if volume.exists else {"exists": False}),
        }
        for volume in spec.volumes
        if volume.provisioned_for is None
    }


def _volume_claims(spec: ClusterSpec) -> dict[str, Any]:
    return {
        claim.name: {
            "storageClassName": claim.storage_class.name,
            **({} if claim.volume is None else {"volumeName": claim.volume.name}),
            **({"accessModes": ["ReadWriteOncePod"]} if claim.exclusive else {}),
            **({} if claim.exists else {"exists": False}),
        }
        for claim in spec.volume_claims
    }


def _groups(spec: ClusterSpec) -> dict[str, Any]:
    return {
        group.name: {
            **({} if group.min_count is None else {"minCount": group.min_count}),
            **({} if group.exists else {"exists": False}),
        }
        for group in spec.groups
    }


COUNTED = {OwnerKind.REPLICA_SET: "replicas", OwnerKind.DEPLOYMENT: "replicas", OwnerKind.JOB: "completions"}
"""How the number of pods that a controller wants is called, where it has one."""


def _controllers(spec: ClusterSpec) -> dict[str, Any]:
    return {of.name: _controller(of) for of in spec.owners}


def _controller(of: OwnerSpec) -> dict[str, Any]:
    by_node = {node: list(names) for node, names in of.slots}
    names = [name for _, names in of.slots for name in names]
    return {
        "kind": of.kind.value,
        **({COUNTED[of.kind]: of.replicas} if of.kind in COUNTED else {}),
        "pods": by_node if of.kind is OwnerKind.DAEMON_SET else names,
        **({"podManagementPolicy": "Parallel"} if of.parallel else {}),
        **({"podReplacementPolicy": "Failed"} if of.waits_for_end else {}),
    }


def _descheduler(spec: ClusterSpec) -> dict[str, Any]:
    return {of.kind.value: _strategy(of) for of in spec.strategies}


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
        of.name: {
            "gate": of.gate,
            **({} if of.quota is None else {"quota": of.quota}),
            **({"waitsFor": list(of.waits_for)} if of.waits_for else {}),
            **({"directs": dict(versions[name] for name in of.directs)} if of.directs else {}),
            **({"apart": True} if of.apart else {}),
        }
        for of in spec.keepers
    }


def _extender(spec: ClusterSpec) -> dict[str, Any]:
    alone = len(spec.extenders) == 1 and not spec.extenders[0].name
    return _asked(spec.extenders[0]) if alone else {}


def _extenders(spec: ClusterSpec) -> dict[str, Any]:
    return {} if _extender(spec) else {of.name: _asked(of) for of in spec.extenders}


def _asked(of: ExtenderSpec) -> dict[str, Any]:
    verbs = {"filter": of.filters, "prioritize": bool(of.scores), "bind": of.binds, "preempt": of.preempts}
    return {
        **({} if of.resource is None else {"resource": of.resource}),
        **({"ignoredByScheduler": True} if of.ignored_by_scheduler else {}),
        "verbs": [verb for verb, has in verbs.items() if has],
        **({"ignorable": True} if of.ignorable else {}),
        **({} if of.noting is Noting.HEARD else {"counts": of.noting.value}),
        **({} if of.nodes is None else {"nodes": sorted(of.nodes)}),
        **({"unresolvable": True} if of.unresolvable else {}),
        **({"scores": dict(of.scores)} if of.scores else {}),
        **({} if of.weight == 1 else {"weight": of.weight}),
    }


def _config(spec: ClusterSpec) -> dict[str, Any]:
    config = spec.scope.config
    named = {**{field: name for field, (name, _) in NUMBERS.items()}, **SWITCHES}
    found = {
        field: getattr(config, name)
        for field, name in named.items()
        if getattr(config, name) != getattr(DEFAULTS, name)
    }
    found |= {"scoreWeights": dict(config.score_weights)} if config.score_weights else {}
    return found | ({"scoringStrategy": config.scoring_strategy} if config.scoring_strategy else {})


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
    "devices": _devices,
    "deviceClasses": _device_classes,
    "resourceClaims": _claims,
    "resourceClaimTemplates": _templates,
    "storageClasses": _storage_classes,
    "volumes": _volumes,
    "volumeClaims": _volume_claims,
    "podGroups": _groups,
    "namespaces": _namespaces,
    "pods": pods_in_words,
    "podDisruptionBudgets": _budgets,
    "controllers": _controllers,
    "descheduler": _descheduler,
    "gateKeepers": _keepers,
    "extender": _extender,
    "extenders": _extenders,
    "config": _config,
    "scope": _scope,
}
