"""Filters on concrete placements."""

import pytest

from podrace.model.environment.objects import (
    Node,
    NodeAffinity,
    NodeTerm,
    Operator,
    Pod,
    Requirement,
    Taint,
    Term,
    Toleration,
)
from podrace.model.scheduler.framework.events import default_plugins
from podrace.model.scheduler.framework.status import Code
from tests.model.clusters import concrete, nodes, spec

HOST = "kubernetes.io/hostname"


def verdicts(pods, on, pod):
    model = concrete(spec(pods, on))
    snapshot, filters = model.part("snapshot"), model.part("filters")
    model.do(snapshot.update)

    def fits(node):
        return model.get(lambda: filters.fits_with_nominated(pod, node, snapshot.placement()))

    return [fits(node) for node in on]


def test_requests_must_fit_beside_what_is_there():
    on = nodes(2, 3)
    pods = [Pod(0, "a", 1, node=on[0]), Pod(1, "b", 2)]
    assert verdicts(pods, on, pods[1]) == [False, True]


def test_anti_affinity_works_in_both_directions():
    on = nodes(4, 4)
    term = Term({"app": "x"}, HOST, anti=True)
    own = [Pod(0, "a", 1, node=on[0], labels={"app": "x"}), Pod(1, "b", 1, terms=(term,))]
    assert verdicts(own, on, own[1]) == [False, True]
    theirs = [Pod(0, "a", 1, node=on[0], terms=(term,)), Pod(1, "b", 1, labels={"app": "x"})]
    assert verdicts(theirs, on, theirs[1]) == [False, True]


def test_anti_affinity_spans_the_topology_domain():
    on = (
        Node(0, "n0", 4, {"zone": "east"}),
        Node(1, "n1", 4, {"zone": "east"}),
        Node(2, "n2", 4, {"zone": "west"}),
        Node(3, "n3", 4),
    )
    term = Term({"app": "x"}, "zone", anti=True)
    pods = [Pod(0, "a", 1, node=on[0], labels={"app": "x"}), Pod(1, "b", 1, terms=(term,))]
    assert verdicts(pods, on, pods[1]) == [False, False, True, True]


def test_affinity_needs_a_match_unless_the_pod_is_the_first_of_its_kind():
    on = nodes(4, 4)
    term = Term({"app": "x"}, HOST)
    pods = [Pod(0, "a", 1, node=on[0], labels={"app": "x"}), Pod(1, "b", 1, terms=(term,))]
    assert verdicts(pods, on, pods[1]) == [True, False]
    alone = [Pod(0, "b", 1, labels={"app": "x"}, terms=(term,))]
    assert verdicts(alone, on, alone[0]) == [True, True]
    stranger = [Pod(0, "b", 1, terms=(term,))]
    assert verdicts(stranger, on, stranger[0]) == [False, False]


def test_a_nominated_pod_takes_room_but_satisfies_no_affinity():
    on = nodes(2)
    term = Term({"app": "x"}, HOST)
    nominated = Pod(0, "nominated", 1, 10, labels={"app": "x"})
    small, big, follower = Pod(1, "small", 1, 5), Pod(2, "big", 2, 5), Pod(3, "follower", 1, 5, terms=(term,))
    important = Pod(4, "important", 2, 20)
    model = concrete(spec([nominated, small, big, follower, important], on))
    snapshot, filters = model.part("snapshot"), model.part("filters")
    model.do(snapshot.update)
    model.do(lambda: model.part("nominator").add(nominated, on[0], None))

    def fits(pod):
        return model.get(lambda: filters.fits_with_nominated(pod, on[0], snapshot.placement()))

    assert [fits(p) for p in (small, big, follower, important)] == [True, False, False, True]


def codes(pods, on, pod):
    model = concrete(spec(pods, on))
    snapshot, filters = model.part("snapshot"), model.part("filters")
    model.do(snapshot.update)
    return model.get(lambda: [filters.run(pod, n, snapshot.placement()) for n in on])


def insufficient(pods, node, pod, release="1.36"):
    model = concrete(spec(pods, (node,)), release)
    snapshot, filters = model.part("snapshot"), model.part("filters")
    model.do(snapshot.update)
    found = model.get(lambda: filters.insufficient(pod, node, snapshot.placement()))
    return [resource for resource, lacking in found.items() if lacking]


def test_every_resource_must_fit():
    gpu, local = "example.com/gpu", "gpu"
    node = Node(0, "n", 4, memory=8, ephemeral=2, extended={gpu: 1}, pods=10)
    beside = Pod(0, "a", 1, memory=6, ephemeral=1, node=node)
    asks = [
        (Pod(1, "p", 3, memory=2, ephemeral=1, extended={gpu: 1, local: 9}), []),
        (
            Pod(1, "p", 4, memory=3, ephemeral=2, extended={gpu: 2}),
            ["cpu", "memory", "ephemeral-storage", gpu],
        ),
        (Pod(1, "p", 1, extended={"example.com/other": 1}), ["example.com/other"]),
    ]
    for pod, lacking in asks:
        assert insufficient([beside, pod], node, pod) == lacking


def test_pods_are_counted_even_if_they_ask_for_nothing():
    node = Node(0, "n", 4, pods=1)
    pods = [Pod(0, "a", 0, node=node), Pod(1, "p", 0)]
    assert insufficient(pods, node, pods[1]) == ["pods"]


@pytest.mark.parametrize(("release", "lacking"), [("1.27", ["cpu"]), ("1.28", [])])
def test_116408_an_overcommitted_resource_is_no_matter_to_a_pod_that_does_not_ask_for_it(release, lacking):
    node = Node(0, "n", 1, memory=9)
    beside = Pod(0, "a", 2, node=node)
    for asking, found in ((Pod(1, "p", 0), []), (Pod(1, "p", 0, memory=1), lacking)):
        assert insufficient([beside, asking], node, asking, release) == found


@pytest.mark.parametrize(("release", "lacking"), [("1.25", ["example.com/gpu"]), ("1.26", [])])
def test_111544_a_request_of_nothing_is_not_compared(release, lacking):
    gpu = "example.com/gpu"
    node = Node(0, "n", 9, extended={gpu: 1})
    pods = [Pod(0, "a", 1, extended={gpu: 2}, node=node), Pod(1, "p", 1, extended={gpu: 0})]
    assert insufficient(pods, node, pods[1], release) == lacking


def test_the_first_filter_that_rejects_gives_the_code():
    on = (
        Node(0, "full", 0),
        Node(1, "tainted", 9, taints=[Taint("k", "v")]),
        Node(2, "cordoned", 9, unschedulable=True),
        Node(3, "disliked", 9, taints=[Taint("k", "v", "PreferNoSchedule")]),
    )
    pod = Pod(0, "p", 1)
    assert codes([pod], on, pod) == [Code.UNSCHEDULABLE, Code.UNRESOLVABLE, Code.UNRESOLVABLE, Code.SUCCESS]
    lonely = Pod(0, "p", 1, terms=[Term({"app": "x"}, HOST)])
    assert codes([lonely], nodes(0, 9), lonely) == [Code.UNSCHEDULABLE, Code.UNRESOLVABLE]


def test_tolerations():
    on = (
        Node(0, "tainted", 9, taints=[Taint("k", "v", "NoExecute")]),
        Node(1, "cordoned", 9, unschedulable=True),
    )
    for toleration, expected in (
        (Toleration("k", "Equal", "v"), [Code.SUCCESS, Code.UNRESOLVABLE]),
        (Toleration("k", "Equal", "w"), [Code.UNRESOLVABLE, Code.UNRESOLVABLE]),
        (Toleration("k", "Exists", effect="NoSchedule"), [Code.UNRESOLVABLE, Code.UNRESOLVABLE]),
        (Toleration(operator="Exists"), [Code.SUCCESS, Code.SUCCESS]),
    ):
        pod = Pod(0, "p", 1, tolerations=[toleration])
        assert codes([pod], on, pod) == expected


@pytest.mark.parametrize(
    ("effect", "release", "admits"),
    [
        ("NoSchedule", "1.22", False),
        ("NoSchedule", "1.31", False),
        ("NoExecute", "1.22", False),
        ("NoExecute", "1.23", False),
        ("NoExecute", "1.24", True),
        ("NoExecute", "1.31", True),
    ],
)
def test_which_taints_hide_a_new_node(effect: str, release: str, admits: bool) -> None:
    """preCheckForNode."""
    on, pod = (Node(0, "n", 4, taints=[Taint("k", "v", effect)]),), Pod(0, "p", 1)
    model = concrete(spec([pod], on), release)
    filters, snapshot = model.part("filters"), model.part("snapshot")
    assert model.get(lambda: filters.admits(pod, on[0], snapshot.placement())) is admits


def test_a_cordoned_node_is_tolerated_like_a_taint_without_a_value():
    on, key = (Node(0, "cordoned", 9, unschedulable=True),), "node.kubernetes.io/unschedulable"
    for toleration, expected in (
        (Toleration(key), Code.SUCCESS),
        (Toleration(key, "Exists", effect="NoSchedule"), Code.SUCCESS),
        (Toleration(key, "Equal", "yes"), Code.UNRESOLVABLE),
        (Toleration(key, "Exists", effect="NoExecute"), Code.UNRESOLVABLE),
    ):
        pod = Pod(0, "p", 1, tolerations=[toleration])
        assert codes([pod], on, pod) == [expected]


def test_node_affinity_rejects_for_good_before_resources_are_looked_at():
    on = (Node(0, "east", 0, {"zone": "east"}), Node(1, "west", 9, {"zone": "west"}), Node(2, "full", 0))
    affinity = NodeAffinity((NodeTerm((Requirement("zone", Operator.NOT_IN, ("east",)),)),))
    for pod, expected in (
        (
            Pod(0, "p", 1, node_selector={"zone": "west"}),
            [Code.UNRESOLVABLE, Code.SUCCESS, Code.UNRESOLVABLE],
        ),
        (Pod(0, "p", 1, node_affinity=affinity), [Code.UNRESOLVABLE, Code.SUCCESS, Code.UNSCHEDULABLE]),
    ):
        assert codes([pod], on, pod) == expected


def test_the_filters_run_in_the_order_of_1_22_and_are_those_that_register_events():
    filters = concrete(spec([Pod(0, "p", 1)], nodes(1))).part("filters")
    names = [
        "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity",
    ]  # fmt: skip
    assert list(filters.plugins()) == names
    assert [p.name for p in default_plugins(ports=True)] == names


def test_one_pod_must_match_all_affinity_terms():
    on = (Node(0, "n", 9, {"zone": "a"}),)
    terms = [Term({"app": "x"}, "zone"), Term({"tier": "y"}, "zone")]
    apart = [
        Pod(0, "a", 1, node=on[0], labels={"app": "x"}),
        Pod(1, "b", 1, node=on[0], labels={"tier": "y"}),
        Pod(2, "p", 1, terms=terms),
    ]
    assert verdicts(apart, on, apart[2]) == [False]
    together = [Pod(0, "a", 1, node=on[0], labels={"app": "x", "tier": "y"}), Pod(1, "p", 1, terms=terms)]
    assert verdicts(together, on, together[1]) == [True]


def test_terms_are_about_the_namespace_of_their_pod():
    on = nodes(9)
    there = Pod(0, "a", 1, node=on[0], labels={"app": "x"}, namespace="other")
    for namespaces, fits in (((), True), (("other",), False)):
        term = Term({"app": "x"}, HOST, anti=True, namespaces=namespaces)
        pods = [there, Pod(1, "p", 1, terms=[term], namespace="mine")]
        assert verdicts(pods, on, pods[1]) == [fits]


@pytest.mark.parametrize(
    ("release", "code"),
    [
        ("1.33", Code.UNSCHEDULABLE),
        ("1.33.13", Code.UNSCHEDULABLE),
        ("1.34", Code.UNRESOLVABLE),
        ("1.36", Code.UNRESOLVABLE),
    ],
)
def test_no_eviction_helps_a_pod_that_asks_for_more_than_the_node_has(release, code):
    """Fit.Filter: one resource that can never suffice decides, whatever else is short; too many pods never do."""
    on = (Node(0, "small", 1), Node(1, "full", 2), Node(2, "crowded", 2, pods=0), Node(3, "both", 1, pods=0))
    pods = [Pod(0, "x", 1, node=on[1]), Pod(1, "p", 2)]
    model = concrete(spec(pods, on), release)
    snapshot, filters = model.part("snapshot"), model.part("filters")
    model.do(snapshot.update)
    said = model.get(lambda: [filters.node_resources(pods[1], n, snapshot.placement()) for n in on])
    assert said == [code, Code.UNSCHEDULABLE, Code.UNSCHEDULABLE, code]


@pytest.mark.parametrize(("release", "seen"), [("1.26", True), ("1.27", False), ("1.36", False)])
@pytest.mark.parametrize("asked", [False, True])
def test_terms_of_nominated_pods_are_seen_only_where_the_snapshot_has_such_terms(
    release: str, seen: bool, asked: bool
) -> None:
    on = nodes(4, 4)
    term = Term({"app": "x"}, HOST, anti=True)
    pods = [
        Pod(0, "p", 1, 10, terms=(term,)),
        Pod(1, "q", 1, labels={"app": "x"}),
        Pod(2, "r", 1, node=on[1], terms=(term,) if asked else ()),
    ]
    model = concrete(spec(pods, on), release)
    snapshot, filters, nominator = (model.part(name) for name in ("snapshot", "filters", "nominator"))
    model.do(snapshot.update)
    model.do(lambda: nominator.add(pods[0], on[0], None))
    passes = model.get(lambda: filters.fits_with_nominated(pods[1], on[0], snapshot.placement()))
    assert passes == (not seen and not asked)
