"""What pods ask for and nodes have, out of the bodies of a log: the arithmetic is that of the manifests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec
import yaml

from ...base.problems import Problem
from ...manifests.reading.manifest_files import Manifest
from ...manifests.reading.resource_amounts import Amounts, parse_quantity, read_amounts, requests_of
from ...model.environment.cluster.placement_rules import Term
from ...scenarios.tables.directives import required_term
from ..reading.records import (
    ClaimedResource,
    Container,
    ContainerStatus,
    Node,
    Pod,
    PodStatus,
    Quantity,
    Resources,
)

PODS = "pods"
"""How many pods a node admits; each asks for one."""

Ports = frozenset[tuple[str, int, str]]
"""Protocol, number and address of ports on the node."""

_NO_PORTS: Ports = frozenset()

_MARK = yaml.Mark("the log", 0, 0, 0, None, 0)
_ENCODER = msgspec.msgpack.Encoder()
_KEPT: dict[bytes, Range | None] = {}
_MOST_KEPT = 4096
_SPEC = ("containers", "initContainers", "overhead", "resources")


class Range(msgspec.Struct, frozen=True):
    """What a pod asks for: at least and at most, where specification and status differ (a resize is under way)."""

    least: Amounts
    most: Amounts


def requests(pod: Pod) -> Range | None:
    """What the scheduler counts for a pod; None if that cannot be read. Most pods of a cluster ask for the same as others: so it is kept by the text of what it depends on."""
    spec, status = pod.spec, pod.status
    key = _ENCODER.encode(
        (
            spec.containers, spec.initContainers, spec.overhead, spec.resources, status.containerStatuses, status.initContainerStatuses,
            status.resources, status.allocatedResources, status.extendedResourceClaimStatus,
        )
    )  # fmt: skip
    if key not in _KEPT:
        if len(_KEPT) >= _MOST_KEPT:
            _KEPT.clear()
        _KEPT[key] = _range(pod)
    return _KEPT[key]


def _range(pod: Pod) -> Range | None:
    status = pod.status
    statuses = {s.name: s for s in (*(status.containerStatuses or ()), *(status.initContainerStatuses or ()))}
    given = (status, *statuses.values())
    try:
        written = _requests(pod, None, statuses)
        if all(s.resources is None and s.allocatedResources is None for s in given):
            low, high = written, written
        else:
            low, high = _requests(pod, min, statuses), _requests(pod, max, statuses)
    except (Problem, ValueError):
        return None
    claimed = {c.resourceName for c in _claimed(pod)}
    return Range({k: v for k, v in low.items() if k not in claimed} if claimed else low, high)


def written_requests(pod: Pod) -> Amounts | None:
    """What a pod's specification asks for, whatever it was given; None if that cannot be read."""
    try:
        return _requests(pod, None, {})
    except (Problem, ValueError):
        return None


def allocatable(node: Node) -> Amounts | None:
    """What a node can allocate; None if that cannot be read."""
    written = node.status.allocatable
    if written is None:
        return None
    try:
        found = read_amounts(as_manifest({k: v for k, v in written.items() if k != PODS}))
    except (Problem, ValueError):
        return None
    number = parse_quantity(str(written[PODS])) if PODS in written else None
    if number is not None and number.denominator == 1:
        found[PODS] = int(number)
    return found


def ports(pod: Pod) -> Ports:
    """The ports that a pod takes on its node."""
    if not any(c.ports for c in pod.spec.containers) and not pod.spec.initContainers:
        return _NO_PORTS
    return frozenset(
        (port.protocol or "TCP", port.hostPort, port.hostIP or "0.0.0.0")
        for container in (*pod.spec.containers, *(_sidecars(pod)))
        for port in container.ports or ()
        if port.hostPort > 0
    )


def clashing(one: Ports, other: Ports) -> tuple[str, int, str] | None:
    """A port that both take, if there is one."""
    for protocol, number, address in sorted(one):
        for also, same, its in other:
            if (protocol, number) == (also, same) and (address == its or "0.0.0.0" in (address, its)):
                return protocol, number, address
    return None


def anti_affinity(pod: Pod) -> tuple[Term, ...] | None:
    """The required terms of a pod's anti-affinity; None if they cannot be read."""
    affinity = pod.spec.affinity and pod.spec.affinity.podAntiAffinity
    written = affinity and affinity.requiredDuringSchedulingIgnoredDuringExecution
    if not written:
        return ()
    try:
        terms = [required_term(as_manifest(msgspec.json.decode(raw)), True) for raw in written]
    except (Problem, ValueError, msgspec.MsgspecError, RecursionError):
        return None
    own = (pod.metadata.namespace or "default",)
    return tuple(
        term if term.namespaces or term.namespace_selector is not None else replace(term, namespaces=own)
        for term in terms
    )


def as_manifest(value: object) -> Manifest:
    """A value of JSON as the manifests' readers take it."""
    return Manifest("the log", "", _node(value, 0))


def _node(value: object, depth: int) -> yaml.Node:
    if depth > 64:
        raise ValueError("nested too deeply")
    if isinstance(value, Mapping):
        pairs = [(_node(str(k), depth + 1), _node(v, depth + 1)) for k, v in value.items()]
        return yaml.MappingNode("tag:yaml.org,2002:map", pairs, _MARK)
    if isinstance(value, list):
        return yaml.SequenceNode("tag:yaml.org,2002:seq", [_node(v, depth + 1) for v in value], _MARK)
    if value is None:
        return yaml.ScalarNode("tag:yaml.org,2002:null", "null", _MARK)
    kind = {bool: "bool", int: "int", float: "float"}.get(type(value), "str")
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return yaml.ScalarNode(f"tag:yaml.org,2002:{kind}", text, _MARK)


def _sidecars(pod: Pod) -> list[Container]:
    return [c for c in pod.spec.initContainers or () if c.restartPolicy == "Always"]


def _claimed(pod: Pod) -> list[ClaimedResource]:
    """What a ResourceClaim provides, and no node (DRAExtendedResource)."""
    claims = pod.status.extendedResourceClaimStatus
    return claims.requestMappings if claims else []


def _requests(pod: Pod, choose: Any, statuses: Mapping[str, ContainerStatus]) -> dict[str, int]:
    """The requests; with `choose`, of each container the lesser or greater of what is written and what it was given."""
    spec: dict[str, Any] = {
        "containers": [_container(c, choose, statuses) for c in pod.spec.containers],
        "initContainers": [_container(c, choose, statuses) for c in pod.spec.initContainers or ()] or None,
        "overhead": pod.spec.overhead,
        "resources": None
        if pod.spec.resources is None
        else _resources(pod.spec.resources)
        if choose is None
        else _chosen(_resources(pod.spec.resources), pod.status, choose),
    }
    fields = as_manifest({k: v for k, v in spec.items() if v is not None}).fields(_SPEC, "a specification")
    return {**requests_of(fields), PODS: 1}


def _container(container: Container, choose: Any, statuses: Mapping[str, ContainerStatus]) -> dict[str, Any]:
    asked = _resources(container.resources) if container.resources else {}
    status = statuses.get(container.name)
    if choose is not None and status is not None:
        asked = _chosen(asked, status, choose)
    found: dict[str, Any] = {"resources": asked} if asked else {}
    if container.restartPolicy:
        found["restartPolicy"] = container.restartPolicy
    return found


def _chosen(
    asked: dict[str, dict[str, Quantity]], status: ContainerStatus | PodStatus, choose: Any
) -> dict[str, dict[str, Quantity]]:
    """Of each resource the lesser or greater of what is written and what was given."""
    given = [r for r in (status.resources and status.resources.requests, status.allocatedResources) if r]
    written = dict(asked.get("requests") or asked.get("limits") or {})
    others = isinstance(status, ContainerStatus)  # of a whole pod, only what its specification has is counted
    for amounts in given:
        for resource in {*amounts, *written} if others else set(written):
            written[resource] = choose(
                (written.get(resource, 0), amounts.get(resource, 0)),
                key=lambda q: parse_quantity(str(q)) or 0,
            )
    return {"requests": written}


def _resources(resources: Resources) -> dict[str, dict[str, Quantity]]:
    named = {"requests": resources.requests, "limits": resources.limits}
    return {name: amounts for name, amounts in named.items() if amounts}
