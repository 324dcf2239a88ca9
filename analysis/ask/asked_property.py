"""A question as a property: that the order of steps which it asks about never happens. Where it is violated, the order is possible, and the counterexample shows how."""

from collections.abc import Sequence
from typing import Any, ClassVar

from ...base.structs import Data
from ...base.text import one_line
from ...checker.core.interpreter import Interpreter
from ...model.language import Expr, State, TransitionSystem
from ...model.language.expressions.expr import all_of, any_of, as_expr
from ...properties.base.of_steps import OfSteps
from .monitor import Events, Order, Watched, lay_over
from .question import Question
from .states_meant import StateMeant, property_in, state_meant
from .steps_meant import Meant, StepsMeant

ID = "ASK"
"""The identifier of every question: a run is about one."""


class Understood(Data):
    """What the words of a question mean in one system."""

    steps: tuple[Meant, ...]
    without: tuple[tuple[Meant, ...], ...]
    never: tuple[Meant, ...]
    after: tuple[Meant, ...]
    ends: tuple[StateMeant, ...]
    order: Order


class AskedProperty(OfSteps):
    """An order of steps never happens."""

    id = ID
    question: ClassVar[Question]

    def holds(self) -> Expr:
        """Nothing of it is about states alone: `completed` says the rest."""
        return as_expr(True)

    @classmethod
    def sentence(cls) -> str:
        """The question."""
        return cls.question.sentence

    @classmethod
    def completed(cls, system: TransitionSystem) -> TransitionSystem:
        """The system with an observer of the order that is asked about."""
        seen = system.with_predicates(
            views={**system.views, **{p.id: system.invariants[p.id] for p in cls.companions}}
        )
        return lay_over(seen, ID, cls.understood(seen).order)

    @classmethod
    def remarks(
        cls, system: TransitionSystem, path: Sequence[int], states: Sequence[State]
    ) -> dict[int, str]:
        """Which steps of a run are those of the question."""
        found = positions(system, path, states, cls.understood(system).order)
        said = {at: f"step {i} of {len(found)} of the question" for i, at in enumerate(found, 1)}
        return {**said, len(path) + 1: "all of the question has happened"}

    @classmethod
    def understood(cls, system: TransitionSystem) -> Understood:
        """What the question means in a system, with or without its observer. Raises UsageProblem."""
        question, meant = cls.question, StepsMeant(system)
        steps = tuple(meant.of(step.words) for step in question.steps)
        without = tuple(tuple(meant.of(w) for w in step.without) for step in question.steps)
        never = tuple(meant.of(words) for words in question.never)
        after = tuple(meant.of(words) for words in question.after)
        ends = tuple(state_meant(system, words, meant.names) for words in question.ends)
        watched = tuple(
            Watched(found.events, asked.directly, _any(others) if others else None)
            for asked, found, others in zip(question.steps, steps, without, strict=True)
        )
        order = Order(watched, _any(never), all_of(end.where for end in ends), _any(after) if after else None)
        return Understood(steps, without, never, after, ends, order)


def _any(found: tuple[Meant, ...]) -> Events:
    events: dict[int, list[Expr]] = {}
    for meant in found:
        for number, where in meant.events.items():
            events.setdefault(number, []).append(where)
    return {number: any_of(where) for number, where in events.items()}


_asked: dict[Question, type[AskedProperty]] = {}
"""One class for each question."""


def asked_property(question: Question) -> type[AskedProperty]:
    """The property that says that the order of a question never happens. Raises UsageProblem."""
    if question not in _asked:
        found = [prop for words in question.ends if (prop := property_in(words)) is not None]
        said = one_line("; ".join(question.items), 120)
        body: dict[str, Any] = {
            "question": question,
            "answers": {"VIOLATED": f"Possible ({said})", "HOLDS": f"Impossible within the scope ({said})"},
            "companions": tuple(dict.fromkeys(found)),
            "__doc__": question.sentence,
            "__module__": __name__,
        }
        _asked[question] = type("Asked", (AskedProperty,), body)
    return _asked[question]


def positions(
    system: TransitionSystem, path: Sequence[int], states: Sequence[State], order: Order
) -> list[int]:
    """The numbers of the steps of a run that are those of an order, the latest that can be; the run ends in the state that is asked for."""
    interpreter = Interpreter(system)
    found: list[int] = []
    end = len(path)
    for i in range(len(order.steps), 0, -1):
        events = order.steps[i - 1].events
        for at in range(end, 0, -1):
            before, where = states[at - 1], events.get(path[at - 1])
            if (
                where is not None
                and interpreter.holds(where, before)
                and interpreter.holds(_at(system, i - 1), before)
            ):
                found.insert(0, at)
                end = at - 1
                break
    return found


def _at(system: TransitionSystem, i: int) -> Expr:
    """Whether the first i steps have happened, and the next may follow, in a system with an observer."""
    return system.views[f"{ID}: {i}"] if i else as_expr(True)
