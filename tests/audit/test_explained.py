"""Which known races explain an overfull node."""

from pathlib import Path

import pytest

from podrace.audit import explained as module
from podrace.audit.checks.capacity import Bound, Overfilled
from podrace.audit.explained import Candidate, candidates, explained, release_of
from podrace.checker.trace.validation import Answer
from tests.audit.test_answers import both, seen
from tests.audit.test_bindings_and_waits import lease
from tests.audit.written_logs import Object, answer, answered, listed, node

CASE = Overfilled(Bound("default/b", 0), Bound("default/a", 0), 0, 1)


def test_the_candidates_are_what_overfills_a_node_by_a_fault() -> None:
    assert [(c.scenario.name, dict(c.faults)) for c in candidates()] == [
        ("expired-assumption", {"assume_expiries": 1}),
        ("leader-hand-over", {"leader_changes": 1}),
        ("restart-before-handlers", {"restarts": 1}),
        ("two-generals", {"lost_replies": 1}),
        ("late-binding", {"lost_replies": 1, "leader_changes": 1}),
        ("node-comes-back-empty", {"node_deletions": 1, "node_creations": 1}),
    ]


@pytest.mark.parametrize(
    ("agents", "release"),
    [
        ({"kube-scheduler/v1.34.2 (linux/amd64) kubernetes/8cc511e/scheduler"}, "1.34"),
        (
            {"kube-scheduler/v1.34.2-eks-3025e55 (linux/amd64)", "kube-scheduler/v1.34.1 (linux/amd64)"},
            "1.34",
        ),
        ({"kube-scheduler/v1.34.2 (x)", "kube-scheduler/v1.35.0 (x)"}, None),
        ({"kube-scheduler/v1.99.0 (x)"}, None),
        ({"", "curl/8"}, None),
    ],
)
def test_requests_name_the_release(agents: set[str], release: str | None) -> None:
    assert release_of(agents) == release


def test_what_cannot_be_asked_is_not_decided() -> None:
    assert list(explained(CASE, None, False)) == [
        "which race explains it is not decided: no line says of which release the scheduler is; --release says so"
    ]
    alone = Overfilled(CASE.second, None, 0, 1)
    assert list(explained(alone, "1.34", False)) == [
        "which race explains it is not decided: more than one pod was too much, and the model is asked of two"
    ]


PODS = "binds default/a and then default/b to the node"
HAND_OVER = f"explained by leader-hand-over (A new leader does not know the last bindings): a run of 1.34 with it {PODS}"
LOST = (
    f"explained by two-generals (A Binding whose reply is lost was committed): a run of 1.34 with it {PODS}"
)


def given(monkeypatch: pytest.MonkeyPatch, **answers: Answer) -> list[str]:
    """Let the search say this of each race, REFUSED of the others; gives the names of those that are asked."""
    asked = []

    def ask(candidate: Candidate, case: Overfilled, composition: object) -> Answer:
        asked.append(candidate.scenario.name)
        return answers.get(asked[-1].replace("-", "_"), Answer.REFUSED)

    monkeypatch.setattr(module, "_ask", ask)
    return asked


def test_what_takes_more_faults_than_an_explanation_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = given(monkeypatch, two_generals=Answer.EXPLAINED)
    assert list(explained(CASE, "1.34", False)) == [
        LOST,
        (
            "no run of 1.34 that binds default/a and then default/b to the node: expired-assumption, leader-hand-over, "
            "restart-before-handlers, node-comes-back-empty"
        ),
    ]
    assert "late-binding" not in asked


def test_what_the_lease_rules_out_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = given(monkeypatch)
    *_, last = explained(CASE, "1.34", True)
    assert asked == ["expired-assumption", "two-generals", "node-comes-back-empty"]
    assert last == "no known race explains this on 1.34, for two pods and the room that the others left"


def test_nothing_is_concluded_where_the_search_came_to_its_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, two_generals=Answer.UNKNOWN)
    words = list(explained(CASE, "1.34", False))
    assert words[0].startswith(
        "not decided: two-generals (A Binding whose reply is lost was committed): the search"
    )
    assert not any("no known race" in line for line in words)


def told(folder: Path, *leases: Object, at: str = "S-CAP", pods: tuple[Object, ...] = ()) -> tuple[str, ...]:
    """What explains that b came to a node that a has filled."""
    events = [seen("n", 0), *leases, *(pods or (*both("a", 2, "2"), *both("b", 4, "2")))]
    return answer(answered(folder, events, listed(node("n")), explain=True), at).hits[0].explained


def test_who_holds_the_lease_all_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, leader_hand_over=Answer.EXPLAINED, two_generals=Answer.EXPLAINED)
    assert told(tmp_path)[:2] == (HAND_OVER, LOST)
    one = told(tmp_path, lease(1, "m1", "10.0.0.1", 0), lease(6, "m1", "10.0.0.1", 0))
    assert one[:2] == (
        LOST,
        "ruled out, as one scheduler held the lease all the time: leader-hand-over, restart-before-handlers",
    )
    # Somebody else may have had it in between, or after the last line about it.
    assert told(tmp_path, lease(1, "m1", "10.0.0.1", 0), lease(6, "m1", "10.0.0.1", 2))[0] == HAND_OVER
    assert told(tmp_path, lease(1, "m1", "10.0.0.1", 0), lease(3, "m1", "10.0.0.1", 0))[0] == HAND_OVER


def test_who_would_have_had_to_be_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, two_generals=Answer.EXPLAINED)
    small = (*both("a", 1, "1"), *both("c", 2, "100m"), *both("b", 4, "1"))
    assert told(tmp_path, pods=small)[0] == LOST.replace("default/a", "default/c")
    several = (*both("a", 1, "1"), *both("c", 2, "1"), *both("b", 4, "2"))
    assert told(tmp_path, pods=several) == (
        "which race explains it is not decided: more than one pod was too much, and the model is asked of two",
    )


@pytest.mark.ci
def test_the_search_finds_the_lost_reply(tmp_path: Path) -> None:
    """One scheduler held the lease, so no hand-over; of all other faults, only the lost reply has such a run."""
    words = told(tmp_path, lease(1, "m1", "10.0.0.1", 0), lease(6, "m1", "10.0.0.1", 0))
    assert words == (
        LOST,
        "ruled out, as one scheduler held the lease all the time: leader-hand-over, restart-before-handlers",
        "no run of 1.34 that binds default/a and then default/b to the node: expired-assumption, node-comes-back-empty",
    )
