"""Whether a permutation of states is an automorphism, as far as the states show."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import strategies as st

from podrace.checker.core.interpreter import Interpreter
from podrace.checker.parametric.exchange import Permutation
from podrace.model.language import State, TransitionSystem
from tests.symmetric_systems import alike

MOST = 400
"""How many states of a system are looked at one by one."""


def some_states(system: TransitionSystem) -> Iterator[State]:
    acting = Interpreter(system)
    seen, waiting = {system.initial}, [system.initial]
    for state in waiting:
        yield state
        for number in acting.enabled(state):
            following = acting.successor(state, number)
            if following not in seen and len(seen) < MOST:
                seen.add(following)
                waiting.append(following)


def maps(system: TransitionSystem, p: Permutation, state: State) -> bool:
    """Whether the permutation is an automorphism as far as this state and its image show."""
    acting = Interpreter(system)
    image = p(state)
    there = {(system.transitions[i].step, p(acting.successor(state, i))) for i in acting.enabled(state)}
    here = {(system.transitions[i].step, acting.successor(image, i)) for i in acting.enabled(image)}
    predicates = [*system.invariants.values(), *system.witnesses.values()]
    same = all(acting.evaluate(e, state) == acting.evaluate(e, image) for e in predicates)
    return same and here == there and acting.constraints_hit(state) == acting.constraints_hit(image)


SYSTEMS = st.one_of(alike(), alike(spoiled=True))
