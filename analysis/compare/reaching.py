"""Which witnesses of a system can be reached."""

from collections.abc import Sequence
from dataclasses import replace

from ...checker.core.exploration import Budget
from ...checker.search import check
from ...model.language import TransitionSystem, all_of, negate
from ...model.language.expressions.expr import fresh_graph


def unharmed(system: TransitionSystem) -> TransitionSystem:
    """The same without what comes after a violation of an invariant; witnesses count only while all hold."""
    with fresh_graph():
        good = all_of(system.invariants.values())
        return replace(
            system,
            transitions=tuple(replace(t, guard=all_of([good, t.guard])) for t in system.transitions),
            witnesses={name: all_of([good, witness]) for name, witness in system.witnesses.items()},
        )


def reached_in(
    system: TransitionSystem, witnesses: Sequence[str], budget: Budget
) -> tuple[list[str], list[str]]:
    """Which of these witnesses can be reached, and of which that is undecided. What is reached was executed again."""
    if not witnesses:
        return [], []
    with fresh_graph():
        never = {witness: negate(system.witnesses[witness]) for witness in witnesses}
    asked = system.with_predicates(
        invariants=never, witnesses={}, resettabilities={}, livenesses={}, views={}
    )
    results = check(asked, list(never), budget)
    words = {r.property_id: r.verdict.name for r in results}
    return (
        [witness for witness in witnesses if words[witness] == "VIOLATED"],
        [witness for witness in witnesses if words[witness] == "INCONCLUSIVE"],
    )
