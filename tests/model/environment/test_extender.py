"""An extender that keeps count of a resource: what it says, what it hears, and what comes of calls that fail."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from podrace.model.environment.cluster.workloads import ExtenderSpec, Noting
from podrace.model.environment.extender import HTTPExtender, Managed
from podrace.model.environment.objects import Node, Pod
from podrace.model.language import Concrete, as_expr
from podrace.model.scheduler import BindingPhase, NodeStatus, Phase, Plugin
from podrace.model.scheduler.cycles.binding import ExtenderAnswer
from podrace.model.scheduler.framework.events import EXTENDER
from tests.model.clusters import concrete, enabled, spec

GPU = "example.com/gpu"
PLAIN = ExtenderSpec(GPU, ignored_by_scheduler=True, filters=True)


def cluster(
    extender: ExtenderSpec, release: str = "1.36", **scope: Any
) -> tuple[Concrete, list[Pod], tuple[Node, Node]]:
    """Two nodes with a GPU each, the first one's taken by v; p, which is more important, waits for one."""
    on = Node(0, "n0", 4, extended={GPU: 1}), Node(1, "n1", 4, extended={GPU: 1})
    pods = [
        Pod(0, "v", 1, node=on[0], extended={GPU: 1}),
        Pod(1, "p", 1, 10, extended={GPU: 1}),
        Pod(2, "q", 1),
    ]
    model = concrete(
        replace(spec(pods, on, **{"extender_failures": 2, **scope}), extenders=(extender,)), release
    )
    return model, pods, on


def to_the_call(model: Concrete, pod: Pod, on: tuple[Node, Node]) -> None:
    """The scheduling cycle of the pod, until the filters are through."""
    scheduler = model.part("scheduler")
    model.do(lambda: scheduler.pop(pod))
    model.do(lambda: scheduler.take_snapshot(pod))
    for node in on:
        model.do(partial(scheduler.filter, pod, node))


def verdicts(model: Concrete, on: tuple[Node, Node]) -> list[object]:
    """What is known of each node."""
    scheduler = model.part("scheduler")
    return [model.get(partial(scheduler.verdict.__getitem__, node)) for node in on]


def only(model: Concrete) -> HTTPExtender:
    """The extender, where there is one."""
    (extender,) = model.model.entities[HTTPExtender]
    return extender


def phase(model: Concrete) -> object:
    """What the scheduling cycle does next."""
    return model.get(lambda: model.part("scheduler").phase)


def is_noted(model: Concrete) -> object:
    """Whether the attempt notes that an extender rejected the pod."""
    (plugin,) = [p for p in model.model.entities[Plugin] if p.name == EXTENDER]
    return model.get(lambda: model.part("scheduler").rejected_by[plugin])


def counted(model: Concrete, pod: Pod) -> object:
    """The node on which the extender counts the pod."""
    (managed,) = [m for m in model.model.entities[Managed] if m.pod is pod]
    return model.get(lambda: model.part("extender").counted[managed])


@pytest.mark.parametrize("release", ["1.13", "1.22", "1.29", "1.36"])
def test_it_is_asked_when_the_plugins_have_filtered_and_leaves_the_nodes_with_room(release: str) -> None:
    model, (_, p, _), on = cluster(PLAIN, release)
    to_the_call(model, p, on)
    assert (phase(model), verdicts(model, on)) == (Phase.EXTENDERS, [NodeStatus.FEASIBLE] * 2)
    scheduler = model.part("scheduler")
    assert not enabled(model, lambda: scheduler.assume(p, on[1]))
    model.do(lambda: scheduler.ask_extender(p, only(model), True))
    assert (phase(model), verdicts(model, on)) == (Phase.SELECT, [NodeStatus.REJECTED, NodeStatus.FEASIBLE])
    assert counted(model, p) is None, "it learns where the pod is from its informer"


def test_a_pod_that_asks_for_nothing_of_it_is_none_of_its_business() -> None:
    model, (_, _, q), on = cluster(PLAIN)
    scheduler = model.part("scheduler")
    to_the_call(model, model.model.entities[Pod][1], on)
    assert not enabled(model, lambda: scheduler.ask_extender(q, only(model), True))


def test_a_resource_that_the_scheduler_does_not_ignore_is_looked_at_by_both() -> None:
    model, (_, p, _), on = cluster(replace(PLAIN, ignored_by_scheduler=False))
    to_the_call(model, p, on)
    assert verdicts(model, on) == [NodeStatus.REJECTED, NodeStatus.FEASIBLE]


@pytest.mark.parametrize("ignored", [True, False])
def test_the_pre_check_of_a_new_node_looks_at_what_the_plugin_is_to_ignore(ignored: bool) -> None:
    on = Node(0, "n0", 4), Node(1, "n1", 4, extended={GPU: 1})
    p = Pod(0, "p", 1, extended={GPU: 1})
    extender = replace(PLAIN, ignored_by_scheduler=ignored)
    model = concrete(replace(spec([p], on), extenders=(extender,)), "1.31")
    snapshot, filters = model.part("snapshot"), model.part("filters")
    model.do(snapshot.update)

    def answers(ask: Any) -> Any:
        return model.get(lambda: [ask(p, node, snapshot.placement()) for node in on])

    assert answers(filters.fits) == [ignored, True]
    assert answers(filters.admits) == [False, True]


@pytest.mark.parametrize(("ignorable", "then"), [(True, Phase.SELECT), (False, Phase.FAIL)])
def test_a_filter_call_that_fails(ignorable: bool, then: Phase) -> None:
    model, (_, p, _), on = cluster(replace(PLAIN, ignorable=ignorable))
    to_the_call(model, p, on)
    model.do(lambda: model.part("scheduler").ask_extender(p, only(model), False))
    assert (phase(model), verdicts(model, on)) == (then, [NodeStatus.FEASIBLE] * 2)
    assert model.get(lambda: model.part("scheduler").error) is not ignorable


@pytest.mark.parametrize(("release", "said"), [("1.25", True), ("1.26", False), ("1.36", False)])
def test_a_pod_whose_extender_fails_is_not_said_to_be_unschedulable(release: str, said: bool) -> None:
    model, (_, p, _), on = cluster(PLAIN, release)
    to_the_call(model, p, on)
    scheduler, failure = model.part("scheduler"), model.part("failure")
    model.do(lambda: scheduler.ask_extender(p, only(model), False))
    for step in (scheduler.fail, failure.read, failure.requeue, failure.nominate, failure.patch):
        model.do(partial(step, p))
    assert model.get(lambda: as_expr(model.part("api").pod[p].failed)) is said


@pytest.mark.parametrize("extender", [True, False])
def test_who_waits_for_an_extender_hears_of_nodes_that_go(extender: bool) -> None:
    on, p = Node(0, "n0", 4), Pod(0, "p", 1, extended={GPU: 1})
    made = spec([p], (on,), node_deletions=1)
    model = concrete(replace(made, extenders=(PLAIN,) if extender else ()), "1.36")
    assert model.get(lambda: as_expr(model.part("handlers").hears_of_removals())) is extender


@pytest.mark.parametrize(("release", "noted"), [("1.28", False), ("1.36", True)])
def test_no_node_is_left_and_the_extender_is_noted_as_who_rejected_the_pod(release: str, noted: bool) -> None:
    on = Node(0, "n0", 4), Node(1, "n1", 4)
    p = Pod(0, "p", 1, extended={GPU: 1})
    model = concrete(replace(spec([p], on), extenders=(PLAIN,)), release)
    to_the_call(model, p, on)
    model.do(lambda: model.part("scheduler").ask_extender(p, only(model), True))
    assert (phase(model), verdicts(model, on)) == (Phase.REREAD_PREEMPTOR, [NodeStatus.REJECTED] * 2)
    assert is_noted(model) is noted


@pytest.mark.parametrize("ok", [True, False])
def test_of_the_nominated_node_alone_it_may_send_the_cycle_to_all_nodes(ok: bool) -> None:
    on = Node(0, "n0", 4), Node(1, "n1", 4, extended={GPU: 1})
    p = Pod(0, "p", 1, extended={GPU: 1})
    model = concrete(replace(spec([p], on, extender_failures=1), extenders=(PLAIN,)), "1.36")
    scheduler, handlers = model.part("scheduler"), model.part("handlers")
    model.do(lambda: model.part("api").set_nomination(p, on[0]))
    model.do(lambda: handlers.handle_for_queue(p))
    model.do(lambda: handlers.update_queue(p))
    model.do(lambda: scheduler.pop(p))
    model.do(lambda: scheduler.take_snapshot(p))
    model.do(lambda: scheduler.filter_nominated(p, on[0]))
    assert phase(model) is Phase.EXTENDERS_NOMINATED
    model.do(lambda: scheduler.ask_extender(p, only(model), ok))
    assert (phase(model), verdicts(model, on)) == (Phase.FILTERING, [NodeStatus.UNTRIED] * 2)
    assert not is_noted(model)
    assert not model.get(lambda: scheduler.error)


def test_one_that_picks_counts_the_pod_at_once() -> None:
    model, (_, p, _), on = cluster(replace(PLAIN, noting=Noting.FILTERED))
    to_the_call(model, p, on)
    scheduler = model.part("scheduler")
    assert not enabled(model, lambda: scheduler.let_extender_pick(p, on[0], only(model)))
    assert not enabled(model, lambda: scheduler.ask_extender(p, only(model), True)), (
        "there is a node with room"
    )
    model.do(lambda: scheduler.let_extender_pick(p, on[1], only(model)))
    assert (phase(model), counted(model, p)) == (Phase.SELECT, on[1])
    (managed,) = [m for m in model.model.entities[Managed] if m.pod is p]
    assert not enabled(model, lambda: model.part("extender").hear(managed)), (
        "of a pod that waits it hears nothing"
    )


def test_it_hears_of_a_pod_that_is_gone_some_time_later() -> None:
    model, (v, _, _), on = cluster(PLAIN)
    (managed,) = [m for m in model.model.entities[Managed] if m.pod is v]
    extender = model.part("extender")
    assert not enabled(model, lambda: extender.hear(managed))
    model.do(lambda: model.part("api").remove_pod(v))
    assert counted(model, v) is on[0]
    model.do(lambda: extender.hear(managed))
    assert counted(model, v) is None


def to_the_binding(model: Concrete, pod: Pod, node: Node) -> Any:
    """A binding cycle of the pod begins."""
    binding = model.part("binding")
    model.do(lambda: model.part("cache").assume(pod, node, model.part("queue").copy[pod]))
    model.do(lambda: binding.start(pod, node, model.part("queue").copy[pod]))
    return binding


BINDER = replace(PLAIN, binds=True, noting=Noting.BOUND)


def test_it_binds_in_place_of_the_plugins() -> None:
    model, (_, p, _), on = cluster(BINDER)
    binding = to_the_binding(model, p, on[1])
    model.do(lambda: binding.bind_by_extender(p, only(model), ExtenderAnswer.ANSWERED))
    assert model.get(lambda: model.part("api").pod[p].node) is on[1]
    assert (counted(model, p), model.get(lambda: binding.phase[p])) == (on[1], BindingPhase.NONE)


def test_it_does_not_bind_where_it_counts_no_room() -> None:
    model, (_, p, _), on = cluster(BINDER)
    binding = to_the_binding(model, p, on[0])
    model.do(lambda: binding.bind_by_extender(p, only(model), ExtenderAnswer.ANSWERED))
    assert model.get(lambda: model.part("api").pod[p].node) is None
    assert model.get(lambda: binding.phase[p]) is BindingPhase.FORGET


@pytest.mark.parametrize(
    ("release", "then"),
    [("1.29", BindingPhase.FORGET), ("1.30", BindingPhase.BIND), ("1.36", BindingPhase.BIND)],
)
def test_122503_the_plugins_bind_where_an_extender_that_is_ignorable_cannot(
    release: str, then: BindingPhase
) -> None:
    model, (_, p, _), on = cluster(replace(BINDER, ignorable=True), release)
    binding = to_the_binding(model, p, on[1])
    model.do(lambda: binding.bind_by_extender(p, only(model), ExtenderAnswer.FAILED))
    found = model.get(lambda: binding.phase[p])
    assert found is then or (release == "1.29" and found is BindingPhase.FINISH_FAILED)


def test_a_call_that_timed_out_goes_on() -> None:
    model, (_, p, _), on = cluster(BINDER)
    binding = to_the_binding(model, p, on[1])
    model.do(lambda: binding.bind_by_extender(p, only(model), ExtenderAnswer.TIMED_OUT))
    assert model.get(lambda: model.part("api").pod[p].node) is None
    (managed,) = [m for m in model.model.entities[Managed] if m.pod is p]
    model.do(lambda: model.part("extender").land(managed))
    assert model.get(lambda: model.part("api").pod[p].node) is on[1]
    assert not enabled(model, lambda: model.part("extender").land(managed))


def to_the_victims(model: Concrete, pods: list[Pod], on: tuple[Node, Node]) -> Any:
    """The dry runs of p's preemption have found v on n0 as a candidate's victim, and that n1 is none."""
    _, p, _ = pods
    scheduler = model.part("scheduler")
    to_the_call(model, p, on)
    model.do(lambda: scheduler.reread_preemptor(p))
    for node in on:
        if enabled(model, partial(scheduler.dry_run, p, node)):
            model.do(partial(scheduler.dry_run, p, node))
    return scheduler


def crowded(extender: ExtenderSpec, release: str) -> tuple[Concrete, list[Pod], tuple[Node, Node]]:
    """p fits on n0 only, once v is gone, as far as plugins can tell."""
    on = Node(0, "n0", 1, extended={GPU: 1}), Node(1, "n1", 0, extended={GPU: 1})
    pods = [
        Pod(0, "v", 1, node=on[0]),
        Pod(1, "p", 1, 10, extended={GPU: 1}),
        Pod(2, "w", 0, 10, node=on[0], extended={GPU: 1}),
    ]
    of = replace(spec(pods, on, extender_failures=1), extenders=(extender,))
    return concrete(of, release), pods, on


PREEMPTS = replace(PLAIN, preempts=True)


@pytest.mark.parametrize("release", ["1.22", "1.36"])
def test_it_keeps_no_candidate_on_which_the_victims_would_not_help(release: str) -> None:
    model, pods, on = crowded(PREEMPTS, release)
    scheduler = to_the_victims(model, pods, on)
    p = pods[1]
    assert verdicts(model, on)[0] is NodeStatus.CANDIDATE
    assert not enabled(model, lambda: scheduler.choose_candidate(p, on[0]))
    model.do(lambda: scheduler.ask_extender_about_victims(p, only(model), True))
    assert (phase(model), model.get(lambda: scheduler.nominee)) == (Phase.FAIL, None)


@pytest.mark.parametrize(("ignorable", "then"), [(True, Phase.EXTENDERS_PREEMPT), (False, Phase.FAIL)])
def test_a_call_about_victims_that_fails(ignorable: bool, then: Phase) -> None:
    model, pods, on = crowded(replace(PREEMPTS, ignorable=ignorable), "1.36")
    scheduler = to_the_victims(model, pods, on)
    model.do(lambda: scheduler.ask_extender_about_victims(pods[1], only(model), False))
    assert phase(model) is then
    assert enabled(model, lambda: scheduler.choose_candidate(pods[1], on[0])) is ignorable


@pytest.mark.parametrize(
    ("release", "asked"), [("1.19", True), ("1.20", False), ("1.21", False), ("1.22", True)]
)
def test_103019_nobody_asked_about_victims_in_1_20_and_1_21(release: str, asked: bool) -> None:
    model, pods, on = crowded(PREEMPTS, release)
    scheduler = to_the_victims(model, pods, on)
    assert enabled(model, lambda: scheduler.choose_candidate(pods[1], on[0])) is not asked
