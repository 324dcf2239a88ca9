"""Who else acts on the cluster: users, some controllers and the pod garbage collector.

Users are not fair: they may never act. How often they may act is the scenario's scope.
"""

from ..language import UNTOLD, Component, any_of, boolean, per, require, step, tells
from .api import APIServer
from .cluster.node_health import DecidesOnHealth
from .cluster.node_versions import NodeVersion
from .cluster.owned_pods import Owned
from .cluster.pod_versions import PodVersion
from .faults import Fault, Faults
from .gates import go_one_by_one
from .names import Recreation
from .objects import Node, Pod


class Users(Component):
    """Users and cloud providers: they create and delete pods and nodes."""

    api: APIServer
    faults: Faults
    node_lifecycle: DecidesOnHealth

    created = per(Pod, boolean())

    phrases = UNTOLD

    @step(actor="user", fair=False)
    @tells("A user creates {pod}.")
    def create_pod(self, pod: Pod) -> None:
        """A user creates a pod that the cluster did not have at the start (once: a second would have a new UID)."""
        require(
            not pod.exists and pod.recreates is None and not any(o.pod is pod for o in self.universe[Owned])
        )
        require(~self.created[pod])
        self.created[pod] = True
        self.faults.spend(Fault.POD_CREATION, pod)
        self.api.create_pod(pod)

    @step(actor="user", fair=False)
    @tells("The scheduling gates of {pod} are removed.")
    def remove_gates(self, pod: Pod) -> None:
        """The owner of a pod's scheduling gates removes all of them at once."""
        require(self.api.has_gates(pod) and not go_one_by_one(self.universe, pod))
        require(self.api.pod[pod].gated)
        self.api.remove_gates(pod)

    @step(actor="user", fair=False)
    @tells("A user deletes {pod}.")
    def delete_pod(self, pod: Pod) -> None:
        """A user deletes a pod."""
        require(self.api.pod[pod].exists & ~self.api.pod[pod].terminating)
        self.faults.spend(Fault.POD_DELETION, pod)
        self.api.delete_pod(pod)

    @step(actor="user", fair=False)
    @tells("A user deletes {pod}, which has finished.")
    def delete_finished_pod(self, pod: Pod) -> None:
        """A user or a clean-up controller deletes a pod that has finished."""
        require(pod.finishes or self.scope.kubelet_admission)
        require(self.api.remains[pod])
        self.faults.spend(Fault.POD_DELETION, pod)
        self.api.delete_finished(pod)

    @step(actor="user", fair=False)
    @tells("Somebody else than the scheduler binds {pod} to {node}.")
    def bind_pod(self, pod: Pod, node: Node) -> None:
        """A client other than the scheduler binds a pending pod, with its own Binding."""
        require(self.api.can_bind(pod) & self.api.node_exists[node])
        self.faults.spend(Fault.EXTERNAL_BIND, pod)
        self.api.bind(pod, node)

    @step(actor="user", fair=False)
    @tells("Node {node} is deleted.")
    def delete_node(self, node: Node) -> None:
        """A user or the cloud provider deletes a node; its pods stay until something deletes them."""
        require(self.api.node_exists[node])
        self.faults.spend(Fault.NODE_DELETION, node)
        self.api.write_node(node, exists=False)

    @step(actor="user", fair=False)
    @tells("Node {node} joins the cluster.")
    def create_node(self, node: Node) -> None:
        """A node (re)joins the cluster under its name."""
        require(~self.api.node_exists[node])
        self.faults.spend(Fault.NODE_CREATION, node)
        self.api.write_node(node, exists=True, version=self.node_lifecycle.joins_as(node))
        self.node_lifecycle.join(node)

    @step(actor="user", fair=False)
    @tells("A node is updated: it is {version} from now on.")
    def update_node(self, version: NodeVersion) -> None:
        """A user, the kubelet or a controller updates a node's object to any other of its versions. If the node lifecycle controller manages the node's health, only versions with the same health are possible."""
        require(bool(self.scope.node_updates))
        require(self.api.node_exists[version.node] & self.node_lifecycle.may_become(version))
        self.faults.spend(Fault.NODE_UPDATE, version.node)
        self.api.write_node(version.node, exists=True, version=version)

    @step(actor="user", fair=False)
    @tells("A pod is updated: it is {version} from now on.")
    def update_pod(self, version: PodVersion) -> None:
        """A user, the kubelet or a controller updates a pod's object to one of its other versions."""
        require(self.api.may_be_updated(version))
        self.faults.spend(Fault.POD_UPDATE, version.pod)
        self.api.update_pod(version)


class StatefulSets(Component):
    """Controllers that keep a pod with a certain name alive (syncMonotonicPods in pkg/controller/statefulset)."""

    api: APIServer

    created = per(Recreation, boolean())

    phrases = UNTOLD

    @step(actor="controller")
    @tells("A controller creates {recreation}, under the name of a pod that is gone.")
    def recreate(self, recreation: Recreation) -> None:
        """The name is free at the API server: the pod is created again, once."""
        require(~self.created[recreation] & ~self.api.finds(recreation.before))
        self.created[recreation] = True
        self.api.create_pod(recreation.after)


class FinalizerOwners(Component):
    """Controllers that remove the finalizers of their pods, such as the Job controller, which first counts the pod (pkg/controller/job)."""

    api: APIServer

    @step(actor="controller", goroutine="finalizers' owner", each="pod")
    @tells("The finalizers of {pod} are removed, and its object is gone.")
    def release(self, pod: Pod) -> None:
        """The finalizers of a pending pod that is being deleted are removed."""
        require(pod.finalizers)
        require(self.api.pod[pod].pending & self.api.pod[pod].terminating)
        self.api.remove_pod(pod)

    @step(actor="controller", fair=False)
    @tells("The finalizers of {pod}, which was bound, are removed.")
    def release_bound(self, pod: Pod) -> None:
        """The finalizers of a bound pod are removed, before or after its kubelet has stopped it. The client that set them may be gone."""
        require(self.api.may_be_held(pod))
        current = self.api.pod[pod]
        leaves = (current.assigned & current.terminating) | self.api.remains[pod]
        require(self.api.held[pod] & leaves)
        self.api.take_finalizers(pod)


class PodGC(Component):
    """The pod garbage collector of the controller manager (pkg/controller/podgc, 1.36)."""

    api: APIServer

    @step(actor="pod gc", each="pod")
    @tells("The pod garbage collector removes {pod}, whose node is gone.")
    def collect(self, pod: Pod) -> None:
        """Removes a pod that is bound to a node that no longer exists."""
        require(self.scope.pod_gc)
        current = self.api.pod[pod]
        require(current.assigned & ~self.api.lingers[pod])
        require(~any_of((current.node == node) & self.api.node_exists[node] for node in self.universe[Node]))
        self.api.remove_pod(pod)

    @step(actor="pod gc", each="pod")
    @tells("The pod garbage collector removes {pod}, which terminates on a node that is out of service.")
    def collect_from_dead_node(self, pod: Pod) -> None:
        """gcTerminating: deletes a pod from a node that is not ready and has the out-of-service taint. Its containers may still run."""
        out_of_service = [v for v in self.universe[NodeVersion] if is_out_of_service(v.content)]
        dead = [n for n in self.universe[Node] if not n.later and is_out_of_service(n)]
        require(self.scope.pod_gc and bool(out_of_service or dead) and self.removes_from_dead_nodes())
        current = self.api.pod[pod]
        require(current.assigned & current.terminating & ~self.api.lingers[pod])
        on = [
            (current.node == v.node) & self.api.node_exists[v.node] & (self.api.node_version[v.node] == v)
            for v in out_of_service
        ]
        on += [(current.node == n) & self.api.node_exists[n] for n in dead]
        require(any_of(on))
        self.api.remove_pod(pod)

    def removes_from_dead_nodes(self) -> bool:
        """Whether the pod GC handles nodes that are out of service."""
        return True


OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
"""The taint by which a user says that nothing runs on a node any more (KEP-2268)."""


def is_out_of_service(node: Node) -> bool:
    """Whether what terminates on the node is removed by force."""
    return not node.ready and any(taint.key == OUT_OF_SERVICE for taint in node.taints)
