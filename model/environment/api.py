"""The API server: pod and node objects, and the writes that the others make.

Preemption deletes a victim by name (util.DeletePod), and a status is patched by name (util.PatchPodStatus), both without a UID: they hit
whichever pod has the name now. Only a Binding says which UID it is for.

Every committed write that changes an object appends one event to the watch of its kind; a write that
changes nothing appends none. Each write is one step of its caller.
"""

from collections.abc import Iterator
from typing import Protocol

from ..language import (
    Component,
    Expr,
    Knowledge,
    Value,
    Words,
    any_of,
    as_expr,
    boolean,
    clamp,
    per,
    ref,
    select,
    when,
)
from .cluster.node_versions import NodeVersion, versions_in
from .cluster.pod_versions import PodVersion, is_directed_anew, may_become
from .cluster.pod_versions import versions_in as versions_of_pod
from .cluster.scope import bound_finalizers_possible, finishing_possible, last_gate
from .names import Recreation, found_by_name, namesakes
from .objects import EXISTS, OTHERS, OWN, Claim, Node, Pod, PodCopy, PodObject, facts_of_pods, node_or_none


class WatchesPods(Protocol):
    """Where the API server sends the events of pods."""

    def publish(self, pod: Pod, old: PodObject, new: PodObject) -> None:
        """An event: the pod, its object before the write, and after it."""


class WatchesNodes(Protocol):
    """Where the API server sends the events of nodes."""

    def publish(self, node: Node, exists: Value, version: Value = None) -> None:
        """An event: the node, whether it exists after the write, and in which version; none where it has one only."""


class APIServer(Component):
    """The authoritative state of pods and nodes.

    `pod` are the objects that the scheduler's watch and lists select: of pods that neither succeeded nor failed (NewInformerFactory in
    scheduler.go, and NewPodInformer before: the field selector status.phase!=Succeeded,status.phase!=Failed, since before 1.8). A pod that
    finishes is gone for them. `finished[p]`: the pod has finished. `remains[p]`: and its object is there still, so that calls that name it find it.
    `node_version[n]`: the version of a node that has several; none while it does not exist. `held[p]`: it exists and has finalizers, where those of bound pods are looked at; `lingers[p]`: nothing else keeps its object, which is deleted, and of which nothing runs.
    """

    pod_watch: WatchesPods
    node_watch: WatchesNodes

    kinds = (Recreation,)

    pod = per(Pod, PodObject)
    node_exists = per(Node, boolean())
    node_version = per(Node, ref(NodeVersion))
    finished = per(Pod, boolean(possible=finishing_possible))
    remains = per(Pod, boolean(possible=finishing_possible))
    held = per(Pod, boolean(possible=bound_finalizers_possible))
    lingers = per(Pod, boolean(possible=bound_finalizers_possible))

    phrases = {
        "pod.exists": Words("API server: {0} is created", "API server: {0} is gone", decisive=True),
        "pod.node": Words("API server: {0} is bound to {after}", decisive=True),
        "pod.nominated": Words(
            "API server: {0} is nominated to {after}",
            "API server: {0} is no longer nominated",
            decisive=True,
        ),
        "pod.failed": Words("API server: {0} gets PodScheduled=False"),
        "pod.terminating": Words("API server: {0} is being deleted", decisive=True),
        "pod.version": Words("API server: {0} is updated", decisive=True),
        "pod.named": Words("API server: the status of {0} names claims", decisive=True),
        "pod.opened": Words("API server: {0} has a scheduling gate less", "", decisive=True),
        "pod.gated": Words(
            "API server: {0} has scheduling gates",
            "API server: {0} has no scheduling gates any more",
            decisive=True,
        ),
        "node_exists": Words(
            "API server: node {0} is added", "API server: node {0} is deleted", decisive=True
        ),
        "finished": Words("API server: {0} has finished", decisive=True),
        "held": Words(
            "API server: {0} has finalizers", "API server: {0} has no finalizers any more", decisive=True
        ),
        "lingers": Words(
            "API server: of {0} nothing is left but its object, which its finalizers keep", decisive=True
        ),
        "remains": Words(
            "API server: the object of {0} remains",
            "API server: the object of {0}, which has finished, is gone",
        ),
        "node_version": Words("API server: node {0} is {after} now", decisive=True),
    }
    knowledge = (Knowledge("API server", {**facts_of_pods("pod"), "node_exists": EXISTS}),)

    def setup(self) -> None:
        for pod in self.universe[Pod]:
            self.pod[pod] = self.at_start(pod)
            self.held[pod] = pod.exists and self.may_be_held(pod)
        for node in self.universe[Node]:
            self.node_exists[node] = node.exists
            self.node_version[node] = self.first_version(node) if node.exists else None

    def has_gates(self, pod: Pod) -> bool:
        """Whether the pod is created with scheduling gates."""
        return pod.gated

    def at_start(self, pod: Pod) -> PodObject:
        """The pod's object at the start."""
        return PodObject(
            exists=pod.exists,
            node=pod.node,
            terminating=pod.deleted,
            gated=pod.exists and self.has_gates(pod),
            named=self.named_at_start(pod),
        )

    def named_at_start(self, pod: Pod) -> int:
        """The claims that the pod's status names at the start: those that were made for the pod and exist."""
        made = {claim.name for claim in self.universe[Claim] if claim.exists}
        return OWN if pod.exists and pod.generated and pod.generated <= made else 0

    def under_name(self, pod: Pod) -> PodObject:
        """The object that has the pod's name."""
        return found_by_name(self.universe, pod, self.pod)

    def of_name(self, pod: Pod) -> tuple[Pod, ...]:
        """All pods that share the pod's name, in order of creation. A write by name affects the pod that exists."""
        return (pod, *namesakes(self.universe, pod))

    def _commit(self, pod: Pod, new: PodObject) -> None:
        old = self.pod[pod]
        with when(~old.same_as(new)):
            self.pod[pod] = new
            self.pod_watch.publish(pod, old, new)

    def create_pod(self, pod: Pod) -> None:
        """POST of a new pod."""
        self._commit(pod, PodObject(exists=True, gated=self.has_gates(pod)))
        if self.may_be_held(pod):
            self.held[pod] = True

    def remove_gates(self, pod: Pod) -> None:
        """UPDATE of the specification: removes all scheduling gates (none can be added later)."""
        self._commit(pod, self.pod[pod].replace(gated=False))

    def remove_gate(self, pod: Pod, last: Expr, version: PodVersion | None = None) -> None:
        """UPDATE of the specification: removes one scheduling gate, or all if it was the `last`. With a `version`, the pod also gets that version."""
        old = self.pod[pod]
        left = select(last, 0, clamp(old.opened + 1, 0, last_gate(self.scope)))
        number = old.version if version is None else version.number
        self._commit(pod, old.replace(gated=~last, opened=left, version=number))

    def contents(self, node: Node) -> Iterator[tuple[Expr, Node]]:
        """What the node's object can say, each with the condition under which it does. For a deleted node: what it will say when it is created again."""
        versions = versions_in(self.universe, node)
        if not versions:
            yield as_expr(True), node
        for version in versions:
            current = as_expr(self.node_version[node])
            gone = current.is_none if version is versions[0] else False
            yield (current == version) | gone, version.content

    def may_be_updated(self, version: PodVersion) -> Expr:
        """Whether an UPDATE to this version is accepted and changes something."""
        current = self.pod[version.pod]
        olds = [v for v in versions_of_pod(self.universe, version.pod) if v is not version]
        return current.exists & any_of(
            (current.version == old.number) & self._may_be_directed(current, old.content, version.content)
            for old in olds
            if self.accepts_update(old.content, version.content)
        )

    def _may_be_directed(self, current: PodObject, old: Pod, new: Pod) -> Expr:
        return as_expr(current.gated if is_directed_anew(old, new) else True)

    def accepts_update(self, old: Pod, new: Pod) -> bool:
        """Whether the API server accepts this update of a pod."""
        return may_become(old, new)

    def update_pod(self, version: PodVersion) -> None:
        """UPDATE of a pod's object: its labels, its tolerations, or its requests (the resize subresource, and then the status)."""
        self._commit(version.pod, self.pod[version.pod].replace(version=version.number))

    def delete_pod(self, pod: Pod) -> None:
        """DELETE: removes the pod at once if nothing runs, no grace period is needed and there is no finalizer; otherwise sets the deletion timestamp."""
        old = self.pod[pod]
        graceful = (old.assigned & pod.graceful) | (old.pending & pod.finalizers)
        if self.may_be_held(pod):
            graceful |= old.assigned & self.held[pod]
        with when(old.exists):
            with when(graceful):
                self._commit(pod, old.replace(terminating=True))
            with when(~graceful):
                self.remove_pod(pod)

    def finds(self, pod: Pod) -> Expr:
        """Whether a call with the pod's name finds an object, even if that pod has finished."""
        return any_of(as_expr(self.pod[named].exists) | self.remains[named] for named in self.of_name(pod))

    def evict_pod(self, pod: Pod) -> None:
        """Preemption's DELETE of a victim by name, if the name exists."""
        for named in self.of_name(pod):
            self.end_victim(named)

    def end_victim(self, pod: Pod) -> None:
        """The effect of preemption's write on the pod that has the victim's name."""
        self.delete_pod(pod)
        self.delete_finished(pod)

    def finish_pod(self, pod: Pod) -> None:
        """UPDATE of the status: sets the phase to Succeeded or Failed. The object stays."""
        self._commit(pod, PodObject())
        self.finished[pod] = True
        self.remains[pod] = True

    def delete_finished(self, pod: Pod) -> None:
        """DELETE of a finished pod: removes it at once, without an event (CheckGracefulDelete in registry/core/pod/strategy.go). With finalizers it stays."""
        if not self.may_be_held(pod):
            self.remains[pod] = False
            return
        with when(self.remains[pod]):
            self.lingers[pod] = self.held[pod]
            self.remains[pod] = self.held[pod]

    def remove_pod(self, pod: Pod) -> None:
        """Removes the object, unless it has finalizers (DELETE with grace period 0, as the kubelet and the pod GC send it)."""
        if not self.may_be_held(pod):
            self._disappear(pod)
            return
        kept = as_expr(self.held[pod]) & self.pod[pod].assigned
        with when(kept):
            self.lingers[pod] = True
            self.linger(pod)
        with when(~kept):
            self._disappear(pod)

    def _disappear(self, pod: Pod) -> None:
        with when(self.pod[pod].exists):
            self._commit(pod, PodObject())
            if self.may_be_held(pod):
                self.held[pod] = False

    def may_be_held(self, pod: Pod) -> bool:
        """Whether finalizers keep the object of the pod while it is bound."""
        return pod.finalizers and bool(self.scope.bound_finalizers)

    def linger(self, pod: Pod) -> None:
        """The event for a deleted pod that finalizers keep: its phase is Failed or Succeeded before the DELETE, so the scheduler sees it as gone (115331)."""
        self.finish_pod(pod)

    def take_finalizers(self, pod: Pod) -> None:
        """UPDATE: removes the pod's finalizers. If the pod was deleted and no longer runs, its object is removed, too."""
        self.held[pod] = False
        with when(self.lingers[pod]):
            self.lingers[pod] = False
            self.remains[pod] = False
            self._disappear(pod)

    def can_bind(self, pod: Pod) -> Expr:
        """Whether the API server accepts a Binding, which has the UID as a precondition (assignPod in registry/core/pod/storage)."""
        old = self.pod[pod]
        return old.pending & ~old.terminating & ~old.gated

    def bind(self, pod: Pod, node: Node | Expr) -> None:
        """Commit a Binding: sets spec.nodeName and PodScheduled=True, and clears the nomination."""
        old = self.pod[pod]
        with when(self.can_bind(pod)):
            self._commit(pod, old.replace(node=node, failed=False, nominated=self.nominated_when_bound(old)))

    def nominated_when_bound(self, old: PodObject) -> Value:
        """The nomination that a pod keeps when it is bound: none."""
        return None

    def may_be_nominated(self, pod: Pod) -> Expr:
        """ValidatePodStatusUpdate: a bound pod cannot be nominated to another node."""
        return self.pod[pod].pending

    def patch_status(self, pod: Pod, failed: Value, nominated: Value, withdrawn: Value = False) -> None:
        """PATCH of the status without a precondition: writes the condition, and sets the nomination if there is one, or removes it if `withdrawn`.

        One that is not valid is refused as a whole.
        """
        for named in self.of_name(pod):
            self._patch_status(named, failed, nominated, withdrawn)

    def _patch_status(self, pod: Pod, failed: Value, nominated: Value, withdrawn: Value) -> None:
        old = self.pod[pod]
        wanted = node_or_none(nominated)
        with when(old.exists & (wanted.is_none | self.may_be_nominated(pod))):
            self._commit(
                pod,
                old.replace(
                    failed=failed,
                    nominated=select(wanted.is_none, select(withdrawn, None, old.nominated), wanted),
                ),
            )

    def clear_nomination(self, pod: Pod) -> None:
        """Write an empty status.nominatedNodeName."""
        for named in self.of_name(pod):
            with when(self.pod[named].exists):
                self._commit(named, self.pod[named].replace(nominated=None))

    def set_nomination(self, pod: Pod, node: Value) -> None:
        """Write status.nominatedNodeName."""
        for named in self.of_name(pod):
            with when(self.may_be_nominated(named)):
                self._commit(named, self.pod[named].replace(nominated=node))

    def name_claims(self, pod: Pod) -> None:
        """Apply of the status, by name: the pod that has the name now gets the names of the claims that were made for `pod`."""
        for named in self.of_name(pod):
            with when(self.pod[named].exists):
                self._commit(named, self.pod[named].replace(named=OWN if named is pod else OTHERS))

    def name_special_claim(self, pod: Pod) -> None:
        """PATCH of status.extendedResourceClaimStatus, by name: the generated name of the special claim. If the pod also has other claims that are made for it, `named` concerns those."""
        for named in self.of_name(pod):
            if not named.generated:
                current = self.pod[named]
                other = select(as_expr(current.named) == OWN, OTHERS, OWN)
                with when(current.exists):
                    self._commit(named, current.replace(named=other))

    def first_version(self, node: Node) -> NodeVersion | None:
        """The version in which the node is created, or None if the node has only one version."""
        return next(iter(versions_in(self.universe, node)), None)

    def write_node(self, node: Node, exists: bool, version: NodeVersion | Expr | None = None) -> None:
        """POST, DELETE or UPDATE of a node object. A node that is created again starts in its first version."""
        written = self.first_version(node) if version is None else version
        self.node_exists[node] = exists
        self.node_version[node] = written if exists else None
        self.node_watch.publish(node, exists, written)

    def is_current(self, pod: Pod, copy: PodCopy) -> Expr:
        """Whether an Update based on `copy` would pass the resourceVersion check.

        Versions are compared by content: two versions of equal content count as one.
        """
        old = self.pod[pod]
        return old.pending & old.copy().same_as(copy)
