"""No race without scheduling."""

from podrace.model.environment.objects import Pod
from podrace.model.language import Expr, as_expr
from podrace.model.scheduler import Scheduler


class NeverSchedules(Scheduler):
    """Every popped pod is skipped."""

    def skips(self, pod: Pod) -> Expr:
        return as_expr(True)
