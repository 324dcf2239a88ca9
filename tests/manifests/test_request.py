"""What the reduction of a cluster decides is what the model says of the whole cluster, and nothing in `manifests` decides by itself."""

from __future__ import annotations

import ast
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace import manifests
from podrace.manifests import read_manifests
from podrace.manifests.situation import Situation
from podrace.model.environment.cluster.placement_rules import SpreadConstraint
from podrace.model.environment.objects import ClusterSpec, DisruptionBudget, Node, Pod, Selector, Taint, Term
from podrace.model.language import Concrete
from podrace.model.scheduler.framework.status import Code
from tests.manifests.manifest_objects import REQUIRED, text_of
from tests.manifests.test_representative import node, pod, term
from tests.model.clusters import concrete, spec

APPS = st.sampled_from(["web", "web", "db", ""])
KEYS = st.sampled_from(["zone", "kubernetes.io/hostname"])
CPUS = st.sampled_from(["0", "1", "1", "2"])


@st.composite
def wishes(draw: Any) -> dict[str, Any]:
    """Required affinity, anti-affinity and topology spread of a pod, each of them perhaps."""
    found: dict[str, Any] = {}
    for name, most in (("podAffinity", 2), ("podAntiAffinity", 1)):
        terms = [
            term(draw(APPS) or "none", draw(KEYS))[REQUIRED][0] for _ in range(draw(st.integers(0, most)))
        ]
        if terms and draw(st.booleans()):
            found.setdefault("affinity", {})[name] = {REQUIRED: terms}
    if draw(st.integers(0, 2)) == 0:
        found["topologySpreadConstraints"] = [
            {
                "maxSkew": draw(st.integers(1, 2)), "topologyKey": draw(KEYS), "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": draw(APPS)}},
            }
        ]  # fmt: skip
    return found


@st.composite
def clusters(draw: Any) -> list[dict[str, Any]]:
    """Small nodes, some of them tainted or without a zone, with pods of several priorities; budgets; pods that wait."""
    some = []
    zones = draw(st.lists(st.sampled_from(["a", "b", ""]), min_size=1, max_size=4))
    for i, zone in enumerate(zones):
        made = node(f"n{i}", draw(st.sampled_from(["2", "3", "4"])), **({"zone": zone} if zone else {}))
        made["status"]["allocatable"]["pods"] = draw(st.sampled_from(["2", "110"]))
        if draw(st.integers(0, 4)) == 0:
            made["spec"] = {
                "taints": [
                    {"key": "own", "effect": draw(st.sampled_from(["NoSchedule", "PreferNoSchedule"]))}
                ]
            }
        some.append(made)
    for i in range(draw(st.integers(0, 7))):
        at, more = f"n{draw(st.integers(0, len(zones) - 1))}", draw(wishes())
        made = pod(f"b{i}", draw(CPUS), draw(st.integers(0, 2)), at, draw(APPS), **more)
        if draw(st.booleans()):
            made["status"] = {
                "phase": "Running",
                "startTime": f"2026-01-01T00:00:0{draw(st.integers(0, 2))}Z",
            }
        some.append(made)
    some += [
        pod(f"w{i}", draw(CPUS), draw(st.integers(1, 3)), "", draw(APPS), **draw(wishes())) for i in range(2)
    ]
    for app in ("web", "db"):
        if draw(st.booleans()):
            some.append(
                {
                    "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": app, "namespace": "shop"},
                    "spec": {"selector": {"matchLabels": {"app": app}}},
                    "status": {"disruptionsAllowed": draw(st.integers(0, 2))},
                }
            )  # fmt: skip
    return some


def whole(some: list[dict[str, Any]]) -> ClusterSpec:
    """The same cluster with every pod, node and budget of it, as entities of the model."""
    on: dict[str, Node] = {}
    pods: list[Pod] = []
    budgets: list[DisruptionBudget] = []
    for made in some:
        name, asked = made["metadata"]["name"], made["spec"]
        if made["kind"] == "Node":
            has = made["status"]["allocatable"]
            taints = [Taint(t["key"], "", t["effect"]) for t in asked.get("taints", [])]
            on[name] = Node(
                len(on),
                name,
                int(has["cpu"]),
                made["metadata"]["labels"],
                pods=int(has["pods"]),
                taints=taints,
            )
        elif made["kind"] == "Pod":
            pods.append(_as_model(len(pods), made, on))
        else:
            allowed = made["status"]["disruptionsAllowed"]
            selector = Selector(asked["selector"]["matchLabels"])
            budgets.append(DisruptionBudget(len(budgets), name, selector, allowed, namespace="shop"))
    made_spec = spec(pods, tuple(on.values()))
    return ClusterSpec(made_spec.name, made_spec.pods, made_spec.nodes, made_spec.scope, tuple(budgets))


def _as_model(index: int, made: dict[str, Any], on: dict[str, Node]) -> Pod:
    asked, started = made["spec"], made.get("status", {}).get("startTime")
    terms = [
        Term(t["labelSelector"]["matchLabels"], t["topologyKey"], anti=anti)
        for kind, anti in (("podAffinity", False), ("podAntiAffinity", True))
        for t in asked.get("affinity", {}).get(kind, {}).get(REQUIRED, [])
    ]
    constraints = [
        SpreadConstraint(c["topologyKey"], Selector(c["labelSelector"]["matchLabels"]), c["maxSkew"])
        for c in asked.get("topologySpreadConstraints", [])
    ]
    return Pod(
        index, f"shop/{made['metadata']['name']}", int(asked["containers"][0]["resources"]["requests"]["cpu"]),
        asked["priority"], namespace="shop", labels=made["metadata"].get("labels", {}), terms=terms, spread=constraints,
        node=on.get(asked.get("nodeName", "")), start=int(started[-2]) if started else None,
    )  # fmt: skip


def _fits(model: Concrete, one: Pod, at: Node) -> Any:
    return model.part("filters").run(one, at, model.part("snapshot").placement())


def _dry_run(model: Concrete, one: Pod, at: Node) -> Any:
    candidate, victims = model.part("preemption").dry_run(one, at)
    return candidate, {q.name: goes for q, goes in victims.items()}


@settings(max_examples=20, deadline=None)
@given(clusters())
def test_who_fits_and_who_would_have_to_go_is_what_the_model_says_of_the_whole_cluster(
    tmp_path_factory: pytest.TempPathFactory, some: list[dict[str, Any]]
) -> None:
    file = tmp_path_factory.getbasetemp() / "asked.yaml"
    file.write_text(text_of(some))
    inventory = read_manifests([str(file)])
    situation, cluster = Situation(inventory), whole(some)
    model = concrete(cluster, "1.34")
    model.do(model.part("snapshot").update)
    pods, nodes = {p.name: p for p in cluster.pods}, {n.name: n for n in cluster.nodes}
    for one in inventory.pending:
        for at in inventory.nodes:
            asked = pods[one.name], nodes[at.name]
            assert situation.fits(one, at) == (model.get(partial(_fits, model, *asked)) is Code.SUCCESS)
            candidate, victims = model.get(partial(_dry_run, model, *asked))
            goes = [name for name, must_go in victims.items() if candidate and must_go]
            assert [p.name for p in situation.victims(one, at)] == goes


def test_a_pod_that_terminates_keeps_its_room_and_is_nobodys_victim(tmp_path: Path) -> None:
    going = pod("b0", "2", 0, "n0")
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    file = tmp_path / "m.yaml"
    file.write_text(
        text_of([node("n0", "4"), going, pod("b1", "2", 0, "n0"), pod("w", "4", 1), pod("x", "2", 1)])
    )
    inventory = read_manifests([str(file)])
    large, small = inventory.pending
    found = {p.name: Situation(inventory).victims(p, inventory.nodes[0]) for p in (large, small)}
    assert {name: [p.name for p in victims] for name, victims in found.items()} == {
        "shop/w": [],
        "shop/x": ["shop/b1"],
    }


def test_two_affinity_terms_are_met_by_one_pod_or_not_at_all(tmp_path: Path) -> None:
    """b0 meets the first term and b1 the second: the scheduler wants a pod that meets both (satisfyPodAffinity)."""
    both: dict[str, Any] = {
        "affinity": {
            "podAffinity": {REQUIRED: [*term("web", "zone")[REQUIRED], *term("db", "zone")[REQUIRED]]}
        }
    }
    some = [
        node("n0", zone="a"),
        pod("b0", "1", 0, "n0", "web"),
        pod("b1", "1", 0, "n0", "db"),
        pod("w", "1", 1, **both),
    ]
    file = tmp_path / "m.yaml"
    file.write_text(text_of(some))
    inventory = read_manifests([str(file)])
    assert not Situation(inventory).fits(inventory.pending[0], inventory.nodes[0])


SOURCES = sorted(Path(manifests.__file__).parent.glob("*.py"))
SIZES = {"allocatable", "requests", "max_skew", "min_domains", "topology_key"}


def test_one_file_asks_the_scheduler() -> None:
    """Filters and preemption are imported in request.py, and nowhere else."""
    assert [p.name for p in SOURCES if "model.scheduler" in p.read_text()] == ["request.py"]


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.name)
def test_nothing_compares_sizes_or_domains(path: Path) -> None:
    """No comparison has an amount, a skew or a topology key on one of its sides; how many domains there are is counted."""
    found = [
        ast.unparse(compare)
        for compare in ast.walk(ast.parse(path.read_text()))
        if isinstance(compare, ast.Compare)
        and SIZES & {n.attr for n in ast.walk(compare) if isinstance(n, ast.Attribute)}
    ]
    assert [c for c in found if "min_domains" not in c] == []
