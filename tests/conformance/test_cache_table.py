"""The cache's cases, each on the releases that it holds for."""

import copy
import json
from pathlib import Path

import pytest

from podrace.model.history import RELEASES
from podrace.model.scheduler import Cache
from tests.conformance.cache import cast as cache_cast
from tests.conformance.cache import tables as cache
from tests.conformance.cases.cases import Outcome, applies
from tests.conformance.registry import run_case

CASES = {
    case["id"]: case
    for case in json.loads((Path(__file__).parents[1] / "conformance" / "cache.json").read_text())["cases"]
}
OLDER = {"1.8", "1.9", "1.12", "1.13", "1.14", "1.15", "1.16", "1.17"}
MODELLED = [*(r for r in RELEASES if r not in OLDER), "1.29.6", "1.34.4", "1.36.3"]


@pytest.mark.parametrize(
    "release",
    [pytest.param(r, marks=[] if r in ("1.22", MODELLED[-1]) else [pytest.mark.nightly]) for r in MODELLED],
)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case, release):
    outcome = cache.run(case, release)
    if applies(case, release):
        assert outcome == Outcome("PASS")
    else:
        assert outcome == Outcome("SKIP", f"does not apply to {release}")


def test_a_patch_release_is_a_patch(monkeypatch):
    """Removing an assumed pod is accepted by patches of 1.20 to 1.22; as a change it is one method."""

    class With106685(Cache):
        def removable(self, pod):
            return self.knows(pod)

    case = {**CASES["remove-assumed"], "applies_to": None}
    assert cache.run(case, "1.22").status == "FAIL"
    released = cache_cast._changes
    monkeypatch.setattr(cache_cast, "_changes", lambda release: [With106685, *released(release)])
    assert cache.run(case, "1.22") == Outcome("PASS")


def changed(case, number, **fields):
    """A case with one operation changed."""
    made = copy.deepcopy(CASES[case])
    made["ops"][number].update(fields)
    return made


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (changed("sums", 0, expect_error=True), "operation 0 (assume): error: False, expected True"),
        (
            changed("sums", 3, requested={"cpu_milli": 1}),
            "operation 3 (expect_node): requested: {'cpu': 300}, expected {'cpu': 1}",
        ),
        (changed("sums", 3, pods=["p1"]), "operation 3 (expect_node): pods: ['p1', 'p2'], expected ['p1']"),
        (
            changed("recency", 5, node="n3"),
            "operation 5 (expect_list_head): head: ['n1'], expected ['n3']",
        ),
        (
            changed("pods-before-node", 2, nodes=["n1"]),
            "operation 2 (expect_snapshot_nodes): nodes: [], expected ['n1']",
        ),
        (
            changed("update-needs-confirmed", 3, pod="p'"),
            "operation 3 (expect_pod): its object: p, expected p'",
        ),
    ],
)
def test_a_wrong_expectation_fails_and_says_where(case, reason):
    assert cache.run(case, "1.22") == Outcome("FAIL", reason)


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (changed("sums", 0, op="fly"), "operation 0: there is no operation fly"),
        (changed("sums", 0, op=None), "operation 0 has no `op`"),
        (changed("sums", 0, twice=True), "operation 0 (assume): unknown field twice"),
        (changed("sums", 0, other="p2"), "operation 0 (assume): unknown field other"),
        (
            changed("update-needs-confirmed", 3, priority=1000),
            "operation 3 (expect_pod): unknown field priority",
        ),
        (changed("sums", 0, pod="q"), "operation 0 (assume): unknown pod q"),
        (changed("update-creates", 0, new="q"), "operation 0 (update_node): unknown node q"),
        (changed("sums", 3, requested={"disks": 1}), "operation 3 (expect_node): resource disks"),
        ({**CASES["sums"], "kind": "song"}, "kind song"),
        ({**CASES["sums"], "ops": [{"op": "cleanup"}]}, "operation 0 (cleanup) has no 'at'"),
    ],
)
def test_what_the_schema_does_not_have_fails(case, reason):
    assert cache.run(case, "1.22") == Outcome("FAIL", f"not translated: {reason}")


def test_remarks_do_no_harm():
    assert cache.run(changed("sums", 0, why="because", tag=None), "1.22") == Outcome("PASS")


def test_whether_a_pod_is_assumed_is_told_in_any_field() -> None:
    pods = {"p": {"name": "p", "uid": "p", "nodeName": "n"}}
    for field, assumed in (("expect", True), ("expect", False), ("assumed", False)):
        asked = [{"op": "assume", "pod": "p"}, {"op": "expect_is_assumed", "pod": "p", field: assumed}]
        case = {"id": "c", "kind": "ops", "pods": pods, "nodes": {}, "ops": asked}
        wrong = Outcome("FAIL", f"operation 1 (expect_is_assumed): assumed: True, expected {assumed}")
        assert run_case(case, "cache", "1.22") == (Outcome("PASS") if assumed else wrong)


def test_the_object_that_is_expected_may_have_a_key_of_its_own():
    moved = changed("update-needs-confirmed", 3, pod="p", equals="p'")
    assert cache.run(moved, "1.22") == Outcome("FAIL", "operation 3 (expect_pod): its object: p, expected p'")


def test_a_release_that_is_not_modelled_is_skipped():
    for release in ("1.10", "1.34.1"):
        assert cache.run({**CASES["defaults"], "applies_to": None}, release) == Outcome(
            "SKIP", f"release {release} is not modelled (the model has {RELEASES[0]} to {RELEASES[-1]})"
        )
    assert cache.run(CASES["defaults"], "1.34.4") == Outcome("PASS")


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"overhead": {"cpu_milli": 5}}, "overhead"),
        ({"initContainers": [{"cpu_milli": 5}]}, "initContainers"),
        ({"requests": {"cpu": 5}}, "requests.cpu"),
        ({"persistentVolumeClaims": ["c"]}, "persistentVolumeClaims"),
    ],
)
def test_what_nobody_reads_of_a_pod_is_refused(more, field):
    case = {
        "id": "c",
        "kind": "ops",
        "pods": {"p": {"name": "p", "nodeName": "n", **more}},
        "ops": [{"op": "add_pod", "pod": "p"}],
    }
    assert run_case(case, "cache", "1.22").reason == f"not translated: nobody reads pods.p.{field}"


def test_an_expectation_that_says_nothing_is_refused():
    ops = [{"op": "update_snapshot"}, {"op": "expect_snapshot_affinity_nodes"}]
    found = run_case({"id": "c", "kind": "ops", "ops": ops}, "cache", "1.22")
    assert (
        found.reason
        == "not translated: operation 1 (expect_snapshot_affinity_nodes): neither `count` nor `nodes`"
    )
