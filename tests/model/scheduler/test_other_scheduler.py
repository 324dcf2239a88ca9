"""A second scheduler: whose pods it places, what it sees, and what becomes of its assumptions."""

from __future__ import annotations

from podrace.model.environment.objects import ClusterSpec, Node, Pod, Scope
from podrace.model.environment.watch import Handler
from podrace.model.language import Concrete
from podrace.model.scheduler.other_scheduler import ForeignPod, KnownPod, OtherScheduler
from tests.model.clusters import concrete, enabled, nodes


def started(*, gated: bool = False) -> tuple[Concrete, OtherScheduler, Pod, ForeignPod, tuple[Node, ...]]:
    on = nodes(1, 1)
    pods = (Pod(0, "p", 1), Pod(1, "q", 1, foreign=True, gated=gated))
    model = concrete(ClusterSpec("two", pods, on, Scope()), "1.36")
    other = model.part("other_scheduler")
    assert isinstance(other, OtherScheduler)
    (foreign,) = model.model.entities[ForeignPod]
    return model, other, pods[0], foreign, on


def test_kube_scheduler_hears_of_a_pod_of_the_other_when_it_is_bound() -> None:
    model, other, _, foreign, on = started()
    watch, q = model.part("pod_watch"), foreign.pod
    assert not model.get(lambda: watch.seen[Handler.QUEUE][q].exists)
    model.do(lambda: other.assume(foreign, on[0]))
    assert not enabled(model, lambda: other.assume(foreign, on[1]))
    model.do(lambda: other.bind(foreign))
    assert not enabled(model, lambda: watch.take(Handler.QUEUE, q))
    model.do(lambda: model.part("handlers").handle_for_cache(q))
    assert model.get(lambda: model.part("cache").on(q, on[0]))
    assert not model.get(lambda: model.part("queue").contains(q))


def test_an_assumption_lasts_until_its_informer_shows_the_pod() -> None:
    model, other, _, foreign, on = started()
    model.do(lambda: other.assume(foreign, on[0]))
    model.do(lambda: other.bind(foreign))
    assert model.get(lambda: other.assumed[foreign]) is on[0]
    assert not enabled(model, lambda: other.bind(foreign))
    model.do(lambda: other.hear(model.model.entities[KnownPod][1]))
    assert model.get(lambda: other.assumed[foreign]) is None


def test_an_assumption_ends_with_a_binding_that_is_refused() -> None:
    model, other, _, foreign, on = started()
    model.do(lambda: other.assume(foreign, on[0]))
    model.do(lambda: model.part("api").remove_pod(foreign.pod))
    model.do(lambda: other.bind(foreign))
    assert model.get(lambda: other.assumed[foreign]) is None


def test_it_waits_for_gates_and_for_room_that_it_knows_of() -> None:
    model, other, _, foreign, on = started(gated=True)
    assert not enabled(model, lambda: other.assume(foreign, on[0]))
    model, other, p, foreign, on = started()
    model.do(lambda: model.part("api").bind(p, on[0]))
    assert [enabled(model, lambda n=n: other.assume(foreign, n)) for n in on] == [True, True]
    model.do(lambda: other.hear(model.model.entities[KnownPod][0]))
    assert [enabled(model, lambda n=n: other.assume(foreign, n)) for n in on] == [False, True]
