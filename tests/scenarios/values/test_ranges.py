"""Ranges in scenario files: which numbers they stand for, and what is no range."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podrace.base.problems import Problem
from podrace.checker.parametric.regions import evaluate
from podrace.model.language import Parameter
from podrace.model.language.expressions.expr import fresh_graph
from podrace.scenarios import parse_scenario
from podrace.scenarios.choices import divisible, sensible, settled
from podrace.scenarios.values.ranges import RangeParameter

FILE = """\
nodes:
  n: {cpu: CPU, memory: 8Gi, pods: 1..3}   # 1..3 in a comment stays
pods:
  p: {cpu: 500m..1500m, memory: 1Gi..4Gi, priority: -5..10, resources: {}}
  q: {cpu: "1..2", priority: 3}
podDisruptionBudgets: {b: {selector: {matchLabels: {a: b}}, disruptionsAllowed: 0..2}}
"""


def numbers(text: str) -> dict[str, RangeParameter]:
    return {q.name: q for q in parse_scenario(text).open}


def test_a_range_is_in_the_units_of_the_model() -> None:
    found = numbers(FILE.replace("CPU", "1..4"))
    told = {name: (q.lo, q.hi, q.stride, q.written, q.line) for name, q in found.items()}
    expected = {
        "nodes.n.cpu": (1000, 4000, 1000, "1..4", 2),
        "nodes.n.pods": (1, 3, 1, "1..3", 2),
        "pods.p.cpu": (500, 1500, 1, "500m..1500m", 4),
        "pods.p.memory": (1, 4, 1, "1Gi..4Gi", 4),
        "pods.p.priority": (-5, 10, 1, "-5..10", 4),
        "pods.q.cpu": (1000, 2000, 1000, "1..2", 5),
        "podDisruptionBudgets.b.disruptionsAllowed": (0, 2, 1, "0..2", 6),
    }
    assert list(told.items()) == list(expected.items())  # in the order of the file


@given(st.data())
def test_a_choice_is_written_where_the_ranges_are(data: st.DataObject) -> None:
    scenario = parse_scenario(FILE.replace("CPU", "2..4"))
    chosen = {
        q.name: q.stride * data.draw(st.integers(q.lo // q.stride, q.hi // q.stride)) for q in scenario.open
    }
    for quantity in scenario.open:
        assert quantity.read(quantity.write(chosen[quantity.name])) == chosen[quantity.name]
    made = settled(scenario, chosen)
    assert made.open == ()
    assert "# 1..3 in a comment stays" in made.text
    assert made.text.count("\n") == scenario.text.count("\n")
    assert made.spec.pods[0].priority.value == chosen["pods.p.priority"]
    # The written file has a unit of its own: only ratios stay.
    cpu = made.spec.nodes[0].cpu.value, made.spec.pods[0].cpu.value
    assert cpu[0] * chosen["pods.p.cpu"] == cpu[1] * chosen["nodes.n.cpu"]


@given(st.data())
def test_what_a_choice_must_meet_is_what_the_reader_asks_for(data: st.DataObject) -> None:
    text = "nodes: {n: {cpu: 1..4, pods: 1..2}, m: {cpu: 1000m..3000m}}\npods:\n"
    text += "  p: {cpu: 1..3, nodeName: n}\n  q: {cpu: 1000m..2000m, nodeName: n}\n  r: {cpu: 2..4}\n"
    scenario = parse_scenario(text)
    chosen: dict[Parameter, int] = {}
    for q in scenario.open:
        drawn = data.draw(st.integers(1, 3)) * (1000 if q.hi > 2 else 1)
        chosen[q] = min(max(drawn, q.lo), q.hi)
    with fresh_graph():
        conditions = [*divisible(scenario.open), *sensible(scenario.spec).values()]
        met = all(evaluate(e, chosen) for e in conditions)
    try:
        settled(scenario, {q.name: value for q, value in chosen.items()})
    except Problem:
        assert not met
    else:
        assert met


def test_what_every_choice_meets_is_not_mentioned() -> None:
    scenario = parse_scenario(
        "nodes: {n: {cpu: 4}}\npods: {p: {cpu: 1..2, nodeName: n}, q: {cpu: 1, priority: 0..9}}\n"
    )
    with fresh_graph():
        assert sensible(scenario.spec) == {}
        assert divisible(scenario.open) == ()


CPU = "such as 500m..2000m"


OUTSIDE = "both ends must be a CPU quantity from 0 to 1000000 such as 2, 0.5 or 500m"
PRIORITY = "both ends must be a whole number from -2147483648 to 2000001000"


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("4..1", "`4..1` begins above its end: write 1..4"),
        ("2..2", "`2..2` is one number: write 2"),
        ("1..", f"`1..` is no range: write two whole numbers in one unit, {CPU}"),
        ("..4", f"`..4` is no range: write two whole numbers in one unit, {CPU}"),
        ("0.5..2", f"`0.5..2` is no range: write two whole numbers in one unit, {CPU}"),
        ("1..2..3", f"`1..2..3` is no range: write two whole numbers in one unit, {CPU}"),
        ("500m..2", f"`500m..2` mixes two units: write both ends in the same one, {CPU}"),
        ("-1..2", f"`-1..2` does not stay within what is possible: {OUTSIDE}"),
        ("1x..2x", f"`1x..2x` does not stay within what is possible: {OUTSIDE}"),
        ("9..12", "the pod requests at least 9, but the largest node, n, has 8: lower the request or enlarge a node"),
    ],
)  # fmt: skip
def test_what_is_no_range_is_refused(written: str, problem: str) -> None:
    with pytest.raises(Problem) as error:
        parse_scenario(f"nodes: {{n: {{cpu: 8}}}}\npods:\n  p: {{cpu: {written}}}\n", "s.yaml")
    assert str(error.value) == f"s.yaml:3: pods.p.cpu: {problem}"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("pods: {p: {cpu: 1, priority: 0..}}", "pods.p.priority: `0..` is no range: write two whole numbers in one unit, such as -5..10"),
        ("pods: {p: {cpu: 1, priority: 0..3000000000}}", "pods.p.priority: `0..3000000000` does not stay within what is possible: " + PRIORITY),
        ("pods: {p: {cpu: 1}}\nscope: {bind_failures: 0..1}", "scope.bind_failures: expected a whole number from 0 to 15, not `0..1`"),
        ("pods: {p: {cpu: 1, resources: {x/y.cpu: 0..1}}, p.resources.x/y: {cpu: 0..1, namespace: p.resources.x}}",
         "two ranges are both called pods.p.resources.x/y.cpu: rename a pod or a resource"),
    ],
)  # fmt: skip
def test_other_mistakes(line: str, problem: str) -> None:
    text = f"nodes: {{n: {{cpu: 8, resources: {{x/y.cpu: 1}}}}}}\n{line}\n"
    with pytest.raises(Problem) as error:
        parse_scenario(text, "s.yaml")
    assert str(error.value).partition(": ")[2] == problem
