"""Upstream's situations, in our own words, on the model's own functions."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.cases.cases import NotTranslated, Outcome, read_table
from tests.conformance.cases.nominations import nominated_pods, nomination_fields
from tests.conformance.registry import run_case, run_table

CASES = Path(__file__).parent.parent / "conformance"
OWN = (
    "victims", "pick_one", "eligible", "might_help", "preempt", "nominated_filter", "select_host",
    "interpod_score",
)  # fmt: skip


@cache
def outcomes(name: str, release: str) -> dict[str, tuple[str, str]]:
    table = read_table(CASES / f"{name}.json")
    return {case: (o.status, o.reason) for case, o in run_table(table, release)}


@pytest.mark.parametrize("name", OWN)
def test_every_case_that_applies_holds(name: str) -> None:
    found = outcomes(name, "1.22")
    assert {case: reason for case, (status, reason) in found.items() if status == "FAIL"} == {}
    assert any(status == "PASS" for status, _ in found.values())


@pytest.mark.parametrize(
    ("name", "release"),
    [
        pytest.param(name, release, marks=[] if release == "1.13" else [pytest.mark.nightly])
        for name in OWN
        for release in ("1.9", "1.13", "1.15", "1.18", "1.19", "1.20", "1.21")
    ],
)
def test_and_so_it_does_in_older_releases(name: str, release: str) -> None:
    found = outcomes(name, release)
    assert {case: reason for case, (status, reason) in found.items() if status == "FAIL"} == {}


def test_what_is_left_out_is_skipped_and_says_why() -> None:
    skipped = {
        case: reason
        for name in OWN
        for case, (status, reason) in outcomes(name, "1.22").items()
        if status == "SKIP" and not reason.startswith("does not apply to 1.22: ")
    }
    assert skipped == {
        "extender-unknown": "not covered: the extender dice is not modelled",
        "unknown-filter": "not covered: the filter Nobody is not modelled",
    }


def test_a_rule_that_changed_is_checked_on_both_sides() -> None:
    assert outcomes("victims", "1.21")["fits-already-old"] == ("PASS", "")
    assert outcomes("victims", "1.22")["fits-already"] == ("PASS", "")
    assert outcomes("interpod_score", "1.20")["pinned"] == ("PASS", "")
    assert outcomes("interpod_score", "1.15")["scale-of-ten"] == ("PASS", "")
    assert outcomes("pick_one", "1.20")["free-node-old"] == ("PASS", "")
    assert outcomes("nominated_filter", "1.21")["count-old"] == ("PASS", "")


def test_an_end_that_is_stated_anew_counts_from_its_release_on() -> None:
    node = {"name": "n", "allocatable": {"pods": 1}}
    case = {
        "id": "c", "nodes": [node], "pods": [{"name": "v", "nodeName": "n", "priority": 1}],
        "preemptor": {"name": "p", "priority": 2}, "expected_nominated_node": None, "expected_evicted": [],
        "expected_from_1_20": {"nominated_node": "n", "expected_evicted": ["v"], "note": "derived"},
    }  # fmt: skip
    assert run_case(case, "preempt", "1.22") == Outcome("PASS")
    assert run_case(case, "preempt", "1.19").reason == "nominated node: expected {}, the model lets {n} win"
    assert run_case({**case, "expected_from_1_20": "n"}, "preempt", "1.22") == Outcome(
        "FAIL", "not translated: the end n instead of an object with a nominated node"
    )


@pytest.mark.parametrize(
    "said", [None, "none", "None", "no candidate", {"candidates": [], "note": "derived"}]
)
def test_no_candidate_may_be_said_in_words(said: object) -> None:
    node = {"name": "n", "allocatable": {"pods": 1}}
    case = {
        "id": "c", "nodes": [node], "pods": [], "preemptor": {"name": "p", "priority": 2},
        "expected_any_of": ["n"], "expected_from_1_22": said,
    }  # fmt: skip
    assert run_case(case, "pick_one", "1.22") == Outcome("PASS")
    cycle = {"preemptor": case["preemptor"], "expected_candidates": [{"node": "n", "victims": []}]}
    runs = {"id": "c", "nodes": [node], "pods": [], "cycles": [cycle], "expected_from_1_22": said}
    assert run_case(runs, "victims", "1.22") == Outcome("PASS")


@pytest.mark.parametrize("reason", ["preemption would not help", "not helpful", "unresolvable"])
def test_reasons_are_told_in_several_words(reason: str) -> None:
    case = {
        "id": "c", "nodes": [{"name": "n", "allocatable": {"pods": 1}}], "pods": [],
        "preemptor": {"name": "p", "priority": 2}, "filteredNodeStatuses": {"n": "UnschedulableAndUnresolvable"},
        "expected_nominated_node": None, "expected_reason_counts": {reason: 1},
    }  # fmt: skip
    assert run_case(case, "preempt", "1.22") == Outcome("PASS")


NOMINEE = {"name": "q", "priority": 100}


@pytest.mark.parametrize(
    "more",
    [
        {"nominatedPodsOnNode": [NOMINEE]},
        {"nominatedPods": {"n": [NOMINEE]}},
        {"nominated": [NOMINEE]},
        {"nominated": {"n": [NOMINEE]}},
        {"nominated": {"n": NOMINEE}},
        {"nominated": [{"pod": NOMINEE, "node": "n"}]},
        {"nominatedPod": NOMINEE},
        {"nominated_pods": [{**NOMINEE, "nominatedNodeName": "n"}]},
        {"podsWithNominations": [{"pod": NOMINEE}]},
    ],
)
def test_nominated_pods_are_told_in_several_forms(more: dict[str, object]) -> None:
    case = {
        "id": "c", "kind": "filter_call_count", "nodes": [{"name": "n"}], "pod": {"name": "p", "priority": 0},
        "filter_fails_on": [], **more,
    }  # fmt: skip
    assert run_case({**case, "expected_filter_calls": 2}, "nominated_filter", "1.22") == Outcome("PASS")
    alone = {
        "id": "c", "kind": "nominated_filter", "node": {"name": "n"}, "pod": {"name": "p", "priority": 0},
        "stub_on_add_nominated": "Error", "expected_status": "Error", **more,
    }  # fmt: skip
    assert run_case(alone, "nominated_filter", "1.22") == Outcome("PASS")


@pytest.mark.parametrize(
    ("kind", "of_kind"),
    [
        ("filter_call_count", {"nodes": [{"name": "n"}], "expected_filter_calls": 1}),
        ("nominated_filter", {"node": {"name": "n"}, "expected_status": "Success"}),
    ],
)
def test_a_nomination_to_a_node_that_is_not_there_is_refused(kind: str, of_kind: dict[str, Any]) -> None:
    case = {"id": "c", "kind": kind, "pod": {"name": "p"}, "nominated": {"m": [NOMINEE]}, **of_kind}
    assert run_case(case, "nominated_filter", "1.22") == Outcome(
        "FAIL", "not translated: nominated: there is no node m"
    )


@pytest.mark.parametrize(
    ("expected", "outcome"),
    [
        ({"expected_nominated_node": "n"}, Outcome("PASS")),
        ({"expected_evicted": ["v"]}, Outcome("PASS")),
        (
            {"expected_nominated_node": "n", "expected_evicted": []},
            Outcome("FAIL", "evicted: expected {}, the model gives {v}"),
        ),
        ({"expected_evicted": None}, Outcome("FAIL", "not translated: the case expects nothing")),
    ],
)
def test_what_a_case_does_not_tell_is_not_compared(expected, outcome):
    case = {
        "id": "c", "nodes": [{"name": "n", "allocatable": {"pods": 1}}],
        "pods": [{"name": "v", "nodeName": "n", "priority": 1}],
        "preemptor": {"name": "p", "priority": 2}, **expected,
    }  # fmt: skip
    assert run_case(case, "preempt", "1.22") == outcome


def test_where_a_pod_is_nominated_may_be_told_beside_it() -> None:
    """A text that repeats what the pod itself says names no other pods."""
    case = {"pod": {"name": "a", "nominatedNodeName": "n1"}, "nominatedNodeName": "n1"}
    assert nomination_fields(case) == []
    assert nomination_fields({**case, "nominatedNodeName": "n2"}) == ["nominatedNodeName"]


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ({"nominated": [{"uid": "w", "pod": {"name": "a"}, "node": "m"}]}, [("a", "m")]),
        ({"nominated": [{"pod": {"name": "a"}, "nodeName": "m"}]}, [("a", "m")]),
        ({"nominated": [{"pod": {"name": "a"}, "nominatedNodeName": "m"}]}, [("a", "m")]),
        ({"nominated": [{"name": "a", "node": "m"}]}, [("a", "m")]),
        ({"nominated": [{"name": "a", "nominatedNodeName": "m"}]}, [("a", "m")]),
        ({"nominated": [{"name": "a"}], "nominatedPods": {"n": [{"name": "a"}]}}, [("a", "")]),
        ({"nominated": [{"name": "a"}], "pods": [{"name": "a", "nominatedNodeName": "n"}]}, []),
        ({"preferNominatedNode": True, "nominatedPods": []}, []),
    ],
)
def test_each_nominated_pod_is_read_once_and_with_its_node(told: Any, found: list[tuple[str, str]]) -> None:
    assert [(pod["name"], node) for pod, node in nominated_pods(told, ["n", "m"])] == found


def test_a_pod_that_is_nominated_to_a_node_that_is_not_there_is_refused() -> None:
    told = {"nominated": [{"name": "a", "nominatedNodeName": "x"}]}
    with pytest.raises(NotTranslated, match="nominated: there is no node x"):
        list(nominated_pods(told, ["n"]))


def scheduled(**more: Any) -> Outcome:
    nodes = [{"name": name} for name in ("1", "2", "3")]
    return run_case(
        {"id": "s", "kind": "schedule", "nodes": nodes, "pod": {"name": "2"}, **more}, "s", "1.22"
    )


ONE, ALL = ["NodeNameEqualsPodName"], ["AlwaysPass"]


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"filters": ALL, "expected_error": True}, ""),
        ({"filters": ALL, "expected_any_of": [], "expected_error": True}, ""),
        (
            {"filters": ALL, "expected_any_of": ["1", "2", "3"]},
            "host: expected {1, 2, 3}, the model lets {} win",
        ),
        # Of one feasible node no scorer is asked.
        ({"filters": ONE, "expected_any_of": ["2"], "expected_error": False}, ""),
        ({"filters": ONE, "expected_error": True}, "an error: expected True, the model gives False"),
    ],
)
def test_a_scorer_that_fails_ends_the_cycle(more: dict[str, Any], reason: str) -> None:
    scorers = [{"kind": "equal", "weight": 1}, {"kind": "error", "weight": 1}]
    assert scheduled(scorers=scorers, **more).reason == reason


def test_a_cycle_of_which_nothing_is_said_ends_without_an_error() -> None:
    assert scheduled(filters=ALL).reason == ""
    assert scheduled(filters=["AlwaysFail"]).reason == "an error: expected False, the model gives True"


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"expected_any_of": [], "expected_error": True}, ""),
        ({"expected_any_of": ["2", "3"]}, "host: expected {2, 3}, the model lets {} win"),
        ({"expected_any_of": [], "expected_error": False}, "an error: expected False, the model gives True"),
        (
            {"expected_any_of": [], "expected_unschedulable_by": {"1": "Breaks"}},
            "rejected by: expected {'1': 'Breaks'}, the model gives {}",
        ),
    ],
)
def test_a_filter_that_fails_on_one_node_ends_the_cycle(more: dict[str, Any], reason: str) -> None:
    assert scheduled(filters=[{"kind": "Breaks", "codes": {"1": "Error"}}], **more).reason == reason


def test_that_nobody_wins_without_an_error_is_compared() -> None:
    nobody = {"filters": ["AlwaysFail"], "expected_any_of": [], "expected_error": False}
    assert scheduled(**nobody).reason == "an error: expected False, the model gives True"
    # A diagnosis is an error, too; who tells it need not say so.
    by = dict.fromkeys(("1", "2", "3"), "AlwaysFail")
    assert scheduled(**nobody, expected_unschedulable_by=by).reason == ""


@pytest.mark.parametrize(
    "wrong",
    [
        {"key": "k", "operator": "NotIn", "values": ["no label!"]},
        {"key": "k", "operator": "Exists", "values": ["v"]},
        {"key": "k", "operator": "NotIn", "values": []},
        {"key": "k", "operator": "Gt", "values": ["0", "0"]},
    ],
)
def test_a_term_of_node_affinity_that_cannot_be_parsed_matches_no_node(wrong: dict[str, Any]) -> None:
    nodes = [{"name": "n", "labels": {"k": "5"}}]
    right = {"matchExpressions": [{"key": "k", "operator": "Exists"}]}

    def hosts(*terms: dict[str, Any]) -> str:
        pod = {"name": "p", "nodeAffinity": {"nodeSelectorTerms": [*terms]}}
        return scheduled(nodes=nodes, pod=pod, filters=["NodeAffinity"], expected_any_of=["n"]).status

    assert hosts({"matchExpressions": [wrong]}) == "FAIL"
    assert hosts({"matchExpressions": [wrong]}, right) == "PASS"


def test_a_pod_whose_terms_cannot_be_parsed_fits_nowhere_and_keeps_nobody_out() -> None:
    wrong = {"matchExpressions": [{"key": "k", "operator": "NotIn", "values": ["no label!"]}]}
    anti = {"antiAffinity": {"required": [{"labelSelector": wrong, "topologyKey": "zone"}]}}
    row = {"nodes": [{"name": "n", "labels": {"zone": "z"}}], "filters": ["InterPodAffinity"]}
    there = {"name": "there", "nodeName": "n"}
    rejected = {"expected_any_of": [], "expected_unschedulable_by": {"n": "InterPodAffinity"}}
    assert scheduled(**row, pod={"name": "p", **anti}, **rejected).reason == ""
    assert scheduled(**row, pod={"name": "p"}, pods=[{**there, **anti}], expected_any_of=["n"]).reason == ""
    tainted = {"name": "n", "taints": [{"key": "k", "effect": "NoSchedule"}]}
    early = {**row, "nodes": [tainted], "filters": ["TaintToleration", "InterPodAffinity"]}
    assert scheduled(**early, pod={"name": "p", **anti}, **rejected).reason == "", "PreFilter comes first"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("toleration", [{"operator": "Exists"}]),
        ("node", "1"),
        ("start_time", 7),
        ("podAffinity", {"required": []}),
    ],
)
def test_a_field_of_a_pod_that_sounds_like_one_that_decides_is_refused(field: str, value: object) -> None:
    there = {"name": "there", field: value}
    found = scheduled(filters=ALL, pods=[there], expected_any_of=["1", "2", "3"])
    assert found.reason == f"not translated: nobody reads there.{field}"
    assert scheduled(
        filters=ALL, pods=[{"name": "there", "generation": 7}], expected_any_of=["1", "2", "3"]
    ) == Outcome("PASS")
    assert scheduled(
        filters=ALL, pods=[{"name": "there", f"{field}_note": value}], expected_any_of=["1", "2", "3"]
    ) == Outcome("PASS")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("restartPolicy", "Always"),
        ("restartCount", 3),
        ("importance", "more than that of the other"),
        ("priority_comment", "not set upstream"),
        ("requestsDescription", "as of two containers"),
        ("startTimeNote", "later"),
        ("uses_topology_spread", True),
    ],
)
def test_what_only_sounds_like_it_or_explains_is_passed_over(field: str, value: object) -> None:
    there = {"name": "there", field: value}
    assert scheduled(filters=ALL, pods=[there], expected_any_of=["1", "2", "3"]) == Outcome("PASS")
    for name in ("starts", "report_port", "nodeNoted", "unnoted_start"):
        found = scheduled(filters=ALL, pods=[{"name": "there", name: value}], expected_any_of=["1", "2", "3"])
        assert found.reason == f"not translated: nobody reads there.{name}"


def test_a_spread_constraint_that_cannot_be_parsed_is_refused() -> None:
    selector = {"matchExpressions": [{"key": "a", "operator": "In"}]}
    constraint = {"maxSkew": 1, "topologyKey": "zone", "labelSelector": selector}
    found = scheduled(filters=ALL, pod={"name": "2", "topologySpreadConstraints": [constraint]})
    assert found.reason == "not translated: the labelSelector of a spread constraint cannot be parsed"


@pytest.mark.parametrize(("asked", "hosts"), [(99.9, ["n"]), (100.1, []), (0.1, ["n"])])
def test_a_fraction_of_a_byte_is_a_byte(asked: float, hosts: list[str]) -> None:
    node = {"name": "n", "allocatable": {"memory_bytes": 100, "pods": 9}}
    row = {"nodes": [node], "filters": ["NodeResourcesFit"]}
    assert (
        scheduled(**row, pod={"name": "p", "requests": {"memory_bytes": asked}}, expected_any_of=hosts).reason
        == ""
    )
    there = {"name": "q", "nodeName": "n", "requests": {"memory_bytes": 99.1}}
    full = scheduled(
        **row, pods=[there], pod={"name": "p", "requests": {"memory_bytes": asked}}, expected_any_of=[]
    )
    assert full.reason == "", "the pod that is there counts as 100 bytes"


def test_a_pod_that_has_a_node_is_not_scheduled() -> None:
    found = scheduled(filters=ALL, pod={"name": "p", "nodeName": "1"}, expected_any_of=["1"])
    assert found.reason == "not translated: the pod that is to be scheduled has a nodeName"


def test_there_is_a_start_for_each_cycle() -> None:
    case = {"id": "r", "kind": "rotation", "all_nodes": 10, "cycles": 2, "expected_found_each": 10}
    assert run_case({**case, "expected_next_start": [0, 0]}, "s", "1.22").reason == ""
    for starts in ([0], [0, 0, 0]):
        reason = run_case({**case, "expected_next_start": starts}, "s", "1.22").reason
        assert reason == f"not translated: expected_next_start has {len(starts)} numbers for 2 cycles"


@pytest.mark.parametrize(
    ("release", "percentage", "enough"),
    [
        ("1.9", 0, 1000), ("1.9", 40, 1000), ("1.12", 0, 1000), ("1.12", 40, 400), ("1.13", 0, 1000), ("1.13", 100, 1000),
        ("1.14", 0, 420), ("1.14", 40, 400), ("1.36", 0, 420), ("1.36", 100, 1000),
    ],
)  # fmt: skip
def test_how_many_nodes_are_enough_in_a_release(release: str, percentage: int, enough: int) -> None:
    case = {"id": "n", "kind": "num_feasible", "percentage": percentage, "all_nodes": 1000}
    assert run_case({**case, "expected": enough}, "s", release).reason == ""
    wrong = run_case({**case, "expected": enough + 1}, "s", release)
    assert wrong.reason == f"nodes to find: expected {enough + 1}, the model gives {enough}"


def test_a_status_of_scoring_that_is_unknown_is_refused() -> None:
    case = {"id": "i", "nodes": [{"name": "n"}], "pod": {"name": "p"}, "expected_scores": {"n": 0}}
    assert run_case({**case, "expected_status": "Skip"}, "s", "1.22").reason == ""
    assert (
        run_case({**case, "expected_status": "Pending"}, "s", "1.22").reason
        == "not translated: expected_status is Pending, not Success, Skip or Error"
    )


@pytest.mark.parametrize(("scores", "fails"), [([], True), ([{"node": "n", "score": 1}], False)])
def test_whether_there_is_a_host_to_select(scores: list[dict[str, Any]], fails: bool) -> None:
    case = {"id": "h", "kind": "select_host", "scores": scores}
    assert run_case({**case, "expected_error": fails}, "s", "1.22").reason == ""
    outcome = run_case({**case, "expected_error": not fails}, "s", "1.22")
    assert outcome.reason == f"an error: expected {not fails}, the model gives {fails}"


NOMINATED: dict[str, Any] = {
    "id": "n", "filters": ["NodeResourcesFit"],
    "nodes": [{"name": "n", "allocatable": {"cpu_milli": 2, "memory_bytes": 0, "pods": 9}}],
    "pods": [{"name": "low", "priority": 1, "requests": {"cpu_milli": 2}, "nodeName": "n"}],
}  # fmt: skip


def cycle(**more: Any) -> list[dict[str, Any]]:
    preemptor = {"name": "p", "priority": 5, "requests": {"cpu_milli": 1}}
    return [{"preemptor": preemptor, "numCandidates": 1, **more}]


@pytest.mark.parametrize(("cpu", "candidates"), [(1, [{"node": "n", "victims": ["low"]}]), (2, [])])
def test_a_cycle_may_have_nominations_of_its_own(cpu: int, candidates: list[dict[str, Any]]) -> None:
    waits = {"name": "waits", "priority": 9, "requests": {"cpu_milli": cpu}}
    cycles = cycle(nominated={"n": [waits]}, expected_candidates=candidates)
    assert run_case({**NOMINATED, "cycles": cycles}, "victims", "1.22").reason == ""


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"cycles": cycle(gang=3, expected_candidates=[])}, "cycles[0].gang"),
        ({"cycles": cycle(expected_candidates=[]), "nodeGroups": [1]}, "nodeGroups"),
        ({"preemptor": {"name": "p", "overhead": {"cpu": 1}}, "expected_any_of": ["n"]}, "p.overhead"),
        ({"preemptor": {"name": "p", "requests": {"gpu": 1}}, "expected_any_of": ["n"]}, "p.requests.gpu"),
    ],
)
def test_what_nobody_reads_is_refused(more: dict[str, Any], field: str) -> None:
    outcome = run_case({**NOMINATED, **more}, "preempt", "1.22")
    assert (outcome.status, outcome.reason) == ("FAIL", f"not translated: nobody reads {field}")


def test_a_row_that_expects_nothing_is_refused() -> None:
    assert (
        run_case({**NOMINATED, "cycles": []}, "victims", "1.22").reason
        == "not translated: the case has no cycles"
    )
    unscored = {"id": "i", "nodes": [{"name": "n"}], "pod": {"name": "p"}, "expected_scores": {}}
    found = run_case(unscored, "scores", "1.22")
    assert found.reason == "not translated: the case expects neither scores nor Skip nor Error"
    assert run_case({**unscored, "nodes": []}, "scores", "1.22").reason == "", "no node, no score"


def test_a_dry_run_without_preemption_is_refused() -> None:
    case = {**NOMINATED, "cycles": cycle(expected_candidates=[]), "preemption_disabled": True}
    assert run_case(case, "victims", "1.22").reason == "not translated: cycles without preemption"


@pytest.mark.parametrize("none", [True, False])
def test_a_second_round_evicts_nobody(none: bool) -> None:
    case = {
        **NOMINATED, "preemptor": cycle()[0]["preemptor"], "expected_nominated_node": "n", "expected_evicted": ["low"],
        "second_round": {"expect_no_new_evictions": none},
    }  # fmt: skip
    assert run_case(case, "preempt", "1.22").status == ("PASS" if none else "FAIL")
