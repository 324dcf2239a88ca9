"""Independent transitions lead to the same in either order, and neither enables or disables the other."""

from __future__ import annotations

from hypothesis import given, settings

from podrace.checker.core.interpreter import Interpreter
from podrace.checker.reduction.independence import independent_transitions
from podrace.model.language import TransitionSystem
from tests.checker.explicit.systems import ring
from tests.profiles import examples
from tests.random_systems import coupled


def commute_everywhere(system: TransitionSystem) -> int:
    """How often two independent transitions were both enabled in a reachable state; and each time they were as independent as is said."""
    independent, interpreter = independent_transitions(system), Interpreter(system)
    found, waiting, met = {system.initial}, [system.initial], 0
    for state in waiting:
        enabled = interpreter.enabled(state)
        after = {t: interpreter.successor(state, t) for t in enabled}
        for t, one in after.items():
            then = interpreter.enabled(one)
            for u in range(len(independent)):
                if independent[t] >> u & 1:
                    assert (u in then) == (u in after)
                    if u in after:
                        met += 1
                        assert interpreter.successor(one, u) == interpreter.successor(after[u], t)
            if one not in found:
                found.add(one)
                waiting.append(one)
    return met


@settings(max_examples=examples(150))
@given(coupled())
def test_of_random_systems(system: TransitionSystem) -> None:
    commute_everywhere(system)


def test_of_a_system_with_many_processes() -> None:
    assert commute_everywhere(ring(5)) > 0


def test_no_transition_is_independent_of_itself() -> None:
    assert not any(row >> t & 1 for t, row in enumerate(independent_transitions(ring(4))))
