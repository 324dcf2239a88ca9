"""Logs that show by themselves that they lack lines, that clocks differ, or that they are older than the dump that is said to be their beginning."""

from pathlib import Path

import pytest

from podrace.audit.checks.check import Window
from podrace.audit.reading.records import time_of
from podrace.base.problems import Problem
from podrace.reports.audit_report import Answer
from tests.audit.test_answers import both, of, seen
from tests.audit.test_bindings_and_waits import lease
from tests.audit.test_unusual_logs import of_files
from tests.audit.written_logs import (
    SCHEDULER,
    Object,
    answer,
    answered,
    bound,
    created,
    deleted,
    event,
    listed,
    node,
    pod,
    running,
)

FINISHED = "the log is not complete: a pod that has finished, and no line says so (1)"
CHANGED = (
    "the log is not complete: a pod that asks for something else than before, and no line changed it (1)"
)


def capacity(folder: Path, *events: Object) -> Answer:
    """What is said of S-CAP on node n of two CPUs."""
    return of(folder, "S-CAP", *events)


def test_a_pod_that_finished_unseen(tmp_path: Path) -> None:
    """A policy that leaves out what kubelets say of their pods: then only the body of the deletion shows it."""
    events = [*both("a", 1, "2"), *both("b", 3, "2")]
    gone = deleted("a", 9, on="n", cpu="2", phase="Succeeded", version=200)
    assert capacity(tmp_path, *events, gone).reasons[1:] == (FINISHED,)
    assert capacity(tmp_path, *events, deleted("a", 9, on="n", cpu="2")).verdict == "HIT"
    done = running("a", "n", 8, "2", phase="Succeeded")
    assert capacity(tmp_path, *events, done, gone).verdict == "HIT"


def test_what_overlaps_may_have_brought_it_about(tmp_path: Path) -> None:
    """A request that began earlier, and that a status overtook, shows what that status said."""
    label = event("patch", "pods", "a", 5, until=8, response=pod("a", "2", on="n", phase="Succeeded"))
    done = running("a", "n", 6, "2", phase="Succeeded")
    events = [*both("a", 1, "2"), *both("b", 3, "2")]
    assert capacity(tmp_path, *events, label, done).verdict == "HIT"
    assert capacity(tmp_path, *events, label).reasons[1:] == (FINISHED,)
    late = running("a", "n", 8.5, "2", phase="Succeeded")
    assert FINISHED in capacity(tmp_path, *events, label, late).reasons


@pytest.mark.parametrize(("before", "shown"), [("2", "500m"), ("500m", "2")])
def test_a_pod_that_was_changed_unseen(tmp_path: Path, before: str, shown: str) -> None:
    events = [*both("a", 1, before), *both("b", 3)]
    for late in (running("a", "n", 9, shown), deleted("a", 9, on="n", cpu=shown)):
        assert CHANGED in capacity(tmp_path, *events, late).reasons
    resized = event("patch", "pods/resize", "a", 8, response=pod("a", shown, on="n", version=50))
    same = running("a", "n", 9, shown)
    assert CHANGED not in capacity(tmp_path, *events, resized, same).reasons
    # The status began first, and shows what the resize had done by its end.
    slow = event("patch", "pods/status", "a", 7.5, until=9, response=pod("a", shown, on="n", version=51))
    assert CHANGED not in capacity(tmp_path, *events, slow, resized).reasons
    # Another writing of the same amount is no change.
    same_amount = {"2": "2000m", "500m": "0.5"}[before]
    assert CHANGED not in capacity(tmp_path, *events, running("a", "n", 9, same_amount)).reasons


def test_a_pod_whose_binding_is_missing_was_on_the_node_of_its_last_body(tmp_path: Path) -> None:
    told = capacity(tmp_path, created("a", 1, "2"), *both("b", 3), deleted("a", 9, on="n", cpu="2"))
    assert "the log is not complete: a pod that is on a node to which no line binds it (1)" in told.reasons


def test_a_dump_that_is_younger_than_the_log(tmp_path: Path) -> None:
    """The dump has a finished, which it had not when b came."""
    events = [
        seen("n", 0, version=2), created("a", 1, "2", version=10), bound("a", "n", 2), running("a", "n", 2.5, "2", version=12),
        *both("b", 3, "2"), running("a", "n", 4, "2", version=50, phase="Succeeded"),
    ]  # fmt: skip
    dump = listed(node("n"), pod("a", "2", on="n", version=50, phase="Succeeded"), pod("b", "2", on="n", version=40))  # fmt: skip
    told = answer(answered(tmp_path, events, dump), "S-CAP")
    assert told.reasons == (
        "the log has lines of before what --initial names: of what was later, ask with --since 2026-01-01T00:00:04.001Z",
    )
    later = Window(since=time_of("2026-01-01T00:00:04.001Z"))
    assert answer(answered(tmp_path, events, dump, window=later), "S-CAP").reasons == (
        "no line is of what is asked about: the lines are from 2026-01-01T00:00:00.000Z to 2026-01-01T00:00:04.000Z",
    )
    longer = [*events, event("get", "configmaps", "c", 5)]
    assert answer(answered(tmp_path, longer, dump, window=later), "S-CAP").verdict == "EXCLUDED"
    more = [*events, *both("c", 5, "1"), *both("d", 6, "1")]
    assert answer(answered(tmp_path, more, dump, window=later), "S-CAP").verdict == "HIT"
    assert answer(answered(tmp_path, more, dump), "S-CAP").verdict == "HIT"


def test_a_node_of_a_younger_dump(tmp_path: Path) -> None:
    """It has shrunk since; no Binding overfilled it."""
    events = [seen("n", 0.5, "2", version=20), *both("a", 1), *both("b", 2), seen("n", 5, "1", version=60)]
    told = answer(answered(tmp_path, events, listed(node("n", "1", version=60))), "S-CAP")
    assert told.verdict == "NOT EXCLUDED"
    assert told.reasons[-1].endswith("ask with --since 2026-01-01T00:00:05.001Z")
    # What was written without changing anything has the version of the dump, and says nothing of when that was.
    same = [seen("n", 0.5, "2", version=60), *both("a", 1), *both("b", 2), seen("n", 5, "2", version=60)]
    assert answer(answered(tmp_path, same, listed(node("n", version=60))), "S-CAP").verdict == "EXCLUDED"


def test_versions_of_different_pods_speak_against_clocks(tmp_path: Path) -> None:
    """One API server's clock is 300 ms ahead: a's end, which made room for b, seems to come after b."""
    ahead = [
        seen("n", 0), created("a", 1, "2", version=2), bound("a", "n", 1.2), running("a", "n", 2, "2", version=4),
        deleted("a", 3.3, on="n", cpu="2", version=20),
    ]  # fmt: skip
    behind = [
        created("b", 3.02, "2", version=21),
        bound("b", "n", 3.05),
        running("b", "n", 3.1, "2", version=23),
    ]
    told = of_files(tmp_path, ahead, behind, skew=50_000)
    assert told.verdict == "NOT EXCLUDED"
    assert told.reasons[-1].endswith("the clocks differ, beyond the 0.05 s of --clock-skew")
    assert of_files(tmp_path, ahead, behind, skew=400_000).verdict == "NOT EXCLUDED"
    # A body that shows nothing new has an old version, whoever wrote in between.
    again = running("a", "n", 9, "2", version=4)
    kept = [*ahead[:-1], created("b", 5, "1m", version=21), bound("b", "n", 5.5), again]
    assert answer(answered(tmp_path, kept, listed(node("n"))), "S-CAP").verdict == "HIT"


def test_who_acts_for_the_scheduler_is_one(tmp_path: Path) -> None:
    """By impersonation, or under the name under which the lease is written."""
    leases = [lease(0.5, "m1", "10.0.0.1", 0), lease(5, "m1", "10.0.0.1", 0)]
    other = {
        **bound("a", "n", 3, user="admin", address="10.0.0.9"),
        "impersonatedUser": {"username": SCHEDULER},
    }
    told = of(tmp_path, "A-LEASE", created("a", 1), other, *leases)
    moved = (
        "the lease changed hands, or schedulers sent from more than one address (once: 10.0.0.1, 10.0.0.9)"
    )
    assert told.reasons == (moved,)
    named = [{**written, "user": {"username": "masterclient"}} for written in leases]
    client = bound("a", "n", 3, user="masterclient", address="10.0.0.9")
    assert of(tmp_path, "A-LEASE", created("a", 1), client, *named).reasons == (moved,)
    nobody = of(tmp_path, "A-LEASE", created("a", 1), bound("a", "n", 3, user="mine"), *leases)
    assert nobody.reasons == ("no Binding was sent by a user who writes the scheduler's lease (once)",)


@pytest.mark.parametrize(
    ("kind", "at", "several"),
    [
        ("node", (0, 10, 20), True), ("lease", (0, 10, 20), True),
        ("node", (0, 10, 10.5), False), ("node", (0, 1, 20), False), ("lease", (0, 10), False),
    ],
)  # fmt: skip
def test_a_log_of_two_clusters_is_refused(
    tmp_path: Path, kind: str, at: tuple[float, ...], several: bool
) -> None:
    """A node was overfull with the pods of both. In one cluster, what is made again has another uid, and the first one never returns."""
    events = [*both("a", 1, "2"), *both("b", 3, "2"), running("a", "n", 22, "2")]
    for moment, uid in zip(at, ("one", "two", "one"), strict=False):
        shown = seen("n", moment) if kind == "node" else lease(moment, "m", "10.0.0.1", 0)
        shown["responseObject"]["metadata"]["uid"] = uid
        shown["auditID"] += uid
        events.append(shown)
    if not several:
        assert answered(tmp_path, events, listed(node("n"))).answers
        return
    name = {"node": "node n", "lease": "lease kube-system/kube-scheduler"}[kind]
    with pytest.raises(Problem) as refused:
        answered(tmp_path, events, listed(node("n")))
    assert str(refused.value) == (
        f"the log is of several clusters: the {name} has the uid one at 2026-01-01T00:00:00.000Z, two at 2026-01-01T00:00:10.000Z, "
        "and the first one again at 2026-01-01T00:00:20.000Z: audit the log of each cluster by itself"
    )
