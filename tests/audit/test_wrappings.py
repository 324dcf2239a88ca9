"""Every wrapping of an audit log gives the same answers, and what is no audit event is counted."""

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from podrace.audit.audit import Asked, audit_logs
from podrace.audit.reading.lines import whole_log
from podrace.base.problems import Problem
from podrace.reports.audit_report import AuditReport, account_lines
from tests.audit.written_logs import Object, answer, bound, created, event, lines, node, running

OVERFULL = [
    event("create", "nodes", "n", 1, code=201, response=node("n", "1")),
    created("a", 2),
    created("b", 3),
    bound("a", "n", 4),
    running("a", "n", 5),
    bound("b", "n", 6),
    running("b", "n", 7),
    running("a", "n", 8, version=101),
    event("patch", "nodes/status", "n", 9, response=node("n", "1", version=102)),
]
WORDS = "n is overfull: 2 of 1 cpu with default/a, default/b; the Binding of default/b was accepted last"


def asked(folder: Path, *texts: str | bytes) -> AuditReport:
    """What these files say."""
    names = []
    for number, text in enumerate(texts):
        names.append(folder / f"{number}.log")
        names[-1].write_bytes(text if isinstance(text, bytes) else text.encode())
    return audit_logs(Asked(list(map(str, names))))


def text(e: Object) -> str:
    return json.dumps(e)


WRAPPED: dict[str, Callable[[Sequence[Object]], str | bytes]] = {
    "plain": lambda events: lines(events),
    "gzip": lambda events: gzip.compress(lines(events).encode()),
    "gzip in two parts": lambda events: gzip.compress(lines(events[:4]).encode()) + gzip.compress(lines(events[4:]).encode()),
    "a list, as the webhook sends it": lambda events: text({"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "items": events}),
    "CloudWatch, exported to S3": lambda events: "".join(f"2026-01-01T00:00:00.000Z {text(e)}\n" for e in events),
    "CloudWatch, message": lambda events: "".join(text({"timestamp": 1, "message": text(e)}) + "\n" for e in events),
    "CloudWatch, @message": lambda events: "".join(text({"@timestamp": "x", "@message": text(e)}) + "\n" for e in events),
    "CloudWatch, @message as an object": lambda events: "".join(text({"@message": e}) + "\n" for e in events),
    "CloudWatch, filter-log-events": lambda events: json.dumps({"events": [{"logStreamName": "kube-apiserver-audit-1", "message": text(e)} for e in events]}, indent=2),
    "CloudWatch, subscription": lambda events: text({"messageType": "DATA_MESSAGE", "logStream": "kube-apiserver-audit-1", "logEvents": [{"id": "1", "message": text(e)} for e in events]}),
    "CloudWatch, query": lambda events: json.dumps({"results": [[{"field": "@timestamp", "value": "x"}, {"field": "@message", "value": text(e)}] for e in events]}),
    "AKS, a record a line": lambda events: "".join(text({"category": "kube-audit", "properties": {"log": text(e), "pod": "kube-apiserver-1"}}) + "\n" for e in events),
    "AKS, event hub": lambda events: text({"records": [{"category": "kube-audit", "properties": {"log": text(e), "pod": "kube-apiserver-1"}} for e in events]}),
    "AKS, properties as text": lambda events: "".join(text({"properties": text({"log": text(e)})}) + "\n" for e in events),
    "AKS, AzureDiagnostics": lambda events: json.dumps([{"Category": "kube-audit", "log_s": text(e), "pod_s": "kube-apiserver-1"} for e in events], indent=1),
    "OpenShift, with the names of nodes": lambda events: "".join(f"ip-10-0-1-2.ec2.internal {text(e)}\n" for e in events),
    "OpenShift, collected": lambda events: "".join(text({**e, "level": "info", "k8s_audit_level": e["level"], "message": None, "hostname": "master-0", "log_type": "audit"}) + "\n" for e in events),
}  # fmt: skip

OF_ANY_SERVER = (
    "CloudWatch, message",
    "CloudWatch, @message",
    "CloudWatch, @message as an object",
    "CloudWatch, query",
    "AKS, properties as text",
)


@pytest.mark.parametrize("kind", WRAPPED)
def test_wrapped_logs_say_the_same(tmp_path: Path, kind: str) -> None:
    report = asked(tmp_path, WRAPPED[kind](OVERFULL))
    (hit,) = answer(report, "S-CAP").hits
    # Where nobody says which API server wrote a line, the clocks of several may differ.
    time = "2026-01-01T00:00:06.050Z" if kind in OF_ANY_SERVER else "2026-01-01T00:00:06.000Z"
    assert (hit.words, hit.time, hit.by) == (WORDS, time, "system:kube-scheduler")
    assert (report.account.events, report.account.skipped, report.account.servers) == (9, {}, 1)


def test_a_row_of_aks_audit(tmp_path: Path) -> None:
    """The resource-specific tables have columns of their own, and bodies that were too large are texts."""

    def row(e: Object) -> Object:
        return {
            "AuditId": e["auditID"], "Level": e["level"], "Stage": e["stage"], "RequestUri": e["requestURI"], "Verb": e["verb"],
            "User": e["user"], "SourceIps": e["sourceIPs"], "ObjectRef": e["objectRef"], "ResponseStatus": e["responseStatus"],
            "RequestObject": e.get("requestObject", "skipped-too-big-size-object"),
            "ResponseObject": e.get("responseObject", "skipped-too-big-size-object"),
            "RequestReceivedTime": e["requestReceivedTimestamp"], "StageReceivedTime": e["stageTimestamp"], "PodName": "kube-apiserver-1",
        }  # fmt: skip

    rows = [row(e) for e in OVERFULL]
    report = asked(tmp_path, "".join(text(r) + "\n" for r in rows))
    assert answer(report, "S-CAP").hits[0].words == WORDS
    rows[1]["ResponseObject"] = "skipped-too-big-size-object"
    report = asked(tmp_path, "".join(text(r) + "\n" for r in rows))
    assert "the log lacks bodies of pods (once)" in answer(report, "S-COND").reasons
    # In a union with AKSControlPlane each row has the columns of both tables.
    for nothing in ("", None):
        both = [{**row(e), "Message": nothing, "Category": nothing} for e in OVERFULL]
        report = asked(tmp_path, "".join(text(r) + "\n" for r in both))
        assert (answer(report, "S-CAP").hits[0].words, report.account.events) == (WORDS, 9)


def gke_entry(e: Object) -> Object:
    reference, verb = e["objectRef"], e["verb"]
    group = reference.get("apiGroup") or "core"
    parts = [reference["resource"], reference["name"], *filter(None, [reference.get("subresource")])]
    method = [p for p in (reference["resource"], reference.get("subresource"), verb) if p]
    space = [] if reference["resource"] == "nodes" else ["namespaces", reference["namespace"]]

    def of_type(body: Object | None) -> dict[str, Any]:
        return (
            {}
            if body is None
            else {
                "@type": f"core.k8s.io/v1.{body.get('kind', 'Patch')}",
                **{k: v for k, v in body.items() if k != "kind"},
            }
        )

    return {
        "insertId": e["auditID"],
        "timestamp": e["requestReceivedTimestamp"],
        "logName": "projects/p/logs/cloudaudit.googleapis.com%2Factivity",
        "resource": {"type": "k8s_cluster", "labels": {"cluster_name": "c"}},
        "protoPayload": {
            "@type": "type.googleapis.com/google.cloud.audit.AuditLog",
            "serviceName": "k8s.io",
            "methodName": f"io.k8s.{group.partition('.')[0]}.v1.{'.'.join(method)}",
            "resourceName": "/".join([f"{group}/v1", *space, *parts]),
            "authenticationInfo": {"principalEmail": e["user"]["username"]},
            "requestMetadata": {"callerIp": "10.0.0.1"},
            "status": {"code": 0} if e["responseStatus"]["code"] < 300 else {"code": 10},
            "request": of_type(e.get("requestObject")),
            "response": of_type(e.get("responseObject")),
        },
    }


def test_entries_of_cloud_logging(tmp_path: Path) -> None:
    """An entry has one time, so each request may have begun a minute before and ended a minute after it: what lasts is seen all the same."""
    late = [running("a", "n", 400, version=500), running("b", "n", 400.1, version=501)]
    seen = event("patch", "nodes/status", "n", 401, response=node("n", "1", version=502))
    entries = [gke_entry(e) for e in [*OVERFULL, *late, seen]]
    report = asked(tmp_path, json.dumps(entries, indent=2))
    assert (
        answer(report, "S-CAP")
        .hits[0]
        .words.startswith("n is overfull: 2 of 1 cpu with default/a, default/b")
    )
    assert (
        answer(asked(tmp_path, json.dumps([gke_entry(e) for e in OVERFULL])), "S-CAP").verdict
        == "NOT EXCLUDED"
    )
    assert report.account.levels["pods/binding"] == {"RequestResponse": 2}


def test_a_log_for_each_server(tmp_path: Path) -> None:
    """Lines of several servers are put in order; their clocks may differ."""
    report = asked(tmp_path, lines(OVERFULL[::2]), lines(OVERFULL[1::2]))
    assert answer(report, "S-CAP").hits[0].time == "2026-01-01T00:00:06.050Z"
    assert report.account.servers == 2


def test_what_a_server_has_set_aside_is_its_log(tmp_path: Path) -> None:
    """kube-apiserver begins a new file when one is full; the names of the others say when. It is one clock, and one machine."""
    parts = {
        "audit-2026-01-01T00-00-03.000.log": OVERFULL[:2],
        "audit-2026-01-01T00-00-05.000.log.gz": OVERFULL[2:4],
        "audit.log": OVERFULL[4:],
    }
    for name, events in parts.items():
        data = lines(events).encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    report = audit_logs(Asked(tuple(str(tmp_path / name) for name in (*parts, "audit.log"))))
    assert (report.account.files, report.account.servers) == (4, 1)
    assert answer(report, "S-CAP").hits[0].time == "2026-01-01T00:00:06.000Z"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("a/audit.log", "a/audit-2026-01-01T00-00-03.000.log.gz", True),
        ("a/audit.log", "b/audit-2026-01-01T00-00-03.000.log", False),
        ("a/cp1-audit.log", "a/cp2-audit-2026-01-01T00-00-03.000.log", False),
        ("a/audit-1.log", "a/audit-2.log", False),
        ("a/audit.log.1", "a/audit.log.2", False),
        ("a/0.log", "a/0.log.20260101-000003.gz", True),
        ("-", "-", True),
    ],
)
def test_which_files_are_of_one_log(one: str, other: str, same: bool) -> None:
    assert (whole_log(one) == whole_log(other)) is same


SKIPPED = {
    "not JSON, or cut off": ['{"kind": "Event", "auditID": "x', "{" * 100_000, '{"a":' + "[" * 200_000 + "]" * 200_000 + "}"],
    "JSON, but no audit event": ["{}", '{"kind": 5}', '{"message": "{}"}', '{"records": 3}', '{"events": {"a": 1}}'],
    "neither JSON nor a line of klog": ["hello", "[1, 2", "\x1b[2J\x1b]0;title\x07", "12345"],
    "an object, not an event": ['{"kind": "Secret", "apiVersion": "v1", "data": {"password": "s3cret"}}'],
    "an audit event that lacks something that every one has": [
        json.dumps({k: v for k, v in OVERFULL[1].items() if k != "stage"}),
        json.dumps({**OVERFULL[1], "level": "Everything"}),
        json.dumps({**OVERFULL[1], "requestURI": "/api/v1/namespaces/default/secrets"}),
        json.dumps({k: v for k, v in OVERFULL[1].items() if k != "objectRef"}),
    ],
    "an audit event without a time": [json.dumps({**OVERFULL[1], "requestReceivedTimestamp": "soon", "stageTimestamp": "99999-01-01"})],
    "a LogEntry of another service than k8s.io": [json.dumps({"protoPayload": {"serviceName": "compute.googleapis.com"}})],
    "wrapped too often": [],
}  # fmt: skip


@pytest.mark.parametrize("why", SKIPPED)
def test_lines_that_say_nothing_are_counted_and_told(tmp_path: Path, why: str) -> None:
    given = SKIPPED[why]
    if why == "wrapped too often":
        inner = json.dumps(OVERFULL[0])
        for _ in range(8):
            inner = json.dumps({"message": inner})
        given = [inner]
    report = asked(tmp_path, lines(OVERFULL) + "".join(f"{line}\n" for line in given))
    assert report.account.skipped == {why: len(given)}
    assert answer(report, "S-CAP").hits[0].words == WORDS
    many = "line was" if len(given) == 1 else "lines were"
    assert f"{len(given)} {many} skipped, and can be any write" in answer(report, "S-COND").reasons


def test_what_cannot_be_read_to_its_end(tmp_path: Path) -> None:
    whole = gzip.compress(lines(OVERFULL).encode())
    assert asked(tmp_path, whole[:-30]).account.skipped == {"a compressed file that is cut off or damaged": 1}
    with pytest.raises(
        Problem, match=r"^nowhere\.log: no such file: name an audit log, or - for the standard input$"
    ):
        audit_logs(Asked(["nowhere.log"]))
    with pytest.raises(Problem, match="a directory: name the files in it"):
        audit_logs(Asked([str(tmp_path)]))


def test_a_line_of_a_hundred_megabytes(tmp_path: Path) -> None:
    log = tmp_path / "large.log"
    with log.open("w") as file:
        file.write('{"kind": "')
        for _ in range(100):
            file.write("x" * (1 << 20))
        file.write(f'"}}\n{lines(OVERFULL)}')
    report = audit_logs(Asked([str(log)]))
    assert report.account.skipped == {"longer than 64 MiB": 1}
    assert report.account.places == {"longer than 64 MiB": [f"{log}:1"]}
    assert answer(report, "S-CAP").hits[0].words == WORDS


def test_the_places_of_skipped_lines(tmp_path: Path) -> None:
    first, *rest = OVERFULL
    bad = [
        text(first),
        "",
        '{"kind": "Event", broken',
        *map(text, rest),
        *["hello"] * 5,
        "{",
        ' "kind": 1,',
        "",
    ]
    report = asked(tmp_path, lines(OVERFULL), "\n".join(bad))
    log, after = tmp_path / "1.log", len(OVERFULL) + 3
    klog = ", ".join(f"{log}:{after + number}" for number in range(3))
    assert [line for line in account_lines(report) if " skipped: " in line] == [
        f"3 lines skipped: not JSON, or cut off ({log}:3, {log}:{after + 5}-{after + 6})",
        f"5 lines skipped: neither JSON nor a line of klog ({klog}, ...)",
    ]


def test_lines_that_are_given_twice_count_once(tmp_path: Path) -> None:
    report = asked(tmp_path, lines(OVERFULL), lines(OVERFULL))
    assert (report.account.twice, report.account.writes) == (9, 9)
    assert answer(report, "A-TWICE").verdict == "NOT EXCLUDED"


def test_many_records_wait_in_files(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(lines(reversed(OVERFULL)))
    assert audit_logs(Asked([str(log)], at_once=2)) == audit_logs(Asked([str(log)]))


def test_an_event_without_an_address_is_about_its_object(tmp_path: Path) -> None:
    short = [{k: v for k, v in e.items() if k != "requestURI"} for e in OVERFULL]
    report = asked(tmp_path, "".join(text(e) + "\n" for e in short))
    assert (answer(report, "S-CAP").hits[0].words, report.account.skipped) == (WORDS, {})
    lost = [{k: v for k, v in e.items() if k not in ("requestURI", "objectRef")} for e in OVERFULL]
    why = "an audit event that lacks something that every one has"
    assert asked(tmp_path, "".join(text(e) + "\n" for e in lost)).account.skipped == {why: len(OVERFULL)}
