"""The `nodes` section."""

from __future__ import annotations

from typing import Any

from ..model.environment.objects import Node
from .labels import read_labels
from .names import Member
from .ranges import integer_or_open
from .resources import RESOURCE_FIELDS
from .taints import read_taints

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
