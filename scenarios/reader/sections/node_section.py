"""The section `nodes`."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from ....model.environment.objects import Node
from ...tables.nodes import NODES
from ...values.labels import Member
from ...values.ranges import most_of
from ...values.resources import refuse_overcommitted
from .draft import Draft, Fields


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
    return Node(index, name, **NODES.read(fields), **resources, **others)


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
