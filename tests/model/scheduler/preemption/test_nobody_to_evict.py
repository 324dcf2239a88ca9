"""A dry run that finds that the preemptor fits, and that nobody would have to go: up to 1.37 an error, after which the nomination stays (DryRunPreemption, Preempt)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from podrace.model.environment.cluster.workloads import ExtenderSpec
from podrace.model.environment.extender import HTTPExtender
from podrace.model.environment.objects import Node, Pod
from podrace.model.language import Concrete
from podrace.model.scheduler import NodeStatus, Phase
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from tests.model.clusters import concrete, enabled, nodes, spec

MENDED = ("1.23.17", "1.24", "1.31.14", "1.36.3", "1.37.2")


class Attempt:
    """An attempt of p, which its object nominates to the first node. The filters reject it there for the nomination of q, which is more important."""

    def __init__(self, release: str, *cpus: int, added: tuple[str, ...] = ()) -> None:
        self.on = nodes(3, *cpus)
        self.p, self.q = Pod(0, "p", 2, 10), Pod(1, "q", 2, 20)
        pods = [self.p, self.q, *(Pod(2 + n.index, f"v{n.index}", 1, node=n) for n in self.on)]
        self.model: Concrete = concrete(spec(pods, self.on), release, with_fixes=added)
        self.scheduler, self.nominator = self.model.part("scheduler"), self.model.part("nominator")
        handlers, queue = self.model.part("handlers"), self.model.part("queue")
        for step in (
            lambda: self.model.part("api").set_nomination(self.p, self.on[0]),
            lambda: handlers.handle_for_queue(self.p),
            lambda: handlers.update_queue(self.p),
            lambda: queue.sub_queue.__setitem__(self.q, SubQueue.UNSCHEDULABLE),
            lambda: self.nominator.add(self.q, self.on[0], None),
            lambda: self.scheduler.pop(self.p),
            lambda: self.scheduler.take_snapshot(self.p),
        ):
            self.model.do(step)
        for step in (self.scheduler.filter_nominated, self.scheduler.filter):
            for node in self.on:
                if enabled(self.model, partial(step, self.p, node)):
                    self.model.do(partial(step, self.p, node))
        self.model.do(lambda: self.scheduler.reread_preemptor(self.p))

    def try_nodes(self, *, gone: bool) -> tuple[object, ...]:
        """All dry runs, before which the nomination of q is gone, or is not: what the nodes' verdicts are then."""
        if gone:
            self.model.do(lambda: self.nominator.delete(self.q))
        for node in self.on:
            if enabled(self.model, partial(self.scheduler.dry_run, self.p, node)):
                self.model.do(partial(self.scheduler.dry_run, self.p, node))
        return tuple(self.model.get(partial(self.scheduler.verdict.__getitem__, node)) for node in self.on)

    def fail(self) -> tuple[object, object, object]:
        """The failure is handled: where p is nominated to in memory and at the API server, and whether it could not be scheduled."""
        failure, api = self.model.part("failure"), self.model.part("api")
        self.model.do(lambda: self.scheduler.fail(self.p))
        for step in (failure.read, failure.requeue, failure.nominate, failure.patch):
            self.model.do(partial(step, self.p))
        written = self.model.get(lambda: api.pod[self.p].nominated)
        return (
            self.model.get(lambda: self.nominator.node[self.p]),
            written,
            self.model.get(lambda: api.pod[self.p].failed),
        )


@pytest.mark.parametrize("release", MENDED)
def test_the_nomination_stays(release: str) -> None:
    attempt = Attempt(release)
    assert attempt.try_nodes(gone=True) == (NodeStatus.ERROR,)
    n0 = attempt.on[0]
    assert attempt.fail() == (n0, n0, True)


@pytest.mark.parametrize(("added", "release"), [((), "1.38.0-beta.0"), (("135486",), "1.37.2")])
def test_from_1_38_on_it_is_withdrawn(added: tuple[str, ...], release: str) -> None:
    attempt = Attempt(release, added=added)
    assert attempt.try_nodes(gone=True) == (NodeStatus.NO_CANDIDATE,)
    assert attempt.fail() == (None, None, True)


@pytest.mark.parametrize("release", MENDED)
def test_where_there_is_no_candidate_it_is_withdrawn(release: str) -> None:
    attempt = Attempt(release)
    assert attempt.try_nodes(gone=False) == (NodeStatus.NO_CANDIDATE,)
    assert attempt.fail() == (None, None, True)


@pytest.mark.parametrize("release", MENDED)
def test_of_two_nodes_one_error_is_enough(release: str) -> None:
    attempt = Attempt(release, 1)
    verdicts = attempt.try_nodes(gone=True)
    assert (verdicts[0], NodeStatus.CANDIDATE in verdicts) == (NodeStatus.ERROR, False)
    n0 = attempt.on[0]
    assert attempt.fail() == (n0, n0, True)


@pytest.mark.parametrize("release", MENDED)
def test_a_candidate_elsewhere_is_taken_for_all_that(release: str) -> None:
    attempt = Attempt(release, 2)
    assert attempt.try_nodes(gone=True) == (NodeStatus.ERROR, NodeStatus.CANDIDATE)
    assert not enabled(attempt.model, lambda: attempt.scheduler.choose_candidate(attempt.p, attempt.on[0]))
    attempt.model.do(lambda: attempt.scheduler.choose_candidate(attempt.p, attempt.on[1]))
    assert attempt.model.get(lambda: attempt.scheduler.nominee) is attempt.on[1]


def test_up_to_1_21_such_a_node_was_a_candidate() -> None:
    attempt = Attempt("1.21", 2)
    assert attempt.try_nodes(gone=True)[0] is NodeStatus.CANDIDATE


@pytest.mark.parametrize("release", ["1.22", "1.36.3"])
def test_a_node_that_only_an_extender_rejects(release: str) -> None:
    """No dry run asks an extender that filters: the pod fits beside v, and nobody would have to go."""
    gpu = "example.com/gpu"
    on = (Node(0, "n0", 4, extended={gpu: 1}),)
    pods = [Pod(0, "v", 1, node=on[0], extended={gpu: 1}), Pod(1, "p", 1, 10, extended={gpu: 1})]
    extender = ExtenderSpec(gpu, ignored_by_scheduler=True, filters=True)
    model = concrete(replace(spec(pods, on), extenders=(extender,)), release)
    scheduler, (asked,) = model.part("scheduler"), model.model.entities[HTTPExtender]
    for step in (
        lambda: scheduler.pop(pods[1]),
        lambda: scheduler.take_snapshot(pods[1]),
        lambda: scheduler.filter(pods[1], on[0]),
        lambda: scheduler.ask_extender(pods[1], asked, True),
        lambda: scheduler.reread_preemptor(pods[1]),
        lambda: scheduler.dry_run(pods[1], on[0]),
    ):
        model.do(step)
    assert model.get(lambda: scheduler.verdict[on[0]]) is NodeStatus.ERROR
    assert model.get(lambda: scheduler.phase) is Phase.FAIL
    assert model.get(lambda: scheduler.withdraws) is False


@pytest.mark.parametrize("ignorable", [False, True])
@pytest.mark.parametrize("ok", [True, False])
def test_from_1_38_on_an_extender_that_preempts_is_asked_about_the_node(ok: bool, ignorable: bool) -> None:
    """It adds no victim, or the call fails: the node is dropped, and the nomination stays as it is."""
    gpu = "example.com/gpu"
    on = (Node(0, "n0", 4, extended={gpu: 1}),)
    pods = [Pod(0, "v", 1, node=on[0]), Pod(1, "p", 1, 10, extended={gpu: 1})]
    extender = ExtenderSpec(gpu, ignored_by_scheduler=True, filters=True, preempts=True, ignorable=ignorable)
    model = concrete(replace(spec(pods, on, extender_failures=1), extenders=(extender,)), "1.38.0-beta.0")
    scheduler, (asked,) = model.part("scheduler"), model.model.entities[HTTPExtender]
    for step in (
        lambda: scheduler.pop(pods[1]),
        lambda: scheduler.take_snapshot(pods[1]),
        lambda: scheduler.verdict.__setitem__(on[0], NodeStatus.REJECTED),
        lambda: scheduler.__setattr__("phase", Phase.REREAD_PREEMPTOR),
        lambda: scheduler.reread_preemptor(pods[1]),
        lambda: scheduler.dry_run(pods[1], on[0]),
    ):
        model.do(step)
    assert model.get(lambda: scheduler.verdict[on[0]]) is NodeStatus.CANDIDATE
    assert not enabled(model, lambda: scheduler.choose_candidate(pods[1], on[0]))
    model.do(lambda: scheduler.ask_extender_about_victims(pods[1], asked, ok))
    assert model.get(lambda: (scheduler.phase, scheduler.withdraws)) == (Phase.FAIL, False)
    assert not enabled(model, lambda: scheduler.choose_candidate(pods[1], on[0]))
