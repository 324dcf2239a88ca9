"""What is said of a run that lets minutes pass amid shorter work."""

from __future__ import annotations

from dataclasses import replace

from ...base.text import listed
from ...checker.core.trace import LassoTrace, Trace
from ...checker.reduction.questions import explored_slice
from ...checker.reduction.slicing import transition_map
from ...checker.reduction.slow_steps import SlowSteps, slow_steps
from ...model.language import TransitionSystem


def slow_words(system: TransitionSystem, name: str, trace: Trace, is_slow: bool) -> str:
    """Which steps would have to last for minutes for a counterexample to happen, as far as the property sees, or do so if some actor `is_slow`; empty if none, and of a run for ever."""
    if isinstance(trace, LassoTrace) or not trace.steps:
        return ""
    part = explored_slice(replace(system, scales=False), name)
    numbers = {number: i for i, number in enumerate(transition_map(part, system))}
    if not all(number in numbers for number in trace.path):
        return ""
    slow = slow_steps(part, tuple(numbers[number] for number in trace.path))
    return "; ".join(_words(part, one, is_slow) for one in slow)


def _words(part: TransitionSystem, one: SlowSteps, is_slow: bool) -> str:
    slow = [part.transitions[n] for n in one.slow]
    steps = listed([f"{t.label} ({t.actor})" for t in slow])
    lasts = f"step {one.timer} comes only after minutes: so long"
    if is_slow:
        return f"{lasts} last {steps}, possible after step {one.since}"
    actors = " ".join(f"--slow '{actor}'" for actor in dict.fromkeys(t.actor for t in slow))
    return f"{lasts} would have to last {steps}, possible after step {one.since}. `--time scales` excludes that, and {actors} allows it"
