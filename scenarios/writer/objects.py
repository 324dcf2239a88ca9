"""Nodes and pods as a scenario file says them, with the versions that their objects may be updated to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from ...model.environment.cluster.placement_rules import Operator, SpreadConstraint
from ...model.environment.cluster.workloads import OwnerKind
from ...model.environment.objects import NOW, READY, ClusterSpec, ExtensionPoint, Node, NodeAffinity, Pod
from ..reader.cluster_section import VERSION_FIELDS
from ..reader.sections.claim_section import IMPLICIT
from ..reader.sections.controller_section import DAEMON_TOLERATIONS
from ..reader.sections.pod_section import POD_VERSION_FIELDS
from .amounts import Amounts, quantity_in_words
from .rules import (
    constraint_in_words,
    host_port_in_words,
    node_term_in_words,
    preferred_nodes_in_words,
    selector_in_words,
    taint_in_words,
    terms_in_words,
    toleration_in_words,
)

HOSTNAME = "kubernetes.io/hostname"
FIRST_TIME = datetime(2024, 1, 1, tzinfo=UTC)
"""When the first pod was created or started: nothing but the order of times matters."""


def nodes_in_words(spec: ClusterSpec) -> dict[str, Any]:
    """The section `nodes`."""
    amounts = Amounts(spec)
    return {node.name: _node(node, amounts, spec.scope.node_lifecycle) for node in spec.nodes}


def _node(node: Node, amounts: Amounts, lifecycle: bool) -> dict[str, Any]:
    whole = _node_fields(node, amounts)
    # The node lifecycle controller brings versions of its own, which the reader adds: their names have capital letters.
    later = {
        word: _changed(whole, _node_fields(version, amounts), VERSION_FIELDS)
        for word, version in node.later.items()
        if not lifecycle or word == word.lower()
    }
    return _said(whole) | ({} if node.exists else {"exists": False}) | ({"updates": later} if later else {})


def _node_fields(node: Node, amounts: Amounts) -> dict[str, Any]:
    allocatable, room = node.room
    ready = {READY: "True"}
    return {
        **amounts.of(f"node {node.name}", allocatable),
        "pods": None if room is None else quantity_in_words(room),
        "labels": {k: v for k, v in node.labels.items() if (k, v) != (HOSTNAME, node.name)},
        "taints": [taint_in_words(taint) for taint in node.taints],
        "unschedulable": node.unschedulable,
        "conditions": {k: v for k, v in node.conditions.items() if (k, v) not in ready.items()},
        "declaredFeatures": sorted(node.features),
    }


_UNSAID = {"memory": 0, "ephemeral-storage": 0, "unschedulable": False}
"""What is so where a field is left out."""


def _said(whole: Mapping[str, Any]) -> dict[str, Any]:
    """The fields without those that say what is so without them."""
    return {
        k: v for k, v in whole.items() if v not in (None, {}, []) and not (k in _UNSAID and v == _UNSAID[k])
    }


def _changed(base: Mapping[str, Any], version: Mapping[str, Any], known: tuple[str, ...]) -> dict[str, Any]:
    """What an update changes; of one that changes nothing, the labels."""
    found = {k: v for k, v in version.items() if k in known and v != base[k]}
    return found or {"labels": version["labels"]}


def pods_in_words(spec: ClusterSpec) -> dict[str, Any]:
    """The section `pods`."""
    daemons = {
        name
        for of in spec.owners
        if of.kind is OwnerKind.DAEMON_SET
        for _, names in of.slots
        for name in names
    }
    special = {claim.name: claim.of for claim in spec.claims if claim.special}
    templates = templates_of(spec)
    amounts = Amounts(spec)
    arrivals = any(pod.arrival for pod in spec.pods)
    found = {}
    for pod in spec.pods:
        told = _pod(pod, amounts, pod.name in daemons)
        if arrivals and pod.exists and pod.node is None and pod.recreates is None:
            told["creationTimestamp"] = _time(pod.arrival)
        if pod.extended_claim is not None:
            backed = {f"{IMPLICIT}{special[pod.extended_claim]}": 1}
            told["resources"] = {**told.get("resources", {}), **backed}
        claims = [_claim(pod, name, templates) for name in pod.claims if name != pod.extended_claim]
        found[pod.name] = told | ({"resourceClaims": claims} if claims else {})
    return found


def templates_of(spec: ClusterSpec) -> dict[str, str]:
    """The names of the templates from which claims are made, by the name of the claim."""
    generated = {name for pod in spec.pods for name in pod.generated}
    classes = list(dict.fromkeys(claim.of for claim in spec.claims if claim.name in generated))
    return {c.name: f"template-{classes.index(c.of) + 1}" for c in spec.claims if c.name in generated}


def _claim(pod: Pod, name: str, templates: Mapping[str, str]) -> Any:
    if name not in pod.generated:
        return name
    own = name.removeprefix(f"{pod.name}-")
    return {"name": own, "resourceClaimTemplateName": templates[name]}


def _pod(pod: Pod, amounts: Amounts, daemon: bool) -> dict[str, Any]:
    whole = _pod_fields(pod, amounts, daemon)
    later = {
        word: _changed(whole, _pod_fields(version, amounts, False), POD_VERSION_FIELDS)
        for word, version in pod.later.items()
    }
    return _said(whole) | ({"updates": later} if later else {})


def _pod_fields(pod: Pod, amounts: Amounts, daemon: bool) -> dict[str, Any]:
    own = (pod.namespace,)
    tolerations = pod.tolerations
    if daemon and tolerations[-len(DAEMON_TOLERATIONS) :] == DAEMON_TOLERATIONS:
        tolerations = tolerations[: -len(DAEMON_TOLERATIONS)]
    return {
        **amounts.of(f"pod {pod.name}", pod.requests),
        "priority": quantity_in_words(pod.quantities[-1]),
        "preemptionPolicy": None if pod.preempts else "Never",
        "namespace": None if "/" in pod.name or pod.namespace == "default" else pod.namespace,
        "labels": dict(pod.labels),
        "nodeName": None if pod.node is None else pod.node.name,
        "recreates": pod.recreates,
        "exists": None if pod.exists or pod.recreates is not None else False,
        "startTime": None if pod.start == NOW else _time(pod.start),
        "terminationGracePeriodSeconds": None if pod.graceful else 0,
        "tolerations": [toleration_in_words(t) for t in tolerations],
        "nodeSelector": dict(pod.node_selector),
        "nodeAffinity": _node_affinity(pod, daemon),
        "podAffinity": terms_in_words(pod.terms, False, own),
        "podAntiAffinity": terms_in_words(pod.terms, True, own),
        "topologySpreadConstraints": [
            *(_constraint(pod, c, False) for c in pod.spread),
            *(_constraint(pod, c, True) for c in pod.wishes.spread if not c.by_default),
        ],
        "defaultSpread": next(
            (selector_in_words(c.selector) for c in pod.wishes.spread if c.by_default), None
        ),
        "extensionPoints": [p.value for p in ExtensionPoint if p in _of_plugins(pod)],
        "schedulingGates": [{"name": gate} for gate in pod.gates],
        "finalizers": ["podrace.io/finalizer"] if pod.finalizers else [],
        "hostPorts": [host_port_in_words(port) for port in pod.host_ports],
        "finishes": pod.finishes or None,
        "volumes": list(pod.volumes),
        "podGroup": pod.group,
        "extenderSelector": dict(pod.extender_selector),
        "requiredFeatures": sorted(pod.features),
        "schedulerName": "second-scheduler" if pod.foreign else None,
        "ready": None if pod.ready else False,
        "phase": None if pod.started else "Pending",
        "deleted": pod.deleted or None,
    }


def _time(rank: int) -> str:
    return (FIRST_TIME + timedelta(seconds=rank)).isoformat().replace("+00:00", "Z")


def _of_plugins(pod: Pod) -> frozenset[ExtensionPoint]:
    """The extension points that only the file can have named."""
    by_claims = {ExtensionPoint.RESERVE, ExtensionPoint.PRE_BIND} if pod.claims or pod.volumes else set()
    return pod.extension_points - by_claims


def _constraint(pod: Pod, constraint: SpreadConstraint, soft: bool) -> dict[str, Any]:
    """The constraint; what of its selector follows the labels of each version came from matchLabelKeys."""
    expressions = constraint.selector.expressions
    own = [e.key for e in expressions if e.operator is Operator.IN and e.values == (pod.labels.get(e.key),)]
    follows = any(version.wishes.spread != pod.wishes.spread for version in pod.later.values())
    if not (soft and own and follows):
        return constraint_in_words(constraint, soft)
    selector = replace(constraint.selector, expressions=tuple(e for e in expressions if e.key not in own))
    return {**constraint_in_words(replace(constraint, selector=selector), soft), "matchLabelKeys": own}


def _node_affinity(pod: Pod, daemon: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    terms = _terms_of(pod.node_affinity, daemon)
    if terms is not None:
        found["required"] = {"nodeSelectorTerms": terms}
    if pod.wishes.nodes:
        found["preferred"] = [preferred_nodes_in_words(liked) for liked in pod.wishes.nodes]
    return found


def _terms_of(affinity: NodeAffinity | None, daemon: bool) -> list[Any] | None:
    """The required terms; of a DaemonSet's pod without the node's name, which its controller adds."""
    if affinity is None:
        return None
    told = [node_term_in_words(term) for term in affinity.terms]
    if not daemon:
        return told
    own = [{k: v for k, v in term.items() if k != "matchFields"} for term in told]
    return None if own == [{}] else own
