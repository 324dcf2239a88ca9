"""Which steps of a run can be forced, as far as that depends on the run."""

from __future__ import annotations

import pytest

from podrace.checker.trace.execution import replay
from podrace.model.history import resolve
from podrace.reproduce.random_runs.forcing import Forcing
from podrace.reproduce.random_runs.group_clusters import GATES
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


def allowed(
    *labels: str, cluster: str = TWO_MISSED, release: str = "1.36.3", groups: bool = False
) -> list[bool]:
    """Whether each step of a run on two pods may be taken there."""
    model = Model.of(cluster, resolve(release, gates=GATES if groups else {}))
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


def test_a_standby_does_not_know_what_was_created_under_way_for_older() -> None:
    def with_absent(pod: str) -> str:
        return TWO_MISSED.replace(f"{pod}: {{cpu: 1}}", f"{pod}: {{cpu: 1, exists: false}}").replace(
            "relists", "leader_changes: 1, relists"
        )

    handled = ("handlers.handle_for_queue(pod={})", "process.change_leader()")
    for pod, there in (("p", False), ("q", True)):
        run = (f"users.create_pod(pod={pod})", *(label.format(pod) for label in handled))
        assert allowed(*run, cluster=with_absent(pod), release="1.34.4")[-1] is there


def test_a_list_in_which_a_name_is_used_again_is_stored_in_one_go() -> None:
    cluster = """
nodes: {n1: {cpu: 2}}
pods: {p: {cpu: 1}, r: {cpu: 1, recreates: p}, q: {cpu: 1}}
scope: {pod_deletions: 1, external_binds: 1, relists: 1}
"""
    listed = ("users.delete_pod(pod=p)", "stateful_sets.recreate(recreation=r)", "pod_watch.resume()")
    swap = "handlers.handle_swap_for_queue(recreation=r)"
    assert allowed(*listed, swap, cluster=cluster) == [True] * 4
    assert allowed(*BOUND[1:], *listed, swap, cluster=cluster) == [True] * 4 + [False]
    stored = ("pod_watch.store(pod=r)", "pod_watch.store(pod=q)")
    assert allowed(*BOUND[1:], *listed, *stored, swap, cluster=cluster) == [True] * 7


EVICTING = """
nodes: {n1: {cpu: 2}}
pods:
  p: {cpu: 2, priority: 1}
  v: {cpu: 2, nodeName: n1, terminationGracePeriodSeconds: 0}
scope: {pod_deletions: 1}
"""


@pytest.mark.parametrize("release", ["1.33.6", "1.35.4"])
def test_a_victim_may_be_gone_when_it_is_evicted(release: str) -> None:
    model = Model.of(EVICTING, resolve(release))
    labels = {t.label: t for t in model.system.transitions}
    gone = list(model.system.initial)
    (at,) = (i for i, v in enumerate(model.system.variables) if v.name == "api.pod[v].exists")
    gone[at] = 0
    evicts = labels["async_preemption.evict_last(pod=p, victim=v, ok=True)"]
    assert Forcing(model.system).allows(evicts, tuple(gone))


def test_nobody_learns_of_a_condition_amid_a_list() -> None:
    model = Model.of(EVICTING.replace("scope: {", "scope: {relists: 1, "), resolve("1.34.4"))
    labels = {t.label: t for t in model.system.transitions}
    learns = labels["handlers.learn_of_condition(pod=v)"]
    listed = list(model.system.initial)
    (at,) = (i for i, v in enumerate(model.system.variables) if v.name == "pod_watch.log.length")
    listed[at] = 1
    forcing = Forcing(model.system)
    assert forcing.allows(learns, model.system.initial)
    forcing.go(labels["pod_watch.resume()"], model.system.initial, tuple(listed))
    assert not forcing.allows(learns, tuple(listed))


def test_a_standby_may_have_listed_a_victims_condition_or_not() -> None:
    model = Model.of(EVICTING.replace("scope: {", "scope: {leader_changes: 1, "), resolve("1.34.4"))
    labels = {t.label: t for t in model.system.transitions}
    (at,) = (i for i, v in enumerate(model.system.variables) if v.name == "pod_watch.condition[v]")
    for condition in range(4):
        state = list(model.system.initial)
        state[at] = condition
        allowed_here = Forcing(model.system).allows(labels["process.change_leader()"], tuple(state))
        assert allowed_here is (condition == 0)


def test_a_standby_may_have_listed_the_condition_of_a_victim_that_was_deleted_before() -> None:
    cluster = """
nodes: {n1: {cpu: 1}}
pods: {v: {cpu: 1, nodeName: n1}, p: {cpu: 1, priority: 1}}
scope: {leader_changes: 1, pod_deletions: 1}
"""
    tried = ("scheduler.pop(pod=p)", "scheduler.take_snapshot(pod=p)", "scheduler.filter(pod=p, node=n1)")
    dry = ("scheduler.reread_preemptor(pod=p)", "scheduler.dry_run(pod=p, node=n1)")
    chosen = ("scheduler.choose_candidate(pod=p, node=n1)", "async_preemption.begin(pod=p, node=n1)")
    evicted = "async_preemption.evict_last(pod=p, victim=v, ok=True)"
    left = "async_preemption.leave(pod=p)"
    run, taken_over = (*tried, *dry, *chosen, left), (evicted, "process.change_leader()")
    for deleted, is_allowed in (((), True), (("users.delete_pod(pod=v)",), False)):
        labels = (*run, *deleted, *taken_over)
        assert allowed(*labels, cluster=cluster, release="1.36.3")[-1] is is_allowed
    gone = (*run, "users.delete_pod(pod=v)", evicted, "kubelet.finish_termination(pod=v)")
    assert not allowed(*gone, "process.change_leader()", cluster=cluster, release="1.36.3")[-1], (
        "the cache has it still"
    )


def test_a_deletion_tells_of_no_nomination_that_the_model_has_forgotten() -> None:
    model = Model.of(TWO_MISSED, resolve("1.34.4"))
    step = next(t for t in model.system.transitions if t.label == "handlers.wake_queue(pod=p)")
    forcing, names = Forcing(model.system), [v.name for v in model.system.variables]

    def allows(**values: int) -> bool:
        state = dict(zip(names, model.system.initial, strict=True))
        state["api.pod[p].exists"] = 0
        state |= {
            "pod_watch.seen[QUEUE][p].exists": values["seen"],
            "pod_watch.seen[CACHE][p].node": values["node"],
        }
        return forcing.allows(step, tuple(state.values()))

    assert [allows(seen=0, node=0), allows(seen=1, node=0), allows(seen=0, node=1)] == [False, True, True]


GATED = """
nodes: {n1: {cpu: 2}}
pods:
  p: {cpu: 1, schedulingGates: [{name: example.com/quota}]}
  q: {cpu: 1}
scope: {leader_changes: 1}
"""


def test_a_standby_does_not_forget_that_a_pod_was_gated() -> None:
    run = (
        "users.remove_gates(pod=p)",
        "handlers.handle_for_queue(pod=p)",
        "handlers.update_queue(pod=p)",
        "process.change_leader()",
    )
    assert allowed(*run, cluster=GATED, release="1.33.6") == [True, True, True, False]
    assert allowed(run[-1], cluster=GATED, release="1.33.6") == [True]


def test_the_queues_handler_hears_of_no_nomination_of_a_pod_that_was_bound() -> None:
    model = Model.of(TWO_MISSED, resolve("1.33.6"))
    step = next(t for t in model.system.transitions if t.label == "handlers.handle_for_queue(pod=p)")
    forcing, names = Forcing(model.system), [v.name for v in model.system.variables]

    def allows(there: int, **values: int) -> bool:
        state = dict(zip(names, model.system.initial, strict=True)) | {"api.pod[p].exists": there}
        state |= {f"pod_watch.seen[CACHE][p].{field}": value for field, value in values.items()}
        return forcing.allows(step, tuple(state.values()))

    assert not allows(0, node=1, nominated=1)
    assert allows(1, node=1, nominated=1)
    assert allows(0, node=1, nominated=0)


def test_a_nominated_preemptor_does_not_wait_for_what_a_user_has_ended() -> None:
    model = Model.of(
        EVICTING.replace("terminationGracePeriodSeconds: 0", "terminationGracePeriodSeconds: 30"),
        resolve("1.34.4"),
    )
    labels = {t.label: t for t in model.system.transitions}
    forcing, names = Forcing(model.system), [v.name for v in model.system.variables]
    deletes, rereads = labels["users.delete_pod(pod=v)"], labels["scheduler.reread_preemptor(pod=p)"]
    start = dict(zip(names, model.system.initial, strict=True))
    ended = tuple((start | {"api.pod[v].terminating": 1}).values())
    nominated = tuple((start | {"api.pod[p].nominated": 1}).values())
    assert forcing.allows(rereads, nominated)
    forcing.go(deletes, model.system.initial, ended)
    assert not forcing.allows(rereads, nominated)
    assert forcing.allows(rereads, model.system.initial)


FITS_NOWHERE = """
nodes: {n1: {cpu: 1}}
pods:
  q: {cpu: 1, nodeName: n1}
  p: {cpu: 1}
scope: {pod_deletions: 1}
"""

FAILED = (
    "scheduler.pop(pod=p)",
    "scheduler.take_snapshot(pod=p)",
    "scheduler.filter(pod=p, node=n1)",
    "scheduler.reread_preemptor(pod=p)",
    "scheduler.dry_run(pod=p, node=n1)",
    "scheduler.fail(pod=p)",
    "failure.read(pod=p)",
    "failure.requeue(pod=p)",
    "failure.nominate(pod=p)",
    "failure.patch(pod=p)",
)


@pytest.mark.parametrize(("more", "before", "after"), [("", True, False), (", lost_replies: 1", True, True)])
def test_a_bound_pod_is_not_said_to_be_unschedulable_twice(more: str, before: bool, after: bool) -> None:
    """Where the model does not know whether the object at hand says so already."""
    model = Model.of(FITS_NOWHERE.replace("pod_deletions: 1", "pod_deletions: 1" + more), resolve("1.36.3"))
    path = path_of(model, *FAILED)
    states = replay(model.system, path).states
    at = next(i for i, v in enumerate(model.system.variables) if v.name == "api.pod[p].node")
    unbound = states[-2]
    bound = (*unbound[:at], 1, *unbound[at + 1 :])  # as if another attempt had come to that meanwhile
    forcing, patch = Forcing(model.system), model.system.transitions[path[-1]]
    assert (forcing.allows(patch, unbound), forcing.allows(patch, bound)) == (True, before)
    for number, first, second in zip(path, states, states[1:], strict=False):
        forcing.go(model.system.transitions[number], first, second)
    assert (forcing.allows(patch, unbound), forcing.allows(patch, bound)) == (True, after)


NAME_AGAIN = """
nodes: {n1: {cpu: 1}}
pods:
  q: {cpu: 1, nodeName: n1}
  p: {cpu: 1}
  r: {cpu: 1, priority: 1, recreates: p}
scope: {pod_deletions: 1}
"""


@pytest.mark.parametrize("handled", [0, 1, 2])
def test_preemption_does_not_go_on_with_another_pod_of_the_name(handled: int) -> None:
    """Once the lister has that one, not before."""
    events = ("handlers.handle_for_queue(pod=p)", "handlers.handle_for_queue(pod=r)")[:handled]
    run = (*FAILED[:3], "users.delete_pod(pod=p)", "stateful_sets.recreate(recreation=r)", *events, FAILED[3])
    allowed_here = allowed(*run, cluster=NAME_AGAIN, release="1.34.4")
    assert all(allowed_here[:-1])
    assert allowed_here[-1] is (handled < 2)


@pytest.mark.parametrize(
    ("more", "verdict", "allows"),
    [("", 0, False), ("", 1, False), (", restarts: 1", 0, False), (", restarts: 1", 1, True)],
)
def test_a_second_failure_says_less_of_another_pod_of_the_name(more: str, verdict: int, allows: bool) -> None:
    """After an error, and after a verdict where the model does not know whether the object at hand says so already."""
    model = Model.of(NAME_AGAIN.replace("pod_deletions: 1", "pod_deletions: 1" + more), resolve("1.36.3"))
    patch = next(t for t in model.system.transitions if t.label == "failure.patch(pod=p)")
    forcing, names = Forcing(model.system), [v.name for v in model.system.variables]

    def state(says: int, p: int, r: int) -> tuple[int, ...]:
        values = {"failure.unschedulable[p]": says, "api.pod[p].exists": p, "api.pod[r].exists": r}
        return tuple((dict(zip(names, model.system.initial, strict=True)) | values).values())

    forcing.go(patch, state(verdict, 1, 0), state(0, 1, 0))
    assert forcing.allows(patch, state(1, 1, 0))
    assert forcing.allows(patch, state(1, 0, 0))
    assert forcing.allows(patch, state(1, 0, 1)) is allows


@pytest.mark.parametrize("replaced", [0, 1])
def test_what_was_said_of_a_name_was_said_of_the_pod_that_has_it(replaced: int) -> None:
    """p's PATCH goes to r, if r has the name by then; r is bound, and tried again from the object that says so."""
    model = Model.of(NAME_AGAIN, resolve("1.36.3"))
    patches = {t.label: t for t in model.system.transitions if t.part == "failure"}
    forcing, names = Forcing(model.system), [v.name for v in model.system.variables]

    def state(values: dict[str, int]) -> tuple[int, ...]:
        return tuple((dict(zip(names, model.system.initial, strict=True)) | values).values())

    written = {
        "failure.unschedulable[p]": 1,
        "api.pod[p].exists": 1 - replaced,
        "api.pod[r].exists": replaced,
    }
    forcing.go(patches["failure.patch(pod=p)"], state(written), state({}))
    bound = {"failure.unschedulable[r]": 1, "api.pod[r].exists": 1, "api.pod[r].node": 1}
    assert forcing.allows(patches["failure.patch(pod=r)"], state(bound)) is not bool(replaced)


WITH_CLAIM = """
nodes: {n1: {cpu: 2}}
devices: {d1: {node: n1}}
resourceClaims: {c1: {}, c2: {device: d1, reservedFor: [x]}}
pods:
  p: {cpu: 1, resourceClaims: [c1]}
  x: {cpu: 1, nodeName: n1, resourceClaims: [c2], terminationGracePeriodSeconds: 0}
scope: {pod_deletions: 1}
"""


def test_the_devices_do_not_change_while_they_are_listed() -> None:
    freed = (
        "users.delete_pod(pod=x)",
        "claim_controller.sync_claim(claim=c2)",
        "claim_cache.deliver(claim=c2)",
    )
    lists = (
        "scheduler.pop(pod=p)",
        "scheduler.take_snapshot(pod=p)",
        "dynamic_resources.get_claim(use=c1 of p)",
        "dynamic_resources.check_claim(use=c1 of p)",
        "dynamic_resources.list_devices(pod=p)",
    )
    told = "claim_cache.tell_tracker(claim=c2)"
    assert allowed(*freed, *lists, told, cluster=WITH_CLAIM) == [True] * 8 + [False]
    assert allowed(*freed, *lists[:-1], told, cluster=WITH_CLAIM) == [True] * 8


def test_no_restore_of_what_the_cache_has_twice_in_one_version() -> None:
    """The informer has delivered the write before it was assumed: the real cache makes an event of going back."""
    both = """
nodes: {n1: {cpu: 2}}
devices: {d1: {node: n1}}
resourceClaims: {c1: {}}
pods:
  p: {cpu: 1, resourceClaims: [c1]}
  q: {cpu: 1, resourceClaims: [c1]}
scope: {plugin_errors: 1}
"""

    def begun(pod: str, *chooses: str) -> tuple[str, ...]:
        use, looks = f"use=c1 of {pod}", ("list_devices", "add_in_flight") if chooses else ()
        return (
            *(f"scheduler.{step}(pod={pod})" for step in ("pop", "take_snapshot")),
            *(f"dynamic_resources.{step}({use})" for step in ("get_claim", "check_claim")),
            *(f"dynamic_resources.{step}(pod={pod})" for step in looks),
            *(f"scheduler.{step}(pod={pod}, node=n1)" for step in ("filter", "assume")),
            f"scheduler.start_binding(pod={pod})",
            *chooses,
            f"scheduler.reserve(pod={pod}, ok=True)",
        )

    chosen = "dynamic_resources.reserve_claim(use=c1 of p, device=d1)"
    written = ("binding.announce(pod=p)", "dynamic_resources.write_claim(use=c1 of p)")
    assumed, delivered = "dynamic_resources.assume_claim(use=c1 of p)", "claim_cache.deliver(claim=c1)"
    told = ("claim_cache.tell_tracker(claim=c1)", "claim_cache.tell_queue(claim=c1)")
    failed = (
        *begun("q"),
        "binding.fail_pre_flight(pod=q)",
        "dynamic_resources.unreserve_claim(use=c1 of q)",
        "dynamic_resources.restore_claim(use=c1 of q)",
    )
    first = allowed(*begun("p", chosen), *written, delivered, *told, assumed, *told, *failed, cluster=both)
    assert first == [True] * (len(first) - 1) + [False]
    assert all(allowed(*begun("p", chosen), *written, assumed, *told, delivered, *failed, cluster=both))


ADMINISTRATORS = """
nodes: {n1: {cpu: 2}}
devices: {d1: {node: n1}, d2: {node: n1}}
resourceClaims: {c1: {}, c2: {adminAccess: true}}
pods: {p: {cpu: 1, resourceClaims: [c1, c2]}}
"""


def test_an_administrators_claim_is_given_what_an_earlier_claim_of_the_pod_was_given() -> None:
    read = [
        f"dynamic_resources.{step}(use={c} of p)"
        for step in ("get_claim", "check_claim")
        for c in ("c1", "c2")
    ]
    tried = (
        "dynamic_resources.list_devices(pod=p)",
        "dynamic_resources.add_in_flight(pod=p)",
        "scheduler.filter(pod=p, node=n1)",
    )
    chosen = ("scheduler.assume(pod=p, node=n1)", "scheduler.start_binding(pod=p)")
    for device, forced in (("d2", True), ("d1", False)):
        reserved = (
            "dynamic_resources.reserve_claim(use=c1 of p, device=d2)",
            f"dynamic_resources.reserve_claim(use=c2 of p, device={device}/c2)",
        )
        run = ("scheduler.pop(pod=p)", "scheduler.take_snapshot(pod=p)", *read, *tried, *chosen, *reserved)
        *before, last = allowed(*run, cluster=ADMINISTRATORS)
        assert all(before)
        assert last is forced


def test_no_flush_while_a_pod_is_in_flight_whose_claims_may_go() -> None:
    lost = WITH_CLAIM.replace("pod_deletions: 1", "claim_deletions: 1")
    parked = (
        "scheduler.pop(pod=p)",
        "scheduler.take_snapshot(pod=p)",
    )
    model = Model.of(lost, resolve("1.36.3"))
    states = replay(model.system, path_of(model, *parked)).states
    flush = next(t for t in model.system.transitions if t.label == "queue.flush_unschedulable(pod=p)")
    assert [Forcing(model.system).allows(flush, state) for state in (states[0], states[-1])] == [True, False]
    stays = Model.of(WITH_CLAIM, resolve("1.36.3"))
    assert Forcing(stays.system).allows(flush, replay(stays.system, path_of(stays, *parked)).states[-1])


# --- groups of pods --------------------------------------------------------------------------------


TWO_GROUPS = """
nodes: {n1: {cpu: 2}}
podGroups:
  g: {exists: false}
  h: {exists: false}
pods:
  a: {cpu: 1, podGroup: g}
  b: {cpu: 1, podGroup: h}
featureGates: {GangScheduling: true}
"""


def test_the_queue_is_told_of_groups_in_their_order() -> None:
    created = ("pod_groups.create_group(group=g)", "pod_groups.create_group(group=h)")
    g, h = "pod_groups.store_group(group=g)", "pod_groups.store_group(group=h)"
    told = "gang_scheduling.tell_queue(group=g)"
    assert allowed(*created, g, h, cluster=TWO_GROUPS, groups=True) == [True, True, True, False]
    assert allowed(*created, g, told, h, cluster=TWO_GROUPS, groups=True) == [True] * 5


MEMBER_BOUND = """
nodes: {n1: {cpu: 2}}
podGroups: {g: {}}
pods:
  a: {cpu: 1, podGroup: g}
scope: {external_binds: 1}
featureGates: {GangScheduling: true}
"""


def test_a_member_that_somebody_else_has_bound_is_not_in_the_snapshot_twice() -> None:
    begins, snapshot = (
        ("scheduler.pop(pod=a)", "pod_group_cycle.gather(pod=a)"),
        "pod_group_cycle.take_snapshot(pod=a)",
    )
    bound = ("users.bind_pod(pod=a, node=n1)", "handlers.handle_for_cache(pod=a)")
    assert allowed(*begins, *bound[:1], snapshot, cluster=MEMBER_BOUND, groups=True) == [True] * 4
    assert allowed(*begins, *bound, snapshot, cluster=MEMBER_BOUND, groups=True) == [True] * 4 + [False]


STRANGER = """
nodes: {n1: {cpu: 3}}
podGroups: {g: {minCount: 2}}
pods:
  a: {cpu: 1, podGroup: g}
  b: {cpu: 1, podGroup: g}
scope: {pod_deletions: 1}
featureGates: {GangScheduling: true}
"""


def test_there_is_no_process_after_a_panic() -> None:
    def attempt(pod: str) -> tuple[str, ...]:
        cycle = (
            f"take_snapshot(pod={pod})",
            f"filter(pod={pod}, node=n1)",
            f"assume(pod={pod}, node=n1)",
            f"start_binding(pod={pod})",
        )
        return tuple(
            f"scheduler.{step}" for step in (f"pop(pod={pod})", *cycle, f"reserve(pod={pod}, ok=True)")
        )

    gone = (
        "users.delete_pod(pod=a)", "handlers.handle_for_queue(pod=a)", "handlers.look_whether_assumed(pod=a)", "handlers.reject_waiting(pod=a)",
        "binding.wait_on_permit(pod=a)", "gang_scheduling.unreserve(pod=a)",
    )  # fmt: skip
    run = (
        *attempt("a"),
        "gang_scheduling.permit(pod=a)",
        "binding.announce(pod=a)",
        "handlers.handle_for_queue(pod=a)",
        *attempt("b"),
    )
    taken = allowed(
        *run,
        *gone,
        "gang_scheduling.permit(pod=b)",
        "binding.forget(pod=a)",
        cluster=STRANGER,
        release="1.35.4",
        groups=True,
    )
    assert taken == [True] * (len(taken) - 1) + [False]


SPECIAL = """
nodes: {n1: {cpu: 1}}
deviceClasses: {gpu: {extendedResourceName: example.com/gpu}}
devices: {d: {node: n1, deviceClassName: gpu}}
pods: {p: {cpu: 1, resources: {example.com/gpu: 1}}}
scope: {status_failures: 1, flush: false}
"""


@pytest.mark.parametrize("step", ["lose_name", "assume_unwritten"])
@pytest.mark.parametrize("device", [0, 1])
def test_no_restore_of_a_special_claim_that_is_assumed_as_the_informer_has_it(step: str, device: int) -> None:
    """After a failure. With an allocation that was never written, Restore changes something, and the model knows."""
    model = Model.of(SPECIAL, resolve("1.37.2"))
    steps = {t.step: t for t in model.system.transitions if t.part == "dynamic_resources"}
    names = [v.name for v in model.system.variables]
    assumed = list(model.system.initial)
    assumed[names.index("claim_cache.latest[p-extended-resources].device")] = device
    forcing = Forcing(model.system)
    forcing.go(steps[step], model.system.initial, tuple(assumed))
    assert forcing.allows(steps["restore_claim"], tuple(assumed)) is bool(device)


VOLUMES = """
nodes: {n1: {cpu: 2}}
storageClasses: {c: {volumeBindingMode: WaitForFirstConsumer}}
volumes: {v1: {storageClassName: c, nodes: [n1]}, v2: {storageClassName: c, nodes: [n1]}, v3: {storageClassName: c, nodes: [n1], exists: false}}
volumeClaims: {c1: {storageClassName: c}, c2: {storageClassName: c}}
pods: {p: {cpu: 1, volumes: [c1, c2]}, q: {cpu: 1}}
scope: {file_order: true}
"""
CREATED, STORED = "storage_users.create_volume(volume=v3)", "volume_cache.store_volumes(watch=volumes)"
CYCLE = ("scheduler.pop(pod=p)", "scheduler.take_snapshot(pod=p)")
READ = tuple(f"volume_binding.read_claim(use={claim} of p)" for claim in ("c1", "c2"))
LISTED_VOLUMES = "volume_binding.list_volumes(pod=p)"
PLACED = (
    "scheduler.filter(pod=p, node=n1)",
    "scheduler.assume(pod=p, node=n1)",
    "scheduler.start_binding(pod=p)",
)
LOOKED = "volume_binding.look_again(pod=p)"
ASSUMED = tuple(
    f"volume_binding.assume_volume(use={claim} of p, volume={volume})"
    for claim, volume in (("c1", "v1"), ("c2", "v2"))
)


@pytest.mark.parametrize("at", range(8))
def test_the_informer_stores_no_volume_amid_a_call_of_the_binder(at: int) -> None:
    """GetPodVolumeClaims with the volumes' list, and AssumePodVolumes (binder.go, 1.36): both claims in one call."""
    run = (*CYCLE, *READ, LISTED_VOLUMES, *PLACED, LOOKED, *ASSUMED)
    places = (2, 3, 4, 5, 8, 9, 10, 11)
    torn = {3, 4, 5, 9, 10}  # 5 is before the first Filter, with which PreFilter is over
    cut = places[at]
    found = allowed(CREATED, *run[:cut], STORED, *run[cut:], cluster=VOLUMES)
    assert found == [number != cut + 1 or cut not in torn for number in range(len(found))]


def test_a_claim_whose_volume_the_informer_has_not_is_not_read() -> None:
    """VolumeZone (volume_zone.go, 1.36) rejects the pod on every node; the model has no such plugin (A-FILTERS)."""
    cluster = VOLUMES.replace("c1: {storageClassName: c}", "c1: {storageClassName: c, volumeName: v1}")
    model = Model.of(cluster, resolve("1.36.3"))
    (at,) = (i for i, v in enumerate(model.system.variables) if v.name == "volume_cache.volume[v1].exists")
    reads = {t.label: t for t in model.system.transitions}[READ[0]]
    for there in (True, False):
        state = list(model.system.initial)
        state[at] = int(there)
        assert Forcing(model.system).allows(reads, tuple(state)) is there


def test_a_binding_that_may_be_executed_later_is_not_played() -> None:
    cluster = "nodes: {n1: {cpu: 1}}\npods: {p: {cpu: 1}}\nscope: {late_bindings: 1}\n"
    model = Model.of(cluster, resolve("1.36.3"))
    doubts = [t for t in model.system.transitions if t.step in ("bind_in_doubt", "land_late")]
    assert len({t.step for t in doubts}) == 2
    assert not any(Forcing(model.system).allows(t, model.system.initial) for t in doubts)
