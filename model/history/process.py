"""How the scheduler used to start."""

from __future__ import annotations

from ..scheduler import Process
from .change import before


@before(
    "116729",
    "scheduling begins when every handler was given the initial list",
    first_in="1.28",
    issues=(116717,),
)
class StoresSuffice(Process):
    """Scheduling began as soon as the informers' stores were filled: handlers might still have events to come."""

    def waits_for_handlers(self) -> bool:
        return False
