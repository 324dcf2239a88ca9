"""Beyond a departure: properties on states that were seen, and random runs on both sides."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace as replace_struct

from podrace.analysis.request.plan import Selection, plan
from podrace.properties import PROPERTIES, instrument
from podrace.reports.verify.code_change import Beyond, Lines, Move, Violation, answer_of, beyond_words
from podrace.reproduce.case import Case, CaseStep
from podrace.reproduce.changes.beyond import (
    RESTARTS,
    RUNS,
    USERS,
    Place,
    RoamingCase,
    Run,
    _cases,
    beyond,
    grouped,
    violations_of,
    with_the_acts_of,
)
from podrace.reproduce.changes.monitors import Monitors, monitors_of
from podrace.reproduce.changes.tests import roamed_test
from podrace.reproduce.lockstep.lockstep import case_for
from podrace.reproduce.modules.module import parse_version
from podrace.reproduce.outcome import Outcome, OutcomeMove
from podrace.reproduce.random_runs.random_runs import Model, RandomRun
from podrace.reproduce.running import Built, taken
from podrace.reproduce.timing.timing import Timing
from podrace.scenarios import Scenario, find_scenarios

RELEASE = "1.36.3"


def race() -> Scenario:
    return find_scenarios("72124")[0]


@pytest.fixture(scope="module")
def monitors() -> Monitors:
    scenario = race()
    composition = plan(Selection(release=RELEASE, given=[scenario]))[0].composition
    return monitors_of(scenario.spec, composition.classes, PROPERTIES)


@pytest.fixture(scope="module")
def place() -> Place:
    scenario = race()
    composition = plan(Selection(release=RELEASE, given=[scenario]))[0].composition
    model = Model(scenario, composition, instrument(scenario.spec, composition.classes, []))
    return Place(scenario, case_for(RandomRun(model, (), Timing((), ())), "72124"), ())


TAKEN: Sequence[Mapping[str, Any]] = (
    {"scheduler.pod": "p"},
    {"scheduler.nominee": "n1"},
    {"api.pod[p].nominated": "n1"},
    {
        "api.pod[v].exists": False,
        "api.pod[v].node": None,
        "cache.pod[v].node": None,
        "cache.pod[v].bound": False,
    },
    {"scheduler.nominee": None, "scheduler.pod": "q"},
    {"cache.pod[q].node": "n1", "cache.pod[q].assumed": True},
)
"""What is seen of a scheduler that forgets a nomination: p has preempted v, and q is assumed in its room."""


def states(place: Place, moves: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    found = [dict(place.case.initial)]
    for move in moves:
        found.append({**found[-1], **move})
    return found


def test_a_property_that_remembers_is_evaluated_on_seen_states(monitors: Monitors, place: Place) -> None:
    assert monitors.violated(states(place, TAKEN), ["S-NOM", "S-CAP"]) == {"S-NOM": 6}
    assert monitors.violated(states(place, TAKEN[:-1]), ["S-NOM", "S-CAP"]) == {}
    assert monitors.violated(states(place, [TAKEN[-1]]), ["S-NOM"]) == {}, "nothing was promised"


def test_what_reads_the_unseen_is_not_evaluated(monitors: Monitors, place: Place) -> None:
    seen = [name for name in place.case.initial if not name.startswith("binding.")]
    assert "S-CONS" in monitors.readable(place.case.initial)
    assert "S-CONS" not in monitors.readable(seen)
    assert "S-NOM" in monitors.readable(seen)


def test_a_value_without_a_place_in_the_model_ends_it(monitors: Monitors, place: Place) -> None:
    strange = [{"scheduler.pod": "nobody"}, *TAKEN]
    assert monitors.violated(states(place, strange), ["S-NOM"]) == {}


def played(roam: Sequence[Mapping[str, Any]], violating: int) -> Any:
    def play(cases: Sequence[Case]) -> dict[str, Outcome]:
        found = {}
        for case in cases:
            assert isinstance(case, RoamingCase)
            moves = tuple(OutcomeMove(f"move {n}", dict(real)) for n, real in enumerate(roam, 1))
            found[case.id] = Outcome(
                case.id,
                "DONE",
                initial=dict(case.initial),
                sees=dict(case.initial),
                roam=moves if case.seed < violating else moves[:-1],
            )
        return found

    return play


def test_a_violation_that_only_the_changed_code_shows(place: Place) -> None:
    told: list[str] = []
    found = list(beyond([place], RELEASE, played(TAKEN, 0), played(TAKEN, 3), told.append))
    assert len(found) == 1
    names = {violation.property: violation for violation in found[0].violations}
    assert set(names) == {"S-NOM", "S-NOMVIS"}
    assert (names["S-NOM"].runs, names["S-NOM"].seed, len(names["S-NOM"].moves)) == (3, 0, 6)
    assert names["S-NOM"].moves[-1].words == "move 6: cache.pod[q].node is n1, cache.pod[q].assumed is true"
    assert told == [
        f"beyond {place.scenario.name}: {RUNS} runs of 80 moves on the changed code",
        f"beyond {place.scenario.name}: 3 times as many on the unchanged code",
    ]


@pytest.mark.parametrize(("seconds", "stuck"), [(0, False), (12, False), (13, True)])
def test_a_pod_may_have_waited_since_before_the_moves(place: Place, seconds: int, stuck: bool) -> None:
    """The flush comes five minutes after a pod was parked, and not after the last move."""
    moves = tuple(OutcomeMove("a second passes", {}) for _ in range(seconds))
    run = Run.of(Outcome("x", "DONE", roam=moves, epilogue={"bound": {"b": 287.0}}))
    found = violations_of({0: run}, monitors_of(place.scenario.spec, (), []))
    assert found == ({0: {"S-STUCK": seconds}} if stuck else {})


def restarting(runs: int) -> Any:
    """In so many runs only a restart of the scheduler binds a pod."""

    def play(cases: Sequence[Any]) -> dict[str, Outcome]:
        found = played(TAKEN[:1], 0)(cases)
        return {
            case.id: replace_struct(
                found[case.id],
                epilogue={"bound": {}, "restarted": {"q": "n1"} if case.seed < runs else {}},
            )
            for case in cases
        }

    return play


@pytest.mark.parametrize(
    ("before", "after", "counts"),
    [(0, RESTARTS, True), (0, RESTARTS - 1, False), (1, RUNS, False)],
)
def test_a_pod_that_only_a_restart_binds(place: Place, before: int, after: int, counts: bool) -> None:
    """No flush helps where something is left in memory, such as a volume that stays assumed."""
    sides = [restarting(runs) for runs in (before, after)]
    (found,) = beyond(
        [place], RELEASE, sides[0], sides[1], lambda text: None, in_base=lambda scenario, name: "VIOLATED"
    )
    said = [(one.property, one.runs, one.words) for one in found.violations]
    words = "q is scheduled only after a restart of the scheduler, and by no flush"
    assert said == ([("L-PEND", RESTARTS, words)] if counts else [])


def test_what_the_unchanged_code_violates_too_does_not_count(place: Place) -> None:
    found = list(beyond([place], RELEASE, played(TAKEN, 1), played(TAKEN, 3), lambda text: None))
    assert [one.violations for one in found] == [()]


DELETION = "users.delete_pod [p] (pod_deletions)"


def with_first_move(moves: Sequence[Mapping[str, Any]], name: str) -> Any:
    def play(cases: Sequence[Any]) -> dict[str, Outcome]:
        return {
            one: replace_struct(outcome, roam=(replace_struct(outcome.roam[0], move=name), *outcome.roam[1:]))
            for one, outcome in played(moves, 3)(cases).items()
        }

    return play


@pytest.mark.parametrize(("before", "after", "counts"), [
    (DELETION, "move 1", True),
    (DELETION, DELETION, False),
    ("move 1", DELETION, False),
])  # fmt: skip
def test_what_the_unchanged_code_violates_with_other_acts_counts(
    place: Place, before: str, after: str, counts: bool
) -> None:
    """Where a user binds a pod, the node is overbooked on the unchanged code; that hid that the changed code overbooks it by itself."""
    sides = [with_first_move(TAKEN, name) for name in (before, after)]
    found = list(beyond([place], RELEASE, sides[0], sides[1], lambda text: None))
    assert bool(found[0].violations) is counts


def test_a_run_that_goes_otherwise_the_second_time_does_not_count(place: Place) -> None:
    times = iter([3, *[0] * 9])
    found = list(
        beyond(
            [place],
            RELEASE,
            played(TAKEN, 0),
            lambda cases: played(TAKEN, next(times))(cases),
            lambda text: None,
        )
    )
    assert [one.violations for one in found] == [()]


def test_what_the_model_of_the_base_violates_does_not_count(place: Place) -> None:
    def in_base(scenario: Scenario, name: str) -> str:
        return "VIOLATED" if name == "S-NOM" else "INCONCLUSIVE"

    found = list(
        beyond(
            [place],
            RELEASE,
            played(TAKEN, 0),
            played(TAKEN, 3),
            lambda text: None,
            lambda: True,
            in_base,
        )
    )
    assert [violation.property for violation in found[0].violations] == ["S-NOMVIS"]


@pytest.mark.parametrize(("verdict", "found"), [("HOLDS", {"S-NOM", "S-NOMVIS"}), ("INCONCLUSIVE", set())])
def test_users_and_faults_act_too(place: Place, verdict: str, found: set[str]) -> None:
    """Every second run has them. The base's model must hold with those that acted."""
    asked: list[int] = []
    moves = ["users.delete_pod [p] (pod_deletions)", *(f"move {n}" for n in range(2, len(TAKEN) + 1))]

    def after(cases: Sequence[Any]) -> dict[str, Outcome]:
        assert {bool(case.left) for case in cases} == {True, False} or len(cases) == 1
        outcomes = played(TAKEN, RUNS)(cases)
        return {
            case.id: replace_struct(
                outcomes[case.id],
                roam=tuple(
                    replace_struct(one, move=move) for one, move in zip(outcomes[case.id].roam, moves, strict=True)
                ),
            )
            for case in cases
            if case.left
        }  # fmt: skip

    def in_base(scenario: Scenario, name: str) -> str:
        asked.append(scenario.spec.scope.pod_deletions)
        return verdict

    searched = list(
        beyond([place], RELEASE, played(TAKEN, 0), after, lambda text: None, lambda: True, in_base)
    )
    assert {violation.property for violation in searched[0].violations} == found
    assert set(asked) == {1}, "only those that acted: the scenario's own are not"


@pytest.mark.parametrize(("limited", "found"), [("HOLDS", True), ("INCONCLUSIVE", True), ("VIOLATED", False)])
def test_what_the_base_violates_with_other_acts(place: Place, limited: str, found: bool) -> None:
    """It is asked with what the scenario allows only if it is not known what it violates with the acts of the run."""
    scope = replace(place.scenario.spec.scope, restarts=1)
    spec = replace(place.scenario.spec, scope=scope)
    here = replace(place, scenario=replace(place.scenario, spec=spec))
    asked: list[int] = []

    def in_base(scenario: Scenario, _name: str) -> str:
        asked.append(scenario.spec.scope.restarts)
        return "HOLDS" if scenario.spec.scope.restarts else limited

    searched = list(
        beyond([here], RELEASE, played(TAKEN, 0), played(TAKEN, 3), lambda text: None, lambda: True, in_base)
    )
    assert bool(searched[0].violations) is found
    assert set(asked) == ({0, 1} if limited == "INCONCLUSIVE" else {0})


def test_the_acts_of_a_run(place: Place) -> None:
    """Those up to the place are in its steps; what they struck is not told, and then nothing is aimed."""
    moves = (
        "users.delete_pod [v] (pod_deletions)",
        "users.delete_node [n1] (node_deletions)",
        "binding cycle of q calls Bind q (bind_failures)",
        "a second passes",
        "users.delete_pod [q] (pod_deletions)",
    )
    run = Run.of(Outcome("x", "DONE", roam=tuple(OutcomeMove(move, {}) for move in moves)))
    acts = run.acts(4)
    assert acts == (("bind_failures", ""), ("node_deletions", "n1"), ("pod_deletions", "v"))
    scope = with_the_acts_of(place, acts).spec.scope
    assert (scope.pod_deletions, scope.node_deletions, scope.bind_failures) == (1, 1, 1)
    assert set(scope.aims) == {("node_deletions", "nodes", ("n1",)), ("pod_deletions", "pods", ("v",))}
    left = {"faults.left[POD_DELETION]": 2, "faults.left[RESTART]": 1}
    step = CaseStep("users.delete_pod", "users", {}, 0, {"faults.left[POD_DELETION]": 1})
    case = replace_struct(place.case, initial={**place.case.initial, **left}, steps=(step,))
    scope = with_the_acts_of(replace(place, case=case), acts).spec.scope
    assert (scope.pod_deletions, scope.restarts) == (2, 0)
    assert set(scope.aims) == {("node_deletions", "nodes", ("n1",))}


def test_the_places_of_each_scenario_one_of_each_cause_first(place: Place) -> None:
    other, scenario = replace(place, cause="other"), replace(place.scenario, name="other")
    elsewhere = replace(place, scenario=scenario)
    again = replace(place, labels=("another way",))
    assert grouped([place, elsewhere, again, other]) == [[place, other, again], [elsewhere]]


def test_the_places_where_a_pod_is_parked_come_first(place: Place) -> None:
    """What wakes nobody shows only there."""
    step = CaseStep("scheduler.park", "scheduler", {}, 0, {"queue.sub_queue[p]": "UNSCHEDULABLE"})
    parked = replace(place, case=replace_struct(place.case, steps=(step,)), cause="later")
    elsewhere = replace(place, scenario=replace(place.scenario, name="other"))
    assert grouped([elsewhere, place, parked]) == [[parked, place], [elsewhere]]


@pytest.mark.parametrize("count", [1, 2, 10])
def test_users_act_in_half_of_the_runs_and_only_delete_a_pod_in_a_fourth(place: Place, count: int) -> None:
    """From one place, from two, and from as many as share its runs: by ranks, and otherwise."""
    found = Counter((len(case.left), case.ranked) for case in _cases([place] * count))
    assert sum(found.values()) == RUNS
    assert {ranked: found[0, ranked] for ranked in (False, True)} == {False: 10, True: 10}
    assert {left: found[left, False] + found[left, True] for left in (1, len(USERS))} == {
        1: 10,
        len(USERS): 10,
    }
    assert min(found.values()) >= 4


def test_no_search_begins_when_time_is_up(place: Place) -> None:
    searched = beyond([place], RELEASE, played(TAKEN, 0), played(TAKEN, 3), print, lambda: False)
    assert not list(searched)


def test_the_answer() -> None:
    violation = Violation("S-NOM", "kept", 3, 0, (Move("scheduler calls NextPod", {}),))
    clean = Beyond("two", 40, 80, ())
    assert answer_of([], Lines(1, 1), (), [Beyond("two", 40, 80, (), (violation,))]) == (
        "BREAKS",
        "random runs of the changed code violate S-NOM in two, and those of the unchanged code do not",
    )
    assert beyond_words([clean, clean]).startswith("beyond that 80 random runs of the code in 2 scenarios")
    assert beyond_words([]) == "beyond that nothing was searched"


def test_the_binary_of_a_change_is_its_own(tmp_path: Path) -> None:
    """Another podrace that judges the same change builds, uses and deletes another one."""
    kept = tmp_path / "v1.36.3-1"
    kept.mkdir()
    (kept / "replay.test").touch()
    built = taken(Built(parse_version("1.36.3"), kept, {}))
    assert built.binary.is_file()
    assert not kept.exists()


def test_a_random_run_as_a_go_test(place: Place) -> None:
    """The case and its moves are Go strings; the test says nothing of code that goes another way."""
    violation = Violation("S-NOM", 'kept "there"', 3, 0, (Move("scheduler calls NextPod", {"a": None}),))
    text = roamed_test(place.case, violation)
    assert "func TestSNOM(t *testing.T) {" in text
    assert '// S-NOM: kept "there"\n// A random run of the code violates it after 1 moves of its own.' in text
    strings = re.findall(r'"(?:[^"\\]|\\.)*"(?=: (?:c|&moves))', text)
    case, moves = (json.loads(json.loads(one)) for one in strings)
    assert (case["format"], case["id"]) == ("podrace-case", "72124")
    assert moves == [{"move": "scheduler calls NextPod", "real": {"a": None}}]
    late = roamed_test(place.case, replace_struct(violation, property="S-STUCK"))
    assert "after >= 300" in late
    assert 't.Errorf("S-STUCK: %s is bound only after' in late
