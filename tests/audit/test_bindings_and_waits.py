"""Second Bindings, Bindings after a hand-over, waits that the flush ends, and signs."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from podrace.audit.audit import Asked, audit_logs
from podrace.reports.audit_report import Answer
from tests.audit.test_answers import both, of, seen
from tests.audit.written_logs import (
    SCHEDULER,
    Object,
    answer,
    answered,
    bound,
    created,
    event,
    lines,
    listed,
    node,
    pod,
)


def test_a_second_binding(tmp_path: Path) -> None:
    again = bound("a", "m", 5, code=409, address="10.0.0.7")
    (hit,) = of(tmp_path, "A-TWICE", *both("a", 1), again, complete=False).hits
    assert hit.words == (
        "default/a was bound at 2026-01-01T00:00:01.200Z, and is sent another Binding to m, which got 409 "
        "(from 10.0.0.7, the first from 10.0.0.1)"
    )
    other = bound("a", "m", 5, uid="another")
    told = of(tmp_path, "A-TWICE", *both("a", 1), other, complete=False)
    assert told.verdict == "NOT EXCLUDED"
    refused = [created("a", 1), bound("a", "n", 2, code=409), bound("a", "n", 3)]
    assert of(tmp_path, "A-TWICE", *refused).verdict == "EXCLUDED"


def lease(at: float, holder: str, address: str, transitions: int) -> Object:
    body = {
        "kind": "Lease",
        "metadata": {"name": "kube-scheduler"},
        "spec": {"holderIdentity": holder, "leaseTransitions": transitions},
    }
    return event(
        "update",
        "leases",
        "kube-scheduler",
        at,
        namespace="kube-system",
        user=SCHEDULER,
        address=address,
        response=body,
    )


def test_a_binding_after_the_lease_has_gone(tmp_path: Path) -> None:
    before = [created("a", 0.5), lease(1, "m1", "10.0.0.1", 0), lease(2, "m2", "10.0.0.2", 1)]
    after = lease(4, "m2", "10.0.0.2", 1)
    (hit,) = of(tmp_path, "A-LEASE", *before, bound("a", "n", 3), after, complete=False).hits
    assert (
        hit.words
        == "default/a is sent a Binding from 10.0.0.1 (m1), while m2 holds the lease since 2026-01-01T00:00:02.000Z at the latest"
    )
    # Whoever has it again may bind, and a line may be missing by which it had it again in between.
    again = lease(4, "m2", "10.0.0.2", 3)
    assert of(tmp_path, "A-LEASE", *before, bound("a", "n", 3), again).verdict == "NOT EXCLUDED"
    back = lease(2.5, "m1", "10.0.0.1", 2)
    assert of(tmp_path, "A-LEASE", *before, back, bound("a", "n", 3), after).verdict == "NOT EXCLUDED"
    one = [
        created("a", 0.5),
        lease(1, "m1", "10.0.0.1", 0),
        bound("a", "n", 3),
        lease(4, "m1", "10.0.0.1", 0),
    ]
    assert of(tmp_path, "A-LEASE", *one).verdict == "EXCLUDED"
    blind = [{**e, "level": "Metadata"} for e in (lease(1, "m1", "10.0.0.1", 0),)]
    blind[0].pop("responseObject")
    told = of(tmp_path, "A-LEASE", created("a", 0.5), *blind, bound("a", "n", 3))
    assert told.reasons == ("the log lacks bodies of the scheduler's lease (once)",)
    # A write that was refused is no write, and says nothing of who holds the lease.
    refused = [{**e, "responseStatus": {"code": 409}} for e in blind]
    told = of(tmp_path, "A-LEASE", created("a", 0.5), *refused, bound("a", "n", 3))
    assert "the log has no write of the scheduler's lease (once)" in told.reasons


def test_an_address_of_the_api_server_s_own_machine(tmp_path: Path) -> None:
    """One API server is on one machine; where several wrote one log, nobody knows on which of theirs a scheduler was."""
    own = [created("a", 0.5), lease(1, "m1", "127.0.0.1", 0), bound("a", "n", 3, address="127.0.0.1")]
    events = [seen("n", 0), *own, seen("n", 9)]
    start = listed(node("n"))
    assert answer(answered(tmp_path, events, start), "A-LEASE").verdict == "EXCLUDED"
    wrapped = "".join(json.dumps({"message": json.dumps(e)}) + "\n" for e in events)
    assert answer(answered(tmp_path, wrapped, start), "A-LEASE").reasons == (
        (
            "schedulers are told apart by their addresses, and one is that of a machine of an API server, of which the log does not say "
            "which (once)"
        ),
    )


def test_a_scheduler_that_is_seen_from_two_addresses_is_told_from_nobody(tmp_path: Path) -> None:
    """As behind a load balancer: then the address of a Binding does not say whose it is."""
    before = [created("a", 0.5), lease(1, "m1", "10.0.0.1", 0), lease(2, "m2", "10.0.0.2", 1)]
    after = [lease(4, "m2", "10.0.0.2", 1), lease(6, "m2", "10.0.0.1", 1)]
    told = of(tmp_path, "A-LEASE", *before, bound("a", "n", 3), *after)
    assert told.verdict == "NOT EXCLUDED"
    assert "a scheduler wrote the lease from more than one address (once: m2)" in told.reasons


def test_who_is_bound_at_once_was_taken_by_no_flush(tmp_path: Path) -> None:
    soon, late = bound("a", "n", 290), bound("a", "n", 310)
    assert of(tmp_path, "A-FLUSH", created("a", 1), soon).verdict == "EXCLUDED"
    assert of(tmp_path, "A-FLUSH", created("a", 1), late).reasons == (
        (
            "a pod was bound long enough after its creation for the flush to have taken it; the scheduler's log at -v=5 would tell, "
            "with its writer's name, as by kubectl logs --prefix (once: default/a)"
        ),
    )
    # Up to 1.22 the flush came after a minute, and who does not say his release may be older.
    old = bound("a", "n", 70, agent="kube-scheduler/v1.22.17 (linux/amd64)")
    assert of(tmp_path, "A-FLUSH", created("a", 1), old).verdict == "NOT EXCLUDED"
    assert (
        of(tmp_path, "A-FLUSH", created("a", 1), bound("a", "n", 70, agent="mine")).verdict == "NOT EXCLUDED"
    )
    assert of(tmp_path, "A-FLUSH", bound("a", "n", 2)).verdict == "NOT EXCLUDED"


def test_the_flush_ends_a_wait(tmp_path: Path) -> None:
    text = (
        'I0101 00:05:00.000000       1 scheduling_queue.go:1] "Pod moved to an internal scheduling queue" pod="default/a" event="UnschedulableTimeout" queue="Active"\n'
        'I0101 00:05:01.000000       1 schedule_one.go:1] "Successfully bound pod to node" pod="default/a" node="n" evaluatedNodes=1 feasibleNodes=1\n'
    )
    told = answer(answered(tmp_path, text), "A-FLUSH")
    (hit,) = told.hits
    assert hit.words.endswith("-01-01T00:05:00.000Z, and the next attempt bound it")
    long = 'I0101 00:00:00.000000       1 configfile.go:1] "Using component config" config=<\n\tapiVersion: x\n\tkind: y\n >\n'
    assert answered(tmp_path, long + text).account.skipped == {}
    of_json = (
        '{"ts":1767225900000.5,"caller":"x","msg":"Pod moved to an internal scheduling queue","v":5,"pod":{"name":"a","namespace":"default"},"event":"UnschedulableTimeout","queue":"Active"}\n'
        '{"ts":1767225901000,"msg":"Successfully bound pod to node","pod":{"name":"a","namespace":"default"},"node":"n"}\n'
    )
    assert answer(answered(tmp_path, of_json), "A-FLUSH").hits[0].time == "2026-01-01T00:05:01.000Z"


def said(second: float, message: str, **more: str) -> str:
    """A line of the scheduler's log about pod a, so many seconds after the start."""
    values = "".join(f' {name}="{value}"' for name, value in more.items())
    return f'I0101 00:{int(second // 60):02}:{second % 60:09.6f}       1 a.go:1] "{message}" pod="default/a"{values}\n'


def moved(second: float, event: str, queue: str = "Active", message: str = "") -> str:
    return said(second, message or "Pod moved to an internal scheduling queue", event=event, queue=queue)


def of_entity(line: str) -> str:
    """As 1.37 writes it."""
    return line.replace(' pod="', ' type="pod" entity="')


FLUSH = moved(300, "UnschedulableTimeout")
BOUND = said(302, "Successfully bound pod to node", node="n")


@pytest.mark.parametrize(
    ("between", "hits"),
    [
        ("", 1),
        (said(301, "Attempting to schedule pod"), 1),
        (moved(301, "UnschedulableTimeout") + said(301.5, "Attempting to schedule pod"), 1),
        (said(301, "Attempting to schedule pod") + said(301.5, "Attempting to schedule pod"), 0),
        (said(301, "Error scheduling pod; retrying", err="timed out", logger="UnhandledError"), 0),
        (said(301, "Unable to schedule pod; no nodes are registered to the cluster; waiting"), 0),
        (said(301, "Unable to schedule pod; no fit; waiting", err="0/1"), 0),
        (said(301, "Unable to schedule pod, possibly due to node not found; waiting", err="gone"), 0),
        (said(301, "Unable to schedule pod belonging to a pod group; waiting", err="no"), 0),
        (moved(301, "ScheduleAttemptFailure", "Unschedulable"), 0),
        (said(301, "Add event for unscheduled pod"), 1),
        (said(301, "Delete event for unscheduled pod"), 1),
        (said(300.5, "Delete event for unscheduled pod") + said(301, "Add event for unscheduled pod"), 0),
        (said(301, "Add event for unscheduled pod") + said(301.5, "Delete event for unscheduled pod"), 1),
        (moved(301, "UnschedulableTimeout", "Unschedulable"), 0),
        (moved(301, "UnschedulableTimeout", "Unschedulable", "Pod moved to an internal scheduling queue, because the pod is gated"), 0),
        (moved(301, "PodUpdate", "Active", "Pod moved to an internal scheduling queue because the Pod is updated"), 0),
        (of_entity(moved(301, "PodUpdate", "Active", "Entity moved to an internal scheduling queue because the Pod is updated")), 0),
        (of_entity(moved(301, "UnschedulableTimeout", "Unschedulable", "Entity moved to an internal scheduling queue, because it is gated")), 0),
    ],
)  # fmt: skip
def test_only_the_attempt_after_the_flush_counts(tmp_path: Path, between: str, hits: int) -> None:
    assert len(answer(answered(tmp_path, FLUSH + between + BOUND), "A-FLUSH").hits) == hits


def test_a_pod_of_the_name_that_was_gone_before_the_flush_is_another_matter(tmp_path: Path) -> None:
    """It is the later pod that was taken, and a bound pod is gone from the queue, too."""
    before = said(1, "Successfully bound pod to node", node="n") + said(2, "Delete event for unscheduled pod")
    new = said(3, "Add event for unscheduled pod")
    assert len(answer(answered(tmp_path, before + new + FLUSH + BOUND), "A-FLUSH").hits) == 1
    gone = said(2, "Delete event for unscheduled pod")
    assert len(answer(answered(tmp_path, new + gone + FLUSH + new + BOUND), "A-FLUSH").hits) == 1


def by(writer: str, text: str) -> str:
    """As `kubectl logs --prefix` names who wrote each line."""
    return "".join(
        f"[pod/kube-scheduler-{writer}/kube-scheduler] {line}" for line in text.splitlines(keepends=True)
    )


def around(wrapping: Object) -> Callable[[str], str]:
    """Each line in a wrapping, where that has an empty text."""

    def filled(value: Any, line: str) -> Any:
        if isinstance(value, dict):
            return {key: filled(one, line) for key, one in value.items()}
        if isinstance(value, list):
            return [filled(one, line) for one in value]
        return line if value == "" else value

    return lambda text: "".join(f"{json.dumps(filled(wrapping, line))}\n" for line in text.splitlines())


UNNAMED: dict[str, Callable[[str], str]] = {
    "plain": lambda text: text,
    "containerd": lambda text: "".join(
        f"2026-01-01T00:05:02Z stderr F {line}\n" for line in text.splitlines()
    ),
    "Docker": around({"log": "", "stream": "stderr"}),
    "Cloud Logging": around({"textPayload": "", "insertId": "x"}),
    "logcli": around({"line": "", "labels": {}}),
    "logcli, lines": lambda text: "".join(
        f"2026-01-01T00:05:02Z {{}} {line}\n" for line in text.splitlines()
    ),
    "Loki": around({"data": {"result": [{"stream": {}, "values": [["1", ""]]}]}}),
    "Elasticsearch": around({"_source": {"message": ""}}),
    "Splunk": around({"result": {"_raw": ""}}),
}
ADDED = said(301, "Add event for unscheduled pod")


def waited(folder: Path, *logs: str) -> Answer:
    """Of a pod that was created 301 seconds before it was bound."""
    names = [str(folder / "audit.log")]
    for number, text in enumerate(logs):
        names.append(str(folder / f"{number}.log"))
        Path(names[-1]).write_text(text)
    answered(folder, lines([created("a", 1), bound("a", "n", 302)]), listed(node("n")))
    return answer(audit_logs(Asked(names, [str(folder / "start.json")], True)), "A-FLUSH")


@pytest.mark.parametrize("form", UNNAMED)
def test_where_nobody_names_the_scheduler_a_line_may_be_of_one_that_waits_for_the_lease(
    tmp_path: Path, form: str
) -> None:
    """Its queue has new pods, from which it takes none; only who holds the lease fails."""

    def verdict(text: str) -> str:
        return waited(tmp_path, UNNAMED[form](text)).verdict

    assert verdict(FLUSH + ADDED + BOUND) == "HIT"
    for label in ("PodAdd", "UnscheduledPodAdd", "UnschedulablePodAdd"):
        assert verdict(FLUSH + ADDED + moved(301, label) + BOUND) == "HIT"
        assert verdict(FLUSH + moved(301, label, "Unschedulable") + BOUND) == "HIT"
        assert verdict(moved(250, label) + BOUND) == "NOT EXCLUDED"
    assert verdict(said(250, "Add event for unscheduled pod") + BOUND) == "NOT EXCLUDED"
    # One queue's own: then who is bound was not taken by the flush, or by it and something else.
    assert verdict(FLUSH + moved(301, "AssignedPodDelete") + BOUND) == "NOT EXCLUDED"
    assert verdict(said(250, "Error scheduling pod; retrying") + BOUND) == "EXCLUDED"


def test_where_lines_name_the_scheduler_each_is_of_its_queue(tmp_path: Path) -> None:
    early = said(250, "Add event for unscheduled pod")
    assert waited(tmp_path, by("m1", FLUSH) + by("m2", ADDED) + by("m1", BOUND)).verdict == "HIT"
    assert waited(tmp_path, by("m1", FLUSH + ADDED + BOUND)).verdict == "EXCLUDED"
    assert waited(tmp_path, by("m1", early + BOUND)).verdict == "EXCLUDED"
    assert waited(tmp_path, by("m2", early) + by("m1", BOUND)).verdict == "NOT EXCLUDED"


def event_of(reason: str, time: str, sender: str) -> str:
    return lines(
        [
            {
                "kind": "Event", "apiVersion": "v1", "reason": reason, "involvedObject": {"name": "a", "namespace": "default"},
                "lastTimestamp": f"2026-01-01T00:{time}Z", "source": {"component": sender}, "reportingComponent": sender,
            }
        ]
    )  # fmt: skip


def test_an_event_excludes_nothing(tmp_path: Path) -> None:
    """Whoever sends it: Karpenter, for one, says FailedScheduling, too."""
    other = event_of("FailedScheduling", "04:50", "karpenter")
    scheduled = event_of("Scheduled", "05:02", "default-scheduler")
    assert waited(tmp_path, other + scheduled).verdict == "NOT EXCLUDED"
    assert waited(tmp_path, FLUSH, other + scheduled).verdict == "HIT"
    assert waited(tmp_path, BOUND, other).verdict == "NOT EXCLUDED"
    assert waited(tmp_path, FLUSH + BOUND, other).verdict == "HIT"
    late = event_of("FailedScheduling", "05:01", "karpenter")
    assert waited(tmp_path, FLUSH + BOUND, late).verdict == "NOT EXCLUDED"
    # What came before the flush says nothing of what came after it.
    before = said(290, "Error scheduling pod; retrying")
    assert waited(tmp_path, before + FLUSH + BOUND, late).verdict == "NOT EXCLUDED"


def test_a_line_that_comes_twice_is_one(tmp_path: Path) -> None:
    tried = FLUSH + said(301, "Attempting to schedule pod") + BOUND
    for text in (tried, by("m1", tried), by("m1", moved(290, "AssignedPodDelete") + tried)):
        assert len(waited(tmp_path, text).hits) == 1
        assert len(waited(tmp_path, text * 2).hits) == 1
        assert len(waited(tmp_path, text, text).hits) == 1
    # Two attempts are two.
    again = said(301.5, "Attempting to schedule pod")
    assert waited(tmp_path, (FLUSH + said(301, "Attempting to schedule pod") + again + BOUND) * 2).hits == ()


def test_what_a_standby_hears_is_of_another_queue(tmp_path: Path) -> None:
    def flushed(first: str, second: str) -> int:
        names = []
        for number, text in enumerate((first, second)):
            names.append(str(tmp_path / f"{number}.log"))
            Path(names[-1]).write_text(text)
        return len(answer(audit_logs(Asked(names)), "A-FLUSH").hits)

    assert flushed(FLUSH + BOUND, ADDED) == 1
    assert flushed(FLUSH, BOUND) == 1  # the same log, set aside in between
    assert flushed(FLUSH, ADDED + BOUND) == 0


@pytest.mark.parametrize(
    ("log", "verdict"),
    [
        ("", "NOT EXCLUDED"),
        (BOUND, "NOT EXCLUDED"),
        (moved(290, "AssignedPodDelete") + BOUND, "NOT EXCLUDED"),
        (by("m1", moved(290, "AssignedPodDelete") + BOUND), "EXCLUDED"),
        (said(10, "Unable to schedule pod; no fit; waiting", err="0/1") + BOUND, "EXCLUDED"),
        (said(1, "Unable to schedule pod; no fit; waiting", err="0/1") + BOUND, "NOT EXCLUDED"),
        (moved(290, "BackoffComplete") + said(301, "Attempting to schedule pod") + BOUND, "NOT EXCLUDED"),
        (moved(290, "UnschedulableTimeout", "Unschedulable") + BOUND, "NOT EXCLUDED"),
        (moved(290, "AssignedPodDelete") + FLUSH + BOUND, "HIT"),
        (moved(100, "AssignedPodDelete") + said(120, "Successfully bound pod to node"), "NOT EXCLUDED"),
    ],
)
def test_the_scheduler_s_log_tells_what_ended_a_long_wait(tmp_path: Path, log: str, verdict: str) -> None:
    """Whatever of it is missing: who had failed, or was moved, within five minutes cannot have been parked for five."""
    assert waited(tmp_path, log).verdict == verdict


COUNTED = said(302.1, "Pod scheduled after flush from unschedulableEntities", unschedulablePlugins="{}")
METRIC = "# HELP x y\nscheduler_pod_scheduled_after_flush_total "


@pytest.mark.parametrize(
    ("log", "verdict", "words"),
    [
        (said(10, "Unable to schedule pod; no fit; waiting") + BOUND + COUNTED, "HIT", "as the scheduler says"),
        (COUNTED + COUNTED, "HIT", "as the scheduler says"),
        (by("m1", moved(290, "PodUpdate") + BOUND) + by("m2", COUNTED), "HIT", "as the scheduler says"),
        (FLUSH + BOUND + COUNTED, "HIT", "T00:05:00.000Z"),
        (said(10, "Unable to schedule pod; no fit; waiting") + BOUND + f"{METRIC}3\n", "HIT", "the scheduler counts 3 pods"),
        (said(10, "Unable to schedule pod; no fit; waiting") + BOUND + f"{METRIC}0\n", "EXCLUDED", ""),
        (BOUND + f"{METRIC}0\n", "NOT EXCLUDED", ""),  # as it always is up to 1.36
    ],
)  # fmt: skip
def test_what_the_scheduler_counts_is_a_flush_whenever_it_was(
    tmp_path: Path, log: str, verdict: str, words: str
) -> None:
    """It may have been told to flush earlier than after five minutes. No pod of which this is said was moved by anything else."""
    told = waited(tmp_path, log)
    assert (told.verdict, len(told.hits)) == (verdict, verdict == "HIT")
    assert all(words in hit.words for hit in told.hits)


def test_a_new_pod_of_a_group_may_have_been_flushed_with_it(tmp_path: Path) -> None:
    for group, verdict in (({}, "EXCLUDED"), ({"schedulingGroup": {"podGroupName": "g"}}, "NOT EXCLUDED")):
        made = created("a", 1)
        made["responseObject"]["spec"] |= group
        written = lines([made, bound("a", "n", 2)])
        told = answer(answered(tmp_path, written, listed(node("n"))), "A-FLUSH")
        assert told.verdict == verdict
        assert [r.endswith("nothing tells (once: default/a)") for r in told.reasons] == [True] * len(group)
        # What the scheduler counts may be a flush of its group before an attempt that failed.
        for counted in (COUNTED, f"{METRIC}1\n"):
            told = answer(answered(tmp_path, counted + written, listed(node("n"))), "A-FLUSH")
            assert told.verdict == ("NOT EXCLUDED" if group else "HIT")


@pytest.mark.parametrize(
    ("agent", "level", "verdict"),
    [
        ("kube-scheduler/v1.36.4 (linux/amd64)", "Metadata", "EXCLUDED"),
        ("kube-scheduler/v1.37.0 (linux/amd64)", "Metadata", "NOT EXCLUDED"),
        ("kube-scheduler/v1.37.0 (linux/amd64)", "Request", "NOT EXCLUDED"),
        ("kube-scheduler/v1.37.0 (linux/amd64)", "RequestResponse", "EXCLUDED"),
        ("mine", "Metadata", "NOT EXCLUDED"),
        ("mine", "RequestResponse", "EXCLUDED"),
    ],
)
def test_a_pod_without_a_body_may_be_of_a_group_from_1_37_on(
    tmp_path: Path, agent: str, level: str, verdict: str
) -> None:
    made = event("create", "pods", "a", 1, code=201, request=pod("a"), response=pod("a"), level=level)
    told = answer(
        answered(tmp_path, [made, bound("a", "n", 2, agent=agent, level=level)], listed(node("n"))), "A-FLUSH"
    )
    assert told.verdict == verdict
    assert [r.partition(":")[0] for r in told.reasons] == (
        ["a pod was bound of which the log has no body"] if verdict == "NOT EXCLUDED" else []
    )


def test_what_else_is_in_a_scheduler_s_log(tmp_path: Path) -> None:
    """Lines of JSON with values of any types, dumps of the cache as 1.19 and 1.36 write them (SIGUSR2), and a date that there is not."""
    of_json = [
        {"ts": 1767225900000.5, "caller": "a.go:1", "v": 2, "msg": "Other", "kind": "Lease", "event": {"Resource": "*"}, "queue": 1, "pod": ["a"]},
        {"ts": 1767225900000.5, "caller": "a.go:1", "v": 0, "msg": ""},
    ]  # fmt: skip
    dumps = (
        "I0101 00:05:01.000000       1 dumper.go:54] \nNode name: n\nRequested Resources: {MilliCPU:100 ScalarResources:map[]}\n"
        "name: b, namespace: d, uid: x, phase: Running, nominated node: \n"
        'I0101 00:05:01.000000       1 dumper.go:61] "Dump of cached NodeInfo" nodes=<\n\tNode name: n\n\tDeleted: false\n >\n'
    )
    report = answered(tmp_path, FLUSH + lines(of_json) + dumps + BOUND)
    assert (len(answer(report, "A-FLUSH").hits), report.account.skipped) == (1, {})
    odd = answered(tmp_path, FLUSH.replace("I0101", "I0230") + BOUND)
    assert odd.account.skipped == {"a line of klog with a date that there is not": 1}


def test_an_event_that_came_again_is_of_its_last_time(tmp_path: Path) -> None:
    failed = {
        "kind": "Event", "apiVersion": "v1", "reason": "FailedScheduling", "involvedObject": {"name": "a", "namespace": "default"},
        "eventTime": "2026-01-01T00:00:01Z", "lastTimestamp": None, "series": {"count": 2, "lastObservedTime": "2026-01-01T00:05:01Z"},
    }  # fmt: skip
    again = json.dumps(failed) + "\n"
    once = json.dumps({**failed, "series": None}) + "\n"
    year = datetime.now(UTC).year
    hits = [
        len(answer(answered(tmp_path, (FLUSH + text + BOUND).replace("2026-", f"{year}-")), "A-FLUSH").hits)
        for text in (again, once)
    ]
    assert hits == [0, 1]


def test_five_minutes_are_a_sign(tmp_path: Path) -> None:
    body = pod("a")
    body["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]
    failed = event("patch", "pods/status", "a", 2, response=body, user=SCHEDULER)
    report = answered(
        tmp_path, [seen("n", 0), created("a", 1), failed, bound("a", "n", 312)], listed(node("n"))
    )
    (sign,) = report.signs
    assert sign == (
        "2026-01-01T00:05:12.000Z: default/a is bound 5.2 minutes after its last attempt failed: as if the periodic flush had ended "
        "its wait (from 1.37 on the metric scheduler_pod_scheduled_after_flush_total says so)"
    )


def test_who_takes_room_of_a_nominated_pod_is_a_sign(tmp_path: Path) -> None:
    body = pod("a", priority=5)
    body["status"]["nominatedNodeName"] = "n"
    nominated = event("patch", "pods/status", "a", 2, response=body, user=SCHEDULER)
    events = [seen("n", 0), created("a", 1, priority=5), nominated, *both("b", 3, priority=5)]
    (sign,) = answered(tmp_path, events, listed(node("n"))).signs
    assert "default/b (priority 5) is bound to n, to which default/a (priority 5) is nominated since" in sign


def test_who_ends_in_order_gives_the_lease_back(tmp_path: Path) -> None:
    given_back = lease(4, "", "10.0.0.1", 0)
    events = [created("a", 0.5), lease(1, "m1", "10.0.0.1", 0), bound("a", "n", 3), given_back]
    assert of(tmp_path, "A-LEASE", *events).verdict == "EXCLUDED"
    # Then a Binding on its way was sent while nobody held it.
    late = [created("b", 1), bound("b", "n", 5), lease(6, "m2", "10.0.0.2", 1)]
    assert of(tmp_path, "A-LEASE", *events, *late).verdict == "NOT EXCLUDED"


def test_a_nomination_that_starves_is_a_sign(tmp_path: Path) -> None:
    body = pod("a", priority=5)
    body["status"]["nominatedNodeName"] = "n"
    nominated = event("patch", "pods/status", "a", 2, response=body, user=SCHEDULER)
    events = [seen("n", 0), created("a", 1, priority=5), nominated, *both("b", 3, "100m", priority=9)]
    start = listed(node("n"))
    words = (
        "default/a (priority 5) was nominated since 2026-01-01T00:00:02.000Z when {}, and 1 other pod was bound to its node in the "
        "meantime: the nomination starves"
    )
    assert answered(tmp_path, [*events, seen("n", 400)], start).signs == (
        f"2026-01-01T00:06:40.000Z: {words.format('the log ends')}",
    )
    assert (
        f"2026-01-01T00:05:10.000Z: {words.format('it is bound')}"
        in answered(tmp_path, [*events, bound("a", "n", 310)], start).signs
    )
    assert answered(tmp_path, [*events, bound("a", "n", 30), seen("n", 400)], start).signs == ()
    assert answered(tmp_path, [*events[:3], seen("n", 400)], start).signs == ()
