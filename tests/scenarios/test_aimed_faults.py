"""Faults that are aimed: they strike what the scope names, and nothing else; and a scenario says so, and is written back."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.base.problems import Problem
from podrace.checker.search import check
from podrace.model.environment.faults import SECTIONS, STRUCK, Fault
from podrace.model.environment.objects import ClusterSpec, Node, Pod, Scope
from podrace.model.history import resolve
from podrace.model.language import TransitionSystem
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import parse_scenario
from podrace.scenarios.scenario_schema import schema_of_scenarios
from podrace.scenarios.writing import scenario_text
from tests.profiles import examples

MODEL = Path(__file__).parents[2] / "model"
CLUSTER = """name: aimed
nodes: {n1: {cpu: 2, updates: {down: {unschedulable: true}}}, n2: {cpu: 2}}
pods: {a: {cpu: 1}, b: {cpu: 1}, late: {cpu: 1, exists: false}}
scope: {pod_events: 1, node_events: 1, flush: false, backoff: false, %s}
"""
NAMES = {"pods": ("a", "b"), "nodes": ("n1", "n2")}


def test_every_step_that_is_a_fault_says_what_it_strikes() -> None:
    """All but those that strike no object."""
    found = set()
    for file in MODEL.rglob("*.py"):
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and call.func.attr == "spend"
            ):
                kind = call.args[0]
                assert isinstance(kind, ast.Attribute)
                found.add(kind.attr)
                assert (len(call.args) == 2) == bool(STRUCK[Fault[kind.attr]]), (file.name, call.lineno)
    assert found == {kind.name for kind in Fault}
    assert {section for sections in STRUCK.values() for section in sections} == set(SECTIONS)


def system(*aims: tuple[str, str, tuple[str, ...]], **scope: int) -> TransitionSystem:
    pods = (Pod(0, "a", 1), Pod(1, "b", 1))
    nodes = (Node(0, "n1", 2), Node(1, "n2", 2))
    spec = ClusterSpec(
        "aimed",
        pods,
        nodes,
        Scope(pod_events=1, node_events=1, flush=False, backoff=False, aims=aims, **scope),  # type: ignore[arg-type]
    )
    return instrument(spec, resolve("1.36").classes, [PROPERTIES["S-CONS"]])


KINDS = ("pod_deletions", "external_binds", "bind_failures", "lost_replies", "node_deletions")


@settings(max_examples=examples(10), deadline=None)
@given(st.sampled_from(KINDS), st.sets(st.sampled_from((0, 1))))
def test_it_is_the_plain_fault_without_the_steps_that_strike_others(kind: str, chosen: set[int]) -> None:
    section = STRUCK[Fault(kind)][0]
    names = tuple(NAMES[section][i] for i in sorted(chosen))
    plain, aimed = system(**{kind: 1}), system(*([(kind, section, names)] if names else []), **{kind: 1})
    key = {"pods": "pod", "nodes": "node"}[section]
    left = f"faults.left[{Fault(kind).name}]"
    told = [
        {t.label for t in made.transitions if any(var.name == left for var in t.updates)}
        for made in (plain, aimed)
    ]
    assert told[1] <= told[0]
    named = names or NAMES[section]
    assert told[1] == {label for label in told[0] if any(f"{key}={name}" in label for name in named)}


def test_aimed_at_all_it_is_the_plain_fault() -> None:
    (plain,), (aimed,) = (
        check(made, ["S-CONS"])
        for made in (system(pod_deletions=1), system(("pod_deletions", "pods", ("a", "b")), pod_deletions=1))
    )
    assert plain.counts.states == aimed.counts.states
    assert plain.counts.transitions == aimed.counts.transitions
    told = [
        {words for words in found.coverage.constraints_hit if "deletions" in words}
        for found in (plain, aimed)
    ]
    assert told == [{"pod deletions: at most 1"}, {"pod deletions of a, b: at most 1"}]


@pytest.mark.parametrize(
    ("written", "count", "aims"),
    [
        ("pod_deletions: {count: 2, pods: [a]}", 2, (("pod_deletions", "pods", ("a",)),)),
        ("pod_deletions: {pods: [b, a]}", 2, (("pod_deletions", "pods", ("b", "a")),)),
        ("pod_deletions: 1", 1, ()),
    ],
)
def test_a_scenario_says_it(written: str, count: int, aims: object) -> None:
    text = CLUSTER % written
    scope = parse_scenario(text).spec.scope
    assert (scope.pod_deletions, scope.aims) == (count, aims)


def test_it_is_written_back() -> None:
    text = "name: t\nnodes: {n: {cpu: 2}}\npods: {a: {cpu: 1}, b: {cpu: 1}}\nscope: {pod_deletions: {count: 2, pods: [b]}, bind_failures: 1}\n"
    spec = parse_scenario(text).spec
    again = scenario_text(spec, name="t", title="t", release="1.36.0", properties=["S-CAP"])
    assert "pod_deletions: {count: 2, pods: [b]}" in again
    assert parse_scenario(again).spec.scope == spec.scope
    assert replace(spec.scope, aims=()) != spec.scope


PLACE = "scenario.yaml:4: scope."


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (
            "pod_deletions: {pods: [c]}",
            "pod_deletions.pods[0]: there is none of the name `c` in `pods`; known: a, b, late",
        ),
        (
            "pod_deletions: {pods: []}",
            "pod_deletions.pods: an empty list strikes nobody: name at least one, or write a number for any",
        ),
        (
            "pod_deletions: {count: 2}",
            "pod_deletions: it names nothing to strike: add `pods: [a]`, or write the number alone",
        ),
        (
            "pod_deletions: {count: 0, pods: [a]}",
            "pod_deletions.count: expected a whole number from 1 to 15, not `0`",
        ),
        (
            "pod_deletions: {nodes: [n1]}",
            "pod_deletions: unknown field `nodes`; did you mean `pods`? (known: count, pods)",
        ),
        ("pod_deletions: {pods: [a, a]}", "pod_deletions.pods[1]: a is named twice: remove one"),
        ("pod_deletions: {pods: a}", "pod_deletions.pods: expected a list of names of pods, not `a`"),
        ("restarts: {pods: [a]}", "restarts: restarts strike no object that could be named: write a number"),
        (
            "leader_changes: {}",
            "leader_changes: leader changes strike no object that could be named: write a number",
        ),
        (
            "node_updates: {nodes: [n2]}",
            "node_updates: n1.down could never appear: name it, too, or remove `updates`",
        ),
        (
            "node_updates: {nodes: [n1, n2]}",
            "node_updates: nodes: n2 has no `updates`: give it one, or leave it out",
        ),
        (
            "pod_creations: {pods: [a]}",
            "pod_creations: late could never appear: name it, too, or remove `exists: false`",
        ),
        ("pod_events: {pods: [a]}", "pod_events: expected a whole number from 1 to 15, not a mapping"),
        ("flush: {pods: [a]}", "flush: expected true or false, not a mapping"),
    ],
)
def test_a_mistake_is_told_with_its_place(written: str, message: str) -> None:
    text = CLUSTER.replace("pod_events: 1, node_events: 1, flush: false, ", "") % written
    with pytest.raises(Problem) as error:
        parse_scenario(text)
    assert str(error.value) == PLACE + message


def test_the_schema_knows_it() -> None:
    def is_valid(bound: object) -> bool:
        whole = {"name": "t", "nodes": {"n": {"cpu": 1}}, "pods": {"a": {"cpu": 1}}, "scope": bound}
        return jsonschema.Draft202012Validator(schema_of_scenarios()).is_valid(whole)

    assert is_valid({"pod_deletions": 1})
    assert is_valid({"pod_deletions": {"count": 1, "pods": ["a"]}, "node_deletions": {"nodes": ["n"]}})
    assert not is_valid({"pod_deletions": {"nodes": ["n"]}})
    assert not is_valid({"pod_deletions": {"pods": []}})
    assert not is_valid({"restarts": {"pods": ["a"]}})
