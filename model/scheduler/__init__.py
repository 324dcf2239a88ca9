"""kube-scheduler, divided as upstream divides it. A proposed patch is a subclass of one of these classes."""

from .binding import Binding
from .cache.incremental import IncrementalSnapshot
from .cache.node_info import NodeInfos
from .cache.node_tree import NodeTree
from .cache.scheduler_cache import Cache
from .cache.snapshot import Snapshot
from .event_handlers import EventHandlers
from .failure import FailureHandler
from .framework.filters import Filters
from .framework.hints import Hints
from .framework.scores import Scores
from .framework.waiting_pods import WaitingPods
from .preemption.async_preemption import AsyncPreemption
from .preemption.evaluator import Preemption
from .process import Process
from .queue.clock import Clock
from .queue.nominator import Nominator
from .queue.scheduling_queue import PriorityQueue
from .queue.without_hints import QueueWithoutHints
from .sampling import Sampling
from .schedule_one import Scheduler

__all__ = [
    "AsyncPreemption", "Binding", "Cache", "Clock", "EventHandlers", "FailureHandler", "Filters", "Hints", "IncrementalSnapshot", "NodeInfos",
    "NodeTree", "Nominator", "Preemption", "PriorityQueue", "Process", "QueueWithoutHints", "Sampling", "Scheduler", "Scores", "Snapshot",
    "WaitingPods",
]  # fmt: skip
