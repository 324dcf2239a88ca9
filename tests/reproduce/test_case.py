"""Cases: what the driver is given of a counterexample."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from podrace.analysis.stored.replayed import Replayed, read_trace, replayed
from podrace.checker.explicit.state_graph import StateGraph, state_graph
from podrace.checker.trace.execution import replay
from podrace.model.history import resolve
from podrace.properties import PROPERTIES, instrument
from podrace.reproduce.case import Case, case_of, case_of_run, format_case
from podrace.reproduce.lockstep.lockstep import case_for
from podrace.reproduce.random_runs.random_runs import Model, RandomRun
from podrace.reproduce.timing.timing import Timing
from podrace.reproduce.tours.cases import Cases
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


CANDIDATES = """\
name: candidates
release: "1.36.3"
properties: [S-CAP]
nodes: {n1: {cpu: 1}, n2: {cpu: 1}, n3: {cpu: 1}}
pods:
  v: {cpu: 1, nodeName: n1, terminationGracePeriodSeconds: 0}
  w: {cpu: 1, nodeName: n2, terminationGracePeriodSeconds: 0}
  x: {cpu: 1, nodeName: n3, priority: 1, terminationGracePeriodSeconds: 0}
  p: {cpu: 1, priority: 10}
scope: {pod_events: 1, node_events: 1, flush: false}
"""


def test_the_real_chooser_gets_the_candidates_that_it_has_to_pass_over() -> None:
    """It may take n1 or n2, for which the driver decides; that it passes over n3 is left to it."""
    model = Model.of(CANDIDATES, resolve("1.36.3"))
    graph = state_graph(model.system)
    edges = _to_the_first(
        graph, [i for i, t in enumerate(model.system.transitions) if t.step == "choose_candidate"]
    )
    path = tuple(int(graph.labels[edge]) for edge in edges)
    timing = Timing((0,) * len(path))
    case = case_for(RandomRun(model, path, timing), "candidates")
    chosen = case.steps[-1]
    assert (chosen.step, chosen.args["node"], chosen.rivals) == (
        "scheduler.choose_candidate",
        "n1",
        ("n2",),
    )
    assert not any(step.rivals for step in case.steps[:-1])
    assert "rivals" not in document(case)["steps"][0]
    assert Cases(model, graph).case("candidates", 0, edges, timing) == case


def _to_the_first(graph: StateGraph, wanted: list[int]) -> list[int]:
    """The edges of a shortest run that ends with one of these transitions."""
    runs: list[list[int]] = [[]]
    seen = {0}
    for run in runs:
        source = int(graph.targets[run[-1]]) if run else 0
        for edge in range(graph.starts[source], graph.starts[source + 1]):
            if graph.labels[edge] in wanted:
                return [*run, edge]
            if int(graph.targets[edge]) not in seen:
                seen.add(int(graph.targets[edge]))
                runs.append([*run, edge])
    raise AssertionError("none comes")
