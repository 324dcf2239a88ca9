"""Which pods a controller still owes: as its own controller counts, under the names that it would give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from podrace.manifests import Inventory
from tests.manifests.manifest_objects import objects, owned
from tests.manifests.test_manifests import inventory
from tests.manifests.test_notes import stateful
from tests.manifests.test_representative import pod


def member(name: str, on: str = "n1", **status: Any) -> dict[str, Any]:
    found = pod(name, "100m", 0, on)
    found["metadata"] |= {"uid": f"uid-{name}", "ownerReferences": owned("StatefulSet", "batch")}
    return found | {"status": {"phase": "Running", **status}}


def going(found: dict[str, Any]) -> dict[str, Any]:
    found["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return found


def owed(folder: Path, *some: dict[str, Any]) -> list[str]:
    return [p.name for p in read(folder, *some).pending if p.owner.startswith(("StatefulSet", "Job"))]


def read(folder: Path, *some: dict[str, Any]) -> Inventory:
    return inventory(folder, *objects("node"), *some)


PARALLEL = stateful(3, podManagementPolicy="Parallel")


def test_a_pod_of_a_set_is_not_made_before_its_predecessor_is_gone(tmp_path: Path) -> None:
    there = [member("batch-0"), going(member("batch-1")), member("batch-2")]
    assert owed(tmp_path, PARALLEL, *there) == []
    assert owed(tmp_path, stateful(3), *there) == []
    assert owed(tmp_path, PARALLEL, *there[:2]) == ["shop/batch-2"]


def test_one_that_has_finished_is_made_anew_under_its_name(tmp_path: Path) -> None:
    ended = member("batch-1", phase="Failed")
    assert owed(tmp_path, PARALLEL, member("batch-0"), ended) == ["shop/batch-1", "shop/batch-2"]
    assert owed(tmp_path, stateful(3), member("batch-0"), ended) == ["shop/batch-1"]


def test_numbers_begin_where_the_set_says(tmp_path: Path) -> None:
    some = stateful(2, podManagementPolicy="Parallel", ordinals={"start": 5})
    assert owed(tmp_path, some) == ["shop/batch-5", "shop/batch-6"]
    # Those with other numbers are to go, and stand in for none.
    assert owed(tmp_path, some, member("batch-0"), member("batch-6")) == ["shop/batch-5"]


@pytest.mark.parametrize(
    ("first", "why"),
    [
        (member("batch-0", ""), "waits"),
        (going(member("batch-0")), "is being deleted"),
        (member("batch-0", conditions=[{"type": "Ready", "status": "False"}]), "is not ready"),
    ],
)
def test_an_ordered_set_waits_for_the_pods_before(tmp_path: Path, first: dict[str, Any], why: str) -> None:
    found = read(tmp_path, stateful(3), first)
    assert [p.name for p in found.pending if p.name != "shop/batch-0"] == []
    assert (
        f"OrderedReady: while a pod of the StatefulSet {why}, it creates no other (StatefulSet/shop/batch)"
        in found.remarks
    )
    # One that comes later in the order is not waited for.
    later = member("batch-2", conditions=[{"type": "Ready", "status": "False"}])
    assert owed(tmp_path, stateful(3), member("batch-0"), later) == ["shop/batch-1"]


def job(status: dict[str, Any], **more: Any) -> dict[str, Any]:
    (found,) = objects("replicaset")
    del found["spec"]["replicas"], found["spec"]["selector"]
    found |= {"kind": "Job", "apiVersion": "batch/v1", "status": status}
    found["spec"] |= {"parallelism": 2, **more}
    return found


@pytest.mark.parametrize(
    ("status", "more", "number"),
    [
        ({}, {"completions": 2}, 2),
        ({"succeeded": 1}, {"completions": 2}, 1),
        ({"conditions": [{"type": "Suspended", "status": "False"}]}, {}, 2),
        ({"conditions": [{"type": "Failed", "status": "False"}]}, {}, 2),
        ({"conditions": [{"type": "Failed", "status": "True"}]}, {"completions": 2}, 0),
        ({"conditions": [{"type": "FailureTarget", "status": "True"}]}, {"completions": 2}, 0),
        ({"conditions": [{"type": "SuccessCriteriaMet", "status": "True"}]}, {"completions": 2}, 0),
        ({"succeeded": 1}, {}, 0),
        ({}, {"managedBy": "kueue.x-k8s.io/multikueue"}, 0),
        ({}, {"managedBy": "kubernetes.io/job-controller"}, 2),
        ({}, {"suspend": True}, 0),
    ],
)
def test_pods_of_a_job(tmp_path: Path, status: dict[str, Any], more: dict[str, Any], number: int) -> None:
    """A Job that has failed, or is about to, makes no pod anew; nor does one without `completions` after a success."""
    assert len(owed(tmp_path, job(status, **more), pod("p", "1"))) == number


@pytest.mark.parametrize(
    ("more", "number"),
    [
        ({}, 2),
        ({"podReplacementPolicy": "TerminatingOrFailed"}, 2),
        ({"podReplacementPolicy": "Failed"}, 1),
        ({"podFailurePolicy": {"rules": []}}, 1),
    ],
)
def test_a_job_replaces_pods_that_are_going_or_those_that_have_gone(
    tmp_path: Path, more: dict[str, Any], number: int
) -> None:
    goes = going(member("batch-x"))
    goes["metadata"]["ownerReferences"] = owned("Job", "batch")
    assert len(owed(tmp_path, job({}, completions=2, **more), goes)) == number
