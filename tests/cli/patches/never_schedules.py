"""No race without scheduling."""

from podrace.patching import Expr, Pod, Scheduler, as_expr


class NeverSchedules(Scheduler):
    """Every popped pod is skipped."""

    def skips(self, pod: Pod) -> Expr:
        return as_expr(True)
