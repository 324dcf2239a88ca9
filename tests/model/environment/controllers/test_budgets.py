"""Budgets that are kept: what an eviction takes, what the disruption controller counts, and what the scheduler's lister has."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from podrace.model.environment.names import Recreation
from podrace.model.environment.objects import ClusterSpec, DisruptionBudget, Node, Pod, Scope, Selector
from podrace.model.language import as_expr
from tests.model.clusters import concrete, enabled

WEB = Selector({"app": "web"})


def cluster(*budgets: DisruptionBudget, evictions: int = 3) -> ClusterSpec:
    node = Node(0, "n", 4)
    running = [Pod(i, f"w{i}", 1, 0, node=node, labels={"app": "web"}) for i in range(3)]
    pods = (*running, Pod(3, "late", 1, 0, labels={"app": "web"}), Pod(4, "p", 4, 10))
    return ClusterSpec("web", pods, (node,), Scope(disruption_controller=True, evictions=evictions), budgets)


def test_an_eviction_takes_from_the_budget_and_then_deletes() -> None:
    of = cluster(DisruptionBudget(0, "web", WEB, 1))
    model = concrete(of, "1.36")
    budgets, api, (w0, w1, _, late, _) = model.part("budgets"), model.part("api"), of.pods
    (budget,) = of.budgets
    assert [enabled(model, partial(budgets.evict, p)) for p in (w0, w1, late)] == [True, True, False]
    model.do(lambda: budgets.evict(w0))
    assert model.get(lambda: as_expr(budgets.allowed[budget])) == 0
    assert not model.get(lambda: as_expr(api.pod[w0].terminating))
    assert not enabled(model, lambda: budgets.evict(w1))  # 429: the budget has no disruption left
    model.do(lambda: budgets.finish_eviction(w0))
    assert model.get(lambda: as_expr(api.pod[w0].terminating))
    assert not enabled(model, lambda: budgets.finish_eviction(w0))


def test_the_controller_counts_who_runs_and_who_was_not_paid_for() -> None:
    of = cluster(DisruptionBudget(0, "web", WEB, 2))
    model = concrete(of, "1.36")
    budgets, api, (w0, w1, _, late, _) = model.part("budgets"), model.part("api"), of.pods
    (budget,), (node,) = of.budgets, of.nodes

    def allowed() -> object:
        return model.get(lambda: as_expr(budgets.allowed[budget]))

    assert not enabled(model, lambda: budgets.count_anew(budget))
    model.do(lambda: budgets.evict(w0))
    assert not enabled(model, lambda: budgets.count_anew(budget))  # w0 is in disruptedPods: it counts as gone
    model.do(lambda: budgets.finish_eviction(w0))
    model.do(lambda: budgets.count_anew(budget))  # only disruptedPods changes
    assert allowed() == 1
    model.do(lambda: api.delete_pod(w1))
    assert allowed() == 1  # nobody took from the budget
    model.do(lambda: budgets.count_anew(budget))
    assert allowed() == 0
    model.do(lambda: api.bind(late, node))
    model.do(lambda: budgets.count_anew(budget))
    assert allowed() == 1


def test_the_lister_has_an_older_status_until_the_informer_stores_the_newest() -> None:
    of = cluster(DisruptionBudget(0, "web", WEB, 2))
    model = concrete(of, "1.36")
    budgets, (w0, w1, *_), (budget,) = model.part("budgets"), of.pods, of.budgets
    preemption = model.part("preemption")

    def seen() -> tuple[object, object]:
        paid = model.get(lambda: preemption.takes_from(budget, w0))
        return model.get(lambda: as_expr(budgets.allowance(budget))), paid

    assert not enabled(model, lambda: budgets.store(budget))
    model.do(lambda: budgets.evict(w0))
    model.do(lambda: budgets.evict(w1))
    model.do(lambda: budgets.read())
    assert seen() == (2, True)
    model.do(lambda: budgets.store(budget))
    model.do(lambda: budgets.read())
    assert seen() == (0, False)


@pytest.mark.parametrize("release", ["1.18", "1.19"])
def test_disrupted_pods_count_since_1_19(release: str) -> None:
    of = cluster(DisruptionBudget(0, "web", WEB, 2, disrupted=["w0"]))
    model = concrete(of, release)
    model.do(model.part("budgets").read)
    takes = model.get(lambda: model.part("preemption").takes_from(of.budgets[0], of.pods[0]))
    assert takes == (release == "1.18")


def test_a_pod_with_two_budgets_cannot_be_evicted() -> None:
    of = cluster(DisruptionBudget(0, "web", WEB, 1), DisruptionBudget(1, "other", WEB, 1))
    model = concrete(of, "1.36")
    assert not any(enabled(model, partial(model.part("budgets").evict, pod)) for pod in of.pods)


def test_a_preemption_has_the_budgets_as_they_were_when_it_began() -> None:
    of = cluster(DisruptionBudget(0, "web", WEB, 2))
    model = concrete(of, "1.36")
    budgets, preemption = model.part("budgets"), model.part("preemption")
    (budget,), (w0, *_) = of.budgets, of.pods

    model.do(lambda: budgets.read())
    model.do(lambda: budgets.evict(w0))
    model.do(lambda: budgets.store(budget))
    assert model.get(lambda: as_expr(budgets.allowance(budget))) == 2
    assert model.get(lambda: preemption.takes_from(budget, w0))
    model.do(lambda: budgets.read())
    assert model.get(lambda: as_expr(budgets.allowance(budget))) == 1
    assert not model.get(lambda: preemption.takes_from(budget, w0))
    model.do(lambda: preemption.clear())
    assert model.get(lambda: as_expr(budgets.allowance(budget))) == 0


def lagging() -> ClusterSpec:
    of = cluster(DisruptionBudget(0, "web", WEB, 2))
    return replace(of, scope=replace(of.scope, disruption_controller_lags=True))


def test_a_controller_that_lags_counts_what_its_informer_has() -> None:
    of = lagging()
    model = concrete(of, "1.36")
    budgets, api, (w0, *_), (budget,) = model.part("budgets"), model.part("api"), of.pods, of.budgets
    model.do(lambda: api.remove_pod(w0))
    assert not enabled(model, lambda: budgets.count_anew(budget))
    assert not enabled(model, lambda: budgets.count_by_view(budget))
    model.do(lambda: budgets.hear(w0))
    assert not enabled(model, lambda: budgets.hear(w0))
    model.do(lambda: budgets.count_by_view(budget))
    assert model.get(lambda: as_expr(budgets.allowed[budget])) == 2
    model.do(lambda: budgets.write_status(budget))
    assert model.get(lambda: as_expr(budgets.allowed[budget])) == 1


def test_its_write_is_refused_if_an_eviction_came_between() -> None:
    of = lagging()
    model = concrete(of, "1.36")
    budgets, api, (w0, w1, *_), (budget,) = model.part("budgets"), model.part("api"), of.pods, of.budgets
    model.do(lambda: api.remove_pod(w0))
    model.do(lambda: budgets.hear(w0))
    model.do(lambda: budgets.count_by_view(budget))
    model.do(lambda: budgets.evict(w1))
    model.do(lambda: budgets.write_status(budget))
    # The eviction took one of the two; what the controller counted is gone, and it counts once more.
    assert model.get(lambda: as_expr(budgets.allowed[budget])) == 1
    assert model.get(lambda: as_expr(budgets.disrupted[budget][w1]))
    model.do(lambda: budgets.count_by_view(budget))
    model.do(lambda: budgets.write_status(budget))
    assert model.get(lambda: as_expr(budgets.allowed[budget])) == 0


def test_an_eviction_hits_whoever_has_the_name_by_then() -> None:
    node = Node(0, "n", 4)
    gone = Pod(0, "db-0", 1, node=node, graceful=False, labels={"app": "web"})
    following = Pod(1, "db-0-next", 1, graceful=False, exists=False, recreates="db-0")
    scope = Scope(disruption_controller=True, evictions=1, pod_deletions=1)
    of = ClusterSpec("db", (gone, following), (node,), scope, (DisruptionBudget(0, "web", WEB, 1),))
    model = concrete(of, "1.36")
    budgets, api = model.part("budgets"), model.part("api")
    (recreation,) = model.model.entities[Recreation]
    model.do(lambda: budgets.evict(gone))
    model.do(lambda: model.part("users").delete_pod(gone))
    model.do(lambda: model.part("stateful_sets").recreate(recreation))
    assert model.get(lambda: as_expr(api.pod[following].exists))
    model.do(lambda: budgets.finish_eviction(gone))
    assert not model.get(lambda: as_expr(api.pod[following].exists))


ON = Node(0, "n", 4)
ENDED = ClusterSpec(
    "ended",
    (
        Pod(0, "w0", 1, node=ON, finishes=True, labels={"app": "web"}),
        Pod(1, "w1", 1, node=ON, labels={"app": "web"}),
    ),
    (ON,),
    Scope(disruption_controller=True, evictions=2),
    (DisruptionBudget(0, "web", WEB, 1),),
)
"""A pod that may succeed or fail, and another of the same budget."""


@pytest.mark.parametrize(
    ("release", "left"), [("1.9", None), ("1.12", None), ("1.13", 0), ("1.18", 0), ("1.22", 0), ("1.37", 0)]
)
def test_a_pod_that_has_ended_is_evicted_without_its_budget_since_1_13(
    release: str, left: int | None
) -> None:
    """68892; `left`: what the budget, which allows nothing by then, allows after the eviction, or None if that is refused."""
    model = concrete(ENDED, release)
    budgets, api, (w0, w1), (budget,) = model.part("budgets"), model.part("api"), ENDED.pods, ENDED.budgets
    model.do(lambda: model.part("kubelet").report_finished(w0))
    model.do(lambda: budgets.count_anew(budget))
    assert model.get(lambda: as_expr(budgets.allowed[budget])) == 0
    assert not enabled(model, lambda: budgets.evict(w1))
    assert enabled(model, lambda: budgets.evict(w0)) is (left is not None)
    if left is None:
        return
    model.do(lambda: budgets.evict(w0))
    assert model.get(lambda: as_expr(budgets.allowed[budget])) == left
    assert not model.get(lambda: as_expr(budgets.disrupted[budget][w0]))
    model.do(lambda: budgets.finish_eviction(w0))
    assert not model.get(lambda: as_expr(api.remains[w0]))
    assert not enabled(model, lambda: budgets.evict(w0))  # 404


def test_a_pod_that_has_ended_took_from_its_budget_before_1_13() -> None:
    model = concrete(ENDED, "1.12")
    budgets, w0, (budget,) = model.part("budgets"), ENDED.pods[0], ENDED.budgets
    model.do(lambda: model.part("kubelet").report_finished(w0))
    assert model.get(lambda: as_expr(budgets.allowed[budget])) == 1
    model.do(lambda: budgets.evict(w0))
    assert model.get(lambda: as_expr(budgets.allowed[budget])) == 0


def test_a_pod_that_ends_while_it_is_evicted_is_deleted() -> None:
    model = concrete(ENDED, "1.37")
    budgets, api, w0 = model.part("budgets"), model.part("api"), ENDED.pods[0]
    model.do(lambda: budgets.evict(w0))
    model.do(lambda: model.part("kubelet").report_finished(w0))
    model.do(lambda: budgets.finish_eviction(w0))
    assert not model.get(lambda: as_expr(api.remains[w0]))


def test_one_that_ends_while_it_is_evicted_as_not_ready_is_not() -> None:
    """The resourceVersion is a precondition of the DELETE of a pod that was not ready."""
    scope = replace(ENDED.scope, readiness=True, readiness_losses=1)
    of = replace(ENDED, scope=scope, budgets=(DisruptionBudget(0, "web", WEB, 1, min_available=1),))
    model = concrete(of, "1.37")
    budgets, api, w0 = model.part("budgets"), model.part("api"), of.pods[0]
    model.do(lambda: budgets.lose_readiness(w0))
    model.do(lambda: budgets.evict(w0))
    assert model.get(lambda: as_expr(budgets.unready[w0]))
    model.do(lambda: model.part("kubelet").report_finished(w0))
    model.do(lambda: budgets.finish_eviction(w0))
    assert model.get(lambda: as_expr(api.remains[w0]))


@pytest.mark.parametrize("lags", [False, True])
def test_disrupted_pods_are_names_so_that_the_next_of_the_name_does_not_count(lags: bool) -> None:
    """buildDisruptedPodMap and countHealthyPods (pkg/controller/disruption, 1.36) look a pod up by its name."""
    node = Node(0, "n", 4)
    gone = Pod(0, "db-0", 1, node=node, graceful=False, labels={"app": "web"})
    following = Pod(1, "db-0-next", 1, labels={"app": "web"}, exists=False, recreates="db-0")
    scope = Scope(disruption_controller=True, disruption_controller_lags=lags, evictions=1, pod_deletions=1)
    of = ClusterSpec("db", (gone, following), (node,), scope, (DisruptionBudget(0, "web", WEB, 1),))
    model = concrete(of, "1.36")
    budgets, api, (budget,) = model.part("budgets"), model.part("api"), of.budgets
    (recreation,) = model.model.entities[Recreation]

    def paid(pod: Pod) -> object:
        return model.get(lambda: as_expr(budgets.disrupted[budget][pod]))

    model.do(lambda: budgets.evict(gone))
    assert (paid(gone), paid(following)) == (True, True)
    model.do(lambda: model.part("users").delete_pod(gone))
    model.do(lambda: model.part("stateful_sets").recreate(recreation))
    model.do(lambda: api.bind(following, node))
    if lags:
        model.do(lambda: budgets.hear(gone))
        model.do(lambda: budgets.hear(following))
        assert not enabled(model, lambda: budgets.count_by_view(budget))
    else:
        assert not enabled(model, lambda: budgets.count_anew(budget))
    assert (paid(gone), paid(following)) == (True, True)
