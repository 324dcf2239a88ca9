"""72259 done wrong: the nomination reaches memory first, and a failed write leaves it there."""

from podrace.model.history.changes.preempting.nominations import Before72259
from podrace.model.scheduler.framework.status import Phase


class NeverCleared(Before72259):
    """Nominate in memory, never clear when the API call fails."""

    def first_nomination_phase(self) -> Phase:
        return Phase.NOMINATE
