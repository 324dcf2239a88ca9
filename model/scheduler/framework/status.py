"""Where a scheduling cycle stands, and what it has found out about each node."""

from __future__ import annotations

from enum import Enum


class Phase(Enum):
    """The next thing that the scheduling goroutine does (scheduleOne, pkg/scheduler/scheduler.go)."""

    IDLE = 0
    POPPED = 1
    LISTED = 2
    FILTERING = 3
    SELECT = 4
    ASSUMED = 5
    REREAD_PREEMPTOR = 6
    DRY_RUN = 7
    NOMINATE = 8
    PATCH_NOMINATION = 9
    ROLL_BACK = 10
    EVICT = 11
    CLEAR_NOMINATIONS = 12
    FAIL = 13
    FAILING = 14
    FILTERING_NOMINATED = 15
    RESERVE = 16
    PERMIT = 17
    FORGET = 18
    REJECT_VICTIM = 19
    RESERVED = 20
    CLEAR_OWN_NOMINATION = 21


class NodeVerdict(Enum):
    """What the cycle knows of a node."""

    UNTRIED = 0
    FEASIBLE = 1
    REJECTED = 2
    CANDIDATE = 3
    NO_CANDIDATE = 4
    UNRESOLVABLE = 5  # rejected for a reason that no eviction mends


class Code(Enum):
    """What a plugin says of a pod and a node (framework.Code)."""

    SUCCESS = 0
    ERROR = 1
    UNSCHEDULABLE = 2
    UNRESOLVABLE = 3  # UnschedulableAndUnresolvable
    SKIP = 5
