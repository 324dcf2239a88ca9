"""Whether any run is fair: a liveness says nothing where constraints hold back every run, as each then breaks off at a bound of the scope."""

from collections.abc import Callable

from ...model.language import Case, TransitionSystem, as_expr
from ..core.exploration import Budget, Exploration
from ..trace.lasso import at_rest

MOST_STATES = 200_000
"""In a larger system nobody looks: it takes another search."""

_ANY = "some run is fair"


def held_back(
    sliced: TransitionSystem,
    answer: Exploration,
    explore: Callable[[TransitionSystem, Budget], Exploration],
    budget: Budget,
) -> tuple[str, ...]:
    """The constraints that hold back every run of a slice for a liveness, as a complete search shows; none if some run is fair."""
    hit = tuple(c for c in sliced.constraints if c in answer.constraints_hit)
    if not sliced.livenesses or not answer.complete or not hit or answer.states > MOST_STATES:
        return ()
    asked = sliced.with_predicates(
        livenesses={_ANY: (Case(_ANY, as_expr(True), ()),)}, invariants={}, witnesses={}, resettabilities={}
    )
    asked = asked.with_predicates(invariants=at_rest(asked))
    found = explore(asked, budget)
    fair = found.violations or found.lassos
    return hit if found.complete and not fair else ()
