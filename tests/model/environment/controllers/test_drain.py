"""An autoscaler that moves pods: which nodes it drains, whom it evicts, and when it gives up."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.model.language import Concrete, any_of, as_expr
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import parse_scenario
from tests.model.clusters import concrete, enabled

TEXT = """
release: "1.36.0"
nodes:
  n: {cpu: 4, updates: {leaving: {taints: [{key: ToBeDeletedByClusterAutoscaler, effect: NoSchedule}]}}}
  m: {cpu: 3, updates: {leaving: {taints: [{key: ToBeDeletedByClusterAutoscaler, effect: NoSchedule}]}}}
pods:
  a: {cpu: 1, nodeName: n, labels: {app: web}, terminationGracePeriodSeconds: 0}
  b: {cpu: 1, nodeName: n, labels: {app: web}, terminationGracePeriodSeconds: 0}
  c: {cpu: 1, nodeName: m}
  MORE
controllers:
  web: {kind: Deployment, replicas: 2, pods: [a, b]}
REST
scope: {pod_events: 3, node_events: 2, scale_downs: 1, scale_down_taints: true, scale_down_drains: true, flush: falseSCOPE}
"""
KEPT = ", disruption_controller: true"


def budget(allowed: int) -> str:
    return f"podDisruptionBudgets: {{web: {{selector: {{matchLabels: {{app: web}}}}, disruptionsAllowed: {allowed}}}}}"


def cluster(
    more: str = "", rest: str = "", scope: str = "", **words: tuple[str, str]
) -> tuple[Any, Concrete]:
    text = TEXT.replace("MORE", more).replace("REST", rest).replace("SCOPE", scope)
    for old, new in words.values():
        text = text.replace(old, new)
    of = parse_scenario(text).spec
    return of, concrete(of, "1.36")


def finds(of: Any, model: Concrete) -> list[bool]:
    """For each node, whether the autoscaler finds that its pods can be moved."""
    drain = model.part("drain")
    return [enabled(model, partial(drain.find_movable, node)) for node in of.nodes]


@pytest.mark.parametrize(
    ("more", "rest", "scope", "expected"),
    [
        ("", "", "", [True, False]),  # c belongs to nobody who would recreate it
        ("d: {cpu: 1}", "", "", [False, False]),  # who waits needs a place, too
        ("d: {cpu: 1, exists: false}", "", "", [True, False]),
        ("d: {cpu: 1, schedulerName: other}", "", "", [True, False]),
        ("", budget(1), KEPT, [False, False]),
        ("", budget(2), KEPT, [True, False]),
    ],
)
def test_which_nodes_are_drained(more: str, rest: str, scope: str, expected: list[bool]) -> None:
    assert finds(*cluster(more, rest, scope)) == expected


def test_all_pods_have_to_have_room_at_once() -> None:
    assert finds(*cluster(smaller=("m: {cpu: 3,", "m: {cpu: 2,"))) == [False, False]


def test_an_empty_node_is_not_drained() -> None:
    of, model = cluster()
    for pod in of.pods[:2]:
        model.do(partial(model.part("api").remove_pod, pod))
    assert finds(of, model) == [False, False]
    assert enabled(model, lambda: model.part("autoscaler").find_empty(of.nodes[0]))


def drained(more: str = "", rest: str = "", scope: str = "") -> tuple[Any, Concrete]:
    """A cluster in which the autoscaler has listed the pods of the first node."""
    of, model = cluster(more, rest, scope)
    drain, autoscaler, node = model.part("drain"), model.part("autoscaler"), of.nodes[0]
    for do in (drain.find_movable, autoscaler.put_taint, autoscaler.look_again):
        model.do(partial(do, node))
    return of, model


def test_the_node_goes_once_those_are_gone_who_were_listed() -> None:
    of, model = drained()
    (n, _), (a, b, _) = of.nodes, of.pods
    drain, autoscaler, api = (model.part(name) for name in ("drain", "autoscaler", "api"))
    assert not enabled(model, lambda: autoscaler.spare(n))
    model.do(lambda: drain.evict(a))
    assert not enabled(model, lambda: autoscaler.take_away(n))
    model.do(lambda: api.remove_pod(b))
    assert not enabled(model, lambda: drain.evict(b))
    model.do(lambda: drain.miss(b))
    model.do(lambda: autoscaler.take_away(n))
    assert not model.get(lambda: as_expr(api.node_exists[n]))
    assert not model.get(lambda: drain.draining[n] | any_of(drain.listed[pod] for pod in (a, b)))


def test_a_budget_that_is_used_up_meanwhile_ends_the_drain() -> None:
    of, model = drained("", budget(2), f"{KEPT}, evictions: 1")
    (n, _), (a, b, _) = of.nodes, of.pods
    drain, budgets, api = (model.part(name) for name in ("drain", "budgets", "api"))
    model.do(lambda: drain.evict(a))
    assert not enabled(model, lambda: drain.give_up(n))
    model.do(lambda: budgets.finish_eviction(a))
    (web,) = of.budgets
    model.do(lambda: budgets.take(web, a))
    assert not enabled(model, lambda: drain.evict(b))
    model.do(lambda: drain.give_up(n))
    assert model.get(lambda: as_expr(api.node_exists[n]))
    assert not model.get(lambda: as_expr(model.part("autoscaler").doomed[n]))
    assert not model.get(lambda: model.part("autoscaler").is_tainted(n))
    assert not model.get(lambda: as_expr(drain.listed[b]))


def test_no_budget_is_overdrawn_by_a_drain() -> None:
    """The pod may be missing: a drain, another eviction, and the controller that counts."""
    of, _ = cluster(
        "",
        budget(1),
        f"{KEPT}, evictions: 1",
        one=("  b: {cpu: 1, nodeName: n, labels: {app: web}, terminationGracePeriodSeconds: 0}\n", ""),
        owned=("replicas: 2, pods: [a, b]", "replicas: 1, pods: [a]"),
        alone=("  c: {cpu: 1, nodeName: m}\n", ""),
    )
    (found,) = check(instrument(of, resolve("1.36").classes, [PROPERTIES["S-EVICT"]]), ["S-EVICT"])
    assert (found.verdict.name, found.counts.states, found.vacuous) == ("HOLDS", 20504, False)
