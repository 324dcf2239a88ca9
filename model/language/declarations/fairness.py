"""Fairness and liveness: which runs are fair, and what must not go on indefinitely in a fair run."""

from ....base.structs import Data, dataclass
from ..expressions.expr import Expr


@dataclass(frozen=True, slots=True, order=True)
class Fairness:
    """A set of transitions that a fair run does not ignore indefinitely; the transitions name it.

    The set waits in a state in which the guard of a member holds; `within_bounds`: and no constraint stops it. Weak fairness (justice):
    the set does not wait indefinitely from some point on without acting. Strong fairness (compassion): the set does not
    act only finitely often while it waits again and again.
    """

    name: str
    strong: bool = False
    within_bounds: bool = False


class Case(Data):
    """One way to violate a liveness property: a fair run on which, from some point on, `persistent` always holds,
    and each of `recurrent` holds again and again.
    """

    name: str
    persistent: Expr
    recurrent: tuple[Expr, ...] = ()

    @property
    def predicates(self) -> tuple[Expr, ...]:
        """All predicates of this case."""
        return (self.persistent, *self.recurrent)
