"""Waits where one entry of the queue is tried while another attempt of its pod goes on, where pods wait for their gang, and where a step lasts."""

from __future__ import annotations

import pytest

from podrace.checker.core.interpreter import Interpreter
from podrace.model.history import resolve
from podrace.reproduce.random_runs.group_clusters import ENTRY_GATES, GATES
from podrace.reproduce.random_runs.random_runs import Model
from podrace.reproduce.timing.long_steps import LongSteps
from podrace.reproduce.timing.timing import Untimely, timing_of


def waits(model: Model, *labels: str) -> dict[str, int]:
    """The waits of a run, in milliseconds, by the steps before which they are."""
    numbers = {t.label: number for number, t in enumerate(model.system.transitions)}
    timing = timing_of(model.system, [numbers[label] for label in labels], model.composition)
    return {label: wait for label, wait in zip(labels, timing.waits, strict=True) if wait}


def cycle(pod: str) -> tuple[str, ...]:
    """An attempt of a pod, up to its Reserve plugins."""
    steps = ("take_snapshot({})", "filter({}, node=n1)", "assume({}, node=n1)", "start_binding({})")
    return (f"scheduler.pop(pod={pod})", *(f"scheduler.{step.format(f'pod={pod}')}" for step in steps))


FAILS_TWICE = """
nodes: {n1: {cpu: 3}}
pods: {p1: {cpu: 1, extensionPoints: [reserve, preBind]}}
scope: {plugin_errors: 2}
"""


def test_an_entry_that_an_update_has_made_counts_for_itself() -> None:
    """An update between Done and the requeue makes an entry of its own, which is popped; then the record of the attempt before comes back, with its two errors."""
    model = Model.of(FAILS_TWICE, resolve("1.36.3"))
    found = waits(
        model,
        *cycle("p1"), "scheduler.reserve(pod=p1, ok=False)", "scheduler.forget(pod=p1)", "scheduler.fail(pod=p1)", "failure.read(pod=p1)", "failure.requeue(pod=p1)",
        "failure.nominate(pod=p1)", "queue.flush_backoff(pod=p1)", "failure.patch(pod=p1)",
        *cycle("p1"), "scheduler.reserve(pod=p1, ok=True)", "binding.announce(pod=p1)", "binding.pre_bind(pod=p1, ok=False)", "binding.forget(pod=p1)",
        "handlers.handle_for_queue(pod=p1)", "binding.wake_queue(pod=p1)", "binding.fail(pod=p1)", "handlers.update_queue(pod=p1)", "scheduler.pop(pod=p1)", "failure.read(pod=p1)",
        "failure.requeue(pod=p1)", "queue.flush_backoff(pod=p1)",
    )  # fmt: skip
    assert list(found.values()) == [3000]


GANG = """
nodes: {n1: {cpu: 1}}
podGroups: {g: {minCount: 2, exists: false}}
pods:
  a: {cpu: 1, podGroup: g}
  b: {cpu: 1, priority: 2, podGroup: g}
featureGates: {GangScheduling: true}
"""
CREATED = (
    "pod_groups.create_group(group=g)",
    "pod_groups.store_group(group=g)",
    "gang_scheduling.tell_queue(group=g)",
)


@pytest.mark.parametrize("release", ["1.35.4", "1.36.3"])
def test_who_was_never_tried_has_no_backoff(release: str) -> None:
    model = Model.of(GANG, resolve(release, gates=GATES))
    assert waits(model, *CREATED, "scheduler.pop(pod=b)") == {}
    with pytest.raises(Untimely) as caught:
        waits(model, *CREATED, "scheduler.pop(pod=a)")
    assert caught.value.why == (
        "b is in activeQ by then, since its backoff was over when it was moved, and is popped before a"
    )


def test_pods_wait_for_their_gang_for_less_than_five_minutes() -> None:
    model = Model.of(GANG, resolve("1.35.4", gates=GATES))
    waiting = (
        *CREATED, *cycle("b"), "scheduler.reserve(pod=b, ok=True)", "gang_scheduling.permit(pod=b)",
        "scheduler.pop(pod=a)", "scheduler.take_snapshot(pod=a)", "scheduler.filter(pod=a, node=n1)", "scheduler.reread_preemptor(pod=a)", "scheduler.dry_run(pod=a, node=n1)",
        "scheduler.fail(pod=a)", "failure.read(pod=a)", "failure.requeue(pod=a)", "failure.nominate(pod=a)", "failure.patch(pod=a)",
    )  # fmt: skip
    assert waits(model, *waiting) == {}
    with pytest.raises(Untimely, match="b has waited for its gang for less than five minutes"):
        waits(model, *waiting, "queue.flush_unschedulable(pod=a)")


EXTENDED = """
nodes: {n1: {cpu: 1}}
deviceClasses: {gpu: {extendedResourceName: example.com/gpu}}
devices: {d1: {node: n1, deviceClassName: gpu}}
pods:
  p1: {cpu: 1, resources: {example.com/gpu: 1}}
scope: {pod_deletions: 1}
"""


def test_whoever_waits_for_a_claim_that_is_gone_waits_for_two_minutes() -> None:
    model = Model.of(EXTENDED, resolve("1.36.3"))
    use = "use=p1-extended-resources of p1"
    found = waits(
        model,
        "scheduler.pop(pod=p1)", "scheduler.take_snapshot(pod=p1)", f"dynamic_resources.get_claim({use})", f"dynamic_resources.check_claim({use})",
        "dynamic_resources.list_devices(pod=p1)", "dynamic_resources.add_in_flight(pod=p1)", "scheduler.filter(pod=p1, node=n1)", "users.delete_pod(pod=p1)",
        "scheduler.assume(pod=p1, node=n1)", "scheduler.start_binding(pod=p1)", f"dynamic_resources.reserve_claim({use}, device=d1)", "scheduler.reserve(pod=p1, ok=True)",
        "binding.announce(pod=p1)", f"dynamic_resources.create_claim({use})", "claim_deletions.collect_claim(claim=p1-extended-resources)",
        f"dynamic_resources.write_claim({use})", f"dynamic_resources.refresh_claim({use})", f"dynamic_resources.assume_unwritten({use})", f"dynamic_resources.fail_claim({use})",
    )  # fmt: skip
    assert found == {f"dynamic_resources.fail_claim({use})": 123_000}


LATE = """
nodes: {n1: {cpu: 1}}
devices: {d: {bindingConditions: true}}
resourceClaims: {c: {}}
pods: {p: {cpu: 1, resourceClaims: [c]}}
scope: {bind_timeouts: 1}
"""


def test_a_wait_for_devices_lasts_for_ten_minutes() -> None:
    system = Model.of(LATE, resolve("1.36.3")).system
    long = LongSteps(system)
    lasting = {t.step: s for t in system.transitions if (s := long.seconds(t, system.initial))}
    assert lasting == {"tire_of_devices": 603}


def flushed_after(model: Model, flushes: int, others: tuple[str, ...] = ()) -> list[int]:
    """In how many seconds the backoffs of an entry are over that is tried again and again; after the first, these steps come."""
    interpreter, going = (
        Interpreter(model.system),
        ("scheduler", "pod_group_cycle", "failure", "async_preemption"),
    )
    state, path, ends, waiting = interpreter.initial, [], list[int](), list(others)
    while len(ends) < flushes:
        enabled = {model.system.transitions[n].label: n for n in interpreter.enabled(state)}
        by_itself = [n for n in enabled.values() if model.system.transitions[n].part in going]
        number = (
            by_itself[0] if by_itself else next(n for name, n in enabled.items() if "flush_backoff" in name)
        )
        if ends and waiting:
            number = enabled[waiting.pop(0)]
        path.append(number)
        state = interpreter.successor(state, number)
        if "flush_backoff" in model.system.transitions[number].label:
            ends.append(len(path) - 1)
    found = timing_of(model.system, path, model.composition).waits
    return [found[i] // 1000 for i in ends]


@pytest.mark.parametrize(
    ("pods", "seconds"), [(1, [2, 3, 5, 9, 11, 11]), (2, [2, 3, 5, 9, 15, 15]), (3, [2, 3, 5, 9, 17, 18])]
)
def test_the_longest_backoff_of_an_entry_grows_with_the_root_of_its_size(
    pods: int, seconds: list[int]
) -> None:
    """calculateBackoffDuration: 10 s for a pod, 14.1 s for two in an entry, 17.3 s for three."""
    members = ", ".join(f"p{i}: {{cpu: 1, podGroup: g}}" for i in range(pods))
    text = f"nodes: {{n1: {{cpu: 1}}}}\npodGroups: {{g: {{minCount: {pods}}}}}\npods: {{{members}, x: {{cpu: 1, nodeName: n1}}}}\nfeatureGates: {{GenericWorkload: true}}\n"
    assert flushed_after(Model.of(text, resolve("1.37.2", gates=ENTRY_GATES)), len(seconds)) == seconds


PREEMPTS = """
nodes: {n1: {cpu: 1}}
podGroups: {g: {minCount: 1}}
pods: {a: {cpu: 1, priority: 1, podGroup: g}, x: {cpu: 1, nodeName: n1, priority: 0}}
scope: {node_deletions: 1}
"""


def test_a_group_that_waits_for_its_victims_was_rejected() -> None:
    """AddAttemptedPodGroupIfNeeded is given the status of the trial, which preemption does not change: no error of which the next rejection takes the count back."""
    model = Model.of(PREEMPTS, resolve("1.37.2", gates=ENTRY_GATES))
    assert flushed_after(model, 2, ("users.delete_node(node=n1)", "handlers.handle_node(node=n1)")) == [2, 3]


LATE_GROUP = """
nodes: {n1: {cpu: 1}}
podGroups: {g: {exists: false}}
pods:
  a: {cpu: 1, podGroup: g, schedulingGates: [{name: example.com/gate}]}
  p: {cpu: 1, schedulingGates: [{name: example.com/gate}]}
"""


def test_an_entry_has_waited_for_as_long_as_the_pod_that_came_before_its_group() -> None:
    model = Model.of(LATE_GROUP, resolve("1.37.2", gates=ENTRY_GATES))
    flushes = [f"queue.flush_unschedulable(pod={pod})" for pod in "pa"]
    found = waits(model, flushes[0], *CREATED, flushes[1])
    assert found == {flushes[0]: 270_000, flushes[1]: 30_000}


LACKS_A_POD = """
nodes: {n1: {cpu: 1}}
podGroups: {g: {minCount: 3}}
pods: {a: {cpu: 1, podGroup: g}, b: {cpu: 1, podGroup: g}}
scope: {pod_deletions: 1}
"""


@pytest.mark.parametrize("flushed", "ab")
@pytest.mark.parametrize("release", ["1.37.2", "1.38.0-beta.0"])
def test_a_flush_of_an_entry_counts_for_all_of_its_pods(release: str, flushed: str) -> None:
    """FlushTimestamp is the entry's: b is due five minutes after the flush also if a, with which it waited then, is gone."""
    model = Model.of(LACKS_A_POD, resolve(release, gates=ENTRY_GATES))
    first, last = f"queue.flush_unschedulable(pod={flushed})", "queue.flush_unschedulable(pod=b)"
    gone = ("users.delete_pod(pod=a)", "handlers.handle_for_queue(pod=a)")
    numbers = {t.label: number for number, t in enumerate(model.system.transitions)}
    path = [numbers[label] for label in (first, *gone, last)]
    found = timing_of(model.system, path, model.composition).waits
    assert found == (270_000, 0, 0, 330_000)


AN_ENTRY_AND_A_POD = """
nodes: {n1: {cpu: 2}}
podGroups: {g: {minCount: 1}}
pods:
  a: {cpu: 1, podGroup: g}
  p: {cpu: 1}
  b: {cpu: 1, podGroup: g, schedulingGates: [{name: example.com/gate}]}
scope: {external_binds: 1, file_order: true, pod_events: 4}
"""


def test_a_pod_is_not_popped_before_an_entry_whose_first_pod_was_older() -> None:
    """The entry of a and b has the place of a, which is bound by somebody else; without b's gate it comes to activeQ, and is there before p."""
    model = Model.of(AN_ENTRY_AND_A_POD, resolve("1.37.2", gates=ENTRY_GATES))
    steps = (
        "users.bind_pod(pod=a, node=n1)", "pod_watch.store(pod=a)", "handlers.handle_for_cache(pod=a)", "handlers.wake_queue(pod=a)", "handlers.handle_for_queue(pod=a)",
        "users.remove_gates(pod=b)", "pod_watch.store(pod=b)", "handlers.handle_for_queue(pod=b)", "handlers.update_queue(pod=b)",
    )  # fmt: skip
    assert waits(model, *steps) == {}
    with pytest.raises(Untimely) as caught:
        waits(model, *steps, "scheduler.pop(pod=p)")
    assert caught.value.why == (
        "b is in activeQ by then, since its backoff was over when it was moved, and is popped before p"
    )


PARKED = """
nodes: {n1: {cpu: 1}}
pods: {a: {cpu: 1}, b: {cpu: 1, schedulingGates: [{name: example.com/gate}]}, x: {cpu: 1, nodeName: n1}}
"""


def test_a_pod_that_is_parked_is_flushed_the_earlier_the_longer_it_was() -> None:
    """b waits from before the queue was started, a from its attempt on; the flush comes each 30 s, and takes a pod that has waited for more than five minutes."""
    model = Model.of(PARKED, resolve("1.36.3"))
    attempt = [
        "scheduler.pop(pod=a)", "scheduler.take_snapshot(pod=a)", "scheduler.filter(pod=a, node=n1)", "scheduler.reread_preemptor(pod=a)", "scheduler.dry_run(pod=a, node=n1)",
        "scheduler.fail(pod=a)", "failure.read(pod=a)", "failure.requeue(pod=a)",
    ]  # fmt: skip
    numbers = {t.label: number for number, t in enumerate(model.system.transitions)}
    timing = timing_of(model.system, [numbers[label] for label in attempt], model.composition)
    assert timing.flushed == {"a": 330, "b": 270}
