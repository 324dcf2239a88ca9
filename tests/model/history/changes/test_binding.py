"""What the binding cycle did before later changes."""

from __future__ import annotations

import pytest

from podrace.model.environment.objects import ExtensionPoint
from podrace.model.scheduler.cycles.binding import BindingPhase
from tests.model.scheduler.test_binding import PRE_BIND, started


def in_flight(model, pod):
    return model.get(lambda: model.part("queue").in_flight[pod])


@pytest.mark.parametrize(
    ("release", "points", "waiting", "through"),
    [
        ("1.32", {PRE_BIND}, True, False),
        ("1.32", set(), False, False),
        ("1.33", {PRE_BIND}, False, False),
    ],
)
def test_done_comes_once_no_plugin_can_reject_the_pod(
    release: str, points: set[ExtensionPoint], waiting: bool, through: bool
) -> None:
    """130189: up to 1.32 PreBind could. Upstream's bindingCycle of 1.32.13 and 1.33.6 was read, and is run by `make real`."""
    model, v, _, _ = started(release, frozenset(points))
    assert in_flight(model, v) == waiting
    if points:
        model.do(lambda: model.part("binding").pre_bind(v, True))
    assert model.get(lambda: model.part("binding").phase[v]) == BindingPhase.BIND
    assert in_flight(model, v) == through


def test_a_pod_that_pre_bind_ends_is_in_flight_until_it_is_requeued() -> None:
    model, v, _, _ = started("1.32", frozenset({PRE_BIND}), plugin_errors=1)
    model.do(lambda: model.part("binding").pre_bind(v, False))
    assert in_flight(model, v)
    assert model.part("failure").may_meet_pop(v)
    assert not started("1.33", frozenset({PRE_BIND}))[0].part("failure").may_meet_pop(v)
