"""The answer to a question: the search, and where nothing is found, how far it goes and what is in the way."""

from collections.abc import Callable
from dataclasses import replace

import msgspec

from ...base.structs import Data
from ...base.text import counted
from ...checker.core.exploration import Budget, Exploration, Progress
from ...checker.core.result import Result, Verdict
from ...checker.reduction.conclusion import conclude
from ...checker.reduction.idle_parts import never_acted
from ...checker.reduction.questions import slice_for
from ...checker.reduction.slicing import Slicer, transition_map
from ...checker.search import Group, decided, engine_of
from ...checker.trace.execution import replay
from ...model.asked_for import asked_for
from ...model.language import TransitionSystem
from ...model.language.expressions.expr import fresh_graph
from ...reports.answers.ask_report import AnswerWord, AskAnswer, NearOrder, UnderstoodItem
from ...reports.verdict_words import idle_words
from ..ask.asked_property import ID, AskedProperty, Understood, asked_property
from ..ask.question import Question
from ..findings import asked_of, assumed, counts_of, finding_of, how_to_go_on, seen_of
from ..request.plan import Run
from ..shown.steps import steps_of
from ..systems import system_of
from .obstacles import in_the_way, obstacle

MOST_ORDERS = 8
MOST_STATES = 20_000_000
"""Of orders near an impossible one, so many are searched, and no more once so many states were."""

ANSWERS: dict[Verdict, AnswerWord] = {
    Verdict.VIOLATED: "POSSIBLE",
    Verdict.HOLDS: "IMPOSSIBLE",
    Verdict.INCONCLUSIVE: "INCONCLUSIVE",
}

Watch = Callable[[Progress], None] | None


class Asked(Data):
    """A question in one system, and what its search gave."""

    run: Run
    system: TransitionSystem
    slicer: Slicer
    sliced: TransitionSystem
    exploration: Exploration
    result: Result


def searched(run: Run, budget: Budget, engine: str = "native", watch: Watch = None) -> Asked:
    """The search for the order that a run asks about. Raises Problem."""
    system = system_of(run)
    with fresh_graph():
        beginnings = {name: e for name, e in system.views.items() if name.startswith(f"{ID}: ")}
        slicer = Slicer(system.with_predicates(witnesses=beginnings))
        explore = engine_of(engine)
        sliced, exploration, (result,) = decided(
            slicer,
            Group("invariant", (ID,), slice_for(slicer, "invariant", [ID])),
            lambda part: explore(part, budget, watch),
            lambda part, room: explore(part, room, None),
            budget,
            lambda part, answer, name: conclude(slicer, part, answer, name, engine),
        )
        return Asked(run, system, slicer, sliced, exploration, result)


def answer(run: Run, budget: Budget, engine: str = "native", watch: Watch = None) -> AskAnswer:
    """The answer to the question of a run. Raises Problem."""
    asked = searched(run, budget, engine, watch)
    cls = question_of(run)
    understood = cls.understood(asked.system)
    result = asked.result
    word = ANSWERS[result.verdict]
    seen = seen_of(run, result)
    told = AskAnswer(
        **{key: value for key, value in asked_of(run).items() if key != "issues"},
        **{key: seen[key] for key in ("verdict", "scope", "constraints_hit")},
        **counts_of(result.counts),
        answer=word,
        question=cls.question.items,
        understood=items_of(cls.question, understood),
        possible=steps_possible(asked, len(understood.steps)),
        asked_steps=len(understood.steps),
        words=_words(word, result) + assumed(run, result),
        notes=(*run.composition.notes, *(note for note in (how_to_go_on(result, budget),) if note)),
    )
    if word == "POSSIBLE":
        return msgspec.structs.replace(told, finding=finding_of(run, asked.system, result, words=told.words))
    if word == "INCONCLUSIVE":
        return told
    return _explained(told, asked, understood, budget, engine, watch)


def question_of(run: Run) -> type[AskedProperty]:
    """The question that a run is about."""
    assert run.own is not None
    assert issubclass(run.own, AskedProperty)
    return run.own


def steps_possible(asked: Asked, steps: int) -> int:
    """How many steps of the question can happen in their order."""
    return max((i for i in range(1, steps + 1) if f"{ID}: {i}" in asked.exploration.witnesses), default=0)


def _words(word: AnswerWord, result: Result) -> str:
    counts = result.counts
    explored = f"{counted(counts.states or 0, 'state')}, {counted(counts.transitions or 0, 'transition')}, depth {counts.depth} explored"
    if word == "POSSIBLE":
        assert result.trace is not None
        return f"Possible: a run of {counted(len(result.trace.steps), 'step')}, and no shorter run does it ({explored})."
    if word == "INCONCLUSIVE":
        return f"Not decided: the search ended before every interleaving was explored ({explored})."
    bounds = result.coverage.constraints_hit
    within = f" Within these constraints, which were hit: {'; '.join(bounds)}." if bounds else ""
    return f"Impossible in this cluster, within its scope: no interleaving does it ({explored}).{within}"


def _explained(
    told: AskAnswer, asked: Asked, understood: Understood, budget: Budget, engine: str, watch: Watch
) -> AskAnswer:
    path = asked.exploration.witnesses.get(f"{ID}: {told.possible}", ())
    numbers = transition_map(asked.sliced, asked.system)
    beginning = replay(asked.system, tuple(numbers[i] for i in path))
    with fresh_graph():
        found = in_the_way(
            asked.system, understood, told.possible, beginning, budget, engine_of(engine), watch
        )
        obstacles = tuple(obstacle(asked.system, one) for one in found)
        idle = _never_acted(asked, budget, engine)
    return msgspec.structs.replace(
        told,
        beginning=steps_of(asked.system, beginning),
        obstacles=obstacles,
        notes=(*told.notes, *idle_words(idle)),
        nearest=_nearest(asked, told.possible, budget, engine, watch),
    )


def _never_acted(asked: Asked, budget: Budget, engine: str) -> dict[str, str]:
    """What the scenario asks for and what never took a step: where that is dead, an order may be impossible for no other reason."""

    def again(question: TransitionSystem, room: Budget) -> Exploration:
        return engine_of(engine)(question, room, None)

    parts = asked_for(asked.system)
    return never_acted(asked.slicer, asked.sliced, asked.exploration, parts, again, budget)


def _nearest(asked: Asked, possible: int, budget: Budget, engine: str, watch: Watch) -> NearOrder | None:
    """The first order with one change that is possible; the ones about the step that is not come first."""
    left = MOST_STATES
    for tried, (change, question) in enumerate(question_of(asked.run).question.orders_near(possible)):
        if tried == MOST_ORDERS or left <= 0:
            return None
        if not question.steps and not question.ends:
            continue
        room = replace(budget, max_states=min(left, budget.max_states or left))
        found = searched(replace(asked.run, own=asked_property(question)), room, engine, watch)
        left -= found.exploration.states
        if found.result.trace is not None:
            return NearOrder(change, question.items, len(found.result.trace.steps))
    return None


def items_of(question: Question, understood: Understood) -> tuple[UnderstoodItem, ...]:
    """The items of a question, with what each was taken for."""
    found = []
    for asked, meant, others in zip(question.steps, understood.steps, understood.without, strict=True):
        found += [
            UnderstoodItem(f"not: {words}", other.told)
            for words, other in zip(asked.without, others, strict=True)
        ]
        found.append(UnderstoodItem(f"then: {asked.words}" if asked.directly else asked.words, meant.told))
    found += [
        UnderstoodItem(f"not: {w}", m.told) for w, m in zip(question.after, understood.after, strict=True)
    ]
    found += [
        UnderstoodItem(f"never: {w}", m.told) for w, m in zip(question.never, understood.never, strict=True)
    ]
    found += [
        UnderstoodItem(f"end: {w}", (m.told,)) for w, m in zip(question.ends, understood.ends, strict=True)
    ]
    return tuple(found)
