"""A goroutine that moves parked pods takes its next step when the move is over: Pop comes amid the moves of others only."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.trace.execution import replay
from podrace.model.environment.objects import Pod, PodCopy, Term
from podrace.model.history import resolve
from podrace.model.language import State
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from podrace.reproduce.random_runs.claim_clusters import claim_cluster
from podrace.reproduce.random_runs.group_clusters import GATES, group_cluster
from podrace.reproduce.random_runs.quick_steps import QuickSteps
from podrace.reproduce.random_runs.random_runs import Model, Wanted, random_runs
from podrace.reproduce.random_runs.varied_clusters import varied_cluster
from tests.model.clusters import concrete, nodes, spec
from tests.profiles import examples

PREEMPTED = """
nodes: {n1: {cpu: 2}}
pods:
  v: {cpu: 2, priority: 0, nodeName: n1, terminationGracePeriodSeconds: 0}
  p: {cpu: 2, priority: 10}
scope: {pod_events: 4}
"""
"""p preempts v."""

TO_THE_MOVE = (
    "scheduler.pop(pod=p)", "scheduler.take_snapshot(pod=p)", "scheduler.filter(pod=p, node=n1)", "scheduler.reread_preemptor(pod=p)",
    "scheduler.dry_run(pod=p, node=n1)", "scheduler.choose_candidate(pod=p, node=n1)", "scheduler.fail(pod=p)", "failure.read(pod=p)",
    "failure.requeue(pod=p)", "failure.nominate(pod=p)", "async_preemption.begin(pod=p, node=n1)", "async_preemption.leave(pod=p)",
    "async_preemption.evict_last(pod=p, victim=v, ok=True)", "failure.patch(pod=p)", "handlers.handle_for_cache(pod=v)",
)  # fmt: skip
MOVE, NEXT_EVENT, POP = (
    "handlers.wake_queue(pod=v)",
    "handlers.handle_for_queue(pod=p)",
    "scheduler.pop_amid_move(pod=p)",
)


def test_the_handler_of_all_pods_takes_no_event_amid_its_own_move() -> None:
    """One goroutine since 1.35 (134157): the move is over when it takes the next event, and Pop comes before that event or after the move."""
    model = Model.of(PREEMPTED, resolve("1.36"))
    numbers = {t.label: number for number, t in enumerate(model.system.transitions)}
    steps = QuickSteps(model.system)
    moved = replay(model.system, tuple(numbers[label] for label in (*TO_THE_MOVE, MOVE))).states[-1]
    assert numbers[POP] in steps.enabled(moved)
    handled = steps.successor(moved, numbers[NEXT_EVENT])
    assert numbers[POP] not in steps.enabled(handled)
    assert numbers["scheduler.pop(pod=p)"] in steps.enabled(handled)


def test_pop_first_leads_where_it_led_amid_the_event() -> None:
    """Nothing that was reached is lost: the event commutes with Pop."""
    model = Model.of(PREEMPTED, resolve("1.36"))
    numbers = {t.label: number for number, t in enumerate(model.system.transitions)}
    popped = replay(model.system, tuple(numbers[label] for label in (*TO_THE_MOVE, MOVE, POP))).states[-1]
    assert numbers[NEXT_EVENT] in QuickSteps(model.system).enabled(popped)


# --- the law, for every goroutine ---------------------------------------------------------------------------


class Moves:
    """What the states of a model remember of the last move, and whose step it was."""

    def __init__(self, model: Model) -> None:
        self.model, self.steps = model, QuickSteps(model.system)
        names = [variable.name for variable in model.system.variables]
        self._met = [i for i, name in enumerate(names) if name.startswith("queue.just_moved[")]
        about = ("queue.just_moved[", "queue.late_events[", "queue.mover")
        self._about = [i for i, name in enumerate(names) if name.startswith(about)]

    def met(self, state: State) -> tuple[int, ...]:
        """Which pods Pop can meet amid the last move."""
        return tuple(state[i] for i in self._met)

    def forgotten(self, state: State) -> State:
        """The state as if that move were over."""
        return tuple(0 if i in self._about else value for i, value in enumerate(state))

    def is_one(self, state: State, number: int) -> bool:
        """Whether a step moves pods which Pop can meet."""
        return any(self.met(self.steps.successor(self.forgotten(state), number)))

    def goroutine(self, number: int) -> str:
        """Whose step it is; the two halves of the pods' handler are one since 1.35."""
        step = self.model.system.transitions[number]
        if step.actor in ("queue handler", "cache handler") and not self.model.composition.release < "1.35":
            return "pod handler"
        own = [str(value) for name, value in step.args if name == "pod"]
        return f"{step.actor} {own}" if step.actor == "binding cycle" else step.actor

    def outlived(self, moved: State, mover: str) -> list[bool]:
        """For each step that the mover can take next: whether Pop could still meet the move after it."""
        return [
            self.met(self.steps.successor(moved, number))
            != self.met(self.steps.successor(self.forgotten(moved), number))
            for number in self.steps.enabled(moved)
            if self.goroutine(number) == mover
        ]


def edges(model: Model) -> Iterator[tuple[State, int, State]]:
    """All edges of the state graph."""
    steps, found, waiting = QuickSteps(model.system), {model.system.initial}, [model.system.initial]
    while waiting:
        state = waiting.pop()
        for number in steps.enabled(state):
            following = steps.successor(state, number)
            yield state, number, following
            if following not in found:
                found.add(following)
                waiting.append(following)


@pytest.mark.parametrize(("release", "own", "others"), [("1.34", 203, 54), ("1.36", 187, 0)])
def test_no_goroutine_goes_on_amid_its_own_move(release: str, own: int, others: int) -> None:
    """On every edge of the graph; up to 1.34 one handler of pods goes on amid the move of the other."""
    model = Model.of(PREEMPTED, resolve(release))
    moves, checked, amid_others = Moves(model), 0, 0
    for state, number, moved in edges(model):
        if not moves.is_one(state, number):
            continue
        mover = moves.goroutine(number)
        outlived = moves.outlived(moved, mover)
        assert not any(outlived), model.system.transitions[number].label
        checked += len(outlived)
        if mover == "cache handler":
            amid_others += sum(moves.outlived(moved, "queue handler"))
    assert (checked, amid_others) == (own, others)


CLUSTERS = {"varied": varied_cluster, "claims": claim_cluster, "groups": group_cluster}


@given(
    st.integers(0, 10**6),
    st.sampled_from(sorted(CLUSTERS)),
    st.sampled_from(["1.31", "1.34", "1.35", "1.36", "1.37"]),
)
@settings(max_examples=examples(10))
@pytest.mark.ci
def test_nor_in_random_clusters(seed: int, kind: str, release: str) -> None:
    """Handlers of nodes, the assume cache of claims and binding cycles as well."""
    gates = GATES if kind == "groups" and release >= "1.36" else {}
    wanted = Wanted(
        clusters=1, runs=3, seed=seed, shortest=60, longest=120, cluster=CLUSTERS[kind], gates=gates
    )
    for run in random_runs(resolve(release, gates=gates), wanted):
        moves, mover, state = Moves(run.model), "", run.model.system.initial
        for number in run.path:
            if moves.is_one(state, number):
                mover = moves.goroutine(number)
            state = moves.steps.successor(state, number)
            if any(moves.met(state)):
                assert not any(moves.outlived(state, mover)), run.model.system.transitions[number].label


@pytest.mark.parametrize(("version", "woken"), [(None, False), (1, True)])
def test_the_version_that_an_event_shows_decides_and_not_the_listers(
    version: int | None, woken: bool
) -> None:
    """AssignedPodUpdated is given the new object; the lister may have another one (getUnschedulablePodsWithCrossTopologyTerm)."""
    on, term = nodes(2), Term({"app": "web"}, "kubernetes.io/hostname")
    a = Pod(0, "a", 1, node=on[0], later={"web": Pod(0, "a", 1, labels={"app": "web"})})
    waits = Pod(1, "waits", 1, terms=[term])
    model = concrete(spec([a, waits], on, pod_updates=1), "1.36")
    queue = model.part("queue")
    model.do(lambda: queue.put(waits, SubQueue.UNSCHEDULABLE, PodCopy()))
    model.do(lambda: queue.move_matching(a, version=version))
    assert (model.get(lambda: queue.sub_queue[waits]) is not SubQueue.UNSCHEDULABLE) is woken
