"""The section `nodes`."""

from itertools import combinations
from typing import Any

from ....model.environment.cluster.node_health import give_healths, health_of
from ....model.environment.objects import Node
from ...tables.nodes import NODES
from ...values.ranges import Range, most_of
from ...values.resources import Amounts, refuse_overcommitted
from .draft import Draft, Fields


def read_nodes(draft: Draft) -> None:
    """The nodes, with the versions of their objects."""

    def version(index: int, name: str, fields: Fields, amounts: Amounts, **others: Any) -> Node:
        return Node(index, name, **NODES.read(fields), **draft.units.scaled(amounts), **others)

    draft.nodes = {}
    for i, (name, member) in enumerate(draft.node_members.items()):
        later = {word: version(i, name, *form) for word, form in draft.node_updates[name].items()}
        draft.nodes[name] = version(
            i, name, member.fields, draft.has[name], exists=member.exists, later=later
        )


def refuse_crowded(draft: Draft) -> None:
    """Refuse nodes that have no room for what is bound to them at the start."""
    pods, has, asked = draft.pods, draft.has, draft.asked
    for name, member in draft.node_members.items():
        bound = {p.name: asked[p.name] for p in pods if p.node is not None and p.node.name == name}
        refuse_overcommitted(member.place, has[name], bound)
        room = member.fields.get("pods")
        if room is not None and len(bound) > most_of(NODES["pods"].value(room)):
            room.fail(
                f"{len(bound)} pods are bound to the node ({', '.join(bound)}): raise the number, or unbind a pod"
            )
        there = [p for p in pods if p.name in bound]
        for pod, other in combinations(there, 2):
            if pod.wants_port_of(other):
                member.place.fail(
                    f"{pod.name} and {other.name}, which are bound to the node, want the same host port: unbind one of them"
                )


def refuse_scored_labels(draft: Draft) -> None:
    """Refuse updates of what scores look at."""
    for name, node in draft.nodes.items() if draft.config.scored else ():
        if any(version.labels != node.labels for version in node.later.values()):
            draft.node_members[name].fields["updates"].fail(
                "scores look at the labels that a node has at first: let no update change labels, or remove `scored: true`"
            )


def read_healths(draft: Draft) -> None:
    """Give the nodes the versions that the controller makes of them, where there is one; refuse what contradicts it."""
    scope, members, nodes, has = draft.scope, draft.node_members, draft.nodes, draft.has
    if not scope.node_lifecycle:
        return
    for name, node in nodes.items():
        fields, place = members[name].fields, members[name].place
        if any(isinstance(amount, Range) for amount in has[name].amount.values()):
            place.fail(
                "the controller updates the node, and a node with updates has no ranges: give one amount"
            )
        if not node.exists and (health_of(node).marks or not node.ready):
            fields["conditions" if not node.ready else "taints"].fail(
                "a node joins as its kubelet makes it: not ready, with the taint of the API server: leave out Ready and its taints"
            )
        for content in node.later.values():
            if health_of(content) != health_of(node):
                fields["updates"].fail(
                    "the node lifecycle controller decides on Ready and its taints: leave both out of `updates`, or remove `node_lifecycle`"
                )
    give_healths(nodes.values(), scope)
