"""What the driver goes by in a cluster with groups of pods, and no move tells: where the cycle of a group and the binding cycles are after a step."""

from collections.abc import Mapping, Sequence

from ...reports.step import Value
from ..case import Case

Values = Mapping[str, Value]

_GONE_BY: Mapping[str, frozenset[Value] | None] = {
    "pod_group_cycle.stage": None,
    "pod_group_cycle.status": frozenset({"ERROR"}),
    "pod_group_cycle.finishing": None,
    "pod_group_cycle.again": None,
    "pod_group_cycle.outcome": frozenset({"PREEMPTS"}),
    "pod_group_cycle.copy_of.nominated": None,
    "pod_group_states.panicked": None,
    "scheduler.phase": frozenset({"IDLE", "POD_GROUP", "FAILING", "RESERVE", "FORGET"}),
    "binding.phase": None,
}
"""Variables without their indices, and which of their values the driver tells apart; None for all."""

_MARKS = ("pod_group_cycle.finishing", "pod_group_states.known", "queue.pending")
"""By these it knows which pods are of a group, and whether a group is one entry of the queue."""

OTHER = "OTHER"


def values_at_start(case: Case) -> Values:
    """The initial values of the variables that a test tells."""
    if not case.groups:
        return {}
    changed = {variable for told in values_after(case) for variable in told}
    return {v: _told(v, value) for v, value in case.initial.items() if v in changed or _kind(v) in _MARKS}


def values_after(case: Case) -> Sequence[Values]:
    """For each step the values that it changes, as far as the driver tells them apart."""
    if not case.groups:
        return [{} for _ in case.steps]
    known = _as_told(case.initial)
    found: list[Values] = []
    for step in case.steps:
        told = _as_told(step.changes)
        found.append({v: value for v, value in told.items() if known[v] != value})
        known |= told
    return found


def _as_told(values: Values) -> dict[str, Value]:
    return {v: _told(v, value) for v, value in values.items() if _kind(v) in _GONE_BY}


def _told(variable: str, value: Value) -> Value:
    apart = _GONE_BY.get(_kind(variable))
    return value if apart is None or value in apart else OTHER


def _kind(variable: str) -> str:
    return "".join(part.partition("]")[2] if "]" in part else part for part in variable.split("["))
