"""Which steps of a run can be forced, as far as that depends on the run."""

from __future__ import annotations

from podrace.checker.trace.execution import replay
from podrace.model.history import resolve
from podrace.reproduce.random_runs.forcing import Forcing
from podrace.reproduce.random_runs.random_runs import Model

TWO_MISSED = """
nodes: {n1: {cpu: 2}}
pods:
  p: {cpu: 1}
  q: {cpu: 1}
scope: {external_binds: 2, relists: 1, pod_deletions: 2}
"""


def path_of(model: Model, *labels: str) -> tuple[int, ...]:
    numbers = {t.label: number for number, t in enumerate(model.system.transitions)}
    return tuple(numbers[label] for label in labels)


def allowed(*labels: str) -> list[bool]:
    """Whether each step of a run on two pods may be taken there."""
    model = Model.of(TWO_MISSED, resolve("1.36.3"))
    path = path_of(model, *labels)
    states = replay(model.system, path).states
    forcing, found = Forcing(model.system), []
    for number, before, after in zip(path, states, states[1:], strict=False):
        step = model.system.transitions[number]
        found.append(forcing.allows(step, before))
        forcing.go(step, before, after)
    return found


BOUND = ("users.bind_pod(pod=p, node=n1)", "users.bind_pod(pod=q, node=n1)")
LISTED = ("pod_watch.store(pod=p)", "pod_watch.store(pod=q)")


def test_a_list_is_stored_in_one_go() -> None:
    assert allowed(*BOUND, "pod_watch.resume()", *LISTED, "scheduler.pop(pod=p)") == [True] * 6
    between = (LISTED[0], "scheduler.pop(pod=p)", LISTED[1])
    assert allowed(*BOUND, "pod_watch.resume()", *between) == [True, True, True, True, False, True]
    part = "handlers.handle_for_cache(pod=p)"
    assert allowed(*BOUND, "pod_watch.resume()", part) == [True, True, True, False]
    assert allowed(*BOUND[:1], "pod_watch.resume()", part) == [True, True, True]


def test_without_an_interruption_events_come_one_by_one() -> None:
    assert allowed(*BOUND, LISTED[0], "scheduler.pop(pod=p)", LISTED[1]) == [True] * 5


def test_of_two_missed_deletions_none_is_known_to_be_first() -> None:
    gone = ("users.delete_pod(pod=p)", "users.delete_pod(pod=q)")
    assert allowed(*gone, "pod_watch.resume()") == [True, True, False]
    assert allowed(*gone[:1], "pod_watch.resume()") == [True, True]
