"""Why a transition cannot be taken."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.core.interpreter import Interpreter
from podrace.checker.trace.disabled_reason import why_disabled
from podrace.checker.trace.execution import replay
from podrace.model.language import TransitionSystem
from tests.checker.machines import house
from tests.profiles import examples
from tests.random_systems import systems


def number_of(system: TransitionSystem, label: str) -> int:
    return next(i for i, t in enumerate(system.transitions) if t.label == label)


def test_the_false_part_of_the_guard_is_named() -> None:
    system = house()
    enter = number_of(system, "room.enter(worker=w0)")
    assert why_disabled(system, system.initial, enter) == "its guard is false: room.at[w0] is OUT"
    inside = replay(system, (0, 2)).states[-1]
    ask = number_of(system, "room.ask(worker=w0)")
    assert why_disabled(system, inside, ask) == "its guard is false: room.at[w0] is IN"


@settings(max_examples=examples(60), deadline=None)
@given(systems(), st.data())
def test_something_is_said_exactly_where_a_transition_is_disabled(
    system: TransitionSystem, data: st.DataObject
) -> None:
    interpreter = Interpreter(system)
    state = system.initial
    for _ in range(5):
        able = interpreter.enabled(state)
        for number in range(len(system.transitions)):
            why = why_disabled(system, state, number)
            assert (why is None) == (number in able)
            if why is not None:
                assert why.startswith(("its guard is false", "the constraint `"))
        if not able:
            break
        state = interpreter.successor(state, data.draw(st.sampled_from(able)))
