"""A pod that is tried while a NodeInfo holds its own copy, and a nominated pod that a NodeInfo holds already: both count."""

from __future__ import annotations

from typing import Any

import pytest

from podrace.checker.search import check
from podrace.model.environment.cluster.placement_rules import SpreadConstraint
from podrace.model.environment.objects import Node, Pod, PodCopy, Selector, Term
from podrace.model.history import resolve
from podrace.model.scheduler.framework.status import Code
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from podrace.properties import PROPERTIES, instrument
from tests.model.clusters import concrete, nodes, spec

HOST = "kubernetes.io/hostname"
WEB = {"app": "web"}


def codes_while_assumed(pod: Pod, on: tuple[Node, ...], others: list[Pod] | None = None) -> list[Code]:
    """What the filters say of the pod on each node while it is assumed on the first."""
    model = concrete(spec([pod, *(others or [])], on), "1.34")
    snapshot, filters = model.part("snapshot"), model.part("filters")
    model.do(lambda: model.part("cache").assume(pod, on[0], PodCopy()))
    model.do(snapshot.update)
    return model.get(lambda: [filters.run(pod, n, snapshot.placement()) for n in on])


FULL, FREE, NEVER = Code.UNSCHEDULABLE, Code.SUCCESS, Code.UNRESOLVABLE


def test_its_requests_count_on_the_node_where_it_is_assumed() -> None:
    assert codes_while_assumed(Pod(0, "a", 2), nodes(3, 3)) == [FULL, FREE]
    assert codes_while_assumed(Pod(0, "a", 2), nodes(4, 3)) == [FREE, FREE]


def test_it_takes_one_of_the_pods_that_a_node_admits() -> None:
    on = (Node(0, "a", 9, pods=1), Node(1, "b", 9, pods=1))
    assert codes_while_assumed(Pod(0, "a", 1), on) == [FULL, FREE]


def test_it_keeps_itself_away_by_its_own_anti_affinity_and_draws_itself_by_affinity() -> None:
    keeps_apart, draws = Term(WEB, HOST, anti=True), Term(WEB, HOST)
    assert codes_while_assumed(Pod(0, "a", 1, labels=WEB, terms=(keeps_apart,)), nodes(4, 4)) == [FULL, FREE]
    assert codes_while_assumed(Pod(0, "a", 1, labels=WEB, terms=(draws,)), nodes(4, 4)) == [FREE, NEVER]


def test_topology_spread_counts_it() -> None:
    constraint = SpreadConstraint(HOST, Selector(WEB))
    assert codes_while_assumed(Pod(0, "a", 1, labels=WEB, spread=(constraint,)), nodes(4, 4)) == [FULL, FREE]


def nominated_and_there(nominated: Pod, pod: Pod, on: tuple[Node, ...], where: Any, release: str) -> Code:
    """What the filters say of the pod on the first node, to which the other is nominated while it is assumed there."""
    model = concrete(spec([nominated, pod], on), release)
    snapshot, filters = model.part("snapshot"), model.part("filters")
    model.do(lambda: model.part("cache").assume(nominated, on[0], PodCopy()))
    model.do(snapshot.update)
    model.do(lambda: model.part("queue").put(nominated, where, PodCopy()))
    model.do(lambda: model.part("nominator").add(nominated, on[0], None))
    return model.get(lambda: filters.run_with_nominated(pod, on[0], snapshot.placement()))


@pytest.mark.parametrize("release", ["1.13", "1.21", "1.34", "1.36"])
def test_a_nominated_pod_that_is_assumed_counts_twice(release: str) -> None:
    high, low = Pod(0, "high", 1, 10), Pod(1, "low", 1, 0)
    assert nominated_and_there(high, low, nodes(2), SubQueue.ACTIVE, release) is FULL
    assert nominated_and_there(high, low, nodes(3), SubQueue.ACTIVE, release) is FREE
    assert nominated_and_there(high, low, (Node(0, "n", 9, pods=2),), SubQueue.ACTIVE, release) is FULL
    spread = Pod(1, "low", 1, 0, labels=WEB, spread=(SpreadConstraint(HOST, Selector(WEB), max_skew=2),))
    on = (*nodes(9), Node(1, "empty", 9))
    twice = nominated_and_there(Pod(0, "high", 1, 10, labels=WEB), spread, on, SubQueue.ACTIVE, release)
    assert twice is (FREE if release == "1.13" else FULL)


@pytest.mark.parametrize(("release", "found"), [("1.30", FULL), ("1.31", FREE)])
def test_125820_a_nominated_pod_in_no_sub_queue_is_a_bare_name(release: str, found: Code) -> None:
    high, low = Pod(0, "high", 1, 10), Pod(1, "low", 1, 0)
    assert nominated_and_there(high, low, nodes(2), SubQueue.NONE, release) is found
    only_counted = (Node(0, "n", 9, pods=2),)
    assert nominated_and_there(high, low, only_counted, SubQueue.NONE, release) is FULL, "priority 0"
    above = Pod(1, "low", 1, 1)
    assert nominated_and_there(high, above, only_counted, SubQueue.NONE, release) is found


def judged(
    pods: list[Pod], on: tuple[Node, ...], prop: str, release: str, extra: tuple[str, ...], **scope: Any
) -> Any:
    """Verdict, number of states, and length of the run."""
    cluster = spec(pods, on, **scope)
    (found,) = check(instrument(cluster, resolve(release, extra).classes, [PROPERTIES[prop]]), [prop])
    return found.verdict.name, found.counts.states, None if found.trace is None else len(found.trace.steps)


@pytest.mark.parametrize(
    ("extra", "expected"),
    [((), ("HOLDS", 263_118)), (("109245",), ("HOLDS", 260_166))],
)
def test_a_bound_pod_that_is_tried_again_preempts_on_no_other_node(
    extra: tuple[str, ...], expected: tuple[str, int]
) -> None:
    """x is nominated to y and bound there; tried from an old copy, it finds itself in the way. Preemption reads it again, as bound to y.

    Were it to preempt on z, q, which fits there, would wait for ever without 109245, because nobody takes that nomination back.
    """
    y, z = on = (Node(0, "y", 2), Node(1, "z", 2))
    pods = [
        Pod(0, "v", 2, 0, node=y, graceful=False),
        Pod(1, "w", 2, 5, node=z, graceful=False),
        Pod(2, "x", 2, 10),
        Pod(3, "q", 2, 0),
    ]
    assert judged(pods, on, "L-PEND", "1.22", extra, pod_events=3, fair_flush=True)[:2] == expected


@pytest.mark.parametrize(("release", "states", "steps"), [("1.32", 5_222, 39), ("1.35", 7_548, 42)])
def test_a_pod_that_is_assumed_and_nominated_keeps_out_one_that_fits(
    release: str, states: int, steps: int
) -> None:
    """a is queued, and nominated, while it is assumed: b, which fits beside it, is parked and never woken."""
    on = nodes(2)
    pods = [Pod(0, "v", 2, 0, node=on[0], graceful=False), Pod(1, "a", 1, 10), Pod(2, "b", 1, 0)]
    found = judged(pods, on, "S-STUCK", release, (), pod_events=2, flush=False)
    assert found == ("VIOLATED", states, steps)
