"""PodTopologySpread, against the same counts made by hand."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.model.environment.cluster.placement_rules import Selector, SpreadConstraint, Taint, Toleration
from podrace.model.environment.cluster.pod_versions import PodChange
from podrace.model.environment.objects import Node, Pod, PodObject
from podrace.model.scheduler.framework.events import (
    ASSIGNED_POD_DELETE,
    NODE_ADD,
    NODE_DELETE,
    NOMINATED_POD_GONE,
    WAITING_POD_GONE,
    Plugin,
    PodUpdate,
    default_plugins,
)
from podrace.model.scheduler.framework.status import Code
from tests.model.clusters import concrete, spec
from tests.profiles import examples

WEB = {"app": "web"}
TAINT = Taint("dedicated")
ZONES = (None, "east", "west", "north")
LABELS: tuple[dict[str, str], ...] = ({}, WEB, {"app": "db"})


def codes(pods: list[Pod], on: tuple[Node, ...], leaving: set[int], release: str = "1.34") -> list[Code]:
    """What the filter says of the last pod on each node."""
    model = concrete(spec(pods, on), release)
    filters, snapshot = model.part("filters"), model.part("snapshot")

    def know() -> None:
        for pod in pods:
            if pod.index in leaving:
                told = PodObject(exists=True, node=pod.node, terminating=True)
                model.part("cache").update_pod(pod, told)
        snapshot.update()

    model.do(know)
    plugin = filters.plugins().get("PodTopologySpread")
    if plugin is None:
        return []
    return [model.get(partial(_said, plugin, pods[-1], n, snapshot)) for n in on]


def _said(plugin: Any, pod: Pod, node: Node, snapshot: Any) -> Any:
    return plugin(pod, node, snapshot.placement())


def by_hand(pods: list[Pod], on: tuple[Node, ...], leaving: set[int]) -> list[Code]:
    """Upstream's words (calPreFilterState and Filter, 1.34), on plain numbers."""
    pod = pods[-1]
    keyed = [n for n in on if all(c.topology_key in n.labels for c in pod.spread)]
    found = []
    for node in on:
        code = Code.SUCCESS
        for c in pod.spread:
            if c.topology_key not in node.labels:
                code = Code.UNRESOLVABLE
                break
            counting = [
                n
                for n in keyed
                if (pod.asks_for(n) or not c.honors_affinity)
                and not (n.taints and c.honors_taints and not pod.tolerations)
            ]
            matches: Counter[str] = Counter({n.labels[c.topology_key]: 0 for n in counting})
            for value, number in c.others.items():
                matches[value] = 0 if c.selector.empty else number
            for q in pods[:-1]:
                if q.node is None or q.node not in counting or q.index in leaving:
                    continue
                if q.namespace == pod.namespace and not c.selector.empty and c.selector.matches(q.labels):
                    matches[q.node.labels[c.topology_key]] += 1
            least = 0 if len(matches) < c.min_domains else min(matches.values(), default=1 << 31)
            own = int(c.selector.matches(pod.labels))
            if matches.get(node.labels[c.topology_key], 0) + own - least > c.max_skew:
                code = Code.UNSCHEDULABLE
                break
        found.append(code)
    return found


@st.composite
def clusters(draw: Any) -> tuple[list[Pod], tuple[Node, ...], set[int]]:
    """A few nodes in zones, bound pods, some of which terminate, and a pod with constraints."""
    zones = draw(st.lists(st.sampled_from(ZONES), min_size=1, max_size=4))
    taints = st.sampled_from(([], [], [TAINT]))
    on = tuple(
        Node(i, f"n{i}", 9, {} if z is None else {"zone": z}, taints=draw(taints))
        for i, z in enumerate(zones)
    )
    pods = [
        Pod(
            i, f"p{i}", 1, node=draw(st.sampled_from(on)), labels=draw(st.sampled_from(LABELS)),
            namespace=draw(st.sampled_from(("default", "other"))),
        )
        for i in range(draw(st.integers(0, 5)))
    ]  # fmt: skip
    keys = st.sampled_from(("zone", "kubernetes.io/hostname"))
    selectors = st.sampled_from((Selector(WEB), Selector({"app": "db"}), Selector(), Selector(nothing=True)))
    others = st.dictionaries(st.sampled_from(("east", "west", "far")), st.integers(0, 3), max_size=3)
    constraint = st.builds(
        SpreadConstraint,
        keys,
        selectors,
        st.integers(1, 2),
        others,
        st.integers(1, 3),
        st.booleans(),
        st.booleans(),
    )
    pod = Pod(
        len(pods), "last", 1, labels=draw(st.sampled_from(LABELS)),
        spread=draw(st.lists(constraint, min_size=1, max_size=2)),
        node_selector=draw(st.sampled_from(({}, {"zone": "east"}))), tolerations=draw(st.sampled_from(((), (Toleration(operator="Exists"),)))),
    )  # fmt: skip
    return (
        [*pods, pod],
        on,
        draw(st.sets(st.integers(0, max(0, len(pods) - 1)), max_size=2)) & {*range(len(pods))},
    )


@settings(max_examples=examples(60), deadline=None)
@given(clusters())
def test_it_counts_as_upstream_does(cluster: tuple[list[Pod], tuple[Node, ...], set[int]]) -> None:
    pods, on, leaving = cluster
    assert codes(pods, on, leaving) == by_hand(pods, on, leaving)


@pytest.mark.parametrize(("first", "code"), [("zone", Code.UNSCHEDULABLE), ("rack", Code.UNRESOLVABLE)])
def test_the_first_constraint_that_fails_says_why(first: str, code: Code) -> None:
    """The node lacks the key of one constraint, and would be too full by the other: a victim helps only with this one."""
    other = {"zone": "rack", "rack": "zone"}[first]
    spread = tuple(SpreadConstraint(key, Selector(WEB), 1, {"west": 0, "east": 1}) for key in (first, other))
    on = (Node(0, "e", 4, {"zone": "east"}), Node(1, "w", 4, {"zone": "west", "rack": "west"}))
    assert codes([Pod(0, "p", 1, labels=WEB, spread=spread)], on, set()) == [code, Code.SUCCESS]


@pytest.mark.parametrize(
    ("selector", "release", "there"),
    [
        (Selector(), "1.26", Code.UNSCHEDULABLE),
        (Selector(), "1.27", Code.UNSCHEDULABLE),
        (Selector(), "1.36", Code.UNSCHEDULABLE),
        (Selector(nothing=True), "1.36", Code.SUCCESS),
    ],
)
def test_an_empty_selector_counts_nominated_pods(selector: Selector, release: str, there: Code) -> None:
    """AddPod asks the selector alone (updateWithPod); that an empty one counts nobody is in countPodsMatchSelector only."""
    on = (Node(0, "e", 4, {"zone": "east"}), Node(1, "w", 4, {"zone": "west"}))
    q = Pod(0, "q", 1, 10)
    p = Pod(1, "p", 1, labels=WEB, spread=(SpreadConstraint("zone", selector),))
    model = concrete(spec([q, p], on), release)
    filters, snapshot = model.part("filters"), model.part("snapshot")
    model.do(snapshot.update)
    model.do(lambda: model.part("nominator").add(q, on[0], None))
    said = model.get(lambda: [filters.run_with_nominated(p, n, snapshot.placement()) for n in on])
    assert said == [there, Code.SUCCESS]


def east_and_west(constraint: SpreadConstraint) -> tuple[list[Pod], tuple[Node, ...]]:
    on = (Node(0, "e", 4, {"zone": "east"}), Node(1, "w", 4, {"zone": "west"}))
    return [Pod(0, "x", 1, node=on[0], labels=WEB), Pod(1, "p", 1, labels=WEB, spread=(constraint,))], on


def test_the_emptiest_domain_counts() -> None:
    pods, on = east_and_west(SpreadConstraint("zone", Selector(WEB)))
    assert codes(pods, on, set()) == [Code.UNSCHEDULABLE, Code.SUCCESS]
    assert codes(pods, on, {0}) == [Code.SUCCESS, Code.SUCCESS], "a pod that terminates is not counted"


def test_an_empty_selector_counted_everybody_up_to_1_26() -> None:
    pods, on = east_and_west(SpreadConstraint("zone", Selector()))
    assert codes(pods, on, set(), "1.27") == [Code.SUCCESS, Code.SUCCESS]
    assert codes(pods, on, set(), "1.26") == [Code.UNSCHEDULABLE, Code.SUCCESS]


YES, NO = Code.SUCCESS, Code.UNSCHEDULABLE


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ({}, [YES, YES]),
        ({"west": 1}, [YES, NO]),
        ({"west": 1, "east": 1}, [YES, YES]),
        ({"west": 1, "east": 1, "far": 0}, [NO, NO]),
        ({"west": 7, "far": 1}, [YES, NO]),
    ],
)
def test_pods_that_are_no_part_of_the_cluster_are_counted(
    others: dict[str, int], expected: list[Code]
) -> None:
    on = (Node(0, "e", 4, {"zone": "east"}), Node(1, "w", 4, {"zone": "west"}))

    def said(selector: Selector, release: str) -> list[Code]:
        constraint = SpreadConstraint("zone", selector, 1, others)
        return codes([Pod(0, "p", 1, labels=WEB, spread=(constraint,))], on, set(), release)

    assert said(Selector(WEB), "1.34") == expected
    assert said(Selector(), "1.26") == expected
    assert said(Selector(), "1.27") == [YES, YES], "an empty selector counts nobody"


@pytest.mark.parametrize(("release", "there"), [("1.15", False), ("1.18", True), ("1.34", True)])
def test_constraints_are_looked_at_from_1_18_on(release: str, there: bool) -> None:
    pods, on = east_and_west(SpreadConstraint("zone", Selector(WEB)))
    assert bool(codes(pods, on, set(), release)) is there


def test_hints() -> None:
    pods, on = east_and_west(SpreadConstraint("zone", Selector(WEB)))
    other, elsewhere = Pod(2, "o", 1, labels={"app": "db"}), Pod(3, "f", 1, labels=WEB, namespace="far")
    bare = Node(2, "bare", 4)
    model = concrete(spec([*pods, other, elsewhere], (*on, bare)), "1.34")
    hints, p = model.part("hints"), pods[1]
    (spread,) = (plugin for plugin in default_plugins() if plugin.name == "PodTopologySpread")

    def wakes(event: Any, about: Any) -> bool:
        return bool(model.get(lambda: hints.wakes(spread, p, event, about)))

    assert [wakes(ASSIGNED_POD_DELETE, q) for q in (pods[0], other, elsewhere)] == [True, False, False]
    assert [wakes(NODE_DELETE, n) for n in (*on, bare)] == [True, True, False]
    assert [wakes(NODE_ADD, n) for n in (*on, bare)] == [True, True, False]
    assert not wakes(WAITING_POD_GONE, None), "the pod had no node at the API server"
    assert [wakes(WAITING_POD_GONE, q) for q in (p, pods[0])] == [True, False], "of itself it always hears"


@pytest.mark.parametrize(
    ("release", "of_others"),
    [("1.32", False), ("1.34", False), ("1.35", False), ("1.36", True)],
)
def test_a_pod_hears_of_its_own_nomination_in_any_release(release: str, of_others: bool) -> None:
    """involvedInTopologySpreading: the very pod that waits counts, with or without a node."""
    pods, on = east_and_west(SpreadConstraint("zone", Selector(WEB)))
    model = concrete(spec(pods, on), release)
    hints, p = model.part("hints"), pods[1]
    (spread,) = (plugin for plugin in default_plugins() if plugin.name == "PodTopologySpread")
    woken = [
        bool(model.get(partial(hints.wakes, spread, p, NOMINATED_POD_GONE, about))) for about in (p, pods[0])
    ]
    assert woken == [True, of_others]


@pytest.mark.parametrize(("release", "counts"), [("1.36", True), ("1.37", False)])
def test_up_to_1_36_a_deletion_of_the_pod_itself_counts_without_a_node(release: str, counts: bool) -> None:
    """From 1.37 on involvedInTopologySpreading asks for a node, or a nomination, of the pod itself as well (135905)."""
    pods, on = east_and_west(SpreadConstraint("zone", Selector(WEB)))
    model = concrete(spec(pods, on), release)
    hints, p = model.part("hints"), pods[1]
    (spread,) = (plugin for plugin in default_plugins() if plugin.name == "PodTopologySpread")
    assert bool(model.get(partial(hints.wakes, spread, p, WAITING_POD_GONE, p))) is counts
    assert model.get(partial(hints.wakes, spread, p, NOMINATED_POD_GONE, p))


@pytest.mark.parametrize(
    ("constraint", "release", "there"),
    [
        # Two zones, and one pod of the kind in the first.
        ({"min_domains": 3}, "1.27", Code.UNSCHEDULABLE),
        ({"min_domains": 3, "max_skew": 2}, "1.27", Code.SUCCESS),
        ({"honors_taints": True}, "1.26", Code.SUCCESS),
        ({"honors_taints": True}, "1.25", Code.UNSCHEDULABLE),
        ({"honors_taints": True, "min_domains": 2}, "1.27", Code.UNSCHEDULABLE),
        ({"honors_taints": True, "min_domains": 2}, "1.26", Code.SUCCESS),
    ],
)
def test_how_nodes_and_domains_count(constraint: dict[str, Any], release: str, there: Code) -> None:
    on = (Node(0, "e", 4, {"zone": "east"}), Node(1, "w", 4, {"zone": "west"}, taints=[TAINT]))
    spread = (SpreadConstraint("zone", Selector(WEB), **constraint),)
    pods = [Pod(0, "q", 1, labels=WEB, node=on[0]), Pod(1, "p", 1, labels=WEB, spread=spread)]
    assert codes(pods, on, set(), release)[0] is there


@pytest.mark.parametrize(("release", "there"), [("1.25", Code.SUCCESS), ("1.26", Code.UNSCHEDULABLE)])
def test_nodes_that_the_pod_does_not_ask_for_count_if_the_constraint_says_so(
    release: str, there: Code
) -> None:
    on = (Node(0, "e", 4, {"zone": "east"}), Node(1, "w", 4, {"zone": "west"}))
    spread = (SpreadConstraint("zone", Selector(WEB), honors_affinity=False),)
    pods = [
        Pod(0, "q", 1, labels=WEB, node=on[0]),
        Pod(1, "p", 1, labels=WEB, spread=spread, node_selector={"zone": "east"}),
    ]
    assert codes(pods, on, set(), release)[0] is there


@pytest.mark.parametrize(("honors", "wakes"), [(False, False), (True, True)])
def test_a_toleration_wakes_a_pod_whose_constraint_counts_nodes_by_their_taints(
    honors: bool, wakes: bool
) -> None:
    """isSchedulableAfterPodChange (127447)."""
    spread = (SpreadConstraint("zone", Selector(WEB), honors_taints=honors),)
    old = Pod(0, "p", 1, spread=spread)
    old.later = {"new": Pod(0, "p", 1, spread=spread, tolerations=[Toleration(operator="Exists")])}
    old.later["new"].number = 1
    model = concrete(spec([old], (Node(0, "e", 4),), pod_updates=1), "1.36")
    hints = model.part("hints")
    (plugin,) = (p for p in hints.universe[Plugin] if p.name == "PodTopologySpread")
    (kind,) = (k for k in hints.universe[PodUpdate] if k.name == "PodTolerationChange")
    change = PodChange(old, old.later["new"], False)
    assert model.get(lambda: hints.wakes(plugin, old, kind.event, change)) is wakes
