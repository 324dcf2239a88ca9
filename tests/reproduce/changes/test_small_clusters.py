"""Small clusters, and what the model has in them without an upstream change."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

import pytest

from podrace.analysis.request.method import USUAL
from podrace.checker.core.exploration import Budget
from podrace.checker.trace.execution import replay
from podrace.model.scheduler.queue.sub_queues import SubQueue
from podrace.reproduce.changes import probes as probing
from podrace.reproduce.changes.departures import playable
from podrace.reproduce.changes.probes import MORE_RUNS, RUNS, _runs, probes, runs_while_one_is_parked
from podrace.reproduce.changes.replays import counterexamples, finding_in_base
from podrace.reproduce.changes.small_clusters import (
    PODS,
    UPDATES,
    known_fixes,
    small_clusters,
    smallest_clusters,
)
from podrace.reproduce.modules.module import parse_version
from podrace.reproduce.random_runs.random_runs import RandomRun
from podrace.scenarios import Scenario, shipped

ADDING = ["scheduler.queue.nominator.Nominator.add"]


def test_the_clusters_are_the_scenarios_that_they_are_said_to_be() -> None:
    found = list(small_clusters())
    assert len({one.name for one in found}) == len(found) == len(PODS) * len(UPDATES)
    assert all(one.spec.scope.pod_deletions == 1 for one in found)
    for one in found:
        update = one.name.split("-", len([*takewhile(lambda part: len(part) == 1, one.name.split("-"))]))[-1]
        assert update == "deleted" or getattr(one.spec.scope, update.replace("-", "_")) == 1


def test_the_properties_of_the_races_of_a_change_come_first() -> None:
    asked = list(known_fixes(shipped(), ADDING))
    first = list(takewhile(lambda one: len(one.properties) < 5, asked))
    assert {one.without for one in first} >= {("109245",), ("102498",)}
    assert {one.properties for one in first if one.without == ("109245",)} == {("S-NOMLIVE",)}
    assert len({one.without for one in asked}) > len({one.without for one in first})
    assert not list(known_fixes(shipped(), []))


def test_a_fix_that_is_seen_only_together_with_a_fault() -> None:
    """109245 on 1.36.3: no scenario shows it any more, and a pod that somebody else binds does."""
    version = parse_version("v1.36.3")
    found = {
        update: [
            one.about["property"]
            for question in known_fixes(shipped(), ADDING)
            if question.scenario.name == f"v-p-{update}" and question.without == ("109245",)
            and question.properties == ("S-NOMLIVE",)
            for one in (
                made.asked for made in counterexamples(question, version, "1.36.3", Budget(), USUAL)
            )
        ]
        for update in ("external-binds", "deleted")
    }  # fmt: skip
    assert found == {"external-binds": ["S-NOMLIVE"], "deleted": []}


def test_what_the_base_has_as_well_is_no_news() -> None:
    """S-BIND: somebody else binds a pod to a node that is full, whatever the scheduler does."""
    question = next(
        one for one in known_fixes(shipped(), ADDING) if one.scenario.name == "v-p-external-binds"
    )
    bind = replace(question, properties=("S-BIND",))
    version = parse_version("v1.36.3")
    asked = [bind, replace(bind, new=False)]
    assert [len([*counterexamples(one, version, "1.36.3", Budget(), USUAL)]) for one in asked] == [0, 1]


def test_the_smallest_have_a_pod_that_waits_for_the_room_of_another() -> None:
    """Of an equal priority: where pods preempt, their goroutines hide who wakes whom."""
    first, *others = smallest_clusters()
    assert first.name == "v-b-deleted"
    assert "priority: 10" not in first.text
    deleted = [one.name for one in small_clusters() if one.name.endswith("-deleted")]
    assert [one.name for one in others] == [
        *deleted,
        "b-pod-creations", "v-b-finishes", "a-b-permit-rejections", "a-b-bind-failures", "v-p-write-failures", "v-p-status-failures",
    ]  # fmt: skip
    scope = others[-4].spec.scope
    assert (scope.permit_rejections, scope.pod_deletions) == (1, 0), (
        "with deletions the model has S-STUCK there"
    )
    for one in (first, *others[-2:]):
        assert finding_in_base(one, "S-STUCK", "1.36.3", Budget(), USUAL).verdict == "HOLDS"


def made(scenario: Scenario, elements: tuple[str, ...], named: bool) -> int:
    """How many cases the runs of a scenario are, which are counted when they are asked to be played."""
    found = []

    def probed(_: object, runs: Sequence[RandomRun], *__: object) -> str:
        found.append(len(runs))
        return "probe"

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(probing, "_probed", probed)
        built: Any = (None, None)
        going = probes(deque([scenario]), "1.36.3", built, (), 1, lambda: True, print, False, elements, named)
        assert list(going) == ["probe"]
    return found[0]


def test_more_runs_are_made_in_the_smallest() -> None:
    """Of 24 runs of two rivals one refused a pod; of 96, four."""
    (rivals,) = (one for one in smallest_clusters() if one.name == "a-b-permit-rejections")
    woken = "scheduler.cycles.failure.FailureHandler.wake_others"
    counts = {
        (file, named): made(replace(rivals, file=file), (woken,), named)
        for file in (rivals.file, "other.yaml")
        for named in (False, True)
    }
    searched = RUNS * MORE_RUNS + 2
    assert counts == {
        ("small.yaml", False): searched,
        ("small.yaml", True): searched,
        ("other.yaml", False): RUNS,
        ("other.yaml", True): searched,
    }, "a scenario that a user names is searched, too, whatever its file is called"


@pytest.mark.parametrize(
    ("cluster", "element", "ends"),
    [
        (
            "a-b-permit-rejections",
            "scheduler.cycles.failure.FailureHandler.wake_others",
            {"failure.wake_others(pod=a)": 24, "failure.wake_others(pod=b)": 24},
        ),
        (
            "a-b-bind-failures",
            "scheduler.cycles.binding.Binding.wake_queue",
            {
                "binding.wake_queue(pod=a)": 16,
                "binding.wake_queue(pod=b)": 16,
                "handlers.wake_queue(pod=a)": 16,
                "handlers.wake_queue(pod=b)": 16,
            },
        ),
        ("a-b-bind-failures", "scheduler.queue.nominator.Nominator.delete", {}),
        (
            "one-volume-for-two",
            "scheduler.volumebinding.volume_binding.VolumeBinding.restore",
            {"volume_binding.restore(use=ca of a)": 24},
        ),
        (
            "one-device-for-two",
            "scheduler.dynamicresources.dynamic_resources.DynamicResources.unreserve_claim",
            {"dynamic_resources.unreserve_claim(use=ca of a)": 27},
        ),
    ],
)
def test_runs_to_what_is_changed_while_another_pod_is_parked(
    cluster: str, element: str, ends: dict[str, int]
) -> None:
    """Of 2,000 random runs one came to `wake_others` so."""
    (scenario,) = (one for one in smallest_clusters([element]) if one.name == cluster)
    model = playable(scenario, "1.36.3")
    assert model is not None
    found = {}
    for run in runs_while_one_is_parked(model, (element,)):
        trace = replay(model.system, run.path)
        found[model.system.transitions[run.path[-1]].label] = len(run.path)
        (other,) = {"a", "b"} - {str(value)[-1] for _, value in model.system.transitions[run.path[-1]].args}
        place = [v.name for v in model.system.variables].index(f"queue.sub_queue[{other}]")
        assert list(SubQueue)[trace.states[-2][place]] is SubQueue.UNSCHEDULABLE
    assert found == ends
    assert len(_runs(scenario, "1.36.3", (element,), thorough=True)) == RUNS * MORE_RUNS + len(ends)
