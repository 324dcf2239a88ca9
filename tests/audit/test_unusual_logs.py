"""What an audit log can have besides the usual: dry runs, applies, deletions that name nobody, IDs that clients chose, clocks that differ."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from podrace.audit.audit import Asked, audit_logs
from podrace.base.problems import Problem
from podrace.reports.audit_report import Answer
from tests.audit.test_answers import both, of, seen
from tests.audit.written_logs import (
    Object,
    answer,
    answered,
    bound,
    created,
    deleted,
    event,
    lines,
    listed,
    node,
    pod,
    running,
)

FULL = both("a", 1, "2")
MORE = both("b", 3, "2")
OVERFULL = "n is overfull: 4 of 2 cpu with default/a, default/b; the Binding of default/b was accepted last"


def capacity(folder: Path, *events: Object, **more: Any) -> Answer:
    """What is said of S-CAP on node n of two CPUs."""
    return of(folder, "S-CAP", *events, **more)


def asked_with(request: Object, query: str) -> Object:
    """The same request with a query in its address."""
    return {**request, "requestURI": f"{request['requestURI']}?{query}"}


def with_options(request: Object, options: Object) -> Object:
    """The same request with a body."""
    return {**request, "requestObject": options}


GONE = deleted("a", 2, on="n", cpu="2")
EVICTED = event("create", "pods/eviction", "a", 2, code=201)
DRY = {"dryRun": ["All"]}


@pytest.mark.parametrize(
    "request_",
    [
        asked_with(GONE, "gracePeriodSeconds=0&dryRun=All"),
        with_options(GONE, {"kind": "DeleteOptions", **DRY}),
        asked_with(EVICTED, "dryRun=All"),
        with_options(EVICTED, {"kind": "Eviction", "deleteOptions": DRY}),
        asked_with(running("a", "n", 2, "1m"), "dryRun=All"),
    ],
)
def test_nothing_comes_of_a_dry_run(tmp_path: Path, request_: Object) -> None:
    assert capacity(tmp_path, *FULL, request_, *MORE).hits[0].words == OVERFULL


def test_a_binding_that_was_a_dry_run_fills_nothing(tmp_path: Path) -> None:
    dry = asked_with(bound("b", "n", 3), "dryRun=All")
    assert capacity(tmp_path, *FULL, created("b", 2, "2"), dry).verdict == "EXCLUDED"
    assert of(tmp_path, "A-TWICE", *both("a", 1), asked_with(bound("a", "n", 3), "dryRun=All")).hits == ()


def test_without_its_body_an_eviction_or_a_deletion_may_be_a_dry_run(tmp_path: Path) -> None:
    for blind in (EVICTED, {k: v for k, v in {**GONE, "level": "Metadata"}.items() if k != "responseObject"}):
        assert capacity(tmp_path, *FULL, blind, *MORE).verdict == "NOT EXCLUDED"
    refused = event("create", "pods/eviction", "a", 2, code=429)
    assert capacity(tmp_path, *FULL, refused, *MORE).verdict == "HIT"


def test_a_node_that_may_not_have_gone(tmp_path: Path) -> None:
    """Without a body nobody knows whether it had finalizers; the Status of a deletion says that it had not."""
    new = event("create", "nodes", "n", 3, code=201, response=node("n", version=50))
    for more, reason in (
        ({"level": "Metadata"}, ("the log lacks bodies of nodes (once)",)),
        ({"response": {"kind": "Status", "status": "Success"}}, ()),
    ):
        gone = event("delete", "nodes", "n", 2, **more)
        assert of(tmp_path, "S-AFF", *both("a", 1, "1m"), gone, new).reasons == reason


def test_an_apply_can_create(tmp_path: Path) -> None:
    applied = event("patch", "pods", "a", 1, code=201, response=pod("a", "2"))
    assert capacity(tmp_path, applied, bound("a", "n", 2), *MORE).hits[0].words == OVERFULL
    small = event("patch", "pods", "a", 1, code=201, response=pod("a", "1m"))
    assert capacity(tmp_path, small, bound("a", "n", 2), *both("b", 3)).verdict == "EXCLUDED"


def of_all(request: Object) -> Object:
    """A request that names no object."""
    reference = {k: v for k, v in request["objectRef"].items() if k != "name"}
    return {**request, "objectRef": reference, "requestURI": "/api/v1/namespaces/default/pods"}


def test_a_name_that_the_api_server_made(tmp_path: Path) -> None:
    """Only the response has it."""
    named = of_all(created("a", 1, "2"))
    assert capacity(tmp_path, named, bound("a", "n", 2), *MORE).hits[0].words == OVERFULL
    blind = {k: v for k, v in {**named, "level": "Metadata"}.items() if k != "responseObject"}
    told = capacity(tmp_path, blind, bound("a", "n", 2), *MORE)
    assert told.verdict == "NOT EXCLUDED"
    assert "the log is not complete: a pod that was created, and whose name no line says (1)" in told.reasons


def test_a_deletion_of_all_that_goes_on_while_a_pod_is_created(tmp_path: Path) -> None:
    all_of_them = of_all(event("deletecollection", "pods", "", 0.5, until=6))
    told = capacity(tmp_path, all_of_them, *FULL, *MORE)
    assert told.reasons == (
        "in some order of what the log has, a node is overfull (once: n at 2026-01-01T00:00:03.200Z, 4 of 2 cpu)",
    )
    assert capacity(tmp_path, asked_with(all_of_them, "dryRun=All"), *FULL, *MORE).verdict == "HIT"
    before = of_all(event("deletecollection", "pods", "", 0.5, until=0.6))
    assert capacity(tmp_path, before, *FULL, *MORE).verdict == "HIT"


def test_a_client_can_choose_the_id_of_its_requests(tmp_path: Path) -> None:
    """Lines of one ID and one time are lines of different requests, if they do not say the same."""
    same = [{**e, "auditID": "mine"} for e in (*FULL, *both("b", 1, "2"))]
    assert capacity(tmp_path, *same).verdict == "HIT"


def test_an_extended_resource_that_the_node_does_not_have(tmp_path: Path) -> None:
    """A ResourceClaim may provide it (DRAExtendedResource), or an extender take care of it: then it is no overfull node."""
    asks: dict[str, Any] = {
        "containers": [{"name": "c", "resources": {"requests": {"cpu": "1", "example.com/gpu": "1"}}}]
    }
    assert capacity(tmp_path, *both("a", 1, **asks)).reasons == (
        "in some order of what the log has, a node is overfull (once: n at 2026-01-01T00:00:01.200Z, 1 of 0 example.com/gpu)",
    )
    has = seen("n", 0.5, version=901, **{"example.com/gpu": "1"})
    two = [*both("a", 1, **asks), *both("b", 2, **asks)]
    assert "2 of 1 example.com/gpu" in capacity(tmp_path, has, *two).hits[0].words
    claimed = running("a", "n", 1.5, **asks)
    claimed["responseObject"]["status"]["extendedResourceClaimStatus"] = {
        "resourceClaimName": "x", "requestMappings": [{"containerName": "c", "resourceName": "example.com/gpu", "requestName": "r"}],
    }  # fmt: skip
    assert capacity(tmp_path, has, *two[:2], claimed, *two[2:]).verdict == "NOT EXCLUDED"


def test_a_resize_of_a_whole_pod(tmp_path: Path) -> None:
    """What was written for the pod, and what its node has given it."""

    def resized(written: str, given: str) -> Object:
        body = pod("a", "1m", on="n", version=300, resources={"requests": {"cpu": written}})
        body["status"]["resources"] = {"requests": {"cpu": given, "memory": "9Gi"}}
        return event("patch", "pods/resize", "a", 2, response=body)

    first = both("a", 1, "1m", resources={"requests": {"cpu": "1500m"}})
    second = both("b", 3, "1")
    assert capacity(tmp_path, *first, resized("500m", "1500m"), *second).verdict == "NOT EXCLUDED"
    assert capacity(tmp_path, *first, resized("500m", "500m"), *second).verdict == "EXCLUDED"
    assert capacity(tmp_path, *first, resized("1500m", "1500m"), *second).verdict == "HIT"


def test_amounts_that_no_number_holds(tmp_path: Path) -> None:
    for amount in ("1e99", "1e999999999", "-1", ""):
        told = capacity(tmp_path, *FULL, created("b", 2, amount), bound("b", "n", 3))
        assert told.reasons == ("what a pod asks for is not known (once: default/b)",)
    for large in (created("b", 2, 10**40), created("b", 2, "2", priority=10**30)):  # type: ignore[arg-type]
        events = [seen("n", 0), *FULL, large, bound("b", "n", 3)]
        for at_once in (1, 100):
            told = answer(answered(tmp_path, events, listed(node("n")), at_once=at_once), "S-CAP")
            assert told.reasons == (
                "what a pod asks for is not known (once: default/b)",
                "the log lacks bodies of pods (once)",
            )
    coded = [{**FULL[0], "responseStatus": {"code": 10**30}}, *FULL[1:]]
    assert answered(tmp_path, coded, at_once=1).account.skipped == {"JSON, but no audit event": 1}


@pytest.mark.parametrize("resource", ["pods", "pods/status"])
def test_a_list_of_operations_may_have_changed_anything(tmp_path: Path, resource: str) -> None:
    """Of a JSON patch, nobody computes here what came of it."""
    patch = event("patch", resource, "a", 2, level="Request", request=[{"op": "replace", "path": "/status/phase", "value": "Failed"}])  # type: ignore[arg-type]  # fmt: skip
    assert capacity(tmp_path, *FULL, patch, *MORE).verdict == "NOT EXCLUDED"


def test_a_request_that_panicked_may_have_been_carried_out(tmp_path: Path) -> None:
    panicked = {**bound("b", "n", 3), "stage": "Panic"}
    assert capacity(tmp_path, *FULL, created("b", 2, "2"), panicked).verdict == "NOT EXCLUDED"


def test_only_the_first_lines_of_requests(tmp_path: Path) -> None:
    begun = [{**e, "stage": "RequestReceived"} for e in (*FULL, *MORE)]
    report = answered(tmp_path, [seen("n", 0), *begun], listed(node("n")))
    assert {a.verdict for a in report.answers} == {"NOT EXCLUDED"}


def test_versions_that_speak_against_the_times(tmp_path: Path) -> None:
    """The clocks of API servers whose lines are in one file differ: then nothing that depends on an order is said."""
    swapped = [running("a", "n", 2, "2", version=301), running("a", "n", 2.5, "2", version=300)]
    told = capacity(tmp_path, *FULL, *swapped, *MORE)
    assert told.verdict == "NOT EXCLUDED"
    assert told.reasons == (
        "in some order of what the log has, a node is overfull (once: n at 2026-01-01T00:00:03.200Z, 4 of 2 cpu)",
        (
            "resourceVersions are in another order than the times, by 0.500 s: the clocks differ, so these are lines of several API "
            "servers: give a file for each"
        ),
    )


def test_what_one_line_shows_depends_on_no_clock(tmp_path: Path) -> None:
    says = running("a", "n", 2.5, "2", version=300)
    says["responseObject"]["status"]["conditions"] = [{"type": "PodScheduled", "status": "False"}]
    assert of(tmp_path, "S-COND", *FULL, running("a", "n", 2, "2", version=301), says).verdict == "HIT"
    again = [bound("a", "n", 4), running("a", "n", 5, "2", version=299)]
    told = of(tmp_path, "A-TWICE", *FULL, running("a", "n", 2, "2", version=301), *again)
    assert (told.verdict, told.reasons[0]) == (
        "NOT EXCLUDED",
        "it was so if the times are right, at 2026-01-01T00:00:04.000Z",
    )


def of_files(folder: Path, *texts: Sequence[Object], skew: int) -> Answer:
    names = []
    for number, events in enumerate(texts):
        names.append(str(folder / f"{number}.log"))
        Path(names[-1]).write_text(lines(events))
    start = folder / "start.json"
    start.write_text(json.dumps(listed(node("n"))))
    return next(
        a for a in audit_logs(Asked(names, [str(start)], True, skew)).answers if a.property == "S-CAP"
    )


def test_a_skew_that_is_greater_than_it_was_said_to_be(tmp_path: Path) -> None:
    swapped = [running("a", "n", 2, "2", version=301)], [running("a", "n", 2.5, "2", version=300)]
    first, second = [seen("n", 0), *FULL, *swapped[0]], [*swapped[1], *MORE]
    told = of_files(tmp_path, first, second, skew=50_000)
    assert (told.verdict, told.reasons[-1]) == (
        "NOT EXCLUDED",
        "resourceVersions are in another order than the times, by 0.400 s: the clocks differ, beyond the 0.05 s of --clock-skew",
    )
    assert of_files(tmp_path, first, second, skew=300_000).verdict == "HIT"


def test_what_a_write_needs_may_have_a_later_time_than_it(tmp_path: Path) -> None:
    """Where the clock of another API server is ahead, a pod is bound before it is created, as times say, and shown on a node before that."""
    of_one = [seen("n", 0), bound("a", "n", 2, until=2.01), running("b", "n", 2.99)]
    of_other = [created("a", 2.015), *both("b", 2.8)[:1], bound("b", "n", 3)]
    told = of_files(tmp_path, of_one, of_other, skew=50_000)
    assert (told.verdict, told.reasons) == ("EXCLUDED", ())
    full = [*both("c", 4, "1")]
    assert of_files(tmp_path, of_one, [*of_other, *full], skew=50_000).hits[0].words == (
        "n is overfull: 3 of 2 cpu with default/a, default/b, default/c; the Binding of default/c was accepted last"
    )
    late = of_files(tmp_path, of_one, of_other, skew=5_000)
    assert "the log is not complete: a Binding of a pod that no line creates (1)" in late.reasons


def test_documents_one_after_the_other(tmp_path: Path) -> None:
    """As jq prints them."""
    events = [seen("n", 0), *FULL, *MORE]
    for indent in (1, 2, 4):
        text = "".join(json.dumps(e, indent=indent) + "\n" for e in events)
        assert answer(answered(tmp_path, text, listed(node("n"))), "S-CAP").hits[0].words == OVERFULL
    text = f"{json.dumps(events, indent=2)}\n{lines([running('a', 'n', 9, '2')])}"
    report = answered(tmp_path, text, listed(node("n")))
    assert (report.account.events, report.account.skipped) == (6, {})
    cut = answered(tmp_path, json.dumps(events[0], indent=2)[:-2], listed(node("n")))
    assert sum(cut.account.skipped.values()) > 0


def test_texts_of_windows(tmp_path: Path) -> None:
    events = lines([seen("n", 0), *FULL, *MORE])
    report = answered(tmp_path, "\ufeff" + events.replace("\n", "\r\n"), listed(node("n")))
    assert (answer(report, "S-CAP").hits[0].words, report.account.skipped) == (OVERFULL, {})
    log = tmp_path / "wide.log"
    log.write_text(events, encoding="utf-16")
    with pytest.raises(
        Problem, match=r"wide\.log: UTF-16, as a shell of Windows writes it: write it as UTF-8$"
    ):
        audit_logs(Asked([str(log)]))
