"""Several extenders: upstream's table of them (TestSchedulerWithExtenders, extender_test.go, 1.36), their order in preemption and when they bind, and answers that come too late."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from podrace.model.environment.cluster.placement_rules import (
    NodeTerm,
    Operator,
    PreferredNodes,
    Requirement,
    Wishes,
)
from podrace.model.environment.cluster.scope import Config
from podrace.model.environment.cluster.workloads import ExtenderSpec, Noting
from podrace.model.environment.extender import HTTPExtender
from podrace.model.environment.objects import Node, Pod
from podrace.model.language import Concrete
from podrace.model.scheduler import BindingPhase, NodeStatus, Phase
from podrace.model.scheduler.cycles.binding import ExtenderAnswer
from tests.model.clusters import concrete, enabled, spec

X = "example.com/x"
ON = (Node(0, "node1", 4, extended={X: 1}), Node(1, "node2", 4, extended={X: 1}))


def lets(*names: str, **more: Any) -> ExtenderSpec:
    """An extender that lets these nodes pass."""
    return ExtenderSpec(filters=True, nodes=frozenset(names), **more)


ALL = lets("node1", "node2")
NODE1, NODE2 = lets("node1"), lets("node2")


def scheduled(
    extenders: tuple[ExtenderSpec, ...],
    pod: Pod | None = None,
    on: tuple[Node, ...] = ON,
    fails: tuple[int, ...] = (),
    release: str = "1.36",
) -> set[str]:
    """The nodes of which one wins, where the calls of these extenders fail; none where the attempt ends."""
    pod = pod or Pod(0, "p", 1)
    of = spec([pod], on, extender_failures=4, config=Config(scored=True))
    model = concrete(replace(of, extenders=extenders), release)
    scheduler = model.part("scheduler")
    model.do(lambda: scheduler.pop(pod))
    model.do(lambda: scheduler.take_snapshot(pod))
    for node in on:
        model.do(partial(scheduler.filter, pod, node))
    asked = model.model.entities[HTTPExtender]
    for question in (scheduler.ask_extender, scheduler.ask_for_scores):
        for extender in (*asked, *asked):  # ignorable ones come last
            ok = extender.index not in fails
            if enabled(model, partial(question, pod, extender, ok)):
                model.do(partial(question, pod, extender, ok))
    return {node.name for node in on if enabled(model, partial(scheduler.assume, pod, node))}


ROWS: dict[str, tuple[Any, set[str]]] = {
    "test 1": (partial(scheduled, (ALL, ALL), fails=(1,)), set()),
    "test 2": (partial(scheduled, (ALL, lets())), set()),
    "test 3": (partial(scheduled, (ALL, NODE1)), {"node1"}),
    "test 4": (partial(scheduled, (NODE2, NODE1)), set()),
    "test 5": (partial(scheduled, (ALL, ExtenderSpec(scores=(("node1", 10),))), on=ON[:1], fails=(1,)), {"node1"}),
    "test 6": (
        partial(
            scheduled,
            (replace(ALL, scores=(("node1", 100), ("node2", 1))), replace(ALL, scores=(("node2", 100), ("node1", 1)), weight=5)),
        ),
        {"node2"},
    ),
    "test 8": (
        partial(scheduled, (replace(lets(), resource=X, scores=(("node1", 100),)),), fails=(0,)), {"node1", "node2"},
    ),
    "test 9": (partial(scheduled, (replace(ALL, ignorable=True), NODE1), fails=(0,)), {"node1"}),
    "test 10": (partial(scheduled, (ALL, NODE1)), {"node1"}),
}  # fmt: skip
"""In test 8 upstream has a plugin choose node2 in the end, and in test 11 the sampling of nodes without scores node1."""


@pytest.mark.parametrize(("row", "wins"), ROWS.values(), ids=ROWS)
def test_upstreams_table(row: Any, wins: set[str]) -> None:
    assert row() == wins


@pytest.mark.parametrize(("release", "last"), [("1.14", False), ("1.15", True), ("1.36", True)])
def test_78259_ignorable_extenders_are_called_last(release: str, last: bool) -> None:
    pod = Pod(0, "p", 1)
    model = concrete(replace(spec([pod], ON), extenders=(replace(ALL, ignorable=True), NODE1)), release)
    scheduler, (ignorable, other) = model.part("scheduler"), model.model.entities[HTTPExtender]
    model.do(lambda: scheduler.pop(pod))
    model.do(lambda: scheduler.take_snapshot(pod))
    for node in ON:
        model.do(partial(scheduler.filter, pod, node))
    assert enabled(model, partial(scheduler.ask_extender, pod, ignorable, True)) is not last
    assert enabled(model, partial(scheduler.ask_extender, pod, other, True)) is last


@pytest.mark.parametrize(("release", "even"), [("1.22", 10), ("1.36", 20)])
def test_the_scores_of_extenders_are_added_to_those_of_plugins(release: str, even: int) -> None:
    """Test 7: NodeAffinity gives node2 100 points, times its weight; each point of the extender's for node1 counts ten times, times its weight."""
    on = ON[0], Node(1, "node2", 4, labels={"disk": "ssd"})
    likes = PreferredNodes(1, NodeTerm((Requirement("disk", Operator.IN, ("ssd",)),)))
    pod = Pod(0, "p", 1, wishes=Wishes(nodes=(likes,)))
    for weight, wins in ((even - 1, {"node2"}), (even, {"node1", "node2"}), (even + 1, {"node1"})):
        of = replace(ALL, scores=(("node1", 1),), weight=weight)
        assert scheduled((of,), pod, on, release=release) == wins


def test_scores_that_are_missing_do_not_count() -> None:
    assert scheduled((replace(ALL, scores=(("node1", 1),)),)) == {"node1"}
    assert scheduled((ALL, ExtenderSpec(scores=(("node1", 1),))), fails=(1,)) == {"node1", "node2"}


def test_one_node_that_is_left_is_not_scored() -> None:
    of = replace(NODE1, scores=(("node1", 1),))
    pod = Pod(0, "p", 1)
    model = concrete(replace(spec([pod], ON, config=Config(scored=True)), extenders=(of,)), "1.36")
    scheduler, (extender,) = model.part("scheduler"), model.model.entities[HTTPExtender]
    model.do(lambda: scheduler.pop(pod))
    model.do(lambda: scheduler.take_snapshot(pod))
    for node in ON:
        model.do(partial(scheduler.filter, pod, node))
    model.do(lambda: scheduler.ask_extender(pod, extender, True))
    assert model.get(lambda: scheduler.phase) is Phase.SELECT


@pytest.mark.parametrize(("release", "status"), [("1.20", NodeStatus.REJECTED), ("1.21", NodeStatus.UNRESOLVABLE)])  # fmt: skip
def test_92866_what_an_extender_calls_unresolvable(release: str, status: NodeStatus) -> None:
    pod = Pod(0, "p", 1, 10)
    model = concrete(replace(spec([pod], ON), extenders=(lets("node1", unresolvable=True), NODE2)), release)
    scheduler, asked = model.part("scheduler"), model.model.entities[HTTPExtender]
    model.do(lambda: scheduler.pop(pod))
    model.do(lambda: scheduler.take_snapshot(pod))
    for node in ON:
        model.do(partial(scheduler.filter, pod, node))
    for extender in asked:
        model.do(partial(scheduler.ask_extender, pod, extender, True))
    found = [model.get(partial(scheduler.verdict.__getitem__, node)) for node in ON]
    assert found == [NodeStatus.REJECTED, status]
    assert model.get(lambda: scheduler.phase) is Phase.REREAD_PREEMPTOR


def bound(extenders: tuple[ExtenderSpec, ...], release: str, *answers: ExtenderAnswer) -> Concrete:
    """A binding cycle of p on node1, in which the extenders that bind answer so, one after the other."""
    pod = Pod(0, "p", 1, extended={X: 1})
    model = concrete(replace(spec([pod], ON, extender_failures=2), extenders=extenders), release)
    binding, queue = model.part("binding"), model.part("queue")
    model.do(lambda: model.part("cache").assume(pod, ON[0], queue.copy[pod]))
    model.do(lambda: binding.start(pod, ON[0], queue.copy[pod]))
    called = sorted(model.model.entities[HTTPExtender], key=lambda extender: extender.spec.ignorable)
    for extender, answer in zip(called, answers, strict=False):
        model.do(partial(binding.bind_by_extender, pod, extender, answer))
    return model


def outcome(model: Concrete) -> tuple[object, object]:
    """Where the pod is, and what its binding cycle does next."""
    (pod,) = model.model.entities[Pod]
    return model.get(lambda: (model.part("api").pod[pod].node, model.part("binding").phase[pod]))


BINDS = ExtenderSpec(binds=True, ignorable=True)
OK, FAILED, TIMED_OUT = ExtenderAnswer.ANSWERED, ExtenderAnswer.FAILED, ExtenderAnswer.TIMED_OUT


def test_the_next_extender_binds_where_one_that_is_ignorable_cannot() -> None:
    assert outcome(bound((BINDS, BINDS), "1.36", FAILED, OK)) == (ON[0], BindingPhase.NONE)
    assert outcome(bound((BINDS, BINDS), "1.36", FAILED, FAILED)) == (None, BindingPhase.BIND)
    assert outcome(bound((BINDS, replace(BINDS, ignorable=False)), "1.36", FAILED)) == (None, BindingPhase.FORGET)  # fmt: skip
    assert outcome(bound((BINDS, BINDS), "1.36", OK)) == (ON[0], BindingPhase.NONE)


def test_before_122503_the_first_one_decides() -> None:
    assert outcome(bound((BINDS, BINDS), "1.29", FAILED)) == (None, BindingPhase.FINISH_FAILED)


def test_two_extenders_may_be_at_it_at_once() -> None:
    model = bound((BINDS, BINDS), "1.36", TIMED_OUT, OK)
    (pod,) = model.model.entities[Pod]
    assert outcome(model) == (ON[0], BindingPhase.NONE)
    late = model.part("extender").asked_about(pod)[0]
    model.do(lambda: model.part("extender").land(late))
    assert outcome(model) == (ON[0], BindingPhase.NONE)


def about_victims(*extenders: ExtenderSpec) -> tuple[Concrete, Pod, tuple[Node, Node]]:
    """p would preempt v1 on node1, or v2 on node2."""
    on = Node(0, "node1", 1), Node(1, "node2", 1)
    pods = [Pod(0, "v1", 1, node=on[0]), Pod(1, "v2", 1, node=on[1]), Pod(2, "p", 1, 10)]
    model = concrete(replace(spec(pods, on, extender_failures=1), extenders=extenders), "1.36")
    scheduler, p = model.part("scheduler"), pods[2]
    model.do(lambda: scheduler.pop(p))
    model.do(lambda: scheduler.take_snapshot(p))
    for node in on:
        model.do(partial(scheduler.filter, p, node))
    model.do(lambda: scheduler.reread_preemptor(p))
    for node in on:
        model.do(partial(scheduler.dry_run, p, node))
    return model, p, on


def chosen(model: Concrete, p: Pod, on: tuple[Node, Node]) -> set[str]:
    """The nodes that preemption may choose."""
    scheduler = model.part("scheduler")
    return {node.name for node in on if enabled(model, partial(scheduler.choose_candidate, p, node))}


SAYS1, SAYS2, SAYS_ALL = (
    ExtenderSpec(preempts=True, nodes=frozenset(names)) for names in (["node1"], ["node2"], ["node1", "node2"])
)  # fmt: skip
SILENT = ExtenderSpec(filters=True)


def test_candidates_are_those_that_all_extenders_keep() -> None:
    model, p, on = about_victims(SILENT, SAYS_ALL, SAYS2)
    scheduler, (silent, first, second) = model.part("scheduler"), model.model.entities[HTTPExtender]
    ask = scheduler.ask_extender_about_victims
    assert chosen(model, p, on) == set()
    assert not enabled(model, lambda: ask(p, silent, True)), "it does not support preemption"
    assert not enabled(model, lambda: ask(p, second, True))
    model.do(lambda: ask(p, first, True))
    assert chosen(model, p, on) == set(), "the second one has a say"
    model.do(lambda: ask(p, second, True))
    assert chosen(model, p, on) == {"node2"}


def test_no_candidate_is_left_by_two_together() -> None:
    model, p, _ = about_victims(SAYS1, SAYS2)
    scheduler = model.part("scheduler")
    for extender in model.model.entities[HTTPExtender]:
        model.do(partial(scheduler.ask_extender_about_victims, p, extender, True))
    assert model.get(lambda: (scheduler.phase, scheduler.nominee)) == (Phase.FAIL, None)


@pytest.mark.parametrize(("ignorable", "left"), [(True, {"node2"}), (False, set())])
def test_a_call_about_victims_that_fails_amid_others(ignorable: bool, left: set[str]) -> None:
    model, p, on = about_victims(replace(SAYS1, ignorable=ignorable), SAYS2)
    scheduler, (first, second) = model.part("scheduler"), model.model.entities[HTTPExtender]
    if ignorable:
        model.do(lambda: scheduler.ask_extender_about_victims(p, second, True))
    model.do(lambda: scheduler.ask_extender_about_victims(p, first, False))
    assert chosen(model, p, on) == left


@pytest.mark.parametrize(("ignorable", "then"), [(True, Phase.SELECT), (False, Phase.FAIL)])
def test_an_extender_has_counted_the_pod_though_its_answer_came_too_late(
    ignorable: bool, then: Phase
) -> None:
    pod = Pod(0, "p", 1, extended={X: 1})
    of = ExtenderSpec(X, filters=True, ignorable=ignorable, noting=Noting.FILTERED)
    model = concrete(replace(spec([pod], ON, late_answers=1), extenders=(of,)), "1.36")
    scheduler, (extender,) = model.part("scheduler"), model.model.entities[HTTPExtender]
    model.do(lambda: scheduler.pop(pod))
    model.do(lambda: scheduler.take_snapshot(pod))
    for node in ON:
        model.do(partial(scheduler.filter, pod, node))
    model.do(lambda: scheduler.miss_extenders_pick(pod, ON[1], extender))
    (managed,) = model.part("extender").asked_about(pod)
    assert model.get(lambda: model.part("extender").counted[managed]) is ON[1]
    assert model.get(lambda: scheduler.phase) is then
    if ignorable:
        assert enabled(model, lambda: scheduler.assume(pod, ON[0])), (
            "nobody tells the scheduler which node it was"
        )
