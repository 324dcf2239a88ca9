"""From the sections of a file to the cluster that they describe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

from ...base.text import one_line
from ...model.environment.cluster.node_versions import INITIAL, versions_of
from ...model.environment.cluster.pod_versions import is_directed_anew, may_become, narrows, pod_versions_of
from ...model.environment.controllers.autoscaler import is_leaving
from ...model.environment.objects import (
    ClusterSpec,
    ExtensionPoint,
    Node,
    Pod,
)
from .sections.autoscaler_bounds import refuse_autoscaler, refuse_named_nodes
from .sections.budget_section import read_budgets, refuse_readiness, refuse_uncounted
from .sections.claim_section import (
    add_made_claims,
    add_special_claims,
    read_claims,
    read_device_classes,
    read_devices,
    read_templates,
    refuse_backed,
    refuse_claims,
    special_claim,
    take_backed,
)
from .sections.config_section import read_config, refuse_unscored, refuse_wishes
from .sections.controller_section import read_controllers, read_descheduler, refuse_descheduler
from .sections.extender_section import read_extenders, refuse_extenders
from .sections.gate_section import read_keepers, refuse_keepers
from .sections.group_section import read_groups, refuse_groups
from .sections.health_section import read_healths
from .sections.pod_section import (
    POD_FIELDS,
    POD_VERSION_FIELDS,
    arrival_order,
    read_features,
    read_namespaces,
    read_pod,
    refuse_foreign,
    refuse_names,
    start_order,
)
from .sections.scope_section import SCOPE_FIELDS, read_scope
from .sections.volume_section import (
    mark_exclusive,
    read_classes,
    read_volume_claims,
    read_volumes,
    refuse_mounts,
)
from .values.directives import read_taints
from .values.labels import Member, Members, label_key, read_labels, read_members, read_name
from .values.ranges import Range, integer_or_range, most_of
from .values.resources import (
    RESOURCE_FIELDS,
    Amounts,
    read_amounts,
    refuse_overcommitted,
    refuse_oversize,
    units_of,
)
from .values.yaml_values import Value

CLUSTER_FIELDS = (
    "nodes",
    "pods",
    "namespaces",
    "podDisruptionBudgets",
    "devices",
    "resourceClaims",
    "resourceClaimTemplates",
    "deviceClasses",
    "storageClasses",
    "volumes",
    "volumeClaims",
    "podGroups",
    "controllers",
    "descheduler",
    "gateKeepers",
    "extender",
    "extenders",
    "scope",
    "config",
)


def read_cluster(top: Value, fields: Mapping[str, Value], name: str) -> ClusterSpec:
    """The cluster and its scope."""
    nodes, pods = _some(top, fields, "nodes", NODE_FIELDS), _some(top, fields, "pods", POD_FIELDS)
    has = {n: read_amounts(m.place, m.fields, "allocatable") for n, m in nodes.items()}
    asked = {n: read_amounts(m.place, m.fields, "requested") for n, m in pods.items()}
    backed = take_backed(asked, has, pods, read_device_classes(fields.get("deviceClasses")))
    becomes = {n: read_updates("node", n, m, VERSION_FIELDS) for n, m in nodes.items()}
    later = {n: {w: _later_amounts("node", v) for w, v in found.items()} for n, found in becomes.items()}
    pods_become = {n: read_updates("pod", n, m, POD_VERSION_FIELDS) for n, m in pods.items()}
    pods_later = {
        n: {w: _later_amounts("pod", v) for w, v in found.items()} for n, found in pods_become.items()
    }
    changed = [a for table in (later, pods_later) for some in table.values() for a in some.values()]
    units = units_of([*has.values(), *changed, *asked.values()])
    made = {
        n: read_node(
            i,
            n,
            m,
            units.scaled(has[n]),
            {w: (v, units.scaled(later[n][w])) for w, v in becomes[n].items()},
        )
        for i, (n, m) in enumerate(nodes.items())
    }
    namespaces = read_namespaces(fields.get("namespaces"))
    start, arrival = start_order(pods), arrival_order(pods)
    made_pods = tuple(
        read_pod(
            i,
            n,
            m,
            units.scaled(asked[n]) | ({"extended_claim": special_claim(n)} if n in backed else {}),
            made,
            namespaces,
            start.get(n),
            arrival.get(n, 0),
            {w: (v, units.scaled(pods_later[n][w])) for w, v in pods_become[n].items()},
        )
        for i, (n, m) in enumerate(pods.items())
    )
    as_read = made_pods
    owners, made_pods = read_controllers(fields.get("controllers"), pods, as_read, list(made))
    owned = {name for owner in owners for _, names in owner.slots for name in names}
    refuse_names(pods)
    refuse_foreign(pods)
    refuse_backed(pods, made_pods, owned)
    refuse_oversize({n: amounts for n, amounts in asked.items() if not pods_become[n]}, has)
    _refuse_crowded(nodes, made_pods, has, asked)
    classes = read_classes(fields.get("storageClasses"))
    volumes = read_volumes(fields.get("volumes"), classes, made)
    volume_claims = read_volume_claims(fields.get("volumeClaims"), classes, volumes, fields.get("volumes"))
    mark_exclusive(made_pods, volume_claims)
    refuse_mounts(pods, made_pods, volume_claims)
    devices = read_devices(fields.get("devices"), made)
    templates = read_templates(fields.get("resourceClaimTemplates"))
    claims = read_claims(fields.get("resourceClaims"), devices, made_pods)
    claims = add_made_claims(claims, pods, made_pods, templates)
    claims = add_special_claims(claims, fields.get("resourceClaims"), backed)
    refuse_claims(pods, made_pods, claims)
    keepers = read_keepers(fields.get("gateKeepers"), made_pods)
    refuse_keepers(fields.get("gateKeepers"), pods, made_pods, owned)
    directed = {name for keeper in keepers for name in keeper.directs}
    absent = {
        "pod_creations": [n for n, m in pods.items() if not m.exists and n not in owned],
        "node_creations": [n for n, m in nodes.items() if not m.exists and not _is_on(fields, "autoscaler")],
        "node_updates": [
            v.name
            for v in versions_of(made.values())
            if v.content is not v.node and not (_is_on(fields, "scale_down_taints") and is_leaving(v))
        ],
        "pod_updates": [
            v.name for v in pod_versions_of(made_pods) if v.content is not v.pod and v.name not in directed
        ],
        "volume_creations": [
            *[v.name for v in volumes.values() if not v.exists and v.provisioned_for is None],
            *[c.name for c in volume_claims.values() if not c.exists],
        ],
        "claim_creations": [c.name for c in claims.values() if not c.exists and c.owner is None],
    }
    budgets = read_budgets(fields.get("podDisruptionBudgets"), pods)
    written = {**units.written(_of("node", has)), **units.written(_of("pod", asked))}
    groups = read_groups(fields.get("podGroups"))
    points = {p for pod in made_pods for p in pod.extension_points}
    if groups:
        points.add(ExtensionPoint.PERMIT)
    named = {
        "pods": list(pods),
        "nodes": list(made),
        "volumes": list(volumes),
        "volumeClaims": list(volume_claims),
        "resourceClaims": list(claims),
        "controllers": [owner.name for owner in owners],
    }
    there = {n for n, section in fields.items() if section.node.value or n == "extender"}
    scope = read_scope(fields.get("scope"), absent, there | {point.value for point in points}, named)
    read_healths(scope, nodes, made, has)
    refuse_groups(pods, made_pods, groups)
    strategies = read_descheduler(fields.get("descheduler"))
    refuse_autoscaler(fields.get("scope"), scope, made, budgets)
    if scope.autoscaler:
        refuse_named_nodes(pods, as_read, fields.get("volumes"), volumes)
    refuse_descheduler(fields, owners, scope, budgets)
    config = read_config(fields.get("config"))
    refuse_wishes(pods, made_pods, config)
    refuse_unscored(fields.get("config"), made.values(), made_pods, config)
    extenders = read_extenders(fields, list(made))
    refuse_extenders(
        fields, extenders, pods, made_pods, list(made.values()), replace(scope, config=config), owned
    )
    _refuse_updates(pods, made_pods, config.scored, "podDisruptionBudgets" in fields)
    if config.scored:
        _refuse_scored_labels(nodes, made)
    refuse_readiness(top, fields, pods, budgets, scope)
    if scope.disruption_controller:
        refuse_uncounted(top, made_pods, budgets, scope.readiness)
    spec = ClusterSpec(
        name,
        made_pods,
        tuple(made.values()),
        replace(scope, config=config),
        budgets,
        tuple(devices.values()),
        tuple(claims.values()),
        tuple(groups.values()),
        units.shown(written),
        written,
        tuple(volumes.values()),
        tuple(volume_claims.values()),
        owners,
        strategies,
        keepers,
        extenders,
    )
    names = [quantity.name for quantity in spec.unknown]
    for name in names:
        if names.count(name) > 1:
            top.fail(f"two ranges are both called {one_line(name)}: rename a pod or a resource")
    return spec


def _is_on(fields: Mapping[str, Value], name: str) -> bool:
    """Whether the scope switches something on: then an autoscaler makes the nodes that are not there, or puts its taint on those that are."""
    scope = fields.get("scope")
    given = scope.fields(SCOPE_FIELDS, "a mapping of bounds") if scope is not None else {}
    return name in given and given[name].boolean()


def _of(kind: str, amounts: Mapping[str, Amounts]) -> dict[str, Amounts]:
    return {f"{kind} {name}": some for name, some in amounts.items()}


def _some(top: Value, fields: Mapping[str, Value], kind: str, known: tuple[str, ...]) -> Members:
    if kind not in fields:
        top.fail(f"the cluster has no {kind}: add at least one under `{kind}`")
    members = read_members(fields[kind], kind, known)
    if not members:
        fields[kind].fail(f"the cluster has no {kind}: add at least one")
    return members


def _refuse_scored_labels(nodes: Members, made: Mapping[str, Node]) -> None:
    for name, node in made.items():
        if any(version.labels != node.labels for version in node.later.values()):
            nodes[name].fields["updates"].fail(
                "scores look at the labels that a node has at first: let no update change labels, or remove `scored: true`"
            )


def _refuse_updates(pods: Members, made: tuple[Pod, ...], scored: bool, budgets: bool) -> None:
    for pod in made:
        section = pods[pod.name].fields.get("updates")
        if section is None:
            continue
        for word, value in section.items("a mapping from names to what changes"):
            version = pod.later[read_name(word)]
            if is_directed_anew(pod, version) and not pod.gated:
                value.fail(
                    "what a pod asks of its node stays once it has no scheduling gates: give it `schedulingGates`, or leave nodeSelector and nodeAffinity as they are"
                )
            if not narrows(pod, version):
                value.fail(
                    "what a gated pod asks of its node can be narrowed, not widened: name the labels and the requirements that it has at first, too"
                )
            if not may_become(pod, version):
                value.fail(
                    "tolerations can be added, not taken away: name those that the pod has at first, too"
                )
            if version.spread != pod.spread:
                value.fail(
                    "matchLabelKeys of its topology spread constraints names a label that the update changes, and which value counts depends on the release: leave that label as it is"
                )
            if version.labels != pod.labels and scored:
                value.fail(
                    "scores look at the labels that a pod has at first: let no update change labels, or remove `scored: true`"
                )
            if version.labels != pod.labels and budgets:
                value.fail(
                    "budgets look at the labels that a pod has at first: let no update change labels, or remove the budgets"
                )


def _refuse_crowded(
    nodes: Members, pods: tuple[Pod, ...], has: Mapping[str, Amounts], asked: Mapping[str, Amounts]
) -> None:
    for name, member in nodes.items():
        bound = {p.name: asked[p.name] for p in pods if p.node is not None and p.node.name == name}
        refuse_overcommitted(member.place, has[name], bound)
        room = member.fields.get("pods")
        if room is not None and len(bound) > most_of(integer_or_range(room, 0, MAX_PODS)):
            room.fail(
                f"{len(bound)} pods are bound to the node ({', '.join(bound)}): raise the number, or unbind a pod"
            )
        there = [p for p in pods if p.name in bound]
        for pod, other in combinations(there, 2):
            if pod.wants_port_of(other):
                member.place.fail(
                    f"{pod.name} and {other.name}, which are bound to the node, want the same host port: unbind one of them"
                )


VERSION_FIELDS = (
    *RESOURCE_FIELDS,
    "pods",
    "labels",
    "taints",
    "unschedulable",
    "conditions",
    "declaredFeatures",
)
NODE_FIELDS = (*VERSION_FIELDS, "exists", "updates")

MAX_PODS = 1000
MAX_VERSIONS = 8

Fields = Mapping[str, Value]


def read_updates(kind: str, name: str, member: Member, known: tuple[str, ...]) -> dict[str, Fields]:
    """What an object may be updated to: by a name, the fields that change, of those `known`, on top of those that stay."""
    section = member.fields.get("updates")
    found: dict[str, Fields] = {}
    for key, value in section.items("a mapping from names to what changes") if section is not None else ():
        word = read_name(key)
        if word == INITIAL:
            key.fail(f"`{INITIAL}` is what the {kind} is at first: give the update another name")
        example, field = _EXAMPLES[kind]
        fields = value.fields(known, f"a mapping such as {example}")
        if not fields:
            value.fail(f"the update changes nothing: name a field, such as `{field}`")
        found[word] = {n: v for n, v in member.fields.items() if n != "updates"} | fields
    if section is not None and not 0 < len(found) < MAX_VERSIONS:
        section.fail(f"give {kind} {name} 1 to {MAX_VERSIONS - 1} updates")
    return found


_EXAMPLES = {
    "node": ("{unschedulable: true}", "taints: []"),
    "pod": ("{cpu: 2}", "labels: {}"),
}


def _later_amounts(kind: str, fields: Fields) -> Amounts:
    """What a node has, or a pod asks for, in a version. A range is refused: which change an update is must be known beforehand."""
    place = next(iter(fields.values()))
    amounts = read_amounts(place, fields, "allocatable" if kind == "node" else "requested")
    for resource, amount in amounts.amount.items():
        if isinstance(amount, Range):
            amounts.place[resource].fail(
                f"a {kind} with updates has no ranges: give one amount, or remove the updates"
            )
    return amounts


def read_node(
    index: int,
    name: str,
    member: Member,
    resources: dict[str, Any],
    later: Mapping[str, tuple[Fields, dict[str, Any]]],
) -> Node:
    """A node with these resources, as the model's constructor takes them, and the versions of its object."""
    versions = {word: _version(index, name, fields, sizes) for word, (fields, sizes) in later.items()}
    return _version(index, name, member.fields, resources, exists=member.exists, later=versions)


def _version(index: int, name: str, fields: Fields, resources: dict[str, Any], **others: Any) -> Node:
    return Node(
        index,
        name,
        labels=read_labels(fields),
        pods=integer_or_range(fields["pods"], 0, MAX_PODS) if "pods" in fields else None,
        taints=read_taints(fields.get("taints")),
        unschedulable=fields["unschedulable"].boolean() if "unschedulable" in fields else False,
        conditions=_conditions(fields.get("conditions")),
        features=read_features(fields.get("declaredFeatures")),
        **resources,
        **others,
    )


STATUSES = ("True", "False", "Unknown")


def _conditions(value: Value | None) -> dict[str, str]:
    """The conditions of a node, by type."""
    pairs = (
        value.items("a mapping from types to statuses, such as {Ready: Unknown}") if value is not None else ()
    )
    return {label_key(kind): status.one_of(STATUSES, "a status") for kind, status in pairs}
