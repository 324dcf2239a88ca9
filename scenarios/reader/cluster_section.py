"""From the sections of a file to the cluster that they describe: they are read into a draft, one after the other, and rules refuse what does not go together."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ...base.text import one_line
from ...model.environment.objects import ClusterSpec
from ..tables.nodes import NODE_UPDATES, NODES
from ..tables.pods import POD_UPDATES, PODS
from ..values.labels import Members, read_members
from ..values.resources import read_amounts, refuse_oversize, units_of
from ..values.yaml_values import Value
from .sections.autoscaler_bounds import refuse_autoscaler, refuse_named_nodes
from .sections.budget_section import read_budgets, refuse_readiness, refuse_uncounted
from .sections.claim_section import (
    add_made_claims,
    add_special_claims,
    claim_members,
    read_claims,
    read_device_classes,
    read_templates,
    refuse_backed,
    refuse_claims,
    refuse_templates,
    special_claim,
    take_backed,
)
from .sections.config_section import read_config, refuse_unscored, refuse_wishes
from .sections.controller_section import read_controllers, read_descheduler, refuse_descheduler
from .sections.device_section import (
    allocate,
    read_counters,
    read_devices,
    refuse_failing,
    refuse_supply,
    refuse_undrawn,
    supply_of,
)
from .sections.draft import Draft
from .sections.extender_section import read_extenders, refuse_extenders
from .sections.gate_section import read_keepers, refuse_keepers
from .sections.group_section import read_groups, refuse_groups, refuse_in_placements
from .sections.health_section import read_healths
from .sections.node_section import read_node, refuse_crowded, refuse_scored_labels
from .sections.pod_section import (
    arrival_order,
    read_namespaces,
    read_pod,
    refuse_foreign,
    refuse_names,
    start_order,
)
from .sections.scope_section import read_scope
from .sections.updates import later_amounts, read_updates, refuse_updates
from .sections.volume_section import (
    mark_exclusive,
    read_classes,
    read_drivers,
    read_volume_claims,
    read_volumes,
    refuse_limits,
    refuse_mounts,
)


def read_cluster(top: Value, sections: Mapping[str, Value], name: str) -> ClusterSpec:
    """The cluster and its scope."""
    draft = Draft(top, sections)
    for rule in RULES:
        rule(draft)
    spec = draft.spec(name)
    names = [quantity.name for quantity in spec.unknown]
    for name in names:
        if names.count(name) > 1:
            top.fail(f"two ranges are both called {one_line(name)}: rename a pod or a resource")
    return spec


def _members(draft: Draft) -> None:
    draft.node_members = _some(draft, "nodes", NODES.names)
    draft.pod_members = _some(draft, "pods", PODS.names)


def _some(draft: Draft, kind: str, known: tuple[str, ...]) -> Members:
    if kind not in draft.sections:
        draft.top.fail(f"the cluster has no {kind}: add at least one under `{kind}`")
    members = read_members(draft.sections[kind], kind, known)
    if not members:
        draft.sections[kind].fail(f"the cluster has no {kind}: add at least one")
    return members


def _amounts(draft: Draft) -> None:
    nodes, pods = draft.node_members, draft.pod_members
    draft.has = {n: read_amounts(m.place, m.fields, "allocatable") for n, m in nodes.items()}
    draft.asked = {n: read_amounts(m.place, m.fields, "requested") for n, m in pods.items()}
    classes = read_device_classes(draft.sections.get("deviceClasses"))
    draft.backed = take_backed(draft.asked, draft.has, pods, classes)


def _objects(draft: Draft) -> None:
    """Nodes and pods, with the versions of their objects."""
    nodes, pods = draft.node_members, draft.pod_members
    draft.node_updates = {n: read_updates("node", n, m, NODE_UPDATES.names) for n, m in nodes.items()}
    later = {
        (n, w): later_amounts("node", v) for n, found in draft.node_updates.items() for w, v in found.items()
    }
    draft.pod_updates = {n: read_updates("pod", n, m, POD_UPDATES.names) for n, m in pods.items()}
    pods_later = {
        (n, w): later_amounts("pod", v) for n, found in draft.pod_updates.items() for w, v in found.items()
    }
    units = draft.units = units_of(
        [*draft.has.values(), *later.values(), *pods_later.values(), *draft.asked.values()]
    )
    draft.nodes = {}
    for i, (n, m) in enumerate(nodes.items()):
        versions = {w: (v, units.scaled(later[n, w])) for w, v in draft.node_updates[n].items()}
        draft.nodes[n] = read_node(i, n, m, units.scaled(draft.has[n]), versions)
    namespaces = read_namespaces(draft.sections.get("namespaces"))
    start, arrival = start_order(pods), arrival_order(pods)
    found = []
    for i, (n, m) in enumerate(pods.items()):
        versions = {w: (v, units.scaled(pods_later[n, w])) for w, v in draft.pod_updates[n].items()}
        sizes = units.scaled(draft.asked[n])
        if n in draft.backed:
            sizes["extended_claim"] = special_claim(n)
        order = start.get(n), arrival.get(n, 0)
        found.append(read_pod(i, n, m, sizes, draft.nodes, namespaces, *order, versions))
    draft.as_read = tuple(found)


def _controllers(draft: Draft) -> None:
    section = draft.sections.get("controllers")
    draft.owners, draft.pods = read_controllers(section, draft.pod_members, draft.as_read, list(draft.nodes))


def _refuse_oversize(draft: Draft) -> None:
    asked = {n: amounts for n, amounts in draft.asked.items() if not draft.pod_updates[n]}
    refuse_oversize(asked, draft.has)


def _volumes(draft: Draft) -> None:
    of = draft.sections.get
    draft.drivers = read_drivers(of("csiDrivers"), draft.nodes)
    classes = read_classes(of("storageClasses"), draft.drivers)
    draft.volumes = read_volumes(of("volumes"), classes, draft.nodes)
    draft.volume_claims = read_volume_claims(of("volumeClaims"), classes, draft.volumes, of("volumes"))
    mark_exclusive(draft.pods, draft.volume_claims)


def _claims(draft: Draft) -> None:
    of = draft.sections.get
    section = of("resourceClaims")
    counters = read_counters(of("sharedCounters"))
    draft.devices = read_devices(of("devices"), draft.nodes, counters)
    refuse_undrawn(of("sharedCounters"), counters, draft.devices.values())
    templates, members = read_templates(of("resourceClaimTemplates")), claim_members(section)
    claims = read_claims(members, draft.pods)
    claims = add_made_claims(claims, draft.pod_members, draft.pods, templates)
    draft.claims = add_special_claims(claims, members, draft.backed)
    draft.supply = supply_of(of("devices"), draft.devices, draft.claims.values())
    allocate(draft.claims, members, draft)


def _keepers(draft: Draft) -> None:
    draft.keepers = read_keepers(draft.sections.get("gateKeepers"), draft.pods)


def _scope(draft: Draft) -> None:
    draft.budgets = read_budgets(draft.sections.get("podDisruptionBudgets"), draft.pod_members)
    draft.groups = read_groups(draft.sections.get("podGroups"))
    draft.scope = read_scope(draft.sections.get("scope"), draft.absent, draft.there, draft.named)


def _descheduler(draft: Draft) -> None:
    draft.strategies = read_descheduler(draft.sections.get("descheduler"))


def _config(draft: Draft) -> None:
    draft.scope = replace(draft.scope, config=read_config(draft.sections.get("config")))


def _extenders(draft: Draft) -> None:
    draft.extenders = read_extenders(draft.sections, list(draft.nodes))


RULES: Sequence[Callable[[Draft], None]] = (
    _members, _amounts, _objects, _controllers,
    refuse_names, refuse_foreign, refuse_backed, _refuse_oversize, refuse_crowded,
    _volumes, refuse_mounts,
    _claims, refuse_templates, refuse_claims,
    _keepers, refuse_keepers,
    _scope, refuse_limits, read_healths, refuse_groups, refuse_supply, refuse_failing,
    _descheduler, refuse_autoscaler, refuse_named_nodes, refuse_descheduler,
    _config, refuse_wishes, refuse_unscored, refuse_in_placements,
    _extenders, refuse_extenders,
    refuse_updates, refuse_scored_labels, refuse_readiness, refuse_uncounted,
)  # fmt: skip
"""What reads the draft further, and what refuses it, in order: the first complaint is what a user sees."""
