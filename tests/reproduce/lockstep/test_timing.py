"""Waits before the steps of a run: the least solution of their constraints, and the real queue's timers simulated with them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podrace.checker.core.interpreter import Interpreter
from podrace.checker.trace.execution import replay
from podrace.model.environment.objects import Pod
from podrace.model.history import resolve
from podrace.properties import instrument
from podrace.reproduce.random_runs.random_runs import Model, Wanted, random_runs
from podrace.reproduce.timing.durations import Bound, Contradiction, earliest
from podrace.reproduce.timing.timing import Timing, Untimely, rules_of, timing_of
from podrace.scenarios import find_scenarios

MOMENTS = 4

BOUNDS = st.lists(
    st.builds(
        Bound,
        st.integers(0, MOMENTS - 1),
        st.integers(0, MOMENTS - 1),
        st.integers(-3, 3),
        st.just("because"),
    ),
    max_size=6,
)


@given(BOUNDS)
def test_the_least_solution_is_found_if_there_is_one(bounds: list[Bound]) -> None:
    def satisfies(moments: Sequence[int]) -> bool:
        in_order = moments[0] == 0 and list(moments) == sorted(moments)
        return in_order and all(moments[b.later] >= moments[b.earlier] + b.least for b in bounds)

    solutions = [m for m in product(range(10), repeat=MOMENTS) if satisfies(m)]
    if solutions:
        assert tuple(earliest(MOMENTS, bounds)) == tuple(map(min, zip(*solutions, strict=True)))
        return
    with pytest.raises(Contradiction) as caught:
        earliest(MOMENTS, bounds)
    assert set(caught.value.cycle) <= {*bounds, *(Bound(i, i - 1, 0) for i in range(1, MOMENTS))}


def test_a_contradiction_names_its_bounds() -> None:
    bounds = [
        Bound(2, 1, 5, "five at least"),
        Bound(1, 3, -4, "four at most"),
        Bound(3, 1, 1, "one at least"),
    ]
    with pytest.raises(Contradiction) as caught:
        earliest(4, bounds)
    assert caught.value.reasons == ("four at most", "five at least")
    assert caught.value.moment == 3


# --- runs written by hand --------------------------------------------------------------------------


WAITS_FOR_ROOM = """
nodes: {n1: {cpu: 2}}
pods:
  p: {cpu: 2}
  q: {cpu: 2}
  a: {cpu: 1, nodeName: n1, terminationGracePeriodSeconds: 0}
scope: {pod_deletions: 1}
"""

GOING = ("scheduler.", "pod_watch.store", "handlers.")
QUIET = "nothing goes on by itself"


def path_of(model: Model, *wanted: str) -> tuple[int, ...]:
    """The run whose steps begin with these labels, with what the scheduling cycle and the informers do before each; QUIET: all that they do."""
    interpreter = Interpreter(model.system)
    state, path = interpreter.initial, []
    for label in wanted:
        while True:
            enabled = {model.system.transitions[n].label: n for n in interpreter.enabled(state)}
            found = [n for name, n in enabled.items() if name.startswith(label)]
            going = [n for name, n in enabled.items() if name.startswith(GOING) and "pop" not in name]
            if label == QUIET and not going:
                break
            assert found or going, f"{label}: {list(enabled)}"
            path.append((found or going)[0])
            state = interpreter.successor(state, path[-1])
            if found:
                break
    return tuple(path)


def waits_of(timing: Timing) -> dict[int, int]:
    return {number: wait for number, wait in enumerate(timing.waits, 1) if wait}


def rejected(pod: str) -> list[str]:
    """An attempt of the pod that finds no room."""
    handler = [f"failure.{name}(pod={pod}" for name in ("read", "requeue", "nominate", "patch")]
    return [f"scheduler.pop(pod={pod}", *handler]


DELETED = ("users.delete_pod(pod=a", "handlers.wake_queue(")


def waiting(release: str) -> Model:
    return Model.of(WAITS_FOR_ROOM, resolve(release))


def place(model: Model, path: Sequence[int], label: str) -> int:
    """The number of the first step whose label begins so."""
    labels = [model.system.transitions[n].label for n in path]
    return next(i for i, name in enumerate(labels, 1) if name.startswith(label))


LISTED = """
nodes: {n1: {cpu: 2}}
pods: {p: {cpu: 1}, q: {cpu: 1}}
scope: {external_binds: 2, relists: 2, restarts: 1, pod_deletions: 1}
"""


def test_an_interrupted_watch_lists_after_a_while_that_grows() -> None:
    """client-go waits for 0.8 s to 1.6 s, and twice that the next time; whoever does not look at the list does not wait."""
    model = Model.of(LISTED, resolve("1.36.3"))
    first = ["users.bind_pod(pod=p", "pod_watch.resume", "users.delete_pod(pod=q", "pod_watch.store(pod=p"]
    path = path_of(model, *first)
    assert waits_of(timing_of(model.system, path, model.composition)) == {4: 2000}
    handled = ["handlers.wake_queue(pod=p", "handlers.handle_for_queue(pod=p"]
    path = path_of(
        model,
        *first[:2],
        first[3],
        *handled,
        "users.bind_pod(pod=q",
        "pod_watch.resume",
        "pod_watch.store(pod=q",
    )
    assert waits_of(timing_of(model.system, path, model.composition)) == {3: 2000, len(path): 4000}
    restart = ["process.restart", "users.bind_pod(pod=p", "pod_watch.resume", "pod_watch.store(pod=p"]
    path = path_of(model, "users.bind_pod(pod=q", "pod_watch.resume", *restart)
    assert list(waits_of(timing_of(model.system, path, model.composition)).values()) == [1000, 2000]


@pytest.mark.parametrize("release", ["1.36.3", "1.32.13"])
def test_a_backoff_ends_after_its_second(release: str) -> None:
    model = waiting(release)
    path = path_of(model, *rejected("p"), *DELETED, "queue.flush_backoff(pod=p")
    assert waits_of(timing_of(model.system, path, model.composition)) == {len(path): 2000}


def test_other_steps_happen_while_the_backoff_lasts() -> None:
    model = waiting("1.36.3")
    steps = [
        *rejected("p"),
        *DELETED,
        "scheduler.pop(pod=q",
        "scheduler.take_snapshot",
        "queue.flush_backoff(pod=p",
    ]
    path = path_of(model, *steps)
    assert waits_of(timing_of(model.system, path, model.composition)) == {len(path): 2000}


def test_two_flushes_take_two_pods_one_by_one() -> None:
    model = waiting("1.36.3")
    flushes = ["queue.flush_backoff(pod=p", "queue.flush_backoff(pod=q"]
    path = path_of(model, *rejected("p"), *rejected("q"), *DELETED, *flushes)
    timing = timing_of(model.system, path, model.composition)
    # q is requeued a second later than p, so that the flush that takes p leaves it.
    requeue = place(model, path, "failure.requeue(pod=q")
    assert waits_of(timing) == {requeue: 1000, len(path) - 1: 1000, len(path): 1000}
    assert not any(timing.ahead)


def test_one_flush_takes_two_pods_that_cannot_be_told_apart() -> None:
    model = waiting("1.36.3")
    flushes = ["queue.flush_backoff(pod=q", "queue.flush_backoff(pod=p"]
    path = path_of(model, *rejected("p"), *rejected("q"), *DELETED, *flushes)
    timing = timing_of(model.system, path, model.composition)
    assert waits_of(timing) == {len(path) - 1: 2000}
    assert timing.ahead[-2:] == (frozenset({"p"}), frozenset())


def test_a_backoff_that_began_earlier_does_not_end_later() -> None:
    model = waiting("1.36.3")
    path = path_of(model, *rejected("p"), *rejected("q"), *DELETED, "queue.flush_backoff(pod=q")
    with pytest.raises(Untimely) as caught:
        timing_of(model.system, path, model.composition)
    stamp, again = place(model, path, "failure.requeue(pod=p"), place(model, path, "failure.requeue(pod=q")
    at = len(path)
    assert caught.value.step == at
    assert set(caught.value.why.split("; ")) == {
        f"the backoff of 1 s that q began at step {again} is over at step {at}",
        f"the backoff of 1 s that p began at step {stamp} lasts beyond step {at}",
    }


def test_the_periodic_flush_finds_the_backoff_over() -> None:
    model = waiting("1.36.3")
    path = path_of(model, *rejected("p"), "queue.flush_unschedulable(pod=p", "queue.flush_backoff(pod=p")
    timing = timing_of(model.system, path, model.composition)
    assert waits_of(timing) == {len(path) - 1: 330_000}
    assert timing.ahead[-2:] == (frozenset({"p"}), frozenset())


def test_a_younger_pod_is_not_flushed_first() -> None:
    model = waiting("1.36.3")
    path = path_of(model, *rejected("p"), *rejected("q"), "queue.flush_unschedulable(pod=q")
    with pytest.raises(Untimely) as caught:
        timing_of(model.system, path, model.composition)
    stamp, again = place(model, path, "failure.requeue(pod=p"), place(model, path, "failure.requeue(pod=q")
    at = len(path)
    assert caught.value.step == at
    assert set(caught.value.why.split("; ")) == {
        f"q, which waits since step {again}, is flushed at step {at}",
        f"p, which waits since step {stamp}, is not flushed up to step {at}",
    }


TWICE = """
nodes: {n1: {cpu: 1}}
pods:
  a: {cpu: 1, nodeName: n1, terminationGracePeriodSeconds: 0}
  p: {cpu: 1, terminationGracePeriodSeconds: 0}
  again: {cpu: 1, recreates: p, terminationGracePeriodSeconds: 0}
scope: {pod_events: 4, pod_deletions: 2, relists: 1}
"""

SWAPPED = (
    "users.delete_pod(pod=p",
    "stateful_sets.recreate(",
    "pod_watch.resume",
    "handlers.handle_swap_for_queue(",
)


def moments_of(model: Model, path: Sequence[int]) -> list[int]:
    """The second of each step, from 1 on."""
    timing = timing_of(model.system, path, model.composition)
    return [0, *accumulate(wait // 1000 for wait in timing.waits)]


@pytest.mark.parametrize("release", ["1.36.3", "1.35.4", "1.33.6"])
def test_an_update_from_another_pod_of_its_name_keeps_what_the_entry_counts(release: str) -> None:
    """Update of an entry in the queue: QueuedPodInfo has another pod, and the same timestamp and counts."""
    model = Model.of(TWICE, resolve(release))
    again = ("queue.flush_unschedulable(pod=p", "queue.flush_backoff(pod=p")
    path = path_of(
        model,
        *rejected("p"), QUIET, *again, *rejected("p"), *again, *rejected("p"), *SWAPPED, *DELETED,
        "queue.flush_backoff(pod=again",
    )  # fmt: skip
    moments = moments_of(model, path)
    requeued = max(
        i for i, n in enumerate(path, 1) if model.system.transitions[n].label.startswith("failure.requeue(")
    )
    assert moments[-1] - moments[requeued] == 4 + 1, "the third backoff is one of 4 s"


def test_a_list_that_shows_another_pod_under_a_name_takes_its_time() -> None:
    """It comes with the first of its outcomes, also where that is an Update from one pod to another."""
    model = Model.of(TWICE, resolve("1.35.4"))
    assert timing_of(model.system, path_of(model, *SWAPPED), model.composition).waits == (0, 0, 0, 2000)


ENDS = """
nodes: {n1: {cpu: 2}}
pods:
  a: {cpu: 2}
  x: {cpu: 1, nodeName: n1, terminationGracePeriodSeconds: 0}
  p: {cpu: 1, nodeName: n1, terminationGracePeriodSeconds: 0}
  again: {cpu: 1, recreates: p}
scope: {pod_deletions: 2, relists: 1}
"""


def test_where_the_scheduler_ends_its_own_process_the_queue_counts_anew() -> None:
    """The list shows that a pod on a node is another by now, and 1.36 ends the process: what follows comes in the next second, and a backoff of 1 s is over two seconds later."""
    model = Model.of(ENDS, resolve("1.36.3"))
    path = path_of(
        model, "users.delete_pod(pod=p", "stateful_sets.recreate(", "pod_watch.resume", "handlers.handle_swap_for_cache(",
        "scheduler.pop(pod=a", "scheduler.take_snapshot", "scheduler.fail", "failure.read", "failure.requeue",
        "users.delete_pod(pod=x", "handlers.wake_queue(", "queue.flush_backoff(pod=a",
    )  # fmt: skip
    moments = moments_of(model, path)
    ended, requeued = (
        place(model, path, label) for label in ("handlers.handle_swap_for_cache", "failure.requeue")
    )
    assert (moments[ended], moments[ended + 1], moments[requeued], moments[-1]) == (2, 3, 3, 5)


def test_an_attempt_that_goes_on_for_another_pod_keeps_what_it_counts() -> None:
    """Up to 1.35 the failure handler requeues the record of the one pod as that of the other."""
    model = Model.of(TWICE, resolve("1.35.4"))
    again = ("queue.flush_unschedulable(pod=p", "queue.flush_backoff(pod=p")
    recreated = ("users.delete_pod(pod=p", "stateful_sets.recreate(", "pod_watch.store(pod=again")
    path = path_of(
        model,
        *rejected("p"), *again, *rejected("p"), *again, "scheduler.pop(pod=p", "scheduler.fail", *recreated,
        "failure.read(pod=p", "failure.requeue(pod=p", "queue.flush_backoff(pod=again",
    )  # fmt: skip
    moments = moments_of(model, path)
    assert moments[-1] - moments[-2] == 4 + 1


def test_a_requeue_that_the_queue_refuses_ends_the_record_of_its_attempt() -> None:
    """b is tried twice at a time: the first attempt to come back has an entry, the second finds it. The next failure is the entry's third."""
    (scenario,) = find_scenarios("scenarios/hazards/assumed-after-look.yaml")
    composition = resolve("1.36.3")
    model = Model(scenario, composition, instrument(scenario.spec, composition.classes, []))
    preempts = (
        "scheduler.pop", "scheduler.take_snapshot", "scheduler.filter(", "scheduler.reread_preemptor", "scheduler.dry_run", "scheduler.choose_candidate",
        "scheduler.fail", "failure.read", "failure.requeue", "failure.nominate", "async_preemption.begin", "async_preemption.leave",
        "async_preemption.evict_last(pod=b, victim=a, ok=True", "handlers.handle_for_cache(pod=a", "handlers.wake_queue(pod=a", "failure.patch",
        "handlers.handle_for_queue",
    )  # fmt: skip
    placed = ("scheduler.assume", "scheduler.start_binding")
    fails = ("binding.bind(pod=b, reply=ANSWERED", "binding.forget")
    handled = ("binding.wake_queue", "binding.fail", "failure.read")
    path = path_of(
        model, *preempts, "users.delete_pod", "scheduler.pop", "scheduler.take_snapshot", "scheduler.filter(", *placed, "handlers.update_queue", *fails, *handled,
        "scheduler.pop", "failure.requeue", "scheduler.take_snapshot", "scheduler.filter_nominated", "failure.nominate", "failure.patch", *placed, *fails, *handled,
        "failure.requeue", "queue.flush_backoff", "failure.nominate",
        "scheduler.pop", "scheduler.take_snapshot", "scheduler.filter_nominated", *placed, *fails, "failure.patch", *handled,
        "failure.requeue", "queue.flush_backoff",
    )  # fmt: skip
    assert len(path) == 58
    moments = moments_of(model, path)
    assert moments[-1] - moments[-2] == 2 + 1, "a backoff of 2 s"


@pytest.mark.parametrize(("release", "timely"), [("1.36.3", True), ("1.37.2", False)])
def test_a_pod_whose_backoff_is_over_does_not_stay_beside_another_of_its_name(
    release: str, timely: bool
) -> None:
    """The real flush puts the deleted pod into activeQ, where the next pod of its name displaces it. In the model of 1.37 it stays, in backoffQ."""
    (scenario,) = find_scenarios("namesake-in-flight")
    composition = resolve(release)
    model = Model(scenario, composition, instrument(scenario.spec, composition.classes, []))
    labels = (
        "users.delete_pod(pod=web", "scheduler.pop(pod=web)", "scheduler.take_snapshot", "scheduler.filter", "scheduler.reread_preemptor",
        "scheduler.dry_run", "scheduler.fail", "failure.read", "stateful_sets.recreate", "handlers.handle_for_queue(pod=web)", "failure.requeue",
        "handlers.look_whether_assumed", "queue.flush_unschedulable(pod=web)", "handlers.handle_for_queue(pod=web-again)",
    )  # fmt: skip
    assert timing_of(model.system, path_of(model, *labels[:-1]), composition).waits[-1] == 330_000
    path = path_of(model, *labels)
    if timely:
        assert timing_of(model.system, path, composition).waits[-1] == 0
        return
    with pytest.raises(Untimely) as caught:
        timing_of(model.system, path, composition)
    assert (caught.value.step, caught.value.why) == (
        14, "web-again enters activeQ at step 14, where web is already, whose backoff is over",
    )  # fmt: skip


# --- the timers simulated --------------------------------------------------------------------------


class Timers:
    """The real queue's timers, second by second: who is in backoffQ or parked, since when, and for how long."""

    def __init__(self, windows: bool, failures: bool, again: bool) -> None:
        self.windows, self.failures, self.again = windows, failures, again
        self.now = 0
        self.start = -30_000
        self.stamp: dict[str, int] = {}
        self.asked: dict[str, int] = {}
        self.attempts: dict[str, int] = {}
        self.rejections: dict[str, int] = {}
        self.errors: dict[str, int] = {}

    def forget(self, pod: str) -> None:
        self.attempts[pod] = self.rejections[pod] = self.errors[pod] = 0
        self.stamp[pod] = self.now
        self.asked.pop(pod, None)

    def parked_since(self, pod: str) -> int:
        return max(self.stamp[pod], self.asked.get(pod, self.stamp[pod]))

    def ends(self, pod: str) -> int:
        count = (self.errors[pod] or self.rejections[pod]) if self.failures else self.attempts[pod]
        end = self.stamp[pod] + min(1000 * 2 ** (count - 1), 10_000)
        return end // 1000 * 1000 if self.windows else end

    def is_backing_off(self, pod: str) -> bool:
        if self.windows:
            return self.ends(pod) >= self.now // 1000 * 1000
        return self.ends(pod) > self.now

    def pass_time(self, wait: int, backing: list[str], parked: list[str]) -> tuple[set[str], set[str]]:
        """Who is flushed from backoffQ, and who from the parked pods."""
        backing, parked = list(backing), list(parked)
        flushed: tuple[set[str], set[str]] = (set(), set())
        end = self.now + wait
        while self.now < end:
            self.now += 1
            if (self.now if self.windows else self.now - self.start) % 1000 == 0:
                due = {pod for pod in backing if not self.is_backing_off(pod)}
                flushed[0].update(due)
                backing = [pod for pod in backing if pod not in due]
            if self.now >= self.start and (self.now - self.start) % 30_000 == 0:
                due = {pod for pod in parked if self.now - self.parked_since(pod) > 300_000}
                flushed[1].update(due)
                if self.again:
                    self.asked.update(dict.fromkeys(due, self.now))
        return flushed


def simulate(model: Model, path: Sequence[int], timing: Timing) -> int:
    """Run the timers beside the model, and compare each flush. Gives how many there were."""
    system, rules = model.system, rules_of(model.composition)
    timers = Timers(rules.windows, rules.failures, rules.again)
    states = [system.describe(state) for state in replay(system, tuple(path)).states]
    pods = [pod.name for pod in system.universe[Pod]]
    flying: dict[str, tuple[int, int, int]] = {}
    through: set[str] = set()
    count = 0

    def place(state: dict[str, object], pod: str) -> str:
        found = state.get(f"queue.sub_queue[{pod}]")
        return getattr(found, "name", "NONE")

    for pod in pods:
        timers.forget(pod)
        timers.stamp[pod] = -31_000
    for number, (step, wait) in enumerate(zip(path, timing.waits, strict=True), 1):
        before, after = states[number - 1], states[number]
        transition = system.transitions[step]
        name, args = f"{transition.part}.{transition.step}", dict(transition.args)
        arg = args["pod"].name if "pod" in args else None
        backing = [pod for pod in pods if place(before, pod) == "BACKOFF" and pod not in through]
        parked = [pod for pod in pods if place(before, pod) == "UNSCHEDULABLE"]
        backs, parks = timers.pass_time(wait + 1, backing, parked)
        expected = {arg} if name == "queue.flush_backoff" and arg not in through else set()
        assert backs == expected, (number, name, arg)
        assert parks == ({arg} if name == "queue.flush_unschedulable" else set()), (number, name, arg)
        count += len(backs | parks)
        if name in ("process.restart", "process.change_leader"):
            timers.start, flying, through = timers.now // 1000 * 1000 + 1000, {}, set()
            for pod in pods:
                timers.forget(pod)
            continue
        for pod in pods:
            old, new = place(before, pod), place(after, pod)
            through -= {pod} if new != "BACKOFF" else set()
            if old == "NONE" and new != "NONE":
                known = flying.pop(pod, None) if name.startswith("failure.requeue") and pod == arg else None
                timers.forget(pod)
                if known is not None:
                    timers.attempts[pod], timers.rejections[pod], timers.errors[pod] = known
                    rejected = any(v for n, v in before.items() if n.startswith(f"queue.rejected_by[{pod}]"))
                    timers.rejections[pod] += rejected
                    timers.errors[pod] = 0 if rejected else timers.errors[pod] + 1
                    if new == "BACKOFF":
                        assert timers.is_backing_off(pod)
            elif new == "NONE" and name.startswith("scheduler.pop") and pod == arg:
                assert old == "ACTIVE" or pod in through or rules.windows
                if not before.get(f"queue.in_flight[{pod}]"):
                    flying[pod] = (timers.attempts[pod] + 1, timers.rejections[pod], timers.errors[pod])
            elif old == "UNSCHEDULABLE" and new == "BACKOFF":
                if timers.is_backing_off(pod):
                    assert name != "queue.flush_unschedulable"
                else:
                    assert name == "queue.flush_unschedulable"
                    through.add(pod)
        ahead = {pod for pod in through if place(after, pod) == "BACKOFF"}
        assert timing.ahead[number - 1] == ahead
    return count


@pytest.mark.parametrize(
    ("release", "again"),
    [
        ("1.33.6", False),
        ("1.34", False),
        ("1.36.3", False),
        ("1.36.4", True),
        ("1.37", True),
        ("1.37.2", True),
    ],
)
def test_a_pod_that_a_flush_does_not_move_waits_for_five_minutes_more(release: str, again: bool) -> None:
    """FlushTimestamp came with 139162; up to 1.33 there was no need for that, and there is no such time."""
    assert rules_of(resolve(release)).again is again


@pytest.mark.parametrize("release", ["1.37", "1.36.3", "1.33.6", "1.31.14"])
def test_the_timers_do_what_random_runs_say(release: str) -> None:
    flushes = 0
    wanted = Wanted(clusters=3, runs=12, seed=Random(release).randrange(1000))
    for run in random_runs(resolve(release), wanted):
        assert timing_of(run.model.system, run.path, run.model.composition) == run.timing
        flushes += simulate(run.model, run.path, run.timing)
    assert flushes > 10
