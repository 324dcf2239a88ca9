"""The queue's calls, before and after a change."""

from __future__ import annotations

from functools import partial

import pytest

from podrace.checker.search import check
from podrace.model.environment.objects import Pod, PodCopy, PodObject
from podrace.model.history import resolve
from podrace.model.language import as_expr
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import find_scenarios
from tests.model.clusters import concrete, enabled, nodes, spec


@pytest.mark.parametrize(
    ("release", "fixes", "verdict", "steps"),
    [
        ("1.31", (), "VIOLATED", 17),  # an update of any pod in flight queues it
        ("1.32", (), "VIOLATED", 16),
        ("1.34.4", (), "VIOLATED", 15),
        ("1.34.4", ("update-in-one-lock",), "HOLDS", None),
        ("1.35", (), "HOLDS", None),
    ],
)
def test_an_update_that_pop_comes_between(release, fixes, verdict, steps):
    """125578 closed the race of update-in-flight but for a gap between two locks, until 1.35."""
    (scenario,) = find_scenarios("update-in-flight")
    classes = resolve(release, fixes).classes
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES["S-CYCLE"]]), ["S-CYCLE"])
    assert (found.verdict.name, None if found.trace is None else len(found.trace.steps)) == (verdict, steps)


@pytest.mark.parametrize(
    ("release", "fixes", "verdict", "states", "steps"),
    [
        ("1.33.6", ("133167",), "HOLDS", 21518, None),  # any event wakes what is held back
        ("1.34.0", (), "VIOLATED", 6187, 31),
        ("1.34.0", ("update-in-one-lock",), "HOLDS", 3758, None),
        ("1.35.4", (), "HOLDS", 4386, None),
    ],
)
def test_what_only_its_own_preemption_holds_back(release, fixes, verdict, states, steps):
    """held-back-alone: Update queues a new entry, and only DefaultPreemption is recorded for it."""
    (scenario,) = find_scenarios("held-back-alone")
    classes = resolve(release, fixes).classes
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES["S-STUCK"]]), ["S-STUCK"])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)


@pytest.mark.parametrize("release", ["1.32", "1.34"])
def test_the_popped_pod_is_in_its_cycle_and_in_activeq(release):
    p = Pod(0, "p", 1)
    model = concrete(spec([p], nodes(2)), release)
    handlers, queue, scheduler = (model.part(n) for n in ("handlers", "queue", "scheduler"))
    model.do(lambda: model.part("api").patch_status(p, True, None))
    model.do(lambda: handlers.handle_for_queue(p))
    model.do(lambda: handlers.update_around_pop(p))
    assert model.get(lambda: scheduler.in_flight(p) & queue.in_flight[p] & queue.contains(p)) is True
    assert model.get(handlers.is_queue_idle) is True


@pytest.mark.parametrize(("release", "counts"), [("1.36.4", False), ("1.37", True)])
def test_139057_the_nomination_of_a_pod_that_is_added_gated(release, counts):
    p, on = Pod(0, "p", 1, gated=True), nodes(2)
    model = concrete(spec([p], on), release)
    queue, nominator = model.part("queue"), model.part("nominator")
    model.do(lambda: queue.add(p, PodObject(exists=True, gated=True, nominated=on[0])))
    assert model.get(lambda: queue.gated[p]) is True
    assert model.get(lambda: nominator.nominated_to(p, on[0])) is counts


@pytest.mark.parametrize(
    ("release", "place"),
    [("1.34", SubQueue.UNSCHEDULABLE), ("1.35", SubQueue.ACTIVE), ("1.36", SubQueue.ACTIVE)],
)
def test_activation_from_backoffq_asks_no_pre_enqueue_plugin(release, place):
    p = Pod(0, "p", 1, gated=True)
    model = concrete(spec([p], nodes(2)), release)
    queue = model.part("queue")
    for start, end in ((SubQueue.BACKOFF, place), (SubQueue.UNSCHEDULABLE, SubQueue.UNSCHEDULABLE)):
        model.do(partial(queue.put, p, start, PodCopy(gated=True)))
        model.do(lambda: queue.activate(p))
        assert model.get(lambda: queue.sub_queue[p]) is end


@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize("release", ["1.27", "1.31", "1.36"])
def test_a_gated_pod_is_not_nominated_when_it_is_added(release, gated):
    (n0,) = on = nodes(2)
    p = Pod(0, "p", 1, gated=True, exists=False)
    model = concrete(spec([p], on), release)
    queue, nominator, lister = model.part("queue"), model.part("nominator"), model.part("pod_watch").lister
    new = PodObject(exists=True, nominated=n0, gated=gated)
    model.do(lambda: lister.__setitem__(p, new))
    model.do(lambda: queue.add(p, new))
    assert model.get(lambda: as_expr(nominator.node[p]).is_some) is not gated
    model.do(lambda: queue.update(p, new, new.replace(gated=False)))
    assert model.get(lambda: nominator.nominated_to(p, n0)) is True


def test_up_to_1_30_pop_waits_for_the_queues_lock():
    p = Pod(0, "p", 1)
    model = concrete(spec([p], nodes(2), backoff=False), "1.30")
    queue, scheduler = model.part("queue"), model.part("scheduler")
    model.do(partial(queue.put, p, SubQueue.UNSCHEDULABLE, PodCopy()))
    model.do(queue.move_all)
    assert not enabled(model, lambda: scheduler.pop_amid_move(p))
    assert model.get(lambda: queue.just_moved[p]) is False


@pytest.mark.parametrize("kept_for_another", [True, False])
def test_120413_a_pod_is_deaf_once_its_mark_is_kept_for_nobody(kept_for_another):
    done, other, marked = (Pod(i, name, 1) for i, name in enumerate(("done", "other", "marked")))
    model = concrete(spec([done, other, marked], nodes(2)), "1.28.0")
    queue = model.part("queue")

    def remember():
        queue.mark[marked][done] = True
        queue.mark[marked][other] = kept_for_another

    model.do(remember)
    model.do(lambda: queue.done(done))
    assert model.get(lambda: queue.deaf[marked]) is not kept_for_another


@pytest.mark.parametrize(
    ("release", "place", "kept"),
    [
        ("1.32", SubQueue.UNSCHEDULABLE, False),
        ("1.33.6", SubQueue.UNSCHEDULABLE, True),
        ("1.35.4", SubQueue.UNSCHEDULABLE, True),
        ("1.36.3", SubQueue.UNSCHEDULABLE, False),
        ("1.36.3", SubQueue.BACKOFF, True),
        ("1.37.2", SubQueue.BACKOFF, False),
    ],
)
def test_a_pod_that_is_added_gated_finds_an_entry_of_its_name(release, place, kept):
    """Add drops what it brings, and the entry keeps its record; or the entry makes way."""
    p, q = Pod(0, "p", 1), Pod(1, "q", 1, recreates="p", exists=False, gated=True)
    model = concrete(spec([p, q], nodes(2), pod_deletions=1, pod_creations=1), release)
    queue = model.part("queue")
    model.do(lambda: queue.put(p, place, PodCopy()))
    model.do(lambda: queue.add(q, PodObject(exists=True, gated=True)))
    where = model.get(lambda: queue.sub_queue[p]), model.get(lambda: queue.sub_queue[q])
    parked = SubQueue.UNSCHEDULABLE
    both = release == "1.37.2"
    assert where == ((place, SubQueue.NONE) if kept else (place if both else SubQueue.NONE, parked))
