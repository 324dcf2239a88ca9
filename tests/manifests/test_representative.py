"""What is kept of a cluster: real pods and nodes, with the room and the repulsion of those that are left out."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import event, given, settings
from hypothesis import strategies as st

from podrace.api import check
from podrace.base.problems import Problem
from podrace.manifests import Inventory, Representative, Size, read_manifests, represent
from podrace.manifests.telling.scenario_text import scenario_of
from podrace.manifests.telling.summary import account_of
from podrace.scenarios import parse_scenario
from podrace.scenarios.writing import scenario_text
from tests.kubectl_dump import dump
from tests.manifests.manifest_objects import REQUIRED, objects, spec, text_of
from tests.profiles import examples


def node(name: str, cpu: str = "4", **labels: str) -> dict[str, Any]:
    found = deepcopy(objects("node")[0])
    found["metadata"] = {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}}
    found["spec"] = {}
    found["status"] = {"allocatable": {"cpu": cpu, "pods": "110"}}
    return found


def pod(name: str, cpu: str, priority: int = 0, on: str = "", app: str = "", **more: Any) -> dict[str, Any]:
    where = {"nodeName": on} if on else {}
    labels = {"labels": {"app": app}} if app else {}
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop", **labels},
        "spec": spec(cpu, priority=priority, **where, **more),
    }  # fmt: skip


def term(app: str, key: str) -> dict[str, Any]:
    return {REQUIRED: [{"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}]}


def kept(
    folder: Path, *some: dict[str, Any], focus: str | None = None, pods: int = 3, nodes: int = 2
) -> Representative:
    file = folder / "m.yaml"
    file.write_text(text_of(list(some)))
    return represent(read_manifests([str(file)]), Size(pods, nodes), focus)


def written(found: Representative) -> dict[str, Any]:
    """The scenario, which must be one that podrace reads, and writes."""
    text = scenario_of(found, "x", "", [])
    scenario = parse_scenario(text)
    scenario_text(scenario.spec, name="again", title="", release=None, properties=scenario.properties)
    read: dict[str, Any] = yaml.safe_load(text)
    return read


def test_the_room_of_pods_that_are_left_out_is_taken(tmp_path: Path) -> None:
    """On n1 two pods of 1 CPU stay, and the one that has to go is the less important."""
    some = [
        node("n1"), node("n2"),
        pod("low", "2", 0, "n1"), pod("mid", "1", 5, "n1"), pod("top", "1", 50, "n1"), pod("wall", "4", 99, "n2"),
        pod("p", "2", 10), pod("q", "1", 10),
    ]  # fmt: skip
    found = kept(tmp_path, *some)
    assert [p.name for p in found.pods] == ["shop/p", "shop/low", "shop/q"]
    assert written(found)["nodes"] == {"n1": {"cpu": 2}}
    asked = [
        (q.pod.name, [v.name for v in q.victims], [r.name for r in q.rivals], q.nodes) for q in found.asked
    ]
    assert asked == [("shop/p", ["shop/low"], ["shop/q"], 1), ("shop/q", ["shop/low"], ["shop/p"], 1)]


def test_a_pod_that_fits_is_no_preemptor(tmp_path: Path) -> None:
    found = kept(
        tmp_path, node("n1"), node("n2"), pod("low", "4", 0, "n1"), pod("p", "3", 10), pod("q", "3", 10)
    )
    assert found.question.victims == []
    # With a third pod there is room for the question who could preempt on the other node.
    assert [n.name for n in found.nodes] == ["n2", "n1"]
    assert [p.name for p in found.pods] == ["shop/p", "shop/q", "shop/low"]


def test_a_disruption_budget_decides_who_goes(tmp_path: Path) -> None:
    """Of two equal pods the one without protection is the victim; with the budget for the other it is that one."""
    some = [node("n1"), pod("a", "2", 0, "n1", "a"), pod("b", "2", 0, "n1", "b"), pod("p", "2", 10)]
    for protected, victim in (("a", "b"), ("b", "a")):
        (budget,) = objects("budget")
        budget["spec"] = {"selector": {"matchLabels": {"app": protected}}}
        budget["status"] = {"disruptionsAllowed": 0}
        found = kept(tmp_path, *some, budget)
        assert [v.name for v in found.question.victims] == [f"shop/{victim}"]
        assert "podDisruptionBudgets" not in written(found)


def test_a_budget_of_a_kept_victim_is_kept(tmp_path: Path) -> None:
    (budget,) = objects("budget")
    budget["status"] = {
        "disruptionsAllowed": 2,
        "disruptedPods": {"v": "2026-01-01T00:00:00Z", "x": "2026-01-01T00:00:00Z"},
    }
    found = written(kept(tmp_path, node("n1"), pod("v", "4", 0, "n1", "batch"), pod("p", "2", 10), budget))
    assert found["podDisruptionBudgets"] == {
        "shop/batch": {
            "selector": {"matchLabels": {"app": "batch"}},
            "disruptionsAllowed": 2,
            "disruptedPods": ["shop/v"],
        }
    }
    assert "S-PDB" in found["properties"]


def test_repulsion_by_pods_that_are_left_out_closes_nodes(tmp_path: Path) -> None:
    """p fits n1 and n2, but a pod in n2's zone wants no `app: web` there; and the other way round."""
    anti = {"affinity": {"podAntiAffinity": term("web", "zone")}}
    nodes = [node("n1", zone="a"), node("n2", zone="b"), node("n3", "1", zone="b")]
    guard = pod("guard", "1", 0, "n3", "guard", **anti)
    guarded = [*nodes, guard, pod("p", "2", 10, app="web")]
    assert [n.name for n in kept(tmp_path, *guarded).nodes] == ["n1"]
    shy = pod("p", "2", 10, app="web", affinity={"podAntiAffinity": term("guard", "zone")})
    assert [n.name for n in kept(tmp_path, *nodes, pod("guard", "1", 0, "n3", "guard"), shy).nodes] == ["n1"]
    # A second pod that may go to n2 brings that node in; p must not go there.
    found = written(kept(tmp_path, *guarded, pod("q", "3", 10), focus="shop/p"))
    assert found["nodes"]["n2"]["labels"] == {"podrace.io/closed-to-0": "true"}
    (selector,) = found["pods"]["shop/p"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert selector == {"matchExpressions": [{"key": "podrace.io/closed-to-0", "operator": "DoesNotExist"}]}
    assert "nodeAffinity" not in found["pods"]["shop/q"]


def test_who_wants_the_same_port_is_kept(tmp_path: Path) -> None:
    """On n1 low has p's port, and q wants it, too; a port that nobody else wants is left out."""
    http = [{"containerPort": 80, "hostPort": 80}, {"containerPort": 9, "hostPort": 0}, {"containerPort": 7}]
    some = [
        node("n1"), pod("low", "1", 0, "n1"), pod("other", "1", 0, "n1"), pod("p", "1", 10), pod("q", "1", 10),
    ]  # fmt: skip
    for name, ports in (
        (1, http),
        (2, [{"hostPort": 81}]),
        (3, [*http, {"hostPort": 443}]),
        (4, [{"hostPort": 80, "hostIP": "10.0.0.1"}]),
    ):
        some[name]["spec"]["containers"][0]["ports"] = ports
    found = kept(tmp_path, *some)
    assert [q.name for q in found.question.victims] == ["shop/low"]
    assert [q.name for q in found.question.rivals] == ["shop/q"]
    pods = written(found)["pods"]
    assert {name: described.get("hostPorts") for name, described in pods.items()} == {
        "shop/p": [80],
        "shop/low": [80],
        "shop/q": [{"port": 80, "protocol": "TCP", "hostIP": "10.0.0.1"}],
    }
    # In the network of the node every port of a container is one of the node.
    some[4]["spec"] |= {"hostNetwork": True}
    some[4]["spec"]["containers"][0]["ports"] = [{"containerPort": 80}]
    assert written(kept(tmp_path, *some))["pods"]["shop/q"]["hostPorts"] == [80]
    # Without the plugin nobody looks at ports.
    off = {"plugins": {"multiPoint": {"disabled": [{"name": "NodePorts"}]}}}
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [off],
    }
    assert kept(tmp_path, *some, configuration).question.victims == []


def test_a_port_of_a_pod_that_is_left_out_closes_its_node(tmp_path: Path) -> None:
    """p fits n2 only, as an important pod has its port on n1, where q may go."""
    some = [node("n1"), node("n2", "1"), pod("guard", "1", 99, "n1"), pod("p", "1", 10), pod("q", "2", 10)]
    for at in (2, 3):
        some[at]["spec"]["containers"][0]["ports"] = [{"hostPort": 80}]
    some = [node("n1", "3"), node("n2", "1"), *some[2:], pod("r", "1", 10)]
    found = written(kept(tmp_path, *some, focus="shop/p", pods=2))
    assert {name: "hostPorts" in described for name, described in found["pods"].items()} == {
        "shop/p": False,
        "shop/r": False,
    }
    assert found["nodes"]["n1"]["labels"] == {"podrace.io/closed-to-0": "true"}
    (selector,) = found["pods"]["shop/p"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert selector == {"matchExpressions": [{"key": "podrace.io/closed-to-0", "operator": "DoesNotExist"}]}


def test_sidecars_have_ports_and_other_init_containers_have_none(tmp_path: Path) -> None:
    """GetHostPorts, 1.34."""
    for policy, victims in (("Always", ["shop/low"]), ("Never", []), ("", [])):
        init = {"name": "i", "ports": [{"hostPort": 80}], **({"restartPolicy": policy} if policy else {})}
        p = pod("p", "1", 10, initContainers=[init])
        low = pod("low", "1", 0, "n1")
        low["spec"]["containers"][0]["ports"] = [{"hostPort": 80}]
        found = kept(tmp_path, node("n1"), low, p)
        assert [q.name for q in found.question.victims] == victims


def test_attraction_by_a_pod_that_is_left_out(tmp_path: Path) -> None:
    """p wants to be with db, which is in zone a: the term has become a matter of nodes."""
    some = [
        node("n1", zone="a"), node("n2", zone="b"), pod("db", "1", 99, "n1", "db"),
        pod("p", "2", 10, affinity={"podAffinity": term("db", "zone")}), pod("q", "3", 10),
    ]  # fmt: skip
    found = kept(tmp_path, *some, focus="shop/p")
    text = written(found)
    assert text["nodes"]["n1"] == {"cpu": 3}
    assert "podAffinity" not in text["pods"]["shop/p"]
    assert text["nodes"]["n2"]["labels"] == {"podrace.io/closed-to-0": "true"}


def test_a_node_that_shrank_under_its_pods_is_left_out(tmp_path: Path) -> None:
    found = kept(tmp_path, node("n1", "1"), node("n2"), pod("v", "2", 0, "n1"), pod("p", "1", 10))
    assert [n.name for n in found.nodes] == ["n2"]
    assert any("1 of them overcommitted" in line for line in account_of(found))


def test_nobody_waits_but_a_controller_would_create_a_pod(tmp_path: Path) -> None:
    (sets,) = objects("victim")
    found = kept(tmp_path, node("n1"), sets)
    assert found.hypothetical
    assert [(p.name, p.exists) for p in found.pods] == [("shop/batch-1-again", False)]
    assert written(found)["pods"]["shop/batch-1-again"]["exists"] is False


def test_the_pod_that_takes_the_victims_place_is_kept_where_nobody_else_wants_the_room(
    tmp_path: Path,
) -> None:
    victim = objects("victim")[0]
    victim["spec"] = spec("4", nodeName="n1", priority=0)
    found = kept(tmp_path, node("n1"), victim, pod("p", "2", 10))
    assert [p.name for p in found.pods] == ["shop/p", "shop/batch-1", "shop/batch-1-again"]


def test_a_focus_that_does_not_wait_or_needs_too_many_pods(tmp_path: Path) -> None:
    small = [pod(f"v{i}", "1", 0, "n1") for i in range(4)]
    some = [node("n1"), *small, pod("p", "4", 10)]
    with pytest.raises(
        Problem, match="--focus: no pod `shop/v1` waits to be scheduled; did you mean `shop/p`"
    ):
        kept(tmp_path, *some, focus="shop/v1")
    with pytest.raises(
        Problem, match="shop/p needs 4 pods out of its way on every node: allow --pods 5 or more"
    ):
        kept(tmp_path, *some)
    assert len(kept(tmp_path, *some, pods=5).pods) == 5


def test_a_pod_that_fits_nowhere(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="every pod that waits, such as shop/p, fits no node"):
        kept(tmp_path, node("n1"), pod("p", "5", 10))


@pytest.mark.parametrize("pods", [3, 4, 6])
@pytest.mark.parametrize("nodes", [1, 2, 3])
def test_limits_are_kept(realistic: Inventory, pods: int, nodes: int) -> None:
    found = represent(realistic, Size(pods, nodes))
    assert 1 <= len(found.nodes) <= nodes
    assert 2 <= len(found.pods) <= pods
    names = {p.name for p in found.inventory.bound} | {p.name for p in found.inventory.pending}
    assert all(p.name.removesuffix("-again") in names for p in found.pods)
    written(found)


@pytest.fixture(scope="session")
def realistic(tmp_path_factory: pytest.TempPathFactory) -> Inventory:
    file = tmp_path_factory.mktemp("dump") / "dump.yaml"
    file.write_text(dump())
    return read_manifests([str(file)])


amounts = st.integers(0, 4)


@settings(max_examples=examples(60))
@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=4),
    st.lists(st.tuples(amounts, st.integers(0, 3), st.integers(0, 3), st.sampled_from("abc"), st.sampled_from(["", "a", "b"])), max_size=9),
    st.lists(st.tuples(amounts, st.integers(0, 3), st.sampled_from("abc"), st.sampled_from(["", "a", "b"])), min_size=1, max_size=4),
    st.integers(2, 5),
    st.integers(1, 3),
)  # fmt: skip
def test_every_representative_can_be_read(
    tmp_path_factory: pytest.TempPathFactory,
    sizes: list[int],
    bound: list[Any],
    waiting: list[Any],
    pods: int,
    nodes: int,
) -> None:
    """Whatever the cluster: either a line that says why there is nothing to decide, or a scenario that is read, in which
    every victim is on the node, and a kept pod that fits in the cluster fits in the representative.
    """
    some = [node(f"n{i}", str(cpu), zone="ab"[i % 2]) for i, cpu in enumerate(sizes)]

    def apart(app: str) -> dict[str, Any]:
        return {"affinity": {"podAntiAffinity": term(app, "zone")}} if app else {}

    some += [
        pod(f"b{i}", str(cpu), priority, f"n{at % len(sizes)}", app, **apart(anti))
        for i, (cpu, priority, at, app, anti) in enumerate(bound)
    ]
    some += [
        pod(f"w{i}", str(cpu), priority, "", app, **apart(anti))
        for i, (cpu, priority, app, anti) in enumerate(waiting)
    ]
    try:
        found = kept(tmp_path_factory.getbasetemp(), *some, pods=pods, nodes=nodes)
    except Problem as error:
        why = str(error)
        event("nothing to decide")
        if not any(
            known in why for known in ("fits no node", "out of its way", "ask for more than the node has")
        ):
            raise
        return
    read = parse_scenario(scenario_of(found, "x", "", account_of(found)))
    assert [p.name for p in read.spec.pods] == [p.name for p in found.pods]
    assert {v.node for v in found.question.victims} <= {found.nodes[0].name}
    for entity, original in zip(read.spec.nodes, found.nodes, strict=True):
        dropped = sum(p.requests.get("cpu", 0) for p in found.dropped_on(original))
        used = sum(p.requests.get("cpu", 0) for p in found.pods if p.node == original.name)
        assert dropped + used <= original.allocatable["cpu"]
        assert entity.name == original.name
    spec_of = {p.name: p for p in read.spec.pods}
    for one in found.pods:
        if one.node is None:
            for entity, original in zip(read.spec.nodes, found.nodes, strict=True):
                if found.situation.fits(one, original):
                    assert spec_of[one.name].asks_for(entity)


def test_pods_of_a_daemon_set_on_nodes_with_long_names(tmp_path: Path) -> None:
    """Names of nodes have up to 253 characters, label values 63."""
    name = "worker-0.cluster-blue.production.eu-central-1.compute.internal.example.com"
    by_name = {
        "nodeAffinity": {
            REQUIRED: {
                "nodeSelectorTerms": [
                    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}
                ]
            }
        }
    }
    waiting = pod("p", "1", 10, affinity=by_name)
    far = node(name, "2")
    far["metadata"]["labels"]["kubernetes.io/hostname"] = "worker-0"
    representative = kept(tmp_path, node("n1", "2"), far, waiting)
    assert [n.name for n in representative.nodes] == [name]
    assert list(written(representative)["nodes"]) == [name]


@pytest.mark.parametrize("times", [("1", "2"), ("2", "1"), ()])
def test_when_pods_were_created_says_nothing_of_their_turn(tmp_path: Path, times: tuple[str, ...]) -> None:
    """The queue goes by when each came to it, which is anew after every attempt: L-PLACE HELD where the large pod is the older one."""
    waits = [pod("a", "2"), pod("b", "1")]
    for one, time in zip(waits, times, strict=False):
        one["metadata"]["creationTimestamp"] = f"2026-01-01T00:00:0{time}Z"
    file = tmp_path / "m.yaml"
    file.write_text(text_of([node("n1", "2"), node("n2", "1"), *waits]))
    (found,) = check(filename=str(file), release="1.36.3", property="L-PLACE", cache=False)
    assert (found.verdict, found.states) == ("VIOLATED", 1108)


def test_without_node_resources_fit_nobody_counts_pods(tmp_path: Path) -> None:
    """fitsRequest asks for the number of pods, too: a node with as many as it takes closed, and the pod that waits for it was not kept."""
    off = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"plugins": {"multiPoint": {"disabled": [{"name": "NodeResourcesFit"}]}}}],
    }
    full = node("n1", "1")
    full["status"]["allocatable"]["pods"] = "1"
    found = kept(tmp_path, full, pod("v", "1", 9, "n1"), pod("a", "1"), off)
    assert [n.name for n in found.nodes] == ["n1"]
    with pytest.raises(Problem):
        kept(tmp_path, full, pod("v", "1", 9, "n1"), pod("a", "1"))
