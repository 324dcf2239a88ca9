"""Autoscalers: they take nodes away on which nobody is, and make nodes for pods that fit nowhere (cluster-autoscaler; Karpenter, which consolidates).

When cluster-autoscaler decides, a pod counts as being on a node if it is bound there, or waits nominated to it (core/podlistprocessor/filter_out_expendable.go); nor is a node made for it then. It taints the node, and its
actuator (core/scaledown/actuation/actuator.go) looks once more, at bound pods alone, some time after (node-delete-delay-after-taint), before it deletes the node; between that look and the
deletion there is more to do. The second look of `scale_down_looks_again` is that of a better autoscaler: it counts nominations as well, and is one step with the deletion.

Pods of a DaemonSet keep no node (simulator/drain.go), and no node is made for one: they go with their node. How much of a new node they will take is what an autoscaler may
get wrong.

A node that is made has a name of its own each time. A node of the scenario stands for one after the other, each time when nobody remembers the one before (see `is_forgotten`).
"""

from typing import Any, Protocol

from ...language import (
    Expr,
    Words,
    all_of,
    any_of,
    as_expr,
    boolean,
    constraint,
    finds,
    per,
    require,
    step,
    tells,
    when,
)
from ...language.systems.remembering import forget, is_forgotten
from ..api import APIServer
from ..cluster.node_versions import NodeVersion
from ..cluster.owned_pods import Owned
from ..cluster.workloads import OwnerKind
from ..faults import Fault, Faults
from ..node_fit import NodeFit, takes
from ..objects import Node, Pod, Scope
from ..watch import NodeWatch

TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler"
"""The key of the taint that cluster-autoscaler puts on a node which it is about to delete."""

OUTLIVED = ("node_infos.changed",)
"""State of a node that is gone which says nothing of the next one: that it changed since the last snapshot, as the next one has, too."""


def _scales(scope: Scope) -> int:
    return int(scope.scale_downs > 0 or scope.autoscaler)


def _taints(scope: Scope) -> int:
    return _scales(scope) * scope.scale_down_taints


class Posts(Protocol):
    """What is asked of binding cycles."""

    def is_posting(self, pod: Pod) -> Expr:
        """Whether the pod's Binding comes next, or is under way."""


class Tries(Protocol):
    """What is asked of the scheduling cycle."""

    def in_flight(self, pod: Pod) -> Expr:
        """Whether the pod is being tried."""


class Drains(Protocol):
    """What is asked of the drain of a node (see `Drain`)."""

    draining: Any  # per node, a bool

    def list_pods(self, node: Node) -> None:
        """Who is bound to the node now is evicted."""

    def is_waiting(self, node: Node) -> Expr:
        """Whether pods are still to be evicted, or to end."""

    def forget(self, node: Node) -> None:
        """The drain's decision is dropped."""


class Slices(Protocol):
    """What is asked of ResourceSlices."""

    def could_have(self, pod: Pod, node: Node, *, to_come: bool = False) -> Expr:
        """Whether the claims of a pod can be allocated on the node."""


class Autoscaler(NodeFit):
    """The autoscaler. `doomed[n]`: it has found the node empty and will delete it. `cleared[n]`: it has tainted the node, and found it empty again."""

    api: APIServer
    node_watch: NodeWatch
    scheduler: Tries
    binding: Posts
    faults: Faults
    drain: Drains
    device_slices: Slices

    doomed = per(Node, boolean(possible=_scales))
    cleared = per(Node, boolean(possible=_taints))

    phrases = {
        "doomed": Words("the autoscaler has found {0} empty", "", decisive=True),
        "cleared": Words("the autoscaler has found {0} empty once more", "", decisive=True),
    }

    @property
    def scales_down(self) -> bool:
        """Whether nodes are taken away: so often, or as often as it likes."""
        return bool(self.scope.scale_downs or self.scope.autoscaler)

    def keeping(self) -> list[Pod]:
        """The pods that prevent the deletion of a node: all except those of DaemonSets."""
        daemons = {o.pod for o in self.universe[Owned] if o.owner.kind is OwnerKind.DAEMON_SET}
        return [pod for pod in self.universe[Pod] if pod not in daemons]

    def looks_empty(self, node: Node) -> Expr:
        """Whether the API server shows no pod that is bound or nominated to the node. With `scale_down_keeps_room`, there must also be no waiting pod that fits there."""
        pods = (self.api.pod[p] for p in self.keeping())
        empty = ~any_of(p.exists & ((p.node == node) | (p.pending & (p.nominated == node))) for p in pods)
        if not self.scope.scale_down_keeps_room:
            return empty
        waiting = (p for p in self.keeping() if not p.foreign)
        return empty & ~any_of(self.api.pod[p].pending & self.fits_some(p, (node,)) for p in waiting)

    def has_nobody(self, node: Node) -> Expr:
        """Whether the API server shows no pod that is bound to the node."""
        return ~any_of(self.is_on(pod, node) for pod in self.keeping())

    def fits(self, pod: Pod, node: Node, content: Node) -> Expr:
        """As the filters, and also whether the pod can get its devices there, as far as they are published."""
        return super().fits(pod, node, content) & self.device_slices.could_have(pod, node)

    # --- nodes that go ---------------------------------------------------------------------------------------

    @step(actor="autoscaler", fair=False)
    @tells("The autoscaler finds that {node} is empty.")
    def find_empty(self, node: Node) -> None:
        """The autoscaler's loop decides to delete a node."""
        require(self.scales_down)
        require(self.api.node_exists[node] & ~as_expr(self.doomed[node]) & self.looks_empty(node))
        if not self.scope.autoscaler:
            self.faults.spend(Fault.SCALE_DOWN, node)
        self.doomed[node] = True

    @step(actor="autoscaler", each="node")
    @tells("The autoscaler puts its taint on {node}.")
    def put_taint(self, node: Node) -> None:
        """MarkToBeDeleted: adds a taint, so that pods avoid the node from now on."""
        leaving = leaving_version(self.universe[NodeVersion], node)
        require(self.scales_down and self.scope.scale_down_taints and leaving is not None)
        require(self.doomed[node] & self.api.node_exists[node] & ~self.is_tainted(node))
        self.api.write_node(node, exists=True, version=leaving)

    @step(actor="autoscaler", each="node")
    @tells(
        finds("drain.draining", "node", True),
        "The autoscaler looks at {node} once more, and lists the pods that it is to evict.",
        "The autoscaler checks {node} once more, and finds no pod.",
    )
    def look_again(self, node: Node) -> None:
        """The actuator lists the pods that are bound to the node. If it waits, every pod that was assigned to the node before the taint is bound by then."""
        require(self.scales_down and self.scope.scale_down_taints)
        ready = self.has_nobody(node) | self.is_drained(node)
        require(self.doomed[node] & self.is_tainted(node) & ~as_expr(self.cleared[node]) & ready)
        if self.scope.scale_down_waits:
            require(self.is_heard(node))
        self.cleared[node] = True
        if self.scope.scale_down_drains:
            self.drain.list_pods(node)

    def is_drained(self, node: Node) -> Expr:
        """Whether the autoscaler moves the pods of the node, so that the node need not be empty."""
        return as_expr(self.drain.draining[node] if self.scope.scale_down_drains else False)

    def is_heard(self, node: Node) -> Expr:
        """Whether the scheduler knows the taint, and no pod that was tried before is still in a cycle or about to be bound."""
        log, pods = self.node_watch.log, self.universe[Pod]
        busy = any_of(self.scheduler.in_flight(p) | self.binding.is_posting(p) for p in pods)
        told = ~any_of((log.length > i) & (log.entry(i).node == node) for i in range(log.capacity))
        return told & ~busy

    @step(actor="autoscaler", each="node")
    @tells("The autoscaler takes {node} away.")
    def take_away(self, node: Node) -> None:
        """Deletes the node: with `scale_down_looks_again` immediately after a second check, with `scale_down_taints` some time after it."""
        require(self.scales_down)
        require(self.doomed[node])
        if self.scope.scale_down_looks_again:
            require(self.looks_empty(node))
        if self.scope.scale_down_taints:
            require(self.cleared[node])
        if self.scope.scale_down_drains:
            require(~self.drain.is_waiting(node))
        self._let_go(node)
        with when(self.api.node_exists[node]):
            self.api.write_node(node, exists=False)

    @step(actor="autoscaler", each="node")
    @tells("The autoscaler finds somebody on {node}, and leaves it.")
    def spare(self, node: Node) -> None:
        """The second check finds that the node is not empty any more: the autoscaler removes its taint."""
        require(self.scales_down and (self.scope.scale_down_looks_again or self.scope.scale_down_taints))
        empty = (
            self.has_nobody(node) | self.cleared[node] | self.is_drained(node)
            if self.scope.scale_down_taints
            else self.looks_empty(node)
        )
        require(self.doomed[node] & ~empty)
        if self.scope.scale_down_taints:
            require(self.is_tainted(node))
        self.let_stay(node)

    def let_stay(self, node: Node) -> None:
        """The autoscaler removes its taint, if the node has it."""
        if self.scope.scale_down_taints:
            with when(self.api.node_exists[node]):
                self.api.write_node(node, exists=True)
        self._let_go(node)

    def _let_go(self, node: Node) -> None:
        self.drain.forget(node)
        self.doomed[node] = False
        if self.scope.scale_down_taints:
            self.cleared[node] = False

    def is_tainted(self, node: Node) -> Expr:
        """Whether the node's object has the autoscaler's taint."""
        leaving = leaving_version(self.universe[NodeVersion], node)
        return as_expr(False) if leaving is None else as_expr(self.api.node_version[node]) == leaving

    # --- nodes that come -------------------------------------------------------------------------------------

    @step(actor="autoscaler", each="node")
    @tells("The autoscaler makes {node}, for {pod}.")
    def make_node(self, node: Node, pod: Pod) -> None:
        """A pod was rejected, is not nominated to an existing node, fits on no node, and would fit on this one: the node joins. If the autoscaler nominates pods, the pod is nominated to the node.

        The bound is that there is a node which nobody remembers.
        """
        require(self.scope.autoscaler and not pod.foreign and pod in self.keeping())
        waits = self.api.pod[pod].pending & self.api.pod[pod].failed & ~self.api.pod[pod].terminating
        require(waits & ~self.is_expected(pod))
        require(~self.api.node_exists[node] & ~self.fits_some(pod, self.universe[Node]))
        require(self.would_fit(pod, node))
        constraint(
            f"nodes: {len(self.universe[Node])} at once, including all that something still remembers",
            is_forgotten(self, node, OUTLIVED),
        )
        forget(self, node, ())
        self.api.write_node(node, exists=True)
        if self.scope.autoscaler_nominates:
            self.api.set_nomination(pod, node)

    def is_expected(self, pod: Pod) -> Expr:
        """Whether the pod is nominated to an existing node, and so counts as waiting for victims (FilterOutExpendableAndSplit of cluster-autoscaler)."""
        return any_of(
            (self.api.pod[pod].nominated == node) & self.api.node_exists[node] for node in self.universe[Node]
        )

    def would_fit(self, pod: Pod, node: Node) -> Expr:
        """Whether the pod fits on the node if the node is empty."""
        if not takes(pod, node):
            return as_expr(False)
        devices = self.device_slices.could_have(pod, node, to_come=True)
        return devices & all_of(self.asked(pod, r) <= node.allocatable(r) for r in pod.resources)


def leaving_version(versions: tuple[NodeVersion, ...], node: Node) -> NodeVersion | None:
    """The version of a node that has the autoscaler's taint."""
    return next((v for v in versions if v.node is node and is_leaving(v)), None)


def is_leaving(version: NodeVersion) -> bool:
    """Whether a version of a node has the autoscaler's taint."""
    return any(taint.key == TO_BE_DELETED for taint in version.content.taints)
