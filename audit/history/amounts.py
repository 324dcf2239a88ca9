"""What pods ask for and nodes have, out of the bodies of a log: the arithmetic is that of the manifests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec
import yaml

from ...manifests.manifest_files import Manifest
from ...manifests.resource_amounts import Amounts, parse_quantity, read_amounts, requests_of
from ...model.environment.placement_rules import Term
from ...scenarios.reader.directives import required_term
from ...scenarios.reader.yaml_values import ScenarioError
from ..reading.records import Container, ContainerStatus, Node, Pod, Quantity, Resources

PODS = "pods"
"""How many pods a node admits; each asks for one."""

Ports = frozenset[tuple[str, int, str]]
"""Protocol, number and address of ports on the node."""

_MARK = yaml.Mark("the log", 0, 0, 0, None, 0)
_SPEC = ("containers", "initContainers", "overhead", "resources")


class Range(msgspec.Struct, frozen=True):
    """What a pod asks for: at least and at most, where specification and status differ (a resize is under way)."""

    least: Amounts
    most: Amounts


def requests(pod: Pod) -> Range | None:
    """What the scheduler counts for a pod; None if that cannot be read."""
    statuses = {
        s.name: s for s in (*(pod.status.containerStatuses or ()), *(pod.status.initContainerStatuses or ()))
    }
    try:
        written = _requests(pod, None, statuses)
        if all(s.resources is None and s.allocatedResources is None for s in statuses.values()):
            return Range(written, written)
        low, high = _requests(pod, min, statuses), _requests(pod, max, statuses)
    except (ScenarioError, ValueError):
        return None
    return Range(low, high)


def allocatable(node: Node) -> Amounts | None:
    """What a node can allocate; None if that cannot be read."""
    written = node.status.allocatable
    if written is None:
        return None
    try:
        found = read_amounts(as_manifest({k: v for k, v in written.items() if k != PODS}))
    except (ScenarioError, ValueError):
        return None
    number = parse_quantity(str(written[PODS])) if PODS in written else None
    if number is not None and number.denominator == 1:
        found[PODS] = int(number)
    return found


def ports(pod: Pod) -> Ports:
    """The ports that a pod takes on its node."""
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
    except (ScenarioError, ValueError, msgspec.MsgspecError, RecursionError):
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


def _requests(pod: Pod, choose: Any, statuses: Mapping[str, ContainerStatus]) -> dict[str, int]:
    """The requests; with `choose`, of each container the lesser or greater of what is written and what it was given."""
    spec: dict[str, Any] = {
        "containers": [_container(c, choose, statuses) for c in pod.spec.containers],
        "initContainers": [_container(c, choose, statuses) for c in pod.spec.initContainers or ()] or None,
        "overhead": pod.spec.overhead,
        "resources": None if pod.spec.resources is None else _resources(pod.spec.resources),
    }
    fields = as_manifest({k: v for k, v in spec.items() if v is not None}).fields(_SPEC, "a specification")
    return {**requests_of(fields), PODS: 1}


def _container(container: Container, choose: Any, statuses: Mapping[str, ContainerStatus]) -> dict[str, Any]:
    asked = _resources(container.resources) if container.resources else {}
    status = statuses.get(container.name)
    if choose is not None and status is not None:
        given = [r for r in (status.resources and status.resources.requests, status.allocatedResources) if r]
        written = dict(asked.get("requests") or asked.get("limits") or {})
        for amounts in given:
            for resource in {*amounts, *written}:
                written[resource] = choose(
                    (written.get(resource, 0), amounts.get(resource, 0)),
                    key=lambda q: parse_quantity(str(q)) or 0,
                )
        asked = {"requests": written}
    found: dict[str, Any] = {"resources": asked} if asked else {}
    if container.restartPolicy:
        found["restartPolicy"] = container.restartPolicy
    return found


def _resources(resources: Resources) -> dict[str, dict[str, Quantity]]:
    named = {"requests": resources.requests, "limits": resources.limits}
    return {name: amounts for name, amounts in named.items() if amounts}
