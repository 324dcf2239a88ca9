"""A scenario whose requests, capacities and priorities are unknown."""

from __future__ import annotations

from dataclasses import replace

from ..model.environment.objects import ClusterSpec
from ..model.language import Expr, all_of, any_of, total
from ..model.language.expr import fresh_graph
from ..scenarios.template import Limits


def with_unknown(spec: ClusterSpec) -> ClusterSpec:
    """The same cluster with unknown CPU and priorities; what else it has stays as it is."""
    limits = Limits.small(len(spec.pods))
    nodes = {n.name: n.with_cpu(limits.capacity_of(n.name, "cpu")) for n in spec.nodes}
    pods = (
        p.with_cpu(
            limits.request_of(p.name, "cpu"),
            limits.priority_of(p.name),
            None if p.node is None else nodes[p.node.name],
        )
        for p in spec.pods
    )
    return replace(spec, pods=tuple(pods), nodes=tuple(nodes.values()))


def describable(spec: ClusterSpec) -> Expr:
    """That every node has room for the pods on it at the start, and that some node could hold each pod."""
    with fresh_graph():
        return all_of(
            [
                *(total(p.cpu for p in spec.pods if p.node is n) <= n.cpu for n in spec.nodes),
                *(any_of(p.cpu <= n.cpu for n in spec.nodes) for p in spec.pods),
            ]
        )
