"""Answers against a brute-force walk: in random systems with random sequences, and in the model of the scheduler."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.analysis.ask.asked_property import ID, asked_property, positions
from podrace.analysis.ask.monitor import Order, Watched, conjuncts, lay_over
from podrace.analysis.ask.question import AskedStep, Question
from podrace.analysis.ask.steps_meant import call_of
from podrace.analysis.possible.answered import searched, steps_possible
from podrace.analysis.possible.obstacles import in_the_way
from podrace.analysis.request.plan import Selection, plan
from podrace.analysis.systems import system_of
from podrace.checker.core.exploration import Budget
from podrace.checker.core.interpreter import Interpreter
from podrace.checker.search import check, engine_of
from podrace.checker.trace.execution import replay
from podrace.model.language import all_of, as_expr
from podrace.model.language.expressions.expr import fresh_graph
from tests.analysis.ask.brute_force import Walked
from tests.profiles import examples
from tests.random_systems import Vocabulary, systems

BUDGET = Budget(jobs=1)
SMALL = (
    "error-is-parked",
    "forgotten-wakes-nobody",
    "gate-outlives-removal",
    "told-too-late",
    "missed-deletion",
    "update-lost",
)
"""Scenarios with few states: 28 to 237."""


@st.composite
def questions(draw):
    """A random system, and a random order of some of its transitions, with conditions."""
    system = draw(systems(invariants=0, witnesses=0, resettabilities=0))
    with fresh_graph():
        words = Vocabulary(draw, list(system.variables))
        numbers = st.integers(0, max(0, len(system.transitions) - 1))

        def events(most=2):
            chosen = (
                draw(st.lists(numbers, min_size=1, max_size=most, unique=True)) if system.transitions else []
            )
            return {n: words.condition(1) if draw(st.booleans()) else as_expr(True) for n in chosen}

        steps = tuple(
            Watched(
                events(), draw(st.integers(0, 3)) == 0, events() if draw(st.integers(0, 3)) == 0 else None
            )
            for _ in range(draw(st.integers(1, 4)))
        )
        end = words.condition(1) if draw(st.integers(0, 2)) == 0 else as_expr(True)
        never = events(1) if draw(st.integers(0, 4)) == 0 else {}
        after = events(1) if draw(st.integers(0, 4)) == 0 else None
        return system, Order(steps, never, end, after)


@given(questions())
@settings(max_examples=examples(60))
def test_the_observer_finds_what_a_walk_through_all_states_and_places_finds(asked):
    system, order = asked
    walked = Walked(system, order)
    with fresh_graph():
        watched = lay_over(system, ID, order)
    for engine in ("reference", "native"):
        (result,) = check(watched, [ID], BUDGET, engine=engine)
        found = None if result.trace is None else len(result.trace.steps)
        assert found == walked.shortest
        if result.trace is not None:
            at = positions(watched, result.trace.path, result.trace.states, order)
            assert len(at) == len(order.steps)
            assert at == sorted(set(at))


def asked(name: str, question: Question):
    """The run that asks a question of a scenario in its release."""
    return plan(Selection((name,), properties=(ID,), own={ID: asked_property(question)}))[0]


def plain_system(name: str):
    """The system of a scenario without an observer."""
    return system_of(plan(Selection((name,), properties=("S-CAP",)))[0])


def random_run(system, rng: random.Random, most: int = 40):
    """A random run, as the numbers of its transitions."""
    interpreter, state = Interpreter(system), system.initial
    path: list[int] = []
    while len(path) < most and (enabled := interpreter.enabled(state)):
        path.append(rng.choice(enabled))
        state = interpreter.successor(state, path[-1])
    return path


def as_question(system, numbers) -> Question:
    """Steps by their names."""
    return Question(tuple(AskedStep(call_of(system.transitions[n])) for n in numbers))


def cut_runs(count: int) -> None:
    rng = random.Random(1)
    plain = {name: plain_system(name) for name in SMALL}
    for _ in range(count):
        name = rng.choice(SMALL)
        path = random_run(plain[name], rng)
        chosen = sorted(rng.sample(range(len(path)), min(len(path), rng.randint(3, 6))))
        question = as_question(plain[name], [path[i] for i in chosen])
        found = searched(asked(name, question), BUDGET).result
        assert found.trace is not None, (name, question.items)
        assert len(found.trace.steps) <= chosen[-1] + 1


def random_questions(count: int) -> tuple[int, int]:
    """Random sequences, held against the walk; gives how many were possible and not."""
    rng = random.Random(2)
    plain = {name: plain_system(name) for name in SMALL}
    possible = 0
    for _ in range(count):
        name = rng.choice(SMALL)
        system = plain[name]
        happening = sorted(set(random_run(system, rng, 200)))
        numbers = [rng.choice(happening) for _ in range(rng.randint(2, 4))]
        question = Question(
            tuple(
                AskedStep(step.words, directly=bool(i) and rng.random() < 0.2)
                for i, step in enumerate(as_question(system, numbers).steps)
            )
        )
        run = asked(name, question)
        told = searched(run, BUDGET)
        watched = told.system
        understood = asked_property(question).understood(watched)
        walked = Walked(unwatched(watched), understood.order)
        if told.result.trace is not None:
            possible += 1
            assert len(told.result.trace.steps) == walked.shortest
            continue
        assert told.exploration.complete
        assert walked.shortest is None
        assert steps_possible(told, len(numbers)) == walked.possible
        check_obstacles(watched, understood, walked.possible, walked)
    return possible, count - possible


def check_obstacles(watched, understood, possible, walked) -> None:
    """What is said to be in the way is false in every state after the beginning, as the interpreter has it."""
    beginning = replay(watched, ())
    found = in_the_way(watched, understood, possible, beginning, BUDGET, engine_of("native"))
    assert {one.wanted.transition for one in found} == set(understood.order.steps[possible].events)
    states = walked.after(possible)
    assert states
    interpreter = Interpreter(unwatched(watched))
    for one in found:
        for state in states:
            if one.always or all(interpreter.holds(other.where, state) for other in one.others):
                assert not interpreter.holds(one.condition.where, state)


def unwatched(system):
    """A system without its observer."""
    variables = tuple(v for v in system.variables if not v.name.startswith(f"{ID}."))
    return replace(
        system,
        variables=variables,
        transitions=tuple(
            replace(t, updates={v: e for v, e in t.updates.items() if v in variables})
            for t in system.transitions
        ),
    )


def test_runs_of_the_model_cut_to_some_of_their_steps_are_possible_and_no_shortest_run_is_longer():
    cut_runs(examples(8))


def test_random_sequences_of_steps_of_the_model_are_answered_as_the_walk_answers_them():
    possible, impossible = random_questions(examples(8))
    assert possible + impossible == examples(8)


@pytest.mark.campaign
def test_two_hundred_of_each():
    cut_runs(200)
    possible, impossible = random_questions(200)
    assert min(possible, impossible) >= 40


def test_conjuncts_are_the_parts_of_a_condition():
    with fresh_graph():
        assert conjuncts(as_expr(True)) == []
        assert conjuncts(all_of(())) == []
