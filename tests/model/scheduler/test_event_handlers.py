"""What the event handlers do in the queue, release by release."""

from functools import partial

import pytest

from podrace.model.environment.objects import ExtensionPoint, Node, Pod, PodCopy, PodObject, Taint, Term
from podrace.model.environment.watch import Handler
from podrace.model.scheduler.cycles.binding import BindingPhase
from podrace.model.scheduler.cycles.failure import FailedAttempt, FailurePhase
from podrace.model.scheduler.event_handlers import Removal, Waking
from podrace.model.scheduler.framework.events import (
    ASSIGNED_POD_DELETE,
    NODE_ADD,
    NOMINATED_POD_GONE,
    Plugin,
    default_plugins,
)
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from tests.model.clusters import concrete, enabled, nodes, spec


def places(model, *pods):
    return [model.get(lambda p=p: model.part("queue").sub_queue[p]) for p in pods]


def parked(model, pod):
    queue = model.part("queue")
    model.do(lambda: queue.put(pod, SubQueue.UNSCHEDULABLE, PodCopy()))


@pytest.mark.parametrize(("release", "big_waits"), [("1.21", False), ("1.22", True)])
def test_a_new_node_wakes_the_pods_that_it_would_admit(release, big_waits):
    on = (Node(0, "n0", 2, exists=False),)
    small, big = Pod(0, "small", 1), Pod(1, "big", 4)
    model = concrete(spec([small, big], on, node_creations=1), release)
    handlers = model.part("handlers")
    for pod in (small, big):
        parked(model, pod)
    model.do(lambda: model.part("node_watch").publish(on[0], True))
    model.do(lambda: handlers.handle_node(on[0]))
    model.do(lambda: handlers.wake_queue_for_node(on[0]))
    assert places(model, small, big) == [
        SubQueue.BACKOFF,
        SubQueue.UNSCHEDULABLE if big_waits else SubQueue.BACKOFF,
    ]
    assert model.get(lambda: model.part("queue").moved) is True
    assert model.get(lambda: [handlers.admitted[p] for p in (small, big)]) == [False, False]


@pytest.mark.parametrize(
    ("node", "asking", "admitted"),
    [
        ({"labels": {"zone": "a"}}, {"node_selector": {"zone": "a"}}, True),
        ({"labels": {"zone": "a"}}, {"node_selector": {"zone": "b"}}, False),
        ({"taints": [Taint("k")]}, {}, False),
        ({"unschedulable": True}, {}, True),  # preCheckForNode looks at taints only
        ({}, {"terms": [Term({"app": "x"}, "zone")]}, True),
        ({"pods": 0}, {}, False),
    ],
)
def test_what_a_new_node_admits(node, asking, admitted):
    on, pod = (Node(0, "n0", 2, exists=False, **node),), Pod(0, "p", 1, **asking)
    model = concrete(spec([pod], on, node_creations=1), "1.22")
    handlers = model.part("handlers")
    model.do(lambda: model.part("node_watch").publish(on[0], True))
    model.do(lambda: handlers.handle_node(on[0]))
    assert model.get(lambda: handlers.admitted[pod]) is admitted


@pytest.mark.parametrize(
    ("release", "fixes", "dropped"),
    [
        ("1.13", (), (False, False, False)),
        ("1.18", (), (False, False, False)),
        ("1.18", ("91252",), (True, False, False)),
        ("1.19", (), (True, False, False)),
        ("1.21", (), (True, False, False)),
        ("1.22", (), (True, True, True)),
    ],
)
def test_an_update_that_matters_to_the_assumed_copy(release, fixes, dropped):
    """A condition, a nomination, a deletion; skipPodUpdate of 1.13.0, 1.18.0, 1.19.0 and 1.21.0, and updatePodInSchedulingQueue of 1.22.0."""
    on, pod = nodes(4), Pod(0, "p", 1)
    model = concrete(spec([pod], on), release, fixes)
    handlers = model.part("handlers")
    model.do(lambda: model.part("cache").assume(pod, on[0], PodCopy()))
    changes = ({"failed": True}, {"nominated": on[0]}, {"terminating": True})
    objects = [PodObject(exists=True, **changed) for changed in changes]
    assert tuple(model.get(partial(handlers.skips_update, pod, o)) for o in objects) == dropped
    assert model.get(lambda: handlers.skips_update(pod, PodObject(exists=True))) is True


@pytest.mark.parametrize(
    ("release", "fixes", "skipped"),
    [("1.18", (), False), ("1.18", ("91252",), True), ("1.19", (), True), ("1.22", (), True)],
)
def test_a_popped_pod_that_is_assumed_with_another_condition(release, fixes, skipped):
    """skipPodSchedule: an assumed pod that was queued before it was assumed, by the event of its own condition."""
    on, pod = nodes(4), Pod(0, "p", 1)
    model = concrete(spec([pod], on), release, fixes)
    scheduler = model.part("scheduler")
    model.do(lambda: model.part("cache").assume(pod, on[0], PodCopy()))
    model.do(lambda: setattr(scheduler, "copy", PodCopy(failed=True)))
    assert model.get(lambda: scheduler.skips(pod)) is skipped


@pytest.mark.parametrize(
    ("release", "follows"), [("1.20", FailurePhase.REQUEUE), ("1.21", FailurePhase.NOMINATE)]
)
def test_a_failed_pod_that_is_bound_after_all(release, follows):
    on, pod = nodes(4), Pod(0, "p", 1)
    model = concrete(spec([pod], on), release)
    failure = model.part("failure")
    model.do(lambda: failure.begin(pod, FailedAttempt(PodCopy())))
    model.do(lambda: model.part("pod_watch").lister.__setitem__(pod, PodObject(exists=True, node=on[0])))
    model.do(lambda: failure.read(pod))
    assert model.get(lambda: failure.phase[pod]) is follows


def losing_nomination(release, assumed):
    """The queue's handler is given an update by which p loses its nomination."""
    (n0,) = on = nodes(4)
    p = Pod(0, "p", 1)
    model = concrete(spec([p], on), release)
    api, handlers = model.part("api"), model.part("handlers")
    model.do(lambda: api.set_nomination(p, n0))
    model.do(lambda: handlers.handle_for_queue(p))
    model.do(lambda: handlers.update_queue(p))
    if assumed:
        model.do(lambda: model.part("cache").assume(p, n0, PodCopy(nominated=n0)))
    model.do(lambda: api.clear_nomination(p))
    model.do(lambda: handlers.handle_for_queue(p))
    return model, handlers, p


@pytest.mark.parametrize("release", ["1.33", "1.34", "1.35", "1.36"])
def test_an_update_of_an_assumed_pod_is_dropped_whatever_it_says(release):
    """updatePodInSchedulingQueue returns before it looks whether the nomination changed."""
    model, handlers, p = losing_nomination(release, assumed=True)
    assert model.get(handlers.is_queue_idle) is True
    model, handlers, p = losing_nomination(release, assumed=False)
    model.do(lambda: handlers.update_queue(p))
    assert model.get(lambda: handlers.queue_waking) is Waking.NOT_ABOVE


@pytest.mark.parametrize(
    ("release", "points", "follows"),
    [
        ("1.34", (), Removal.NONE),
        ("1.34", (ExtensionPoint.PERMIT,), Removal.NONE),
        ("1.35", (), Removal.FORGET),
        ("1.35", (ExtensionPoint.PERMIT,), Removal.REJECT),
        ("1.36", (), Removal.FORGET),
    ],
)
def test_an_assumed_pod_that_begins_to_terminate_is_handled_as_deleted(release, points, follows):
    """134157: handleAssumedPodDeletion, at the update that sets the deletion timestamp and at no later one."""
    (n0,) = on = nodes(4)
    p = Pod(0, "p", 1, extension_points=points)
    model = concrete(spec([p], on), release)
    api, handlers = model.part("api"), model.part("handlers")
    model.do(lambda: model.part("cache").assume(p, n0, PodCopy()))
    model.do(lambda: api._commit(p, api.pod[p].replace(terminating=True)))
    model.do(lambda: handlers.handle_for_queue(p))
    assert model.get(lambda: handlers.queue_removal) is follows
    if follows is Removal.NONE:
        return
    if follows is Removal.REJECT:
        model.do(lambda: handlers.reject_waiting(p))
    model.do(lambda: handlers.forget_assumed(p))
    assert model.get(lambda: model.part("cache").knows(p)) is False
    model.do(lambda: handlers.wake_queue_for_room(p))
    assert model.get(handlers.is_queue_idle) is True
    model.do(lambda: api._commit(p, api.pod[p].replace(terminating=True, failed=True)))
    model.do(lambda: model.part("cache").assume(p, n0, PodCopy()))
    model.do(lambda: handlers.handle_for_queue(p))
    assert model.get(handlers.is_queue_idle) is True


@pytest.mark.parametrize(
    ("release", "nominated", "woken"),
    [
        ("1.32", True, False),
        ("1.33", False, False),
        ("1.33", True, True),
        ("1.34", True, True),
        ("1.35", False, True),
        ("1.36", False, True),
    ],
)
def test_a_waiting_pod_that_is_deleted_wakes_those_that_lack_room(release, nominated, woken):
    """Up to 1.34 it is told as the object in the event, and for NodeResourcesFit a nomination counts like a node from 1.33 on."""
    (n0,) = on = nodes(4)
    p, q = Pod(0, "p", 1, extension_points=[ExtensionPoint.PERMIT]), Pod(1, "q", 1)
    model = concrete(spec([p, q], on), release)
    api, handlers, queue = model.part("api"), model.part("handlers"), model.part("queue")
    if nominated:
        model.do(lambda: api.set_nomination(p, n0))
        model.do(lambda: handlers.handle_for_queue(p))
        model.do(lambda: handlers.update_queue(p))
    model.do(lambda: model.part("cache").assume(p, n0, PodCopy()))
    model.do(lambda: model.part("waiting").add(p))
    parked(model, q)

    def lacks_room():
        for plugin in queue.universe[Plugin]:
            queue.rejected_by[q][plugin] = plugin.name == "NodeResourcesFit"

    model.do(lacks_room)
    model.do(lambda: api.delete_pod(p))
    model.do(lambda: handlers.handle_for_queue(p))
    if release >= "1.35":
        model.do(lambda: handlers.look_whether_assumed(p))
    model.do(lambda: handlers.reject_waiting(p))
    model.do(lambda: handlers.wake_queue_for_room(p))
    assert places(model, q) == [SubQueue.BACKOFF if woken else SubQueue.UNSCHEDULABLE]


def hint(release, name, event, terms=(), others=(), spread=()):
    """Whether a plugin that rejected p would have it tried again when `other` has gone."""
    p = Pod(0, "p", 1, labels={"app": "p"}, terms=terms, spread=spread)
    other = Pod(1, "other", 1, labels={"app": "x"}, terms=others)
    model = concrete(spec([p, other], nodes(4)), release)
    (plugin,) = (g for g in default_plugins() if g.name == name)
    return model.get(lambda: model.part("hints").wakes(plugin, p, event, other))


@pytest.mark.parametrize(("release", "symmetric"), [("1.32", False), ("1.35.4", False), ("1.36", True)])
def test_a_deleted_pod_wakes_those_that_its_own_anti_affinity_kept_out(release, symmetric):
    """135325; what the waiting pod's own terms say counts in all releases that have hints, what others' affinity says in none."""
    against_x, against_p = Term({"app": "x"}, "zone", anti=True), Term({"app": "p"}, "zone", anti=True)
    with_p = Term({"app": "p"}, "zone")

    def wakes(terms, others):
        return hint(release, "InterPodAffinity", ASSIGNED_POD_DELETE, terms, others)

    assert wakes((against_x,), ()) is True
    assert wakes((), (against_p,)) is symmetric
    assert wakes((), (with_p,)) is False
    assert wakes((), (against_x,)) is False


@pytest.mark.parametrize(
    ("release", "fit", "others"),
    [("1.32", False, False), ("1.33", True, False), ("1.35", True, False), ("1.36", True, True)],
)
def test_which_plugins_see_a_nomination_that_is_gone(release, fit, others):
    against_x = Term({"app": "x"}, "zone", anti=True)
    assert hint(release, "NodeResourcesFit", NOMINATED_POD_GONE) is fit
    assert hint(release, "InterPodAffinity", NOMINATED_POD_GONE, (against_x,)) is others
    assert hint(release, "InterPodAffinity", NOMINATED_POD_GONE) is False, "no term of either"


@pytest.mark.parametrize(
    ("release", "stored", "place"),
    [
        # What the store had may show no node: for NodeResourcesFit nothing has become free ...
        ("1.36", {}, SubQueue.UNSCHEDULABLE),
        ("1.32", {}, SubQueue.UNSCHEDULABLE),
        # ... but for what a nomination kept ...
        ("1.36", {"nominated": True}, SubQueue.BACKOFF),
        ("1.32", {"nominated": True}, SubQueue.UNSCHEDULABLE),  # 129058 came with 1.33
        # ... or the pod had on its node.
        ("1.36", {"node": True}, SubQueue.BACKOFF),
        # Without hints, any deletion will do.
        ("1.31", {}, SubQueue.BACKOFF),
    ],
)
def test_a_deletion_whose_last_state_is_unknown_wakes_by_the_object_that_it_carries(release, stored, place):
    on = nodes(2)
    gone, waiting = Pod(0, "a", 1), Pod(1, "w", 2)
    model = concrete(spec([gone, waiting], on, relists=1), release)
    handlers, watch, queue = (model.part(name) for name in ("handlers", "pod_watch", "queue"))
    old = PodObject(exists=True, **dict.fromkeys(stored, on[0]))
    seen = Handler.CACHE if "node" in stored else Handler.QUEUE
    other = Handler.QUEUE if seen is Handler.CACHE else Handler.CACHE
    model.do(lambda: watch.seen[seen].__setitem__(gone, old))
    model.do(lambda: watch.seen[other].__setitem__(gone, PodObject()))
    parked(model, waiting)
    fit = next(p for p in queue.universe[Plugin] if p.name == "NodeResourcesFit")
    model.do(lambda: queue.rejected_by[waiting].__setitem__(fit, True))
    model.do(lambda: watch.append(gone, old, PodObject(), True))
    model.do(lambda: handlers.handle_for_cache(gone))
    model.do(lambda: handlers.wake_queue(gone))
    assert places(model, waiting) == [place]


def watch_entry(watch, i):
    return watch.log.entry(i).pod


@pytest.mark.parametrize(("release", "told"), [("1.32", "ab"), ("1.33", "ba"), ("1.36.3", "ba")])
def test_of_what_was_missed_deletions_are_told_first(release, told):
    """client-go's RealFIFO, from 1.33 on; DeltaFIFO told of them last."""
    on = nodes(2)
    bound, gone = Pod(0, "a", 1), Pod(1, "b", 1)
    model = concrete(spec([bound, gone], on, relists=1, pod_events=2), release)
    api, watch = model.part("api"), model.part("pod_watch")
    model.do(lambda: api.bind(bound, on[0]))
    model.do(lambda: api.delete_pod(gone))
    model.do(watch.resume)
    assert [model.get(partial(watch_entry, watch, i)) for i in range(2)] == [
        {"a": bound, "b": gone}[name] for name in told
    ]


@pytest.mark.parametrize("release", ["1.27", "1.32", "1.36"])
def test_a_deletion_leaves_the_record_of_a_failing_attempt_alone(release):
    """The pod is put back by that record, although it is gone: parked, and not tried at once."""
    pod = Pod(0, "p", 1)
    model = concrete(spec([pod], nodes(2)), release)
    queue, failure = model.part("queue"), model.part("failure")
    model.do(lambda: queue.pop(pod))
    fit = next(p for p in queue.universe[Plugin] if p.name == "NodeResourcesFit")
    model.do(lambda: queue.record_rejection(pod, {fit: True}))
    model.do(lambda: failure.begin(pod, FailedAttempt(PodCopy(), unschedulable=True)))
    model.do(lambda: failure.read(pod))
    model.do(lambda: queue.delete(pod))
    model.do(lambda: failure.requeue(pod))
    assert places(model, pod) == [SubQueue.UNSCHEDULABLE]


@pytest.mark.parametrize(("release", "wakes"), [("1.31", True), ("1.32", False), ("1.36", False)])
def test_a_new_node_that_admits_no_pod_wakes_nobody_that_lacked_room(release, wakes):
    """isFit counts pods as the filter does; before, the handler's own pre-check did (preCheckForNode)."""
    on = (Node(0, "n0", 4, pods=1), Node(1, "n1", 4, pods=0))
    p = Pod(0, "p", 1)
    model = concrete(spec([p], on), release)
    (fit,) = (g for g in default_plugins() if g.name == "NodeResourcesFit")
    hints = model.part("hints")
    assert model.get(lambda: [hints.wakes(fit, p, NODE_ADD, n) for n in on]) == [True, wakes]


def set_rejected(queue, pod, plugin, rejected):
    queue.rejected_by[pod][plugin] = rejected


@pytest.mark.parametrize("how", ["error", "verdict"])
@pytest.mark.parametrize(
    ("release", "woken"), [("1.31", (True, True)), ("1.32", (True, False)), ("1.36", (True, False))]
)
def test_a_pod_that_is_not_bound_is_shown_to_the_hints(release, woken, how):
    """handleBindingCycleError: the event is about the assumed pod."""
    x = Pod(0, "x", 1, labels={"app": "x"}, extension_points=[ExtensionPoint.PERMIT])
    parted = [
        Pod(1 + i, f"from-{app}", 1, terms=[Term({"app": app}, "zone", anti=True)])
        for i, app in enumerate("xy")
    ]
    model = concrete(spec([x, *parted], nodes(4)), release)
    binding, failure, queue = model.part("binding"), model.part("failure"), model.part("queue")
    for q in parted:
        parked(model, q)
        for plugin in model.model.entities[Plugin]:
            named = plugin.name == "InterPodAffinity"
            model.do(partial(set_rejected, queue, q, plugin, named))
    if how == "error":
        model.do(lambda: binding.phase.__setitem__(x, BindingPhase.WAKE))
        model.do(lambda: binding.wake_queue(x))
    else:
        model.do(lambda: failure.phase.__setitem__(x, FailurePhase.WAKE))
        model.do(lambda: failure.wake_others(x))
    assert places(model, *parted) == [SubQueue.BACKOFF if w else SubQueue.UNSCHEDULABLE for w in woken]


@pytest.mark.parametrize("assigned", [False, True])
def test_a_pod_that_comes_to_a_node_wakes_and_one_that_was_there_does_not(assigned):
    """No plugin in tree asked for mere updates of assigned pods."""
    on = nodes(4)
    comes, waits = (
        Pod(0, "comes", 1, labels={"app": "x"}),
        Pod(1, "waits", 1, terms=[Term({"app": "x"}, "zone")]),
    )
    model = concrete(spec([comes, waits], on), "1.36")
    queue, handlers = model.part("queue"), model.part("handlers")
    plugin = next(p for p in queue.universe[Plugin] if p.name == "InterPodAffinity")
    parked(model, waits)
    model.do(lambda: queue.rejected_by[waits].__setitem__(plugin, True))
    old = PodObject(exists=True, node=on[0] if assigned else None)
    model.do(lambda: handlers.wake_for_assigned(comes, old, PodObject(exists=True, node=on[0])))
    assert (places(model, waits) == [SubQueue.UNSCHEDULABLE]) is assigned


def test_a_node_is_removed_after_the_queue_was_notified():
    """deleteNodeFromCache: from MoveAllToActiveOrBackoffQueue until RemoveNode the cache still has the node."""
    on, pod = nodes(2), Pod(0, "p", 1, extension_points=[ExtensionPoint.PERMIT])
    model = concrete(spec([pod], on, node_deletions=1), "1.36")
    handlers, cache = model.part("handlers"), model.part("cache")
    assert not enabled(model, lambda: handlers.remove_node(on[0]))
    model.do(lambda: model.part("api").write_node(on[0], exists=False))
    model.do(lambda: handlers.handle_node(on[0]))
    assert model.get(lambda: (handlers.node_busy, cache.live[on[0]])) == (True, True)
    model.do(lambda: handlers.remove_node(on[0]))
    assert model.get(lambda: (handlers.node_busy, cache.live[on[0]])) == (False, False)
