"""Random runs of systems, for Hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from podrace.checker.core.interpreter import Interpreter
from podrace.model.language import TransitionSystem


def random_run(data: st.DataObject, system: TransitionSystem, most: int) -> tuple[int, ...]:
    """The transitions of a run of so many steps, or of fewer if nothing more can happen."""
    interpreter = Interpreter(system)
    state, path = system.initial, list[int]()
    while len(path) < most and (able := interpreter.enabled(state)):
        path.append(data.draw(st.sampled_from(able)))
        state = interpreter.successor(state, path[-1])
    return tuple(path)
