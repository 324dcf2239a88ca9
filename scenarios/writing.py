"""A plain cluster as a scenario file: what `read_scenario` reads back as the same cluster and scope."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime, timedelta

from ..model.environment.objects import ClusterSpec, Node, Pod, Scope
from .reader.values.yaml_values import one_line

_FIRST = datetime(2000, 1, 1)


def scenario_text(
    spec: ClusterSpec,
    *,
    name: str,
    title: str,
    release: str,
    properties: Sequence[str],
    comment: str = "",
    gates: Sequence[tuple[str, bool]] = (),
) -> str:
    """The text of a scenario with this cluster.

    The cluster may have what an template has: sizes, priorities, where pods are at the start, whether deletion is graceful.
    A size of s means s cores, s GiB of memory, or s of any other resource. Raises ValueError for anything else.
    """
    lines = [f"# {one_line(line, len(line))}" for line in comment.splitlines()]
    lines += [
        f"name: {name}",
        f"title: {title}",
        f'release: "{release}"',
        *([f"featureGates: {_flow({name: str(on).lower() for name, on in gates})}"] if gates else ()),
        f"properties: [{', '.join(properties)}]",
    ]
    lines += ["nodes:", *(f"  {node.name}: {_flow(_node(node))}" for node in spec.nodes)]
    lines += ["pods:", *(f"  {pod.name}: {_flow(_pod(pod))}" for pod in spec.pods)]
    lines += [f"scope: {_flow(dict(_scope(spec.scope)))}"]
    return "\n".join(lines) + "\n"


def _flow(table: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in table.items()) + "}"


def _node(node: Node) -> dict[str, str]:
    if (
        node.taints
        or node.unschedulable
        or not node.exists
        or node.pods is not None
        or node.later
        or node.features
        or not node.ready
    ):
        raise ValueError(f"node {node.name} has more than sizes: it cannot be written")
    return _sizes(node._allocatable)


def _pod(pod: Pod) -> dict[str, str]:
    if (
        pod.terms
        or pod.tolerations
        or pod.node_selector
        or pod.node_affinity
        or pod.spread
        or pod.wishes.spread
        or pod.wishes.nodes
        or not pod.exists
        or not pod.preempts
        or pod.gated
        or pod.recreates is not None
        or pod.finalizers
        or pod.host_ports
        or pod.finishes
        or pod.extender_selector
        or pod.features
        or pod.later
    ):
        raise ValueError(f"pod {pod.name} has more than sizes and a priority: it cannot be written")
    found = {**_sizes(pod._requests), "priority": str(pod.priority.value)}
    if pod.node is None:
        found["creationTimestamp"] = (_FIRST + timedelta(seconds=pod.arrival)).strftime("%Y-%m-%dT%H:%M:%SZ")
    if pod.node is not None:
        found["nodeName"] = pod.node.name
    if not pod.graceful:
        found["terminationGracePeriodSeconds"] = "0"
    return found


def _sizes(amounts: Mapping[str, object]) -> dict[str, str]:
    sizes = {resource: str(size) for resource, size in amounts.items() if size or resource == "cpu"}
    return {r: f"{size}Gi" if r in ("memory", "ephemeral-storage") else size for r, size in sizes.items()}


def _scope(scope: Scope) -> Iterator[tuple[str, str]]:
    plain = Scope()
    for field in fields(Scope):
        value = getattr(scope, field.name)
        if aimed := scope.aimed(field.name):
            named = {section: f"[{', '.join(names)}]" for section, names in aimed.items()}
            yield field.name, _flow({"count": str(value), **named})
        elif field.name == "aims":
            continue
        elif field.name in ("pod_events", "node_events") or value != getattr(plain, field.name):
            yield field.name, str(value).lower() if isinstance(value, bool) else str(value)
