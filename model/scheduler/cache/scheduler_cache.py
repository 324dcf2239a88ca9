"""The scheduler cache (backend/cache/cache.go, 1.34): what the scheduler believes of nodes and pods.

Every method is atomic under the cache's lock. A NodeInfo outlives its Node object while pods remain on
it, because pod events travel on another watch. A method that upstream lets fail returns whether it
failed; then it changed nothing, unless it says otherwise.
"""

from ...environment.cluster.node_versions import NodeVersion, versions_in
from ...environment.cluster.pod_versions import PodVersion, first_version, numbered
from ...environment.cluster.scope import latest_deadline
from ...environment.names import Recreation
from ...environment.objects import EXISTS, ON_NODE, TERMINATING, Node, Pod, PodCopy, PodObject
from ...environment.storage.volumes import CountedClaim
from ...language import (
    Component,
    Expr,
    Fact,
    Knowledge,
    Record,
    Value,
    Words,
    any_of,
    as_expr,
    boolean,
    clamp,
    count,
    integer,
    otherwise,
    per,
    ref,
    when,
)
from ...language.expressions.sorts import sort_of_ref
from ..framework.interface import GroupMembers
from .node_info import NodeInfos
from .node_tree import NodeTree
from .order import Zone

MOST_USERS = 7
"""A count that is wrong by so much is wrong by more than there are pods that share a claim."""


class CachedPod(Record):
    """A pod state: the node whose NodeInfo holds the pod, and how the pod got there."""

    node = ref(Node)
    assumed = boolean()
    bound = boolean()  # FinishBinding was called: the expiry clock runs
    terminating = boolean()


class Cache(Component):
    """Pods by node, assumed pods, and the nodes that have a Node object.

    `copy` is the object that was assumed; once the pod watch confirms the pod, it is zero. `version` is the
    pod state's object where a pod's objects differ in more than a PodObject tells. `deadline` is zero for none. `uncounted[c]`: by so much the next snapshot's count of the pods that use the claim is
    too small (pvcRefCountsDelta, 1.37): see `Snapshot.count_users`.
    """

    node_infos: NodeInfos
    node_tree: NodeTree
    pod_group_states: GroupMembers

    pod = per(Pod, CachedPod)
    copy = per(Pod, PodCopy)
    version = per(Pod, ref(PodVersion))
    deadline = per(Pod, integer(0, latest_deadline))
    live = per(Node, boolean())
    node_version = per(Node, ref(NodeVersion))  # which version of the Node object, where it has several
    uncounted = per(CountedClaim, integer(-MOST_USERS, MOST_USERS, 0))

    phrases = {
        "pod.node": Words("cache: {0} is on {after}", "cache: {0} is off {before}"),
        "pod.assumed": Words("{0} is assumed", decisive=True),
        "live": Words("cache: node {0} is there", "cache: node {0} is gone"),
    }
    knowledge = (
        Knowledge(
            "cache",
            {
                "pod.node": ON_NODE,
                "pod.assumed": Fact("assumed", "assumed"),
                "pod.terminating": TERMINATING,
                "live": EXISTS,
            },
        ),
    )

    def setup(self) -> None:
        for pod in self.universe[Pod]:
            if pod.exists and pod.node is not None:
                self.pod[pod] = CachedPod(node=pod.node, terminating=pod.deleted)
                self.version[pod] = first_version(self.universe, pod)
        for node in self.universe[Node]:
            self.live[node] = node.exists
            first = next(iter(versions_in(self.universe, node)), None)
            self.node_version[node] = first if node.exists else None

    # --- what it knows -----------------------------------------------------------------------------------

    def knows(self, pod: Pod) -> Expr:
        """Whether the cache has the pod in any state."""
        return self.pod[pod].node.is_some

    def node_of(self, pod: Pod) -> Expr:
        """The node whose NodeInfo holds the pod, or none."""
        return self.pod[pod].node

    def on(self, pod: Pod, node: Node) -> Expr:
        """Whether the NodeInfo of `node` holds the pod."""
        return self.node_of(pod) == node

    def is_assumed(self, pod: Pod) -> Expr:
        """IsAssumedPod."""
        return self.pod[pod].assumed

    def has_entry(self, node: Node) -> Expr:
        """Whether the node has a NodeInfo, which can be without a Node object (a ghost)."""
        return self.live[node] | any_of(self.on(p, node) for p in self.universe[Pod])

    def may_be_elsewhere(self) -> bool:
        """Whether a pod can be assumed on a node other than the one to which it is bound, by the scenario's scope.

        Somebody else binds it, or an earlier attempt did without being heard of, or for the pod that had its name before.
        """
        scope = self.scope
        unheard = scope.lost_replies or scope.late_bindings or scope.assume_expiries
        unheard = unheard or scope.leader_changes or scope.extender_failures
        return bool(scope.external_binds or unheard or self.universe[Recreation])

    # --- pods of the scheduling and the binding cycle ----------------------------------------------------

    def assume(self, pod: Pod, node: Node, copy: PodCopy, version: Value = None) -> Expr:
        """AssumePod: fails if the cache knows the pod."""
        known, version = self.knows(pod), self._version(pod, copy, version)
        with when(~known):
            self._put(pod, CachedPod(node=node, assumed=True), version)
            self.copy[pod] = copy
            self.version[pod] = version
            self.pod_group_states.assume(pod)
        return known

    def finish_binding(self, pod: Pod, now: int | None = None, ttl: int = 0) -> None:
        """FinishBinding: from now on the assumed pod can expire. If time is measured, it expires `ttl` after `now`."""
        with when(self.is_assumed(pod)):
            self.pod[pod].bound = True
            if now is not None:
                self.deadline[pod] = now + ttl if ttl else 0

    def forget(self, pod: Pod, node: Value) -> Expr:
        """ForgetPod: fails unless the pod is assumed on this node. A pod that is gone counts as forgotten."""
        allowed = self.is_assumed(pod) & (self.pod[pod].node == node)
        with when(allowed):
            self._drop(pod)
            self.pod_group_states.forget(pod)
        return ~allowed & ~self.is_forgotten(pod)

    def is_forgotten(self, pod: Pod) -> Expr:
        """Whether ForgetPod has nothing to do, and reports no error."""
        return ~self.knows(pod)

    # --- pods of the watch ---------------------------------------------------------------------------------

    def add_pod(self, pod: Pod, new: PodObject, version: Value = None) -> Expr:
        """AddPod: confirms an assumed pod (and moves it if the node differs), or adds an unknown or expired pod."""
        confirmed, version = self.knows(pod) & ~self.is_assumed(pod), self._version(pod, new, version)
        with when(~confirmed):
            self.pod_group_states.confirm(pod, self.is_assumed(pod))
            cached = CachedPod(node=new.node, terminating=new.terminating)
            with when(self.is_assumed(pod) & (self.pod[pod].node == new.node)):
                self._confirm(pod, cached, version)
            with otherwise():
                self._take_out(pod)
                self._put(pod, cached, version)
            self._is_now(pod, version)
        return confirmed

    def _confirm(self, pod: Pod, cached: CachedPod, version: Value) -> None:
        """The watch shows the pod on the node on which it was assumed: the NodeInfo gets the newer object."""
        self._take_out(pod)
        self._put(pod, cached, version)

    def update_pod(self, pod: Pod, new: PodObject, version: Value = None) -> Expr:
        """UpdatePod: fails unless the pod is confirmed. Replaces the old object in the NodeInfo by the new one."""
        confirmed, version = self.knows(pod) & ~self.is_assumed(pod), self._version(pod, new, version)
        with when(confirmed):
            self.pod_group_states.refresh(pod)
            self._take_out(pod)
            self._put(pod, CachedPod(node=new.node, terminating=new.terminating), version)
            self._is_now(pod, version)
        return ~confirmed

    def remove_pod(self, pod: Pod) -> Expr:
        """RemovePod: fails if the cache does not know the pod."""
        removable = self.removable(pod)
        with when(removable):
            self._drop(pod)
            self.pod_group_states.remove(pod)
        return ~removable

    def removable(self, pod: Pod) -> Expr:
        """The pods that RemovePod accepts, including assumed pods whose binding the watch may have missed."""
        return self.knows(pod)

    # --- expiry: only where a time to live is configured, which no release from 1.25 on does ---------------

    def may_expire(self, pod: Pod) -> Expr:
        """Whether the pod was assumed, and its bind was reported finished."""
        bound: Expr = self.pod[pod].bound
        return self.is_assumed(pod) & bound

    def clean_up(self, now: int) -> None:
        """cleanupAssumedPods, if time is measured: a pod expires after its deadline, or never without one."""
        for pod in self.universe[Pod]:
            deadline = self.deadline[pod]
            with when(self.may_expire(pod) & (deadline != 0) & (deadline < now)):
                self._drop(pod)

    # --- nodes ---------------------------------------------------------------------------------------------

    def add_node(self, node: Node, zone: Zone | None = None, version: Value = None) -> None:
        """AddNode: the NodeInfo, which is created if needed, gets the Node object, in this version if there are several."""
        versions = versions_in(self.universe, node)
        if versions:
            for known in versions:
                with when(as_expr(version, sort_of_ref(NodeVersion)) == known):
                    self.node_tree.add(node, self.node_tree.zone_by_labels(known.content))
        else:
            self.node_tree.add(node, zone or self.node_tree.zone_by_labels(node))
        self._show(node)
        self.node_version[node] = version
        self.node_infos.touch(node)

    def update_node(self, node: Node, old: Zone | None, new: Zone) -> None:
        """UpdateNode, from an object in zone `old` (None: no old object) to an object in zone `new`.

        Only a node without NodeInfo enters the tree by this.
        """
        with when(~self.has_entry(node)):
            self.node_tree.add(node, new)
        self.node_tree.update(node, old, new)
        self._show(node)
        self.node_infos.touch(node)

    def update_version(self, old: NodeVersion, new: NodeVersion) -> None:
        """UpdateNode, from one version of a node's object to another."""
        zone = self.node_tree.zone_by_labels
        self.update_node(new.node, zone(old.content), zone(new.content))
        self.node_version[new.node] = new

    def remove_node(self, node: Node, zone: Zone | None = None) -> Expr:
        """RemoveNode: the NodeInfo loses its Node object. Its pods stay until their own events arrive.

        Fails for a node without NodeInfo, and, too late to change nothing, for one that is not in the tree.
        """
        known = self.has_entry(node)
        self._lose(node)
        with when(known):
            self.node_infos.touch(node)
        versions = versions_in(self.universe, node)
        if versions:
            missing, shown = as_expr(False), self.node_version[node]
            for version in versions:
                with when(shown == version):
                    absent = self.node_tree.remove(node, self.node_tree.zone_by_labels(version.content))
                missing = missing | ((shown == version) & absent)
        else:
            missing = self.node_tree.remove(node, zone or self.node_tree.zone_by_labels(node))
        self.node_version[node] = None
        return ~known | missing

    def _show(self, node: Node) -> None:
        """The NodeInfo gets a Node object, and its pods count again: RemoveNode removed them, and nothing adds them again."""
        if self.keeps_counts():
            for claim in self.universe[CountedClaim]:
                with when(~self.live[node]):
                    self._miscount(claim, count(self.on(pod, node) for pod in claim.users))
        self.live[node] = True

    def keeps_counts(self) -> bool:
        """Whether the snapshot updates its counts of claim users by differences (refreshPVCRefCountsDelta, 1.37). Otherwise it counts again."""
        return True

    def _miscount(self, claim: CountedClaim, more: Value) -> None:
        """The next snapshot's count is too small by this number."""
        self.uncounted[claim] = clamp(self.uncounted[claim] + as_expr(more), -MOST_USERS, MOST_USERS)

    def _change_ghost(self, pod: Pod, node: Value, more: int) -> None:
        """A pod enters or leaves a NodeInfo. Without a Node object this still changes the count, although the node's pods do not count."""
        if not self.keeps_counts():
            return
        for claim in self.universe[CountedClaim]:
            if pod in claim.users:
                ghost = any_of((as_expr(node) == n) & ~self.live[n] for n in self.universe[Node])
                with when(ghost):
                    self._miscount(claim, more)

    def _lose(self, node: Node) -> None:
        """The NodeInfo loses its Node object."""
        self.live[node] = False

    # --- common to several -----------------------------------------------------------------------------------

    def _version(self, pod: Pod, shown: PodObject | PodCopy, version: Value) -> Value:
        """The version of the object to keep: the given one, otherwise the one in the object."""
        return numbered(self.universe, pod, shown.version) if version is None else version

    def _put(self, pod: Pod, cached: CachedPod, version: Value) -> None:
        """addPod: into a NodeInfo."""
        self.pod[pod] = cached
        self.node_infos.add(pod, cached.node, version)
        self._change_ghost(pod, cached.node, -1)

    def _take_out(self, pod: Pod) -> None:
        """removePod: removes the pod from the NodeInfo."""
        node = self.node_of(pod)
        self._change_ghost(pod, node, 1)
        self.pod[pod] = CachedPod()
        self.node_infos.remove(pod, node)

    def _drop(self, pod: Pod) -> None:
        self._take_out(pod)
        self._is_now(pod, None)

    def _is_now(self, pod: Pod, version: Value) -> None:
        """Everything from the time when the pod was assumed is dropped."""
        self.copy[pod] = PodCopy()
        self.version[pod] = version
        self.deadline[pod] = 0
