"""The incremental snapshot, explored: it agrees with the cache whenever a cycle takes it; before 95130 it did not."""

import pytest

from podrace.checker.search import check
from podrace.model.cluster import build_cluster
from podrace.model.environment.objects import Pod
from podrace.model.history import resolve
from podrace.model.language import Component, Concrete, before, boolean, trace_system, when
from podrace.model.scheduler import IncrementalSnapshot
from podrace.model.scheduler.framework.status import Phase
from podrace.properties import PROPERTIES, instrument
from tests.model.clusters import nodes, spec


def cluster(*, waiting=2):
    """x fills n0; one pod after the other fits on n1, and either node may go."""
    on = nodes(1, 2)
    pods = [Pod(0, "x", 1, node=on[0]), *(Pod(i + 1, "pq"[i], 1) for i in range(waiting))]
    return spec(pods, on, node_deletions=1, pod_gc=False)


class Agreement(Component):
    """Notes a snapshot that differed from the cache when it was taken."""

    broken = boolean()

    def observe(self):
        phase = self.scheduler.phase
        taken = (before(lambda: self.scheduler.phase) == Phase.POPPED) & (phase != Phase.POPPED)
        with when(taken & (phase != Phase.IDLE) & ~self.snapshot.agrees()):
            self.broken = True


def verdict(release, *changes, waiting=2, without=()):
    """Whether every snapshot of every run agrees with the cache."""
    classes = [*resolve(release, (), without).classes, *changes]
    model = build_cluster(cluster(waiting=waiting), classes)
    monitor = model.add("agreement", Agreement)
    system = trace_system(model, "agreement", invariants={"agrees": lambda: ~monitor.broken})
    (result,) = check(system, ["agrees"])
    return result.verdict.name


def test_every_snapshot_agrees_with_the_cache():
    assert verdict("1.22", IncrementalSnapshot) == "HOLDS"


def test_before_95130_a_removed_node_stayed():
    assert verdict("1.22", without=["95130"]) == "VIOLATED"


@pytest.mark.parametrize(("without", "expected"), [((), "HOLDS"), (("95130",), "VIOLATED")])
def test_issue_95124_is_an_error_of_the_second_cycle(without, expected):
    composition = resolve("1.22", (), list(without))
    system = instrument(cluster(), composition.classes, [PROPERTIES["S-ERR"]])
    (result,) = check(system, ["S-ERR"])
    assert result.verdict.name == expected
    if result.trace is not None:
        steps = [step.step for step in result.trace.steps]
        assert steps.count("take_snapshot") == 2
        assert steps[-2:] == ["handle_node", "take_snapshot"]


def test_before_95130_a_dead_node_stayed_even_when_no_cycle_failed():
    """The first cycle copies n0 with x; the error of the second makes the list anew, but keeps the NodeInfo."""
    small = cluster(waiting=0)
    model = Concrete(build_cluster(small, resolve("1.22", (), ["95130"]).classes))
    cache, snapshot, n0 = model.part("cache"), model.part("snapshot"), small.nodes[0]
    assert model.do(snapshot.update) is False
    model.do(lambda: cache.remove_node(n0))
    assert model.do(snapshot.update) is True
    assert model.do(snapshot.update) is False
    assert model.get(lambda: [snapshot.live[n] for n in small.nodes]) == [True, True]
    assert model.get(lambda: [snapshot.listed[n] for n in small.nodes]) == [False, True]
