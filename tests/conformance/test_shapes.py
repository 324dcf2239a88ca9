"""Values of another form than the schema says: one line that names the place, whatever the value, never a traceback."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conformance.cases.cases import Outcome
from tests.conformance.registry import run_case

FOLDER = Path(__file__).parents[1] / "conformance"
CASES = [
    (file.stem, case)
    for file in sorted(FOLDER.glob("*.json"))
    for case in json.loads(file.read_text())["cases"]
]
QUEUE: dict[str, Any] = {
    "id": "q",
    "kind": "ops",
    "pods": {"p": {"name": "p"}},
    "ops": [{"op": "add", "pod": "p"}],
}


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        ({**QUEUE, "params": {"initial_backoff_s": "1s"}}, "params.initial_backoff_s is '1s', not a number"),
        (
            {**QUEUE, "ops": [{"op": "put_raw", "queue": "active", "pod": "p", "timestamp": "1s"}]},
            "ops[0].timestamp is '1s', not a number",
        ),
        ({**QUEUE, "pods": {"p": {"name": "p", "priority": "high"}}}, "pods.p.priority is 'high', not a number"),
        ({**QUEUE, "pods": {"p": {}}}, "pods.p has no `name`"),
        ({**QUEUE, "kind": ["ops"]}, "kind is ['ops'], not a text"),
        ({**QUEUE, "ops": {"op": "add"}}, "ops is {'op': 'add'}, not a list"),
        ({**QUEUE, "ops": [{"op": "add", "pod": 7}]}, "ops[0].pod is 7, not the key of a pod or a list of keys"),
        (
            {**QUEUE, "ops": [{"op": "increment_cycle", "by": 10**12}]},
            "ops[0].by is 1000000000000, not a number from 0 to 100000",
        ),
        ({**QUEUE, "ops": [{"op": "advance", "seconds": float("nan")}]},
         "ops[0].seconds is nan, not a number of seconds or a span of the queue's own"),
        (
            {"id": "b", "kind": "backoff", "initial_ns": -1, "max_ns": 5, "attempts": 1, "expected_ns": 1},
            "initial_ns is -1, not a number from 0 on",
        ),
        ({"id": "c", "cycles": [{"preemptor": {"priority": 1.5}}]},
         "cycles[0].preemptor.priority is 1.5, not a whole number"),
        ({"id": "n", "nodes": [{"labels": {}}], "expected_candidate_nodes": []}, "nodes[0] has no `name`"),
        ({"id": "h", "pod": {"hostPorts": [{"ip": ""}]}}, "pod.hostPorts[0] has no `port`"),
        ({"id": "a", "pod": {"nodeAffinity": {}}}, "pod.nodeAffinity has no `nodeSelectorTerms`"),
        ({"id": "a", "pod": {"nodeAffinity": {"nodeSelectorTerms": [{"matchFields": [{"key": "k"}]}]}}},
         "pod.nodeAffinity.nodeSelectorTerms[0].matchFields[0] has no `operator`"),
        ({"id": "t", "pod": {"tolerations": [{"key": "k", "operator": "Gt", "value": "5"}]}},
         "pod.tolerations[0].operator is 'Gt', not one of Equal, Exists"),
        ({"id": "t", "pod": {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "Wait"}]}},
         "pod.topologySpreadConstraints[0].whenUnsatisfiable is 'Wait', not one of DoNotSchedule, ScheduleAnyway"),
        ({"id": "t", "pod": {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "z", "nodeTaintsPolicy": "Honour"}]}},
         "pod.topologySpreadConstraints[0].nodeTaintsPolicy is 'Honour', not one of Honor, Ignore"),
        ({"id": "t", "pod": {"affinity": {"required": [{"topologyKey": "z", "matchLabelKeys": ["app"]}]}}},
         "nobody reads pod.affinity.required[0].matchLabelKeys"),
        ({"id": "t", "pod": {"hostPorts": [{"port": 80, "hostPort": 81}]}}, "nobody reads pod.hostPorts[0].hostPort"),
        ({"id": "t", "pod": {"nodeAffinity": [{"key": "k", "operator": "Like", "values": ["v"]}]}},
         "pod.nodeAffinity[0].operator is 'Like', not one of In, NotIn, Exists, DoesNotExist, Gt, Lt"),
        ({**QUEUE, "ops": []}, "the case has no operations"),
        ({**QUEUE, "ops": None}, "the case has no operations"),
        ({**QUEUE, "ops": [{"op": "pop", "expect": True}]},
         "ops[0].expect is True, not the key of a pod or a list of keys"),
        ({**QUEUE, "ops": [{"op": "drain_backoff", "expect": False}]},
         "ops[0].expect is False, not the key of a pod or a list of keys"),
        ({**QUEUE, "ops": [{"op": "expect_is_assumed", "pod": "p", "expect": "p"}]},
         "ops[0].expect is 'p', not true or false"),
        ({"id": "b", "kind": "backoff", "initial_ns": 1, "max_ns": 1.5, "attempts": 1, "expected_ns": 1},
         "max_ns is 1.5, not a whole number"),
        ({"id": "b", "kind": "backoff", "initial_ns": None, "max_ns": 1, "attempts": 1, "expected_ns": 1},
         "the case has no `initial_ns`"),
        ({"id": "m", "kind": "more_important", "a": None, "b": {}}, "the case has no `a`"),
        ({"id": "s", "kind": "earliest_start", "victims": None, "expected_start": 1}, "the case has no `victims`"),
        ({"id": "e", "nodes": [{"name": "n"}], "preemptor": None, "expected_eligible": True},
         "the case has no `preemptor`"),
        ({"id": "e", "nodes": [], "preemptor": {"name": "p"}, "expected_nominated_node": None},
         "the case has no `nodes`"),
        ({"id": "e", "nodes": None, "expected": {"preemptor_nominated": "n"}}, "the case has no `nodes`"),
        ({"id": "c", "nodes": [{"name": "n"}], "cycles": [{"preemptor": None, "expected_candidates": []}]},
         "cycle 1 has no `preemptor`"),
        ({"id": "f", "kind": "nominated_filter", "node": None, "pod": {"name": "p"}}, "the case has no `node`"),
        ({"id": "f", "kind": "nominated_filter", "node": {"name": "n"}, "pod": None}, "the case has no `pod`"),
        ({"id": "f", "kind": "filter_call_count", "nodes": [{"name": "n"}], "pod": None}, "the case has no `pod`"),
        ({"id": "f", "nominated": 3}, "nominated is 3, not pods that are nominated"),
        ({"id": "f", "nominatedPodNames": "x"}, "nominatedPodNames is 'x', not pods that are nominated"),
        ({"id": "f", "nominatedPods": [{"name": "q", "priority": "high"}]},
         "nominatedPods[0].priority is 'high', not a number"),
        ({"id": "f", "nominatedPods": {"n": {"name": "q", "labels": 1}}},
         "nominatedPods.n.labels is 1, not an object"),
        ({"id": "f", "nominated": {"n": [{"pod": {"priority": 1.5}}]}},
         "nominated.n[0].pod.priority is 1.5, not a whole number"),
        ({"id": "f", "nominated": [{"pod": None, "node": "n"}]}, "nominated[0] has no `pod`"),
    ],
)  # fmt: skip
def test_a_value_of_another_form_is_named_with_its_place(case: dict[str, Any], reason: str) -> None:
    assert run_case(case, "t", "1.22") == Outcome("FAIL", f"not translated: {reason}")


def test_what_no_field_shows_is_told_with_the_operation() -> None:
    case = {**QUEUE, "ops": [{"op": "add", "pod": ["p"]}]}
    outcome = run_case(case, "queue", "1.22")
    assert outcome.status == "FAIL"
    assert outcome.reason.startswith(
        "not translated: operation 0 (add): a value has not the form that the schema says"
    )


def places(value: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """All places in a case, but those of its remarks."""
    found = [above] if above and above[0] not in ("id", "description", "source") else []
    if isinstance(value, dict):
        return found + [p for k, v in value.items() for p in places(v, (*above, k))]
    if isinstance(value, list):
        return found + [p for i, v in enumerate(value) for p in places(v, (*above, i))]
    return found


VALUES: st.SearchStrategy[Any] = st.sampled_from([
    None, True, -1, 0, 3, 1.5, 10**30, float("nan"), float("inf"), "", "x", "5s", "1.22", "\ud800\n", [], [None], ["x"],
    [[1]], {}, {"x": 1}, {"name": "x"}, [{}], [{"name": "p"}], {"op": "pop"},
])  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_value_makes_the_runner_fall_over(data: st.DataObject) -> None:
    table, original = data.draw(st.sampled_from(CASES))
    case = copy.deepcopy(original)
    *above, last = data.draw(st.sampled_from(places(case)))
    within = case
    for name in above:
        within = within[name]
    within[last] = data.draw(VALUES)
    outcome = run_case(case, table, "1.22")
    assert outcome.status in ("PASS", "FAIL", "SKIP")
    assert bool(outcome.reason) or outcome.status == "PASS"
    assert all(c.isprintable() for c in outcome.reason)
