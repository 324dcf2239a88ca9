"""The queue of entities (scheduling_queue.go, pod_group_member_pods.go and workload_forest.go in backend/queue, 1.38): a pod, or a whole group of pods, is one entry.

The members that wait in their group's entry are all in the same sub-queue, and have one place in its order. A member that comes while there is no entry founds one;
while the cycle of its group runs it is kept aside (`pending`), and while the queue has not been told of its group, too (`incomplete`). An entry never consults
in-flight events: it is parked only if PreEnqueue holds one of its members.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from ...environment.objects import Pod, PodCopy, PodGroup, PodObject
from ...environment.pod_groups import Member, PodGroups
from ...language import (
    Expr,
    Value,
    Words,
    all_of,
    any_of,
    as_expr,
    boolean,
    otherwise,
    per,
    ref,
    select,
    when,
)
from ..framework.events import (
    DEFAULT_PREEMPTION,
    GANG_SCHEDULING,
    SCHEDULING_GATES,
    About,
    ClusterEvent,
    Plugin,
)
from ..framework.interface import GroupCycles
from ..queue.clock import Clock
from ..queue.scheduling_queue import PriorityQueue, SubQueue


class EntityCycles(GroupCycles, Protocol):
    """What the queue asks and tells the cycles of groups that are popped as one."""

    def in_order(self, group: PodGroup) -> list[Member]:
        """The members, in the order of the entry."""

    def receive(self, member: Member, copy: PodCopy) -> None:
        """The popped entry has this member in it."""

    def works_on(self, group: PodGroup) -> Expr:
        """Whether the cycle of this group runs."""


class EntityQueue(PriorityQueue):
    """The calls of the queue for members of groups; any other pod is an entry of its own, as before.

    `pending[m]` is in pendingPodGroupPods, `incomplete[m]` in incompletePodGroupPods; `twice[m]`: the entry has two records of the pod. `closed_by[g]` is the plugin that
    holds the entry of the group (GatingPlugin). `last_popped` is lastPoppedEntityKey, if that is a group.
    """

    pod_groups: PodGroups
    pod_group_cycle: EntityCycles

    pending = per(Member, boolean())
    incomplete = per(Member, boolean())
    twice = per(Member, boolean())
    closed_by = per(PodGroup, ref(Plugin))
    last_popped = ref(PodGroup)

    phrases = {
        "pending": Words(
            "queue: {0} is pending until its group's cycle ends", "queue: {0} is pending no more"
        ),
        "incomplete": Words("queue: {0} waits for its group to be added", "queue: the group of {0} is there"),
    }

    def setup(self) -> None:
        super().setup()
        for group in self.pod_groups.roots():
            waiting = [m for m in self._members(group) if m.pod.exists and m.pod.node is None]
            if not group.exists:
                for m in waiting:
                    self.put(m.pod, SubQueue.NONE, self.api.at_start(m.pod).copy())
                    self.incomplete[m] = True
                    self.gated[m.pod] = False
                    self._forget_rejection(m.pod)
            elif waiting:
                self._found_at_start(group, waiting)

    def _found_at_start(self, group: PodGroup, waiting: list[Member]) -> None:
        """The members that wait at the start came one after the other: PreEnqueue was asked of those in the entry, but of none while the entry was held for a gate. One that is not asked again stays held."""
        bound = [m for m in self._members(group) if m.pod.exists and m.pod.node is not None]
        closed, gated, rejected = "", set[Pod](), set[tuple[Pod, str]]()
        # The members of one group are taken to come in the order in which they are asked (A-GROUP-ORDER); those of a tree come as the scenario says.
        come = waiting if group.min_group_count is None else sorted(waiting, key=_arrival)
        for number in range(1, len(come) + 1):
            if closed == SCHEDULING_GATES:
                continue
            closed, there = "", come[:number]
            alone = not _is_complete(self.pod_groups, group, [*bound, *there])
            for m in waiting:
                if m not in there:
                    continue
                if closed and self.stops_at_first():
                    break
                name = SCHEDULING_GATES if m.pod.gated else GANG_SCHEDULING if alone else ""
                if name:
                    closed = name
                    gated.add(m.pod)
                    rejected.add((m.pod, name))
                else:
                    gated.discard(m.pod)
        for m in waiting:
            self.gated[m.pod] = m.pod in gated
            self.sub_queue[m.pod] = SubQueue.UNSCHEDULABLE if closed else SubQueue.ACTIVE
            for plugin in self.universe[Plugin]:
                self.rejected_by[m.pod][plugin] = bool(closed) and (m.pod, plugin.name) in rejected
        for plugin in self.universe[Plugin]:
            if plugin.name == closed:
                self.closed_by[group] = plugin

    # --- the entry of a group ----------------------------------------------------------------------------

    def _members(self, group: PodGroup) -> list[Member]:
        return self.pod_group_cycle.in_order(group)

    def _others(self, member: Member) -> list[Member]:
        return [m for m in self._members(member.group) if m is not member]

    def held_with(self, pod: Pod) -> list[Pod]:
        member = self.pod_group_cycle.member(pod)
        return [] if member is None else [m.pod for m in self._others(member)]

    def keeps_aside(self, pod: Pod) -> Expr:
        """A pod is incomplete until its group is added; what is pending comes back with the end of its group's cycle, or with the cycle of the entry that the group has already."""
        member = self.pod_group_cycle.member(pod)
        if member is None:
            return super().keeps_aside(pod)
        group = member.group
        comes_back = self.has_entry(group) | self.pod_group_cycle.works_on(group)
        return self.incomplete[member] | (self.pending[member] & comes_back)

    def has_entry(self, group: PodGroup) -> Expr:
        """Whether a sub-queue has an entry of the group."""
        return any_of(self.contains(m.pod) for m in self._members(group))

    def _where(self, group: PodGroup) -> Expr:
        """The sub-queue that the entry is in."""
        found = as_expr(SubQueue.NONE)
        for m in self._members(group):
            found = select(self.contains(m.pod), self.sub_queue[m.pod], found)
        return found

    def _enter(self, group: PodGroup, sub_queue: Value) -> None:
        """moveToActiveQ or moveToBackoffQ: PreEnqueue is asked of the members in the entry until one of them is held, whose plugin holds the entry; then it is parked."""
        members, held_back = self._members(group), as_expr(False)
        self.closed_by[group] = None
        for m in members:
            inside = self.contains(m.pod) & ~held_back if self.stops_at_first() else self.contains(m.pod)
            gates = inside & self.has_gates(m.pod, self.copy[m.pod])
            preempts = inside & ~gates & self.async_preemption.holds(members[0].pod)
            alone = inside & ~gates & ~preempts & self.gang_scheduling.holds(m.pod)
            held = ((SCHEDULING_GATES, gates), (DEFAULT_PREEMPTION, preempts), (GANG_SCHEDULING, alone))
            for plugin in self.universe[Plugin]:
                for name, holds in held:
                    if plugin.name == name:
                        with when(holds):
                            self.rejected_by[m.pod][plugin] = True
                            self.closed_by[group] = plugin
            with when(inside):
                self.gated[m.pod] = gates | preempts | alone
            held_back = held_back | gates | preempts | alone
        where = select(held_back, SubQueue.UNSCHEDULABLE, sub_queue)
        for m in members:
            with when(self.contains(m.pod)):
                self.sub_queue[m.pod] = where

    def stops_at_first(self) -> bool:
        """Whether PreEnqueue is asked of no further member once one of them is held."""
        return True

    def _renew(self, group: PodGroup) -> None:
        """The entry's timestamp is of now."""
        for m in self._members(group):
            self.clock.arrived(m.pod)

    # --- who comes into it --------------------------------------------------------------------------------

    def _add_member(self, member: Member, copy: Any, *, told: Value, stamped: bool = False) -> None:
        """addPodGroupMember: into the entry of the group; aside, if the group is not known yet or was popped last; or as the first of a new entry, in activeQ, without backoff.

        A new entry has the timestamp of its first pod: of now, or (`stamped`) of when that was put aside. A pod that is kept pending has its old one as yet.
        """
        group, pod = member.group, member.pod
        there, where = self.has_entry(group), self._where(group)
        popped = self.last_popped == group
        with when(~as_expr(told)):
            self.put(pod, SubQueue.NONE, copy)
            self.incomplete[member] = True
            self.clock.arrived(pod)
        with otherwise(there):
            self.twice[member] = self.contains(pod)
            self.clock.joined(pod, {m.pod: self.contains(m.pod) for m in self._others(member)})
            self.put(pod, where, copy)
            with when(where != SubQueue.UNSCHEDULABLE):
                self._enter(group, where)
        with otherwise(popped):
            self.put(pod, SubQueue.NONE, copy)
            self.pending[member] = True
        with otherwise():
            self.put(pod, SubQueue.ACTIVE, copy)
            if not stamped:
                self.clock.arrived(pod)
            self._enter(group, SubQueue.ACTIVE)

    def add(self, pod: Pod, new: PodObject) -> None:
        member = self.pod_group_cycle.member(pod)
        if member is None:
            super().add(pod, new)
            return
        self.settle()
        with when(~self.is_recorded(pod)):
            self._forget_rejection(pod)
        self.nominator.add(pod, None, new.nominated)
        self._add_member(member, new.copy(), told=self.pod_groups.told[member.group])

    def add_group(self, group: PodGroup) -> None:
        """AddPodGroup: the members that waited for the group are added, one after the other."""
        self.settle()
        for m in self._members(group):
            with when(self.incomplete[m]):
                self.incomplete[m] = False
                self._add_member(m, self.copy[m.pod], told=True, stamped=True)

    def requeue(self, pod: Pod, copy: PodCopy) -> Expr:
        """AddUnschedulablePodIfNotPresent: a member is Done, and added again. That of any other pod makes the queue forget what was popped last (clearPoppedEntity)."""
        member = self.pod_group_cycle.member(pod)
        if member is None:
            taken = super().requeue(pod, copy)
            with when(taken):
                self.last_popped = None
            return taken
        self.settle()
        self.done(pod)
        self._add_member(member, copy, told=self.pod_groups.told[member.group])
        return as_expr(True)

    def attempted(self, group: PodGroup, tried: Mapping[Member, Value], success: Expr) -> None:
        """AddAttemptedPodGroupIfNeeded: the cycle of the group is over, and its pending members come back in one entry.

        After a success at once, and if one of them was tried in the cycle with the old timestamp; otherwise with backoff. If the group has an entry already that is an error, and nothing happens.
        """
        self.settle()
        pending: dict[Member, Expr] = {m: as_expr(self.pending[m]) for m in self._members(group)}
        left = any_of(pending.values())
        with when(~self.has_entry(group)):
            self.last_popped = None
            with when(left):
                old = {m: pending[m] & tried[m] for m in pending}
                with when(success & any_of(old.values())):
                    for m in pending:
                        with when(pending[m] & ~old[m]):
                            self.clock.joined(m.pod, {n.pod: old[n] for n in self._others(m)})
                with otherwise():
                    self._renew(group)
                for m, comes in pending.items():
                    with when(comes):
                        self.pending[m] = False
                        self.sub_queue[m.pod] = SubQueue.ACTIVE
                self._enter(group, select(success, SubQueue.ACTIVE, self.backing_off_sub_queue()))

    # --- Pop ---------------------------------------------------------------------------------------------

    def precedes(self, a: Pod, b: Pod) -> Expr:
        one, other = (self.pod_group_cycle.member(pod) for pod in (a, b))
        if one is not None and other is not None and one.group is other.group:
            return as_expr(False)
        return super().precedes(a, b)

    def is_popped_early(self, pod: Pod) -> Expr:
        """An entry of a group has no record of plugins that rejected it, and so waits among those that failed with an error (entityErrorBackoffQ)."""
        return super().is_popped_early(pod) & (self.pod_group_cycle.member(pod) is None)

    def is_head(self, pod: Pod) -> Expr:
        member = self.pod_group_cycle.member(pod)
        head = super().is_head(pod)
        return head if member is None else head & self._leads(member)

    def _leads(self, member: Member) -> Expr:
        """Whether the cycle is told under the name of this member, the first in the entry."""
        order = self._members(member.group)
        return all_of(~self.contains(m.pod) for m in order[: order.index(member)])

    def discards(self, pod: Pod) -> Expr:
        member = self.pod_group_cycle.member(pod)
        if member is None:
            return super().discards(pod)
        return all_of(~self.contains(m.pod) | self.in_flight[m.pod] for m in self._members(member.group))

    def _take(self, pod: Pod) -> Any:
        member, discarded = self.pod_group_cycle.member(pod), self.discards(pod)
        if member is None:
            with when(~discarded):
                self.last_popped = None
            return super()._take(pod)
        copy: PodCopy = self.copy[pod]
        with when(~discarded):
            self.last_popped = member.group
            self.clock.precede([m.pod for m in self._members(member.group)])
        self.closed_by[member.group] = None
        for m in self._members(member.group):
            with when(self.contains(m.pod)):
                with when(~as_expr(self.in_flight[m.pod])):
                    self.pod_group_cycle.receive(m, self.copy[m.pod])
                    self.begin_attempt(m.pod)
                    self.nominator.popped(m.pod)
                self._leave(m)
        return copy

    def _leave(self, member: Member) -> None:
        self.twice[member] = False
        self.gated[member.pod] = False
        self.put(member.pod, SubQueue.NONE, PodCopy())

    # --- what else happens to an entry ---------------------------------------------------------------------

    def delete(self, pod: Pod) -> None:
        """Delete: a member leaves the entry of its group, or what it was put aside in; the entry goes back to where it was, and is held by the same plugin if it is parked."""
        member = self.pod_group_cycle.member(pod)
        if member is None:
            super().delete(pod)
            return
        self.settle()
        self.nominator.delete(pod)
        group = member.group
        told, there, where = as_expr(self.pod_groups.told[group]), self.has_entry(group), self._where(group)
        with when(~self.is_recorded(pod)):
            self._forget_rejection(pod)
        with when(~told):
            self.incomplete[member] = False
            self._leave(member)
        with otherwise(there):
            with when(self.twice[member]):
                self.twice[member] = False
            with otherwise(self.contains(pod)):
                self._leave(member)
            with when(~self.has_entry(group)):
                self.closed_by[group] = None
            with otherwise(where != SubQueue.UNSCHEDULABLE):
                self._enter(group, where)
        with otherwise(self.pending[member]):
            self.pending[member] = False
            self._leave(member)

    def update(self, pod: Pod, old: PodObject, new: PodObject) -> None:
        """Update: a member that was put aside is only noted as it is now."""
        member = self.pod_group_cycle.member(pod)
        if member is None:
            super().update(pod, old, new)
            return
        told = as_expr(self.pod_groups.told[member.group])
        parked = self._where(member.group) == SubQueue.UNSCHEDULABLE
        pending = self.pending[member] & ~parked & ~self.keeps_update(pod)
        aside = select(told, pending, self.incomplete[member])
        with when(aside):
            self.settle()
            self.record_updated(pod, old, new)
            self.copy[pod] = new.copy()
        with otherwise(told):
            super().update(pod, old, new)

    def sub_queue_after_update(self, pod: Pod, old: PodObject, new: PodObject) -> Expr:
        """The entry is tried again if this pod was held for gates that it has lost; or if a member is in it that no plugin has rejected, and the one for which it was parked is gone."""
        member = self.pod_group_cycle.member(pod)
        if member is None:
            return super().sub_queue_after_update(pod, old, new)
        released = self.has_gates(pod, old) & ~self.has_gates(pod, new) & self._was_asked(pod)
        moved = (self.sub_queue[pod] == SubQueue.UNSCHEDULABLE) & (
            released | self._has_unrejected(member.group)
        )
        with when(moved):
            self.copy[pod] = new.copy()
            self._enter(member.group, self.retry_sub_queue(pod))
        return self.sub_queue[pod]

    def _was_asked(self, pod: Pod) -> Expr:
        """Whether PreEnqueue has come to the pod, and its gates have held it."""
        if not self.stops_at_first():
            return as_expr(True)
        return any_of(self.rejected_by[pod][p] for p in self.universe[Plugin] if p.name == SCHEDULING_GATES)

    def _has_unrejected(self, group: PodGroup) -> Expr:
        """Whether a member in the entry, which is parked, has no plugin to wait for. That counts only if the one that was held is gone."""
        inside = {m: self.contains(m.pod) for m in self._members(group)}
        some = any_of(here & ~self.is_rejected(m.pod) for m, here in inside.items())
        if not self.stops_at_first():
            return some
        return some & ~any_of(here & self.gated[m.pod] for m, here in inside.items())

    def is_gated_for(self, pod: Pod, event: ClusterEvent) -> Expr:
        member = self.pod_group_cycle.member(pod)
        if member is None:
            return super().is_gated_for(pod, event)
        if event.is_wildcard:
            return as_expr(False)
        opens = {
            GANG_SCHEDULING: lambda p: p.asked_for(event),
            DEFAULT_PREEMPTION: lambda _: self.may_open_gate(event),
        }
        deaf = [p for p in self.universe[Plugin] if p.name not in opens or not opens[p.name](p)]
        return any_of(as_expr(self.closed_by[member.group]) == p for p in deaf)

    def is_woken_by(self, pod: Pod, event: ClusterEvent, about: About = None) -> Expr:
        """isEntityWorthRequeuing: whether the event moves one of the pods in the entry."""
        member = self.pod_group_cycle.member(pod)
        if member is None:
            return super().is_woken_by(pod, event, about)
        worth = [self._has_unrejected(member.group)]
        for m in self._members(member.group):
            asked = self.contains(m.pod) & self.is_rejected(m.pod)
            worth.append(asked & super().is_woken_by(m.pod, event, about))
        return any_of(worth)

    def _retry(self, pod: Pod) -> None:
        member = self.pod_group_cycle.member(pod)
        if member is None:
            super()._retry(pod)
        else:
            self._enter(member.group, self.retry_sub_queue(pod))

    def activate(self, pod: Pod) -> None:
        """Activate: the entry of the member goes to activeQ. For members in flight it is nothing, as they consult no events."""
        member = self.pod_group_cycle.member(pod)
        if member is None:
            super().activate(pod)
            return
        self.settle()
        where = self._where(member.group)
        with when(where == SubQueue.BACKOFF):
            self._move_entry(member.group, SubQueue.ACTIVE)
        with otherwise(where == SubQueue.UNSCHEDULABLE):
            self._enter(member.group, SubQueue.ACTIVE)

    def _displace(self, pod: Pod) -> None:
        """The others in the entry go with the pod."""
        member = self.pod_group_cycle.member(pod)
        if member is None:
            super()._displace(pod)
        else:
            self._move_entry(member.group, self.sub_queue[pod])

    def _move_entry(self, group: PodGroup, sub_queue: Value) -> None:
        for m in self._members(group):
            with when(self.contains(m.pod)):
                self.sub_queue[m.pod] = sub_queue


def _arrival(member: Member) -> tuple[int, int]:
    return member.pod.arrival, member.pod.index


def _is_complete(pod_groups: PodGroups, group: PodGroup, known: list[Member]) -> bool:
    """Whether these members are enough for the group (isGroupReady)."""
    if group.min_group_count is None:
        return sum(group in (m.group, m.leaf) for m in known) >= (group.min_count or 0)
    ready = [_is_complete(pod_groups, child, known) for child in pod_groups.children(group)]
    return sum(ready) >= group.min_group_count


class ClockOfEntries(Clock):
    """The pods that wait at the start in one entry have the timestamp of the first of them."""

    pod_groups: PodGroups

    def setup(self) -> None:
        super().setup()
        for group in self.pod_groups.roots():
            waiting = [m.pod for m in self.pod_groups.members(group) if m.pod.exists and m.pod.node is None]
            founder = min(waiting, key=lambda pod: (pod.arrival, pod.index), default=None)
            for pod in waiting:
                if group.exists and pod is not founder:
                    self.joined(pod, {one: one is founder for one in waiting if one is not pod})
