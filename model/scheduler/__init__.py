"""kube-scheduler, divided as upstream divides it. A proposed patch is a subclass of one of these classes."""

from .binding import Binding
from .cache import Cache
from .cycle import Scheduler
from .failure import FailureHandler
from .filters import Filters
from .handlers import EventHandlers
from .nominator import Nominator
from .preemption import Preemption
from .queue import PriorityQueue
from .sampling import Sampling
from .scores import Scores
from .snapshot import Snapshot

__all__ = [
    "Binding", "Cache", "EventHandlers", "FailureHandler", "Filters", "Nominator", "Preemption",
    "PriorityQueue", "Sampling", "Scheduler", "Scores", "Snapshot",
]  # fmt: skip
