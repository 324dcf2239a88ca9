"""Groups of pods as entries of the queue, before 1.38: what 1.37 did where GenericWorkload is on."""

from collections.abc import Mapping
from functools import partial

from ....environment.objects import ExtensionPoint, Pod
from ....environment.pod_groups import Member
from ....language import Expr, Value, as_expr
from ....scheduler import GangScheduling, Preemption
from ....scheduler.event_handlers import AssumedMembersFetched
from ....scheduler.podgroups.entity_cycle import StatesOfGroups
from ....scheduler.podgroups.entity_queue import EntityQueue
from ....scheduler.podgroups.group_preemption import GroupGoroutines, GroupsPreempt
from ...registry.change import before, never, no
from ...versions import PRE_RELEASES

_new = partial(before, first_in=PRE_RELEASES[0], within=("GenericWorkload",))


@before(
    "141182",
    "GangScheduling has no Permit: a pod of a gang is bound as soon as it is assumed",
    first_in=PRE_RELEASES[0],
    within=("GangScheduling", "GenericWorkload"),
)
class GangsWaitForPermission(GangScheduling):
    """Permit had a pod of a gang wait until enough of its pods were on nodes (1.35 to 1.37)."""

    def points(self, pod: Pod) -> frozenset[ExtensionPoint]:
        here = {ExtensionPoint.PERMIT} if self.gang(pod) is not None else set()
        return super().points(pod) | here


_tracker = _new("hierarchy-tracker", "PreEnqueue counts the pods that HierarchyTracker has for a group")


@_tracker
class PodsCountedInCache(StatesOfGroups):
    """It counted those of the group's state in the cache."""

    has_tracker = no


@_tracker
class MembersFetchedAtOnce(AssumedMembersFetched):
    """As for any other pod, GetPod is no step of its own here."""

    fetches = no


@_new("141577", "PreEnqueue stops at the first pod of a group that it rejects")
class EveryMemberAsked(EntityQueue):
    """It was asked of all; and a pod that nothing had rejected, such as one that came later, had the entry tried again at any event."""

    stops_at_first = no


@_new("141253", "a pod that fits in a group which does not is recorded as rejected by GangScheduling")
class NobodyRejectsWhoFits(GroupsPreempt):
    """It was recorded as rejected by no plugin, and so was one that was not tried."""

    def rejecters(self) -> tuple[str, ...]:
        return ()


@_new("142684", "preemption of a group withdraws nominations of a lower priority on the nodes of its pods")
class NominationsToCluster(GroupGoroutines):
    """The goroutine looked for nominations to a node called `cluster`, and so withdrew none."""

    def aim(self, places: Mapping[Member, Value]) -> None:
        """Nobody is nominated to the node of this name."""


@_new("ranked-nodes", "preemption of a group prefers nodes on which it evicts less")
class NodesNotRanked(GroupsPreempt):
    """The trial without the potential victims took any node that fits best."""

    is_cheaper = never


@_new(
    "victims-awaited-first",
    "a group that may not preempt keeps its nominations while victims terminate on its nodes",
)
class PolicyAskedFirst(GroupsPreempt):
    """preemptionPolicy was asked before the look for victims that terminate."""

    def may_go_on(self, may: Expr) -> Expr:
        return as_expr(may)


@_new(
    "members-rank-as-pods",
    "a pod of a group that is evicted alone is as important as any other of its priority",
)
class GroupsOutrankPods(Preemption):
    """Of victims of one priority, the pods of groups were more important than others."""

    def more_important(self, a: Pod, b: Pod) -> Expr:
        if (a.group is None) == (b.group is None):
            return super().more_important(a, b)
        above = a.priority > b.priority
        return above | (a.priority == b.priority) if b.group is None else above
