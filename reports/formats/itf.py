"""Traces in the Informal Trace Format of Apalache (its ADR 15), which Quint and its viewers read too.

The variables are those that the run changes; the state before the first step is what these steps found. Where steps repeat
for ever, `loop` is the state that follows the last one. A reference to nothing is an empty text. The action that leads to
a state stands in its `#meta`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ci_outcome import USUAL, Style, subject
from ..document import Finding, Value
from ..filtered import to_json


def to_itf(findings: Sequence[Finding], style: Style = USUAL) -> str:
    """A JSON document on a line of its own for every counterexample; no text at all if there is none."""
    traces = (trace_of(finding, style) for finding in findings if finding.trace is not None)
    return "".join(to_json(trace, 0) for trace in traces)


def trace_of(finding: Finding, style: Style = USUAL) -> dict[str, Any]:
    """The counterexample of a violated finding."""
    state: dict[str, Value] = {}
    for step in finding.story:
        for change in step.changes:
            state.setdefault(change.variable, change.before)
    names = sorted(state)
    states = [{"#meta": {"index": 0}, **_coded(state, names)}]
    for index, step in enumerate(finding.story, 1):
        state |= {change.variable: change.after for change in step.changes}
        meta = {"index": index, "action": step.call, "actor": step.actor}
        states.append({"#meta": meta, **_coded(state, names)})
    about = {
        "format": "ITF",
        "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
        "source": finding.place.file if finding.place else finding.scenario,
        "description": f"podrace {style.version}: {subject(finding)}",
        "status": "violation",
    }
    trace: dict[str, Any] = {"#meta": about, "vars": names, "states": states}
    turn = len(finding.trace or ()) + len(finding.after)
    if finding.cycle:
        states.pop()  # it is the state where the cycle began
        trace["loop"] = turn
    elif finding.lasso is not None:
        trace["loop"] = turn
    return trace


def _coded(state: dict[str, Value], names: Sequence[str]) -> dict[str, Any]:
    return {name: _code(state[name]) for name in names}


def _code(value: Value) -> Any:
    if value is None:
        return ""
    if isinstance(value, (bool, str)):
        return value
    return {"#bigint": str(value)}
