"""Groups of pods as entries of the queue (1.37): who is in the entry, which place it has in activeQ, and when the state of the group forgets a pod."""

from __future__ import annotations

from typing import Any

import pytest

from podrace.checker.core.trace import plain_value
from podrace.checker.trace.execution import replay
from podrace.model.cluster import build_cluster
from podrace.model.environment.objects import PodCopy, PodGroup
from podrace.model.environment.pod_groups import Member
from podrace.model.history import resolve
from podrace.model.language import Concrete, TransitionSystem, as_expr
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from podrace.properties import instrument
from podrace.scenarios import parse_scenario

WORKLOADS = {"GenericWorkload": True}


def system_of(text: str) -> TransitionSystem:
    scenario = parse_scenario(f"{text}\nfeatureGates: {{GenericWorkload: true}}\n", "groups.yaml")
    return instrument(scenario.spec, resolve("1.37.2", gates=WORKLOADS).classes, [])


def states(system: TransitionSystem, *labels: str) -> list[dict[str, Any]]:
    """The states of a run, by the names of the variables."""
    numbers = {t.label: number for number, t in enumerate(system.transitions)}
    found = replay(system, tuple(numbers[label] for label in labels)).states
    return [{name: plain_value(value) for name, value in system.describe(state).items()} for state in found]


WAITING = """
nodes: {n1: {cpu: 2}}
podGroups: {g: {minCount: 2}}
pods:
  a: {cpu: 1, podGroup: g}
  b: {cpu: 1, podGroup: g}
scope: {pod_deletions: 1, bind_failures: 1}
"""
PLACED = (
    "scheduler.pop(pod=a)",
    "pod_group_cycle.take_snapshot(pod=a)",
    "scheduler.filter(pod=a, node=n1)",
    "scheduler.assume(pod=a, node=n1)",
    "scheduler.filter(pod=b, node=n1)",
    "scheduler.assume(pod=b, node=n1)",
    "pod_group_cycle.submit(pod=a)",
    "scheduler.start_binding(pod=a)",
    "gang_scheduling.permit(pod=a)",
)
GONE = ("users.delete_pod(pod=a)", "handlers.handle_for_queue(pod=a)", "handlers.look_whether_assumed(pod=a)")


def test_a_pod_that_is_deleted_while_it_waits_for_permission_stays_in_the_state_of_its_group() -> None:
    run = (
        *PLACED, *GONE, "handlers.reject_waiting(pod=a)", "handlers.wake_queue_for_room(pod=a)", "binding.announce(pod=a)",
        "binding.wait_on_permit(pod=a)", "binding.forget(pod=a)",
    )  # fmt: skip
    (*_, last) = states(system_of(WAITING), *run)
    assert last["api.pod[a].exists"] is False
    assert (last["pod_group_states.known[a]"], last["pod_group_states.unscheduled[a]"]) == (True, True)


def test_a_pod_that_is_deleted_while_it_is_bound_leaves_the_state_with_the_cache() -> None:
    others = (
        "pod_group_cycle.submit(pod=b)", "scheduler.start_binding(pod=b)", "gang_scheduling.permit(pod=b)",
        "binding.announce(pod=a)", "handlers.handle_for_queue(pod=a)", "binding.wait_on_permit(pod=a)",
    )  # fmt: skip
    run = (*PLACED, *others, *GONE, "handlers.reject_waiting(pod=a)", "handlers.forget_assumed(pod=a)")
    *_, before, last = states(system_of(WAITING), *run)
    known = "pod_group_states.known[a]"
    assert (before[known], last[known], last["pod_group_states.unscheduled[a]"]) == (True, False, False)


def test_a_pod_that_is_not_assumed_leaves_the_state_after_the_look() -> None:
    *_, looked, last = states(system_of(WAITING), *GONE, "handlers.remove_member(pod=a)")
    known = "pod_group_states.known[a]"
    assert (looked[known], last[known], last["handlers.queue_removal"]) == (True, False, "NONE")


LATE = """
nodes: {n1: {cpu: 3}}
podGroups: {g: {}}
pods:
  a: {cpu: 1, podGroup: g, exists: false}
  b: {cpu: 1, podGroup: g}
  x: {cpu: 1}
scope: {pod_events: 2, file_order: true}
"""


def test_a_pod_that_joins_an_entry_has_its_place() -> None:
    run = ("users.create_pod(pod=a)", "handlers.handle_for_queue(pod=a)", "handlers.add_member(pod=a)")
    first, *_, last = states(system_of(LATE), *run)
    assert first["clock.older[b][x]"] is True
    assert (last["queue.sub_queue[a]"], last["clock.older[a][x]"], last["clock.older[b][x]"]) == (
        "ACTIVE",
        True,
        True,
    )


ASIDE = """
nodes: {n1: {cpu: 3}}
podGroups: {g: {exists: false}}
pods:
  a: {cpu: 1, podGroup: g}
  x: {cpu: 1}
scope: {file_order: true}
"""


def test_an_entry_has_the_timestamp_that_its_first_pod_had_when_it_was_put_aside() -> None:
    run = (
        "pod_groups.create_group(group=g)",
        "pod_groups.store_group(group=g)",
        "gang_scheduling.tell_queue(group=g)",
    )
    first, *_, last = states(system_of(ASIDE), *run)
    assert (first["queue.incomplete[a]"], first["queue.sub_queue[a]"]) == (True, "NONE")
    assert (last["queue.sub_queue[a]"], last["clock.older[a][x]"]) == ("ACTIVE", True)


GATED = """
nodes: {n1: {cpu: 3}}
podGroups: {g: {minCount: 2}}
pods:
  a: {cpu: 1, podGroup: g}
  b: {cpu: 1, podGroup: g, schedulingGates: [{name: example.com/gate}]}
  c: {cpu: 1, podGroup: g}
scope: {file_order: true}
"""


def test_an_entry_that_is_held_for_a_gate_asks_no_plugin_about_those_who_join_it() -> None:
    (start,) = states(system_of(GATED))
    assert start["queue.closed_by[g]"] == "SchedulingGates"
    assert [start[f"queue.gated[{pod}]"] for pod in "abc"] == [False, True, False]
    assert [start[f"queue.rejected_by[{pod}][GangScheduling]"] for pod in "abc"] == [True, False, False]
    assert {start[f"queue.sub_queue[{pod}]"] for pod in "abc"} == {"UNSCHEDULABLE"}


TWO_ENTRIES = """
nodes: {n1: {cpu: 3}}
podGroups: {g: {minCount: 2}, h: {minCount: 1}}
pods:
  a: {cpu: 1, podGroup: g}
  x: {cpu: 1, podGroup: h}
  b: {cpu: 1, podGroup: g}
scope: {file_order: true}
"""


def test_at_the_start_a_pod_has_the_place_of_its_entry() -> None:
    (start,) = states(system_of(TWO_ENTRIES))
    assert (start["clock.older[a][x]"], start["clock.older[x][b]"]) == (True, False)


def test_a_member_is_done_before_it_is_put_back() -> None:
    """AddUnschedulablePodIfNotPresent calls Done first for a member (1.37), so that Pop finds none in flight."""
    assert "requeue_too_soon" not in {t.step for t in system_of(TWO_ENTRIES).transitions}


@pytest.mark.parametrize(("there", "place"), [(True, SubQueue.NONE), (False, SubQueue.ACTIVE)])
def test_a_group_that_has_an_entry_when_its_cycle_ends_keeps_what_was_put_aside(
    there: bool, place: SubQueue
) -> None:
    """AddAttemptedPodGroupIfNeeded: that is an error, and nothing happens."""
    scenario = parse_scenario(f"{WAITING}\nfeatureGates: {{GenericWorkload: true}}\n", "groups.yaml")
    model = Concrete(build_cluster(scenario.spec, resolve("1.37.2", gates=WORKLOADS).classes))
    queue = model.part("queue")
    (group,) = queue.universe[PodGroup]
    a, b = queue.universe[Member]

    def put_aside() -> None:
        queue.put(a.pod, SubQueue.NONE, PodCopy())
        queue.pending[a] = True
        queue.put(b.pod, SubQueue.ACTIVE if there else SubQueue.NONE, PodCopy())

    model.do(put_aside)
    model.do(lambda: queue.attempted(group, {a: True, b: False}, as_expr(True)))
    assert model.get(lambda: queue.sub_queue[a.pod]) is place
    assert model.get(lambda: queue.pending[a]) is there
