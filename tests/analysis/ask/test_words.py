"""What the words of a question mean: sentences, names, functions of upstream's, and states."""

import pytest

from podrace.analysis.ask.asked_property import asked_property
from podrace.analysis.ask.question import AskedStep, Question, read_question
from podrace.analysis.ask.states_meant import property_in, state_meant
from podrace.analysis.ask.steps_meant import StepsMeant
from podrace.analysis.request.plan import Selection, plan
from podrace.analysis.systems import system_of
from podrace.base.problems import UsageProblem


@pytest.fixture(scope="module")
def system():
    (run,) = plan(Selection(("72124",), properties=("S-CAP",)))
    found = system_of(run)
    return found.with_predicates(views={"S-CAP": found.invariants["S-CAP"]})


@pytest.fixture(scope="module")
def meant(system):
    return StepsMeant(system)


@pytest.mark.parametrize(
    ("words", "names", "told"),
    [
        ("The scheduler takes p from the head of activeQ.", ("scheduler.pop",), "The scheduler takes p from the head of activeQ."),
        ("scheduler takes p", ("scheduler.pop",), "The scheduler takes p from the head of activeQ."),
        ("scheduler assumes q on n1", ("scheduler.assume",), "The scheduler assumes q on n1: in its cache the pod is there already."),
        ("scheduler writes p nominated to n1", ("scheduler.write_nomination",), "The scheduler writes to the API server that p is nominated to n1."),
        # The verb names the step: its sentence is meant, though others have the words, too.
        ("scheduler nominates p to n1", ("scheduler.nominate",), "The scheduler notes in its own memory, the nominator, that p is nominated to n1."),
        ("the filters pass: p fits on n1", ("scheduler.filter_nominated", "scheduler.filter"), "The filters pass: p fits on n1."),
        ("failure.requeue(p)", ("failure.requeue",), "failure.requeue(p)"),
        ("pop(q)", ("scheduler.pop",), "scheduler.pop(q)"),
        ("scheduler.assume(pod=q)", ("scheduler.assume",), "scheduler.assume(q, n1)"),
        ("MakeNextPodFunc(p)", ("scheduler.pop",), ""),
        ("PriorityQueue.Pop(p)", ("scheduler.pop",), "backend/queue/scheduling_queue.go:PriorityQueue.Pop, in scheduler.pop(p)"),
        ("AddUnschedulablePodIfNotPresent(p)", ("failure.requeue", "failure.add_fetched"), "backend/queue/scheduling_queue.go:PriorityQueue.AddUnschedulablePodIfNotPresent, in failure.requeue(p)"),
    ],
)  # fmt: skip
def test_steps_are_found_by_sentence_by_name_and_by_function(meant, words, names, told):
    if words.startswith("MakeNextPodFunc"):
        with pytest.raises(
            UsageProblem, match="no step of nominated-node-race has these words; the nearest: "
        ):
            meant.of(words)
        return
    found = meant.of(words)
    assert found.names == names
    assert found.told[0] == told


def test_only_the_states_in_which_a_step_is_told_so_count(meant, system):
    found = meant.of("scheduler assumes q on n1")
    (number,) = found.events
    assert not found.events[number].is_const
    assert system.transitions[number].label == "scheduler.assume(pod=q, node=n1)"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("scheduler says something of p", "no step of nominated-node-race has these words; the nearest: "),
        ("failure handler p", "10 steps have these words: "),
        ("fail(p)", "2 steps have this name: write `scheduler.fail` or `binding.fail`"),
        (
            "scheduler.pop(zebra)",
            "no such arguments: this step is `scheduler.pop(v)`, `scheduler.pop(p)` and `scheduler.pop(q)`",
        ),
        ("priorityqueue.pop(p)", "docs/notebook/functions.md has `PriorityQueue.Pop`: write it so"),
        ("p", "steps have these words: "),
        ("...", "no step of nominated-node-race has these words; the nearest: "),
    ],
)
def test_words_that_mean_no_step_or_several_are_refused_with_the_nearest(meant, words, said):
    with pytest.raises(UsageProblem) as caught:
        meant.of(words)
    assert str(caught.value).startswith(f"`{words}`: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("p parked", "queue: p in unschedulableQ"),
        ("p in backoffQ", "queue: p in backoffQ"),
        ("p nominated to n1", "API server: p nominated to n1"),
        ("nominator: p nominated to n1", "nominator: p nominated to n1"),
        ("cache: q assumed", "cache: q assumed"),
        ("v deleted", "API server: v gone"),
        ("q bound to n1", "API server: q on n1"),
        ("n1 overfull", "n1 is overfull"),
        ("S-CAP", "S-CAP is violated: "),
    ],
)
def test_states_are_found_by_what_components_know_and_by_properties(meant, system, words, told):
    assert state_meant(system, words, meant.names).told.startswith(told)


def test_a_state_that_nobody_tells_is_refused_with_the_nearest(meant, system):
    with pytest.raises(
        UsageProblem, match=r"^`p happy`: no state of nominated-node-race has these words; the nearest: "
    ):
        state_meant(system, "p happy", meant.names)
    with pytest.raises(UsageProblem, match="goes on indefinitely, or stays possible, and not about a state"):
        property_in("L-RETRY" if "L-RETRY" in _liveness() else next(iter(_liveness())))


def _liveness():
    from podrace.properties import PROPERTIES

    return [name for name, cls in PROPERTIES.items() if cls.kind == "liveness"]


ITEMS = ("not: b", "a", "then: c", "not: d", "not: e", "f", "not: g", "never: h", "end: p parked")


def test_a_question_is_read_as_it_is_written():
    found = read_question(ITEMS)
    assert found.items == ITEMS
    assert found.steps == (
        AskedStep("a", without=("b",)), AskedStep("c", directly=True), AskedStep("f", without=("d", "e")),
    )  # fmt: skip
    assert read_question(["end: S-CAP"]) == Question((), ends=("S-CAP",))
    assert asked_property(found) is asked_property(read_question(ITEMS))


@pytest.mark.parametrize(
    ("items", "said"),
    [
        ([], "no step is asked about: write one, such as `users delete p`, or a state with `end: p parked`"),
        (["then: a"], "`then: a`: there is no step before it: leave out `then`"),
        (["a", "not: b"], "`not: b`: no step and no end follows it: write one, or use `never`"),
        (["a", "then:"], "`then:`: write a step or a state behind the colon"),
        ([" "], "an empty step: write one"),
        (["a\nb"], "`a�b`: a step is one line of at most 300 printable characters"),
        (["a"] * 21, "21 steps are asked about: a question has at most 20"),
    ],
)
def test_a_question_that_is_none_is_refused(items, said):
    with pytest.raises(UsageProblem) as caught:
        read_question(items)
    assert str(caught.value) == said


def test_orders_near_a_question_differ_by_one_change():
    asked = read_question(["a", "b", "then: c", "end: p parked"])
    near = {change: order.items for change, order in asked.orders_near(2)}
    assert near == {
        "step 3 before step 2": ("a", "then: c", "b", "end: p parked"),
        "step 3 before step 1": ("c", "a", "b", "end: p parked"),
        "anything between step 2 and step 3": ("a", "b", "c", "end: p parked"),
        "without step 3": ("a", "b", "end: p parked"),
        "without step 2": ("a", "then: c", "end: p parked"),
        "without step 1": ("b", "then: c", "end: p parked"),
    }
    assert next(iter(asked.orders_near(3))) == (
        "without the state at the end",
        read_question(["a", "b", "then: c"]),
    )
