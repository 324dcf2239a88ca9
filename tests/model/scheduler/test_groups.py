"""What the cycles make of a pod whose group has no state any more, in which order plugins undo, and which PreEnqueue plugin is noted."""

from __future__ import annotations

from typing import Any

import pytest

from podrace.checker import explicit
from podrace.checker.core.interpreter import Interpreter
from podrace.checker.trace.execution import replay
from podrace.model.history import resolve
from podrace.model.language import TransitionSystem
from podrace.properties import instrument
from podrace.scenarios import parse_scenario

GANGS = {"GangScheduling": True}


def system_of(text: str, release: str) -> TransitionSystem:
    scenario = parse_scenario(text, "groups.yaml")
    return instrument(scenario.spec, resolve(release, gates=GANGS).classes, [])


def after(system: TransitionSystem, *labels: str) -> dict[str, Any]:
    """The state after a run, by the names of the variables."""
    numbers = {t.label: number for number, t in enumerate(system.transitions)}
    return dict(system.describe(replay(system, tuple(numbers[label] for label in labels)).states[-1]))


def possible(system: TransitionSystem, *labels: str) -> set[str]:
    """The steps that can follow a run."""
    numbers = {t.label: number for number, t in enumerate(system.transitions)}
    state = replay(system, tuple(numbers[label] for label in labels)).states[-1]
    return {system.transitions[number].label for number in Interpreter(system).enabled(state)}


GONE = """
nodes: {n1: {cpu: 2}}
podGroups: {g: {minCount: 2}}
pods:
  a: {cpu: 1, podGroup: g, terminationGracePeriodSeconds: 0}
  b: {cpu: 1, podGroup: g, terminationGracePeriodSeconds: 0}
scope: {pod_deletions: 2}
featureGates: {GangScheduling: true}
"""
DELETED = tuple(
    step
    for pod in "ab"
    for step in (
        f"users.delete_pod(pod={pod})",
        f"handlers.handle_for_queue(pod={pod})",
        f"handlers.remove_member(pod={pod})",
        f"handlers.look_whether_assumed(pod={pod})",
    )
)
TRIED = (
    "pod_group_cycle.take_snapshot(pod=a)",
    "scheduler.filter(pod=a, node=n1)",
    "scheduler.assume(pod=a, node=n1)",
    "pod_group_cycle.ask_permit(pod=a)",
)
TAKEN = (
    "scheduler.pop(pod=a)",
    "pod_group_cycle.gather(pod=a)",
    "pod_group_cycle.pop_member(pod=a, other=b)",
)


def test_permit_fails_in_the_cycle_where_the_snapshot_has_no_state_of_the_group() -> None:
    """The algorithm breaks off: b is not tried, and both go to the failure handler with an error (schedule_one_podgroup.go, 1.36.3)."""
    system = system_of(GONE, "1.36.3")
    state = after(system, *TAKEN, *DELETED, *TRIED)
    assert (str(state["pod_group_cycle.status"]), str(state["pod_group_cycle.outcome[b]"])) == (
        "GroupStatus.ERROR",
        "Outcome.NONE",
    )
    failed = after(system, *TAKEN, *DELETED, *TRIED, "pod_group_cycle.submit(pod=a)")
    assert (failed["failure.unschedulable[a]"], str(failed["failure.phase[a]"])) == (
        False,
        "FailurePhase.READ",
    )
    there = after(system, *TAKEN, *TRIED)
    assert str(there["pod_group_cycle.status"]) == "GroupStatus.UNSCHEDULABLE"


RESERVED = """
nodes: {n1: {cpu: 2}}
podGroups: {g: {}}
devices: {d: {}}
resourceClaims: {c: {}}
pods:
  a: {cpu: 1, podGroup: g, resourceClaims: [c]}
scope: {plugin_errors: 1}
featureGates: {GangScheduling: true}
"""


BOTH = RESERVED.replace("scope", "  b: {cpu: 1, podGroup: g}\nscope")


def test_unreserve_of_the_plugin_that_reserved_last_comes_first() -> None:
    """GangScheduling is the last of the default plugins (applyGangScheduling, 1.35): it undoes what it has reserved before DynamicResources does."""
    system = system_of(RESERVED, "1.35.4")
    run = (
        "scheduler.pop(pod=a)", "scheduler.take_snapshot(pod=a)", "dynamic_resources.get_claim(use=c of a)", "dynamic_resources.check_claim(use=c of a)",
        "dynamic_resources.list_devices(pod=a)", "dynamic_resources.add_in_flight(pod=a)", "scheduler.filter(pod=a, node=n1)", "scheduler.assume(pod=a, node=n1)",
        "scheduler.start_binding(pod=a)", "dynamic_resources.reserve_claim(use=c of a, device=d)", "scheduler.reserve(pod=a, ok=False)",
    )  # fmt: skip
    gang, devices = "gang_scheduling.unreserve(pod=a)", "dynamic_resources.unreserve_claim(use=c of a)"
    assert possible(system, *run) & {gang, devices} == {gang}
    assert possible(system, *run, gang) & {gang, devices} == {devices}


GATED = """
nodes: {n1: {cpu: 2}}
podGroups: {g: {minCount: 2}}
pods:
  a: {cpu: 1, podGroup: g, schedulingGates: [{name: example.com/gate}]}
featureGates: {GangScheduling: true}
"""


@pytest.mark.parametrize("release", ["1.35.4", "1.36.3"])
def test_a_gated_pod_is_held_by_its_gates_alone(release: str) -> None:
    system = system_of(GATED, release)
    start = dict(system.describe(system.initial))
    plugins = ("SchedulingGates", "GangScheduling")
    assert [start[f"queue.rejected_by[a][{plugin}]"] for plugin in plugins] == [True, False]
    opened = after(
        system, "users.remove_gates(pod=a)", "handlers.handle_for_queue(pod=a)", "handlers.update_queue(pod=a)"
    )  # fmt: skip
    assert opened["queue.rejected_by[a][GangScheduling]"] is True


def test_an_error_of_reserve_while_members_are_tried_ends_the_attempt_of_the_group() -> None:
    """assumeAndReserve takes back what this member has reserved; podGroupSchedulingDefaultAlgorithm tries no other, and all fail with an error (1.36.3)."""
    system = system_of(BOTH, "1.36.3")
    tried = (
        "scheduler.pop(pod=a)", "pod_group_cycle.gather(pod=a)", "pod_group_cycle.pop_member(pod=a, other=b)", "pod_group_cycle.take_snapshot(pod=a)",
        "dynamic_resources.get_claim(use=c of a)", "dynamic_resources.check_claim(use=c of a)", "dynamic_resources.list_devices(pod=a)",
        "dynamic_resources.add_in_flight(pod=a)", "scheduler.filter(pod=a, node=n1)", "scheduler.assume(pod=a, node=n1)",
        "dynamic_resources.reserve_claim(use=c of a, device=d)",
    )  # fmt: skip
    fails = "scheduler.reserve(pod=a, ok=False)"
    assert possible(system, *tried) == {"scheduler.reserve(pod=a, ok=True)", fails}
    back = (
        "dynamic_resources.unreserve_claim(use=c of a)", "dynamic_resources.restore_claim(use=c of a)", "dynamic_resources.end_restore(use=c of a)",
        "pod_group_cycle.revert(pod=a, other=a)",
    )  # fmt: skip
    for step in range(len(back)):
        assert possible(system, *tried, fails, *back[:step]) == {back[step]}
    state = after(system, *tried, fails, *back)
    assert (str(state["pod_group_cycle.status"]), str(state["pod_group_cycle.outcome[b]"])) == (
        "GroupStatus.ERROR",
        "Outcome.NONE",
    )
    assert state["claim_tracker.in_flight[c]"] is None


def test_an_error_of_reserve_in_the_cycle_that_binds_is_of_one_member() -> None:
    system = system_of(RESERVED, "1.36.3")
    tried = (
        "scheduler.pop(pod=a)", "pod_group_cycle.gather(pod=a)", "pod_group_cycle.take_snapshot(pod=a)", "dynamic_resources.get_claim(use=c of a)",
        "dynamic_resources.check_claim(use=c of a)", "dynamic_resources.list_devices(pod=a)", "dynamic_resources.add_in_flight(pod=a)",
        "scheduler.filter(pod=a, node=n1)", "scheduler.assume(pod=a, node=n1)", "dynamic_resources.reserve_claim(use=c of a, device=d)",
        "scheduler.reserve(pod=a, ok=True)", "dynamic_resources.unreserve_claim(use=c of a)", "dynamic_resources.restore_claim(use=c of a)",
        "dynamic_resources.end_restore(use=c of a)", "pod_group_cycle.revert(pod=a, other=a)", "pod_group_cycle.submit(pod=a)",
        "scheduler.start_binding(pod=a)", "dynamic_resources.reserve_claim(use=c of a, device=d)",
    )  # fmt: skip
    assert possible(system, *tried) == {
        "scheduler.reserve(pod=a, ok=True)",
        "scheduler.reserve(pod=a, ok=False)",
    }


@pytest.mark.ci
def test_how_many_states_a_member_with_a_claim_has_whose_reserve_may_fail_once() -> None:
    text = RESERVED.replace(
        "plugin_errors: 1", "plugin_errors: 1, pod_events: 1, flush: false, backoff: false"
    )
    found = explicit.explore(system_of(text, "1.36.3"))
    assert (found.states, found.transitions, found.depth) == (64_864, 210_420, 110)
