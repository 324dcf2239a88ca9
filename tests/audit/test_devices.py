"""S-DEV on small logs: two claims that have a device."""

from pathlib import Path
from typing import Any

from podrace.reports.audit_report import Answer
from tests.audit.test_answers import NO_START, both, seen
from tests.audit.written_logs import SCHEDULER, Object, answer, answered, event, listed, node

GPU = {"driver": "gpu.example.com", "pool": "n", "device": "gpu-0"}
OTHER = {**GPU, "device": "gpu-1"}


def claim(name: str, *devices: Object, version: int = 1, **meta: Any) -> Object:
    """A claim that has these devices."""
    allocation = {"allocation": {"devices": {"results": [{"request": "r", **d} for d in devices]}}}
    return {
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}", "resourceVersion": str(version), **meta},
        "status": allocation if devices else {},
    }  # fmt: skip


def written(verb: str, resource: str, name: str, at: float, body: Object | None, **more: Any) -> Object:
    """A write of a claim."""
    found = event(verb, resource, name, at, response=body, user=SCHEDULER, **more)
    return {**found, "objectRef": {**found["objectRef"], "apiGroup": "resource.k8s.io"}}


def made(name: str, at: float) -> Object:
    return written("create", "resourceclaims", name, at, claim(name), code=201)


def got(name: str, at: float, *devices: Object, until: float | None = None, **more: Any) -> Object:
    return written(
        "update",
        "resourceclaims/status",
        name,
        at,
        claim(name, *devices, version=round(at * 100), **more),
        until=until,
    )


def of(folder: Path, *events: Object, start: Object | None = None, complete: bool = True) -> Answer:
    initial = listed(node("n"), claim("old")) if start is None else start
    log = [seen("n", 0), *both("p", 0.1), made("a", 1), made("b", 1), *events]
    return answer(answered(folder, log, initial, complete), "S-DEV")


TWICE = "gpu.example.com/n/gpu-0 is allocated to default/a and to default/b, which got it last"


def test_a_device_of_two_claims(tmp_path: Path) -> None:
    (hit,) = of(tmp_path, got("a", 2, GPU), got("b", 3, GPU)).hits
    assert (hit.words, hit.time, hit.by) == (TWICE, "2026-01-01T00:00:03.000Z", SCHEDULER)
    assert of(tmp_path, got("a", 2, GPU), got("b", 3, OTHER)).verdict == "EXCLUDED"
    assert of(tmp_path, got("a", 2, GPU), got("b", 3, {**GPU, "adminAccess": True})).verdict == "EXCLUDED"


def test_a_device_that_claims_share_is_left_open(tmp_path: Path) -> None:
    """Until now it was excluded that it was given away twice, though nobody had looked at its capacity."""
    found = of(tmp_path, got("a", 2, OTHER), got("b", 3, {**GPU, "shareID": "x"}))
    assert found.verdict == "NOT EXCLUDED"
    assert found.reasons == (
        (
            "claims share a device, and its capacity is in no log: that it was given away twice cannot be excluded "
            "(once: gpu.example.com/n/gpu-0 of default/b)"
        ),
    )


def test_a_device_that_was_given_back(tmp_path: Path) -> None:
    assert of(tmp_path, got("a", 2, GPU), got("a", 3), got("b", 4, GPU)).verdict == "EXCLUDED"
    slow = got("a", 3, until=4.5)
    assert of(tmp_path, got("a", 2, GPU), slow, got("b", 4, GPU)).reasons == (
        (
            "in some order of what the log has, two claims have a device (once: gpu.example.com/n/gpu-0 of default/a and default/b at "
            "2026-01-01T00:00:04.000Z)"
        ),
    )


def test_two_allocations_that_overlap(tmp_path: Path) -> None:
    """Whichever was first: in the end both have it."""
    (hit,) = of(tmp_path, got("a", 2, GPU, until=4), got("b", 3, GPU, until=3.5)).hits
    assert hit.time == "2026-01-01T00:00:04.000Z"


def test_a_claim_that_is_gone(tmp_path: Path) -> None:
    gone = written("delete", "resourceclaims", "a", 3, claim("a", GPU, version=300))
    assert of(tmp_path, got("a", 2, GPU), gone, got("b", 4, GPU)).verdict == "EXCLUDED"
    marked = {
        "deletionTimestamp": "2026-01-01T00:00:03Z",
        "finalizers": ["resource.kubernetes.io/delete-protection"],
    }
    kept = written("delete", "resourceclaims", "a", 3, claim("a", GPU, version=300, **marked))
    assert of(tmp_path, got("a", 2, GPU), kept, got("b", 4, GPU)).verdict == "HIT"
    status = written("delete", "resourceclaims", "a", 3, {"kind": "Status", "status": "Success"})
    assert of(tmp_path, got("a", 2, GPU), status, got("b", 4, GPU)).verdict == "EXCLUDED"
    blind = written("delete", "resourceclaims", "a", 3, None, level="Metadata")
    assert of(tmp_path, got("a", 2, GPU), blind, got("b", 4, GPU)).verdict == "NOT EXCLUDED"


def test_without_a_complete_log_the_claim_must_be_seen_again(tmp_path: Path) -> None:
    """A line may be missing by which it had given the device back."""
    events = [got("a", 2, GPU), got("b", 3, GPU)]
    assert of(tmp_path, *events, complete=False).verdict == "NOT EXCLUDED"
    assert of(tmp_path, *events, got("a", 4, GPU), got("b", 5, GPU), complete=False).verdict == "HIT"
    assert of(tmp_path, *events, got("a", 4), got("b", 5, GPU), complete=False).verdict == "NOT EXCLUDED"


def test_what_had_it_when_the_log_began(tmp_path: Path) -> None:
    start = listed(node("n"), claim("old", GPU))
    assert of(tmp_path, got("b", 3, GPU), start=start).hits[0].pods == ("default/old", "default/b")
    assert of(tmp_path, got("b", 3, GPU), start=listed(node("n"))).reasons == (
        "what claims there were when the log began is not known: dump nodes,pods,resourceclaims (once)",
    )
    log = [seen("n", 0), made("b", 1), got("b", 3, GPU)]
    assert NO_START in answer(answered(tmp_path, log), "S-DEV").reasons


def test_without_bodies(tmp_path: Path) -> None:
    blind = written("update", "resourceclaims/status", "a", 2, None, level="Metadata")
    told = of(tmp_path, blind, got("b", 3, GPU))
    assert "the log lacks bodies of ResourceClaims (once)" in told.reasons
    assert told.policy[0].startswith(
        "- level: RequestResponse, verbs: [create, update, patch, delete, deletecollection]"
    )
    failed = written("update", "resourceclaims/status", "a", 2, None, code=504)
    assert of(tmp_path, failed, got("b", 3, GPU)).verdict == "NOT EXCLUDED"
    refused = written("update", "resourceclaims/status", "a", 2, None, code=409)
    assert of(tmp_path, refused, got("b", 3, GPU)).verdict == "EXCLUDED"


def test_it_is_asked_where_there_are_claims(tmp_path: Path) -> None:
    report = answered(tmp_path, [seen("n", 0), *both("p", 1)], listed(node("n")))
    assert "S-DEV" not in {a.property for a in report.answers}
    asked = answered(tmp_path, [seen("n", 0), *both("p", 1)], listed(node("n")), properties=["S-DEV"])
    assert "the log has no write of resourceclaims at all" in asked.answers[0].reasons
