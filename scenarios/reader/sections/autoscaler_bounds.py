"""What a scope says of autoscalers, as far as it can be: and what names nodes, where an autoscaler makes them."""

from ....model.environment.cluster.node_versions import versions_of
from ....model.environment.controllers.autoscaler import TO_BE_DELETED, leaving_version
from ....model.environment.objects import Pod
from .draft import Draft

HOSTNAME = "kubernetes.io/hostname"
"""The label of a node that is its name."""


def refuse_autoscaler(draft: Draft) -> None:
    """Refuse a taint that no node could have, and evictions that budgets which stay as they are would count."""
    scope_of, scope, nodes, budgets = draft.sections.get("scope"), draft.scope, draft.nodes, draft.budgets
    if scope_of is None:
        return
    if scope.scale_down_drains and budgets and not scope.disruption_controller:
        scope_of.fail("evictions take from budgets that are kept: add `disruption_controller: true`")
    for name, node in nodes.items():
        if scope.scale_down_taints and leaving_version(versions_of([node]), node) is None:
            scope_of.fail(
                f"node {name} has no update with the taint {TO_BE_DELETED}: give it one, such as "
                f"`leaving: {{taints: [{{key: {TO_BE_DELETED}, effect: NoSchedule}}]}}`, or remove `scale_down_taints`"
            )


def refuse_named_nodes(draft: Draft) -> None:
    """Refuse what names a node that an autoscaler may make again: the next one has another name.

    Of a DaemonSet's pods, which its controller makes for a node, only what the scenario itself says is looked at.
    """
    if not draft.scope.autoscaler:
        return
    for pod in draft.as_read:
        if any(names_a_node(form) for form in (pod, *pod.later.values())):
            draft.pod_members[pod.name].place.fail(
                f"{pod.name} names a node, and each node that an autoscaler makes has a name of its own: ask for other labels, or remove `autoscaler`"
            )
    for name, volume in draft.volumes.items():
        if volume.nodes:
            draft.sections["volumes"].fail(
                f"volume {name} is tied to nodes by their names, and each node that an autoscaler makes has a name of its own: remove `nodes` or `autoscaler`"
            )


def names_a_node(pod: Pod) -> bool:
    """Whether what a pod asks of nodes, or what its constraints count, is about a node's name."""
    terms = () if pod.node_affinity is None else pod.node_affinity.terms
    return (
        HOSTNAME in {*pod.node_selector, *pod.extender_selector}
        or any(term.fields or any(e.key == HOSTNAME for e in term.expressions) for term in terms)
        or any(e.key == HOSTNAME for liked in pod.wishes.nodes for e in liked.term.expressions)
        or any(
            constraint.others and constraint.topology_key == HOSTNAME
            for constraint in (*pod.spread, *pod.wishes.spread)
        )
    )
