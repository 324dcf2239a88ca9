"""GenericWorkload, 1.37: groups of pods are entries of the queue (138567), the trial asks PlacementFeasible (138643), and preemption is that of whole groups.

The gate is off in 1.37. The mechanisms are in `model/scheduler/podgroups`: entity_queue.py and entity_cycle.py.
"""

from ....environment.pod_groups import PodGroups
from ....scheduler.event_handlers import AssumedMembersFetched
from ....scheduler.podgroups.entity_cycle import (
    GroupsAddedToQueue,
    MembersDoNotPreempt,
    MembersKeptAside,
    StatesOfGroups,
)
from ....scheduler.podgroups.entity_queue import ClockOfEntries, EntityQueue
from ....scheduler.podgroups.group_preemption import GroupGoroutines
from ....scheduler.podgroups.placements import Placements
from ....scheduler.podgroups.trees import Trees
from ...registry.change import before, yes
from ...versions import PRE_RELEASES

_on = before(
    "workloads-off",
    "the scheduler ignores groups of pods (GenericWorkload is off)",
    first_in="1.37",
    since="1.37",
    gate="GenericWorkload",
    gated_in="1.37",
    gate_off=True,
)


@_on
class WorkloadsAreScheduled(PodGroups):
    """Pods that belong to a group are scheduled as one."""

    is_there = yes


for part in (
    EntityQueue,
    ClockOfEntries,
    Placements,
    GroupGoroutines,
    MembersDoNotPreempt,
    MembersKeptAside,
    StatesOfGroups,
    AssumedMembersFetched,
    GroupsAddedToQueue,
):
    _on(part)


@before(
    "placements-off",
    "the scheduler ignores the topology keys of groups of pods (TopologyAwareWorkloadScheduling is off)",
    first_in=PRE_RELEASES[0],
    since=PRE_RELEASES[0],
    gate="TopologyAwareWorkloadScheduling",
    gated_in=PRE_RELEASES[0],
    gate_off=True,
)
class TopologyIsHeeded(PodGroups):
    """A group with a topology key is placed within one domain."""

    heeds_topology = yes


before(
    "trees-off",
    "the scheduler ignores which CompositePodGroup a group of pods belongs to (CompositePodGroup is off)",
    first_in=PRE_RELEASES[0],
    since=PRE_RELEASES[0],
    gate="CompositePodGroup",
    gated_in=PRE_RELEASES[0],
    gate_off=True,
)(Trees)
