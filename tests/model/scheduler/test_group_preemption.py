"""Preemption of whole groups (1.37): who has to go, who waits for it, and what a group that preempts already does."""

from __future__ import annotations

import pytest

from podrace.analysis.request.in_release import refusal_of
from podrace.checker.core.interpreter import Interpreter
from podrace.checker.trace.execution import replay
from podrace.model.history import resolve
from podrace.model.language import TransitionSystem
from podrace.properties import instrument
from podrace.scenarios import parse_scenario

from .test_entries import WORKLOADS, states, system_of

ROOM = """
nodes: {n1: {cpu: 3}}
podGroups: {g: {minCount: 2}, h: {}}
pods:
  a: {cpu: 1, priority: 10, podGroup: g}
  b: {cpu: 1, priority: 10, podGroup: g}
  low: {cpu: 1, nodeName: n1}
  grouped: {cpu: 1, nodeName: n1, podGroup: h}
  high: {cpu: 1, priority: 5, nodeName: n1}
"""
TRIED = (
    "scheduler.pop(pod=a)",
    "pod_group_cycle.take_snapshot(pod=a)",
    "scheduler.filter(pod=a, node=n1)",
    "scheduler.fail(pod=a)",
)
AGAIN = (
    "pod_group_cycle.preempt(pod=a)",
    "scheduler.filter(pod=a, node=n1)",
    "scheduler.assume(pod=a, node=n1)",
    "scheduler.filter(pod=b, node=n1)",
    "scheduler.assume(pod=b, node=n1)",
)
FOUND = "pod_group_cycle.reprieve(pod=b)"


def submitted(pod: str) -> tuple[str, ...]:
    return (
        f"pod_group_cycle.submit(pod={pod})",
        *(f"failure.{step}(pod={pod})" for step in ("read", "requeue", "nominate", "patch")),
    )


def test_the_most_important_pod_is_spared_and_a_pod_of_a_group_before_others() -> None:
    more = ROOM.replace("n1: {cpu: 3}", "n1: {cpu: 4}").replace(
        "  high:", "  last: {cpu: 1, nodeName: n1}\n  high:"
    )
    *_, before, last = states(system_of(more), *TRIED, *AGAIN, FOUND)
    assert [before[f"snapshot.pod[{pod}].node"] for pod in ("low", "grouped", "high")] == [None] * 3
    gone = [pod for pod in ("low", "grouped", "last", "high") if last[f"async_preemption.victim[a][{pod}]"]]
    assert gone == ["low", "last"]
    assert last["pod_group_cycle.status"] == "WAITING"
    assert last["async_preemption.last[a]"] == "last"


def test_all_members_are_nominated_where_they_have_a_place_without_the_victims() -> None:
    (*_, last) = states(system_of(ROOM), *TRIED, *AGAIN, FOUND, *submitted("a"), *submitted("b"))
    assert (last["api.pod[a].nominated"], last["api.pod[b].nominated"]) == ("n1", "n1")
    assert last["snapshot.pod[high].node"] == "n1"


def test_the_entry_is_held_as_long_as_its_goroutine_runs_and_only_a_deletion_passes() -> None:
    whole = (*TRIED, *AGAIN, FOUND, *submitted("a"), *submitted("b"), "pod_group_cycle.finish(pod=b)")
    goroutine = (
        "async_preemption.begin_for_group(pod=a)",
        "async_preemption.evict(pod=a, victim=grouped, ok=True)",
        "async_preemption.leave(pod=a)",
    )
    *_, last = states(system_of(ROOM), *whole, *goroutine)
    assert (last["queue.closed_by[g]"], last["queue.sub_queue[a]"]) == ("DefaultPreemption", "UNSCHEDULABLE")


def test_a_group_that_preempts_already_keeps_its_nominations_and_evicts_nobody() -> None:
    system = system_of(f"{ROOM}scope: {{flush: true}}")
    whole = (*TRIED, *AGAIN, FOUND, *submitted("a"), *submitted("b"), "pod_group_cycle.finish(pod=b)")
    evicted = (
        "async_preemption.begin_for_group(pod=a)",
        "async_preemption.evict(pod=a, victim=grouped, ok=True)",
        "async_preemption.leave(pod=a)",
        "async_preemption.evict_last(pod=a, victim=low, ok=True)",
        "async_preemption.leave_last(pod=a)",
    )
    told = delivered(system, (*whole, *evicted))
    nominated = ("scheduler.filter_nominated(pod=a, node=n1)", *TRIED[2:])
    again = ("queue.flush_unschedulable(pod=a)", "queue.flush_backoff(pod=a)", *TRIED[:2], *nominated)
    *_, last = states(system, *told, *again, "pod_group_cycle.preempt(pod=a)")
    assert (last["pod_group_cycle.status"], last["pod_group_cycle.host[b]"]) == ("WAITING", "n1")
    assert last["async_preemption.phase[a]"] == "NONE"


def delivered(system: TransitionSystem, labels: tuple[str, ...]) -> tuple[str, ...]:
    """The run, and after it all that watches and handlers have to do."""
    numbers = {t.label: number for number, t in enumerate(system.transitions)}
    state = replay(system, tuple(numbers[label] for label in labels)).states[-1]
    model = Interpreter(system)
    while found := [
        n for n in model.enabled(state) if system.transitions[n].part in ("handlers", "pod_watch")
    ]:
        labels = (*labels, system.transitions[found[0]].label)
        state = model.successor(state, found[0])
    return labels


TWO_NODES = """
nodes: {n1: {cpu: 3}, n2: {cpu: 1}}
podGroups: {g: {minCount: 2}}
pods:
  a: {cpu: 1, priority: 10, podGroup: g}
  b: {cpu: 1, priority: 10, podGroup: g}
  s: {cpu: 3, priority: 20, exists: false}
  v: {cpu: 2, nodeName: n1}
  w: {cpu: 1, priority: 5, nodeName: n1}
  z: {cpu: 1, priority: 30, nodeName: n2, terminationGracePeriodSeconds: 0}
scope: {pod_events: 9, pod_creations: 1, pod_deletions: 1, file_order: true}
featureGates: {GenericWorkload: true}
"""


def filtered(pod: str) -> tuple[str, ...]:
    return tuple(f"scheduler.filter(pod={pod}, node={node})" for node in ("n1", "n2"))


@pytest.mark.parametrize("release", ["1.37.2", "1.38.0-beta.0"])
def test_no_nomination_of_a_group_is_withdrawn_while_its_cycle_runs(release: str) -> None:
    """As for any pod in flight, the goroutine finds an object without nominatedNodeName: so it makes no difference that the trial takes the nomination out, too."""
    classes = resolve(release, gates=WORKLOADS).classes
    system = instrument(parse_scenario(TWO_NODES, "groups.yaml").spec, classes, [])
    a, b, s = filtered("a"), filtered("b"), filtered("s")
    run = (
        *TRIED[:2], *a, TRIED[3], AGAIN[0], *a, AGAIN[2], *b, AGAIN[4], FOUND,
        *submitted("a"), *submitted("b"), "pod_group_cycle.finish(pod=b)",
        *(f"async_preemption.{step}" for step in ("begin_for_group(pod=a)", "leave(pod=a)", "evict_last(pod=a, victim=v, ok=True)", "leave_last(pod=a)")),
        "users.create_pod(pod=s)",
    )  # fmt: skip
    preempting = (
        "scheduler.pop(pod=s)", "scheduler.take_snapshot(pod=s)", *s, "scheduler.reread_preemptor(pod=s)",
        "scheduler.dry_run(pod=s, node=n1)", "scheduler.choose_candidate(pod=s, node=n1)", "scheduler.fail(pod=s)",
        *(f"failure.{step}(pod=s)" for step in ("read", "requeue", "nominate", "patch")), "users.delete_pod(pod=z)",
    )  # fmt: skip
    queued = delivered(system, (*delivered(system, run), *preempting))
    popped = (*queued, "queue.flush_backoff(pod=a)", TRIED[0])
    placed = (*popped, TRIED[1], "scheduler.filter_nominated(pod=a, node=n1)", *a, "scheduler.assume(pod=a, node=n2)")  # fmt: skip

    def look(labels: tuple[str, ...]) -> tuple[str | None, list[str]]:
        """Where a is nominated in memory, and whose nominations the goroutine of s will withdraw."""
        last = states(system, *labels, "async_preemption.begin(pod=s, node=n1)")[-1]
        return last["nominator.node[a]"], [p for p in "ab" if last[f"async_preemption.to_clear[s][{p}]"]]

    assert (look(queued), look(popped), look(placed)) == (("n1", ["a", "b"]), ("n1", []), (None, []))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("priority: 10, podGroup: g}\n  low", "priority: 9, podGroup: g}\n  low"), "the pods of a group need one priority and one preemptionPolicy"),
        (("low: {cpu: 1,", "low: {cpu: 1, priority: 0..3,"), "the priorities have to be known"),
        (("low: {cpu: 1,", "low: {cpu: 1, hostPorts: [80],"), "preemption of groups with hostPorts is not modelled"),
    ],
)  # fmt: skip
def test_what_is_not_modelled_is_refused(change: tuple[str, str], words: str) -> None:
    text = f"{ROOM.replace(*change)}featureGates: {{GenericWorkload: true}}\n"
    scenario = parse_scenario(text, "groups.yaml")
    assert words in str(refusal_of(scenario, resolve("1.37.2", gates=WORKLOADS)))
