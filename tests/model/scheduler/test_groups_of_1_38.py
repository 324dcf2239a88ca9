"""What 1.38.0-beta.0 changes for groups that are entries of the queue: each change put into 1.37.2, against 1.37.2."""

from __future__ import annotations

import pytest

from podrace.checker.core.interpreter import Interpreter
from podrace.checker.search import check
from podrace.checker.trace.execution import replay
from podrace.model.history import CHANGES, resolve
from podrace.model.language import TransitionSystem
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import parse_scenario

from .test_entries import WORKLOADS, states
from .test_group_preemption import AGAIN, FOUND, ROOM, TRIED

OF_GROUPS = {key for key, change in CHANGES.items() if "GenericWorkload" in change.within}


def system_with(text: str, *fixes: str) -> TransitionSystem:
    scenario = parse_scenario(f"{text}\nfeatureGates: {{GenericWorkload: true}}\n", "groups.yaml")
    return instrument(scenario.spec, resolve("1.37.2", fixes, gates=WORKLOADS).classes, [])


def missing(release: str, gate: str = "") -> set[str]:
    return OF_GROUPS & {c.key for c in resolve(release, gates={gate: True} if gate else {}).missing}


def test_a_change_of_what_a_gate_brings_is_nothing_where_the_gate_is_off() -> None:
    assert missing("1.37.2", "GenericWorkload") == OF_GROUPS
    assert missing("1.38.0-beta.0", "GenericWorkload") == missing("1.37.2") == missing("1.36.3") == set()
    assert missing("1.36.3", "GangScheduling") == {"141182"}
    with pytest.raises(ValueError, match="fix 141577 needs the gate GenericWorkload, which is off"):
        resolve("1.37.2", ["141577"])
    without = resolve("1.38.0-beta.0", without_fixes=["141577"])
    assert without.notes == ("without 141577 nothing changes: the gate GenericWorkload is off",)
    assert (without.removed, without.missing) == ((), resolve("1.38.0-beta.0").missing)


@pytest.mark.parametrize(
    ("fixes", "evicted"), [((), ["low", "last"]), (("members-rank-as-pods",), ["grouped", "last"])]
)
def test_a_pod_of_a_group_that_goes_alone_is_no_more_than_a_pod(
    fixes: tuple[str, ...], evicted: list[str]
) -> None:
    more = ROOM.replace("n1: {cpu: 3}", "n1: {cpu: 4}")
    more = more.replace("  high:", "  last: {cpu: 1, nodeName: n1}\n  high:")
    (*_, last) = states(system_with(more, *fixes), *TRIED, *AGAIN, FOUND)
    pods = ("low", "grouped", "last", "high")
    assert [pod for pod in pods if last[f"async_preemption.victim[a][{pod}]"]] == evicted


TWO_NODES = """
nodes: {n1: {cpu: 1}, n2: {cpu: 1}}
podGroups: {g: {}}
pods:
  a: {cpu: 1, priority: 10, podGroup: g}
  dear: {cpu: 1, priority: 5, nodeName: n1}
  cheap: {cpu: 1, nodeName: n2}
"""


@pytest.mark.parametrize(("fixes", "nodes"), [((), ["n1", "n2"]), (("ranked-nodes",), ["n2"])])
def test_a_group_takes_the_node_on_which_less_is_evicted(fixes: tuple[str, ...], nodes: list[str]) -> None:
    system = system_with(TWO_NODES, *fixes)
    filters = [f"scheduler.filter(pod=a, node={node})" for node in ("n1", "n2")]
    run = (*TRIED[:2], *filters, TRIED[3], AGAIN[0], *filters)
    numbers = {t.label: number for number, t in enumerate(system.transitions)}
    state = replay(system, tuple(numbers[label] for label in run)).states[-1]
    enabled = {system.transitions[n].label for n in Interpreter(system).enabled(state)}
    assert [n for n in ("n1", "n2") if f"scheduler.assume(pod=a, node={n})" in enabled] == nodes


ONE_FITS = """
nodes: {n1: {cpu: 1}}
podGroups: {g: {minCount: 2}}
pods:
  a: {cpu: 1, podGroup: g}
  b: {cpu: 1, podGroup: g}
  c: {cpu: 1, podGroup: g}
"""


@pytest.mark.parametrize(
    ("fixes", "rejected"), [((), [False, False, False]), (("141253",), [True, False, False])]
)
def test_gang_scheduling_rejects_the_pods_that_fit(fixes: tuple[str, ...], rejected: list[bool]) -> None:
    run = (*TRIED[:3], AGAIN[2], *(step for pod in "bc" for step in (f"scheduler.filter(pod={pod}, node=n1)", f"scheduler.fail(pod={pod})")))  # fmt: skip
    (*_, last) = states(system_with(ONE_FITS, *fixes), *run, "pod_group_cycle.submit(pod=a)")
    assert [last[f"queue.rejected_by[{pod}][GangScheduling]"] for pod in "abc"] == rejected


@pytest.mark.parametrize(("fixes", "asked"), [((), ["a", "b"]), (("141577",), ["a"])])
def test_pre_enqueue_stops_at_the_first_pod_that_is_held(fixes: tuple[str, ...], asked: list[str]) -> None:
    text = ONE_FITS.replace("  c: {cpu: 1, podGroup: g}\n", "").replace("minCount: 2", "minCount: 3")
    (first,) = states(system_with(text, *fixes))
    assert [pod for pod in "ab" if first[f"queue.gated[{pod}]"]] == asked
    assert first["queue.closed_by[g]"] == "GangScheduling"


ONE_HELD = """
nodes: {n1: {cpu: 2}}
podGroups: {g: {minCount: 3}}
pods:
  a: {cpu: 1, podGroup: g}
  b: {cpu: 1, podGroup: g}
  c: {cpu: 1, exists: false}
scope: {external_binds: 1, pod_creations: 1}
"""


@pytest.mark.parametrize(("fixes", "before"), [((), True), (("141577",), False)])
def test_a_new_pod_of_no_group_has_a_parked_entry_asked_again(fixes: tuple[str, ...], before: bool) -> None:
    """The pod that was held is bound by another client, and nothing has rejected b, which 141577 did not ask: any event that GangScheduling asked for moves the entry."""
    bound = ("users.bind_pod(pod=a, node=n1)", *(f"handlers.{step}(pod=a)" for step in ("handle_for_cache", "wake_queue", "handle_for_queue")))  # fmt: skip
    created = (
        "users.create_pod(pod=c)",
        "handlers.handle_for_queue(pod=c)",
        "handlers.wake_for_member(pod=c)",
    )
    *_, added, moved = states(system_with(ONE_HELD, *fixes), *bound, *created)
    assert [s["handlers.adding[c]"] for s in (added, moved)] == ["MOVE", "NONE"]
    assert [s["queue.sub_queue[c]"] for s in (added, moved)] == ["ACTIVE", "ACTIVE"]
    assert [s["queue.gated[b]"] for s in (added, moved)] == [before, True]
    assert [s["queue.sub_queue[b]"] for s in (added, moved)] == ["UNSCHEDULABLE", "UNSCHEDULABLE"]


def test_without_groups_a_new_pod_is_added_in_one_step() -> None:
    text = "nodes: {n1: {cpu: 2}}\npods: {c: {cpu: 1, exists: false}}\nscope: {pod_creations: 1}\n"
    names = {t.step for t in system_with(text).transitions if t.part == "handlers"}
    assert "handle_for_queue" in names
    assert names.isdisjoint({"add_member", "wake_for_member"})


def test_the_tracker_hears_of_a_pod_that_waited_for_permission() -> None:
    """handleAssumedPodDeletion tells it whether or not RejectWaitingPod found the pod. Without 141182 pods of a gang wait."""
    text = "nodes: {n1: {cpu: 2}}\npodGroups: {g: {minCount: 2}}\npods: {a: {cpu: 1, podGroup: g}, b: {cpu: 1, podGroup: g}}\n"
    scope = "scope: {pod_events: 2, pod_deletions: 1, flush: false, file_order: true}\n"
    scenario = parse_scenario(f"{text}{scope}featureGates: {{GenericWorkload: true}}\n", "ghost.yaml")
    classes = resolve("1.38.0-beta.0", without_fixes=["141182"], gates=WORKLOADS).classes
    system = instrument(scenario.spec, classes, [PROPERTIES["S-GROUPSTATE"]])
    (found,) = check(system, ["S-GROUPSTATE"])
    assert found.trace is not None
    labels = [step.label for step in found.trace.steps]
    assert "handlers.reject_waiting(pod=a)" in labels
    assert states(system, *labels)[-1]["pod_group_states.tracked[a]"] is False


@pytest.mark.parametrize(("fixes", "nodes"), [((), [None, None]), (("142684",), ["n1", "n1"])])
def test_a_goroutine_looks_for_nominations_on_the_nodes_of_its_group(
    fixes: tuple[str, ...], nodes: list[str | None]
) -> None:
    (*_, last) = states(system_with(ROOM, *fixes), *TRIED, *AGAIN, FOUND)
    assert [last[f"async_preemption.aim_of[{pod}]"] for pod in "ab"] == nodes
