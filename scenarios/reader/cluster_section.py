"""From the sections of a file to the cluster that they describe: they are read into a draft, one after the other, and rules refuse what does not go together."""

from collections.abc import Callable, Mapping, Sequence

from ...base.text import one_line
from ...model.environment.objects import ClusterSpec
from ..tables.nodes import NODES
from ..tables.pods import PODS
from ..values.labels import Members, read_members
from ..values.resources import read_amounts, refuse_oversize
from ..values.yaml_values import Value
from .sections.autoscaler_bounds import refuse_autoscaler, refuse_named_nodes
from .sections.budget_section import read_budgets, refuse_readiness, refuse_uncounted
from .sections.claim_section import (
    read_all_claims,
    refuse_backed,
    refuse_claims,
    refuse_templates,
    take_backed,
)
from .sections.config_section import read_config, refuse_unscored, refuse_wishes
from .sections.controller_section import read_controllers, read_descheduler, refuse_descheduler
from .sections.device_section import read_devices, refuse_failing, refuse_supply
from .sections.draft import Draft
from .sections.extender_section import read_extenders, refuse_extenders
from .sections.gate_section import read_keepers, refuse_keepers
from .sections.group_section import read_groups, refuse_groups, refuse_in_placements
from .sections.node_section import read_healths, read_nodes, refuse_crowded, refuse_scored_labels
from .sections.pod_section import read_pods, refuse_foreign, refuse_names
from .sections.scope_section import read_scope_section
from .sections.updates import read_updates, refuse_updates
from .sections.volume_section import read_storage, refuse_limits, refuse_mounts


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


def _refuse_oversize(draft: Draft) -> None:
    asked = {n: amounts for n, amounts in draft.asked.items() if not draft.pod_updates[n]}
    refuse_oversize(asked, draft.has)


RULES: Sequence[Callable[[Draft], None]] = (
    _members, _amounts, take_backed, read_updates, read_nodes, read_pods, read_controllers,
    refuse_names, refuse_foreign, refuse_backed, _refuse_oversize, refuse_crowded,
    read_storage, refuse_mounts,
    read_devices, read_all_claims, refuse_templates, refuse_claims,
    read_keepers, refuse_keepers,
    read_budgets, read_groups, read_scope_section, refuse_limits, read_healths, refuse_groups, refuse_supply, refuse_failing,
    read_descheduler, refuse_autoscaler, refuse_named_nodes, refuse_descheduler,
    read_config, refuse_wishes, refuse_unscored, refuse_in_placements,
    read_extenders, refuse_extenders,
    refuse_updates, refuse_scored_labels, refuse_readiness, refuse_uncounted,
)  # fmt: skip
"""What reads the draft further, and what refuses it, in order: the first complaint is what a user sees."""
