"""The failure handler's own informer (1.19)."""

from __future__ import annotations

import pytest

from podrace.model.environment.objects import Pod, PodCopy
from podrace.model.history import resolve
from podrace.model.language import Concrete
from podrace.model.scheduler.cycles.failure import FailedAttempt, FailurePhase
from tests.model.clusters import concrete, enabled, nodes, spec


def failing(release: str, **scope: int) -> tuple[Concrete, Pod]:
    """p was created, and its first attempt has failed."""
    p = Pod(0, "p", 1, exists=False)
    model = concrete(spec([p], nodes(1), pod_creations=1, **scope), release)
    model.do(lambda: model.part("users").create_pod(p))
    model.do(lambda: model.part("pod_watch").store(p))
    model.do(lambda: model.part("failure").begin(p, FailedAttempt(PodCopy(), unschedulable=True)))
    return model, p


@pytest.mark.parametrize(
    ("release", "phase"), [("1.19", FailurePhase.NOMINATE), ("1.20", FailurePhase.REQUEUE)]
)
def test_a_pod_that_the_other_informer_does_not_have_yet_is_not_requeued(
    release: str, phase: FailurePhase
) -> None:
    model, p = failing(release)
    model.do(lambda: model.part("failure").read(p))
    assert model.get(lambda: model.part("failure").phase[p]) is phase


def test_once_it_has_received_the_pod_it_is_requeued() -> None:
    model, p = failing("1.19")
    failure = model.part("failure")
    model.do(lambda: failure.catch_up(p))
    assert not enabled(model, lambda: failure.catch_up(p)), "there is nothing more to receive"
    model.do(lambda: failure.read(p))
    assert model.get(lambda: failure.phase[p]) is FailurePhase.REQUEUE


def test_it_is_no_further_behind_than_the_other_watch_may_be() -> None:
    model, p = failing("1.19", pod_events=1)
    watch = model.part("pod_watch")
    assert model.get(lambda: (watch.own.length, watch.own_lister[p].exists)) == (1, False)
    model.do(lambda: watch.log.drop(watch.log.length))
    model.do(lambda: watch.publish(p, watch.own_lister[p], model.part("api").pod[p]))
    assert model.get(lambda: (watch.own.length, watch.own_lister[p].exists)) == (1, True)


def test_a_pod_that_is_on_a_node_from_the_start_is_read_by_nobody() -> None:
    on = nodes(1)
    x = Pod(0, "x", 1, node=on[0])
    model = concrete(spec([x], on, pod_deletions=1), "1.19")
    model.do(lambda: model.part("api").delete_pod(x))
    assert model.get(lambda: model.part("pod_watch").own.is_empty) is True


@pytest.mark.parametrize(("release", "has"), [("1.18", True), ("1.19", False), ("1.20", True)])
def test_only_1_19_had_two_informers(release: str, has: bool) -> None:
    assert ("93044" not in {change.key for change in resolve(release).missing}) is has
