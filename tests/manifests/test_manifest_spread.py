"""Topology spread constraints of manifests: how they are read, and that what is kept of a cluster counts as the whole one."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy, deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from podrace.base.problems import Problem
from podrace.manifests import Inventory, Representative, read_manifests
from podrace.manifests.contention import ClusterQuestion, Groups
from podrace.manifests.left_out import affinity_of, constraints_of, remarks_of
from podrace.manifests.members import ClusterPod
from podrace.manifests.reading.pod_objects import Spread
from podrace.manifests.situation import Situation
from podrace.manifests.telling.scenario_text import scenario_of
from podrace.manifests.telling.summary import account_of
from podrace.model.environment.cluster.placement_rules import SpreadConstraint
from podrace.model.environment.objects import (
    ClusterSpec,
    Node,
    Operator,
    Pod,
    Requirement,
    Selector,
    Taint,
    Term,
    Toleration,
)
from podrace.model.scheduler.framework.status import Code
from podrace.scenarios import parse_scenario
from tests.manifests.manifest_objects import REQUIRED, objects, text_of
from tests.manifests.test_representative import kept, node, pod, term, written
from tests.model.clusters import concrete, spec
from tests.profiles import examples

ZONE, HOST = "zone", "kubernetes.io/hostname"
WEB = {"matchLabels": {"app": "web"}}


def constraint(key: str = ZONE, skew: int = 1, selector: Any = WEB, **more: Any) -> dict[str, Any]:
    """A hard constraint as a manifest has it."""
    said = {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", **more}
    return said if selector is None else {**said, "labelSelector": deepcopy(selector)}


def spreading(*constraints: dict[str, Any]) -> dict[str, Any]:
    return {"topologySpreadConstraints": list(constraints)}


# --- reading ---------------------------------------------------------------------------------------


def read(folder: Path, *some: dict[str, Any]) -> Any:
    file = folder / "m.yaml"
    file.write_text(text_of(list(some)))
    return read_manifests([str(file)])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (constraint(), Spread(ZONE, Selector({"app": "web"}), 1)),
        (constraint(selector={}), Spread(ZONE, Selector(), 1)),
        (constraint(selector=None), Spread(ZONE, Selector(nothing=True), 1)),
        (
            constraint(HOST, 3, {"matchExpressions": [{"key": "app", "operator": "Exists"}]}),
            Spread(HOST, Selector({}, (Requirement("app", Operator.EXISTS),)), 3),
        ),
        (constraint(minDomains=4), Spread(ZONE, Selector({"app": "web"}), 1, 4)),
        (
            constraint(nodeAffinityPolicy="Ignore", nodeTaintsPolicy="Honor"),
            Spread(ZONE, Selector({"app": "web"}), 1, honors_affinity=False, honors_taints=True),
        ),
        (
            constraint(nodeAffinityPolicy="Honor", nodeTaintsPolicy="Ignore"),
            Spread(ZONE, Selector({"app": "web"}), 1),
        ),
        # The pod has the first key, not the other.
        (
            constraint(matchLabelKeys=["app", "pod-template-hash"], selector={}),
            Spread(ZONE, Selector({}, (Requirement("app", Operator.IN, ("web",)),)), 1),
        ),
        # From 1.34 on the API server says the same by itself.
        (
            constraint(
                matchLabelKeys=["app"],
                selector={"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]},
            ),
            Spread(ZONE, Selector({}, (Requirement("app", Operator.IN, ("web",)),)), 1),
        ),
        ({**constraint(), "whenUnsatisfiable": "ScheduleAnyway"}, None),
    ],
)
def test_constraints_are_read(tmp_path: Path, given: dict[str, Any], expected: Spread | None) -> None:
    (found,) = read(tmp_path, node("n1"), pod("p", "1", app="web", **spreading(given))).pending
    assert found.spread == (() if expected is None else (expected,))


def test_fields_that_older_releases_do_not_know_are_remarked_on_once_for_each_owner(tmp_path: Path) -> None:
    both = spreading(
        constraint(minDomains=2, nodeAffinityPolicy="Honor"),
        constraint(HOST, minDomains=2),
        constraint("x", nodeTaintsPolicy="Honor", matchLabelKeys=[]),
    )
    found = read(tmp_path, node("n1"), pod("p", "1", **both), pod("q", "1", **spreading(constraint())))
    assert list(found.remarks) == [
        f"{field} of a topology spread constraint is heeded as by default from {release} on: "
        f"a verdict on an older release is not about what that one makes of it (Pod/shop/p)"
        for field, release in (("nodeTaintsPolicy", "1.26"),)
    ]


@pytest.mark.parametrize(("labels", "remarks"), [({}, 1), ({"pod-template-hash": "x"}, 0)])
def test_a_key_that_only_the_controller_sets(tmp_path: Path, labels: dict[str, str], remarks: int) -> None:
    (made,) = objects("deployment")
    template = made["spec"]["template"]
    template["metadata"]["labels"] |= labels
    template["spec"] |= spreading(constraint(matchLabelKeys=["pod-template-hash"]))
    found = read(tmp_path, node("n1"), made).remarks
    assert sum("a label that only the controller sets" in line for line in found) == remarks
    assert all("(Deployment/shop/web)" in line for line in found)


@pytest.mark.parametrize(("off", "spread"), [("PodTopologySpread", 0), ("*", 0), ("NodeAffinity", 1)])
def test_the_plugin_may_be_disabled(tmp_path: Path, off: str, spread: int) -> None:
    (config,) = objects("config")
    config["profiles"] = [{"plugins": {"filter": {"disabled": [{"name": off}]}}}]
    (found,) = read(tmp_path, node("n1"), config, pod("p", "1", **spreading(constraint()))).pending
    assert len(found.spread) == spread


def test_what_a_disabled_plugin_says_of_nodes_that_count(tmp_path: Path) -> None:
    (config,) = objects("config")
    del config["percentageOfNodesToScore"]
    config["profiles"] = [{"plugins": {"filter": {"disabled": [{"name": "NodeAffinity"}]}}}]
    choosy = pod("p", "1", nodeSelector={"zone": "a"}, **spreading(constraint()))
    free = pod("q", "1", **spreading(constraint()))
    (remark,) = read(tmp_path, node("n1"), config, choosy, free).remarks
    assert remark.startswith("NodeAffinity or TaintToleration is switched off")
    assert remark.endswith("(Pod/shop/p)")


@pytest.mark.parametrize(("when", "remarks"), [("DoNotSchedule", 1), ("ScheduleAnyway", 0)])
def test_default_constraints_are_left_out(tmp_path: Path, when: str, remarks: int) -> None:
    (config,) = objects("config")
    del config["percentageOfNodesToScore"]
    args = {"defaultConstraints": [{"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": when}]}
    config["profiles"] = [{"pluginConfig": [{"name": "PodTopologySpread", "args": args}]}]
    found = read(tmp_path, node("n1"), config, pod("p", "1")).remarks
    assert len(found) == remarks
    assert all(line.startswith("defaultConstraints of PodTopologySpread are not modelled") for line in found)


# --- what is alike ---------------------------------------------------------------------------------


def test_nodes_of_different_domains_are_not_alike(tmp_path: Path) -> None:
    nodes = [node("n1", zone="a"), node("n2", zone="b"), node("n3", zone="b"), node("n4")]
    asks = spreading(constraint())
    assert len(kept(tmp_path, *nodes, pod("p", "1", 5, **asks)).groups.of_nodes) == 3
    assert len(kept(tmp_path, *nodes, pod("p", "1", 5)).groups.of_nodes) == 1


def test_pods_that_are_counted_are_not_like_those_that_are_not(tmp_path: Path) -> None:
    some = [node("n1"), node("n2"), pod("w", "1", 0, "n1", "web"), pod("d", "1", 0, "n2", "db")]
    asks = spreading(constraint(HOST))
    # Of a bound pod without a constraint, its like, and the pod that waits.
    found = kept(tmp_path, *some, pod("p", "1", 5, **asks)).groups
    assert (len(found.of_pods), len(found.of_nodes)) == (3, 2)
    found = kept(tmp_path, *some, pod("p", "1", 5)).groups
    assert (len(found.of_pods), len(found.of_nodes)) == (2, 1)


def test_pods_with_different_constraints_are_not_alike(tmp_path: Path) -> None:
    some = [pod("p", "1", **spreading(constraint())), pod("q", "1", **spreading(constraint(skew=2)))]
    assert len(kept(tmp_path, node("n1", zone="a"), *some, pod("r", "1")).groups.of_pods) == 3


# --- what is kept ----------------------------------------------------------------------------------


def others(found: Representative, name: str = "shop/p") -> list[dict[str, int]]:
    (pod_,) = (p for p in found.pods if p.name == name)
    return [dict(c.others) for c in constraints_of(pod_, found)]


def test_pods_that_are_left_out_go_on_counting(tmp_path: Path) -> None:
    """In zone a one pod is kept and one left out, in b two are left out; of the other zones the emptiest is noted."""
    some = [
        node("n1", "2", zone="a"), node("n2", zone="b"), node("n3", zone="c"), node("n4", zone="d"), node("n5"),
        pod("v", "1", 0, "n1", "web"), pod("w1", "1", 99, "n1", "web"), pod("w2", "2", 99, "n2", "web"),
        pod("w3", "2", 99, "n2", "web"), *(pod(f"x{i}", "1", 99, "n3", "web") for i in range(4)),
        *(pod(f"y{i}", "1", 99, "n4", "web") for i in range(3)), pod("y3", "1", 99, "n4", "db"),
        pod("p", "1", 10, app="web", **spreading(constraint(skew=2))),
    ]  # fmt: skip
    found = kept(tmp_path, *some)
    assert [p.name for p in found.pods] == ["shop/p", "shop/v"]
    assert others(found) == [{"a": 1, "b": 2}]
    text = written(found)
    assert text["nodes"] == {"n1": {"cpu": 1, "labels": {"zone": "a"}}}
    assert text["pods"]["shop/v"]["labels"] == {"app": "web"}
    assert text["pods"]["shop/p"]["topologySpreadConstraints"] == [
        {
            "maxSkew": 2,
            "topologyKey": "zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": WEB,
            "others": {"a": 1, "b": 2},
        }
    ]
    lines = account_of(found)
    assert "topology spread that must be kept:" in lines
    assert "  by zone: 1 constraint of pods, 4 domains" in lines
    assert "    its spread by zone goes on counting pods that are left out: 1 in a and 2 in b" in lines


def test_pods_that_go_and_pods_of_other_namespaces_are_not_counted(tmp_path: Path) -> None:
    leaving, foreign = pod("w1", "1", 99, "n1", "web"), pod("w2", "1", 99, "n1", "web")
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    foreign["metadata"]["namespace"] = "elsewhere"
    asking = pod("p", "1", 10, app="web", **spreading(constraint()))
    assert others(kept(tmp_path, node("n1", zone="a"), leaving, foreign, asking)) == [{}]
    assert others(kept(tmp_path, node("n1", zone="a"), pod("w3", "1", 99, "n1", "web"), leaving, asking)) == [
        {"a": 1}
    ]


def test_it_decides_where_a_pod_fits_and_who_has_to_go(tmp_path: Path) -> None:
    """There is room on n1, but zone a is as full as it may be: one of the two that are counted there would have to go."""
    some = [
        node("n1", zone="a"), node("n2", "1", zone="b"), pod("w1", "1", 0, "n1", "web"), pod("d", "1", 0, "n1", "db"),
        pod("x", "1", 99, "n2"),
    ]  # fmt: skip
    free = pod("p", "1", 10, app="web")
    bound = pod("p", "1", 10, app="web", **spreading(constraint()))
    assert kept(tmp_path, *some, free).question.victims == []
    assert [v.name for v in kept(tmp_path, *some, bound).question.victims] == ["shop/w1"]


def test_two_pods_that_may_not_both_go_to_a_domain_are_rivals(tmp_path: Path) -> None:
    some = [node("n1", zone="a"), node("n2", "1", zone="b"), pod("x", "1", 99, "n2")]
    pods = [pod(name, "1", 10, app="web", **spreading(constraint())) for name in ("p", "q")]
    assert [r.name for r in kept(tmp_path, *some, *pods).question.rivals] == ["shop/q"]
    pods = [pod(name, "1", 10, app="db", **spreading(constraint())) for name in ("p", "q")]
    assert kept(tmp_path, *some, *pods).question.rivals == []


@pytest.mark.parametrize(("least", "few"), [(2, False), (3, True)])
def test_of_fewer_domains_than_are_wanted_an_empty_one_counts(tmp_path: Path, least: int, few: bool) -> None:
    some = [
        node("n1", zone="a"), node("n2", "1", zone="b"), pod("w1", "1", 99, "n1", "web"), pod("w2", "1", 99, "n2", "web"),
    ]  # fmt: skip
    asking = pod("p", "1", 10, app="web", **spreading(constraint(minDomains=least, skew=2)))
    found = kept(tmp_path, *some, asking)
    assert others(found) == [{"a": 1, "b": 1}]
    (said,) = written(found)["pods"]["shop/p"]["topologySpreadConstraints"]
    assert said["minDomains"] == least
    strict = pod("p", "1", 10, app="web", **spreading(constraint(minDomains=least)))
    if few:
        with pytest.raises(Problem, match="affinity and topology spread"):
            kept(tmp_path, *some, strict)
    else:
        assert [n.name for n in kept(tmp_path, *some, strict).nodes] == ["n1"]


def test_as_many_domains_are_named_as_are_wanted(tmp_path: Path) -> None:
    some = [node(f"n{i}", "4" if i == 0 else "1", zone=f"z{i}") for i in range(5)]
    some += [pod(f"w{i}", "1", 99, f"n{i}", "web") for i in range(1, 5)]
    asking = pod("p", "2", 10, app="web", **spreading(constraint(minDomains=3)))
    assert others(kept(tmp_path, *some, asking)) == [{"z1": 1, "z2": 1}]


def test_policies_say_which_of_the_nodes_that_are_left_out_count(tmp_path: Path) -> None:
    tainted = node("n2", zone="b")
    tainted["spec"] = {"taints": [{"key": "own", "effect": "NoSchedule"}]}
    some = [node("n1", zone="a"), tainted, node("n3", "1", zone="c"), pod("w", "1", 99, "n3", "web")]
    honored = constraint(nodeTaintsPolicy="Honor")
    for asks, expected in (
        (constraint(), {"b": 0}),
        (honored, {"c": 1}),
        ({**honored, "nodeAffinityPolicy": "Ignore"}, {"c": 1}),
    ):
        p = pod("p", "2", 10, app="web", **spreading(asks))
        assert others(kept(tmp_path, *some, p)) == [expected]
    selective: list[tuple[str, dict[str, int]]] = [("Honor", {}), ("Ignore", {"b": 0})]
    for policy, expected in selective:
        asks = spreading(constraint(nodeAffinityPolicy=policy))
        found = kept(tmp_path, *some, pod("p", "2", 10, app="web", nodeSelector={"zone": "a"}, **asks))
        assert others(found) == [expected]
        assert list(remarks_of(found)) == []


@pytest.mark.parametrize(
    ("affinity", "says"), [("Honor", {"nodeTaintsPolicy": "Honor"}), ("Ignore", {"nodeTaintsPolicy": "Honor", "nodeAffinityPolicy": "Ignore"})]
)  # fmt: skip
def test_policies_are_kept(tmp_path: Path, affinity: str, says: dict[str, str]) -> None:
    """q brings n2 in, whose taint it tolerates and p does not."""
    tainted = node("n2", zone="b")
    tainted["spec"] = {"taints": [{"key": "own", "effect": "NoSchedule"}]}
    asks = spreading(constraint(nodeTaintsPolicy="Honor", nodeAffinityPolicy=affinity))
    some = [
        node("n1", zone="a"), tainted, pod("p", "3", 10, app="web", **asks),
        pod("q", "3", 10, tolerations=[{"operator": "Exists"}]),
    ]  # fmt: skip
    found = kept(tmp_path, *some, focus="shop/p")
    assert [n.name for n in found.nodes] == ["n1", "n2"]
    assert list(remarks_of(found)) == []
    (said,) = written(found)["pods"]["shop/p"]["topologySpreadConstraints"]
    assert {k: v for k, v in said.items() if k.endswith("Policy")} == says


@pytest.mark.parametrize(("affinity", "mark"), [("Honor", "taints"), ("Ignore", "labels")])
def test_a_node_that_is_closed_to_a_pod_that_honors_taints(tmp_path: Path, affinity: str, mark: str) -> None:
    """Where both policies are Honor, either mark takes the node out of what is counted, and a note says so."""
    guard = {"affinity": {"podAntiAffinity": term("web", HOST)}}
    asks = spreading(constraint(skew=2, nodeTaintsPolicy="Honor", nodeAffinityPolicy=affinity))
    some = [
        node("n1", zone="a"), node("n2", zone="b"), pod("g", "1", 99, "n2", "guard", **guard),
        pod("p", "3", 10, app="web", **asks), pod("q", "3", 10),
    ]  # fmt: skip
    found = kept(tmp_path, *some, focus="shop/p")
    assert "podrace.io/closed-to-0" in str(written(found)["nodes"]["n2"][mark])
    said = (
        "nodeTaintsPolicy of the constraint by zone does not count kept pods on n2, as a taint of the scenario's closes it to the pod: "
        "the verdict is not about these (Pod/shop/p)"
    )
    assert list(remarks_of(found)) == ([said] if affinity == "Honor" else [])


def test_a_domain_of_a_kept_node_keeps_its_number_though_the_node_does_not_count(tmp_path: Path) -> None:
    """n2 is kept for q, and does not count for p; on n3, of the same zone, lies a pod that counts."""
    tainted = node("n2", zone="b")
    tainted["spec"] = {"taints": [{"key": "own", "effect": "NoSchedule"}]}
    asks = spreading(constraint(nodeTaintsPolicy="Honor", skew=2))
    some = [
        node("n1", zone="a"), tainted, node("n3", "1", zone="b"), node("n4", "1", zone="c"),
        pod("w", "1", 99, "n3", "web"), pod("p", "3", 10, app="web", **asks),
        pod("q", "3", 10, tolerations=[{"operator": "Exists"}]),
    ]  # fmt: skip
    found = kept(tmp_path, *some, focus="shop/p")
    assert [n.name for n in found.nodes] == ["n1", "n2"]
    assert others(found) == [{"b": 1, "c": 0}]


def test_a_node_that_is_closed_to_a_pod_still_counts_for_its_spread(tmp_path: Path) -> None:
    """n2 is closed to p by a pod that is left out; a label would take its zone out of what p counts."""
    guard = {"affinity": {"podAntiAffinity": term("web", HOST)}}
    asks = spreading(constraint(skew=2))
    some = [
        node("n1", zone="a"), node("n2", zone="b"), pod("g", "1", 99, "n2", "guard", **guard),
        pod("p", "3", 10, app="web", tolerations=[{"operator": "Exists"}], **asks), pod("q", "3", 10),
    ]  # fmt: skip
    text = written(kept(tmp_path, *some, focus="shop/p"))
    assert text["nodes"]["n2"] == {
        "cpu": 3,
        "labels": {"zone": "b"},
        "taints": [{"key": "podrace.io/closed-to-0", "effect": "NoSchedule"}],
    }
    assert text["pods"]["shop/q"]["tolerations"] == [{"key": "podrace.io/closed-to-0", "operator": "Exists"}]
    assert "tolerations" not in text["pods"]["shop/p"]
    assert "nodeAffinity" not in text["pods"]["shop/p"]
    for one in some[:2]:
        one["spec"] = {"taints": [{"key": "own", "effect": "NoSchedule"}]}
    text = written(
        kept(tmp_path, *some[:-1], pod("q", "3", 10, tolerations=[{"operator": "Exists"}]), focus="shop/p")
    )
    own = {"key": "own", "operator": "Exists", "effect": "NoSchedule"}
    assert text["pods"]["shop/p"]["tolerations"] == [own], (
        "what tolerates everything would tolerate the mark as well"
    )


def test_a_selector_that_is_not_set_means_nobody_in_the_scenario_too(tmp_path: Path) -> None:
    some = [node("n1", zone="a"), pod("w", "1", 99, "n1", "web"), pod("x", "1", 99, "n1")]
    found = kept(tmp_path, *some, pod("p", "1", 10, app="web", **spreading(constraint(selector=None))))
    (entity,) = (p for p in parse_scenario(scenario_of(found, "x", "", [])).spec.pods if p.name == "shop/p")
    assert not entity.spread[0].counts({"app": "web"})
    assert not entity.spread[0].selector.empty


# --- the law ---------------------------------------------------------------------------------------


APPS = st.sampled_from(["web", "web", "web", "db", ""])
SELECTORS: list[Any] = [
    WEB,
    WEB,
    {},
    {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]},
    {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["db"]}]},
]
KEYS = (st.sampled_from([ZONE, HOST]), st.integers(1, 2), st.sampled_from(SELECTORS))
CONSTRAINTS = st.lists(st.builds(constraint, *KEYS), min_size=1, max_size=2)
POLICIES = st.sampled_from(["Honor", "Ignore"])
NEWER_CONSTRAINTS = st.lists(
    st.builds(
        constraint, *KEYS, minDomains=st.integers(1, 4), nodeAffinityPolicy=POLICIES, nodeTaintsPolicy=POLICIES
    ),
    min_size=1,
    max_size=2,
)  # fmt: skip
WISHES: list[dict[str, Any]] = [
    {},
    {"nodeSelector": {"pool": "x"}},
    {"tolerations": [{"operator": "Exists"}]},
]


@st.composite
def clusters(draw: Any, constraints: Any, tainted: bool = False) -> list[dict[str, Any]]:
    """A few large nodes in zones or in none, some of them `tainted`, pods on them, some of which repel others, and pods that wait."""
    zones = draw(st.lists(st.sampled_from(["a", "b", "c", "a", "b", ""]), min_size=2, max_size=5))
    some = []
    for i, zone in enumerate(zones):
        pool = {"pool": "x"} if draw(st.booleans()) else {}
        some.append(node(f"n{i}", "20", **({"zone": zone} if zone else {}), **pool))
        if tainted and draw(st.integers(0, 3)) == 0:
            some[-1]["spec"] = {"taints": [{"key": "own", "effect": "NoSchedule"}]}
    for i in range(draw(st.integers(0, 8))):
        at, app, repels = f"n{draw(st.integers(0, len(zones) - 1))}", draw(APPS), draw(st.integers(0, 5)) == 0
        more = {"affinity": {"podAntiAffinity": term("web", draw(st.sampled_from([ZONE, HOST])))}}
        some.append(pod(f"b{i}", "1", 0, at, app, **(more if repels else {})))
    for i in range(draw(st.integers(1, 2))):
        wishes = draw(st.sampled_from(WISHES))
        some.append(pod(f"w{i}", "1", 10, "", draw(APPS), **wishes, **spreading(*draw(constraints))))
    return some


def some_of(draw: Any, pods: Sequence[ClusterPod]) -> list[ClusterPod]:
    return [p for p in pods if draw(st.booleans())]


def chosen(draw: Any, inventory: Inventory) -> Representative:
    """Any of the pods and nodes as those that are kept: nothing rests on how they are chosen."""
    nodes = [n for n in inventory.nodes if draw(st.booleans())] or list(inventory.nodes[:1])
    waiting = some_of(draw, inventory.pending) or list(inventory.pending[:1])
    pods = waiting + some_of(draw, [p for n in nodes for p in inventory.on(n.name)])
    question = ClusterQuestion(waiting[0], nodes[0], (), (), 1)
    return Representative(
        inventory, Situation(inventory), Groups(inventory), question, [question], pods, nodes, False
    )


def whole(some: Sequence[dict[str, Any]]) -> ClusterSpec:
    """The same cluster with every pod and node of it, as entities of the model."""
    on: dict[str, Node] = {}
    pods: list[Pod] = []
    for made in some:
        name, asked = made["metadata"]["name"], made["spec"]
        if made["kind"] == "Node":
            labels, cpu = made["metadata"]["labels"], int(made["status"]["allocatable"]["cpu"])
            taints = [Taint(t["key"], effect=t["effect"]) for t in asked.get("taints", [])]
            on[name] = Node(len(on), name, cpu, labels, taints=taints)
            continue
        affinity = asked.get("affinity", {}).get("podAntiAffinity", {}).get(REQUIRED, [])
        pods.append(
            Pod(
                len(pods), f"shop/{name}", int(asked["containers"][0]["resources"]["requests"]["cpu"]),
                asked["priority"], namespace="shop", labels=made["metadata"].get("labels", {}),
                terms=[Term(t["labelSelector"]["matchLabels"], t["topologyKey"], anti=True) for t in affinity],
                node_selector=asked.get("nodeSelector", {}), node=on.get(asked.get("nodeName", "")),
                tolerations=[Toleration(operator=t["operator"]) for t in asked.get("tolerations", [])],
                spread=[_as_model(c) for c in asked.get("topologySpreadConstraints", [])],
            )
        )  # fmt: skip
    return spec(pods, tuple(on.values()))


def _as_model(given: dict[str, Any]) -> SpreadConstraint:
    selector = given["labelSelector"]
    expressions = tuple(
        Requirement(e["key"], Operator(e["operator"]), tuple(e.get("values", ())))
        for e in selector.get("matchExpressions", ())
    )
    return SpreadConstraint(
        given["topologyKey"], Selector(selector.get("matchLabels", {}), expressions), given["maxSkew"], {},
        given.get("minDomains", 1), given.get("nodeAffinityPolicy") != "Ignore", given.get("nodeTaintsPolicy") == "Honor",
    )  # fmt: skip


def without(cluster: ClusterSpec, gone: Sequence[str]) -> ClusterSpec:
    """The same with these pods on no node."""
    pods = [copy(p) for p in cluster.pods]
    for one in pods:
        if one.name in gone:
            one.node = None
    return spec(pods, tuple(cluster.nodes))


def said(
    cluster: ClusterSpec, pods: Sequence[str], on: Sequence[str], release: str
) -> dict[tuple[str, str], tuple[Code, bool]]:
    """For each of these pods and nodes, what PodTopologySpread says, and whether all filters let the pod pass."""
    model = concrete(cluster, release)
    filters, snapshot = model.part("filters"), model.part("snapshot")
    model.do(snapshot.update)
    spread = filters.plugins()["PodTopologySpread"]

    def ask(plugin: Any, p: Pod, n: Node) -> Any:
        return plugin(p, n, snapshot.placement())

    return {
        (p.name, n.name): (
            model.get(partial(ask, spread, p, n)),
            model.get(partial(ask, filters.run, p, n)) == Code.SUCCESS,
        )
        for p in cluster.pods
        if p.name in pods
        for n in cluster.nodes
        if n.name in on
    }


@settings(max_examples=examples(80), deadline=None)
@given(
    st.one_of(
        st.tuples(clusters(CONSTRAINTS), st.sampled_from(["1.23", "1.34"])),
        st.tuples(clusters(NEWER_CONSTRAINTS, tainted=True), st.just("1.34")),
    ),
    st.data(),
)
def test_what_is_kept_counts_as_the_whole_cluster_does(
    tmp_path_factory: pytest.TempPathFactory, asked: tuple[list[dict[str, Any]], str], data: st.DataObject
) -> None:
    """The filters say the same of a kept pod on a kept node as in the whole cluster, whichever of the kept pods are gone;
    and the arithmetic by which a representative is chosen agrees.
    """
    some, release = asked
    found = chosen(data.draw, read(tmp_path_factory.getbasetemp(), *some))
    assume(not list(remarks_of(found)))
    waiting = [p for p in found.pods if p.node is None]
    gone = some_of(data.draw, [p for p in found.pods if p.node is not None])
    assert all(affinity_of(p, found).exact for p in waiting)
    names, on, away = [p.name for p in waiting], [n.name for n in found.nodes], [p.name for p in gone]
    small = parse_scenario(scenario_of(found, "x", "", [])).spec
    expected = said(without(whole(some), away), names, on, release)
    assert said(without(small, away), names, on, release) == expected
    if release == "1.34":
        by_hand = {(p.name, n.name): found.situation.fits(p, n, gone) for p in waiting for n in found.nodes}
        assert by_hand == {place: passes for place, (_, passes) in expected.items()}
