"""What kube-scheduler says of a node that a filter rejects: the reasons in a plugin's Status, in the words of 1.36.

Words for reports only. Whether a plugin rejects is asked of the plugin itself; here stands what it says then.
"""

from collections.abc import Iterator

from ...environment.objects import Node, Pod
from ...language import Expr, all_of, any_of, as_expr
from .events import NODE_PORTS, NODE_VOLUME_LIMITS
from .filters import Filters
from .placement import Placement
from .status import Code

SPREAD = "node(s) didn't match pod topology spread constraints"

Reason = tuple[str, Expr]


def reasons(filters: Filters, pod: Pod, node: Node, placement: Placement) -> dict[str, Expr]:
    """For each reason, whether the filters give it, with the pods that are nominated to the node and then without, as they run."""
    code = filters.run_with_nominated(pod, node, placement)
    rejected = (code == Code.UNSCHEDULABLE) | (code == Code.UNRESOLVABLE)
    added = filters.nominated_pods(pod, node, placement)
    first = _once(filters, pod, node, placement.with_added(node, added))
    passed = filters.run(pod, node, placement.with_added(node, added)) == Code.SUCCESS
    second = _once(filters, pod, node, placement)
    never = as_expr(False)
    return {
        text: rejected & (first.get(text, never) | (passed & second.get(text, never)))
        for text in (*first, *(text for text in second if text not in first))
    }


def _once(filters: Filters, pod: Pod, node: Node, placement: Placement) -> dict[str, Expr]:
    """The reasons of the first plugin that rejects."""
    found: dict[str, Expr] = {}
    rejects = filters.rejected_by(pod, node, placement)
    for plugin, rejecting in rejects.items():
        for text, why in _of_plugin(filters, plugin, pod, node, placement):
            found[text] = found.get(text, as_expr(False)) | (rejecting & why)
    return found


def _of_plugin(filters: Filters, plugin: str, pod: Pod, node: Node, placement: Placement) -> Iterator[Reason]:
    """What a plugin says if it rejects; nothing of one that is not known here."""
    always = as_expr(True)
    if plugin == "NodeUnschedulable":
        yield "node(s) were unschedulable", always
    elif plugin == "TaintToleration":
        yield "node(s) had untolerated taint(s)", always
    elif plugin == "NodeAffinity":
        yield "node(s) didn't match Pod's node affinity/selector", always
    elif plugin == NODE_PORTS:
        yield "node(s) didn't have free ports for the requested pod ports", always
    elif plugin == "NodeResourcesFit":
        for resource, lacks in filters.insufficient(pod, node, placement).items():
            yield "Too many pods" if resource == "pods" else f"Insufficient {resource}", lacks
    elif plugin == NODE_VOLUME_LIMITS:
        limits = filters.limits_on(pod, node)
        for driver, limit in limits:
            missing = filters.is_driver_missing(driver, limit, placement)
            yield f"{driver.name} CSI driver is not installed on the node", missing
        full = [filters.is_full_of(pod, limit, node, placement) for _, limit in limits]
        yield "node(s) exceed max volume count", any_of(full)
    elif plugin == "PodTopologySpread":
        yield from _of_spread(filters, pod, node, placement)
    elif plugin == "InterPodAffinity":
        yield from _of_affinity(filters, pod, node, placement)


def _of_spread(filters: Filters, pod: Pod, node: Node, placement: Placement) -> Iterator[Reason]:
    """Of the first constraint that fails."""
    passed = as_expr(True)
    for constraint in pod.spread:
        if constraint.topology_key not in node.labels:
            yield f"{SPREAD} (missing required label)", passed
            return
        even = filters.is_even(pod, constraint, node, placement)
        yield SPREAD, passed & ~even
        passed = passed & even


def _of_affinity(filters: Filters, pod: Pod, node: Node, placement: Placement) -> Iterator[Reason]:
    """Affinity first, then the pod's own anti-affinity, then that of others."""
    affine = filters.affinity_holds(pod, node, placement)
    own = [
        ~filters.matched_in_domain(pod, term, node, placement)
        for term in pod.terms
        if term.required and term.anti
    ]
    apart = all_of(own)
    yield "node(s) didn't match pod affinity rules", ~affine
    yield "node(s) didn't match pod anti-affinity rules", affine & ~apart
    yield "node(s) didn't satisfy existing pods anti-affinity rules", affine & apart
