"""Orders of steps over all clusters up to a size, against the clusters one by one."""

import pytest

from podrace.analysis.ask.asked_property import ID
from podrace.analysis.ask.question import read_question
from podrace.analysis.possible.answered import searched
from podrace.analysis.prove.cluster_families import named
from podrace.analysis.prove.proof_of_property import Prover
from podrace.analysis.prove.proof_request import ProofRequest, questions
from podrace.analysis.request.method import NOBODY
from podrace.analysis.request.plan import Run
from podrace.base.problems import NoSuchStep, UsageProblem
from podrace.checker.core.exploration import Budget
from podrace.reports.answers.proof_report import Proof
from podrace.scenarios import Scenario
from podrace.scenarios.template import concrete


def proved(*items: str, pods: int = 2, nodes: int = 1) -> tuple[Prover, Proof]:
    """The prover, and its proof."""
    request = ProofRequest(pods, nodes, release="1.36", asked=read_question(items))
    (question,) = questions(request)
    prover = Prover(request, question, NOBODY)
    return prover, prover.run()


def test_names_stand_for_every_choice_of_different_pods_and_nodes():
    question = read_question(
        ["scheduler assumes p on n", "not: users delete q", "then: pop(p)", "end: m overfull"]
    )
    choices = question.about(["p1", "p2", "p3"], ["n1", "n2"])
    found = {tuple(names.values()): asked.items for names, asked in choices}
    assert len(found) == 6 * 2
    assert found["p3", "p1", "n2", "n1"] == (
        "scheduler assumes p3 on n2",
        "not: users delete p1",
        "then: pop(p3)",
        "end: n1 overfull",
    )
    assert list(question.about(["p1"], ["n1", "n2"])) == []


def test_names_of_a_cluster_are_names_too():
    (found,) = [
        asked for names, asked in read_question(["p1 pops q"]).about(["p1", "p2"], []) if names["p1"] == "p2"
    ]
    assert found.items == ("p2 pops p1",)


@pytest.mark.ci
def test_each_choice_of_clusters_is_answered_as_one_of_them_alone():
    prover, proof = proved("scheduler assumes p on n", "scheduler assumes q on n")
    assert proof.answer == "POSSIBLE"
    seen = set()
    for name, placement in prover.placements.items():
        question = placement.question
        for outcome in (one for result in prover.found[name] for one in result.clusters):
            spec = concrete(question.template, named(question, outcome.values))
            run = Run(Scenario("alone", "", "alone", spec), prover.composition, ID, own=question.cls)
            result = searched(run, Budget(jobs=1)).result
            assert (result.verdict.name, outcome.verdict) in {("VIOLATED", "VIOLATED"), ("HOLDS", "HOLDS")}
            if result.trace is not None:
                assert len(result.trace.steps) == len(outcome.trace)
            seen.add(outcome.verdict)
    assert seen == {"VIOLATED", "HOLDS"}
    example = proof.groups[0]
    assert example.finding is not None
    assert example.finding.verdict == "VIOLATED"
    assert "podrace ask FILE" in example.scenario
    assert proof.why is None


def test_what_is_possible_in_none_is_explained_in_one():
    _, proof = proved("binding.bind(p)", "scheduler.start_binding(p)", "scheduler assumes p on n", pods=1)
    assert proof.why is not None
    assert (proof.answer, proof.violated, proof.why.answer) == ("IMPOSSIBLE", 0, "IMPOSSIBLE")
    assert proof.why.possible == 1
    assert proof.why.obstacles


def test_what_is_a_step_in_no_cluster_is_refused():
    with pytest.raises(NoSuchStep, match=r"no step of .* has these words"):
        proved("users paint p", pods=1)
    with pytest.raises(UsageProblem, match="steps have these words"):
        proved("the p", pods=1)


@pytest.mark.ci
def test_a_step_that_only_some_placements_have_is_asked_there():
    prover, proof = proved("async_preemption.evict_last(p)")
    assert proof.answer == "POSSIBLE"
    assert {row.pods for row in proof.rows} == {2}
    assert len(prover.elsewhere) == 2
    assert "2 of 8 choices of placement, pods and nodes have no such step" in proof.notes[-1]
