"""kube-scheduler, divided as upstream divides it. A proposed patch is a subclass of one of these classes."""

from .binding import Binding
from .cache import Cache
from .clock import Clock
from .cycle import Scheduler
from .failure import FailureHandler
from .filters import Filters
from .handlers import EventHandlers
from .nominator import Nominator
from .preemption import Preemption
from .queue import PriorityQueue
from .snapshot import Snapshot

__all__ = [
    "Binding", "Cache", "Clock", "EventHandlers", "FailureHandler", "Filters", "Nominator", "Preemption",
    "PriorityQueue", "Scheduler", "Snapshot",
]  # fmt: skip
