"""The taint eviction controller: it deletes pods from nodes with NoExecute taints that they do not tolerate (pkg/controller/tainteviction, 1.36).

It has informers of its own for nodes and pods, which lag each on its own. What it does next it keeps by namespace and name (`TimedWorkerQueue`): an entry is a timer that
is armed, or nothing for a work that began at once. A work deletes whichever pod has the name by then, in a goroutine of its own, and after that takes the entry away.
"""

from enum import Enum

from ...language import (
    UNTOLD,
    Component,
    Expr,
    any_of,
    as_expr,
    boolean,
    enum,
    integer,
    otherwise,
    per,
    ref,
    require,
    step,
    tells,
    when,
)
from ..api import APIServer
from ..cluster.derived import Derived, Found, Roster
from ..cluster.node_versions import NodeVersion, versions_in
from ..cluster.pod_versions import forms
from ..cluster.scope import last_version
from ..names import Recreation, namesakes
from ..objects import Node, Pod


class SeenPod(Derived):
    """A pod that the controller minds: one for each, where there is a controller."""

    pod: Pod

    @classmethod
    def found_in(cls, cluster: Roster) -> Found:
        return ((pod,) for pod in cluster.spec.pods if cluster.spec.scope.taint_eviction)


class SeenNode(Derived):
    """A node that the controller minds: one for each, where there is a controller."""

    node: Node

    @classmethod
    def found_in(cls, cluster: Roster) -> Found:
        return ((node,) for node in cluster.spec.nodes if cluster.spec.scope.taint_eviction)


class Entry(Enum):
    """What the queue of works has under a name."""

    NONE = 0
    TIMER = 1
    NIL = 2


class Work(Enum):
    """What the goroutine of a name's work does next."""

    NONE = 0
    DELETE = 1
    END = 2
    FAIL = 3


class Fate(Enum):
    """What a node's NoExecute taints mean for a pod there."""

    STAYS = 0
    LATER = 1
    NOW = 2


def fate(pod: Pod, node: Node) -> Fate:
    """processPodOnNode: a taint is tolerated for ever, for a while (by the first toleration that fits: GetMatchingTolerations), or not at all."""
    found = Fate.STAYS
    for taint in node.taints:
        if taint.effect == "NoExecute":
            fitting = next((t for t in pod.tolerations if t.tolerates(taint)), None)
            if fitting is None:
                return Fate.NOW
            if fitting.seconds is not None:
                found = Fate.LATER
    return found


class TaintEviction(Component):
    """The taint eviction controller: its view, and its planned deletions.

    `known[n]`: the version of the node that it has handled; none of one that has one only, or is gone. `listed[p]`, `on[p]`, `version[p]`: the pod in its informer's
    store; `on` stays until the deletion is handled. `due[p]`: the pod's newest event is still to be handled. Works are kept by name, under the first pod that has it: `entry`, `armed` (one is
    to begin) and `whom` it is for, `work` (its goroutine) and whom that is to delete, its `target`.
    """

    api: APIServer

    kinds = (SeenPod, SeenNode)

    known = per(SeenNode, ref(NodeVersion))
    listed = per(SeenPod, boolean())
    on = per(SeenPod, ref(Node))
    version = per(SeenPod, integer(0, last_version))
    due = per(SeenPod, boolean())
    entry = per(SeenPod, enum(Entry))
    armed = per(SeenPod, boolean())
    work = per(SeenPod, enum(Work))
    whom = per(SeenPod, ref(Pod))
    target = per(SeenPod, ref(Pod))

    phrases = UNTOLD

    def setup(self) -> None:
        if not self.scope.taint_eviction:
            return
        for node in self.universe[Node]:
            if node.exists:
                self.known[self.seen_node(node)] = self.api.first_version(node)
        for pod in self.universe[Pod]:
            if pod.exists:
                self.listed[self.seen(pod)] = True
                self.on[self.seen(pod)] = pod.node
                self.due[self.seen(pod)] = pod.node is not None

    def seen(self, pod: Pod) -> SeenPod:
        """The pod as the controller's informer has it."""
        return self.universe[SeenPod][pod.index]

    def seen_node(self, node: Node) -> SeenNode:
        """The node as the controller's informer has it."""
        return self.universe[SeenNode][node.index]

    def name_of(self, pod: Pod) -> Pod:
        """The pod under which planned deletions for the name are stored."""
        return next((r.before for r in self.universe[Recreation] if r.after is pod), pod)

    def is_at(self, name: Pod, work: Work) -> Expr:
        """Whether the goroutine for the name is at this point; never without a controller."""
        return self.work[self.seen(name)] == work if self.scope.taint_eviction else as_expr(False)

    def deletes(self, pod: Pod) -> Expr:
        """Whether a goroutine is to delete the pod, even if another pod has its name by now."""
        name = self.name_of(pod)
        meant = self.target[self.seen(name)] == pod if self.scope.taint_eviction else as_expr(False)
        return self.is_at(name, Work.DELETE) & meant

    def keeps(self, name: Pod) -> Expr:
        """Whether a planned deletion is stored for a pod whose deletion was handled, although none of its goroutines runs or will start."""
        if not self.scope.taint_eviction:
            return as_expr(False)
        of = self.seen(name)
        idle = ~self.armed[of] & (self.work[of] == Work.NONE)
        return idle & ~self.listed[of] & ~self.due[of] & (self.entry[of] != Entry.NONE)

    def has_old_taint(self, pod: Pod) -> Expr:
        """Whether the pod is on a ready node that still has a NoExecute taint in taintedNodes; never without a controller."""
        if not self.scope.taint_eviction:
            return as_expr(False)
        current = self.api.pod[pod]
        tainted = [
            v for v in self.universe[NodeVersion] if any(t.effect == "NoExecute" for t in v.content.taints)
        ]
        return current.assigned & any_of(
            (current.node == v.node)
            & (self.known[self.seen_node(v.node)] == v)
            & any_of(shown & as_expr(content.ready) for shown, content in self.api.contents(v.node))
            for v in tainted
        )

    # --- what it hears ---------------------------------------------------------------------------------------

    @step(
        actor="taint eviction controller", goroutine="taint eviction controller's node updates", each="node"
    )
    @tells("The taint eviction controller is notified of node {node}.")
    def hear_of_node(self, node: Node) -> None:
        """handleNodeUpdate: the informer's store has the node, taintedNodes gets its taints, and each pod on the node is checked.

        Of several updates that came meanwhile it sees the last only: it reads the lister.
        """
        require(self.scope.taint_eviction and bool(versions_in(self.universe, node)))
        current = self.api.node_version[node]
        here = self.api.node_exists[node]
        require(
            (here & (self.known[self.seen_node(node)] != current))
            | (~here & self.known[self.seen_node(node)].is_some)
        )
        with when(~here):
            self.known[self.seen_node(node)] = None
        for shown in versions_in(self.universe, node):
            with when(here & (current == shown)):
                self.known[self.seen_node(node)] = shown
                for pod in self.universe[Pod]:
                    with when(self.listed[self.seen(pod)] & (self.on[self.seen(pod)] == node)):
                        self.look_at(pod, shown.content)

    @step(actor="taint eviction controller", each="pod")
    @tells("The taint eviction controller's informer is notified of {pod}.")
    def hear_of_pod(self, pod: Pod) -> None:
        """PodUpdated: the informer's store has the pod's current object, and its name enters the queue of pods."""
        require(self.scope.taint_eviction)
        current = self.api.pod[pod]
        moved = current.exists & (
            (current.node != self.on[self.seen(pod)]) | (current.version != self.version[self.seen(pod)])
        )
        require((current.exists != self.listed[self.seen(pod)]) | moved)
        for other in namesakes(self.universe, pod):
            if pod.recreates is not None:
                require(~self.listed[self.seen(other)])
        self.listed[self.seen(pod)] = current.exists
        with when(current.exists):
            self.on[self.seen(pod)] = current.node
            self.version[self.seen(pod)] = current.version
            self.due[self.seen(pod)] = current.node.is_some
        with otherwise():
            self.version[self.seen(pod)] = 0
            self.due[self.seen(pod)] = True

    @step(actor="taint eviction controller", each="pod")
    @tells("The taint eviction controller handles what it was notified of {pod}.")
    def handle_pod(self, pod: Pod) -> None:
        """handlePodUpdate: gets the pod by name, and checks it if it is on the node that the event was about."""
        require(self.scope.taint_eviction)
        require(self.due[self.seen(pod)])
        self.due[self.seen(pod)] = False
        where = as_expr(self.on[self.seen(pod)])
        others = namesakes(self.universe, pod)
        with when(self.listed[self.seen(pod)]):
            self.look_where(pod, where)
        for other in others:
            with when(
                ~self.listed[self.seen(pod)]
                & self.listed[self.seen(other)]
                & (self.on[self.seen(other)] == where)
            ):
                self.look_where(other, where)
        with when(~self.listed[self.seen(pod)] & ~any_of(self.listed[self.seen(other)] for other in others)):
            self.cancel(pod)
        with when(~self.listed[self.seen(pod)]):
            self.on[self.seen(pod)] = None

    def look_where(self, pod: Pod, where: Expr) -> None:
        """The pod is checked if its node has taints in taintedNodes."""
        for node in self.universe[Node]:
            several = versions_in(self.universe, node)
            for shown, content in [(self.known[self.seen_node(node)] == v, v.content) for v in several] or [
                (as_expr(True), node)
            ]:
                if any(taint.effect == "NoExecute" for taint in content.taints):
                    with when((where == node) & shown):
                        self.look_at(pod, content)

    def look_at(self, pod: Pod, node: Node) -> None:
        """processPodOnNode, as handleNodeUpdate calls it: without taints, the planned deletion is cancelled."""
        for shown, form in forms(self.universe, pod, self.version[self.seen(pod)]):
            with when(shown):
                meant = fate(form, node)
                if meant is not Fate.LATER:
                    self.cancel(pod)
                if meant is not Fate.STAYS:
                    self.add_work(pod, Entry.NIL if meant is Fate.NOW else Entry.TIMER)

    # --- its works -------------------------------------------------------------------------------------------

    def cancel(self, pod: Pod) -> None:
        """CancelWork: removes the entry, and stops the timer if it has not fired. A deletion that started immediately continues."""
        name = self.name_of(pod)
        with when(self.entry[self.seen(name)] == Entry.TIMER):
            self.armed[self.seen(name)] = False
            self.whom[self.seen(name)] = None
        self.entry[self.seen(name)] = Entry.NONE

    def add_work(self, pod: Pod, entry: Entry) -> None:
        """AddWork: does nothing if there is already an entry."""
        name = self.name_of(pod)
        with when(self.entry[self.seen(name)] == Entry.NONE):
            self.entry[self.seen(name)] = entry
            self.armed[self.seen(name)] = True
            self.whom[self.seen(name)] = pod

    @step(actor="taint eviction controller", each="pod")
    @tells("The time is over that {pod} may stay: a goroutine begins to delete it.")
    def begin(self, pod: Pod) -> None:
        """The timer has fired, or the goroutine of an immediate deletion runs. A second deletion with the same name waits for the first."""
        require(self.scope.taint_eviction and self.name_of(pod) is pod)
        require(self.armed[self.seen(pod)] & (self.work[self.seen(pod)] == Work.NONE))
        self.armed[self.seen(pod)] = False
        self.work[self.seen(pod)] = Work.DELETE
        self.target[self.seen(pod)] = self.whom[self.seen(pod)]
        self.whom[self.seen(pod)] = None

    @step(actor="taint eviction controller", each="pod")
    @tells("The taint eviction controller deletes the pod that is called {pod}.")
    def delete(self, pod: Pod) -> None:
        """addConditionAndDeletePod: a DELETE by name, together with the condition. It fails if no pod has the name."""
        require(self.scope.taint_eviction and self.name_of(pod) is pod)
        require(self.work[self.seen(pod)] == Work.DELETE)
        with when(self.api.finds(pod)):
            self.send_delete(pod)
            self.work[self.seen(pod)] = Work.END
        with otherwise():
            self.work[self.seen(pod)] = Work.FAIL

    def send_delete(self, pod: Pod) -> None:
        """The DELETE of the pod that has the name now."""
        self.api.evict_pod(pod)

    @step(actor="taint eviction controller", each="pod")
    @tells("The goroutine that has deleted {pod} ends.")
    def end(self, pod: Pod) -> None:
        """getWrappedWorkerFunc after the deletion: removes the entry of the name."""
        require(self.scope.taint_eviction and self.name_of(pod) is pod)
        require((self.work[self.seen(pod)] == Work.END) | (self.work[self.seen(pod)] == Work.FAIL))
        self.conclude(pod)
        self.work[self.seen(pod)] = Work.NONE
        self.target[self.seen(pod)] = None

    def conclude(self, pod: Pod) -> None:
        """Removes the entry, whatever it contains."""
        self.entry[self.seen(pod)] = Entry.NONE
