"""Each property on small logs: hit, excluded, and not excluded with the reason."""

from pathlib import Path
from typing import Any

import pytest

from podrace.audit.checks.check import Window
from podrace.audit.reading.records import time_of
from podrace.base.problems import Problem
from podrace.reports.audit_report import Answer, exit_code, gravest_first
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

NOBODY_SAYS = "podrace cannot know that the log has every write of its period: if it does, use --complete"
NO_START = "what existed when the log began is not known: give a dump with --initial"


def seen(name: str, at: float, cpu: str = "2", version: int = 900, **more: Any) -> Object:
    """The kubelet reports the node."""
    return event("patch", "nodes/status", name, at, response=node(name, cpu, version=version, **more))


def of(
    folder: Path, identifier: str, *events: Object, nodes: tuple[Object, ...] = (), complete: bool = True
) -> Answer:
    """The answer about one property, on node n of two CPUs and these nodes."""
    start = listed(node("n"), *nodes)
    return answer(answered(folder, [seen("n", 0), *events], start, complete), identifier)


def both(name: str, at: float, cpu: str = "1", on: str = "n", **spec: Any) -> list[Object]:
    """A pod is created and bound."""
    return [created(name, at, cpu, **spec), bound(name, on, at + 0.2)]


def test_a_clean_log_is_excluded(tmp_path: Path) -> None:
    events = [seen("n", 0), *both("a", 1), running("a", "n", 2)]
    report = answered(tmp_path, events, listed(node("n")))
    assert [(a.property, a.verdict) for a in report.answers] == [
        (p, "EXCLUDED") for p in ("S-CAP", "S-COND", "S-AFF", "A-TWICE", "A-FLUSH")
    ]
    assert exit_code(report) == 0
    report = answered(tmp_path, events, complete=False)
    assert {a.reasons for a in report.answers} == {(NO_START, NOBODY_SAYS)}
    assert exit_code(report) == 3


def test_an_overfull_node(tmp_path: Path) -> None:
    (hit,) = of(tmp_path, "S-CAP", *both("a", 1), *both("b", 2), *both("c", 3, "500m")).hits
    assert (
        hit.words
        == "n is overfull: 2500m of 2 cpu with default/a, default/b, default/c; the Binding of default/c was accepted last"
    )
    assert (hit.node, hit.by, hit.pods) == ("n", SCHEDULER, ("default/a", "default/b", "default/c"))
    assert hit.timeline is not None
    assert [(bar.pod, bar.amount, bar.counted) for bar in hit.timeline.bars] == [
        ("default/a", 1000, True), ("default/b", 1000, True), ("default/c", 500, True),
    ]  # fmt: skip


def test_what_there_was_may_be_in_lists_in_lists(tmp_path: Path) -> None:
    """As `jq -s` puts what two calls of kubectl print into one."""
    nodes = {"kind": "NodeList", "apiVersion": "v1", "items": [node("n")]}
    events = [*both("a", 1), *both("b", 2), *both("c", 3, "500m")]
    flat, nested = (answered(tmp_path, events, listed(start)) for start in (node("n"), listed(nodes)))
    assert [a.verdict for a in nested.answers] == [a.verdict for a in flat.answers]
    assert [hit.words for hit in answer(nested, "S-CAP").hits] == [
        "n is overfull: 2500m of 2 cpu with default/a, default/b, default/c; the Binding of default/c was accepted last"
    ]


def test_without_a_complete_log_everybody_must_be_seen_again(tmp_path: Path) -> None:
    """A line may be missing by which somebody had left."""
    events = [*both("a", 1), *both("b", 2, "1500m")]
    assert of(tmp_path, "S-CAP", *events, complete=False).verdict == "NOT EXCLUDED"
    events += [running("a", "n", 3, version=200), running("b", "n", 3.1, "1500m", version=201)]
    assert of(tmp_path, "S-CAP", *events, complete=False).verdict == "NOT EXCLUDED"
    assert of(tmp_path, "S-CAP", *events, seen("n", 4), complete=False).verdict == "HIT"
    larger = seen("n", 4, "4")
    assert of(tmp_path, "S-CAP", *events, larger, complete=False).verdict == "NOT EXCLUDED"


SIDECAR = {"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": "500m"}}}
STARTER = {"name": "i", "resources": {"requests": {"cpu": "1900m"}}}


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"initContainers": [STARTER]}, "2900m of 2 cpu"),
        ({"initContainers": [SIDECAR]}, "2500m of 2 cpu"),
        ({"initContainers": [SIDECAR, STARTER]}, "3400m of 2 cpu"),
        ({"overhead": {"cpu": "1500m"}}, "3500m of 2 cpu"),
        ({"resources": {"requests": {"cpu": "1200m"}}}, "2200m of 2 cpu"),
        ({"containers": [{"name": "c", "resources": {"limits": {"cpu": 1.5}}}]}, "2500m of 2 cpu"),
        (
            {"containers": [{"name": "c", "resources": {"requests": {"nvidia.com/gpu": 3}}}]},
            "3 of 2 nvidia.com/gpu",
        ),
    ],
)
def test_requests_are_counted_as_the_scheduler_does(tmp_path: Path, spec: dict[str, Any], words: str) -> None:
    large = [seen("n", 0.5, version=901, **{"nvidia.com/gpu": "2"})]
    (hit,) = of(tmp_path, "S-CAP", *large, *both("a", 1), *both("b", 2, **spec)).hits
    assert words in hit.words


def test_who_has_finished_or_gone_takes_no_room(tmp_path: Path) -> None:
    full = both("a", 1, "2")
    done = running("a", "n", 2, "2", version=300, phase="Succeeded")
    assert of(tmp_path, "S-CAP", *full, done, *both("b", 3, "2")).verdict == "EXCLUDED"
    marked = deleted("a", 2, on="n", grace=30, cpu="2")
    assert of(tmp_path, "S-CAP", *full, marked, *both("b", 3, "2")).verdict == "HIT"
    assert (
        of(tmp_path, "S-CAP", *full, marked, deleted("a", 2.5, on="n", cpu="2"), *both("b", 3, "2")).verdict
        == "EXCLUDED"
    )


def test_the_last_finalizer_takes_the_pod_away(tmp_path: Path) -> None:
    last = event("patch", "pods", "a", 2, response=pod("a", "2", on="n", version=400))
    last["responseObject"]["metadata"] |= {
        "deletionTimestamp": "2026-01-01T00:00:00Z",
        "deletionGracePeriodSeconds": 0,
    }
    assert of(tmp_path, "S-CAP", *both("a", 1, "2"), last, *both("b", 3, "2")).verdict == "EXCLUDED"
    last["responseObject"]["metadata"]["finalizers"] = ["batch.kubernetes.io/job-tracking"]
    assert of(tmp_path, "S-CAP", *both("a", 1, "2"), last, *both("b", 3, "2")).verdict == "HIT"


def test_a_resize_that_is_under_way_counts_from_the_lesser_to_the_greater(tmp_path: Path) -> None:
    def resized(written: str, given: str) -> Object:
        body = pod("a", written, on="n", version=300)
        body["status"]["containerStatuses"] = [{"name": "c", "resources": {"requests": {"cpu": given}}}]
        return event("patch", "pods/resize", "a", 2, response=body)

    both_sides = (resized("500m", "1500m"), *both("b", 3, "1"))
    told = of(tmp_path, "S-CAP", *both("a", 1, "1500m"), *both_sides)
    assert told.verdict == "NOT EXCLUDED"
    assert told.reasons == (
        "in some order of what the log has, a node is overfull (once: n at 2026-01-01T00:00:03.200Z, 2500m of 2 cpu)",
    )
    assert (
        of(tmp_path, "S-CAP", *both("a", 1), resized("1500m", "1500m"), *both("b", 3, "1")).verdict == "HIT"
    )
    assert (
        of(tmp_path, "S-CAP", *both("a", 1, "1500m"), resized("500m", "500m"), *both("b", 3, "1")).verdict
        == "EXCLUDED"
    )


def test_a_resize_without_a_body_may_have_been_any(tmp_path: Path) -> None:
    full = both("a", 1, "1500m")
    blind = event("patch", "pods/resize", "a", 2, level="Metadata")
    assert of(tmp_path, "S-CAP", *full, *both("b", 3, "1")).verdict == "HIT"
    assert of(tmp_path, "S-CAP", *full, blind, *both("b", 3, "1")).verdict == "NOT EXCLUDED"
    lost = event("patch", "pods/resize", "a", 2, code=504)
    assert of(tmp_path, "S-CAP", *full, lost, *both("b", 3, "1")).verdict == "NOT EXCLUDED"
    small = both("a", 1, "500m")
    told = of(tmp_path, "S-CAP", *small, lost, *both("b", 3, "1"))
    assert told.reasons == ("what a pod asks for is not known (once: default/a)",)
    assert (
        of(tmp_path, "S-CAP", *small, lost, running("a", "n", 70, "500m"), *both("b", 90, "1")).verdict
        == "EXCLUDED"
    )


def sent(name: str, at: float, status: Object, uid: str = "") -> Object:
    """A status as the kubelet sends it, of which the response was not logged."""
    patch = {"metadata": {"uid": uid or f"uid-{name}"}, "status": status}
    return event("patch", "pods/status", name, at, request=patch, level="Request", user="system:node:n")


def test_statuses_of_which_only_the_patch_was_logged(tmp_path: Path) -> None:
    """That is how GKE and EKS log what kubelets write."""
    heartbeat = event(
        "patch", "nodes/status", "n", 5, request={"status": {"conditions": []}}, level="Request"
    )
    runs = sent("a", 2, {"phase": "Running"})
    done = sent("a", 3, {"phase": "Succeeded"})
    full = [*both("a", 1, "2"), runs]
    assert of(tmp_path, "S-CAP", *full, heartbeat, *both("b", 6)).verdict == "HIT"
    assert of(tmp_path, "S-CAP", *full, done, heartbeat, *both("b", 6)).verdict == "EXCLUDED"
    given = {"containerStatuses": [{"name": "c", "resources": {"requests": {"cpu": "1500m"}}}]}
    told = of(tmp_path, "S-CAP", *both("a", 1), sent("a", 2, given), *both("b", 6))
    assert told.verdict == "NOT EXCLUDED"
    smaller = event(
        "patch", "nodes/status", "n", 2, request={"status": {"allocatable": {"cpu": "1"}}}, level="Request"
    )
    told = of(tmp_path, "S-CAP", *both("a", 1), smaller, *both("b", 6))
    assert "what a node can allocate is not known (once: n)" in told.reasons


def test_a_condition_that_was_sent_for_a_bound_pod(tmp_path: Path) -> None:
    says = {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}
    told = of(tmp_path, "S-COND", *both("a", 1), sent("a", 3, says))
    assert told.reasons == (
        (
            "PodScheduled=False was sent for a pod that may have been bound, and no body shows what came of it (once: default/a)"
        ),
    )
    early = [created("a", 1), sent("a", 2, says), bound("a", "n", 3)]
    assert of(tmp_path, "S-COND", *early).verdict == "EXCLUDED"


def test_a_pod_whose_creation_timed_out_may_be_on_its_node(tmp_path: Path) -> None:
    static = event("create", "pods", "s", 2, code=504, request=pod("s", "2", on="n"))
    assert of(tmp_path, "S-CAP", *both("a", 1), static, *both("b", 3)).verdict == "NOT EXCLUDED"
    free = event("create", "pods", "s", 2, code=504, request=pod("s", "2"))
    assert of(tmp_path, "S-CAP", *both("a", 1), free, *both("b", 3)).verdict == "EXCLUDED"


def test_ports_of_the_node(tmp_path: Path) -> None:
    def with_port(address: str) -> dict[str, Any]:
        ports = [{"hostPort": 80, "containerPort": 80, "hostIP": address}]
        return {"containers": [{"name": "c", "ports": ports, "resources": {"requests": {"cpu": "1m"}}}]}

    (hit,) = of(
        tmp_path, "S-CAP", *both("a", 1, **with_port("")), *both("b", 2, **with_port("10.0.0.9"))
    ).hits
    assert (
        hit.words
        == "default/a, default/b are on n, and two of them have the port 80/TCP of the node; the Binding of default/b was accepted last"
    )
    apart = of(
        tmp_path, "S-CAP", *both("a", 1, **with_port("10.0.0.8")), *both("b", 2, **with_port("10.0.0.9"))
    )
    assert apart.verdict == "EXCLUDED"


def test_a_binding_is_blamed_for_no_port_that_its_pod_does_not_take(tmp_path: Path) -> None:
    """The static pod came last of the two that take it."""
    taken = {"hostPort": 80, "containerPort": 80}
    ports: dict[str, Any] = {
        "containers": [{"name": "c", "ports": [taken], "resources": {"requests": {"cpu": "1m"}}}]
    }
    static = pod("s", "1m", on="n", **ports)
    mirror = event("create", "pods", "s", 3, code=201, response=static, user="system:node:n")
    some = [seen("n", 0), *both("a", 1, **ports), mirror, *both("c", 5, "1m")]
    report = answered(tmp_path, some, listed(node("n")))
    assert answer(report, "S-CAP").hits == ()
    assert "default/s came last, and by no Binding" in report.signs[0]


def test_too_many_pods(tmp_path: Path) -> None:
    few = [seen("n", 0.5, version=901, pods="1")]
    (hit,) = of(tmp_path, "S-CAP", *few, *both("a", 1, "1m"), *both("b", 2, "1m")).hits
    assert "2 of 1 pods" in hit.words


def test_another_actor_overfills_the_node(tmp_path: Path) -> None:
    """A static pod comes without a Binding: told, but no scheduler's doing."""
    mirror = event(
        "create", "pods", "static", 3, code=201, response=pod("static", "2", on="n"), user="system:node:n"
    )
    report = answered(tmp_path, [seen("n", 0), *both("a", 1), mirror], listed(node("n")))
    assert answer(report, "S-CAP").verdict == "EXCLUDED"
    assert report.signs == (
        (
            "2026-01-01T00:00:03.000Z: n is overfull: 3 of 2 cpu with default/a, default/static; default/static came last, and by no "
            "Binding: by another actor than a scheduler"
        ),
    )
    later = answered(tmp_path, [seen("n", 0), *both("a", 1), mirror, *both("b", 4, "1m")], listed(node("n")))
    assert answer(later, "S-CAP").verdict == "HIT"
    # The filter looks only at what the pod itself asks for.
    events = [seen("n", 0), *both("a", 1), mirror, *both("b", 4, "0")]
    nothing = answered(tmp_path, events, listed(node("n")))
    assert answer(nothing, "S-CAP").verdict == "EXCLUDED"
    assert nothing.signs[1] == (
        "2026-01-01T00:00:04.200Z: n is overfull: 3 of 2 cpu with default/a, default/static, default/b; default/b came last, and asks "
        "for nothing of that: by another actor than a scheduler"
    )


def test_a_binding_is_blamed_for_nothing_that_may_have_come_later(tmp_path: Path) -> None:
    """The kubelet's pod is created while the Binding is under way."""
    static = pod("static", "2", on="n")
    static["metadata"]["labels"] = {"app": "x"}
    mirror = event("create", "pods", "static", 3, until=5, code=201, response=static, user="system:node:n")
    events = [seen("n", 0), created("a", 1, "1m", **APART), created("b", 1, "2"), bound("a", "n", 4, until=6)]
    for some in ([*events, mirror], [*events[:1], *events[2:3], bound("b", "n", 4, until=6), mirror]):
        report = answered(tmp_path, some, listed(node("n")), True)
        assert not [answer.hits for answer in report.answers if answer.hits]
        (sign,) = report.signs
        assert "came last, or what came by no Binding" in sign or sign.endswith(
            "or it was another actor than a scheduler"
        )


def test_of_two_bindings_at_one_moment_the_one_that_asks_for_it_is_blamed(tmp_path: Path) -> None:
    both_end = [bound("a", "n", 4, until=6), bound("c", "n", 5, until=6)]
    some = [seen("n", 0), *both("b", 1, "2"), created("a", 2, "1"), created("c", 3, "0"), *both_end]
    report = answered(tmp_path, some, listed(node("n")))
    (hit,) = answer(report, "S-CAP").hits
    assert hit.words.endswith("the Binding of default/a was accepted last")
    assert report.signs == ()


def test_orders_that_the_log_leaves_open(tmp_path: Path) -> None:
    """The old pod's end and the new one's Binding overlap."""
    old = both("a", 1, "2")
    over = deleted("a", 3, on="n", cpu="2", until=3.5)
    new = [created("b", 2, "2"), bound("b", "n", 3.2, until=3.4)]
    told = of(tmp_path, "S-CAP", *old, *new, over)
    assert told.verdict == "NOT EXCLUDED"
    assert told.reasons == (
        "in some order of what the log has, a node is overfull (once: n at 2026-01-01T00:00:03.200Z, 4 of 2 cpu)",
    )
    assert of(tmp_path, "S-CAP", *old, created("b", 2, "2"), bound("b", "n", 3.6), over).verdict == "EXCLUDED"


def test_a_binding_that_timed_out_may_have_been_carried_out(tmp_path: Path) -> None:
    lost = [created("a", 1, "2"), bound("a", "n", 2, code=504)]
    told = of(tmp_path, "S-CAP", *lost, *both("b", 3, "2"))
    assert told.verdict == "NOT EXCLUDED"
    # Its node shows later that it was.
    assert of(tmp_path, "S-CAP", *lost, *both("b", 3, "2"), running("a", "n", 4, "2")).verdict == "HIT"
    # Or that it went elsewhere.
    other = [bound("a", "m", 2.5), running("a", "m", 4, "2")]
    assert of(tmp_path, "S-CAP", *lost, *other, *both("b", 5, "2"), nodes=(node("m"),)).verdict == "EXCLUDED"


@pytest.mark.parametrize(
    ("lost", "reason"),
    [
        (1, "the log is not complete: a pod that no line creates (1)"),
        (2, "the log is not complete: a pod that is on a node to which no line binds it (1)"),
        (0, "the log has no write of nodes at all"),
    ],
)
def test_a_line_that_is_missing_is_noticed(tmp_path: Path, lost: int, reason: str) -> None:
    events = [seen("n", 0), created("a", 1), bound("a", "n", 2), running("a", "n", 3), *both("b", 4, "1m")]
    del events[lost]
    told = answer(answered(tmp_path, events, listed(node("n"))), "S-CAP")
    assert told.verdict == "NOT EXCLUDED"
    assert any(
        reason in r or r == "the log is not complete: a Binding of a pod that no line creates (1)"
        for r in told.reasons
    )


def test_what_was_there_before_speaks_against_no_log(tmp_path: Path) -> None:
    """Without a dump, pods that no line creates may have been there when the log began."""
    events = [seen("n", 0), running("old", "n", 1, "1500m"), *both("a", 2)]
    told = answer(answered(tmp_path, events), "S-CAP")
    assert told.hits[0].words.startswith("n is overfull: 2500m of 2 cpu with default/old, default/a")
    told = answer(answered(tmp_path, [*events[:2]]), "S-COND")
    assert told.reasons == (NO_START,)
    # A pod that takes the name of another one was not there.
    other = running("old", "n", 3, "1m", uid="other", version=500)
    told = answer(answered(tmp_path, [*events, other]), "S-CAP")
    assert told.verdict == "NOT EXCLUDED"
    assert "the log is not complete: a pod that no line creates (1)" in told.reasons


def test_requests_that_lack_one_of_their_lines(tmp_path: Path) -> None:
    """The shipped policy has two lines for each request: so a lost one is noticed."""
    events = [seen("n", 0), *both("a", 1), running("a", "n", 3)]
    begun = [{**e, "stage": "RequestReceived"} for e in events]
    assert answer(answered(tmp_path, [*begun, *events], listed(node("n"))), "S-CAP").verdict == "EXCLUDED"
    lost = answer(answered(tmp_path, [*begun, *events[:-1]], listed(node("n"))), "S-CAP")
    assert lost.reasons == ("of 1 requests at least, only one of the two lines is in the log",)


def test_a_request_of_which_only_the_beginning_of_the_answer_is_told(tmp_path: Path) -> None:
    """Its Binding may have been carried out: nothing is excluded."""
    full = [seen("n", 0), *both("a", 1), *both("b", 2), *both("c", 3, "500m")]
    started = {**full[-1], "stage": "ResponseStarted"}
    lost = answer(answered(tmp_path, [*full[:-1], started], listed(node("n"))), "S-CAP")
    assert lost.verdict == "NOT EXCLUDED"
    assert lost.reasons == ("of 1 requests at least, only one of the two lines is in the log",)
    assert (
        answer(answered(tmp_path, [*full[:-1], started, full[-1]], listed(node("n"))), "S-CAP").verdict
        == "HIT"
    )


def test_what_a_policy_would_have_to_say(tmp_path: Path) -> None:
    for level, kind in (("Metadata", "bodies of pods"), ("Request", "bodies of pods")):
        create = {**created("a", 1), "level": level}
        create.pop("responseObject")
        told = of(tmp_path, "S-CAP", create, bound("a", "n", 2))
        assert told.verdict == "NOT EXCLUDED"
        assert f"the log lacks {kind} (once)" in told.reasons
        assert told.policy[0].startswith(
            "- level: RequestResponse, verbs: [create, update, patch, delete, deletecollection], resources:"
        )
    blind = [{**e, "level": "Metadata", "requestObject": None} for e in both("a", 1)]
    blind[0] = created("a", 1)
    told = of(tmp_path, "S-CAP", *blind)
    assert told.reasons == ("the log lacks bodies of Bindings (once)",)
    assert told.policy == (
        '- level: Request, verbs: [create], resources: [{group: "", resources: ["pods/binding", "bindings"]}]',
    )


def test_a_bound_pod_that_says_it_is_not(tmp_path: Path) -> None:
    body = pod("a", on="n", version=300)
    body["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]
    late = event("patch", "pods/status", "a", 3, response=body, user=SCHEDULER)
    (hit,) = of(tmp_path, "S-COND", *both("a", 1), late).hits
    assert hit.words == "default/a is bound to n, and its status says PodScheduled=False"
    assert of(tmp_path, "S-COND", *both("a", 1), running("a", "n", 3)).verdict == "EXCLUDED"


APART: dict[str, Any] = {
    "affinity": {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "zone"}
            ]
        }
    }
}


def labelled(name: str, at: float, on: str, **spec: Any) -> list[Object]:
    found = created(name, at, "1m", **spec)
    found["responseObject"]["metadata"]["labels"] = {"app": "x"}
    return [found, bound(name, on, at + 0.2)]


def test_a_static_pod_that_comes_too_close_is_no_schedulers_doing(tmp_path: Path) -> None:
    static = pod("static", "1m", on="m")
    static["metadata"]["labels"] = {"app": "x"}
    mirror = event("create", "pods", "static", 3, code=201, response=static, user="system:node:m")
    zone = node("m", labels={"zone": "a"})
    report = answered(tmp_path, [*labelled("a", 1, "m", **APART), mirror], listed(zone), True)
    assert answer(report, "S-AFF").hits == ()
    assert report.signs == (
        (
            "2026-01-01T00:00:03.000Z: default/static on m and default/a on m share zone, and a required anti-affinity keeps them apart; "
            "default/static came last, and by no Binding: by another actor than a scheduler"
        ),
    )


def test_pods_that_must_be_apart(tmp_path: Path) -> None:
    zones = (
        node("m", labels={"zone": "a"}),
        node("o", labels={"zone": "b"}),
        node("p", labels={"zone": "a"}),
    )
    (hit,) = of(tmp_path, "S-AFF", *labelled("a", 1, "m", **APART), *labelled("b", 2, "p"), nodes=zones).hits
    assert (
        hit.words
        == "default/b on p and default/a on m share zone, and a required anti-affinity keeps them apart; the Binding of default/b was accepted last"
    )
    apart = of(tmp_path, "S-AFF", *labelled("a", 1, "m", **APART), *labelled("b", 2, "o"), nodes=zones)
    assert apart.verdict == "EXCLUDED"
    without = of(tmp_path, "S-AFF", *labelled("a", 1, "m", **APART), *labelled("b", 2, "n"), nodes=zones)
    assert without.verdict == "EXCLUDED"


def test_two_pods_that_each_keep_the_other_away_are_told_once(tmp_path: Path) -> None:
    events = [*labelled("a", 1, "n", **APART), *labelled("b", 2, "n", **APART)]
    zone = node("n", labels={"zone": "a"})
    report = answered(tmp_path, [seen("n", 0, labels={"zone": "a"}), *events], listed(zone))
    assert [hit.time for hit in answer(report, "S-AFF").hits] == ["2026-01-01T00:00:02.200Z"]


def test_a_pod_of_which_nothing_is_known_leaves_one_thing_open(tmp_path: Path) -> None:
    """Not one for each of those that are there: their number would be squared."""
    others = [e for i in range(4) for e in both(f"b{i}", 1 + i, "1m")]
    unknown = created("a", 6)
    del unknown["responseObject"]
    told = of(tmp_path, "S-AFF", *others, unknown, bound("a", "n", 7))
    assert told.reasons[0] == "the labels and terms of a pod are not known (once: default/a)"


def test_a_term_that_depends_on_labels_of_namespaces_is_left_open(tmp_path: Path) -> None:
    term = dict(APART["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0])
    term["namespaceSelector"] = {"matchLabels": {"team": "a"}}
    apart = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
    events = [*labelled("a", 1, "n", **apart), *labelled("b", 2, "n")]
    told = of(tmp_path, "S-AFF", *events)
    assert told.reasons == ("a term of anti-affinity goes by what the log does not have (once: default/b)",)


def test_only_what_is_asked_about(tmp_path: Path) -> None:
    events = [seen("n", 0), *both("a", 1), *both("b", 2, "2")]
    start = listed(node("n"))
    inside = Window(
        since=time_of("2026-01-01T00:00:02Z"), until=time_of("2026-01-01T00:00:03Z"), namespace="default"
    )
    assert answer(answered(tmp_path, events, start, window=inside), "S-CAP").verdict == "HIT"
    later = answer(
        answered(tmp_path, events, start, window=Window(since=time_of("2026-01-01T00:01:00Z"))), "S-CAP"
    )
    assert (later.verdict, later.reasons[0]) == (
        "NOT EXCLUDED",
        "it was so outside of what is asked about, at 2026-01-01T00:00:02.200Z",
    )
    events.append(event("create", "pods", "x", 3, code=201, namespace="other", response=pod("x")))
    assert (
        answer(answered(tmp_path, events, start, window=Window(namespace="other")), "S-CAP").verdict
        == "NOT EXCLUDED"
    )


LINES = "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:02.000Z"
NOTHING_OF_IT = f"no line is of what is asked about: the lines are from {LINES[0]} to {LINES[1]}"
BEGINS = f"the lines begin only at {LINES[0]}: ask about what came after it, with --since {LINES[0]}"
ENDS = f"the lines end at {LINES[1]}: ask about what came before it, with --until {LINES[1]}"


@pytest.mark.parametrize(
    ("since", "until", "reasons"),
    [
        (None, None, ()),
        (*LINES, ()),
        ("2026-01-01T00:00:01Z", "2026-01-01T00:00:01Z", ()),
        # A log may be silent for a moment at its ends, and no longer.
        ("2025-12-31T23:59:45Z", "2026-01-01T00:00:17Z", ()),
        ("2025-12-31T23:59:44.999Z", None, (BEGINS,)),
        (None, "2026-01-01T00:00:17.001Z", (ENDS,)),
        ("2025-12-31T00:00:00Z", "2026-01-02T00:00:00Z", (BEGINS, ENDS)),
        # Not even a moment of what is asked about is covered.
        ("2026-01-01T00:00:02.001Z", None, (NOTHING_OF_IT,)),
        ("2030-01-01T00:00:00Z", None, (NOTHING_OF_IT,)),
        (None, "2025-12-31T23:59:59.999Z", (NOTHING_OF_IT,)),
        ("2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z", (NOTHING_OF_IT,)),
    ],
)
def test_nothing_is_excluded_of_what_the_log_does_not_cover(
    tmp_path: Path, since: str | None, until: str | None, reasons: tuple[str, ...]
) -> None:
    events = [seen("n", 0), *both("a", 1), running("a", "n", 2)]
    start, end = (None if text is None else time_of(text) for text in (since, until))
    window = Window(start, end)
    report = answered(tmp_path, events, listed(node("n")), window=window)
    assert {(a.verdict, a.reasons) for a in report.answers} == {
        ("NOT EXCLUDED" if reasons else "EXCLUDED", reasons)
    }


def test_lines_of_any_request_say_how_far_a_log_goes(tmp_path: Path) -> None:
    """What nobody looks at shows all the same that there was a log; a watch that ends does not show that there was one when it began."""
    window = Window(until=time_of("2026-01-01T00:10:00Z"))
    events = [seen("n", 0), *both("a", 1), running("a", "n", 2)]
    assert answer(answered(tmp_path, events, listed(node("n")), window=window), "S-CAP").reasons == (ENDS,)
    for stage in ("ResponseComplete", "RequestReceived"):
        other = event("get", "configmaps", "c", 599, stage=stage)
        report = answered(tmp_path, [*events, other], listed(node("n")), window=window)
        assert answer(report, "S-CAP").verdict == "EXCLUDED"
    window = Window(since=time_of("2025-12-31T23:50:00Z"))
    watch = event("watch", "configmaps", "c", -600, until=3)
    report = answered(tmp_path, [*events, watch], listed(node("n")), window=window)
    assert answer(report, "S-CAP").reasons == (BEGINS,)


def test_a_violation_counts_where_the_log_covers_only_a_part(tmp_path: Path) -> None:
    window = Window(until=time_of("2027-01-01T00:00:00Z"))
    events = [seen("n", 0), *both("a", 1), *both("b", 2, "2")]
    assert answer(answered(tmp_path, events, listed(node("n")), window=window), "S-CAP").verdict == "HIT"


def test_times_in_the_wrong_order_are_refused(tmp_path: Path) -> None:
    window = Window(since=time_of("2026-01-01T00:00:05Z"), until=time_of("2026-01-01T00:00:01Z"))
    with pytest.raises(Problem) as problem:
        answered(tmp_path, [], window=window)
    assert str(problem.value) == (
        "--since 2026-01-01T00:00:05.000Z is later than --until 2026-01-01T00:00:01.000Z: write the earlier time as --since"
    )


def test_a_namespace_that_has_nothing_is_refused(tmp_path: Path) -> None:
    """Who asks about another one than he means would be told that nothing happened there."""
    moved = {**pod("old"), "metadata": {"name": "old", "namespace": "team-a", "uid": "u"}}
    refused = event("create", "pods", "x", 3, namespace="defualt", code=404)
    lease = event("update", "leases", "kube-scheduler", 4, namespace="kube-system")
    other = event("create", "configmaps", "c", 5, namespace="team-b", code=201)
    looked = event("list", "pods", "", 6, namespace="defualt", code=200)
    begun = {**refused, "stage": "RequestReceived", "responseStatus": None, "auditID": refused["auditID"]}
    emptied = event("deletecollection", "pods", "", 7, namespace="defualt", code=200)
    made = event("create", "namespaces", "team-d", 8, namespace="", code=201)
    events = [seen("n", 0), *both("a", 1), refused, lease, other, looked, emptied, made]
    quiet = {"kind": "Namespace", "metadata": {"name": "team-c"}}
    start = listed(node("n"), moved, quiet)
    known = "default, kube-system, team-a, team-b, team-c, team-d"
    for name, told in (
        ("defualt", "defualt: nothing is of it, neither in the log nor in --initial; did you mean `default`? (known: {known})"),
        ("", "(none): nothing is of it, neither in the log nor in --initial; known: {known}"),
    ):  # fmt: skip
        with pytest.raises(Problem) as problem:
            answered(tmp_path, [*events, begun], start, window=Window(namespace=name))
        assert str(problem.value) == f"--namespace {told}".format(known=known)
    for name in known.split(", "):
        report = answered(tmp_path, events, start, window=Window(namespace=name))
        assert answer(report, "S-CAP").verdict == "EXCLUDED"


def test_many_namespaces_are_not_all_named(tmp_path: Path) -> None:
    events = [
        event("create", "pods", "x", at, code=201, namespace=f"n{at:02}", response=pod("x", uid=f"u{at}"))
        for at in range(23)
    ]
    with pytest.raises(Problem) as problem:
        answered(tmp_path, events, window=Window(namespace="qq"))
    assert str(problem.value) == (
        "--namespace qq: nothing is of it, neither in the log nor in --initial; known: "
        + ", ".join(f"n{number:02}" for number in range(20))
        + " and 3 more"
    )
    with pytest.raises(Problem, match=r"did you mean `n22`\? \(known: n22, n00, .*, n18\) and 3 more$"):
        answered(tmp_path, events, window=Window(namespace="m22"))


def test_files_without_audit_events_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Problem) as problem:
        answered(tmp_path, "scheduler_pod_scheduled_after_flush_total 0\n", listed())
    assert str(problem.value) == (
        f"{tmp_path}/audit.log: no audit event in 1 line: name a log that the API server writes to --audit-log-path"
    )
    report = answered(tmp_path, "", listed())  # of a cluster in which nothing was written
    assert {a.verdict for a in report.answers} == {"NOT EXCLUDED"}
    assert all("there is no audit event in what was read" in a.reasons for a in report.answers)
    for text in ("", "kind: List\nitems:\n- {kind: Node}\n- {cut\n"):
        with pytest.raises(Problem, match="no audit event in"):
            answered(tmp_path, text)


def test_what_speaks_for_a_violation_leads(tmp_path: Path) -> None:
    events = [seen("n", 0), *both("a", 1), *both("b", 2, "1500m")]
    report = answered(tmp_path, events, complete=False)
    told = answer(report, "S-CAP")
    assert (told.verdict, told.headline) == ("NOT EXCLUDED", "POSSIBLE")
    assert told.reasons[0].startswith("in some order of what the log has, a node is overfull (")
    assert told.possible == told.reasons[:1]
    assert told.decides == (
        "--initial FILE: what `kubectl get nodes,pods -A -o json` printed when the log began",
        "--complete, if the log has every write of its period",
    )
    assert gravest_first(report)[0] is told
    assert answer(report, "S-AFF").headline == "NOT EXCLUDED"


def test_what_no_api_server_logs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Problem) as problem:
        answered(tmp_path, "hello\n{}\n", listed())
    assert str(problem.value) == (
        f"{tmp_path / 'audit.log'}: no audit event in 2 lines"
        " (1 line: neither JSON nor a line of klog; 1 line: JSON, but no audit event):"
        " name a log that the API server writes to --audit-log-path"
    )


def test_times_that_run_backwards_and_forged_versions(tmp_path: Path) -> None:
    events = [seen("n", 0), *both("a", 1), *both("b", 2)]
    events[2]["stageTimestamp"], events[2]["requestReceivedTimestamp"] = (
        "2025-01-01T00:00:00Z",
        "2027-01-01T00:00:00Z",
    )
    told = answer(answered(tmp_path, events, listed(node("n"))), "S-CAP")
    assert "1 requests ended before they began, as their times say" in told.reasons
    for version in ("-1", "x", "9" * 5000, "１２"):
        events = [seen("n", 0), *both("a", 1), *both("b", 2, "1500m")]
        events[1]["responseObject"]["metadata"]["resourceVersion"] = version
        assert answer(answered(tmp_path, events, listed(node("n"))), "S-CAP").verdict == "HIT"
