"""The sections `controllers` and `descheduler`."""

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from typing import Any

from ....base.text import known_names
from ....model.environment.cluster.placement_rules import NODE_NAME
from ....model.environment.cluster.workloads import OwnerKind, OwnerSpec, StrategyKind, StrategySpec
from ....model.environment.objects import NodeAffinity, NodeTerm, Operator, Pod, Requirement, Toleration
from ...tables.actors import CONTROLLERS, DESCHEDULER, PLUGINS
from ...tables.selectors import selector_in
from ...values.labels import Members, read_name, refuse_fields
from ...values.yaml_values import Value
from .draft import Draft

ARGUMENTS: Mapping[StrategyKind, tuple[str, ...]] = {
    StrategyKind.NODE_TAINTS: (),
    StrategyKind.NODE_AFFINITY: ("prefers",),
    StrategyKind.SPREAD: ("topologyKey", "maxSkew", "matchLabels", "matchExpressions"),
    StrategyKind.DUPLICATES: (),
    StrategyKind.LOW_UTILIZATION: ("thresholds", "targetThresholds"),
}

_NEEDED = {
    StrategyKind.SPREAD: {"topologyKey": "say over which label of nodes pods are spread"},
    StrategyKind.LOW_UTILIZATION: dict.fromkeys(
        ("thresholds", "targetThresholds"), "give the share of a node's CPU, in per cent"
    ),
}

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


def read_controllers(draft: Draft) -> None:
    """The controllers, and the pods as their controllers make them."""
    example = "{kind: ReplicaSet, pods: [web-a, web-b]}"
    owners, taken = [], dict[str, str]()
    for name, member in draft.members("controllers", "controllers", CONTROLLERS, example).items():
        owner = _owner(name, member.place, member.fields, draft.nodes)
        for _, names in owner.slots:
            _refuse_pods(member.fields["pods"], owner, names, draft.pod_members, taken)
        owners.append(owner)
    draft.owners = tuple(owners)
    for_nodes = {
        p: place for o in owners if o.kind is OwnerKind.DAEMON_SET for place, ps in o.slots for p in ps
    }
    draft.pods = tuple(_daemon_pod(p, for_nodes[p.name]) if p.name in for_nodes else p for p in draft.as_read)


def _owner(name: str, place: Value, fields: Mapping[str, Value], nodes: Collection[str]) -> OwnerSpec:
    CONTROLLERS.require(place, fields)
    kind = OwnerKind(CONTROLLERS["kind"].value(fields["kind"]))
    for field, kinds in _OF_KIND.items():
        if field in fields and kind not in kinds:
            fields[field].fail(f"a {kind.value} has no `{field}`: remove it")
    slots = _slots(fields["pods"], kind, nodes)
    count = fields.get("completions") or fields.get("replicas")
    replicas = 1 if count is None else CONTROLLERS["replicas"].value(count)
    if kind in (OwnerKind.STATEFUL_SET, OwnerKind.DAEMON_SET):
        replicas = len(slots)
    elif len(slots[0][1]) < replicas:
        assert count is not None
        count.fail(f"there are {len(slots[0][1])} pods for {replicas}: add pods, or want fewer")
    return OwnerSpec(name, kind, replicas, slots, **CONTROLLERS.read(fields))


def _slots(value: Value, kind: OwnerKind, nodes: Collection[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
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
        why = "of a pod that a controller makes again and again, this is not modelled: remove `{}`, or the pod from "
        refuse_fields(pods[name].fields, _NOT_OWNED, why + owner.name)
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


def read_descheduler(draft: Draft) -> None:
    """The plugins of the descheduler that are enabled, with their arguments."""
    section = draft.sections.get("descheduler")
    wanted = "a mapping from plugins to arguments, such as {RemovePodsViolatingNodeTaints: {}}"
    given = section.fields(DESCHEDULER.names, wanted) if section is not None else {}
    if section is not None and not given:
        section.fail("a descheduler without plugins does nothing: name one, or remove it")
    draft.strategies = tuple(_strategy(StrategyKind(name), value) for name, value in given.items())


def _strategy(kind: StrategyKind, value: Value) -> StrategySpec:
    fields = value.fields(PLUGINS.names, "a mapping of arguments, {} for none")
    for name, argument in fields.items():
        if name not in ("nodeFit", *ARGUMENTS[kind]):
            argument.fail(f"{kind.value} has no such argument: remove it")
    for needed, problem in _NEEDED.get(kind, {}).items():
        if needed not in fields:
            value.fail(f"`{needed}` is missing: {problem}")
    counted: dict[str, Any] = {"selector": selector_in(fields)} if kind is StrategyKind.SPREAD else {}
    return StrategySpec(kind, **PLUGINS.read(fields), **counted)


def refuse_descheduler(draft: Draft) -> None:
    """Refuse what a scope or a descheduler says of controllers that there are not, and evictions that budgets which stay as they are would count."""
    sections, owners, scope, budgets = draft.sections, draft.owners, draft.scope, draft.budgets
    if "descheduler" in sections and not owners:
        sections["descheduler"].fail("the descheduler evicts no pod without an owner: add `controllers`")
    if "descheduler" in sections and budgets and not scope.disruption_controller:
        sections["descheduler"].fail(
            "evictions take from budgets that are kept: add `disruption_controller: true` to `scope`"
        )
