"""The sections `controllers` and `descheduler`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

from ....base.text import known_names
from ....model.environment.cluster.placement_rules import NODE_NAME
from ....model.environment.cluster.scope import Scope
from ....model.environment.cluster.workloads import OwnerKind, OwnerSpec, StrategyKind, StrategySpec
from ....model.environment.objects import NodeAffinity, NodeTerm, Operator, Pod, Requirement, Toleration
from ..values.labels import (
    MAX_ENTITIES,
    Members,
    label_key,
    read_labels,
    read_members,
    read_name,
    selector_in,
)
from ..values.yaml_values import Value

CONTROLLER_FIELDS = (
    "kind", "pods", "replicas", "completions", "podReplacementPolicy", "podManagementPolicy",
)  # fmt: skip
REPLACEMENT = ("TerminatingOrFailed", "Failed")
MANAGEMENT = ("OrderedReady", "Parallel")
STRATEGIES = tuple(kind.value for kind in StrategyKind)
ARGUMENTS: Mapping[StrategyKind, tuple[str, ...]] = {
    StrategyKind.NODE_TAINTS: (),
    StrategyKind.NODE_AFFINITY: ("prefers",),
    StrategyKind.SPREAD: ("topologyKey", "maxSkew", "matchLabels", "matchExpressions"),
    StrategyKind.DUPLICATES: (),
    StrategyKind.LOW_UTILIZATION: ("thresholds", "targetThresholds"),
}
STRATEGY_FIELDS = ("nodeFit", *(name for names in ARGUMENTS.values() for name in names))
MAX_REPLICAS, MAX_SHARE, MOST_SKEW = 8, 100, 8

_OF_KIND = {
    "replicas": (OwnerKind.REPLICA_SET, OwnerKind.DEPLOYMENT),
    "completions": (OwnerKind.JOB,),
    "podReplacementPolicy": (OwnerKind.JOB,),
    "podManagementPolicy": (OwnerKind.STATEFUL_SET,),
}
_NOT_OWNED = (
    "recreates", "resourceClaims", "volumes", "podGroup", "updates", "extensionPoints", "startTime", "ignore",
)  # fmt: skip
_PLACE = ("nodeName", "exists", "creationTimestamp")

DAEMON_TOLERATIONS = (
    Toleration("node.kubernetes.io/not-ready", "Exists", effect="NoExecute"),
    Toleration("node.kubernetes.io/unreachable", "Exists", effect="NoExecute"),
    *(
        Toleration(f"node.kubernetes.io/{taint}", "Exists", effect="NoSchedule")
        for taint in ("disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")
    ),
)
"""What the DaemonSet controller adds to its pods (AddOrUpdateDaemonPodTolerations in pkg/controller/daemon/util, 1.36)."""


def read_controllers(
    section: Value | None, pods: Members, made: Sequence[Pod], nodes: Sequence[str]
) -> tuple[tuple[OwnerSpec, ...], tuple[Pod, ...]]:
    """The controllers, and the pods as their controllers make them."""
    if section is None:
        return (), tuple(made)
    members = read_members(
        section, "controllers", CONTROLLER_FIELDS, "{kind: ReplicaSet, pods: [web-a, web-b]}"
    )
    owners, taken = [], dict[str, str]()
    for name, member in members.items():
        owner = _owner(name, member.place, member.fields, nodes)
        for _, names in owner.slots:
            _refuse_pods(member.fields["pods"], owner, names, pods, taken)
        owners.append(owner)
    for_nodes = {
        p: place for o in owners if o.kind is OwnerKind.DAEMON_SET for place, ps in o.slots for p in ps
    }
    return tuple(owners), tuple(_daemon_pod(p, for_nodes[p.name]) if p.name in for_nodes else p for p in made)


def _owner(name: str, place: Value, fields: Mapping[str, Value], nodes: Sequence[str]) -> OwnerSpec:
    for needed in ("kind", "pods"):
        if needed not in fields:
            place.fail(f"`{needed}` is missing: a controller has a `kind` and `pods`")
    kind = OwnerKind(fields["kind"].one_of([k.value for k in OwnerKind], "a controller"))
    for field, kinds in _OF_KIND.items():
        if field in fields and kind not in kinds:
            fields[field].fail(f"a {kind.value} has no `{field}`: remove it")
    slots = _slots(fields["pods"], kind, nodes)
    count = fields.get("completions") or fields.get("replicas")
    replicas = 1 if count is None else count.integer(1, MAX_REPLICAS)
    if kind in (OwnerKind.STATEFUL_SET, OwnerKind.DAEMON_SET):
        replicas = len(slots)
    elif len(slots[0][1]) < replicas:
        assert count is not None
        count.fail(f"there are {len(slots[0][1])} pods for {replicas}: add pods, or want fewer")
    return OwnerSpec(
        name,
        kind,
        replicas,
        slots,
        _word(fields, "podManagementPolicy", MANAGEMENT, "a policy") == "Parallel",
        _word(fields, "podReplacementPolicy", REPLACEMENT, "a policy") == "Failed",
    )


def _word(fields: Mapping[str, Value], name: str, known: Sequence[str], what: str) -> str:
    return fields[name].one_of(known, what) if name in fields else known[0]


def _slots(value: Value, kind: OwnerKind, nodes: Sequence[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if kind is OwnerKind.DAEMON_SET:
        slots = []
        for key, names in value.items(
            "a mapping from nodes to the pods that are made for each, such as {n1: [agent]}"
        ):
            node = read_name(key)
            if node not in nodes:
                key.fail(f"there is no node {key.described}; {known_names(node, nodes)}")
            slots.append((node, _names(names)))
        found = tuple(slots)
    elif kind is OwnerKind.STATEFUL_SET:
        found = tuple((str(ordinal), (name,)) for ordinal, name in enumerate(_names(value)))
    else:
        found = (("", _names(value)),)
    if not found or not all(names for _, names in found):
        value.fail("a controller without pods does nothing: name those that it may make")
    return found


def _names(value: Value) -> tuple[str, ...]:
    return tuple(element.scalar("the name of a pod") for element in value.elements("a list of pods"))


def _refuse_pods(
    place: Value, owner: OwnerSpec, names: Sequence[str], pods: Members, taken: dict[str, str]
) -> None:
    """Refuse pods that there are not, that belong to two owners, that differ, or that are more than their owner wants."""
    for name in names:
        if name not in pods:
            place.fail(f"there is no pod `{name}`; {known_names(name, pods)}")
        if name in taken:
            place.fail(f"pod `{name}` belongs to {taken[name]} already: remove it from one of them")
        taken[name] = owner.name
        for other in _NOT_OWNED:
            if other in pods[name].fields:
                pods[name].fields[other].fail(
                    f"of a pod that a controller makes anew again and again, this is not modelled: remove `{other}`, or the pod from {owner.name}"
                )
        if any("recreates" in m.fields and m.fields["recreates"].node.value == name for m in pods.values()):
            place.fail(
                f"another pod takes the name of `{name}` once: remove `recreates` there, or the pod here"
            )
    templates = {
        name: {k: _plain(v) for k, v in pods[name].fields.items() if k not in _PLACE} for name in names
    }
    for name in names:
        if templates[name] != templates[names[0]]:
            pods[name].place.fail(
                f"it differs from {names[0]}, and {owner.name} makes all its pods from one template: write the same for both"
            )
    wanted = 1 if owner.kind in (OwnerKind.STATEFUL_SET, OwnerKind.DAEMON_SET) else owner.replicas
    if sum(pods[name].exists for name in names) > wanted:
        place.fail(
            f"{owner.name} wants {wanted}, and more are there at the start: add `exists: false` to some"
        )


def _plain(value: Value) -> Any:
    if value.is_mapping:
        return sorted((str(key.node.value), _plain(inner)) for key, inner in value.items("a mapping"))
    if value.is_list:
        return [_plain(element) for element in value.elements("a list")]
    return value.node.value


def _daemon_pod(pod: Pod, node: str) -> Pod:
    """The pod as its controller makes it for a node: it asks for that node by name, and has the tolerations that all such pods get."""
    named = Requirement(NODE_NAME, Operator.IN, (node,))
    other = copy(pod)
    terms = pod.node_affinity.terms if pod.node_affinity is not None else (NodeTerm(),)
    other.node_affinity = NodeAffinity(tuple(NodeTerm(term.expressions, (named,)) for term in terms))
    other.tolerations = (*pod.tolerations, *DAEMON_TOLERATIONS)
    return other


def read_descheduler(section: Value | None) -> tuple[StrategySpec, ...]:
    """The plugins of the descheduler that are enabled, with their arguments."""
    if section is None:
        return ()
    wanted = "a mapping from plugins to arguments, such as {RemovePodsViolatingNodeTaints: {}}"
    given = section.fields(STRATEGIES, wanted)
    if not given:
        section.fail("a descheduler without plugins does nothing: name one, or remove it")
    return tuple(_strategy(StrategyKind(name), value) for name, value in given.items())


def _strategy(kind: StrategyKind, value: Value) -> StrategySpec:
    fields = value.fields(STRATEGY_FIELDS, "a mapping of arguments, {} for none")
    for name, argument in fields.items():
        if name not in ("nodeFit", *ARGUMENTS[kind]):
            argument.fail(f"{kind.value} has no such argument: remove it")
    arguments: dict[str, Any] = {"node_fit": fields["nodeFit"].boolean()} if "nodeFit" in fields else {}
    match kind:
        case StrategyKind.NODE_AFFINITY:
            arguments["prefers"] = read_labels(fields, "prefers")
        case StrategyKind.SPREAD:
            if "topologyKey" not in fields:
                value.fail("`topologyKey` is missing: say over which label of nodes pods are spread")
            arguments |= {
                "topology_key": label_key(fields["topologyKey"]),
                "max_skew": fields["maxSkew"].integer(1, MOST_SKEW) if "maxSkew" in fields else 1,
                "selector": selector_in(fields),
            }
        case StrategyKind.LOW_UTILIZATION:
            for needed in ARGUMENTS[kind]:
                if needed not in fields:
                    value.fail(f"`{needed}` is missing: give the share of a node's CPU, in per cent")
            arguments |= {
                "low": fields["thresholds"].integer(1, MAX_SHARE),
                "high": fields["targetThresholds"].integer(1, MAX_SHARE),
            }
    return StrategySpec(kind, **arguments)


def refuse_descheduler(
    sections: Mapping[str, Value], owners: Sequence[OwnerSpec], scope: Scope, budgets: Sequence[object]
) -> None:
    """Refuse what a scope or a descheduler says of controllers that there are not, and evictions that budgets which stay as they are would count."""
    if "descheduler" in sections and not owners:
        sections["descheduler"].fail("the descheduler evicts no pod without an owner: add `controllers`")
    if "descheduler" in sections and budgets and not scope.disruption_controller:
        sections["descheduler"].fail(
            "evictions take from budgets that are kept: add `disruption_controller: true` to `scope`"
        )


__all__ = [
    "CONTROLLER_FIELDS",
    "MANAGEMENT",
    "MAX_ENTITIES",
    "MAX_REPLICAS",
    "MAX_SHARE",
    "MOST_SKEW",
    "REPLACEMENT",
    "STRATEGIES",
    "STRATEGY_FIELDS",
    "read_controllers",
    "read_descheduler",
    "refuse_descheduler",
]
