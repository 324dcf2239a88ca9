"""A patch whose step can always run, and changes nothing that anybody decides by."""

from podrace.patching import Scheduler, boolean, step


class Ticks(Scheduler):
    """Something is counted, again and again."""

    odd = boolean()

    @step(actor="metrics")
    def tick(self) -> None:
        """One more."""
        self.odd = ~self.odd
