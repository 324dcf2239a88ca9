"""Traces in the Informal Trace Format."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from hypothesis import given

from podrace.reports.ci_outcome import Style
from podrace.reports.document import Finding
from podrace.reports.formats.itf import to_itf, trace_of
from tests.reports.findings import findings
from tests.reports.samples import ALL, AT_ONCE, STARVED, VIOLATED


def test_one_document_for_each_counterexample() -> None:
    traces = [json.loads(line) for line in to_itf(ALL).splitlines()]
    assert [trace["#meta"]["description"] for trace in traces] == [
        "podrace 0: nominated-node-race, 1.13: S-NOM",
        "podrace 0: mine, 1.8: L-ISO",
        "podrace 0: mine, 1.12: L-PEND",
        "podrace 0: mine, 1.8: S-CAP",
    ]


def test_states_are_complete_and_actions_named() -> None:
    trace = trace_of(VIOLATED, Style(version="1"))
    assert trace["#meta"]["format"] == "ITF"
    first, last = trace["states"][0], trace["states"][-1]
    assert first == {
        "#meta": {"index": 0},
        "api.node[q]": "",
        "mine.count": {"#bigint": "1"},
        "mine.seen[q]": False,
        "queue.sub_queue[p]": "ACTIVE",
        "scheduler.nominee": "",
        "scheduler.phase": "IDLE",
    }
    assert last["#meta"] == {"index": 4, "action": "write(q, not ok)", "actor": "user"}
    assert (last["api.node[q]"], last["mine.count"]) == ("n1", {"#bigint": "2"})
    assert "loop" not in trace


def test_a_lasso_leads_back() -> None:
    trace = trace_of(STARVED)
    assert trace["loop"] == 1
    assert (
        len(trace["states"]) == 4
    )  # before and after the first step, and after two more; the last leads back
    rests = trace_of(msgspec.structs.replace(STARVED, cycle=()))
    assert (rests["loop"], len(rests["states"])) == (1, 2)


def test_a_violation_at_once_is_one_state() -> None:
    assert trace_of(AT_ONCE)["states"] == [{"#meta": {"index": 0}}]


@given(findings())
def test_every_state_gives_every_variable_a_value(finding: Finding) -> None:
    if finding.trace is None:
        assert to_itf([finding]) == ""
        return
    trace: Any = json.loads(to_itf([finding]))
    for index, state in enumerate(trace["states"]):
        assert state["#meta"]["index"] == index
        assert sorted(set(state) - {"#meta"}) == sorted(set(trace["vars"]) - {"#meta"})
    assert trace.get("loop", 0) < len(trace["states"])
