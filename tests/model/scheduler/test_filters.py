"""Filters on concrete placements."""

from podrace.model.environment.objects import Node, Pod, Term
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
