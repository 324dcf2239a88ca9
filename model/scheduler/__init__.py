"""kube-scheduler, divided as upstream divides it. A proposed patch is a subclass of one of these classes."""

from .binding import Binding
from .cache import Cache
from .clock import Clock
from .cycle import Scheduler
from .failure import FailureHandler
from .filters import Filters
from .handlers import EventHandlers
from .incremental import IncrementalSnapshot
from .node_info import NodeInfos
from .node_tree import NodeTree
from .nominator import Nominator
from .preemption import Preemption
from .queue import PriorityQueue
from .sampling import Sampling
from .scores import Scores
from .snapshot import Snapshot
from .waiting import WaitingPods

__all__ = [
    "Binding", "Cache", "Clock", "EventHandlers", "FailureHandler", "Filters", "IncrementalSnapshot", "NodeInfos",
    "NodeTree", "Nominator", "Preemption", "PriorityQueue", "Sampling", "Scheduler", "Scores", "Snapshot",
    "WaitingPods",
]  # fmt: skip
