"""The failure handler's side effects: the check of a missing node, and which cycle's number a requeue compares."""

from __future__ import annotations

from functools import partial

import pytest

from podrace.checker import explicit as native
from podrace.model.cluster import build_cluster
from podrace.model.environment.objects import ClusterSpec, Node, Pod, PodCopy, Scope, Term
from podrace.model.history import resolve
from podrace.model.language import as_expr, trace_system
from podrace.model.scheduler.cycles.failure import FailedAttempt, FailurePhase
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from tests.checker.slices import slice_system
from tests.model.clusters import concrete, nodes, spec


def failing(release, without=()):
    """p's attempt has just failed because x's node n1 is gone from the lister."""
    on, p = nodes(2, 2), Pod(0, "p", 1)
    model = concrete(spec([p], on, node_deletions=1, node_creations=1), release, without=without)
    model.do(lambda: model.part("api").write_node(on[1], exists=False))
    model.do(
        lambda: model.part("failure").begin(p, FailedAttempt(PodCopy(), unschedulable=True, missing=on[1]))
    )
    return model, p, on[1]


def test_a_missing_node_is_asked_for_and_removed():
    model, p, gone = failing("1.22")
    failure, cache = model.part("failure"), model.part("cache")
    model.do(lambda: failure.check_node(p, gone))
    assert model.get(lambda: cache.live[gone]) is True
    model.do(lambda: failure.remove_node(p, gone))
    assert model.get(lambda: cache.live[gone]) is False
    assert model.get(lambda: failure.phase[p]) is FailurePhase.READ


def test_a_node_that_is_back_stays():
    model, p, node = failing("1.22")
    model.do(lambda: model.part("api").write_node(node, exists=True))
    model.do(lambda: model.part("failure").check_node(p, node))
    assert model.get(lambda: model.part("failure").phase[p]) is FailurePhase.READ
    assert model.get(lambda: model.part("failure").missing[p]) is None


def test_in_1_8_nobody_asks():
    model, p, _ = failing("1.8")
    assert model.get(lambda: model.part("failure").phase[p]) is FailurePhase.PATCH


def recreated(without):
    """A node that goes and comes back while an attempt is in error about it (53647 undone)."""
    on = (Node(0, "m", 1), Node(1, "n", 1))
    apart = [Term({"app": "web"}, "kubernetes.io/hostname", True, True)]
    pods = (
        Pod(0, "x", 1, node=on[1], labels={"app": "web"}, terms=apart),
        Pod(1, "p", 1, labels={"app": "web"}, terms=apart),
    )
    scope = Scope(node_deletions=1, node_creations=1, pod_gc=False, flush=False, pod_events=2)
    model = build_cluster(ClusterSpec("recreated", pods, on, scope), resolve("1.9", (), without).classes)
    cache, watch = model.parts["cache"], model.parts["node_watch"]
    lost = {
        "live": lambda: (watch.log.length != 0) | ~as_expr(watch.lister[on[1]]) | cache.live[on[1]],
    }
    return slice_system(trace_system(model, invariants=lost))


def test_a_live_node_is_removed_because_of_an_old_answer():
    found = native.explore(recreated(["53647"]))
    assert "live" in found.violations


@pytest.mark.parametrize("without", [[], ["53647", "56622"]])
def test_without_the_error_or_without_the_check_it_stays(without):
    found = native.explore(recreated(without))
    assert found.complete
    assert not found.violations


@pytest.mark.parametrize(("release", "place"), [("1.18", SubQueue.BACKOFF), ("1.19", SubQueue.UNSCHEDULABLE)])
def test_a_binding_cycle_that_failed_reads_the_number_late(release, place):
    """From 1.19 the number is read just before the requeue: a move before another pod's Pop is not seen any more."""
    on, a, b = nodes(2), Pod(0, "a", 1), Pod(1, "b", 1)
    model = concrete(spec([a, b], on), release)
    failure, queue = model.part("failure"), model.part("queue")
    model.do(lambda: queue.pop(a))
    model.do(lambda: failure.begin(a, FailedAttempt(PodCopy(failed=True), unschedulable=True)))
    model.do(queue.move_all)
    model.do(lambda: queue.pop(b))
    if release == "1.18":
        model.do(lambda: failure.live_get(a))
        model.do(lambda: failure.add_fetched(a))
    else:
        model.do(lambda: failure.read(a))
        model.do(lambda: failure.requeue(a))
    assert model.get(lambda: queue.sub_queue[a]) is place


@pytest.mark.parametrize(("nominated", "clears"), [(True, True), (False, False)])
def test_a_preemptor_that_nobody_can_help_loses_its_nomination(nominated, clears):
    on = (Node(0, "n0", 1, unschedulable=True),)
    p = Pod(0, "p", 1, 10)
    model = concrete(spec([p], on), "1.22")
    scheduler, api = model.part("scheduler"), model.part("api")
    if nominated:
        model.do(lambda: api.set_nomination(p, on[0]))
        model.do(lambda: model.part("handlers").handle_for_queue(p))
        model.do(lambda: model.part("handlers").update_queue(p))
    model.do(lambda: scheduler.pop(p))
    model.do(lambda: scheduler.take_snapshot(p))
    if nominated:
        model.do(lambda: scheduler.filter_nominated(p, on[0]))
    model.do(lambda: scheduler.filter(p, on[0]))
    model.do(lambda: scheduler.reread_preemptor(p))
    if clears:
        model.do(lambda: scheduler.clear_own_nomination(p))
    assert model.get(lambda: api.pod[p].nominated) is None
    assert model.get(lambda: scheduler.phase).name == "FAIL"


def failed_attempt(release, held, shown, nominee=None, withdraws=False):
    """p's attempt began with an object nominated as `held`, and fails now that API server and lister show `shown` (numbers of nodes)."""
    on, p = nodes(2, 2), Pod(0, "p", 1)
    model = concrete(spec([p], on), release)
    before, now, chosen = (None if at is None else on[at] for at in (held, shown, nominee))
    model.do(lambda: model.part("queue").pop(p))
    model.do(lambda: model.part("api").set_nomination(p, now))
    model.do(lambda: model.part("handlers").handle_for_queue(p))
    attempt = FailedAttempt(PodCopy(nominated=before), chosen, withdraws, unschedulable=True)
    failure = model.part("failure")
    model.do(lambda: failure.begin(p, attempt))
    for step in (failure.read, failure.requeue, failure.nominate, failure.patch):
        model.do(partial(step, p))
    api, nominator = model.part("api"), model.part("nominator")
    found = model.get(lambda: api.pod[p].nominated), model.get(lambda: nominator.node[p])
    return tuple(None if node is None else on.index(node) for node in found)


@pytest.mark.parametrize(
    ("release", "at_api", "in_memory"),
    [("1.23", 0, 0), ("1.24", None, None), ("1.25", 0, None), ("1.35", 0, None), ("1.36", None, None)],
)
def test_a_nomination_that_came_during_the_attempt_is_withdrawn_where_the_patch_is_from_the_lister(
    release, at_api, in_memory
):
    """Up to 1.23 a failure withdrew nothing. From 1.25 to 1.35 the patch was made from the attempt's object, on which it could
    see no nomination.
    """
    assert failed_attempt(release, held=None, shown=0, withdraws=True) == (at_api, in_memory)


def test_a_nomination_that_the_lister_does_not_show_yet_stays():
    on, p = nodes(2, 2), Pod(0, "p", 1)
    model = concrete(spec([p], on), "1.36")
    failure, api = model.part("failure"), model.part("api")
    model.do(lambda: model.part("queue").pop(p))
    model.do(lambda: api.set_nomination(p, on[0]))
    model.do(lambda: failure.begin(p, FailedAttempt(PodCopy(), withdraws=True)))
    for step in (failure.read, failure.requeue, failure.nominate, failure.patch):
        model.do(partial(step, p))
    assert model.get(lambda: api.pod[p].nominated) is on[0]


@pytest.mark.parametrize(
    ("release", "held", "shown", "at_api"),
    [
        ("1.35", 0, 1, 1),  # the attempt's object has the nomination: it is not in the patch
        ("1.35", None, 0, 0),
        ("1.35", None, 1, 0),
        ("1.36", 0, 1, 0),  # the lister's object has another one
        ("1.36", 1, 0, 0),
        ("1.22", 0, 1, 0),
    ],
)
def test_the_patch_says_nothing_of_a_nomination_that_its_object_has(release, held, shown, at_api):
    assert failed_attempt(release, held, shown, nominee=0) == (at_api, 0)
