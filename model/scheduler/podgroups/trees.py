"""Groups of groups (CompositePodGroup: compositePodGroupSchedulingDefaultAlgorithm in algorithm_podgroup.go, 1.38), as far as two levels.

A tree is one entry of the queue, under its root. Its groups are tried one after the other on one snapshot, and PlacementFeasible counts the members of each, and then the groups of the root.
What a group has got is taken back, and assumed once more for the groups that follow (assumeSubtreeWithRevert). Where too few are left for minGroupCount, the trial ends. Only the members
of groups that can be scheduled are assumed, and only if the root can be (completeCompositePodGroupAlgorithmResult).
"""

from enum import Enum

from ...environment.objects import Pod, PodGroup
from ...environment.pod_groups import Member
from ...language import (
    UNTOLD,
    Expr,
    any_of,
    as_expr,
    boolean,
    count,
    enum,
    otherwise,
    per,
    require,
    step,
    tells,
    when,
)
from ..framework.status import Phase
from .placements import Placements
from .pod_group_cycle import GroupStage, GroupStatus, Outcome


class Turn(Enum):
    """What has become of a group of the tree."""

    WAITS = 0
    TRIED = 1
    STANDS = 2
    THROUGH = 3
    SUBMITTED = 4


class Trees(Placements):
    """`turn[g]`: the group is being tried, was assumed again for those that follow (`STANDS`), is through, or is being submitted. `goes[g]`: enough of its members are scheduled."""

    turn = per(PodGroup, enum(Turn))
    goes = per(PodGroup, boolean())

    phrases = UNTOLD

    def clear(self) -> None:
        super().clear()
        for group in self.universe[PodGroup]:
            if group.parent is not None:
                self._await_turn(group)

    def _await_turn(self, group: PodGroup) -> None:
        self.turn[group] = Turn.WAITS
        self.goes[group] = False

    def reads_claims(self, group: PodGroup) -> bool:
        """PodGroupPostFilter of DynamicResources does nothing for a CompositePodGroup."""
        return group.min_group_count is None and super().reads_claims(group)

    def _goes_with(self, leaf: PodGroup) -> Expr:
        return super()._goes_with(leaf) if leaf.parent is None else as_expr(self.goes[leaf])

    # --- one group after the other -----------------------------------------------------------------------

    def _start_trial(self, group: PodGroup) -> None:
        """PlacementFeasible of the root counts its groups, and the first is tried."""
        if group.min_group_count is None:
            super()._start_trial(group)
            return
        children = self.pod_groups.children(group)
        for child in children:
            self._await_turn(child)
        if len(children) < group.min_group_count:
            self._revert(group)
        else:
            self._judge(children[0])

    def _judge(self, group: PodGroup) -> None:
        """PlacementFeasible of a group that is tried: its next member, or what it has got."""
        if group.parent is None:
            super()._judge(group)
            return
        minimum = group.min_count or 1
        scheduled, remaining = self._progress(group)
        due = any_of(self._is_due(m) for m in self.pod_groups.members(group))
        self.turn[group] = Turn.TRIED
        self.goes[group] = scheduled >= minimum
        with when((scheduled + remaining < minimum) | ~due):
            self._take_back(group, self._has_nominations(group))
        with otherwise():
            self._turn_to_next(group)

    def _has_nominations(self, group: PodGroup) -> Expr:
        return any_of(self._reverted(m) for m in self.pod_groups.members(group))

    def _take_back(self, leaf: PodGroup, some: Expr) -> None:
        """The reverts of the group's own trial: nominations come back in steps of their own."""
        with when(some):
            self._revert_each(self.pod_groups.members(leaf))
        with otherwise():
            self._leave_leaf(leaf)

    def _all_reverted(self, group: PodGroup) -> None:
        tried = as_expr(False)
        for child in self.pod_groups.children(group):
            here = (self.turn[child] == Turn.TRIED) & (self.status == GroupStatus.UNSCHEDULABLE) & ~tried
            with when(here):
                self._leave_leaf(child)
            tried = tried | here
        with when(~tried):
            super()._all_reverted(group)

    def _leave_leaf(self, leaf: PodGroup) -> None:
        """The group is through: the next one is tried, on the snapshot with what this one has got, or the root is judged."""
        root = self.pod_groups.root(leaf)
        minimum, children = root.min_group_count or 1, self.pod_groups.children(root)
        place = children.index(leaf) + 1
        later = children[place:]
        scheduled = count(self.goes[child] for child in children[:place])
        proceeds = scheduled + len(later) >= minimum
        stands = as_expr(bool(later)) & self.goes[leaf] & proceeds
        with when(stands):
            self.turn[leaf] = Turn.STANDS
        with otherwise():
            self.turn[leaf] = Turn.THROUGH
        for m in self.pod_groups.members(leaf):
            placed = self.held[m] & (self.outcome[m] == Outcome.FITS)
            with when(placed & stands):
                self.nominator.delete(m.pod)
            with otherwise(placed & (as_expr(bool(later)) | ~as_expr(self.goes[leaf]))):
                self.snapshot.pod[m.pod].node = None
            with when(placed & self.again & ~as_expr(self.goes[leaf])):
                self.outcome[m] = Outcome.FAILS
                self.host[m] = None
        if later:
            with when(proceeds):
                self._judge(later[0])
            with otherwise():
                self._revert(root)
        else:
            with when(scheduled >= minimum):
                self.status = GroupStatus.SCHEDULABLE
            self._revert(root)

    def _reverted(self, member: Member) -> Expr:
        """The reverts of the root are those of the groups that stand; after an error also that of the one that was tried."""
        if member.leaf.parent is None:
            return super()._reverted(member)
        assumed = (self.turn[member.leaf] == Turn.TRIED) | (self.turn[member.leaf] == Turn.STANDS)
        return super()._reverted(member) & assumed

    def _note_quorum(self, members: list[Member]) -> None:
        """A group that fails in a tree that does not: GangScheduling has rejected its members that fit, and those that were not tried. Without nodes, no other member has a rejecter."""
        super()._note_quorum(members)
        for m in members if self.rejecters() else ():
            untried = self.scheduler.has_no_nodes() & self._is_untried(m)
            with when(untried):
                self.withdraws[m] = False
            left = (self.outcome[m] != Outcome.FAILS) & ~self._goes_with(m.leaf)
            left = (self.status == GroupStatus.SCHEDULABLE) & ~as_expr(self.again) & left
            with when(self.held[m] & (left | untried)):
                self.queue.record_rejection(m.pod, self.queue.only(*self.rejecters()))

    def _is_untried(self, member: Member) -> Expr:
        """Whether the trial ends before the member, if all before it fail."""
        leaf = member.leaf
        if leaf.parent is None:
            return as_expr(False)
        order = [m for m in self.in_order(member.group) if m.leaf is leaf]
        remaining = (self.held[m] for m in order[order.index(member) :])
        few = count([*(self.counted[m] for m in order), *remaining]) < (leaf.min_count or 1)
        return (self.turn[leaf] == Turn.WAITS) | few

    # --- the result ----------------------------------------------------------------------------------------

    def _left(self, leaf: PodGroup) -> Expr:
        return any_of(self.held[m] for m in self.pod_groups.members(leaf))

    def _submit_next(self, members: list[Member]) -> Expr:
        """Which group of a tree is submitted next depends on a map's order; its members come one after the other."""
        nobody = ~any_of(self.held[m] for m in members)
        for root in {m.group for m in members if m.leaf is not m.group}:
            children, going = self.pod_groups.children(root), as_expr(False)
            left = count(self._left(leaf) for leaf in children)
            for leaf in children:
                here = self._left(leaf) & ((self.turn[leaf] == Turn.SUBMITTED) | (left == 1))
                with when(here):
                    super()._submit_next([m for m in members if m.leaf is leaf])
                going = going | here
            with when(~going & ~nobody):
                self.stage = GroupStage.PICK
                self.scheduler.phase = Phase.POD_GROUP
            return nobody
        return super()._submit_next(members)

    @step(actor="scheduler", random=True)
    @tells("The result for the pods of {group} is next.")
    def pick(self, pod: Pod, group: PodGroup) -> None:
        """submitPodGroupAlgorithmResult goes through the results, a map, in any order."""
        member = self.member(pod)
        if (
            member is None
            or member.leaf is member.group
            or group not in self.pod_groups.children(member.group)
        ):
            require(False)
            return
        self._at(GroupStage.PICK, pod)
        require(self._left(group))
        self.turn[group] = Turn.SUBMITTED
        super()._submit_next([m for m in self.in_order(member.group) if m.leaf is group])
