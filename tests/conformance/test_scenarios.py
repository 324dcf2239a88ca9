"""Scenario rows of the table of preemption, played on the explorer."""

from typing import Any

import pytest

from tests.conformance.cases.cases import NotTranslated, Outcome
from tests.conformance.preemption import scenario_tables
from tests.conformance.preemption.scenario_reading import read_plot
from tests.conformance.preemption.scenario_words import Fate, fate_of, words
from tests.conformance.registry import run_case


def node(cpu: int) -> dict[str, Any]:
    return {"name": "n", "allocatable": {"cpu_milli": cpu, "memory_bytes": 0, "pods": 32}, "labels": {}}


def pod(name: str, priority: int, cpu: int, on: str = "") -> dict[str, Any]:
    requests = {"cpu_milli": cpu, "memory_bytes": 0}
    return {
        "name": name,
        "uid": name,
        "labels": {},
        "priority": priority,
        "requests": requests,
        "nodeName": on,
    }


# The race of issue 72124, as upstream's TestPreemptionRaces has it: others wait while the preemptor gets its room.
RACE: dict[str, Any] = {
    "id": "race", "integration": True, "nodes": [node(2)],
    "pods": [{**pod("victim", 0, 2, "n"), "terminationGracePeriodSeconds": 0}],
    "additional": {"count": 50, "pod": pod("other", 5, 1)}, "preemptor": pod("high", 9, 2),
}  # fmt: skip
CLAIMS: dict[str, Any] = {
    "preemptor_nominated": "n",
    "preemptor_scheduled": True,
    "additional_never_bound": True,
}


def test_a_race_is_won_by_the_preemptor() -> None:
    outcome = run_case({**RACE, "expected": CLAIMS}, "preempt", "1.22")
    assert outcome.status == "PASS"
    assert outcome.reason.endswith(" states, with 2 of 50 equal pods that wait")


def test_and_was_lost_before_72259() -> None:
    outcome = run_case({**RACE, "expected": CLAIMS}, "preempt", "1.13")
    assert outcome.status == "FAIL"
    assert outcome.reason.startswith("expected that other-0 is never bound: the model has a run of ")


@pytest.mark.parametrize(
    ("expected", "claim"),
    [
        ({"never_bound": ["high"]}, "high is never bound"),
        ({"bound": ["other-0"]}, "other-0 is bound"),
        *(
            pytest.param(expected, claim, marks=pytest.mark.nightly)
            for expected, claim in (
                ({"preemptor_scheduled": False}, "high is never bound"),
                ({"not_evicted": ["victim"]}, "victim is never evicted"),
                ({"others_nominated": "n"}, "other-0 is nominated (n)"),
            )
        ),
    ],
)
def test_a_wrong_expectation_fails(expected: dict[str, Any], claim: str) -> None:
    outcome = run_case(
        {**RACE, "additional": [pod("other-0", 5, 1)], "expected": expected}, "preempt", "1.22"
    )
    assert outcome.status == "FAIL"
    assert outcome.reason.startswith(f"expected that {claim}: the model has a run of ")


STEPS: dict[str, Any] = {
    "id": "steps", "nodes": [node(2)], "pods": [pod("low", 0, 2, "n")],
    "steps": [
        {"op": "create", "pod": pod("medium", 5, 2), "expect_nominated_node": "n"},
        {"op": "create", "pod": pod("high", 9, 2)},
        {"op": "expect", "nominated": ["high"], "evicted": ["low"]},
        {"nominated": {"medium": None}},
    ],
}  # fmt: skip


def test_steps_come_one_after_the_other() -> None:
    plot = read_plot(STEPS)
    assert plot.batches == [["medium"], ["high"]]
    assert [(str(c), c.after) for c in plot.claims] == [
        ("medium is nominated (n)", 1),
        ("high is nominated", 2),
        ("low is evicted", 2),
        ("medium is not nominated any more", 2),
    ]
    assert run_case(STEPS, "preempt", "1.22").status == "PASS"


def test_a_nomination_that_must_stay_fails() -> None:
    steps = [*STEPS["steps"][:1], {"expect": {"low": {"bound": True, "spared": True}}}]
    outcome = run_case({**STEPS, "steps": steps}, "preempt", "1.22")
    assert outcome.reason.startswith("expected that low is never evicted: the model has a run of ")


def test_sentences_do_as_well() -> None:
    pods = [*STEPS["pods"], pod("medium", 5, 2), pod("high", 9, 2)]
    steps = [
        "create medium", "wait until medium is nominated to n", "create high", "high is nominated", "low is evicted",
        "the nomination of medium is cleared",
    ]  # fmt: skip
    plot = read_plot({**STEPS, "pods": pods, "steps": steps})
    assert plot.batches == read_plot(STEPS).batches
    assert plot.claims == read_plot(STEPS).claims


def with_medium_and_high(first: dict[str, Any], second: dict[str, Any]) -> list[tuple[str, int]]:
    plot = read_plot({**STEPS, "steps": [first, second]})
    assert plot.batches == [["medium"], ["high"]]
    return [(str(claim), claim.after) for claim in plot.claims]


CLEAN_UP = [
    ("medium is nominated (n)", 1),
    ("high is nominated (n)", 2),
    ("medium is not nominated any more", 2),
]


@pytest.mark.parametrize("verb", ["create", "pod", "schedule", "preemptor", "add_pod"])
@pytest.mark.parametrize(
    "cleared",
    [
        {"expect_cleared": ["medium"]},
        {"expected_cleared_nominations": ["medium"]},
        {"then": {"medium": {"nominatedNodeName": ""}}},
        {"then": {"medium": {"nominatedNodeName": None}}},
        {"then": "medium loses its nomination"},
    ],
)
def test_a_step_without_a_verb_creates_the_pod_that_it_describes(verb: str, cleared: dict[str, Any]) -> None:
    first = {verb: pod("medium", 5, 2), "expected_nominated_node": "n"}
    second = {verb: pod("high", 9, 2), "expected_nominated_node": "n", **cleared}
    assert with_medium_and_high(first, second) == CLEAN_UP


@pytest.mark.parametrize("node", [None, ""])
def test_to_be_nominated_to_no_node_is_to_be_cleared(node: str | None) -> None:
    steps = [*STEPS["steps"][:2], {"op": "expect_nominated", "pod": "medium", "node": node}]
    claims = read_plot({**STEPS, "steps": steps}).claims
    assert [str(claim) for claim in claims] == ["medium is nominated (n)", "medium is not nominated any more"]


@pytest.mark.parametrize(
    ("expected", "claims"),
    [
        ({"nominated_node": "n"}, ["high is nominated (n)"]),
        ({"nominatedNodeName": "n"}, ["high is nominated (n)"]),
        ({"nominated": True}, ["high is nominated"]),
        ({"nominated": False}, ["high is never nominated"]),
        ({"nominated_node": None}, ["high is never nominated"]),
        ({"evicted": []}, ["victim is never evicted"]),
        ({"victims": [], "nominated": True}, ["victim is never evicted", "high is nominated"]),
        ({"nominated": {"pod": "other-0", "node": "n"}}, ["other-0 is nominated (n)"]),
    ],
)
def test_a_claim_without_a_subject(expected: Any, claims: list[str]) -> None:
    plot = read_plot({**RACE, "additional": [pod("other-0", 5, 1)], "expected": expected})
    assert [str(claim) for claim in plot.claims] == claims


def test_of_several_groups_the_one_that_comes_first_in_the_sentence_is_meant() -> None:
    row = {"pending": [pod("a", 5, 1)], "preemptor": pod("b", 9, 2), "made_with_preemptor": [pod("c", 5, 1)]}
    plot = read_plot({**row, "expected": ["the preemptor is bound though pods are pending"]})
    assert [str(claim) for claim in plot.claims] == ["b is bound"]
    first = dict(reversed(row.items()))
    plot = read_plot({**first, "expected": {"preemptor_bound": True, "pending_bound": False}})
    assert [str(claim) for claim in plot.claims] == ["b is bound", "a is never bound"]


def test_never_nominated_is_an_invariant() -> None:
    outcome = run_case({**RACE, "additional": [], "expected": {"nominated": False}}, "preempt", "1.22")
    assert outcome.reason.startswith("expected that high is never nominated: the model has a run of ")
    small = {**RACE, "additional": [], "preemptor": pod("high", 9, 3), "expected": {"nominated": False}}
    assert run_case(small, "preempt", "1.22").status == "PASS"


@pytest.mark.parametrize(
    ("more", "where"),
    [
        ({"expected": "high is bound before the others"}, "expected claims an order (`before`)"),
        ({"expected": {"high": "nominated, then bound"}}, "expected.high claims an order (`then`)"),
        ({"expected": {"preemptor_scheduled_before_pending": True}},
         "expected.preemptor_scheduled_before_pending claims an order (`before`)"),
        ({"steps": ["high is bound after the victim is evicted"]}, "step 1 claims an order (`after`)"),
        ({"steps": ["other-0 stays pending until high is bound"]}, "step 1 claims an order (`until`)"),
        ({"steps": [{"op": "expect_nominated_until_bound", "pod": "high"}]}, "step 1 claims an order (`until`)"),
        ({"nominatedPods": [pod("q", 5, 1)], "expected": {"nominated": True}},
         "a scenario that begins with a nomination"),
    ],
)  # fmt: skip
def test_claims_of_order_are_skipped_and_say_so(more: dict[str, Any], where: str) -> None:
    row = {**RACE, "additional": [pod("other-0", 5, 1)], **more}
    assert run_case(row, "preempt", "1.22") == Outcome("SKIP", f"not covered: {where}")


def test_what_is_bound_at_first_is_bound_from_the_start() -> None:
    early = {"create": [pod("low", 0, 2)], "expect": {"bound": ["low"]}}
    plot = scenario_tables._settled(read_plot({**STEPS, "pods": [], "steps": [early, *STEPS["steps"]]}))
    assert plot.pods["low"]["nodeName"] == "n"
    assert plot.batches == [["medium"], ["high"]]
    assert plot.claims == read_plot(STEPS).claims


def test_too_much_to_explore_is_skipped_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scenario_tables, "MAX_STATES", 10)
    outcome = run_case({**RACE, "expected": {"bound": ["high"]}}, "preempt", "1.22")
    assert outcome == Outcome("SKIP", "not covered: high is bound: not decided within 10 states (states)")


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"expected": {}}, "a scenario that expects nothing of any pod"),
        ({"expected": {"joy": ["high"]}}, "expected.joy[0]: nobody can play the sentence `high`"),
        ({"expected": {"bound": ["nobody"]}}, "expected.bound: there is no pod nobody"),
        ({"expected": {"bound": True}}, "expected.bound does not say of which pod"),
        ({"expected": {"bound": 1.5}}, "expected.bound names no pods"),
        ({"expected": "all is well"}, "expected: nobody can play the sentence `all is well`"),
        ({"steps": {}}, "steps is no list"),
        ({"steps": [7]}, "step 1 is neither a sentence nor an object"),
        ({"steps": [{"op": "dance", "pod": "high"}]}, "step 1: there is no operation dance"),
        ({"steps": [{"op": "create"}]}, "step 1 creates no pod"),
        ({"steps": [{"op": "expect_bound", "node": "n"}]}, "step 1 does not say of which pod"),
        ({"steps": [{"op": "expect_bound", "pod": pod("stranger", 1, 1)}]},
         "step 1: {'name': 'stranger', 'uid': 'stranger... is no name of a pod"),
        ({"additional": {"count": 10**9, "pod": pod("x", 0, 1)}, "expected": {"bound": ["high"]}},
         "additional.count is 1000000000, not a number of pods up to 1000"),
    ],
)  # fmt: skip
def test_what_nobody_can_play_fails(more: dict[str, Any], reason: str) -> None:
    assert run_case({**RACE, **more}, "preempt", "1.22") == Outcome("FAIL", f"not translated: {reason}")


def test_words_say_the_fate() -> None:
    told = {
        "preemptorScheduled": Fate.BOUND, "must_be_bound": Fate.BOUND, "never_scheduled": Fate.NEVER_BOUND,
        "still_pending": Fate.NEVER_BOUND, "nominatedNodeName": Fate.NOMINATED, "nomination cleared": Fate.CLEARED,
        "loses its nomination": Fate.CLEARED, "expect_cleared": Fate.CLEARED, "nomination is not cleared": None,
        "not_nominated": Fate.NEVER_NOMINATED,
        "victims": Fate.EVICTED, "not_preempted": Fate.SPARED, "survivors": None,
    }  # fmt: skip
    assert {text: fate_of(words(text)) for text in told} == told
    with pytest.raises(NotTranslated):
        read_plot({"expected": {"bound": ["p"]}})


HIGH = pod("high", 9, 2)
FULL: dict[str, Any] = {"id": "full", "nodes": [node(2)], "pods": [pod("low", 0, 2, "n")], "preemptor": HIGH}
CREATE_HIGH = {"op": "create", "pod": HIGH}


@pytest.mark.parametrize(
    "step",
    [
        {"op": "expect", "not_nominated": ["high"]},
        {"op": "expect_nominated", "pod": "high", "node": None},
        {"op": "expect", "nominated": {"high": None}},
        {"pod": "high", "nominated": False},
        "high is not nominated",
        "low is evicted and high is not nominated",
    ],
)
def test_a_pod_of_a_step_that_is_not_nominated_never_is(step: Any) -> None:
    """To be so once is nothing: it is not nominated when it is created."""
    outcome = run_case({**FULL, "steps": [CREATE_HIGH, step]}, "preempt", "1.22")
    assert outcome.status == "FAIL"
    assert outcome.reason.startswith("expected that high is never nominated: the model has a run of ")


@pytest.mark.parametrize(
    ("step", "claims"),
    [
        ({"op": "wait", "nominated": ["high"]}, ["high is nominated"]),
        ({"op": "wait", "for": "high is bound"}, ["high is bound"]),
        ({"action": "wait_for", "bound": ["high"]}, ["high is bound"]),
        ({"op": "wait", "pod": "high", "bound": True}, ["high is bound"]),
        ("high is nominated and low is evicted", ["high is nominated", "low is evicted"]),
        ("high is nominated to n, and bound", ["high is nominated (n)", "high is bound"]),
        ("high and low are evicted", ["high is evicted", "low is evicted"]),
        ("high, low are evicted", ["high is evicted", "low is evicted"]),
    ],
)
def test_what_a_step_claims(step: Any, claims: list[str]) -> None:
    plot = read_plot({**FULL, "steps": [CREATE_HIGH, step]})
    assert sorted(str(claim) for claim in plot.claims) == sorted(claims)


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        (
            {"op": "expect_not_evicted", "victims": ["low"]},
            "step 2 says that a pod is never evicted, and `victims` that it is evicted: name pods with `pods`",
        ),
        (
            {"op": "expect_never_bound", "scheduled": ["high"]},
            "step 2 says that a pod is never bound, and `scheduled` that it is bound: name pods with `pods`",
        ),
        (
            {"op": "expect", "not_nominated": {"pod": "high", "node": None}},
            "step 2.not_nominated: no node, of what is not so anyway",
        ),
        ({"op": "expect", "evicted": {}}, "step 2.evicted names no pods"),
        (
            {"op": "expect", "preemptor_nomination_cleared": False},
            "step 2.preemptor_nomination_cleared: nobody compares whether a nomination is kept",
        ),
        ({"op": "expect", "low_priority_never_evicted": True}, "step 2.low_priority_never_evicted does not say of which pod"),
    ],
)  # fmt: skip
def test_what_says_two_things_is_refused(step: Any, problem: str) -> None:
    case = {**FULL, "steps": [CREATE_HIGH, step]}
    if "low_priority_never_evicted" in step:
        case = {**case, "high_priority_pods": [pod("other", 9, 2)]}
    with pytest.raises(NotTranslated) as caught:
        read_plot(case)
    assert str(caught.value) == problem


def test_a_sentence_creates_and_claims() -> None:
    case = {
        **FULL,
        "medium": pod("medium", 5, 2),
        "steps": ["create medium and high, high is nominated and low is evicted"],
    }
    plot = read_plot(case)
    assert plot.batches == [["high", "medium"]]
    assert [str(claim) for claim in plot.claims] == ["high is nominated", "low is evicted"]


def test_first_not_nominated_and_then_is_an_order() -> None:
    steps = [CREATE_HIGH, "high is not nominated", "high is nominated"]
    assert run_case({**FULL, "steps": steps}, "preempt", "1.22") == Outcome(
        "SKIP", "not covered: step 3: high is not nominated, and then it is, which is an order"
    )


def test_claims_beside_other_expectations_are_not_passed_over() -> None:
    case = {**FULL, "expected_evicted": ["low"], "expected": {"preemptor_scheduled": False}}
    assert run_case(case, "preempt", "1.22") == Outcome(
        "FAIL", "not translated: nobody compares expected beside expected_evicted"
    )


BESIDE: dict[str, Any] = {"id": "beside", "nodes": [node(2)], "pods": [pod("there", 0, 1, "n")]}


@pytest.mark.parametrize(
    ("cpu", "expected", "reason"),
    [
        (1, {"bound": ["there", "high"]}, ""),
        (1, {"there": {"bound": "n"}}, ""),
        (2, {"bound": ["there"]}, "expected that there is never evicted: the model has a run of "),
        (1, {"there": {"never_bound": True}}, "expected that there is never bound: the model has a run of "),
    ],
)
def test_what_is_bound_from_the_start_stays_so(cpu: int, expected: dict[str, Any], reason: str) -> None:
    outcome = run_case({**BESIDE, "preemptor": pod("high", 9, cpu), "expected": expected}, "preempt", "1.22")
    assert outcome.status == ("FAIL" if reason else "PASS")
    assert outcome.reason.startswith(reason)


def test_nor_does_it_move() -> None:
    case = {**BESIDE, "nodes": [node(2), {**node(2), "name": "m"}], "expected": {"there": {"bound": "m"}}}
    reason = run_case(case, "preempt", "1.22").reason
    assert reason == "expected that there is bound (m): the row has it on n from the start"


def test_before_anything_is_made_it_is_so_and_may_end() -> None:
    steps = [
        {"expect": {"bound": ["there"]}},
        {"create": [pod("high", 9, 2)]},
        {"expect": {"evicted": ["there"]}},
    ]
    assert run_case({**BESIDE, "steps": steps}, "preempt", "1.22").status == "PASS"


@pytest.mark.parametrize(
    ("more", "stands_for"), [({}, 2), ({"pdbs": [{"name": "b", "selector": {"matchLabels": {"x": "y"}}}]}, 3)]
)
def test_labels_tell_pods_apart_where_something_selects_by_them(
    more: dict[str, Any], stands_for: int
) -> None:
    others = [{**pod(f"other-{i}", 5, 1), "labels": {"own": str(i)}} for i in range(3)]
    case = {**RACE, "additional": others, "expected": CLAIMS, **more}
    plot = read_plot(case)
    kept, _ = scenario_tables._with_few_equals(plot, 2, scenario_tables._labels_count(case, plot))
    assert sum(name.startswith("other") for name in kept.pods) == stands_for


HOOK = {"preemptor_label": {"may": "yes"}}
OF_NODES = ["NodeResourcesFit", "NodeNameEqualsPodName"]


@pytest.mark.parametrize(
    ("names", "labels", "more"),
    [
        ("abc", "nny", {"eligibility_hook": HOOK}),
        pytest.param("abc", "nnn", {"eligibility_hook": HOOK}, marks=pytest.mark.nightly),
        pytest.param("abn", "nnn", {"filters": OF_NODES}, marks=pytest.mark.nightly),
        ("abc", "nnn", {"filters": OF_NODES}),
    ],
)
def test_the_third_of_three_is_played_if_it_alone_may_preempt(
    names: str, labels: str, more: dict[str, Any]
) -> None:
    others = [
        {**pod(name, 5, 2), "labels": {"may": "yes" if said == "y" else "no"}}
        for name, said in zip(names, labels, strict=True)
    ]
    case = {**RACE, "additional": others, "expected": {"additional_never_bound": True}, **more}
    outcome = run_case(case, "preempt", "1.36")
    may = "n" in names or "y" in labels
    assert outcome.status == ("FAIL" if may else "PASS"), outcome.reason
    assert outcome.reason.startswith(f"expected that {names[2]} is never bound: ") is may


def test_a_pod_that_a_budget_has_paid_for_is_like_no_other() -> None:
    budget = {"name": "b", "selector": {"matchLabels": {"x": "y"}}, "disruptedPods": ["other-2"]}
    case = {
        **RACE,
        "additional": [pod(f"other-{i}", 5, 1) for i in range(4)],
        "pdbs": [budget],
        "expected": CLAIMS,
    }
    plot = read_plot(case)
    kept, _ = scenario_tables._with_few_equals(plot, 1, True, scenario_tables._names_that_count(case, plot))
    assert [name for name in kept.pods if name.startswith("other")] == ["other-0", "other-2"]


@pytest.mark.parametrize(("disabled", "status"), [(True, "PASS"), (False, "FAIL")])
def test_preemption_may_be_disabled(disabled: bool, status: str) -> None:
    case = {**BESIDE, "preemptor": pod("high", 9, 2), "preemption_disabled": disabled}
    expected = {"preemptor_nominated": False, "preemptor_scheduled": False, "evicted": []}
    assert run_case({**case, "expected": expected}, "preempt", "1.22").status == status
    table = {
        "filters": ["(default)"],
        "integration": True,
        "expected_nominated_node": None,
        "expected_evicted": [],
    }
    assert run_case({**case, **table}, "preempt", "1.22").status == status


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("preemption", "disabled"),
        ("preemption_disabled", "true"),
        ("preemption_enabled", 0),
        ("noPreemption", 1.0),
        ("postfilter", ""),
    ],
)
@pytest.mark.parametrize(
    "expected",
    [
        {"expected": {"evicted": ["there"]}},
        {"filters": ["(default)"], "expected_nominated_node": "n", "expected_evicted": ["there"]},
    ],
)
def test_a_switch_of_preemption_is_true_or_false(name: str, value: Any, expected: dict[str, Any]) -> None:
    case = {**BESIDE, "preemptor": pod("high", 9, 2), **expected}
    assert run_case({**case, name: None}, "preempt", "1.22").status == "PASS"
    assert run_case({**case, name: value}, "preempt", "1.22") == Outcome(
        "FAIL", f"not translated: {name} is {value!r}, not true or false"
    )


def test_pods_may_be_called_so() -> None:
    case = {**BESIDE, "preempting": pod("high", 9, 2), "expected": {"evicted": ["there"]}}
    assert run_case(case, "preempt", "1.22").status == "PASS"


def test_what_nobody_reads_of_a_scenario_is_refused() -> None:
    outcome = run_case({**RACE, "expected": CLAIMS, "numPending": 5}, "preempt", "1.22")
    assert (outcome.status, outcome.reason) == ("FAIL", "not translated: nobody reads numPending")
    assert run_case({**RACE, "expected": CLAIMS, "numPending": 0}, "preempt", "1.22") == outcome
    assert run_case({**RACE, "expected": CLAIMS, "repetitions": 5}, "preempt", "1.22").status == "PASS"
