"""72259 done wrong: the nomination reaches memory first, and a failed write leaves it there."""

from podrace.patching import Phase, before


class NeverCleared(before("72259")):  # type: ignore[misc]
    """Nominate in memory, never clear when the API call fails."""

    def first_nomination_phase(self) -> Phase:
        return Phase.NOMINATE
