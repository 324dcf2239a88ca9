"""Logs as those who pass them on write them: what stands before a line, what it is wrapped in, and lines that were broken."""

import bz2
import json
import lzma
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from podrace.audit.audit import Asked, audit_logs
from podrace.audit.reading.prefixes import bare, zoned
from podrace.base.problems import Problem
from podrace.reports.audit_report import AuditReport
from tests.audit.test_wrappings import OVERFULL, WORDS, asked, text
from tests.audit.written_logs import Object, answer

TIMES = [f"2026-01-01T00:00:0{i}.123456789" for i in range(len(OVERFULL))]


def each(form: Callable[[str, str], str]) -> Callable[[Sequence[Object]], str]:
    return lambda events: "".join(form(t, text(e)) + "\n" for t, e in zip(TIMES, events, strict=True))


def broken(time: str, line: str) -> str:
    """In pieces, with what came from the other stream in between."""
    return (
        f"{time}Z stdout P {line[:300]}\n{time}Z stderr F I0101 00:00:01.000000 1 a.go:1] \"Other\"\n"
        f"{time}Z stdout P {line[300:301]}\n{time}Z stdout F {line[301:]}"
    )  # fmt: skip


def of_docker(time: str, line: str) -> str:
    """Docker breaks after 16 KiB: a note makes the line long enough."""
    long = json.dumps({**json.loads(line), "annotations": {"note": "x\u20ac" * 20_000}})
    parts = [long[i : i + 16_384] for i in range(0, len(long), 16_384)]
    parts[-1] += "\n"
    pieces = ({"log": part, "stream": "stdout", "time": f"{time}Z"} for part in parts)
    return "\n".join(json.dumps(piece, separators=(",", ":")) for piece in pieces)


PASSED_ON: dict[str, Callable[[Sequence[Object]], str]] = {
    "containerd": each(lambda t, e: f"{t}Z stdout F {e}"),
    "containerd, in another zone": each(lambda t, e: f"{t}+05:45 stderr F {e}"),
    "containerd, broken": each(broken),
    "docker": each(lambda t, e: json.dumps({"log": f"{e}\n", "stream": "stdout", "time": t})),
    "docker, broken": each(of_docker),
    "journald": each(lambda t, e: f"Jan  1 00:00:01 m1 kube-apiserver[77]: {e}"),
    "journald, short-iso": each(lambda t, e: f"2026-01-01T00:00:01+0100 m1 kube-apiserver[77]: {e}"),
    "journald, json": each(lambda t, e: json.dumps({"_HOSTNAME": "m1", "MESSAGE": e})),
    "kubectl --prefix": each(lambda t, e: f"[pod/kube-apiserver-m1/kube-apiserver] {e}"),
    "kubectl --prefix --timestamps": each(lambda t, e: f"[pod/kube-apiserver-m1/kube-apiserver] {t}Z {e}"),
    "stern": each(lambda t, e: f"kube-apiserver-m1 kube-apiserver {e}"),
    "stern, all namespaces": each(lambda t, e: f"kube-system kube-apiserver-m1 kube-apiserver {e}"),
    "stern --timestamps": each(lambda t, e: f"kube-apiserver-m1 kube-apiserver {t}+01:00 {e}"),
    "logcli, lines": each(lambda t, e: f"2026-01-01T00:00:01Z {{container=\"x\", pod=\"kube-apiserver-m1\"}} {e}"),
    "AKSControlPlane": each(lambda t, e: json.dumps({"TimeGenerated": t, "Category": "kube-audit", "Message": e, "PodName": "kube-apiserver-m1"})),
    "syslog with its priority": each(lambda t, e: f"<134>Jan  1 00:00:01 m1 kube-apiserver[77]: {e}"),
    "syslog": each(lambda t, e: f"<134>1 {t}Z m1 kube-apiserver 77 - - {e}"),
    "Fluent Bit": each(lambda t, e: json.dumps({"date": 1.5, "log": json.loads(e), "kubernetes": {"pod_name": "a"}})),
    "Fluent Bit, of containerd": each(lambda t, e: json.dumps({"log": f"{t}Z stdout F {e}", "kubernetes": {"pod_name": "a"}})),
    "Cloud Logging, text": each(lambda t, e: json.dumps({"insertId": "x", "textPayload": e, "timestamp": t})),
    "Cloud Logging, JSON": each(lambda t, e: json.dumps({"insertId": "x", "jsonPayload": json.loads(e)})),
    "logcli": each(lambda t, e: json.dumps({"labels": {}, "line": e, "timestamp": t})),
    "Splunk": each(lambda t, e: json.dumps({"preview": False, "result": {"_raw": e}})),
    "Elasticsearch, a hit a line": each(lambda t, e: json.dumps({"_index": "i", "_source": json.loads(e)})),
    "Elasticsearch, a search": lambda events: json.dumps({"took": 1, "hits": {"hits": [{"_source": e} for e in events]}}),
    "Loki": lambda events: json.dumps({"status": "success", "data": {"result": [{"stream": {}, "values": [["1", text(e)] for e in events]}]}}),
    "a list in one line": lambda events: json.dumps(list(events)),
    "lines with commas": lambda events: ",\n".join(map(text, events)),
    "lines of Windows": each(lambda t, e: f"{t}Z stdout F {e}\r"),
}  # fmt: skip


@pytest.mark.parametrize("kind", PASSED_ON)
def test_passed_on_logs_say_the_same(tmp_path: Path, kind: str) -> None:
    report = asked(tmp_path, PASSED_ON[kind](OVERFULL))
    assert [hit.words for hit in answer(report, "S-CAP").hits] == [WORDS]
    assert (report.account.events, report.account.skipped, report.account.servers) == (9, {}, 1)


@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress])
def test_packed_logs(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    whole = pack("".join(f"{text(e)}\n" for e in OVERFULL).encode())
    report = asked(tmp_path, whole)
    assert [hit.words for hit in answer(report, "S-CAP").hits] == [WORDS]
    (told,) = asked(tmp_path, whole[:-8]).account.skipped.items()
    assert told in (
        ("a compressed file that is cut off or damaged", 1),
        ("a file that could not be read to its end", 1),
    )


def test_what_cannot_be_unpacked_has_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="packed by zstd: unpack it, as with zstdcat"):
        asked(tmp_path, b"\x28\xb5\x2f\xfd\x04\x00")


def test_a_piece_without_its_end_is_told(tmp_path: Path) -> None:
    whole = PASSED_ON["containerd"](OVERFULL)
    report = asked(tmp_path, f"{whole}2026-01-01T00:01:00Z stdout P {text(OVERFULL[0])[:100]}\n")
    assert report.account.skipped == {"not JSON, or cut off": 1}
    # It is not put before what another file begins with.
    report = asked(tmp_path, f"2026-01-01T00:01:00Z stdout P {text(OVERFULL[0])[:100]}\n", whole)
    assert (report.account.skipped, report.account.events) == ({"not JSON, or cut off": 1}, 9)


def test_servers_are_told_apart_by_what_stands_before(tmp_path: Path) -> None:
    two = "".join(f"[pod/kube-apiserver-m{i % 2}/c] {text(e)}\n" for i, e in enumerate(OVERFULL))
    report = asked(tmp_path, two)
    assert report.account.servers == 2
    # The clocks of two may differ.
    assert answer(report, "S-CAP").hits[0].time == "2026-01-01T00:00:06.050Z"


def test_lines_of_logcli_are_of_any_server_unless_their_labels_name_the_pod(tmp_path: Path) -> None:
    """logcli leaves out the labels that all lines have in common."""
    forms = {
        '{pod="kube-apiserver-m%d"}': "2026-01-01T00:00:06.050Z",
        '{app="x%d"}': "2026-01-01T00:00:06.050Z",
    }
    for labels, time in forms.items():
        whole = "".join(
            f"2026-01-01T00:00:09Z {labels % (i % 2)} {text(e)}\n" for i, e in enumerate(OVERFULL)
        )
        assert answer(asked(tmp_path, whole), "S-CAP").hits[0].time == time


FLUSHED = [
    'I0101 00:00:01.000000       1 schedule_one.go:1] "Unable to schedule pod; no fit; waiting" pod="default/a" err="0/1"',
    'I0101 00:05:31.000000       1 scheduling_queue.go:1] "Pod moved to an internal scheduling queue" pod="default/a" event="UnschedulableTimeout" queue="Active"',
    'I0101 00:05:31.100000       1 schedule_one.go:1] "Successfully bound pod to node" pod="default/a" node="n" evaluatedNodes=1',
]
FLUSHED_JSON = [
    json.dumps({"ts": 1767225600000 + ms, "caller": "x.go:1", "msg": msg, "pod": {"name": "a", "namespace": "default"}, **more})
    for ms, msg, more in (
        (1000, "Unable to schedule pod; no fit; waiting", {}),
        (331000, "Pod moved to an internal scheduling queue", {"event": "UnschedulableTimeout"}),
        (331100, "Successfully bound pod to node", {"node": "n"}),
    )
]  # fmt: skip


IN_TWO_MOVES = [
    *FLUSHED[:2],
    'I0101 00:05:31.050000       1 backoff_queue.go:1] "Pod moved to an internal scheduling queue" pod="default/a" event="BackoffComplete" queue="Active"',
    FLUSHED[2],
]
NEWER = [
    line.replace('"Pod moved', '"Entity moved').replace(
        'pod="default/a" event', 'type="pod" entity="default/a" event'
    )
    for line in FLUSHED
]
NEWER_JSON = [
    line.replace('"Pod moved', '"Entity moved').replace('"pod": {', '"type": "pod", "entity": {')
    if "moved" in line
    else line
    for line in FLUSHED_JSON
]


def scheduler_log(folder: Path, lines: Sequence[str]) -> AuditReport:
    log = folder / "scheduler.log"
    log.write_text("".join(f"{line}\n" for line in lines))
    return audit_logs(Asked([str(log)]))


@pytest.mark.parametrize("lines", [FLUSHED, FLUSHED_JSON, IN_TWO_MOVES, NEWER, NEWER_JSON])
@pytest.mark.parametrize(
    "form",
    [
        "{}", "{}\r", "2026-01-01T00:05:31Z stderr F {}", "2026-01-01T00:05:31.5Z {}", "Jan 01 00:05:31 m1 kube-scheduler[7]: {}",
        "[pod/kube-scheduler-m1/kube-scheduler] {}", "kube-scheduler-m1 kube-scheduler {}",
    ],
)  # fmt: skip
def test_the_schedulers_log_as_it_is_passed_on(tmp_path: Path, form: str, lines: Sequence[str]) -> None:
    report = scheduler_log(tmp_path, [form.format(line) for line in lines])
    (hit,) = answer(report, "A-FLUSH").hits
    assert hit.words.startswith("default/a was taken by the flush at ")
    assert hit.words.endswith(":31.000Z, and the next attempt bound it")
    assert report.account.skipped == {}


def test_who_was_moved_by_another_event_was_not_flushed(tmp_path: Path) -> None:
    other = FLUSHED[1].replace("UnschedulableTimeout", "AssignedPodDelete").replace(".000000", ".050000")
    assert answer(scheduler_log(tmp_path, [*FLUSHED[:2], other, FLUSHED[2]]), "A-FLUSH").hits == ()
    assert answer(scheduler_log(tmp_path, [*FLUSHED[:2], FLUSHED[2]]), "A-FLUSH").verdict == "HIT"
    group = NEWER[1].replace('type="pod"', 'type="podgroup"')
    assert answer(scheduler_log(tmp_path, [FLUSHED[0], group, FLUSHED[2]]), "A-FLUSH").hits == ()


@pytest.mark.parametrize(
    ("before", "time"),
    [
        ("2026-01-01T00:05:32Z stderr F", "2026-01-01T00:05:31.100Z"),
        ("2025-12-31T23:05:32Z stderr F", "2025-12-31T23:05:31.100Z"),
        ("2026-01-01T00:05:32+05:30", "2025-12-31T18:35:31.100Z"),
        ("2031-01-01T08:05:32Z", "2031-01-01T08:05:31.100Z"),
    ],
)
def test_year_and_zone_follow_from_when_a_line_was_passed_on(tmp_path: Path, before: str, time: str) -> None:
    report = scheduler_log(
        tmp_path, [f"{before} {line}" for line in FLUSHED[1:2]] + [f"{before} {FLUSHED[2]}"]
    )
    assert answer(report, "A-FLUSH").hits[0].time == time


def test_a_clock_in_a_leap_year() -> None:
    local = datetime(2024, 2, 29, 12, 0, 1, tzinfo=UTC)
    passed_on = datetime(2024, 2, 29, 13, 0, 2, tzinfo=UTC)
    assert zoned(local, passed_on) == passed_on - timedelta(seconds=1)
    # A clock that is far from every zone is taken at its word.
    assert zoned(local, passed_on + timedelta(days=3)) == local


def dated(folder: Path, lines: Sequence[str], written: datetime, *more: str) -> str:
    """When a violation was, in a log that was last written then."""
    log = folder / "scheduler.log"
    log.write_text("".join(f"{line}\n" for line in lines))
    os.utime(log, (written.timestamp(), written.timestamp()))
    return answer(audit_logs(Asked([str(log), *more])), "A-FLUSH").hits[0].time


NEW_YEAR = [
    FLUSHED[1].replace("I0101 00:05:31.000000", "I1231 23:59:59.900000"),
    FLUSHED[2].replace("I0101 00:05:31.100000", "I0101 00:00:00.100000"),
]


@pytest.mark.parametrize(
    ("lines", "written", "time"),
    [
        (FLUSHED, datetime(2026, 1, 1, 1, tzinfo=UTC), "2026-01-01T00:05:31.100Z"),
        (FLUSHED, datetime(2025, 12, 31, 23, tzinfo=UTC), "2026-01-01T00:05:31.100Z"),
        (NEW_YEAR, datetime(2026, 1, 1, 1, tzinfo=UTC), "2026-01-01T00:00:00.100Z"),
        (
            [line.replace("I0101", "I1231") for line in FLUSHED],
            datetime(2026, 1, 2, tzinfo=UTC),
            "2025-12-31T00:05:31.100Z",
        ),
        (
            [line.replace("I0101", "I0229") for line in FLUSHED],
            datetime(2026, 3, 1, tzinfo=UTC),
            "2024-02-29T00:05:31.100Z",
        ),
    ],
)
def test_no_line_is_later_than_its_file(
    tmp_path: Path, lines: Sequence[str], written: datetime, time: str
) -> None:
    assert dated(tmp_path, lines, written) == time


HEADER = [
    "Log file created at: 2023/12/31 00:00:00",
    "Running on machine: m1",
    "Binary: Built with gc go1.19 for linux/amd64",
    "Log line format: [IWEF]mmdd hh:mm:ss.uuuuuu threadid file:line] msg",
]


def test_a_file_that_klog_has_begun_says_its_year(tmp_path: Path) -> None:
    later = datetime(2026, 1, 1, tzinfo=UTC)
    assert dated(tmp_path, [*HEADER, *NEW_YEAR], later) == "2024-01-01T00:00:00.100Z"
    assert scheduler_log(tmp_path, [*HEADER, *FLUSHED]).account.skipped == {}


def test_a_file_that_was_copied_years_later_is_of_the_time_of_the_audit_log(tmp_path: Path) -> None:
    audit = tmp_path / "audit.log"
    audit.write_text("".join(f"{text(e)}\n" for e in OVERFULL))
    assert dated(tmp_path, FLUSHED, datetime(2031, 5, 5, tzinfo=UTC)) == "2031-01-01T00:05:31.100Z"
    assert (
        dated(tmp_path, FLUSHED, datetime(2031, 5, 5, tzinfo=UTC), str(audit)) == "2026-01-01T00:05:31.100Z"
    )
    assert (
        dated(tmp_path, NEW_YEAR, datetime(2031, 5, 5, tzinfo=UTC), str(audit)) == "2026-01-01T00:00:00.100Z"
    )


@pytest.mark.parametrize(
    ("odd", "logged", "found"),
    [
        ("0001-01-01T00:00:00Z", "2026", "2026-01-01T00:05:31.100Z"),
        ("9999-12-31T23:00:00Z", "2026", "2026-01-01T00:05:31.100Z"),
        ("9999-12-31T23:00:00Z", "9999", "9999-01-01T00:05:31.100Z"),
    ],
)
def test_a_year_is_looked_for_where_there_are_years(
    tmp_path: Path, odd: str, logged: str, found: str
) -> None:
    """Beside Go's zero time, which is none, and the last year that a clock can have."""
    audit = tmp_path / "audit.log"
    times = {"requestReceivedTimestamp": odd, "stageTimestamp": odd}
    events = [*OVERFULL, {**OVERFULL[0], "auditID": "odd", **times}]
    text_of = "".join(f"{text(e)}\n" for e in events)
    audit.write_text(text_of.replace('"2026-', f'"{logged}-'))
    assert dated(tmp_path, FLUSHED, datetime(2026, 1, 2, tzinfo=UTC), str(audit)) == found


@pytest.mark.parametrize(
    "line", ['I0101 00:00:01.000000 1 a.go:1] "HTTP" obj={"a":1}', "three plain words {", "a: b {}"]
)
def test_what_is_no_prefix_stays(line: str) -> None:
    assert bare(line.encode()) == (line.encode(), "", "")


BODIES = [
    '\t{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"kube-scheduler"}}',
    '\t{"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":"a"}',
    '\t00000000  6b 38 73 00 0a 0c 0a 02  76 31 12 06 22 3a 7b 7d  |k8s.....v1..":{}|',
    "\t{",
    '\t\t"kind": "Status"',
    "\t}",
    " >",
]


@pytest.mark.parametrize(
    "form", ["{}", "2026-01-01T00:05:31Z stderr F {}", "2026-01-01T00:05:31.5Z {}", "[pod/s-m1/s] {}"]
)
def test_bodies_that_klog_writes_are_no_events(tmp_path: Path, form: str) -> None:
    """At -v=8: in lines that begin with a tab, as those of an audit log do not."""
    value = 'I0101 00:05:31.010000       1 request.go:1212] "Response Body" body=<'
    report = scheduler_log(
        tmp_path, [form.format(line) for line in (*FLUSHED[:2], value, *BODIES, FLUSHED[2])]
    )
    assert (report.account.skipped, report.account.events) == ({}, 0)
    assert len(answer(report, "A-FLUSH").hits) == 1
    first = scheduler_log(tmp_path, [form.format(line) for line in BODIES[1:2]])
    assert first.account.skipped == {"an audit event that lacks something that every one has": 1}


@pytest.mark.parametrize("before", ["", "2026-01-01T00:00:00Z stderr F "])
def test_the_rest_of_an_event_is_no_value_of_klog(tmp_path: Path, before: str) -> None:
    """Beside klog's lines, as in what kube-apiserver writes to its standard output, an event may be damaged, too."""
    rest = text(OVERFULL[3]).partition('"verb": ')[2]
    report = asked(
        tmp_path, "".join(f"{before}{line}\n" for line in (FLUSHED[0], rest, "profiles:", "- plugins: {}"))
    )
    assert report.account.skipped == {"neither JSON nor a line of klog": 1}
