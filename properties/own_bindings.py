"""What properties remember that are about the pods which the scheduler itself has bound."""

from __future__ import annotations

from ..model.environment.faults import Fault
from ..model.environment.objects import Pod
from ..model.language import Expr, before, boolean, per, when
from .property import Property


class AboutOwnBindings(Property):
    """Base class of the properties for which pods do not count that somebody else than the scheduler has bound.

    A Binding that the scheduler has sent is its own whenever it is executed, also when its binding cycle has given it up by then.
    """

    bound_by_others = per(Pod, boolean())

    def observe(self) -> None:
        if not self.scope.external_binds:
            return
        by_others = self._left() < before(self._left)
        for pod in self.pods:
            was_bound = before(lambda pod=pod: self.api.pod[pod].assigned)  # type: ignore[misc]
            with when(self.api.pod[pod].assigned & ~was_bound):
                self.bound_by_others[pod] = by_others

    def _left(self) -> Expr:
        left: Expr = self.process.faults.left[Fault.EXTERNAL_BIND]
        return left

    def counts(self, pod: Pod) -> Expr:
        """Whether the pod is bound, and by nobody else."""
        counts: Expr = self.api.pod[pod].assigned & ~self.bound_by_others[pod]
        return counts
