"""Event handlers (eventhandlers.go, 1.35): how watch events reach the queue and the cache.

A handler works on one event at a time. Where it makes two locked calls, it makes two steps, and `busy`
says that it is between them. Pods have one handler; what it does for unassigned and for assigned ones are two parts that take
turns (`PodWatch.is_turn`).
"""

from collections.abc import Mapping
from enum import Enum

from ..environment.cluster.derived import Derived
from ..environment.objects import ExtensionPoint, Node, Pod, PodObject
from ..environment.pod_groups import PodGroups
from ..environment.watch import Handler, NodeWatch, PodWatch
from ..language import (
    NOTHING,
    UNTOLD,
    Component,
    Expr,
    Lasts,
    Reader,
    Value,
    any_of,
    as_expr,
    boolean,
    changes,
    enum,
    otherwise,
    per,
    require,
    select,
    step,
    tells,
    when,
)
from .cache.scheduler_cache import Cache
from .framework import events
from .framework.filters import Filters
from .framework.interface import Framework, GroupMembers
from .framework.waiting_pods import WaitingPods
from .node_updates import NodeUpdates
from .pod_updates import PodUpdates
from .queue.moves import Mover
from .queue.scheduling_queue import PriorityQueue


class Waking(Enum):
    """Which parked pods the handler for unassigned pods has still to move."""

    NONE = 0
    ALL = 1
    NOT_ABOVE = 2


class Removal(Enum):
    """What the handler has still to see to for a pod that has left the queue because it is gone."""

    NONE = 0
    LOOK = 1
    REJECT = 2
    FORGET = 3
    MEMBER = 4
    FETCH = 5


class Addition(Enum):
    """The next action of the handler for a pod that was added: queue.Add, or the move of parked pods."""

    NONE = 0
    ADD = 1
    MOVE = 2


class Arrival(Derived, found=lambda cluster: ((pod,) for pod in cluster.spec.pods if cluster.spec.groups)):
    """A pod of a cluster with groups: where they are scheduled, the handler takes several steps to add it."""

    pod: Pod


class EventHandlers(Component):
    """The handlers for unassigned pods (queue), assigned pods (cache) and nodes. `end_process`: one of them can end the process; then a new process lists everything."""

    pod_watch: PodWatch
    node_watch: NodeWatch
    queue: PriorityQueue
    cache: Cache
    filters: Filters
    scheduler: Framework
    waiting: WaitingPods
    updates: NodeUpdates
    pod_updates: PodUpdates
    pod_groups: PodGroups
    pod_group_states: GroupMembers

    kinds = (Arrival,)

    adding = per(Arrival, enum(Addition))
    queue_busy = boolean()
    queue_removal = enum(Removal)
    queue_waking = enum(Waking)
    cache_busy = boolean()
    node_busy = boolean()

    steps_last = Lasts.SHORT
    end_process = False

    phrases = UNTOLD
    reads = (
        (
            "pod watch",
            Reader("the queue handler", "pod_watch.next[QUEUE]", "for_queue", "handlers.queue_busy"),
        ),
        (
            "pod watch",
            Reader("the cache handler", "pod_watch.next[CACHE]", "for_cache", "handlers.cache_busy"),
        ),
        ("node watch", Reader("the node handler", busy="handlers.node_busy")),
    )

    # --- unassigned pods -----------------------------------------------------------------------------

    def skips_update(self, pod: Pod, new: PodObject) -> Expr:
        """Updates of an assumed pod are dropped."""
        return self.cache.is_assumed(pod)

    @step(actor="queue handler")
    @tells("The watch delivers an event about {pod} to the queue's handler.")
    def handle_for_queue(self, pod: Pod) -> None:
        """The queue's handler takes its next event: an unassigned pod was added or changed, or is no longer unassigned."""
        require(self.is_queue_idle())
        self.queue.goes_on(self.goroutine_of(Handler.QUEUE))
        old, new = self.pod_watch.take(Handler.QUEUE, pod)
        update = old.pending & new.pending
        with when(update):
            self.sync_with_dispatcher(pod, new)
            self.pod_group_states.renew(pod)
        with when(update & ~self.skips_update(pod, new)):
            self.queue_busy = True
        with otherwise(update & self.sees_to_termination(old, new)):
            self.queue_removal = self.first_of_assumed(pod)
        with otherwise(update):
            # updatePodInSchedulingQueue returns before it looks whether the nomination changed.
            self.pod_watch.processed(Handler.QUEUE, pod, new)
        with otherwise():
            member = self.pod_groups.member(pod)
            with when(new.pending & ~old.pending):
                self.begin_addition(pod, new)
            with otherwise(~new.pending):
                self.queue.delete(pod)
            with when(self.sees_to_removal(pod, new)):
                self.queue_removal = self.first_of_removal() if member is None else self.begin_removal_of(pod)
            with otherwise(~self.is_adding(pod)):
                self.conclude(pod, old, new)

    def goroutine_of(self, handler: Handler) -> Mover:
        """The goroutine that runs this half of the pod handler. One goroutine runs both halves, and handles no event during its own move of parked pods."""
        return Mover.POD_HANDLER

    def sync_with_dispatcher(self, pod: Pod, new: PodObject) -> None:
        """The API dispatcher, if there is one, receives the update of a pod first (syncPodWithDispatcher)."""

    def is_queue_idle(self) -> Expr:
        """Whether the handler is between two events of unassigned pods."""
        waking, removing = self.queue_waking != Waking.NONE, self.queue_removal != Removal.NONE
        adding = any_of(self.is_adding(pod) for pod in self.universe[Pod])
        return ~(self.queue_busy | waking | removing | adding)

    def is_adding(self, pod: Pod) -> Expr:
        """Whether the handler has begun to add the pod, and is not done."""
        return self._addition(pod) != Addition.NONE

    def _arrivals(self, pod: Pod) -> list[Arrival]:
        """The pod, if its addition takes several steps."""
        found = [one for one in self.universe[Arrival] if one.pod is pod]
        return found if self.pod_groups.is_there() else []

    def _addition(self, pod: Pod) -> Expr:
        """The handler's next action for a pod that is being added."""
        return as_expr(next((self.adding[one] for one in self._arrivals(pod)), Addition.NONE))

    def begin_addition(self, pod: Pod, new: PodObject) -> None:
        """addPodToSchedulingQueue: for a pod that belongs to a group, AddPodGroupMember first; for any other pod, queue.Add."""
        if self.pod_groups.member(pod) is None:
            self.enqueue(pod, new)
        else:
            self.pod_group_states.add(pod, False)
            for one in self._arrivals(pod):
                self.adding[one] = Addition.ADD

    def enqueue(self, pod: Pod, new: PodObject) -> None:
        """queue.Add. Where groups are scheduled, a move of parked pods follows."""
        self.queue.add(pod, new)
        for one in self._arrivals(pod):
            self.adding[one] = Addition.MOVE

    def begin_removal_of(self, pod: Pod) -> Removal:
        """The handler's first action for a deleted pod of a group that has left the queue."""
        return self.first_of_removal()

    @step(actor="queue handler")
    @tells(
        changes("queue.gated", after=True),
        "The queue's handler adds {pod} to the queue, where it is held back: its group is not complete.",
        "The queue's handler adds {pod} to the queue.",
    )
    def add_member(self, pod: Pod) -> None:
        """addPodToSchedulingQueue continues after the group's state has the pod: queue.Add."""
        require(self.pod_groups.member(pod) is not None)
        require(self._addition(pod) == Addition.ADD)
        _old, new = self.pod_watch.take(Handler.QUEUE, pod)
        self.enqueue(pod, new)

    @step(actor="queue handler")
    @tells("The queue's handler moves parked pods, because {pod} was added.")
    def wake_for_member(self, pod: Pod) -> None:
        """addPodToSchedulingQueue ends: MoveAllToActiveOrBackoffQueue, also for a pod that belongs to no group.

        A cluster without groups does not have this step (A-GROUP-KINDS).
        """
        require(self._addition(pod) == Addition.MOVE)
        old, new = self.pod_watch.take(Handler.QUEUE, pod)
        self.queue.move_all(events.UNSCHEDULED_POD_ADD, about=pod, version=new.version)
        self.queue.moved_by(self.goroutine_of(Handler.QUEUE))
        for one in self._arrivals(pod):
            self.adding[one] = Addition.NONE
        self.conclude(pod, old, new)

    @step(actor="queue handler")
    @tells("{pod} is gone: the state of its group does not know it any more.")
    def remove_member(self, pod: Pod) -> None:
        """deletePodFromSchedulingQueue continues for a pod that is not assumed: RemovePodGroupMember."""
        require(self.pod_groups.member(pod) is not None)
        require(self.queue_removal == Removal.MEMBER)
        old, new = self.pod_watch.take(Handler.QUEUE, pod)
        self.pod_group_states.remove(pod)
        self.removed(pod, old, new)

    def removed(self, pod: Pod, old: PodObject, new: PodObject) -> None:
        """The group's state no longer has the pod."""
        self.queue_removal = Removal.NONE
        self.conclude(pod, old, new)

    def sees_to_removal(self, pod: Pod, new: PodObject) -> Expr:
        """Whether the handler has more to do after the queue has dropped the pod: not after a binding."""
        return ~new.exists

    def sees_to_termination(self, old: PodObject, new: PodObject) -> Expr:
        """Whether an assumed pod that begins to terminate is handled as deleted (handleAssumedPodDeletion)."""
        return as_expr(new.terminating) & ~as_expr(old.terminating)

    def first_of_removal(self) -> Removal:
        """The handler's first action for a pod that left the queue."""
        return Removal.LOOK

    @step(actor="queue handler")
    @tells("{pod} is gone: the queue's handler looks whether the cache has it assumed.")
    def look_whether_assumed(self, pod: Pod) -> None:
        """deletePodFromSchedulingQueue continues: IsAssumedPod, and then GetPod if it is assumed.

        Two calls upstream. A binding cycle that forgets the pod between them moves all parked pods after that, and the handler moves
        nobody; here it moves them as well, or, if it looks later, those that respected the nomination.
        """
        require(self.queue_removal == Removal.LOOK)
        old, new = self.pod_watch.take(Handler.QUEUE, pod)
        with when(self.cache.is_assumed(pod)):
            self.queue_removal = self.first_of_assumed(pod)
        with otherwise():
            self.not_assumed(pod, old, new)

    def first_of_assumed(self, pod: Pod) -> Expr:
        """The first action of handleAssumedPodDeletion."""
        return select(self.rejects_waiting(pod), Removal.REJECT, Removal.FORGET)

    def not_assumed(self, pod: Pod, old: PodObject, new: PodObject) -> None:
        """The cache has not assumed the pod. A member of a group still has to leave its group's state."""
        if self.pod_groups.member(pod) is None:
            self.queue_removal = Removal.NONE
            self.conclude(pod, old, new)
        else:
            self.queue_removal = Removal.MEMBER

    def rejects_waiting(self, pod: Pod) -> Expr:
        """Whether a pod that leaves the queue's handler can be waiting for permission."""
        return as_expr(ExtensionPoint.PERMIT in self.scheduler.extension_points(pod))

    @step(actor="queue handler")
    @tells("The queue's handler rejects {pod}, if it waits for permission.")
    def reject_waiting(self, pod: Pod) -> None:
        """The pod's deletion is handled: RejectWaitingPod, if it waits for permission."""
        require(ExtensionPoint.PERMIT in self.scheduler.extension_points(pod))
        require(self.queue_removal == Removal.REJECT)
        old, new = self.pod_watch.take(Handler.QUEUE, pod)
        waited = self.waiting.stops(pod)
        self.waiting.reject(pod)
        self.queue_removal = select(waited, Removal.NONE, self.removal_after_reject())
        with when(waited):
            self.pod_group_states.deleted(pod)
        with when(waited & self.rejection_wakes()):
            self.queue_waking = Waking.ALL
        with otherwise(self.queue_removal == Removal.NONE):
            self.conclude(pod, old, new)

    def removal_after_reject(self) -> Removal:
        """The next action for a pod that did not wait for permission: it is forgotten."""
        return Removal.FORGET

    @step(actor="queue handler")
    @tells(
        "The queue's handler makes the cache forget {pod}, which is gone, although its binding goroutine still runs."
    )
    def forget_assumed(self, pod: Pod) -> None:
        """The deletion of an assumed pod is handled: RemoveAssumedPod, immediately. Its binding cycle continues, and will fail."""
        require(self.queue_removal == Removal.FORGET)
        self.pod_watch.take(Handler.QUEUE, pod)
        assumed = self.cache.is_assumed(pod)
        self.cache.forget(pod, self.cache.node_of(pod))
        with when(assumed):
            self.pod_group_states.dismiss(pod)
        self.pod_group_states.deleted(pod)
        self.queue_removal = Removal.NONE
        self.queue_waking = Waking.ALL

    def rejection_wakes(self) -> Expr:
        """Whether parked pods are moved when a waiting pod is rejected because it was deleted."""
        return as_expr(True)

    def conclude(self, pod: Pod, old: PodObject, new: PodObject) -> None:
        """The handler has finished. If the pod lost a nomination, it first moves the pods that respected the nomination."""
        with when(self.nomination_wakes(pod, old, new)):
            self.queue_waking = Waking.NOT_ABOVE
        with otherwise():
            self.pod_watch.processed(Handler.QUEUE, pod, new)

    def nomination_wakes(self, pod: Pod, old: PodObject, new: PodObject) -> Expr:
        """Whether the pod has lost its nomination without being bound."""
        lost = as_expr(old.nominated).is_some & (as_expr(old.nominated) != new.nominated)
        return lost & ~new.assigned

    @step(actor="queue handler")
    @tells("Room was kept for {pod}, and it is free now: the queue's handler wakes parked pods.")
    def wake_queue_for_room(self, pod: Pod) -> None:
        """The pod had room on a node, as a waiting or nominated pod: the parked pods are moved, as after a deletion.

        For room that was only kept by a nomination, those of no higher priority.
        """
        require(self.queue_waking != Waking.NONE)
        old, new = self.pod_watch.take(Handler.QUEUE, pod)
        with when(self.queue_waking == Waking.ALL):
            self.wake_for_assumed(pod, old)
        with otherwise():
            respecting = {q: q.priority <= pod.priority for q in self.universe[Pod]}
            self.queue.move_all(events.NOMINATED_POD_GONE, respecting, about=pod, version=old.version)
        self.queue.moved_by(self.goroutine_of(Handler.QUEUE))
        self.queue_waking = Waking.NONE
        self.pod_watch.processed(Handler.QUEUE, pod, new)

    def wake_for_assumed(self, pod: Pod, old: PodObject) -> None:
        """An assumed pod was deleted: the event contains the cache's object, with its node."""
        self.queue.move_all(events.ASSIGNED_POD_DELETE, about=pod)

    @step(actor="queue handler")
    @tells(
        changes("nominator.node", after=NOTHING),
        "The queue's handler updates {pod}, and wipes its nomination to {before} from the nominator.",
        changes("nominator.node", before=NOTHING),
        "The queue's handler updates {pod}: now the nominator knows of its nomination to {after}.",
        "The queue's handler updates {pod} in the queue, and the nominator with it.",
    )
    def update_queue(self, pod: Pod) -> None:
        """updatePodInSchedulingQueue continues: queue.Update."""
        require(self.queue_busy)
        old, new = self.pod_watch.take(Handler.QUEUE, pod)
        self.queue.update(pod, old, new)
        self.queue_busy = False
        self.conclude(pod, old, new)

    def ends(self) -> tuple[Expr, ...]:
        """The ways in which a handler can end the process because of an event, and whether one has."""
        return ()

    def has_ended_itself(self) -> Expr:
        """Whether a handler has ended the process because of an event."""
        return any_of(self.ends())

    def is_filtered(self) -> bool:
        """Whether an update that removes a pod's node counts as a deletion."""
        return False

    # --- assigned pods ---------------------------------------------------------------------------------

    @step(actor="cache handler")
    @tells(
        changes("cache.pod.node", after=NOTHING),
        "The watch delivers to the cache's handler that {pod} is gone: its room on {before} is free in the cache.",
        "The watch delivers an event about {pod} to the cache's handler.",
    )
    def handle_for_cache(self, pod: Pod) -> None:
        """The cache's handler takes its next event: an assigned pod was added, changed or deleted."""
        require(~self.cache_busy)
        self.queue.goes_on(self.goroutine_of(Handler.CACHE))
        old, new = self.pod_watch.take(Handler.CACHE, pod)
        with when(new.assigned & ~old.assigned):
            self.cache.add_pod(pod, new)
        with otherwise(new.assigned):
            self.sync_with_dispatcher(pod, new)
            self.cache.update_pod(pod, new)
        with otherwise():
            self.cache.remove_pod(pod)
        self.cache_busy = True

    @step(actor="cache handler")
    @tells("The cache's handler wakes parked pods, because of {pod}.")
    def wake_queue(self, pod: Pod) -> None:
        """After the cache, the queue: it moves the pods that may fit because of the event."""
        require(self.cache_busy)
        old, new = self.pod_watch.take(Handler.CACHE, pod)
        with when(new.assigned):
            self.wake_for_assigned(pod, old, new)
        with otherwise():
            self.wake_for_removed(pod, old)
        self.queue.moved_by(self.goroutine_of(Handler.CACHE))
        with when(~self.pod_updates.is_telling()):
            self.cache_busy = False
            self.pod_watch.processed(Handler.CACHE, pod, new)

    def swapped_out(self, pod: Pod) -> None:
        """The cache's handler has an object of another pod with the name. What else it forgets with the cached pod: nothing."""

    def wake_for_removed(self, pod: Pod, old: PodObject) -> None:
        """A pod was deleted. The hints see the object in the deletion, in the pod's last version.

        One whose last state is unknown (DeletedFinalStateUnknown) carries the object that the store had, which may show no node yet: then
        only a nomination in it gives room back. (Up to 1.34 the queue's handler may be through before; then the nomination counts as none.)
        """
        if not self.scope.relists:
            self.queue.move_all(events.ASSIGNED_POD_DELETE, about=pod, version=old.version)
            return
        stale = self.pod_watch.seen[Handler.QUEUE][pod]
        nominated = as_expr(stale.nominated).is_some
        with when(old.assigned):
            self.queue.move_all(events.ASSIGNED_POD_DELETE, about=pod, version=old.version)
        with otherwise(nominated):
            self.queue.move_all(events.NOMINATED_POD_GONE, about=pod, version=stale.version)
        with otherwise():
            self.queue.move_all(events.WAITING_POD_GONE, about=pod, version=stale.version)

    def wake_for_assigned(self, pod: Pod, old: PodObject, new: PodObject) -> None:
        """A pod was bound, or a bound pod changed: the plugins' hints decide.

        An update that changes neither labels nor tolerations, and makes no request smaller, is one that no plugin in tree asked for.
        """
        with when(~old.assigned):
            self.queue.move_all(events.ASSIGNED_POD_ADD, about=pod, version=new.version)
        with otherwise(self.pod_updates.is_change(pod, old, new)):
            self.pod_updates.tell(pod, old, new)
        with otherwise():
            if self.queue.hears_of_updates():
                self.queue.move_all(events.POD_UPDATE, about=pod)
            else:
                self.queue.settle()

    # --- nodes -----------------------------------------------------------------------------------------

    @step(actor="node handler")
    @tells(
        changes("cache.live", after=False),
        "The watch delivers to the node handler that node {node} is gone; the cache follows.",
        changes("cache.live", after=True),
        "The watch delivers to the node handler that node {node} is there; the cache follows.",
        "The watch delivers an event about node {node} to the node handler.",
    )
    def handle_node(self, node: Node) -> None:
        """The node handler takes its next event."""
        require(~self.node_busy)
        self.queue.goes_on(Mover.NODE_HANDLER)
        event = self.node_watch.take(node)
        updated = event.exists & self.updates.is_update(node)
        with when(updated):
            self.updates.begin(node, event)
        with otherwise(event.exists):
            self.cache.add_node(node, version=event.version)
            for shown, content in self.shown(node, event.version):
                with when(shown):
                    self.check_admission(content)
            self.node_busy = True
        with otherwise():
            self.begin_removal(node)

    def begin_removal(self, node: Node) -> None:
        """deleteNodeFromCache: the queue is notified before the cache. If no plugin registered for this event, the model does both in one step."""
        if self.hears_of_removals():
            for shown, content in self.shown(node, self.cache.node_version[node]):
                with when(shown):
                    self.queue.move_all(events.NODE_DELETE, about=content)
            self.queue.moved_by(Mover.NODE_HANDLER)
            self.node_busy = True
        else:
            self.queue.settle()
            self.remove_node_now(node)

    def hears_of_removals(self) -> bool:
        """Whether a plugin that registered for removed nodes can reject any pod: topology spread, a Permit plugin, or an extender."""
        if any(plugin.name == events.EXTENDER for plugin in self.universe[events.Plugin]):
            return True
        return any(pod.spread or ExtensionPoint.PERMIT in pod.extension_points for pod in self.universe[Pod])

    def remove_node_now(self, node: Node) -> None:
        """RemoveNode, and the handler has finished."""
        self.cache.remove_node(node)
        self.node_watch.processed()

    @step(actor="node handler")
    @tells("The node handler removes node {node} from the cache.")
    def remove_node(self, node: Node) -> None:
        """The node is removed from the cache, after the queue was notified."""
        require(self.hears_of_removals())
        require(self.node_busy)
        require(~self.node_watch.take(node).exists)
        self.queue.goes_on(Mover.NODE_HANDLER)
        self.node_busy = False
        self.remove_node_now(node)

    @step(actor="node handler")
    @tells("The node handler wakes parked pods, because of node {node}.")
    def wake_queue_for_node(self, node: Node) -> None:
        """The queue is notified after the cache: a new node wakes the parked pods that may fit on it."""
        require(self.node_busy & ~self.updates.is_telling())
        event = self.node_watch.take(node)
        if self.hears_of_removals():
            require(event.exists)
        for shown, content in self.shown(node, event.version):
            with when(shown):
                self.queue.move_all(events.NODE_ADD, self.admissible(), about=content)
        self.queue.moved_by(Mover.NODE_HANDLER)
        self.end_of_node_event()

    def end_of_node_event(self) -> None:
        """The node handler has finished its event."""
        self.node_busy = False
        self.node_watch.processed()

    def shown(self, node: Node, version: Expr) -> list[tuple[Expr, Node]]:
        """Each version of a node's object, and whether the node has this version."""
        several = [(version == v, v.content) for v in self.updates.versions(node)]
        return several or [(as_expr(True), node)]

    def check_admission(self, node: Node) -> None:
        """What is recorded when a node enters the cache: nothing, because the plugins' hints decide later."""

    def admissible(self) -> Mapping[Pod, Value] | None:
        """The pods that the new node would admit; None means all."""
        return None


class AssumedMembersFetched(EventHandlers):
    """handleAssumedPodDeletion of a member begins with GetPod: if the cache has it no more, neither the state of its group nor the tracker is told that it is gone."""

    def fetches(self, pod: Pod) -> bool:
        """Whether that is a step of its own."""
        return self.pod_groups.member(pod) is not None

    def first_of_assumed(self, pod: Pod) -> Expr:
        return as_expr(Removal.FETCH) if self.fetches(pod) else super().first_of_assumed(pod)

    @step(actor="queue handler")
    @tells(
        changes("handlers.queue_removal", after=Removal.NONE),
        "The cache does not have {pod} any more: the queue's handler is done with it.",
        "The queue's handler fetches {pod}, which was assumed and is gone, from the cache.",
    )
    def fetch_assumed(self, pod: Pod) -> None:
        """GetPod."""
        require(self.fetches(pod))
        require(self.queue_removal == Removal.FETCH)
        _old, new = self.pod_watch.take(Handler.QUEUE, pod)
        with when(self.cache.knows(pod)):
            self.queue_removal = super().first_of_assumed(pod)
        with otherwise():
            self.queue_removal = Removal.NONE
            self.pod_watch.processed(Handler.QUEUE, pod, new)
