"""Cases: what the driver is given of a counterexample."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from podrace.analysis.stored.replayed import Replayed, read_trace, replayed
from podrace.checker.trace.execution import replay
from podrace.model.history import resolve
from podrace.properties import PROPERTIES, instrument
from podrace.reproduce.case import Case, case_of, case_of_run, format_case
from podrace.scenarios import parse_scenario
from tests.reproduce.ghosts import STEPS


def found_in(file: Path, text: str | None = None) -> Replayed:
    if text is not None:
        file.write_text(text)
    return replayed(read_trace(file))


def document(case: Case) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(format_case(case))
    return found


def test_the_ghost(ghost: Path) -> None:
    case = document(case_of(found_in(ghost), "ghost"))
    initial, steps = case.pop("initial"), case.pop("steps")
    nodes, pods = case.pop("nodes"), case.pop("pods")
    assert case == {
        "id": "ghost", "release": "1.36.3", "property": "S-GHOST", "budgets": [], "groups": [], "claims": [], "devices": [], "storage": [],
        "absent_nodes": [], "absent_pods": [], "absent_claims": [], "absent_devices": [], "absent_storage": [], "absent_groups": [],
        "order": ["p"], "points": {}, "gates": {}, "node_versions": {}, "pod_versions": {}, "backoff": True, "scored": False, "loop_from": None, "epilogue": True, "extenders": [], "namespaces": [], "services": [], "drops_beyond": False,
        "scores": {"weights": {}, "strategy": "", "hard_affinity_weight": 1, "ignore_preferred_of_existing": False},
        "format": "podrace-case", "version": 1,
    }  # fmt: skip
    assert [node["metadata"]["name"] for node in nodes] == ["n1"]
    assert [(pod["metadata"]["uid"], pod["spec"].get("nodeName")) for pod in pods] == [
        ("x", "n1"),
        ("p", None),
    ]
    assert initial["queue.sub_queue[p]"] == "ACTIVE"
    assert initial["cache.pod[x].node"] == "n1"
    assert initial["scheduler.pod"] is None
    assert [(step["step"], step["args"]) for step in steps] == [(name, args) for name, args in STEPS]
    assert steps[0] == {
        "step": "scheduler.pop", "actor": "scheduler", "args": {"pod": "p"}, "wait_ms": 0,
        "changes": {
            "scheduler.phase": "POPPED", "scheduler.pod": "p", "queue.sub_queue[p]": "NONE", "queue.in_flight[p]": True,
        },
    }  # fmt: skip


def test_changes_are_of_variables_that_the_beginning_has(ghost: Path) -> None:
    case = case_of(found_in(ghost), "ghost")
    assert {name for step in case.steps for name in step.changes} <= case.initial.keys()


def test_the_same_bytes(ghost: Path) -> None:
    one, other = (format_case(case_of(found_in(ghost), "ghost", range(11))) for _ in range(2))
    assert one == other
    assert one.count("\n") == 1


def test_waits(ghost: Path) -> None:
    case = case_of(found_in(ghost), "ghost", [0] * 10 + [3000])
    assert [step.wait_ms for step in case.steps][-2:] == [0, 3000]


CLUSTER = """\
name: more
release: "1.34.0"
properties: [S-CAP]
featureGates: {SchedulerAsyncPreemption: false}
nodes: {n: {cpu: 2}, m: {cpu: 1, exists: false}}
pods:
  a: {cpu: 1, extensionPoints: [preBind, reserve]}
  b: {cpu: 1, exists: false}
  c: {cpu: 1}
scope: {backoff: false}
config: {scored: true}
"""


GANG = """\
name: gang
properties: [S-QUORUM]
featureGates: {GangScheduling: true}
nodes: {n: {cpu: 2}}
podGroups: {g: {minCount: 2}, h: {}}
pods:
  a: {cpu: 1, podGroup: g}
  b: {cpu: 1, podGroup: h}
  c: {cpu: 1}
"""


def test_groups_of_pods() -> None:
    """A gang and a group with the basic policy, as objects of 1.36; the gate brings the one that it needs."""
    spec = parse_scenario(GANG, "gang.yaml").spec
    composition = resolve("1.36.3", gates={"GangScheduling": True})
    system = instrument(spec, composition.classes, [])
    case = case_of_run("gang", "", spec, composition, system, replay(system, ()))
    assert case.gates == {"GangScheduling": True, "GenericWorkload": True}
    assert [(g["kind"], g["apiVersion"], g["metadata"], g["spec"]) for _, g, _ in case.groups] == [
        (
            "PodGroup",
            "scheduling.k8s.io/v1alpha2",
            {"name": name, "namespace": "default", "uid": name},
            {"schedulingPolicy": policy},
        )
        for name, policy in (("g", {"gang": {"minCount": 2}}), ("h", {"basic": {}}))
    ]
    assert [pod["spec"].get("schedulingGroup") for pod in case.pods] == [
        {"podGroupName": "g"}, {"podGroupName": "h"}, None
    ]  # fmt: skip


def test_a_run_of_any_system() -> None:
    """No property, no step: what is absent, points in the order in which they are run, gates, the configuration."""
    spec = parse_scenario(CLUSTER, "more.yaml").spec
    composition = resolve("1.34", (), (), {"SchedulerAsyncPreemption": False})
    system = instrument(spec, composition.classes, [PROPERTIES["S-NOMVIS"]])
    case = case_of_run("more", "", spec, composition, system, replay(system, ()))
    assert (case.absent_nodes, case.absent_pods, case.order) == (["m"], ["b"], ["a", "c"])
    assert case.points == {"a": ["RESERVE", "PRE_BIND"]}
    assert case.gates["SchedulerAsyncPreemption"] is False
    assert (case.backoff, case.scored, case.release) == (False, True, "1.34.0")
    assert not [name for name in case.initial if name.startswith("S-")]


ORDERS = """\
name: orders
release: "1.34.0"
properties: [S-CAP]
nodes: {n: {cpu: 3}}
pods: {a: {cpu: 1}, b: {cpu: 1}, c: {cpu: 1, priority: 1}, d: {cpu: 1}}
"""


def test_pods_come_to_the_queue_in_the_order_in_which_the_run_takes_them() -> None:
    """Which of equal pods was the oldest, a run settles as it goes: the driver is given it beforehand. Those that are never taken come last."""
    spec = parse_scenario(ORDERS, "orders.yaml").spec
    composition = resolve("1.34")
    system = instrument(spec, composition.classes, [PROPERTIES["S-CAP"]])
    number = {t.label: i for i, t in enumerate(system.transitions)}
    path = tuple(number[label] for label in _until_two_are_taken("c", "d"))
    case = case_of_run("orders", "", spec, composition, system, replay(system, path))
    assert [step.args["pod"] for step in case.steps if step.step == "scheduler.pop"] == ["c", "d"]
    assert [name for name in case.order if name != "c"] == ["d", "a", "b"]


def _until_two_are_taken(one: str, other: str) -> list[str]:
    return [
        f"scheduler.pop(pod={one})",
        f"scheduler.take_snapshot(pod={one})",
        f"scheduler.filter(pod={one}, node=n)",
        f"scheduler.assume(pod={one}, node=n)",
        f"scheduler.start_binding(pod={one})",
        f"scheduler.pop(pod={other})",
    ]
