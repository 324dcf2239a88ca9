"""Fairness and liveness: which runs count, and what must not go on for ever in one of them."""

from ....base.structs import Data, dataclass
from ..expressions.expr import Expr


@dataclass(frozen=True, slots=True, order=True)
class Fairness:
    """A set of transitions that a fair run does not pass over for ever; the transitions name it.

    The set waits in a state in which the guard of a member holds; `within_bounds`: and no constraint stops it. Weak fairness (justice): it is not so that the set
    waits for ever from some point on without acting. Strong fairness (compassion): it is not so that
    the set waits again and again, but acts only finitely often.
    """

    name: str
    strong: bool = False
    within_bounds: bool = False


class Case(Data):
    """One way to violate a liveness property: a fair run on which, from some point on, `persistent` holds for ever,
    and each of `recurrent` holds again and again.
    """

    name: str
    persistent: Expr
    recurrent: tuple[Expr, ...] = ()

    @property
    def predicates(self) -> tuple[Expr, ...]:
        """Everything that it looks at."""
        return (self.persistent, *self.recurrent)
