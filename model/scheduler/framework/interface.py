"""What the parts of the scheduler below know of those above them (framework/interface.go and listers.go, 1.34).

The queue, the cache, the plugins and the preemption are called by the scheduling cycle, and now and then ask something of it, or of
one another. What they ask is said here, so that none of them has to know who answers.
"""

from collections.abc import Iterable
from typing import Any, Protocol

from ...environment.objects import ExtensionPoint, Node, Pod, PodGroup, PodObject
from ...environment.pod_groups import Member
from ...language import Expr, Value
from .placement import Placement


class PodNominator(Protocol):
    """Who is nominated to a node."""

    def nominated_to(self, pod: Pod, node: Node) -> Expr:
        """Whether the scheduler knows of a nomination of `pod` to `node`."""

    def has_object(self, pod: Pod) -> Expr:
        """Whether NominatedPodsForNode gives the object of a nominated pod, rather than a bare one."""

    def has_form(self, pod: Pod) -> Expr:
        """Whether that object is the pod in this version."""


class QueuedPods(Protocol):
    """The pods that wait in the queue, as the nominator sees them."""

    copy: Any  # per pod, a PodCopy

    def contains(self, pod: Pod) -> Expr:
        """Whether the pod is in one of the sub-queues."""

    def contains_name(self, pod: Pod) -> Expr:
        """Whether one of the sub-queues has an entry under the pod's name."""


class FailingAttempts(Protocol):
    """The failure handlers, which go on with a record after they have put it back into the queue."""

    def has_read_cycle(self, pod: Pod) -> Expr:
        """Whether an attempt of `pod` has read its cycle number, and has not yet requeued the pod."""

    def updated(self, pod: Pod, new: PodObject) -> None:
        """Update has replaced the object in the pod's queue record."""

    def taken_over(self, pod: Pod, other: Pod) -> None:
        """Update has given the pod's record to another pod with the same name."""


class SharedLister(Protocol):
    """The snapshot, as plugins see it."""

    def placement(self) -> Placement:
        """Which pods count on which nodes."""


class PreEnqueuePlugin(Protocol):
    """A plugin that can keep a pod out of activeQ and backoffQ."""

    def is_there(self) -> bool:
        """Whether it ever keeps a pod out."""

    def holds(self, pod: Pod) -> Expr:
        """Whether the pod has to wait."""


class ClaimGate(Protocol):
    """What the queue asks of DynamicResources."""

    def is_ready(self, pod: Pod, named: Value) -> Expr:
        """PreEnqueue, and what its hints ask first: whether the claims of the pod are there; `named` is what the pod's status names."""


class Framework(Protocol):
    """At which extension points the configured plugins have work to do."""

    def extension_points(self, pod: Pod) -> Iterable[ExtensionPoint]:
        """The extension points at which plugins have work for the pod."""


class CyclePlugin(Protocol):
    """What the cycles ask of a plugin that keeps something of a pod from PreFilter to Unreserve."""

    def begin(self, pod: Pod) -> None:
        """The cycle has its snapshot: PreFilter begins."""

    def passes(self, pod: Pod, node: Node) -> Expr:
        """Filter: whether what the pod needs lets it go to the node."""

    def note_filtered(self, pod: Pod, node: Node, reached: Expr) -> None:
        """Filter, if it was reached, keeps what PostFilter asks for."""

    def is_reserved(self, pod: Pod) -> Expr:
        """Whether Reserve is through."""

    def is_bound(self, pod: Pod) -> Expr:
        """Whether PreBind has finished."""

    def is_unreserved(self, pod: Pod) -> Expr:
        """Whether Unreserve has finished."""

    def clear(self, pod: Pod) -> None:
        """The pod's cycles are over: what they read of its claims is dropped."""


class ClaimPlugin(CyclePlugin, Protocol):
    """What the cycles ask of DynamicResources about a pod with claims."""

    def errs(self, pod: Pod, node: Node) -> Expr:
        """Filter: whether it answers with an error, rather than with a verdict."""

    def post_filter(self, pod: Pod) -> None:
        """The pod fits nowhere: PostFilter may come before preemption."""

    def may_stop(self, pod: Pod) -> Expr:
        """Whether PreBind, whose context has ended, is amid nothing that takes no notice of that."""

    def taken_back(self, pod: Pod) -> None:
        """The cycle of the pod's group has taken back what it has done for the pod."""


class VolumePlugin(CyclePlugin, Protocol):
    """What the cycles ask of VolumeBinding about a pod that mounts volumes."""

    def has_work(self, pod: Pod) -> Expr:
        """PreBindPreFlight: whether there is something to be bound."""

    def unlist(self, pod: Pod) -> None:
        """The scheduling cycle of the pod is over."""


class GangPlugin(Protocol):
    """What is asked of GangScheduling about a pod."""

    def gang(self, pod: Pod) -> PodGroup | None:
        """The gang that the pod belongs to, if any."""

    def points(self, pod: Pod) -> frozenset[ExtensionPoint]:
        """The extension points at which the plugin has work for the pod after it is assumed."""

    def holds(self, pod: Pod) -> Expr:
        """PreEnqueue: whether the pod has to wait."""

    def reserve(self, pod: Pod) -> Expr:
        """Reserve. Returns whether it fails."""

    def is_unreserved(self, pod: Pod) -> Expr:
        """Whether Unreserve has finished."""

    def clear(self, pod: Pod) -> None:
        """The pod's cycles are over: what they read of its claims is dropped."""


class GroupCycles(Protocol):
    """What the queue and the cycles of pods ask of the cycles of groups."""

    def member(self, pod: Pod) -> Member | None:
        """The pod as a member of a group that is scheduled in its own cycles."""

    def is_retried(self, pod: Pod) -> Expr:
        """Whether a pod whose attempt failed is tried again whatever came meanwhile."""

    def runs(self) -> Expr:
        """Whether the cycle of a group runs."""

    def holds(self, pod: Pod) -> Expr:
        """Whether the group's cycle works on the pod."""

    def begin(self, pod: Pod) -> None:
        """ScheduleOne: the popped pod belongs to a group."""

    def place(self, member: Member, node: Node) -> None:
        """The member fits on the node."""

    def tries(self, pod: Pod) -> Expr:
        """Whether the cycle of the pod's group tries its members, and has the pod among them."""

    def takes_back(self, pod: Pod) -> Expr:
        """Whether the cycle of the pod's group takes back what it has done for the pod."""

    def reserved(self, member: Member, *, ok: bool) -> None:
        """The Reserve plugins have run for a member that the cycle tries."""

    def attempted(self, member: Member) -> None:
        """The member fits on no node."""

    def go_on(self, pod: Pod) -> None:
        """A member is done: its binding cycle has started, or its failure is handled."""

    def clear(self) -> None:
        """The cycle is over: its changes to the snapshot are dropped."""


class GroupMembers(Protocol):
    """What the cache tells the states of groups of a pod."""

    def add(self, pod: Pod, on_node: Value) -> None:
        """The pod is there, on a node or not."""

    def confirm(self, pod: Pod, assumed: Value) -> None:
        """The watch shows the pod on a node, and the cache had it assumed or not."""

    def refresh(self, pod: Pod) -> None:
        """The watch shows a pod that has a node anew."""

    def renew(self, pod: Pod) -> None:
        """The watch shows another object of a pod that has no node."""

    def dismiss(self, pod: Pod) -> None:
        """The pod was assumed, and is deleted or being deleted."""

    def deleted(self, pod: Pod) -> None:
        """The handler is through with that, whether or not the pod was assumed still."""

    def remove(self, pod: Pod) -> None:
        """The pod is gone."""

    def assume(self, pod: Pod) -> None:
        """The pod is assumed."""

    def forget(self, pod: Pod) -> None:
        """The pod is assumed no more."""


class PodsInPreBind(Protocol):
    """The pods whose PreBind plugins run (PodInPreBind, 1.36)."""

    def may_be_cancelled(self, pod: Pod) -> Expr:
        """What CancelPod would return: whether the pod's PreBind plugins run."""

    def cancel(self, pod: Pod) -> None:
        """CancelPod, for a pod that may be cancelled."""


class NodeToStatus(Protocol):
    """What the filters, and the dry run after them, have found out about each node (NodeToStatusReader)."""

    verdict: Any  # per node, a NodeStatus
    copy: Any  # a PodCopy: the pod that is tried
