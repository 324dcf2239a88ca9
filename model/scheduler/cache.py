"""The scheduler cache (pkg/scheduler/internal/cache/cache.go): what the scheduler believes of nodes and pods.

Every method is atomic under the cache's lock. A NodeInfo outlives its Node object while pods remain on
it, because pod events travel on another watch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..environment.disturbances import Disturbance
from ..environment.objects import Node, Pod, PodCopy, PodObject
from ..language import Component, Expr, Record, Value, boolean, per, ref, require, step, when

if TYPE_CHECKING:
    from ..environment.disturbances import Disturbances


class CachedPod(Record):
    """A pod state: the node whose NodeInfo holds the pod, and how the pod got there.

    `copy` is the object that was assumed; once the pod watch confirms the pod, it is zero.
    """

    node = ref(Node)
    assumed = boolean()
    bound = boolean()  # FinishBinding was called: the expiry clock runs
    terminating = boolean()


class Cache(Component):
    """Pods by node, assumed pods, and which nodes have a Node object."""

    disturbances: Disturbances

    pod = per(Pod, CachedPod)
    copy = per(Pod, PodCopy)
    live = per(Node, boolean())

    def setup(self) -> None:
        for pod in self.universe[Pod]:
            if pod.exists and pod.node is not None:
                self.pod[pod] = CachedPod(node=pod.node)
        for node in self.universe[Node]:
            self.live[node] = node.exists

    def knows(self, pod: Pod) -> Expr:
        """Whether the cache has the pod in any state."""
        return self.pod[pod].node.is_some

    def node_of(self, pod: Pod) -> Expr:
        """The node whose NodeInfo holds the pod, or none."""
        node: Expr = self.pod[pod].node
        return node

    def on(self, pod: Pod, node: Node) -> Expr:
        """Whether the NodeInfo of `node` holds the pod."""
        return self.node_of(pod) == node

    def is_assumed(self, pod: Pod) -> Expr:
        """IsAssumedPod."""
        assumed: Expr = self.pod[pod].assumed
        return assumed

    def assume(self, pod: Pod, node: Node, copy: PodCopy) -> None:
        """AssumePod; the caller checks `knows` first, because assuming a known pod is an error."""
        self.pod[pod] = CachedPod(node=node, assumed=True)
        self.copy[pod] = copy

    def finish_binding(self, pod: Pod) -> None:
        """FinishBinding: an assumed pod may expire from now on."""
        with when(self.is_assumed(pod)):
            self.pod[pod].bound = True

    def forget(self, pod: Pod, node: Value) -> None:
        """ForgetPod: only an assumed pod, and only on the node that it was assumed on."""
        with when(self.is_assumed(pod) & (self.pod[pod].node == node)):
            self._drop(pod)

    def add_pod(self, pod: Pod, new: PodObject) -> None:
        """AddPod: confirms an assumed pod (moving it if the node differs), or adds an unknown or expired one."""
        with when(~self.knows(pod) | self.is_assumed(pod)):
            self._set(pod, new)

    def update_pod(self, pod: Pod, new: PodObject) -> None:
        """UpdatePod: only for a confirmed pod."""
        with when(self.knows(pod) & ~self.is_assumed(pod)):
            self._set(pod, new)

    def remove_pod(self, pod: Pod) -> None:
        """RemovePod: only for a confirmed pod; removing an assumed one is an error."""
        with when(~self.is_assumed(pod)):
            self._drop(pod)

    def _set(self, pod: Pod, new: PodObject) -> None:
        self.pod[pod] = CachedPod(node=new.node, terminating=new.terminating)
        self.copy[pod] = PodCopy()

    def _drop(self, pod: Pod) -> None:
        self.pod[pod] = CachedPod()
        self.copy[pod] = PodCopy()

    def add_node(self, node: Node) -> None:
        """AddNode / UpdateNode: the NodeInfo gets its Node object."""
        self.live[node] = True

    def remove_node(self, node: Node) -> None:
        """RemoveNode: the NodeInfo loses its Node object; its pods stay until their own events come."""
        self.live[node] = False

    @step(actor="cache timers", fair=False)
    def expire(self, pod: Pod) -> None:
        """cleanupAssumedPods: the bind was reported finished, and no event confirmed it in time."""
        require(self.is_assumed(pod) & self.pod[pod].bound)
        self.disturbances.spend(Disturbance.ASSUME_EXPIRY)
        self._drop(pod)
