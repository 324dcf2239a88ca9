"""What pods ask for and nodes have, out of the bodies of a log: the arithmetic is that of the manifests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import msgspec

from ...base.problems import Problem
from ...manifests.reading.manifest_files import documents
from ...manifests.reading.resource_amounts import (
    RESTARTS,
    Amounts,
    Asked,
    amounts_of,
    parse_quantity,
    total_of,
)
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

_ENCODER = msgspec.msgpack.Encoder()
_KEPT: dict[bytes, Range | None] = {}
_MOST_KEPT = 4096


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
    except ValueError:
        return None
    claimed = {c.resourceName for c in _claimed(pod)}
    return Range({k: v for k, v in low.items() if k not in claimed} if claimed else low, high)


def written_requests(pod: Pod) -> Amounts | None:
    """What a pod's specification asks for, whatever it was given; None if that cannot be read."""
    try:
        return _requests(pod, None, {})
    except ValueError:
        return None


def allocatable(node: Node) -> Amounts | None:
    """What a node can allocate; None if that cannot be read."""
    written = node.status.allocatable
    if written is None:
        return None
    try:
        found = amounts_of({k: v for k, v in written.items() if k != PODS})
    except ValueError:
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
        terms = [_term(bytes(raw)) for raw in written]
    except (Problem, ValueError):
        return None
    own = (pod.metadata.namespace or "default",)
    return tuple(
        term if term.namespaces or term.namespace_selector is not None else replace(term, namespaces=own)
        for term in terms
    )


@lru_cache(maxsize=_MOST_KEPT)
def _term(written: bytes) -> Term:
    """A term as it stands in the log, which manifests' reader reads; pods of one controller have the same."""
    (top,) = documents(written.decode(), "the log")
    return required_term(top, True)


def _sidecars(pod: Pod) -> list[Container]:
    return [c for c in pod.spec.initContainers or () if c.restartPolicy == "Always"]


def _claimed(pod: Pod) -> list[ClaimedResource]:
    """What a ResourceClaim provides, and no node (DRAExtendedResource)."""
    claims = pod.status.extendedResourceClaimStatus
    return claims.requestMappings if claims else []


Choose = Callable[..., Any]
"""`min` or `max`."""


def _requests(pod: Pod, choose: Choose | None, statuses: Mapping[str, ContainerStatus]) -> dict[str, int]:
    """The requests; with `choose`, of each container the lesser or greater of what is written and what it was given. Raises ValueError where the API server would refuse."""
    spec, first = pod.spec, pod.spec.initContainers or ()
    if not spec.containers or any(c.restartPolicy and c.restartPolicy not in RESTARTS for c in first):
        raise ValueError("no container, or one that starts first with an unknown restart policy")

    def of(container: Container) -> Amounts:
        return _asked(container.resources, statuses.get(container.name), choose).counted

    running = [of(c) for c in spec.containers]
    starting = [(of(c), c.restartPolicy == "Always") for c in first]
    whole = None if spec.resources is None else _asked(spec.resources, pod.status, choose)
    return {**total_of(running, starting, whole, amounts_of(spec.overhead)), PODS: 1}


def _asked(
    resources: Resources | None, status: ContainerStatus | PodStatus | None, choose: Choose | None
) -> Asked:
    written = resources or Resources()
    if choose is not None and status is not None:
        written = _chosen(written, status, choose)
    asked = Asked(amounts_of(written.requests), amounts_of(written.limits))
    if asked.excessive:
        raise ValueError("a request is more than its limit")
    return asked


def _chosen(asked: Resources, status: ContainerStatus | PodStatus, choose: Choose) -> Resources:
    """Of each resource the lesser or greater of what is written and what was given."""
    given = [r for r in (status.resources and status.resources.requests, status.allocatedResources) if r]
    written: dict[str, Quantity] = dict(asked.requests or asked.limits or {})
    others = isinstance(status, ContainerStatus)  # of a whole pod, only what its specification has is counted
    for amounts in given:
        for resource in {*amounts, *written} if others else set(written):
            written[resource] = choose(
                (written.get(resource, 0), amounts.get(resource, 0)),
                key=lambda q: parse_quantity(str(q)) or 0,
            )
    return Resources(written)
