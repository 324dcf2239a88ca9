"""From the sections of a file to the cluster that they describe.

The `nodes` section.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ...model.environment.objects import ClusterSpec, Node, Pod
from .budgets import read_budgets
from .directives import read_taints
from .document import Value
from .errors import one_line
from .labels import read_labels
from .names import Member, Members, read_members
from .pods import POD_FIELDS, read_namespaces, read_pod, start_order
from .ranges import integer_or_open, most_of
from .resources import RESOURCE_FIELDS, Amounts, read_amounts, refuse_overcommitted, refuse_oversize, units_of
from .settings import read_config, read_scope

CLUSTER_FIELDS = ("nodes", "pods", "namespaces", "podDisruptionBudgets", "scope", "config")


def read_cluster(top: Value, fields: Mapping[str, Value], name: str) -> ClusterSpec:
    """The cluster and its scope."""
    nodes, pods = _some(top, fields, "nodes", NODE_FIELDS), _some(top, fields, "pods", POD_FIELDS)
    has = {n: read_amounts(m.place, m.fields, "allocatable") for n, m in nodes.items()}
    asked = {n: read_amounts(m.place, m.fields, "requested") for n, m in pods.items()}
    units = units_of([*has.values(), *asked.values()])
    made = {n: read_node(i, n, m, units.scaled(has[n])) for i, (n, m) in enumerate(nodes.items())}
    namespaces, start = read_namespaces(fields.get("namespaces")), start_order(pods)
    made_pods = tuple(
        read_pod(i, n, m, units.scaled(asked[n]), made, namespaces, start.get(n))
        for i, (n, m) in enumerate(pods.items())
    )
    refuse_oversize(asked, has)
    _refuse_crowded(nodes, made_pods, has, asked)
    absent = {
        "pod_creations": [n for n, m in pods.items() if not m.exists],
        "node_creations": [n for n, m in nodes.items() if not m.exists],
    }
    scope = read_scope(fields.get("scope"), absent, {p for pod in made_pods for p in pod.extension_points})
    spec = ClusterSpec(
        name,
        made_pods,
        tuple(made.values()),
        replace(scope, config=read_config(fields.get("config"))),
        read_budgets(fields.get("podDisruptionBudgets"), pods),
    )
    names = [quantity.name for quantity in spec.unknown]
    for name in names:
        if names.count(name) > 1:
            top.fail(f"two ranges are both called {one_line(name)}: rename a pod or a resource")
    return spec


def _some(top: Value, fields: Mapping[str, Value], kind: str, known: tuple[str, ...]) -> Members:
    if kind not in fields:
        top.fail(f"the cluster has no {kind}: add at least one under `{kind}`")
    members = read_members(fields[kind], kind, known)
    if not members:
        fields[kind].fail(f"the cluster has no {kind}: add at least one")
    return members


def _refuse_crowded(
    nodes: Members, pods: tuple[Pod, ...], has: Mapping[str, Amounts], asked: Mapping[str, Amounts]
) -> None:
    for name, member in nodes.items():
        bound = {p.name: asked[p.name] for p in pods if p.node is not None and p.node.name == name}
        refuse_overcommitted(member.place, has[name], bound)
        room = member.fields.get("pods")
        if room is not None and len(bound) > most_of(integer_or_open(room, 0, MAX_PODS)):
            room.fail(
                f"{len(bound)} pods are bound to the node ({', '.join(bound)}): raise the number, or unbind a pod"
            )


NODE_FIELDS = (*RESOURCE_FIELDS, "pods", "labels", "taints", "unschedulable", "exists")

MAX_PODS = 1000


def read_node(index: int, name: str, member: Member, resources: dict[str, Any]) -> Node:
    """A node with these resources, as the model's constructor takes them."""
    fields = member.fields
    return Node(
        index,
        name,
        labels=read_labels(fields),
        exists=member.exists,
        pods=integer_or_open(fields["pods"], 0, MAX_PODS) if "pods" in fields else None,
        taints=read_taints(fields.get("taints")),
        unschedulable=fields["unschedulable"].boolean() if "unschedulable" in fields else False,
        **resources,
    )
