"""Groups of pods (KEP-4671): what the scheduler does where GangScheduling is on, and how it did that before.

The gate is off in 1.35 and 1.36, and needs GenericWorkload. In 1.35 a gang was scheduled pod by pod, and a manager of its own had the state of each group (backend/workloadmanager); 136618
gave the group a cycle, and with 137073 its state went into the cache. 138445 and bound-leaves-sets came with 1.37.0; all else of groups in 1.37 is in workloads.py.
"""

from typing import Any

from .... import scheduler as kube
from ....environment.objects import ExtensionPoint, Pod, PodGroup, PodObject
from ....environment.pod_groups import Member, PodGroups
from ....language import UNTOLD, Expr, Value, any_of, as_expr, boolean, count, per, require, step, tells, when
from ....scheduler.event_handlers import Removal
from ...registry.change import before, no, yes

_on = before(
    "gangs-off",
    "the scheduler ignores groups of pods (GangScheduling is off)",
    first_in="1.35",
    since="1.35",
    gate="GangScheduling",
    gate_off=True,
)


@_on
class GroupsAreScheduled(PodGroups):
    """Pods that belong to a group are scheduled as one."""

    is_there = yes


# --- the state of a group ---------------------------------------------------------------------------------------


_removal = before(
    "138445",
    "an assumed pod that is deleted, and does not wait for permission, is removed from the state of its group immediately",
    first_in="1.37",
    issues=(138422,),
)


@_removal
class DismissedPodsStay(kube.PodGroupStates):
    """An assumed pod that was to be deleted was forgotten, and so became unscheduled, until its object was gone."""

    def dismiss(self, pod: Pod) -> None:
        """ForgetPod has put it among the unscheduled ones."""


@_removal
class StateIsToldFirst(kube.EventHandlers):
    """A pod that is gone left the state of its group before anybody looked whether it is assumed."""

    def begin_removal_of(self, pod: Pod) -> Removal:
        return Removal.MEMBER

    def removed(self, pod: Pod, old: PodObject, new: PodObject) -> None:
        self.queue_removal = Removal.LOOK

    def not_assumed(self, pod: Pod, old: PodObject, new: PodObject) -> None:
        self.queue_removal = Removal.NONE
        self.conclude(pod, old, new)


@before(
    "bound-leaves-sets",
    "a pod that is bound without having been assumed is no longer listed as unscheduled in the state of its group",
    first_in="1.37",
)
class BoundPodsStayUnscheduled(kube.PodGroupStates):
    """addPod put a pod with a node among the assigned ones, and left it among the others."""

    def leave_other_sets(self, member: Member) -> None:
        """Nothing: only updatePod of the state took it out there, and the cache does not call that for a pod that is bound."""


# --- 1.35: pod by pod -------------------------------------------------------------------------------------------

_cycle = before(
    "136618",
    "a group is scheduled in its own cycle, on one snapshot, and its state is in the cache (with 137073)",
    first_in="1.36",
)


@_cycle
class PodByPod(kube.PodGroupCycle):
    """Each pod of a group had a scheduling cycle of its own."""

    is_there = no


@_cycle
class WorkloadManager(kube.PodGroupStates):
    """The manager's state (podGroupInfo): the handler tells it of pods, Reserve and Unreserve of what is assumed. The cache tells it nothing.

    What the handler says to the manager first is one step with what it says next (A-GROUP-MANAGER). Reserve and Unreserve did not ask whether the pod is known.
    """

    panicked = boolean()

    phrases = UNTOLD

    def scheduled(self, group: PodGroup) -> Expr:
        return count(self.assumed[m] | self.assigned[m] for m in self.pod_groups.members(group))

    def remove(self, pod: Pod) -> None:
        super().remove(pod)
        member = self.pod_groups.member(pod)
        if member is not None:
            with when(~self.exists(member.group)):
                for other in self.pod_groups.members(member.group):
                    self._drop(other)

    def confirm(self, pod: Pod, assumed: Value) -> None:
        self.add(pod, True)

    def leave_other_sets(self, member: Member) -> None:
        self.unscheduled[member] = False
        self.assumed[member] = False

    def refresh(self, pod: Pod) -> None:
        """UpdatePod of a pod that had a node changes no set."""

    def renew(self, pod: Pod) -> None:
        """Nor does that of one that has none."""

    def dismiss(self, pod: Pod) -> None:
        """The manager hears of nothing but the update."""

    def assume(self, pod: Pod) -> None:
        """The cache has nothing to do with the state."""

    def forget(self, pod: Pod) -> None:
        """The cache has nothing to do with the state."""

    def reserve(self, member: Member) -> None:
        """AssumePod of the manager."""
        self.assumed[member] = True
        self.unscheduled[member] = False

    def unreserve(self, member: Member) -> None:
        """ForgetPod of the manager."""
        self.unscheduled[member] = True
        self.assumed[member] = False

    def names_stranger(self, group: PodGroup) -> Expr:
        """Whether UnscheduledPods would look up a pod that is not among all pods: a nil pointer."""
        return any_of(self.unscheduled[m] & ~as_expr(self.known[m]) for m in self.pod_groups.members(group))

    def has_panicked(self) -> Expr:
        return as_expr(self.panicked)


@_cycle
class ReservesInManager(kube.GangScheduling):
    """Reserve and Unreserve tell the manager which pods are assumed. `unreserved[m]`: Unreserve is through."""

    pod_group_states: WorkloadManager
    binding: kube.Binding

    unreserved = per(Member, boolean())

    phrases = UNTOLD

    def points(self, pod: Pod) -> frozenset[ExtensionPoint]:
        here = {ExtensionPoint.RESERVE} if self.pod_groups.member(pod) is not None else set()
        return super().points(pod) | here

    def reserve(self, pod: Pod) -> Expr:
        member = self.pod_groups.member(pod)
        if member is None:
            return as_expr(False)
        known = self.pod_group_states.exists(member.group)
        with when(known):
            self.pod_group_states.reserve(member)
        return ~known

    def is_unreserved(self, pod: Pod) -> Expr:
        member = self.pod_groups.member(pod)
        return as_expr(True) if member is None else as_expr(self.unreserved[member])

    @step(actor="binding cycle", each="pod")
    @tells("Unreserve of GangScheduling: {pod} is unscheduled in its group again.")
    def unreserve(self, pod: Pod) -> None:
        """Unreserve, before the cache forgets the pod; without a state of the group an error is logged."""
        member = self.pod_groups.member(pod)
        if member is None:
            require(False)
            return
        fails = self.binding.phase[pod] == kube.BindingPhase.FORGET
        require((fails | self.scheduler.at(kube.Phase.FORGET, pod)) & ~as_expr(self.unreserved[member]))
        with when(self.pod_group_states.exists(member.group)):
            self.pod_group_states.unreserve(member)
        self.unreserved[member] = True

    def clear(self, pod: Pod) -> None:
        member = self.pod_groups.member(pod)
        if member is not None:
            self.unreserved[member] = False

    def look(
        self, gang: PodGroup, scheduled: Expr, unscheduled: Any, assumed: Any, members: list[Member]
    ) -> Expr:
        enough = super().look(gang, scheduled, unscheduled, assumed, members)
        with when(~enough & self.pod_group_states.names_stranger(gang)):
            self.pod_group_states.panicked = True
        return enough


@_cycle
class HandlersTellManager(kube.EventHandlers):
    """The handler tells the manager of a pod before anybody else."""

    def begin_addition(self, pod: Pod, new: PodObject) -> None:
        self.pod_group_states.add(pod, False)
        self.enqueue(pod, new)

    def begin_removal_of(self, pod: Pod) -> Removal:
        self.pod_group_states.remove(pod)
        return self.first_of_removal()
