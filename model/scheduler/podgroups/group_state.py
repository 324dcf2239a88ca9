"""The state of each group of pods (backend/cache/podgroupstate.go and cache.go, 1.36): which of its pods are known, unscheduled, assumed, assigned.

A group has a state as long as any of its pods is known. In 1.36 the cache has it, under the cache's lock: what happens to a pod in the cache happens
to the state in the same step. A snapshot has a copy, in which the cycle of a group assumes the pods that it has placed.
"""

from ...environment.objects import Pod, PodGroup
from ...environment.pod_groups import Member, PodGroups
from ...language import (
    Component,
    Expr,
    Fact,
    Knowledge,
    Value,
    Words,
    any_of,
    as_expr,
    boolean,
    count,
    otherwise,
    per,
    when,
)


class PodGroupStates(Component):
    """The cache's states of pod groups. `known[m]`: allPods has the pod. `on_node[m]`: its object there has a node. `unscheduled`, `assumed` and `assigned` are the three sets.

    `copied_known` and so on are the snapshot's, of the group whose cycle runs.
    """

    pod_groups: PodGroups

    known = per(Member, boolean())
    on_node = per(Member, boolean())
    unscheduled = per(Member, boolean())
    assumed = per(Member, boolean())
    assigned = per(Member, boolean())
    copied_known = per(Member, boolean())
    copied_on_node = per(Member, boolean())
    copied_unscheduled = per(Member, boolean())
    copied_assumed = per(Member, boolean())
    copied_assigned = per(Member, boolean())

    phrases = {
        "known": Words("group state: {0} is known", "group state: {0} is not known any more"),
        "unscheduled": Words("group state: {0} is unscheduled"),
        "assumed": Words("group state: {0} is assumed", decisive=True),
        "assigned": Words("group state: {0} is assigned", decisive=True),
    }
    knowledge = (
        Knowledge(
            "cache",
            {
                "unscheduled": Fact("group", "unscheduled in its group"),
                "assumed": Fact("group_assumed", "assumed in its group"),
                "assigned": Fact("group_assigned", "assigned in its group"),
            },
        ),
    )

    def setup(self) -> None:
        if not self.pod_groups.is_there():
            return
        for member in self.universe[Member]:
            pod = member.pod
            self.known[member] = pod.exists
            self.on_node[member] = pod.exists and pod.node is not None
            self.assigned[member] = pod.exists and pod.node is not None
            self.unscheduled[member] = pod.exists and pod.node is None

    # --- what it says ------------------------------------------------------------------------------------

    def exists(self, group: PodGroup) -> Expr:
        """Whether the group has a state."""
        return any_of(self.known[m] for m in self.pod_groups.members(group))

    def all_pods(self, group: PodGroup) -> Expr:
        """AllPodsCount."""
        return count(self.known[m] for m in self.pod_groups.members(group))

    def has_quorum(self, group: PodGroup) -> Expr:
        """Whether PreEnqueue of GangScheduling counts enough pods of the group."""
        return self.all_pods(group) >= (group.min_count or 0)

    def is_tracked(self, member: Member) -> Expr:
        """Whether PreEnqueue counts the pod although the state of its group need not know it."""
        return as_expr(False)

    def scheduled(self, group: PodGroup) -> Expr:
        """ScheduledPodsCount: assumed and assigned pods."""
        members = self.pod_groups.members(group)
        return count([*(self.assumed[m] for m in members), *(self.assigned[m] for m in members)])

    # --- calls, under the cache's lock ---------------------------------------------------------------------

    def add(self, pod: Pod, on_node: Value) -> None:
        """addPod: a pod that the watch shows for the first time, or shows as bound."""
        member = self.pod_groups.member(pod)
        if member is None:
            return
        self.known[member] = True
        self.on_node[member] = on_node
        with when(on_node):
            self.assigned[member] = True
            self.leave_other_sets(member)
        with otherwise():
            self.unscheduled[member] = True

    def leave_other_sets(self, member: Member) -> None:
        """An assigned pod is neither unscheduled nor assumed."""
        self.unscheduled[member] = False
        self.assumed[member] = False

    def confirm(self, pod: Pod, assumed: Value) -> None:
        """AddPod of the cache: an assumed pod is removed and added again (updatePod); any other pod is added."""
        with when(assumed):
            self.remove(pod)
        self.add(pod, True)

    def refresh(self, pod: Pod) -> None:
        """UpdatePod of the cache: the pod is removed and added again."""
        self.remove(pod)
        self.add(pod, True)

    def renew(self, pod: Pod) -> None:
        """UpdatePodGroupMember: the pod's object without a node. From then on the state has the pod, even if the pod had left it before."""
        member = self.pod_groups.member(pod)
        if member is not None:
            with when(self.exists(member.group)):
                self.known[member] = True
                self.on_node[member] = False

    def dismiss(self, pod: Pod) -> None:
        """RemoveAssumedPod: the state drops the pod (removePodGroupMember)."""
        self.remove(pod)

    def deleted(self, pod: Pod) -> None:
        """The handler is through with the deletion of a pod that was assumed, whatever the cache said."""

    def remove(self, pod: Pod) -> None:
        """deletePod: after its last pod, the state is removed."""
        member = self.pod_groups.member(pod)
        if member is not None:
            self._drop(member)

    def _drop(self, member: Member) -> None:
        for table in (self.known, self.on_node, self.unscheduled, self.assumed, self.assigned):
            table[member] = False

    def assume(self, pod: Pod) -> None:
        """assumePodGroupMember: ignores a pod that the state does not have. If there is no state, one is created from the assumed object."""
        member = self.pod_groups.member(pod)
        if member is None:
            return
        with when(~self.exists(member.group)):
            self.known[member] = True
            self.on_node[member] = True
        self._assume(member)

    def _assume(self, member: Member) -> None:
        with when(self.known[member]):
            with when(self.on_node[member]):
                self.assigned[member] = True
            with otherwise():
                self.assumed[member] = True
            self.unscheduled[member] = False

    def forget(self, pod: Pod) -> None:
        """forgetPodGroupMember: the pod becomes unscheduled again, or assigned if the state's object has a node."""
        member = self.pod_groups.member(pod)
        if member is None:
            return
        with when(self.known[member]):
            self.assumed[member] = False
            with when(self.on_node[member]):
                self.assigned[member] = True
            with otherwise():
                self.unscheduled[member] = True

    # --- the snapshot --------------------------------------------------------------------------------------

    def copy(self, group: PodGroup) -> None:
        """updatePodGroupStateSnapshot, for the group of the cycle."""
        for m in self.pod_groups.members(group):
            self.copied_known[m] = self.known[m]
            self.copied_on_node[m] = self.on_node[m]
            self.copied_unscheduled[m] = self.unscheduled[m]
            self.copied_assumed[m] = self.assumed[m]
            self.copied_assigned[m] = self.assigned[m]

    def assume_in_copy(self, member: Member) -> None:
        """Snapshot.AssumePod."""
        with when(self.copied_known[member]):
            with when(self.copied_on_node[member]):
                self.copied_assigned[member] = True
            with otherwise():
                self.copied_assumed[member] = True
            self.copied_unscheduled[member] = False

    def scheduled_in_copy(self, group: PodGroup) -> Expr:
        """ScheduledPodsCount of the snapshot."""
        members = self.pod_groups.members(group)
        return count(
            [*(self.copied_assumed[m] for m in members), *(self.copied_assigned[m] for m in members)]
        )

    def exists_in_copy(self, group: PodGroup) -> Expr:
        """Whether the snapshot has a state of the group."""
        return any_of(self.copied_known[m] for m in self.pod_groups.members(group))

    def drop_copy(self) -> None:
        """The cycle is over."""
        for m in self.universe[Member]:
            for table in (
                self.copied_known,
                self.copied_on_node,
                self.copied_unscheduled,
                self.copied_assumed,
                self.copied_assigned,
            ):
                table[m] = False

    def has_panicked(self) -> Expr:
        """Whether a read of the group's state has ended the process."""
        return as_expr(False)
