"""Pods that succeed or fail: gone for the scheduler, and still there for a call that names them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from podrace.checker.search import check
from podrace.model.environment.objects import DisruptionBudget, Pod, Selector
from podrace.model.environment.watch import Handler
from podrace.model.history import resolve
from podrace.properties import PROPERTIES, instrument
from podrace.properties.placement.preemptions import BudgetsCounted
from podrace.scenarios import parse_scenario
from tests.model.clusters import concrete, nodes, spec

HAZARD = Path(__file__).parents[2] / "scenarios" / "hazards" / "finished-victim.yaml"

CLUSTER = """
nodes: {n1: {cpu: 1}}
pods:
  job: {cpu: 1, nodeName: n1FINISHES}
  q: {cpu: 1}
scope: {pod_events: 2, flush: false}
"""


def answer(text: str, identifier: str, release: str) -> tuple[str, int | None, int | None]:
    found = parse_scenario(text)
    system = instrument(found.spec, resolve(release).classes, [PROPERTIES[identifier]])
    (result,) = check(system, [identifier])
    steps = None if result.trace is None else len(result.trace.steps)
    return result.verdict.name, result.counts.states, steps


@pytest.mark.parametrize(
    ("release", "verdict", "states", "steps"),
    [
        ("1.13", "HOLDS", 37456, None),
        ("1.22", "HOLDS", 1910, None),
        ("1.31", "HOLDS", 1944, None),
        # From 1.33 on, victims are deleted by a goroutine of their own.
        ("1.32", "HOLDS", 480, None),
        ("1.33", "VIOLATED", 489, 19),
        ("1.34", "VIOLATED", 451, 19),
        ("1.34.4", "VIOLATED", 489, 19),
        ("1.35", "VIOLATED", 542, 20),
        ("1.36.3", "VIOLATED", 535, 20),
    ],
)
def test_a_victim_that_finishes_wakes_nobody_once_more(
    release: str, verdict: str, states: int, steps: int | None
) -> None:
    assert answer(HAZARD.read_text(encoding="utf-8"), "S-STUCK", release) == (verdict, states, steps)


@pytest.mark.parametrize("release", ["1.8", "1.13", "1.22", "1.36"])
def test_a_pod_that_finishes_gives_its_room_back(release: str) -> None:
    """Without that, q never fits; with it, q is woken, and the room is never given twice."""
    never, may = CLUSTER.replace("FINISHES", ""), CLUSTER.replace("FINISHES", ", finishes: true")
    for text, binds in ((never, False), (may, True)):
        assert answer(text, "S-CAP", release)[0] == "HOLDS"
        assert answer(text, "S-STUCK", release)[0] == "HOLDS"
        found = parse_scenario(text)
        system = instrument(found.spec, resolve(release).classes, [PROPERTIES["S-BIND"]])
        (result,) = check(system, ["S-BIND"])
        assert result.vacuous is (not binds)


def test_the_watch_tells_of_a_deletion_and_the_object_is_deleted_unseen() -> None:
    (on,) = nodes(2)
    model = concrete(spec([Pod(0, "job", 1, node=on, finishes=True)], (on,), pod_deletions=1), "1.36")
    (job,) = model.model.entities[Pod]
    api, watch, kubelet = (model.part(name) for name in ("api", "pod_watch", "kubelet"))
    model.do(partial(kubelet.report_finished, job))
    event = model.get(lambda: [watch.log.length, watch.log.head.pod, watch.log.head.object.exists])
    assert event == [1, job, False]
    assert model.get(lambda: watch.seen[Handler.CACHE][job].exists) is True
    assert model.get(lambda: [api.finds(job), api.pod[job].exists]) == [True, False]
    model.do(partial(api.evict_pod, job))
    assert model.get(lambda: [watch.log.length, api.finds(job), api.finished[job]]) == [1, False, True]


def test_that_a_pod_finishes_is_no_disruption() -> None:
    (on,) = nodes(4)
    pods = [
        Pod(i, name, 1, node=on, labels={"app": "web"}, finishes=True, graceful=False)
        for i, name in enumerate("ab")
    ]
    cluster = spec(pods, (on,), pod_deletions=1)
    model = concrete(
        type(cluster)(
            "test",
            cluster.pods,
            cluster.nodes,
            cluster.scope,
            (DisruptionBudget(0, "web", Selector({"app": "web"}), 1),),
        ),
        "1.32",
    )
    monitor = model.model.add("S-PDB", BudgetsCounted)
    assert isinstance(monitor, BudgetsCounted)
    a, b = model.model.entities[Pod]
    model.do(partial(model.part("kubelet").report_finished, a))
    model.do(partial(model.part("users").delete_pod, b))
    assert model.get(lambda: [monitor.gone(a), monitor.gone(b)]) == [False, True]
