"""Time in the queue: as order, and counted."""

import pytest

from podrace.model.cluster import build_cluster
from podrace.model.environment.objects import Pod, PodCopy, PodObject
from podrace.model.history import resolve
from podrace.model.language import Concrete, NotEnabled
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from tests.conformance.queue.numbered import SECOND, Timing, counted
from tests.model.clusters import concrete, nodes, spec


def pair():
    return [Pod(0, "a", 1), Pod(1, "b", 1)]


def counting(pods, timing=None):
    changes = (*resolve("1.22").classes, *counted(timing or Timing()))
    return Concrete(build_cluster(spec(pods, nodes(4)), changes))


def test_as_order_the_last_to_come_is_the_youngest():
    a, b = pair()
    model = concrete(spec([a, b], nodes(4)), "1.22")
    clock = model.part("clock")
    assert model.get(lambda: clock.is_older(a, b)) is True
    model.do(lambda: clock.came_back(a))
    assert model.get(lambda: (clock.is_older(a, b), clock.is_older(b, a))) == (False, True)


def test_as_order_a_backoff_lasts_until_its_flush_which_may_come_at_once():
    a, _ = pair()
    model = concrete(spec([a], nodes(4)), "1.22")
    queue = model.part("queue")
    model.do(lambda: queue.pop(a))
    model.do(queue.move_all)
    model.do(lambda: queue.begin_failure(a))
    model.do(lambda: queue.requeue(a, PodCopy()))
    model.do(queue.move_all)
    assert model.get(lambda: queue.sub_queue[a]) is SubQueue.BACKOFF
    model.do(lambda: queue.flush_backoff(a))
    assert model.get(lambda: queue.sub_queue[a]) is SubQueue.ACTIVE


@pytest.mark.parametrize(
    ("initial", "maximum", "seconds"),
    [(1, 10, [1, 1, 2, 4, 8, 10, 10]), (4, 4, [4, 4, 4]), (6, 2, [6, 6, 2, 2])],
)
def test_a_backoff_doubles_from_the_second_attempt_on_up_to_the_maximum(initial, maximum, seconds):
    model = counting(pair(), Timing(initial * SECOND, maximum * SECOND))
    clock = model.part("clock")
    assert [model.get(lambda n=n: clock.backoff(n)) for n in range(len(seconds))] == [
        s * SECOND for s in seconds
    ]


def test_counted_a_backoff_ends_when_its_time_has_come():
    a, b = pair()
    model = counting([a, b])
    queue, clock = model.part("queue"), model.part("clock")
    model.do(lambda: queue.delete(a))
    model.do(lambda: queue.put(a, SubQueue.BACKOFF, PodCopy()))
    with pytest.raises(NotEnabled):
        model.do(lambda: queue.flush_backoff(a))
    model.do(lambda: clock.advance(SECOND))
    model.do(lambda: queue.flush_backoff(a))
    assert model.get(lambda: queue.sub_queue[a]) is SubQueue.ACTIVE


def test_counted_attempts_belong_to_the_record():
    a, b = pair()
    model = counting([a, b])
    queue, clock = model.part("queue"), model.part("clock")
    model.do(lambda: queue.add(a, PodObject(exists=True)))
    model.do(lambda: clock.advance(5))
    model.do(lambda: queue.add(b, PodObject(exists=True)))
    for attempt in (1, 2):
        model.do(lambda: queue.pop(a))
        assert model.get(lambda: (clock.attempts[a], clock.first_seen[a])) == (attempt, 0)
        model.do(lambda: queue.begin_failure(a))
        model.do(lambda: queue.requeue(a, PodCopy()))
        if attempt == 1:
            model.do(lambda: queue.pop(b))
            model.do(lambda: queue.activate(a))
    model.do(lambda: queue.delete(a))
    model.do(lambda: queue.add(a, PodObject(exists=True)))
    assert model.get(lambda: (clock.attempts[a], clock.first_seen[a])) == (0, 5)


def test_counted_cycles_decide_between_parking_and_backoff():
    a, b = pair()
    model = counting([a, b])
    queue = model.part("queue")
    model.do(lambda: queue.add(a, PodObject(exists=True)))
    model.do(lambda: queue.pop(a))
    model.do(queue.move_all)
    model.do(queue.next_cycle)
    model.do(lambda: queue.begin_failure(a))
    model.do(lambda: queue.requeue(a, PodCopy()))
    assert model.get(lambda: queue.sub_queue[a]) is SubQueue.UNSCHEDULABLE


def test_every_record_starts_at_0_and_who_arrives_was_never_tried():
    a, b = pair()
    model = counting([a, b])
    clock = model.part("clock")
    for pod in (a, b):
        assert model.get(
            lambda pod=pod: (clock.timestamp[pod], clock.attempts[pod], clock.first_seen[pod])
        ) == (0, 0, 0)
    model.do(lambda: clock.popped(a))
    assert model.get(lambda: (clock.attempts[a], clock.attempts[b])) == (1, 0)
    model.do(lambda: clock.arrived(a))
    assert model.get(lambda: clock.attempts[a]) == 0


def test_as_order_a_pod_that_left_is_the_youngest_of_all():
    """Its timestamp is nobody's: states that differ in it alone are one."""
    a, b = pair()
    model = concrete(spec([a, b], nodes(4)), "1.22")
    queue, clock = model.part("queue"), model.part("clock")
    model.do(lambda: queue.delete(a))
    assert model.get(lambda: (clock.is_older(a, b), clock.is_older(b, a))) == (False, True)
