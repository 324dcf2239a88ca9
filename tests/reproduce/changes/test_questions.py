"""Which counterexamples a change of some functions is held against first."""

from __future__ import annotations

import pytest

from podrace.analysis.chain import verdicts
from podrace.analysis.request.method import USUAL
from podrace.analysis.request.plan import Selection, plan
from podrace.checker.core.exploration import Budget
from podrace.reproduce.changes.probes import mixed
from podrace.reproduce.changes.replays import (
    BESIDE,
    CALLED,
    FAR,
    HERE,
    Question,
    counterexamples,
    is_new,
    nearness,
    questions_of,
    shortest,
)
from podrace.reproduce.modules.module import parse_version
from podrace.scenarios import find_scenarios, hazards, shipped

NOMINATOR = ["scheduler.queue.nominator.Nominator.update"]


def test_races_of_the_changed_functions_come_first() -> None:
    found = questions_of(shipped(), NOMINATOR, "1.36.3")
    near = [(one.scenario.name, one.without) for one in found.near]
    assert set(near[:3]) == {
        ("nominated-node-race", ("77990",)),
        ("wiped-nomination", ("77990",)),
        ("relabelled-while-preempting", ("77990",)),
    }
    assert set(near[3:]) == {
        ("phantom-preemptor", ("102498",)),
        ("phantom-preemptor", ("109245",)),
        ("bound-phantom", ("109245",)),
    }, "changes of what `update` calls"
    assert len(found.own) == len(shipped()) > len(hazards())
    assert not {one.without for one in found.near} & {one.without for one in found.far}
    assert not questions_of(shipped(), [], "1.36.3").near


def test_a_change_that_a_scenario_only_mentions_is_asked_about() -> None:
    lost = find_scenarios("lost-nomination")
    found = questions_of(lost, ["scheduler.event_handlers.EventHandlers.nomination_wakes"], "1.36.3")
    assert ("129058",) in [one.without for one in found.near]


@pytest.mark.parametrize(("release", "first"), [("1.36.3", True), ("1.37.2", False)])
def test_a_change_that_came_later_is_perhaps_the_one_that_is_judged(release: str, first: bool) -> None:
    """140054 came with 1.37; the hazards that it closes name it."""
    activates = ["scheduler.preemption.async_preemption.AsyncPreemption.rejected_last"]
    near = [(one.scenario.name, one.without) for one in questions_of(shipped(), activates, release).near]
    closed = {("rejected-in-memory", ()), ("rejected-while-gated", ())}
    assert (set(near[:4:2]) == closed) == first, "in turns with races without a fix"
    assert not first or all(without for _, without in near[1:4:2])
    assert bool(closed & set(near)) == first


@pytest.mark.parametrize(
    ("element", "key", "name"),
    [
        ("scheduler.cache.scheduler_cache.Cache.keeps_counts", "139238", "uncounted-user"),
        ("scheduler.preemption.evaluator.Preemption.violating", "137981", "spent-twice"),
    ],
)
def test_a_later_change_may_bring_a_race(element: str, key: str, name: str) -> None:
    """Both came with 1.37: the model of 1.36.4 has the race with the change alone."""
    near = questions_of(shipped(), [element], "1.36.4").near
    (asked,) = [one for one in near if one.added == (key,)]
    assert asked.scenario.name == name
    version = parse_version("v1.36.4")
    found = {
        question.added: [one.words for one in counterexamples(question, version, "1.36.4", Budget(), USUAL)]
        for question in (asked, Question(asked.scenario))
    }
    assert [len(runs) for runs in found.values()] == [1, 0]


def test_how_near_an_upstream_change_is() -> None:
    """109245 is in `accepts`, which stands for no function of upstream, and which `add` calls."""
    adding = ["scheduler.queue.nominator.Nominator.add"]
    assert [nearness(key, adding) for key in ("125820", "109245", "77990", "93938")] == [
        HERE,
        CALLED,
        BESIDE,
        FAR,
    ]


def test_a_component_that_is_touched_as_a_whole() -> None:
    handler = "scheduler.cycles.failure.FailureHandler"
    assert [nearness("90660", [handler, f"{handler}.{name}"]) for name in ("read", "handle")] == [
        CALLED,
        HERE,
    ]
    assert nearness("90660", [f"{handler}.read"]) == BESIDE


@pytest.mark.parametrize(
    ("name", "fix", "release", "steps"),
    [
        ("relabelled-while-preempting", "77990", "1.36.3", None),  # condition and nomination are one PATCH
        ("nominated-by-the-autoscaler", "129058", "1.36.3", 53),  # others are nominated in memory first
        ("nominated-while-gated", "139057", "1.37.2", 35),  # added gated, after a restart
        ("allocated-while-read", "140269", "1.37.2", None),  # claims of groups are not modelled in 1.37
    ],
)
def test_a_fix_that_matters_in_another_cluster_by_now(
    name: str, fix: str, release: str, steps: int | None
) -> None:
    """The clusters of their races no longer show what the fix does: with it they are violated as soon, or the release refuses them."""
    scenario = find_scenarios(name)
    found = {}
    for without in ((), (fix,)):
        runs = plan(Selection(release=release, without_fixes=without, given=scenario))
        (found[without],) = verdicts(runs, Budget(max_states=None if without else 200_000), USUAL)
    trace = found[fix,].trace
    assert trace is not None
    known = shortest(found[()])
    assert (known is None) == (steps is None)
    assert is_new(len(trace), known)


def test_a_search_that_was_cut_short_says_nothing_of_longer_runs() -> None:
    """Of a base whose time was up, it is known only that it has no run as short as what was searched."""
    scenario = find_scenarios("nominated-by-the-autoscaler")
    (found,) = verdicts(plan(Selection(release="1.36.3", given=scenario)), Budget(max_states=1000), USUAL)
    assert found.verdict == "INCONCLUSIVE"
    assert shortest(found) == found.depth < 28
    assert not is_new(28, shortest(found))


def test_when_time_is_up_there_was_something_of_both() -> None:
    some, others = shipped()[:6], hazards()[6:9]
    names = [one.name for one in mixed(some, others)]
    assert names[1] == others[0].name
    assert sorted(names) == sorted(one.name for one in (*some, *others))
