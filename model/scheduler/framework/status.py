"""Where a scheduling cycle stands, what a plugin answers, and the status of each node."""

from enum import Enum

from ...language import spoken


class Phase(Enum):
    """The next thing that the scheduling goroutine does (ScheduleOne, schedule_one.go, 1.34)."""

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
    GET_CLAIMS = 22
    CHECK_CLAIMS = 23
    LIST_DEVICES = 24
    ADD_IN_FLIGHT = 25
    DEALLOCATE = 26
    READ_VOLUME_CLAIMS = 27
    LIST_VOLUMES = 28
    POD_GROUP = 29
    EXTENDERS = 30
    EXTENDERS_NOMINATED = 31
    EXTENDERS_PREEMPT = 32
    EXTENDERS_SCORE = 33


@spoken(
    FEASIBLE="fits on",
    REJECTED="does not fit on",
    UNRESOLVABLE="can never fit on",
    CANDIDATE="could preempt on",
    NO_CANDIDATE="cannot preempt on",
    ERROR="meets an error on",
)
class NodeStatus(Enum):
    """The status of a node in a cycle: what the filters said of it (NodeToStatus), and then what the dry run made of it."""

    UNTRIED = 0
    FEASIBLE = 1
    REJECTED = 2
    CANDIDATE = 3
    NO_CANDIDATE = 4
    UNRESOLVABLE = 5  # rejected for a reason that no eviction mends
    ERROR = 6  # the dry run ended in an error


class Code(Enum):
    """What a plugin says of a pod and a node (`Code` of a framework.Status)."""

    SUCCESS = 0
    ERROR = 1
    UNSCHEDULABLE = 2
    UNRESOLVABLE = 3  # UnschedulableAndUnresolvable
    SKIP = 5
