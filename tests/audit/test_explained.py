"""Which known races explain an overfull node."""

from dataclasses import replace
from pathlib import Path

import pytest

from podrace.audit import explained as module
from podrace.audit.checks.cases import Case, Involved, Sender
from podrace.audit.explained import ISSUES, Candidate, Processes, candidates, explained, release_of
from podrace.checker.trace.validation import Answer
from podrace.model.history import resolve
from podrace.scenarios.catalogue import hazards
from tests.audit.test_answers import both, seen
from tests.audit.test_bindings_and_waits import lease
from tests.audit.written_logs import (
    SCHEDULER,
    Object,
    answer,
    answered,
    bound,
    created,
    event,
    listed,
    node,
    pod,
    running,
)

US = Sender(SCHEDULER, "10.0.0.1")
CASE = Case((Involved("default/a"), Involved("default/b")), (US, US), 0, 1)


def said(case: Case = CASE, release: str | None = "1.34.2", of: str = "S-CAP") -> list[str]:
    """What is said of a violation."""
    return list(explained(of, case, release, Processes.UNKNOWN).words)


def test_the_candidates_are_what_overfills_a_node_by_a_fault() -> None:
    of_capacity = [
        ("expired-assumption", {"assume_expiries": 1}),
        ("leader-hand-over", {"leader_changes": 1}),
        ("restart-before-handlers", {"restarts": 1}),
        ("two-generals", {"lost_replies": 1}),
        ("late-binding", {"lost_replies": 1, "leader_changes": 1}),
        ("node-comes-back-empty", {"node_deletions": 1, "node_creations": 1}),
    ]
    for of in ("S-CAP", "S-AFF", "A-TWICE"):
        assert [(c.scenario.name, dict(c.faults)) for c in candidates(of)] == of_capacity
    late = ("late-condition", {"permit_rejections": 1})
    assert [(c.scenario.name, dict(c.faults)) for c in candidates("S-COND")] == [
        of_capacity[0], late, *of_capacity[1:]
    ]  # fmt: skip
    assert [(c.scenario.name, dict(c.faults)) for c in candidates("S-CAP", grown=True)] == [
        ("grown-in-flight", {}), *of_capacity
    ]  # fmt: skip


def test_the_issues_of_hazards_are_those_of_their_page() -> None:
    page = (Path(__file__).parents[2] / "docs" / "hazards.md").read_text(encoding="utf-8")
    assert all(f"kubernetes/kubernetes/issues/{issue})" in page for issue in ISSUES.values())
    assert set(ISSUES) <= {hazard.name for hazard in hazards()}


@pytest.mark.parametrize(
    ("agents", "release"),
    [
        ({"kube-scheduler/v1.34.2 (linux/amd64) kubernetes/8cc511e/scheduler"}, "1.34.2"),
        (
            {"kube-scheduler/v1.34.2-eks-3025e55 (linux/amd64)", "kube-scheduler/v1.34.1 (linux/amd64)"},
            "1.34.2",
        ),
        ({"kube-scheduler/v1.34.99 (x)"}, "1.34.11"),
        ({"kube-scheduler/v1.34.0 (x)"}, "1.34"),
        ({"kube-scheduler/v1.34.2 (x)", "kube-scheduler/v1.35.0 (x)"}, None),
        ({"kube-scheduler/v1.99.0 (x)"}, None),
        ({"", "curl/8"}, None),
    ],
)
def test_requests_name_the_release(agents: set[str], release: str | None) -> None:
    assert release_of(agents) == release


def test_what_cannot_be_asked_is_not_decided() -> None:
    assert said(release=None) == [
        "which race explains it is not decided: no line says of which release the scheduler is; --release says so"
    ]
    alone = replace(CASE, undecided="more than one pod was too much, and the model is asked of two")
    assert said(alone) == [
        "which race explains it is not decided: more than one pod was too much, and the model is asked of two"
    ]


PODS = "binds default/a and then default/b to the node"
HAND_OVER = f"explained by leader-hand-over (A new leader does not know the last bindings, kubernetes/kubernetes#137308): a run of 1.34.2 with it {PODS}"
LOST = (
    "explained by two-generals (A Binding is executed, but its reply is lost, kubernetes/kubernetes#96579): "
    f"a run of 1.34.2 with it {PODS}"
)


def given(monkeypatch: pytest.MonkeyPatch, **answers: Answer) -> list[str]:
    """Let the search say this of each race, REFUSED of the others; gives the names of those that are asked."""
    asked = []

    def ask(candidate: Candidate, of: str, case: Case, composition: object) -> tuple[Answer, tuple[str, ...]]:
        asked.append(candidate.scenario.name)
        return answers.get(asked[-1].replace("-", "_"), Answer.REFUSED), ()

    monkeypatch.setattr(module, "_ask", ask)
    return asked


def test_what_takes_more_faults_than_an_explanation_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = given(monkeypatch, two_generals=Answer.EXPLAINED)
    assert said() == [
        LOST,
        (
            "no run of 1.34.2 that binds default/a and then default/b to the node: expired-assumption, leader-hand-over, "
            "restart-before-handlers, node-comes-back-empty"
        ),
    ]
    assert "late-binding" not in asked


def test_what_the_lease_rules_out_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = given(monkeypatch)
    *_, last = explained("S-CAP", CASE, "1.34.2", Processes.ONE).words
    assert asked == ["expired-assumption", "two-generals", "node-comes-back-empty"]
    assert last == "no known race explains this on 1.34.2, for two pods and the room that the others left"


def test_what_takes_one_process_is_not_asked_of_several(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = given(monkeypatch, leader_hand_over=Answer.EXPLAINED)
    first, second, _ = explained("S-CAP", CASE, "1.34.2", Processes.SEVERAL).words
    assert asked == ["leader-hand-over", "restart-before-handlers"]
    assert first == HAND_OVER
    assert second == (
        "ruled out, as schedulers that held the lease one after the other sent these requests: expired-assumption, two-generals, "
        "node-comes-back-empty"
    )


@pytest.mark.ci
def test_a_binding_with_an_error_may_have_been_executed_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log has the error; where the Bindings were accepted, nobody is told that one of them came late."""
    (late,) = (c for c in candidates("S-CAP", in_doubt=True) if c.scenario.name == "in-doubt")
    found, run = module._ask(late, "S-CAP", replace(CASE, in_doubt=True), resolve("1.34.2"))
    assert (found, run[-1].endswith("So does the log show it.")) == (Answer.EXPLAINED, True)

    def of_codes(first: int, second: int) -> tuple[str, ...]:
        a = created("a", 2, "2"), bound("a", "n", 2.5, code=first)
        b = created("b", 4, "2"), bound("b", "n", 4.5, code=second)
        return told(tmp_path, pods=(*a, *b, running("a", "n", 6, "2"), running("b", "n", 7, "2")))

    asked = given(monkeypatch, in_doubt=Answer.EXPLAINED)
    assert of_codes(500, 201)[0] == (
        "explained by in-doubt (A Binding returns an error, and is executed later, kubernetes/kubernetes#100140): "
        "a run of 1.34.2 with it binds default/b and then default/a to the node"
    )
    asked.clear()
    assert not any("in-doubt" in line for line in of_codes(201, 201))
    assert "two-generals" in asked
    assert "in-doubt" not in asked


def test_nothing_is_concluded_where_the_search_came_to_its_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, two_generals=Answer.UNKNOWN)
    words = said()
    assert words[0].startswith(
        "not decided: two-generals (A Binding is executed, but its reply is lost, kubernetes/kubernetes#96579): the search"
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
    # A Binding from elsewhere is of another process, which may have had the lease before the log begins.
    held = lease(1, "m1", "10.0.0.1", 3), lease(6, "m1", "10.0.0.1", 3)
    late = (created("a", 2, "2"), bound("a", "n", 2.2, address="10.0.0.9"), *both("b", 4, "2"))
    assert told(tmp_path, *held, pods=late)[0] == HAND_OVER
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


def test_schedulers_with_addresses_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = given(monkeypatch)
    leases = [lease(1, "m1", "10.0.0.1", 0), lease(3, "m2", "10.0.0.2", 1)]
    one = both("a", 2, "2")
    other = [created("b", 4, "2"), bound("b", "n", 5, address="10.0.0.2")]
    told(tmp_path, *leases, pods=(*one, *other))
    assert asked == ["leader-hand-over", "restart-before-handlers", "late-binding"]
    # Who shares an address with another may be the same process.
    asked.clear()
    told(tmp_path, *leases, lease(6, "m3", "10.0.0.2", 2), pods=(*one, *other))
    assert "two-generals" in asked


def test_a_binding_that_no_scheduler_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever binds pods without being the scheduler is not in the model."""
    given(monkeypatch, two_generals=Answer.EXPLAINED)
    leases = [lease(1, "m1", "10.0.0.1", 0), lease(6, "m1", "10.0.0.1", 0)]
    foreign = (*both("a", 2, "2"), created("b", 4, "2"), bound("b", "n", 5, user="mine"))
    assert told(tmp_path, *leases, pods=foreign) == (
        "which race explains it is not decided: not every Binding was sent by a user who writes the scheduler's lease",
    )
    static = event("create", "pods", "a", 2, code=201, response=pod("a", "2", on="n"), user="system:node:n")
    assert told(tmp_path, *leases, pods=(static, *both("b", 4, "2"))) == (
        "which race explains it is not decided: default/a is there by no Binding, and the model binds every pod",
    )


def grown(name: str, at: float, cpu: str, on: str = "") -> Object:
    """A pod asks for more."""
    return event("patch", "pods/resize", name, at, response=pod(name, cpu, on=on, version=300))


def test_a_pod_that_grew_before_it_was_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = given(monkeypatch, grown_in_flight=Answer.EXPLAINED)
    late = (*both("a", 2, "1"), created("b", 3, "1"), grown("b", 4, "2"), bound("b", "n", 5))
    assert told(tmp_path, pods=late)[0] == (
        "explained by grown-in-flight (A pod grows while it is being scheduled, and is bound to a node without enough room, "
        f"kubernetes/kubernetes#126891): a run of 1.34.2 with it {PODS}"
    )
    assert "two-generals" in asked
    # Of one that grew when it was bound already, nobody knows what the scheduler knew.
    bound_before = (*both("a", 2, "1"), grown("a", 3, "2", on="n"), *both("b", 4, "1"))
    assert told(tmp_path, pods=bound_before)[-1] == (
        "what the scheduler knew of it is not asked: default/a asked for less before"
    )


@pytest.mark.ci
@pytest.mark.parametrize(
    ("of", "case", "names", "races"),
    [
        ("S-CAP", replace(CASE, grown=True), ["grown-in-flight"], ["grown-in-flight"]),
        ("S-AFF", CASE, ["expired-assumption", "leader-hand-over"], ["leader-hand-over"]),
        ("S-AFF", replace(CASE, together=False), ["leader-hand-over"], ["leader-hand-over"]),
        ("S-COND", CASE, ["late-condition", "restart-before-handlers", "two-generals"], ["late-condition", "two-generals"]),
        ("A-TWICE", CASE, ["expired-assumption", "leader-hand-over", "two-generals"], ["leader-hand-over", "two-generals"]),
    ],
)  # fmt: skip
def test_the_search_answers_for_each_property(
    of: str, case: Case, names: list[str], races: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = [c for c in candidates(of, case.grown) if c.scenario.name in names]
    monkeypatch.setattr(module, "candidates", lambda of, grown=False, in_doubt=False: known)
    found = explained(of, case, "1.36", Processes.UNKNOWN)
    words = found.words
    assert found.run[0].startswith(
        f"A run of {races[0]} that agrees with the log, in which first is default/a"
    )
    assert found.run[1].startswith("1. ")
    assert found.run[-1].endswith("So does the log show it.")
    assert [line.split()[2] for line in words if line.startswith("explained by")] == races
    refused = [name for name in names if name not in races]
    assert [line.rpartition(": ")[2] for line in words if line.startswith("no run")] == refused
