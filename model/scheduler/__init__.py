"""kube-scheduler, divided as upstream divides it. A proposed patch is a subclass of one of these classes."""

from .async_preemption import AsyncPreemption
from .binding import Binding
from .cache import Cache
from .clock import Clock
from .cycle import Scheduler
from .failure import FailureHandler
from .filters import Filters
from .handlers import EventHandlers
from .hints import Hints
from .incremental import IncrementalSnapshot
from .node_info import NodeInfos
from .node_tree import NodeTree
from .nominator import Nominator
from .preemption import Preemption
from .process import Process
from .queue import PriorityQueue
from .sampling import Sampling
from .scores import Scores
from .snapshot import Snapshot
from .waiting import WaitingPods
from .without_hints import QueueWithoutHints

__all__ = [
    "AsyncPreemption", "Binding", "Cache", "Clock", "EventHandlers", "FailureHandler", "Filters", "Hints", "IncrementalSnapshot", "NodeInfos",
    "NodeTree", "Nominator", "Preemption", "PriorityQueue", "Process", "QueueWithoutHints", "Sampling", "Scheduler", "Scores", "Snapshot",
    "WaitingPods",
]  # fmt: skip
