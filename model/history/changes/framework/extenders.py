"""Extenders as the queue knew of them."""

from __future__ import annotations

from ....scheduler import Scheduler
from ...registry.change import before


@before(
    "122022",
    "a pod that an extender rejected is tried again after any event",
    first_in="1.30",
    issues=(122019,),
    backports=("1.26.12", "1.27.9", "1.28.5", "1.29.10"),
)
class ExtendersUnheard(Scheduler):
    """Nothing was recorded of what an extender rejected: the pod waited for the events of the plugins that had rejected it on other nodes."""

    def note_extender(self) -> None:
        """Nothing is noted."""
