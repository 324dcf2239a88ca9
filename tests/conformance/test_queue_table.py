"""The queue's conformance runner, on cases of our own in tests/conformance."""

import json
from copy import deepcopy
from pathlib import Path

import pytest

from podrace.model.scheduler.framework.events import Action
from tests.conformance.cases.cases import applies
from tests.conformance.queue import cast as queue_words
from tests.conformance.queue import order_backoff
from tests.conformance.queue import tables as queue
from tests.conformance.queue.numbered import Timing

FOLDER = Path(__file__).parents[1] / "conformance"


def cases(table):
    return json.loads((FOLDER / f"{table}.json").read_text())["cases"]


def releases(case):
    return [r for r in ("1.13", "1.15", "1.19", "1.20", "1.21", "1.22", "1.24") if applies(case, r)]


@pytest.mark.parametrize("case", cases("queue"), ids=lambda c: c["id"])
def test_queue(case):
    # The tables state what priority queues with a backoff do; applies_to says since when.
    played = {r: queue.run(case, r) for r in releases(case) if r != "1.13"}
    assert {r: outcome.reason for r, outcome in played.items()} == dict.fromkeys(played, "")
    assert {outcome.status for outcome in played.values()} == {"PASS"}


@pytest.mark.parametrize("case", cases("order_backoff"), ids=lambda c: c["id"])
def test_order_and_backoff(case):
    assert {r: order_backoff.run(case, r).reason for r in releases(case)} == dict.fromkeys(releases(case), "")


def by_id(name):
    return deepcopy(next(c for c in cases("queue") if c["id"] == name))


def test_a_release_outside_the_bounds_is_skipped():
    assert queue.run(by_id("activate"), "1.21").status == "SKIP"


@pytest.mark.parametrize(
    ("name", "at", "change", "reason"),
    [
        ("priority-first", 3, {"expect": "low"}, "next is team/high, expected team/low"),
        ("delete", -1, {"counts": [1, 0, 0]}, "counts: [0, 0, 0], expected [1, 0, 0]"),
        ("nominations", 2, {"nominated": {"n1": ["low", "highN"]}}, "nominated: "),
        ("update-unknown", 3, {"active": ["high"]}, "active holds another version of high"),
        ("attempts", 2, {"expect_attempts": 2}, "attempts: 1, expected 2"),
        ("attempts", 2, {"expect_initial_attempt": 0}, "initial attempt: "),
        ("requeue-twice", 1, {"expect_error": False}, "an error: True, expected False"),
        (
            "backoff-flow",
            5,
            {"seconds": 3},
            "remaining backoff of team/low in ns: 1000000000, expected 3000000000",
        ),
        ("precheck", 6, {"backoff_order": ["high", "mid"]}, "ends of backoff: "),
        ("priority-first", 2, {"active_order": ["low", "high"]}, "low does not leave active at its turn"),
    ],
)
def test_a_wrong_expectation_fails_and_says_where(name, at, change, reason):
    case = by_id(name)
    case["ops"][at].update(change)
    outcome = queue.run(case, "1.22")
    assert outcome.status == "FAIL"
    number = at % len(case["ops"])
    assert outcome.reason.startswith(f"operation {number} ({case['ops'][at]['op']}): {reason}")


def test_a_parameter_that_is_null_is_as_if_absent():
    case = by_id("delete")
    case["params"] = dict.fromkeys(
        [
            "start_cycle",
            "start_move_request_cycle",
            "initial_backoff_s",
            "max_in_unschedulable_s",
            "queueing_hints",
        ]
    )
    assert queue.run(case, "1.22").reason == ""


def test_wrong_counts_by_cause_fail():
    case = by_id("entries-by-cause")
    case["expected_incoming"][0]["count"] = 2
    assert queue.run(case, "1.22").reason.startswith("entries by cause: ")


def test_a_wrong_event_match_fails():
    case = by_id("match-all")
    case["expected_match"] = False
    assert queue.run(case, "1.22").reason == "NodeTaintChange: True, expected False"


@pytest.mark.parametrize(
    ("registered", "event", "matches"),
    [
        (("*", "update_node_label"), ("Pod", "update_node_label"), {"1.30", "1.33", "1.34", "1.36"}),
        (("*", "add"), ("Pod", "delete"), set()),
        (("Node", "update_node_label"), ("Node", "update"), {"1.22", "1.29", "1.30", "1.33"}),
        (("Pod", "update"), ("Pod", "update_pod_label"), {"1.22", "1.29", "1.30", "1.33", "1.34", "1.36"}),
        (("Pod", "update_pod_label"), ("UnschedulablePod", "update_pod_toleration"), set()),
    ],
)
def test_what_matches_what_was_registered_depends_on_the_release(registered, event, matches):
    first, second = (dict(zip(("resource", "action"), said, strict=True)) for said in (registered, event))
    case = {
        "id": "m", "kind": "event_match", "unschedulable_plugins": ["p"], "event": {"name": "e", **second},
        "registrations": [{"event": {"name": "r", **first}, "plugins": ["p"]}], "expected_match": True,
    }  # fmt: skip
    releases = ("1.22", "1.29", "1.30", "1.33", "1.34", "1.36")
    assert {release for release in releases if queue.run(case, release).status == "PASS"} == matches


@pytest.mark.parametrize(
    ("release", "untried", "first"), [("1.31", 5, 5), ("1.32", 0, 5), ("1.33", 0, 5), ("1.34", 0, 3)]
)
def test_backoffs_of_who_was_not_tried_and_of_the_first_attempt(release, untried, first):
    case = {"id": "b", "kind": "backoff", "initial_ns": 5, "max_ns": 3}
    for attempts, expected in ((0, untried), (1, first), (2, 3)):
        told = {**case, "attempts": attempts, "expected_ns": expected}
        assert order_backoff.run(told, release).reason == ""
        assert order_backoff.run({**told, "expected_ns": 9}, release).status == "FAIL"


@pytest.mark.parametrize(
    ("op", "reason"),
    [
        ({"op": "dance"}, ": there is no operation dance"),
        ({"op": "expect", "joy": 1}, " (expect): expectation joy"),
        ({"op": "advance", "seconds": "a while"}, " (advance): time span a while"),
        ({"op": "add"}, " (add) has no 'pod'"),
        ({"op": "add", "pod": "low", "expect_error": True}, " (add): nobody compares expect_error"),
        ({"op": "add", "pod": "nobody"}, " (add): there is no pod nobody"),
        ({"op": "add", "pod": "$nobody"}, " (add): there is no pod $nobody"),
        ({"op": "put_raw", "queue": "attic", "pod": "low"}, " (put_raw): there is no queue attic"),
        ({"op": "move_all", "event": {"name": "x", "resource": "Node", "action": "sing"}}, ": action sing"),
        (
            {"op": "move_all", "event": "test", "precheck": {"tall": True}},
            " (move_all): precheck tall is none of min, max, above, below, even, odd, parity, multiple_of, negative, never, mod_2",
        ),
        ({"op": "move_all", "event": "test", "precheck": "even"}, " (move_all): precheck even"),
        ({"op": "add_unschedulable", "pod": "low", "cycle": "saved:x"}, ": there is no cycle saved:x"),
        ({"op": "expect_backoff_remaining"}, " (expect_backoff_remaining): 0 times instead of one"),
    ],
)
def test_what_the_runner_does_not_know_fails_and_says_where(op, reason):
    case = by_id("delete")
    case["ops"].append(op)
    outcome = queue.run(case, "1.22")
    assert outcome.status == "FAIL"
    assert outcome.reason.startswith(f"not translated: operation {len(case['ops']) - 1}")
    assert outcome.reason.endswith(reason)


@pytest.mark.parametrize(
    ("precheck", "admitted"),
    [
        ({"min_priority": 2}, [2, 3, 4]),
        ({"min_priority": 2, "even": True}, [2, 4]),
        ({"even_priority": True, "max_priority": -1}, [-2]),
        ({"parity": "odd", "below": 2}, [-1, 1]),
        ({"priority_multiple_of": 3, "note": "by threes"}, [0, 3]),
        ({"modulo": [2, 1], "above": 0}, [1, 3]),
        ({"negative": True}, [-2, -1]),
        ({"negative_only": True}, [-2, -1]),
        ({"even_only": True, "negative_only": True}, [-2]),
        ({"never": True}, []),
        ({"never": False, "min_priority": 4}, [4]),
        ({"priority_mod_2": 0, "min_priority": 2}, [2, 4]),
        ({"mod_3": 1}, [-2, 1, 4]),
    ],
)
def test_admission_checks(precheck, admitted):
    assert [p for p in range(-2, 5) if queue_words.admits(precheck, p)] == admitted


@pytest.mark.parametrize(
    ("said", "span"),
    [
        (1.5, 1_500_000_000),
        ("max_in_unschedulable", 60_000_000_000),
        ("max_in_unschedulable+1", 61_000_000_000),
        ("max_in_unschedulable+1ns", 60_000_000_001),
        ("initial_backoff+1ms", 1_001_000_000),
        ("max_backoff", 10_000_000_000),
    ],
)
def test_spans_of_time(said, span):
    assert queue_words.time_span(said, Timing()) == span


@pytest.mark.parametrize(
    ("action", "same"),
    [
        ("add", "ADD"),
        ("all", "ALL"),
        ("update node taint", "UPDATE_NODE_TAINT"),
        ("updateNodeTaint", "UPDATE_NODE_TAINT"),
        ("taint", "UPDATE_NODE_TAINT"),
        ("update", "UPDATE"),
        ("none", "NONE"),
        (None, "NONE"),
    ],
)
def test_actions(action, same):
    event = queue_words.event_of({"name": "Change", "resource": "Node", "action": action})
    assert event.action == Action[same]


def test_a_known_event_needs_no_action_that_is_known():
    event = {"name": "NodeTaintChange", "resource": "Node", "action": "repaint"}
    assert queue_words.event_of(event).action == Action.UPDATE_NODE_TAINT


def failing(hints, *, plugins=("Fit",), event="NodeAdd", registered="NodeAdd"):
    """A pod is popped, an event comes, and the attempt fails."""
    params = {} if hints is None else {"queueing_hints": hints}
    return {
        "id": "failing", "kind": "ops", "params": params, "pods": {"p": {"name": "p"}},
        "registrations": [{"event": registered, "plugins": ["Fit"]}],
        "ops": [
            {"op": "add", "pod": "p"}, {"op": "pop", "expect": "p"}, {"op": "move_all", "event": event},
            {"op": "add_unschedulable", "pod": "p", "cycle": "current", "unschedulable_plugins": list(plugins)},
        ],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("hints", "told", "parked"),
    [
        (True, {}, False),
        # With the gate on, an event counts that a rejecting plugin registered; off, any move does.
        (True, {"event": "PvAdd"}, True),
        (False, {"event": "PvAdd"}, False),
        (None, {"event": "PvAdd"}, False),
        # Nobody rejected the pod: an error, which is retried from 1.29 on.
        (True, {"plugins": (), "event": "PvAdd"}, False),
        (True, {"registered": {"name": "x", "resource": "Node", "action": "add"}}, False),
    ],
)
def test_the_gate_decides_what_counts_for_a_pod_in_flight(hints, told, parked):
    case = failing(hints, **told)
    expected = {"unschedulable": ["p"]} if parked else {"backoff": ["p"]}
    case["ops"].append({"op": "expect", **expected})
    assert queue.run(case, "1.36.3").reason == ""


@pytest.mark.parametrize(("hints", "place"), [(None, "unschedulable"), (False, "backoff"), (True, "backoff")])
def test_an_error_is_retried_if_the_case_tells_of_the_gate(hints, place):
    case = failing(hints, plugins=())
    del case["ops"][2]
    case["ops"].append({"op": "expect", place: ["p"]})
    assert queue.run(case, "1.36.3").reason == ""


ASSIGNED = {"name": "AssignedPodAdd", "resource": "AssignedPod", "action": "add"}
UPDATED = {"name": "x", "resource": "UnschedulablePod", "action": "update"}
SMALLER = {"name": "AssignedPodUpdate", "resource": "AssignedPod", "action": "UPDATE_POD_SCALE_DOWN"}
SPREAD = [{"maxSkew": 1, "topologyKey": "zone", "labelSelector": None}]


@pytest.mark.parametrize(
    ("registered", "plugin", "call", "woken"),
    [
        (ASSIGNED, "PodTopologySpread", {"op": "assigned_pod_added", "pod": "other"}, True),
        (ASSIGNED, "NodeResourcesFit", {"op": "assigned_pod_added", "pod": "other"}, False),
        (UPDATED, "NodeResourcesFit", {"op": "update", "old": "p", "new": "q"}, True),
        (ASSIGNED, "NodeResourcesFit", {"op": "update", "old": "p", "new": "q"}, False),
        # What becomes free concerns every pod, any other change only those that look at other nodes' pods.
        (SMALLER, "NodeResourcesFit", {"op": "assigned_pod_updated", "new": "other", "event": SMALLER}, True),
        (ASSIGNED, "NodeResourcesFit", {"op": "assigned_pod_updated", "pod": "other"}, False),
    ],
)
def test_plugins_want_what_they_registered(registered, plugin, call, woken):
    pod = {"name": "p", "topologySpreadConstraints": SPREAD}
    case = {
        "id": "stub", "kind": "ops", "params": {"queueing_hints": True},
        "pods": {"p": pod, "q": {**pod, "annotations": {"a": "b"}}, "other": {"name": "other", "nodeName": "n"}},
        "registrations": [{"event": registered, "plugins": [plugin]}],
        "ops": [
            {"op": "add", "pod": "p"}, {"op": "pop", "expect": "p"},
            {"op": "add_unschedulable", "pod": "p", "cycle": "current", "unschedulable_plugins": [plugin]},
            call, {"op": "expect", "counts": [0, 1, 0] if woken else [0, 0, 1]},
        ],
    }  # fmt: skip
    assert queue.run(case, "1.36.3").reason == ""


@pytest.mark.parametrize("more", [{}, {"r": {"name": "r", "topologySpreadConstraints": SPREAD}}])
def test_labels_may_change(more):
    pods = {"p": {"name": "p", "labels": {"a": "1"}}, "q": {"name": "p", "labels": {"a": "2"}}, **more}
    ops = [{"op": "add", "pod": "p"}, {"op": "update", "old": "p", "new": "q"}, {"op": "pop", "expect": "q"}]
    assert queue.run({"id": "c", "kind": "ops", "pods": pods, "ops": ops}, "1.22").reason == ""


def test_affinity_may_not():
    pods = {"p": {"name": "p"}, "q": {"name": "p", "topologySpreadConstraints": SPREAD}}
    case = {"id": "c", "kind": "ops", "pods": pods, "ops": [{"op": "add", "pod": "p"}]}
    assert queue.run(case, "1.22").reason == "not translated: versions of p that differ in affinity"


def played(pods, *ops, **more):
    return queue.run({"id": "c", "kind": "ops", "pods": pods, "ops": list(ops), **more}, "1.22").reason


FIRST = {"name": "a", "uid": "1", "nominatedNodeName": "x"}
AGAIN = {"name": "a", "uid": "2", "nominatedNodeName": "y"}
TWIN = {"name": "b", "uid": "1", "nominatedNodeName": "x"}


def test_a_pod_of_the_same_name_takes_the_place_in_the_queue_and_not_the_nomination():
    ops = [
        {"op": "add", "pod": "first"}, {"op": "add", "pod": "again"},
        {"op": "expect", "active": ["again"], "nominated": {"x": ["first"], "y": ["again"]}},
    ]  # fmt: skip
    pods = {"first": FIRST, "again": AGAIN}
    assert played(pods, *ops) == ""
    ops[-1] = {"op": "expect", "nominated": {"y": ["again"]}}
    assert (
        played(pods, *ops)
        == "operation 2 (expect): nominated: {'x': ['a'], 'y': ['a (2)']}, expected {'y': ['a (2)']}"
    )


def test_an_update_to_another_uid_takes_the_nomination_along():
    ops = [{"op": "add", "pod": "first"}, {"op": "update", "old": "first", "new": "again"}]
    expected = {"op": "expect", "active": ["again"], "nominated": {"y": ["again"]}}
    assert played({"first": FIRST, "again": AGAIN}, *ops, expected) == ""


def test_two_pods_of_one_uid_share_a_nomination():
    pods = {"first": FIRST, "twin": TWIN}
    ops = [{"op": "add_nominated", "pod": "first"}, {"op": "add_nominated", "pod": "twin"}]
    assert played(pods, *ops, {"op": "expect", "nominated": {"x": ["twin"]}}) == ""
    gone = [{"op": "delete_nominated", "pod": "first"}, {"op": "expect", "nominated": {}}]
    assert played(pods, *ops, *gone) == ""
    assert played(pods, *ops, params={"queueing_hints": True}) == (
        "not translated: two pods of one UID, which with queueing hints are in flight as one"
    )


def test_more_than_two_uids_of_a_name_are_refused():
    pods = {uid: {"name": "a", "uid": uid} for uid in "123"}
    assert played(pods, {"op": "add", "pod": "1"}) == "not translated: more than two UIDs of a"


@pytest.mark.parametrize("order", ["-12", "1-2", "12-"])
def test_nor_is_an_object_without_uid_where_a_name_has_two(order):
    pods = {uid: {"name": "a", **({} if uid == "-" else {"uid": uid})} for uid in order}
    ops = [
        {"op": "add_nominated", "pod": "1", "node": "n"}, {"op": "delete_nominated", "pod": "2"},
        {"op": "expect", "nominated": {}},
    ]  # fmt: skip
    assert played(pods, *ops) == (
        "not translated: objects of a with two UIDs, and one without: it may be of either"
    )
    pods.pop("-")
    assert played(pods, *ops) == "operation 2 (expect): nominated: {'n': ['a']}, expected {}"


@pytest.mark.parametrize("order", ["-1", "1-"])
def test_where_a_name_has_one_uid_an_object_without_is_of_the_same_pod(order):
    of = {"-": {"name": "a"}, "1": {"name": "a", "uid": "1"}, "twin": {"name": "b", "uid": "1"}}
    pods = {key: of[key] for key in order}
    ops = [{"op": "add", "pod": order[0]}, {"op": "update", "old": order[0], "new": order[1]}]
    assert played(pods, *ops, {"op": "pop", "expect": order[1]}) == ""
    pods["twin"] = of["twin"]
    ops = [{"op": "add_nominated", "pod": "1", "node": "n"}, {"op": "delete_nominated", "pod": "twin"}]
    assert played(pods, *ops, {"op": "expect", "nominated": {}}) == ""


@pytest.mark.parametrize("first", ["high", "b"])
def test_a_version_may_have_another_priority(first):
    pods = {
        "low": {"name": "a", "priority": 1},
        "high": {"name": "a", "priority": 9},
        "b": {"name": "b", "priority": 5},
    }
    ops = [
        {"op": "add", "pod": "low"},
        {"op": "add", "pod": "b"},
        {"op": "update", "old": "low", "new": "high"},
    ]
    reason = played(pods, *ops, {"op": "pop", "expect": first})
    assert reason == ("" if first == "high" else "operation 3 (pop): next is a, expected b")


@pytest.mark.parametrize(("key", "place"), [("high", "backoff"), ("low", "unschedulable")])
def test_and_is_admitted_by_it(key, place):
    pods = {"low": {"name": "a", "priority": 1}, "high": {"name": "a", "priority": 9}}
    ops = [
        {"op": "add_unschedulable", "pod": key, "cycle": "current"},
        {"op": "move_all", "event": "test", "precheck": {"min_priority": 5}},
    ]  # fmt: skip
    assert played(pods, *ops, {"op": "expect", place: [key]}) == ""


def test_a_priority_that_changes_is_refused_where_the_release_has_an_order_of_its_own():
    pods = {"low": {"name": "a", "priority": 1}, "high": {"name": "a", "priority": 9}}
    outcome = queue.run(
        {"id": "c", "kind": "ops", "pods": pods, "ops": [{"op": "add", "pod": "low"}]}, "1.13"
    )
    assert (
        outcome.reason
        == "not translated: versions of a that differ in priority: the release has another order"
    )


@pytest.mark.parametrize(("seen", "place"), [("plain", "unschedulable"), ("labelled", "active")])
def test_an_assigned_pod_is_seen_with_the_labels_of_its_version(seen, place):
    term = {"labelSelector": {"matchLabels": {"k": "v"}}, "topologyKey": "zone"}
    pods = {
        "waits": {"name": "w", "affinity": {"required": [term]}},
        "plain": {"name": "p", "nodeName": "n"}, "labelled": {"name": "p", "nodeName": "n", "labels": {"k": "v"}},
    }  # fmt: skip
    ops = [
        {"op": "add_unschedulable", "pod": "waits", "cycle": "current"}, {"op": "advance", "seconds": 2},
        {"op": "assigned_pod_added", "pod": seen},
    ]  # fmt: skip
    assert played(pods, *ops, {"op": "expect", place: ["waits"]}) == ""


@pytest.mark.parametrize(
    ("pod", "op", "reason"),
    [
        ({}, {"gated": True}, "operation 0 (add): unknown field gated"),
        ({}, {"gated": 0}, "operation 0 (add): unknown field gated"),
        ({"overhead": 0}, {}, "nobody reads pods.p.overhead"),
        ({"schedulingGates": ["g"]}, {}, "nobody reads pods.p.schedulingGates"),
        ({"nominatedNode": "n"}, {}, "nobody reads pods.p.nominatedNode"),
        ({"deletionTimestamp": 5}, {}, "nobody reads pods.p.deletionTimestamp"),
    ],
)
def test_what_nobody_reads_is_refused(pod, op, reason):
    found = played({"p": {"name": "p", **pod}}, {"op": "add", "pod": "p", **op})
    assert found == f"not translated: {reason}"


@pytest.mark.parametrize(
    ("op", "reason"),
    [
        ({"op": "expect", "actve": "p"}, "not translated: operation 1 (expect): expectation actve"),
        ({"op": "expect", "seen": "by everybody"}, ""),
        (
            {"op": "expect_backoff_remaining", "seconds": 0},
            "operation 1 (expect_backoff_remaining): no pod is backing off",
        ),
    ],
)
def test_an_expectation_of_nobody_does_not_hold(op, reason):
    assert played({"p": {"name": "p"}}, {"op": "add", "pod": "p"}, op) == reason
