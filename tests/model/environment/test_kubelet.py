"""Kubelets that decide which pods they run, and what overcommitted nodes come to for a user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from podrace.checker.search import check
from podrace.model.environment.cluster.node_versions import NodeVersion
from podrace.model.environment.cluster.pod_versions import PodVersion
from podrace.model.environment.objects import ClusterSpec, HostPort, Node, Pod, Scope
from podrace.model.history import resolve
from podrace.model.language import as_expr
from podrace.model.language.expressions.errors import ModelError
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import find_scenarios
from podrace.scenarios.reader.scenario_reader import parse_scenario
from tests.model.clusters import concrete, enabled
from tests.races import hazard_patches

HAZARDS = Path(__file__).parents[3] / "scenarios" / "hazards"


def model_of(pods: Sequence[Pod], *nodes: Node, release: str = "1.36", **scope: Any) -> Any:
    scope = {"kubelet_admission": True, "external_binds": 4, "pod_deletions": 4, "pod_events": 8} | scope
    return concrete(ClusterSpec("kubelets", tuple(pods), nodes, Scope(**scope)), release)


def decides(model: Any, pod: Pod) -> list[str]:
    """What the kubelet may do with a pod that is bound to its node."""
    kubelet = model.part("kubelet")
    ways = {"admit": lambda: kubelet.admit(pod), "reject": lambda: kubelet.reject(pod)}
    return [way for way, step in ways.items() if enabled(model, step)]


def bind(model: Any, pod: Pod, node: Node) -> None:
    model.do(lambda: model.part("api").bind(pod, node))


@pytest.mark.parametrize(
    ("first", "second", "node", "said"),
    [
        ({}, {}, {}, "admit"),
        ({}, {"cpu": 2}, {}, "reject"),
        ({"memory": 3}, {"memory": 2}, {"memory": 4}, "reject"),
        ({"memory": 3}, {}, {"memory": 2}, "admit"),
        ({}, {}, {"pods": 1}, "reject"),
        ({"host_ports": [HostPort(80)]}, {"host_ports": [HostPort(80)]}, {}, "reject"),
        ({"host_ports": [HostPort(80)]}, {"host_ports": [HostPort(81)]}, {}, "admit"),
        ({}, {"node_selector": {"disk": "ssd"}}, {}, "reject"),
        ({}, {"node_selector": {"disk": "ssd"}}, {"labels": {"disk": "ssd"}}, "admit"),
    ],
)
def test_a_pod_has_to_fit_beside_the_others(
    first: dict[str, Any], second: dict[str, Any], node: dict[str, Any], said: str
) -> None:
    n = Node(0, "n", 2, **node)
    a, b = Pod(0, "a", 1, **{"node": n} | first), Pod(1, "b", **{"cpu": 1} | second)
    model = model_of([a, b], n)
    assert decides(model, b) == []
    bind(model, b, n)
    assert decides(model, b) == [said]


def test_a_rejected_pod_has_failed_and_its_object_stays() -> None:
    n = Node(0, "n", 1)
    a, b = Pod(0, "a", 1, node=n), Pod(1, "b", 1)
    model = model_of([a, b], n)
    api, kubelet, users = (model.part(name) for name in ("api", "kubelet", "users"))
    bind(model, b, n)
    model.do(lambda: kubelet.reject(b))
    assert model.get(lambda: [kubelet.rejected[b], api.finished[b], api.remains[b], api.pod[b].exists]) == [
        True, True, True, False,
    ]  # fmt: skip
    assert decides(model, b) == []
    model.do(lambda: users.delete_finished_pod(b))
    assert model.get(lambda: api.remains[b]) is False


@pytest.mark.parametrize(
    ("release", "counts"),
    [("1.21", False), ("1.22", False), ("1.22.17", True), ("1.23", True), ("1.36.4", True), ("1.37", False)],
)
def test_135296_a_rejected_pod_counts_again_while_its_worker_ends_it(release: str, counts: bool) -> None:
    n = Node(0, "n", 2)
    base, huge, small = Pod(0, "base", 1, node=n), Pod(1, "huge", 2), Pod(2, "small", 1)
    model = model_of([base, huge, small], n, release=release)
    kubelet, api = model.part("kubelet"), model.part("api")
    bind(model, huge, n)
    model.do(lambda: kubelet.reject(huge))
    bind(model, small, n)
    assert decides(model, small) == ["admit"]
    if not counts:
        with pytest.raises(ModelError, match="no `begin_to_end`"):
            kubelet.begin_to_end(huge)
        return
    assert not enabled(model, lambda: kubelet.end_rejected(huge))
    model.do(lambda: kubelet.begin_to_end(huge))
    assert decides(model, small) == ["reject"]
    assert not enabled(model, lambda: kubelet.begin_to_end(huge)), "its worker ends it once"
    model.do(lambda: kubelet.end_rejected(huge))
    assert decides(model, small) == ["admit"]
    assert model.get(lambda: as_expr(api.remains[huge])) is True


def test_135296_a_rejected_pod_whose_object_is_gone_does_not_count() -> None:
    n = Node(0, "n", 2)
    base, huge, small = Pod(0, "base", 1, node=n), Pod(1, "huge", 2), Pod(2, "small", 1)
    model = model_of([base, huge, small], n, release="1.36.3")
    kubelet, api = model.part("kubelet"), model.part("api")
    bind(model, huge, n)
    model.do(lambda: kubelet.reject(huge))
    model.do(lambda: kubelet.begin_to_end(huge))
    bind(model, small, n)
    model.do(lambda: api.delete_finished(huge))
    assert decides(model, small) == ["admit"]


def test_a_pod_that_terminates_counts_and_one_that_was_deleted_by_force_does_not() -> None:
    n = Node(0, "n", 1)
    for graceful, said in ((True, "reject"), (False, "admit")):
        a, b = Pod(0, "a", 1, node=n, graceful=graceful), Pod(1, "b", 1)
        model = model_of([a, b], n)
        kubelet = model.part("kubelet")
        model.do(lambda pod=a, of=model: of.part("users").delete_pod(pod))
        bind(model, b, n)
        assert decides(model, b) == [said]
        assert enabled(model, lambda pod=a, of=kubelet: of.stop(pod)) is not graceful
        assert enabled(model, lambda pod=a, of=kubelet: of.finish_termination(pod)) is graceful
        end = kubelet.finish_termination if graceful else kubelet.stop
        model.do(lambda pod=a, of=end: of(pod))
        assert decides(model, b) == ["admit"]


@pytest.mark.parametrize(("release", "said"), [("1.21", "admit"), ("1.22", "reject"), ("1.24", "admit")])
def test_a_pod_that_is_said_to_have_finished(release: str, said: str) -> None:
    n = Node(0, "n", 1)
    a, b = Pod(0, "a", 1, node=n, finishes=True), Pod(1, "b", 1)
    model = model_of([a, b], n, release=release)
    kubelet = model.part("kubelet")
    model.do(lambda: kubelet.report_finished(a))
    bind(model, b, n)
    assert decides(model, b) == [said]
    if said == "reject":
        model.do(lambda: kubelet.stop(a))
        assert decides(model, b) == ["admit"]


def test_the_node_counts_as_it_is_now() -> None:
    n = Node(0, "n", 2, later={"smaller": Node(0, "n", 1)})
    a, b = Pod(0, "a", 1, node=n), Pod(1, "b", 1)
    model = model_of([a, b], n, node_updates=1)
    api = model.part("api")
    bind(model, b, n)
    assert decides(model, b) == ["admit"]
    smaller = next(v for v in api.universe[NodeVersion] if v.content is not n)
    model.do(lambda: api.write_node(n, exists=True, version=smaller))
    assert decides(model, b) == ["reject"]


def test_nothing_of_it_is_there_where_kubelets_run_all() -> None:
    n = Node(0, "n", 1)
    a, b = Pod(0, "a", 1, node=n), Pod(1, "b", 1)
    model = model_of([a, b], n, kubelet_admission=False)
    bind(model, b, n)
    assert decides(model, b) == []


@pytest.mark.parametrize(
    ("name", "patches", "verdict", "states", "steps"),
    [
        ("two-generals", (), "VIOLATED", 5184, 19),
        ("two-generals", ("AskedBeforeForgotten",), "HOLDS", 1449, None),
        ("leader-hand-over", (), "VIOLATED", 1404, 18),
        ("leader-hand-over", ("Barrier",), "HOLDS", 1597, None),
        ("grown-in-flight", (), "VIOLATED", 66, 9),
    ],
)
def test_what_an_overcommitment_does_to_the_user(
    name: str, patches: tuple[str, ...], verdict: str, states: int, steps: int | None
) -> None:
    (scenario,) = find_scenarios(str(HAZARDS / f"{name}.yaml"))
    assert scenario.release is not None
    spec = replace(scenario.spec, scope=replace(scenario.spec.scope, kubelet_admission=True))
    classes = (*(getattr(hazard_patches, patch) for patch in patches), *resolve(scenario.release).classes)
    (found,) = check(instrument(spec, classes, [PROPERTIES["S-ADMIT"]]), ["S-ADMIT"])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)
    assert not found.vacuous


# --- resizes ---------------------------------------------------------------------------------------------------


def growing(cpu: int, room: int = 3, release: str = "1.36") -> tuple[Any, Any, Pod, Pod]:
    """x, which may grow to that much, and y, on a node; what may be done for x once it has been written."""
    n = Node(0, "n", room)
    x, y = Pod(0, "x", 1, node=n, later={"larger": Pod(0, "x", cpu)}), Pod(1, "y", 1, node=n)
    model = model_of([x, y, Pod(2, "z", 1)], n, release=release, pod_updates=2)
    _, larger = model.get(lambda: model.part("api").universe[PodVersion])
    model.do(lambda: model.part("api").update_pod(larger))
    return model, larger, x, y


def may(model: Any, x: Pod) -> list[str]:
    kubelet, (initial, _) = model.part("kubelet"), model.get(lambda: model.part("api").universe[PodVersion])
    ways = {"allocate": lambda: kubelet.allocate(x), "refuse": lambda: kubelet.refuse(initial)}
    return [way for way, step in ways.items() if enabled(model, step)]


@pytest.mark.parametrize(("cpu", "ways"), [(2, ["allocate"]), (3, []), (4, ["refuse"])])
def test_a_resize_is_allocated_put_off_or_refused(cpu: int, ways: list[str]) -> None:
    """canAdmitPod and podResizesAdmitHandler: it fits, it does not fit yet, or never."""
    model, _, x, _ = growing(cpu)
    assert may(model, x) == ways


def test_what_was_put_off_is_allocated_once_there_is_room() -> None:
    model, larger, x, y = growing(3)
    kubelet = model.part("kubelet")
    model.do(lambda: model.part("api").delete_pod(y))
    assert may(model, x) == []
    model.do(lambda: kubelet.finish_termination(y))
    assert may(model, x) == ["allocate"]
    model.do(lambda: kubelet.allocate(x))
    assert may(model, x) == []
    assert model.get(lambda: as_expr(kubelet.allocated[x])) == larger.number


def test_until_then_another_pod_is_admitted_and_after_that_it_is_not() -> None:
    """129532: what counts for a kubelet is what it has allocated."""
    for allocates, said in ((False, "admit"), (True, "reject")):
        model, _, x, _ = growing(2)
        if allocates:
            model.do(lambda model=model, x=x: model.part("kubelet").allocate(x))
        (*_, z) = model.get(lambda model=model: model.part("api").universe[Pod])
        bind(model, z, model.get(lambda model=model: model.part("api").universe[Node])[0])
        assert decides(model, z) == [said]


def test_what_is_refused_counts_as_it_was_allocated() -> None:
    model, _, x, _ = growing(4)
    initial, _ = model.get(lambda: model.part("api").universe[PodVersion])
    model.do(lambda: model.part("kubelet").refuse(initial))
    assert model.get(lambda: as_expr(model.part("api").pod[x].version)) == 0
    assert may(model, x) == []


@pytest.mark.parametrize(
    ("cpu", "verdict", "states", "steps"),
    [("2", "HOLDS", 216, None), ("3", "VIOLATED", 102, 15), ("4", "HOLDS", 417, None)],
)
def test_only_what_is_put_off_keeps_others_out(
    cpu: str, verdict: str, states: int, steps: int | None
) -> None:
    """135107."""
    text = (
        (HAZARDS / "deferred-resize.yaml")
        .read_text(encoding="utf-8")
        .replace("larger: {cpu: 3}", f"larger: {{cpu: {cpu}}}")
    )
    scenario = parse_scenario(text)
    (found,) = check(instrument(scenario.spec, resolve("1.36").classes, [PROPERTIES["S-DEFER"]]), ["S-DEFER"])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)


def test_135296_a_rejected_pod_counts_on_the_node_that_rejected_it() -> None:
    n, m = Node(0, "n", 2), Node(1, "m", 2)
    base, huge = Pod(0, "base", 1, node=n), Pod(1, "huge", 2)
    model = model_of([base, huge], n, m, release="1.36.3")
    kubelet = model.part("kubelet")
    bind(model, huge, n)
    model.do(lambda: kubelet.reject(huge))
    model.do(lambda: kubelet.begin_to_end(huge))
    assert model.get(lambda: [kubelet.ending[huge][node] for node in (n, m)]) == [True, False]
