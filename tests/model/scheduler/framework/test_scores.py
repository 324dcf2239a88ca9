"""Scores, against upstream's arithmetic in floating point, made by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from math import floor, log
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.core.interpreter import Interpreter
from podrace.model.environment.cluster.placement_rules import (
    NodeTerm,
    Operator,
    PreferredNodes,
    Requirement,
    Selector,
    SpreadConstraint,
    Taint,
    Toleration,
    Wishes,
)
from podrace.model.environment.objects import Config, Node, Pod, PodObject, Term
from podrace.model.language import TransitionSystem, Universe, as_expr
from podrace.model.language.expressions.errors import ModelError
from podrace.model.language.expressions.expr import Variable, variable
from podrace.model.language.expressions.sorts import INT
from podrace.model.scheduler.framework.float_sums import bits_for, share, weighted
from tests.model.clusters import concrete, spec
from tests.profiles import examples

HOSTNAME, ZONE = "kubernetes.io/hostname", "zone"
WEB, DB = {"app": "web"}, {"app": "db"}
LABELS: Sequence[Mapping[str, str]] = ({}, WEB, DB)


def test_a_share_is_that_of_floating_point():
    for whole, scale in product(range(1, 130), (10, 100)):
        for part in range(whole + 1):
            found = share(as_expr(part), as_expr(whole), scale)
            assert found.value == int(float(scale) * (part / whole)), (part, whole, scale)


def test_a_share_below_the_whole_number_that_it_should_be():
    assert share(as_expr(29), as_expr(100), 100).value == 28


def test_few_binary_places_do():
    assert bits_for((((0, 4), (1, 3)),), True) == 6
    assert bits_for((((0, 12), (1, 4)), ((0, 12), (1, 4))), True) > 3


def test_more_cases_than_are_looked_at():
    with pytest.raises(ModelError, match="soft topology spread constraints have 102060000000 cases"):
        bits_for((((0, 9999), (1, 27)), ((0, 99), (1, 27)), ((0, 6), (1, 20))), True)


# --- topology spread ---------------------------------------------------------------------------------------


def by_hand(
    pod: Pod, pods: Sequence[Pod], on: Sequence[Node], feasible: set[int], leaving: set[int], release: str
) -> dict[str, int]:
    """initPreScoreState, PreScore, Score and NormalizeScore, on plain numbers, for constraints that a pod has itself."""
    at = tuple(int(part) for part in release.split("."))
    asked = pod.wishes.spread
    looked_at = [n for n in on if n.index in feasible and all(c.topology_key in n.labels for c in asked)]

    def matching(constraint: SpreadConstraint, node: Node) -> int:
        if at >= (1, 27) and constraint.selector.empty:
            return 0
        return sum(
            q.node is node and q.index not in leaving and constraint.selector.matches(q.labels) for q in pods
        )

    def included(constraint: SpreadConstraint, node: Node) -> bool:
        if any(c.topology_key not in node.labels for c in asked):
            return False
        repelled = any(not any(t.tolerates(taint) for t in pod.tolerations) for taint in node.taints)
        honors_taints = at >= (1, 26) and constraint.honors_taints
        honors_affinity = at < (1, 26) or constraint.honors_affinity
        return not (honors_taints and repelled) and (not honors_affinity or pod.asks_for(node))

    values = [{n.labels[c.topology_key] for n in looked_at} for c in asked]
    counts: list[dict[str, int]] = [dict.fromkeys(v, 0) for v in values]
    pairs: dict[tuple[str, str], int] = {}
    for constraint, counted in zip(asked, counts, strict=True):
        for node in on:
            if included(constraint, node) and node.labels[constraint.topology_key] in counted:
                key = constraint.topology_key, node.labels[constraint.topology_key]
                counted[key[1]] += matching(constraint, node)
                pairs[key] = pairs.get(key, 0) + matching(constraint, node)
    sizes = []
    for number, constraint in enumerate(asked):
        repeated = constraint.topology_key in [c.topology_key for c in asked[:number]]
        if constraint.topology_key == HOSTNAME:
            sizes.append(len(looked_at))
        else:
            sizes.append(0 if repeated and at < (1, 33) else len(values[number]))

    def raw(node: Node) -> float:
        found = 0.0
        for number, constraint in enumerate(asked):
            value = node.labels[constraint.topology_key]
            if at < (1, 19):
                found += pairs.get((constraint.topology_key, value), 0)
                continue
            if constraint.topology_key == HOSTNAME:
                pods_there = matching(constraint, node)
            elif at < (1, 33):
                pods_there = pairs.get((constraint.topology_key, value), 0)
            else:
                pods_there = counts[number][value]
            found += float(pods_there) * log(sizes[number] + 2) + float(constraint.max_skew - 1)
        return found

    points = {n.name: floor(raw(n) + 0.5) if at >= (1, 24) else int(raw(n)) for n in looked_at}
    result = dict.fromkeys((n.name for n in on if n.index in feasible), 0)
    low, high, everything = (
        min(points.values(), default=0),
        max(points.values(), default=0),
        sum(points.values()),
    )
    for name, score in points.items():
        if at < (1, 19):
            most = everything - low
            result[name] = 100 if most == 0 else int(100.0 * (float(everything - score) / float(most)))
        else:
            result[name] = 100 if high == 0 else 100 * (high + low - score) // high
    return result


CONSTRAINTS = st.builds(
    SpreadConstraint,
    st.sampled_from((HOSTNAME, ZONE)),
    st.sampled_from((Selector(WEB), Selector(DB), Selector({}))),
    st.integers(1, 3),
    honors_affinity=st.booleans(),
    honors_taints=st.booleans(),
)


@pytest.mark.parametrize("release", ["1.18", "1.19", "1.24", "1.27", "1.32", "1.36"])
@settings(max_examples=examples(60), deadline=None)
@given(data=st.data())
def test_spread_scores(release: str, data: st.DataObject) -> None:
    on = []
    for index in range(data.draw(st.integers(1, 4))):
        zone = data.draw(st.sampled_from((None, "a", "b")))
        labels = {
            **({} if zone is None else {ZONE: zone}),
            **data.draw(st.sampled_from(({}, {"disk": "ssd"}))),
        }
        taints = data.draw(st.sampled_from(((), (Taint("spot"),))))
        on.append(Node(index, f"n{index}", 9, labels, taints=taints))
    pods = [
        Pod(i, f"q{i}", 1, labels=data.draw(st.sampled_from(LABELS)), node=data.draw(st.sampled_from(on)))
        for i in range(data.draw(st.integers(0, 5)))
    ]
    wishes = Wishes(data.draw(st.lists(CONSTRAINTS, min_size=1, max_size=2)))
    selector = data.draw(st.sampled_from(({}, {"disk": "ssd"})))
    tolerations = data.draw(st.sampled_from(((), (Toleration(operator="Exists"),))))
    pod = Pod(len(pods), "p", 1, labels=WEB, wishes=wishes, node_selector=selector, tolerations=tolerations)
    feasible = data.draw(st.sets(st.sampled_from(range(len(on))), min_size=1))
    leaving = data.draw(st.sets(st.sampled_from(range(len(pods))))) if pods else set()
    model = concrete(spec([*pods, pod], tuple(on)), release)

    def know() -> None:
        for q in pods:
            if q.index in leaving:
                model.part("cache").update_pod(q, PodObject(exists=True, node=q.node, terminating=True))
        model.part("snapshot").update()

    model.do(know)
    fits = {n: as_expr(n.index in feasible) for n in on}
    scorer, placement = model.part("spread_scores"), model.part("snapshot").placement
    got = model.get(lambda: scorer.scores(pod, fits, placement()))
    found = {n.name: score for n, score in got.items() if n.index in feasible}
    assert found == by_hand(pod, pods, on, feasible, leaving, release)


@pytest.mark.parametrize("half", [False, True])
def test_unknown_counts_and_sizes_come_to_the_same(half: bool) -> None:
    """Which nodes are feasible, and what is on them, is unknown while the model is traced."""
    a, b, m, n = (
        Variable(name, INT, lo, hi, lo)
        for name, lo, hi in (("a", 0, 5), ("b", 0, 5), ("m", 1, 4), ("n", 1, 3))
    )
    found = weighted([(variable(a), variable(m)), (variable(b), variable(n))], half)
    interpreter = Interpreter(TransitionSystem("counts", Universe({}), (a, b, m, n), ()))
    for chosen in product(range(6), range(6), range(1, 5), range(1, 4)):
        exact = chosen[0] * log(chosen[2] + 2) + chosen[1] * log(chosen[3] + 2)
        assert interpreter.evaluate(found, chosen) == floor(exact + (0.5 if half else 0.0))


# --- taints, node affinity, weights ------------------------------------------------------------------------

SPOT, OLD = Taint("spot", effect="PreferNoSchedule"), Taint("old", effect="PreferNoSchedule")


def totals(pod: Pod, pods: Sequence[Pod], on: tuple[Node, ...], release: str, **config: Any) -> list[object]:
    """What each node has in all; all nodes are feasible."""
    model = concrete(spec([pod, *pods], on, config=Config(scored=True, **config)), release)
    model.do(model.part("snapshot").update)
    scorer, snapshot = model.part("scores"), model.part("snapshot")
    fits = dict.fromkeys(on, as_expr(True))
    return list(model.get(lambda: scorer.totals(pod, fits, snapshot.placement())).values())


def test_taints_that_are_a_preference():
    on = (Node(0, "a", 9, taints=[SPOT, OLD]), Node(1, "b", 9, taints=[SPOT]), Node(2, "c", 9))
    with_weight = [3 * score for score in (0, 50, 100)]
    assert totals(Pod(0, "p", 1), [], on, "1.36") == with_weight
    tolerant = Pod(0, "p", 1, tolerations=[Toleration("spot", "Exists")])
    assert totals(tolerant, [], on, "1.36") == [0, 300, 300]
    blind = Pod(0, "p", 1, tolerations=[Toleration("spot", "Exists", effect="NoSchedule")])
    assert totals(blind, [], on, "1.36") == with_weight


def test_preferred_nodes():
    on = tuple(Node(i, f"n{i}", 9, labels) for i, labels in enumerate(({"a": "1"}, {"a": "1", "b": "1"}, {})))
    likes = [PreferredNodes(w, NodeTerm((Requirement(k, Operator.EXISTS),))) for w, k in ((3, "a"), (4, "b"))]
    assert totals(Pod(0, "p", 1, wishes=Wishes(nodes=likes)), [], on, "1.36") == [84, 200, 0]
    assert totals(Pod(0, "p", 1, wishes=Wishes(nodes=likes)), [], on, "1.16") == [4, 10, 0]
    empty = [PreferredNodes(5, NodeTerm())]
    assert totals(Pod(0, "p", 1, wishes=Wishes(nodes=empty)), [], on, "1.36") == [0, 0, 0]


@pytest.mark.parametrize(
    ("release", "config", "expected"),
    [
        ("1.36", {}, [200 + 0 + 200 + 0, 0 + 200 + 0 + 300]),
        ("1.22", {}, [100 + 0 + 100 + 0, 0 + 200 + 0 + 100]),
        ("1.18", {}, [100 + 0 + 100 + 0, 0 + 100 + 0 + 100]),
        ("1.17", {}, [100 + 100, 100]),
        ("1.36", {"score_weights": (("PodTopologySpread", 9), ("NodeAffinity", 0))}, [200, 900 + 300]),
    ],
)
def test_weights(release: str, config: dict[str, Any], expected: list[int]) -> None:
    """Node affinity and inter-pod affinity are for a, topology spread and the taint for b."""
    on = (Node(0, "a", 9, {ZONE: "a"}, taints=[SPOT]), Node(1, "b", 9, {ZONE: "b"}))
    web = Pod(1, "web", 1, labels=WEB, node=on[0])
    likes = PreferredNodes(1, NodeTerm((Requirement(ZONE, Operator.IN, ("a",)),)))
    wishes = Wishes((SpreadConstraint(ZONE, Selector(WEB)),), (likes,))
    p = Pod(0, "p", 1, wishes=wishes, terms=[Term(WEB, ZONE, required=False)])
    assert totals(p, [web], on, release, **config) == expected


def test_default_constraints_ignore_nodes_without_a_zone_up_to_1_22():
    on = tuple(Node(i, f"n{i}", 9, {} if i else {"topology.kubernetes.io/zone": "a"}) for i in range(3))
    webs = [Pod(i, f"web{i}", 1, labels=WEB, node=on[2 if i < 3 else 1]) for i in (1, 2, 3)]
    by_default = [
        SpreadConstraint(key, Selector(WEB), skew, by_default=True)
        for key, skew in ((HOSTNAME, 3), ("topology.kubernetes.io/zone", 5))
    ]
    p = Pod(0, "p", 1, wishes=Wishes(by_default))
    # On n0, which has a zone, nothing is counted: its maxSkews alone are against it.
    assert totals(p, webs, on, "1.36") == [132, 200, 166]
    assert totals(p, webs, on, "1.22") == [200, 0, 0]
    assert totals(p, webs, on, "1.19") == [200, 200, 200]


def test_in_1_18_pods_of_the_node_count_against_it():
    """A constraint about host names: the node without such pods has everything (PodTopologySpread's Score and NormalizeScore, 1.18)."""
    on = (Node(0, "a", 9), Node(1, "b", 9))
    web = Pod(1, "web", 1, labels=WEB, node=on[0])
    p = Pod(0, "p", 1, wishes=Wishes((SpreadConstraint(HOSTNAME, Selector(WEB)),)))
    assert totals(p, [web], on, "1.18") == [0, 100]


def test_two_constraints_of_one_key_had_one_count_up_to_1_32():
    on = (Node(0, "a", 9, {ZONE: "a"}), Node(1, "b", 9, {ZONE: "b"}))
    pods = [Pod(1, "web", 1, labels=WEB, node=on[0]), Pod(2, "db", 1, labels=DB, node=on[1])]
    both = (SpreadConstraint(ZONE, Selector(WEB)), SpreadConstraint(ZONE, Selector(DB), 2))
    p = Pod(0, "p", 1, wishes=Wishes(both))
    assert totals(p, pods, on, "1.36") == totals(p, pods, on, "1.32") == [200, 200]
    twice = replace(both[0], max_skew=2), both[0]
    p = Pod(0, "p", 1, wishes=Wishes((*twice,)))
    assert totals(p, pods, on, "1.36") == [50, 200]
    assert totals(p, pods, on, "1.32") == [40, 200]


def test_a_taint_that_comes_is_scored():
    """A version of a node's object that has another taint."""
    later = Node(0, "a", 9, taints=[SPOT])
    on = (Node(0, "a", 9, later={"spot": later}), Node(1, "b", 9))
    p = Pod(0, "p", 1)
    model = concrete(spec([p], on, config=Config(scored=True), node_updates=1), "1.36")
    model.do(model.part("snapshot").update)
    scorer, placement = model.part("scores"), model.part("snapshot").placement
    assert scorer.plugins(p).keys() == {"TaintToleration", "InterPodAffinity"}
    fits = dict.fromkeys(on, as_expr(True))
    assert list(model.get(partial(lambda: scorer.totals(p, fits, placement()))).values()) == [300, 300]
