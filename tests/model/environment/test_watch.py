"""The pod watch: order, lag, and what each handler is given."""

from dataclasses import replace

import pytest

from podrace.checker.core.result import Verdict
from podrace.checker.search import check
from podrace.model.environment.cluster.node_versions import NodeVersion
from podrace.model.environment.objects import Node, Pod
from podrace.model.environment.watch import Handler
from podrace.model.history import resolve
from podrace.model.language import NotEnabled
from podrace.model.scheduler.framework.events import NodeUpdate
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import parse_scenario
from tests.model.clusters import concrete, nodes, spec


def make(**scope):
    on = nodes(4)
    pods = [Pod(0, "bound", 1, node=on[0], graceful=False), Pod(1, "pending", 1)]
    model = concrete(spec(pods, on, **scope))
    return model, model.part("api"), model.part("pod_watch"), pods, on[0]


def next_pod(model, watch, handler, pods):
    """The pod that the handler's next event is about."""
    found = []
    for pod in pods:
        try:
            model.get(lambda pod=pod: watch.take(handler, pod))
            found.append(pod)
        except NotEnabled:
            pass
    assert len(found) <= 1
    return found[0] if found else None


def handle(model, watch, handler, pod):
    def run():
        old, new = watch.take(handler, pod)
        watch.processed(handler, pod, new)
        return old, new

    return model.do(run)


def test_events_of_one_kind_keep_their_order_over_pods():
    model, api, watch, (bound, pending), _ = make()
    model.do(lambda: api.set_nomination(pending, bound.node))
    model.do(lambda: api.patch_status(pending, True, None))
    for expected in ({"failed": False}, {"failed": True}):
        assert next_pod(model, watch, Handler.QUEUE, [bound, pending]) is pending
        _, new = handle(model, watch, Handler.QUEUE, pending)
        assert new["failed"] is expected["failed"]
    assert next_pod(model, watch, Handler.QUEUE, [bound, pending]) is None


def test_a_handler_is_not_given_what_its_filter_hides():
    model, api, watch, (bound, pending), _ = make()
    model.do(lambda: api.set_nomination(pending, bound.node))
    model.do(lambda: api.delete_pod(bound))
    assert next_pod(model, watch, Handler.CACHE, [bound, pending]) is bound
    assert next_pod(model, watch, Handler.QUEUE, [bound, pending]) is pending


def test_binding_reaches_both_handlers_in_either_order():
    for first, second in ((Handler.QUEUE, Handler.CACHE), (Handler.CACHE, Handler.QUEUE)):
        model, api, watch, (bound, pending), node = make()
        model.do(lambda api=api, pending=pending, node=node: api.bind(pending, node))
        old, new = handle(model, watch, first, pending)
        assert (old["exists"], new["node"]) == (first is Handler.QUEUE, node)
        assert next_pod(model, watch, first, [bound, pending]) is None
        assert next_pod(model, watch, second, [bound, pending]) is pending


def test_the_store_runs_ahead_of_the_handlers_but_never_behind():
    model, api, watch, (_, pending), node = make()
    model.do(lambda: api.set_nomination(pending, node))
    model.do(lambda: api.patch_status(pending, True, None))
    assert model.get(lambda: watch.lister[pending].nominated) is None
    model.do(lambda: watch.store(pending))
    assert model.get(lambda: watch.lister[pending].nominated) is node
    assert model.get(lambda: watch.lister[pending].failed) is False
    handle(model, watch, Handler.QUEUE, pending)
    handle(model, watch, Handler.QUEUE, pending)
    assert model.get(lambda: watch.lister[pending].failed) is True
    assert model.get(lambda: watch.log.length) == 0


def test_taking_an_event_stores_those_before_it():
    model, api, watch, (bound, pending), _ = make()
    model.do(lambda: api.delete_pod(bound))
    model.do(lambda: api.patch_status(pending, True, None))
    handle(model, watch, Handler.QUEUE, pending)
    assert model.get(lambda: watch.lister[bound].exists) is False


def test_a_write_that_changes_nothing_makes_no_event():
    model, api, watch, (_, pending), _ = make()
    model.do(lambda: api.patch_status(pending, False, None))
    assert model.get(lambda: watch.log.length) == 0


def test_a_full_backlog_stops_the_writer():
    model, api, watch, (bound, pending), node = make(pod_events=2)
    model.do(lambda: api.patch_status(pending, True, None))
    model.do(lambda: api.set_nomination(pending, node))
    with pytest.raises(NotEnabled):
        model.do(lambda: api.delete_pod(bound))
    assert model.get(lambda: api.pod[bound].exists) is True
    handle(model, watch, Handler.QUEUE, pending)
    model.do(lambda: api.delete_pod(bound))


def test_a_deleted_node_keeps_its_pods_until_somebody_deletes_them():
    model, api, _, (bound, _), node = make(node_deletions=1)
    users, gc, kubelet = model.part("users"), model.part("pod_gc"), model.part("kubelet")
    with pytest.raises(NotEnabled):
        model.do(lambda: gc.collect(bound))
    model.do(lambda: users.delete_node(node))
    assert model.get(lambda: api.pod[bound].node) is node
    with pytest.raises(NotEnabled):
        model.do(lambda: kubelet.finish_termination(bound))
    model.do(lambda: gc.collect(bound))
    assert model.get(lambda: api.pod[bound].exists) is False
    with pytest.raises(NotEnabled):
        model.do(lambda: users.delete_node(node))


def test_graceful_deletion_ends_with_the_kubelet():
    on = nodes(4)
    pod = Pod(0, "a", 1, node=on[0])
    model = concrete(spec([pod], on))
    api = model.part("api")
    model.do(lambda: api.delete_pod(pod))
    assert model.get(lambda: api.pod[pod]) == {
        "exists": True, "node": on[0], "nominated": None, "failed": False, "terminating": True, "gated": False, "opened": 0, "version": 0, "named": 0,
    }  # fmt: skip
    model.do(lambda: model.part("kubelet").finish_termination(pod))
    assert model.get(lambda: api.pod[pod].exists) is False


def test_the_api_server_refuses_to_bind_twice():
    model, api, _, (bound, pending), node = make()
    assert model.get(lambda: api.can_bind(bound)) is False
    assert model.get(lambda: api.can_bind(pending)) is True
    model.do(lambda: api.bind(pending, node))
    assert model.get(lambda: api.can_bind(pending)) is False


def test_a_stalled_pod_watch_shows_nothing_more_until_the_informer_lists_all_pods():
    model, api, watch, (bound, pending), node = make(watch_stalls=1, relists=1)
    model.do(lambda: api.set_nomination(pending, node))
    model.do(lambda: watch.store(pending))
    model.do(lambda: api.patch_status(pending, True, node))
    model.do(watch.stall)
    model.do(lambda: api.delete_pod(bound))
    # What the store has is handled; what it lacks is lost, whether it was written before the stall or after.
    handle(model, watch, Handler.QUEUE, pending)
    assert next_pod(model, watch, Handler.QUEUE, [bound, pending]) is None
    assert next_pod(model, watch, Handler.CACHE, [bound, pending]) is None
    with pytest.raises(NotEnabled):
        model.do(lambda: watch.store(pending))
    assert model.get(lambda: watch.lister[bound].exists) is True
    model.do(watch.resume)
    assert next_pod(model, watch, Handler.CACHE, [bound, pending]) is bound
    _, gone = handle(model, watch, Handler.CACHE, bound)
    assert gone["exists"] is False


def test_a_stalled_node_watch_shows_nothing_more_until_the_scheduler_restarts():
    model, _, _, _, node = make(watch_stalls=1, restarts=1, node_deletions=1)
    watch, users, process = (model.part(name) for name in ("node_watch", "users", "process"))
    model.do(watch.stall)
    model.do(lambda: users.delete_node(node))
    with pytest.raises(NotEnabled):
        model.do(lambda: watch.store(node))
    assert model.get(lambda: watch.lister[node]) is True
    model.do(process.restart)
    assert model.get(lambda: (watch.lister[node], watch.stalled)) == (False, False)


def made_of(release, **scope):
    """A node with a later version, one that is to join, and one that stays."""
    on = (Node(0, "a", 1, later={"b": Node(0, "a", 2)}), Node(1, "n", 1, exists=False), Node(2, "m", 1))
    model = concrete(spec([Pod(0, "p", 1)], on, node_events=3, relists=1, **scope), release)
    return model, on


def nodes_told(model, on):
    """What the list of nodes tells, in this order: the node, whether it exists, and its version."""
    watch = model.part("node_watch")
    model.do(watch.resume)
    told = []
    for _ in range(model.get(lambda: watch.log.length)):
        event = model.get(lambda: watch.log.head)
        told.append((event["node"].name, event["exists"], event["version"] and event["version"].name))
        model.do(lambda node=event["node"]: watch.store(node))
        model.do(watch.processed)
    return told


def test_a_list_of_nodes_tells_of_the_outcome_only():
    for release, order in (("1.32", (0, 1, 2)), ("1.33", (2, 0, 1)), ("1.36.3", (2, 0, 1))):
        model, on = made_of(release)
        api, (_, later) = model.part("api"), model.part("api").universe[NodeVersion]
        model.do(lambda api=api, on=on, later=later: api.write_node(on[0], True, later))
        model.do(lambda api=api, on=on: api.write_node(on[1], exists=True))
        model.do(lambda api=api, on=on: api.write_node(on[2], exists=False))
        expected = [("a", True, "a.b"), ("n", True, None), ("m", False, None)]
        assert nodes_told(model, on) == [expected[i] for i in order], release
    model, on = made_of("1.36.3")
    api = model.part("api")
    for exists in (False, True):  # another node under the name, which is as the old one was
        model.do(lambda exists=exists: api.write_node(on[2], exists=exists))
    assert nodes_told(model, on) == []


def test_a_node_that_was_made_again_behind_an_interrupted_watch_is_updated():
    model, on = made_of("1.36.3")
    api, cache, handlers = model.part("api"), model.part("cache"), model.part("handlers")
    _, later = model.part("api").universe[NodeVersion]
    model.do(lambda: api.write_node(on[0], True, later))
    model.do(lambda: handlers.handle_node(on[0]))
    model.do(lambda: model.part("updates").wake_queue(later, model.part("api").universe[NodeUpdate][1]))
    for exists in (False, True):
        model.do(lambda exists=exists: api.write_node(on[0], exists=exists))
    model.do(model.part("node_watch").resume)
    model.do(lambda: handlers.handle_node(on[0]))
    assert model.get(lambda: cache.live[on[0]]) is True
    assert model.get(lambda: model.part("updates").old) is later


def test_a_stalled_node_watch_is_healed_by_a_list():
    model, on = made_of("1.36.3", watch_stalls=1)
    watch, api = model.part("node_watch"), model.part("api")
    model.do(watch.stall)
    model.do(lambda: api.write_node(on[2], exists=False))
    assert model.get(lambda: watch.log.length) == 0
    assert nodes_told(model, on) == [("m", False, None)]
    assert model.get(lambda: (watch.stalled, watch.lister[on[2]])) == (False, False)


STALLED = """
name: stalled
nodes: {n1: {cpu: 1}}
pods: {v: {cpu: 1, nodeName: n1}, p: {cpu: 1}}
scope: {pod_events: 2, pod_deletions: 1, flush: false}
"""


@pytest.mark.parametrize(
    ("name", "verdict"),
    [("S-STUCK", Verdict.VIOLATED), ("L-PEND", Verdict.VIOLATED), ("S-CAP", Verdict.HOLDS)],
)
def test_progress_relies_on_watches_and_safety_does_not(name, verdict):
    plain = parse_scenario(STALLED).spec
    stalling = replace(plain, scope=replace(plain.scope, watch_stalls=1))
    without, stalled = (
        check(instrument(cluster, resolve("1.36.3").classes, [PROPERTIES[name]]), [name])[0]
        for cluster in (plain, stalling)
    )
    assert (without.verdict, stalled.verdict) == (Verdict.HOLDS, verdict)


CORRUPTED = """
name: corrupted
nodes: {n1: {cpu: 1}, n2: {cpu: 1}, n3: {cpu: 1}}
pods: {a: {cpu: 1}}
scope: {pod_events: 2, node_events: 1, external_binds: 1, pod_deletions: 1, flush: false}
"""


def test_a_process_that_ends_lists_more_nodes_than_may_be_waiting():
    system = instrument(parse_scenario(CORRUPTED).spec, resolve("1.8").classes, [PROPERTIES["S-EXIT"]])
    (found,) = check(system, ["S-EXIT"])
    assert found.verdict is Verdict.VIOLATED


def test_only_a_list_goes_beyond_the_bound():
    on = nodes(1, 1, 1)
    model = concrete(spec([Pod(0, "p", 1)], on, node_events=1, relists=1), "1.36.3")
    api = model.part("api")
    model.do(lambda: api.write_node(on[0], exists=False))
    with pytest.raises(NotEnabled):
        model.do(lambda: api.write_node(on[1], exists=False))


@pytest.mark.parametrize("release", ["1.27", "1.36.3"])
def test_a_restart_lists_more_pods_and_nodes_than_may_be_waiting(release):
    on, pods = nodes(1, 1, 1), [Pod(i, f"p{i}", 1) for i in range(4)]
    model = concrete(spec(pods, on, pod_events=2, node_events=1, restarts=1), release)
    model.do(model.part("process").restart)
    watches = [model.part(name) for name in ("pod_watch", "node_watch")]
    told = [model.get(lambda watch=watch: watch.log.length) for watch in watches]  # type: ignore[misc]
    assert told == ([4, 3] if release == "1.27" else [0, 0])
