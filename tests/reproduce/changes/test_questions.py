"""Which counterexamples a change of some functions is held against first."""

from __future__ import annotations

from podrace.analysis.chain import verdicts
from podrace.analysis.request.method import USUAL
from podrace.analysis.request.plan import Selection, plan
from podrace.checker.core.exploration import Budget
from podrace.reproduce.changes.judge import mixed
from podrace.reproduce.changes.replays import questions_of
from podrace.scenarios import find_scenarios, hazards, shipped

NOMINATOR = ["scheduler.queue.nominator.Nominator.update"]


def test_races_of_the_changed_functions_come_first() -> None:
    found = questions_of(shipped(), NOMINATOR)
    assert {(one.scenario.name, one.without) for one in found.near} == {
        ("nominated-node-race", ("77990",)),
        ("wiped-nomination", ("77990",)),
        ("relabelled-while-preempting", ("77990",)),
    }
    assert len(found.own) == len(shipped()) > len(hazards())
    assert not {one.without for one in found.near} & {one.without for one in found.far}
    assert not questions_of(shipped(), []).near


def test_a_change_that_a_scenario_only_mentions_is_asked_about() -> None:
    lost = find_scenarios("lost-nomination")
    found = questions_of(lost, ["scheduler.event_handlers.EventHandlers.nomination_wakes"])
    assert ("129058",) in [one.without for one in found.near]


def test_a_fix_that_matters_in_another_cluster_by_now() -> None:
    """77990: from the release on in which condition and nomination are one PATCH, wiped-nomination does not need it."""
    scenario = find_scenarios("relabelled-while-preempting")
    said = {}
    for without in ((), ("77990",)):
        runs = plan(Selection(release="1.36.3", without_fixes=without, given=scenario))
        said[without] = [one.verdict for one in verdicts(runs, Budget(), USUAL)]
    assert said == {(): ["HOLDS"], ("77990",): ["VIOLATED"]}


def test_when_time_is_up_there_was_something_of_both() -> None:
    some, others = shipped()[:6], hazards()[6:9]
    names = [one.name for one in mixed(some, others)]
    assert names[1] == others[0].name
    assert sorted(names) == sorted(one.name for one in (*some, *others))
