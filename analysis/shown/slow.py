"""What is said of a run that lets minutes pass amid shorter work."""

from dataclasses import replace

from ...base.text import listed
from ...checker.core.trace import LassoTrace, Trace
from ...checker.reduction.questions import explored_slice
from ...checker.reduction.slicing import transition_map
from ...checker.reduction.slow_steps import SlowSteps, slow_steps
from ...model.language import Lasts, TransitionSystem


def slow_words(system: TransitionSystem, name: str, trace: Trace, is_slow: bool) -> str:
    """A sentence that names the steps that must take minutes in a counterexample; empty if there are none, and for a lasso. `is_slow`: the scenario names slow actors."""
    part, slow = _slow_in(system, name, trace)
    return "; ".join(_words(part, one, is_slow) for one in slow)


def slow_actors(system: TransitionSystem, name: str, trace: Trace) -> tuple[str, ...]:
    """The actors of the steps that would have to last for minutes for a counterexample to happen."""
    part, slow = _slow_in(system, name, trace)
    return tuple(dict.fromkeys(part.transitions[number].actor for one in slow for number in one.slow))


def _slow_in(system: TransitionSystem, name: str, trace: Trace) -> tuple[TransitionSystem, list[SlowSteps]]:
    """What the property sees of a system, and of which steps in a run it sees that they would last for minutes."""
    flushes = any(system.transitions[number].lasts is Lasts.MINUTES for number in trace.path)
    if isinstance(trace, LassoTrace) or not flushes:
        return system, []
    part = explored_slice(replace(system, scales=False), name)
    numbers = {number: i for i, number in enumerate(transition_map(part, system))}
    if not all(number in numbers for number in trace.path):
        return part, []
    return part, slow_steps(part, tuple(numbers[number] for number in trace.path))


def _words(part: TransitionSystem, one: SlowSteps, is_slow: bool) -> str:
    slow = [part.transitions[n] for n in one.slow]
    steps = listed([f"{t.label} ({t.actor})" for t in slow])
    lasts = f"minutes must pass before step {one.timer}. During these minutes, {steps} must not happen, although it is possible from step {one.since} on"
    if is_slow:
        return lasts
    actors = " ".join(f"--slow '{actor}'" for actor in dict.fromkeys(t.actor for t in slow))
    return f"{lasts}. `--time scales` excludes such a delay, and {actors} allows it"
