"""Nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..model.environment.objects import Taint
from ..scenarios.reader.directives import read_taints
from .documents import Manifest
from .metadata import Meta
from .quantities import Amounts, read_amounts

MANY_PODS = 100_000


@dataclass(frozen=True, slots=True)
class NodeObject:
    """A Node. `pods` is how many it admits, None for no limit."""

    meta: Meta
    allocatable: Amounts
    pods: int | None
    taints: tuple[Taint, ...]
    unschedulable: bool

    @property
    def name(self) -> str:
        """The node's name."""
        return self.meta.name

    @property
    def labels(self) -> Mapping[str, str]:
        """The node's labels; like podrace's scenarios, with its name as hostname where it has none."""
        return {"kubernetes.io/hostname": self.meta.name, **self.meta.labels}


def read_node(top: Manifest, meta: Meta, fields: Mapping[str, Manifest]) -> NodeObject:
    """A Node. What it can allocate is its capacity where only that is written, as the API server fills in."""
    spec = fields["spec"].fields(("taints", "unschedulable"), "a mapping") if "spec" in fields else {}
    status = fields["status"].fields(("allocatable", "capacity"), "a mapping") if "status" in fields else {}
    has = status.get("allocatable", status.get("capacity"))
    if has is None:
        top.fail(
            f"`status.allocatable` is missing: without it nobody knows what fits on {meta.name}; "
            "dump the node with kubectl get -o yaml, or write it"
        )
    if "capacity" in status and has is not status["capacity"]:
        read_amounts(status["capacity"])
    amounts = read_amounts(has)
    if "cpu" not in amounts:
        has.fail("`cpu` is missing: give what the node can allocate, such as 4 or 3920m")
    pods = has.fields(("pods",), "a mapping").get("pods")
    return NodeObject(
        meta,
        amounts,
        pods.integer(0, MANY_PODS) if pods and not pods.node.tag.endswith(":str") else _number(pods),
        tuple(read_taints(spec.get("taints"))),
        spec["unschedulable"].boolean() if "unschedulable" in spec else False,
    )


def _number(value: Manifest | None) -> int | None:
    if value is None:
        return None
    written = value.scalar("a whole number")
    if not (written.isascii() and written.isdigit() and len(written) <= 6 and int(written) <= MANY_PODS):
        value.expect(f"a whole number from 0 to {MANY_PODS}")
    return int(written)
