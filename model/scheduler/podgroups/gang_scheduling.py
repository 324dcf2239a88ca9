"""The plugin GangScheduling (framework/plugins/gangscheduling/gangscheduling.go, 1.36): pods of a gang are bound together.

PreEnqueue keeps a pod back until its group is there, and has enough pods. Permit has a pod wait until enough pods of its gang are on a node, assumed or
assigned, and then lets all of them go; nobody but the Permit of a pod of the gang ever looks at that again. The cycle of a group asks Permit as well, for pods that are
assumed in the snapshot only. (In 1.37 the cycle asks PlacementFeasible for these, see entity_cycle.py; Permit has pods wait as before. 1.38 has no Permit.)
"""

from typing import Any

from ...environment.objects import ExtensionPoint, Pod, PodGroup
from ...environment.pod_groups import Member, PodGroups
from ...language import (
    NOTHING,
    UNTOLD,
    Component,
    Expr,
    Lasts,
    as_expr,
    changes,
    otherwise,
    require,
    step,
    tells,
    when,
)
from ..cycles.schedule_one import Scheduler
from ..framework.events import POD_GROUP_ADD
from ..framework.status import Phase
from ..framework.waiting_pods import WaitingPods
from ..queue.scheduling_queue import PriorityQueue
from .group_state import PodGroupStates


class GangScheduling(Component):
    """The plugin's answers about a pod."""

    pod_groups: PodGroups
    pod_group_states: PodGroupStates
    waiting: WaitingPods
    queue: PriorityQueue
    scheduler: Scheduler

    steps_last = Lasts.SHORT

    phrases = UNTOLD

    def gang(self, pod: Pod) -> PodGroup | None:
        """The gang of the pod; None if it has none. A group with the basic policy is not a gang."""
        member = self.pod_groups.member(pod)
        return None if member is None or member.leaf.min_count is None else member.leaf

    def points(self, pod: Pod) -> frozenset[ExtensionPoint]:
        """The extension points at which the plugin has work for the pod after it is assumed: none."""
        return frozenset()

    # --- PreEnqueue ----------------------------------------------------------------------------------------

    def holds(self, pod: Pod) -> Expr:
        """PreEnqueue: whether the pod's group does not exist yet, or is a gang with too few pods."""
        member = self.pod_groups.member(pod)
        if member is None:
            return as_expr(False)
        missing = ~as_expr(self.pod_groups.listed[member.group])
        gang = self.gang(pod)
        if gang is None:
            return missing
        return missing | ~self.pod_group_states.has_quorum(gang)

    @step(actor="pod group handler")
    @tells("The queue hears that there is the pod group {group}: pods that wait for it are moved.")
    def tell_queue(self, group: PodGroup) -> None:
        """The handler of PodGroups: MoveAllToActiveOrBackoffQueue, for which the plugin registered."""
        require(not group.exists and self.pod_groups.is_there())
        require(self.pod_groups.listed[group] & ~self.pod_groups.told[group])
        self.pod_groups.told[group] = True
        self.queue.move_all(POD_GROUP_ADD, about=group)

    # --- Reserve, Unreserve: nothing, the cache has the state of the group --------------------------------------

    def reserve(self, pod: Pod) -> Expr:
        """Reserve. Returns whether it fails."""
        return as_expr(False)

    def is_unreserved(self, pod: Pod) -> Expr:
        """Whether Unreserve has finished."""
        return as_expr(True)

    def clear(self, pod: Pod) -> None:
        """The pod's cycles are over: what they read of its claims is dropped."""

    # --- Permit --------------------------------------------------------------------------------------------

    @step(actor="scheduler")
    @tells(
        changes("waiting.signal", before=NOTHING),
        "GangScheduling: too few pods of the gang are on nodes, and {pod} has to wait for permission.",
        changes("waiting.signal"),
        "GangScheduling: with {pod}, enough pods of the gang are on nodes, and those that wait are allowed.",
        "GangScheduling: with {pod}, enough pods of the gang are on nodes.",
    )
    def permit(self, pod: Pod) -> None:
        """Permit, for a pod that is assumed in the cache. If all pods of the group are gone, so is its state: this is an error, and the pod is forgotten."""
        gang = self.gang(pod)
        if gang is None or ExtensionPoint.PERMIT not in self.points(pod):
            require(False)
            return
        require(self.scheduler.at(Phase.PERMIT, pod))
        states, members = self.pod_group_states, self.pod_groups.members(gang)
        with when(~states.exists(gang)):
            self.scheduler.fail_assumed(pod)
        with otherwise():
            enough = self.look(gang, states.scheduled(gang), states.unscheduled, states.assumed, members)
            with when(~enough):
                self.waiting.add(pod)
            self.scheduler.permitted(pod)

    def asks_cycle(
        self, gang: PodGroup, scheduled: Expr, unscheduled: Any, assumed: Any, members: list[Member]
    ) -> Expr:
        """Permit within the group's cycle: it reads the snapshot, but acts as after the cycle."""
        return self.look(gang, scheduled, unscheduled, assumed, members)

    def look(
        self, gang: PodGroup, scheduled: Expr, unscheduled: Any, assumed: Any, members: list[Member]
    ) -> Expr:
        """Check whether enough pods are on nodes. If so, all assumed pods that wait are allowed; otherwise the unscheduled pods are activated."""
        enough = scheduled >= gang.min_count
        with when(enough):
            for member in members:
                with when(assumed[member]):
                    self.waiting.allow(member.pod)
        with otherwise():
            self.queue.settle()
            for member in members:
                with when(unscheduled[member]):
                    self.queue.activate(member.pod)
        return enough
