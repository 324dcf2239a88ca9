"""Which states of a system the words of a question mean: what a component knows, or a property that is violated."""

import re
from collections.abc import Iterator, Sequence

from ...base.problems import NoSuchStep, UsageProblem
from ...base.structs import Data
from ...base.text import listed, one_line
from ...model.language import Expr, TransitionSystem, negate
from ...model.language.expressions.expr import all_of, any_of, const, equal, variable
from ...model.language.systems.telling import FactWords, ViewCells, named, says_something
from ...properties import PROPERTIES, Property
from .words import ARTICLES, are_within, likeness, words_of

IDLE = ARTICLES | {"is", "are", "has", "have", "been", "now"}
MEANING = {
    "parked": "in unschedulableQ", "unbound": "on no node", "bound to": "on", "bound on": "on", "bound": "on", "deleted": "gone",
}  # fmt: skip
"""Words that people use, and what reports say for them."""

VIOLATED = {"overfull": "S-CAP", "overcommitted": "S-CAP"}
"""Words for a state that violates a property."""

NEAREST = 5


class StateMeant(Data):
    """The state that is meant, and how it is told."""

    where: Expr
    told: str


class _Fact(Data):
    """A value of a variable in words; `denied`: that something is not so, which only all of its words mean."""

    view: str
    variable: str
    text: str
    where: Expr
    denied: bool


def property_in(words: str) -> type[Property] | None:
    """The property that the words say is violated, if they name one; they may name an object, too."""
    known = {identifier.lower(): cls for identifier, cls in PROPERTIES.items()}
    known |= {word: PROPERTIES[identifier] for word, identifier in VIOLATED.items()}
    found = [known[word] for word in words.lower().split() if word in known]
    if found and found[0].kind != "invariant":
        raise UsageProblem(
            f"`{one_line(words, 200)}`: {found[0].id} is about what goes on indefinitely, or stays possible, and not about a state: name another"
        )
    return found[0] if found else None


def state_meant(system: TransitionSystem, words: str, names: frozenset[str]) -> StateMeant:
    """What these words mean. Raises UsageProblem."""
    prop = property_in(words)
    if prop is not None:
        return _violated(system, prop, words, names)
    view, colon, rest = words.partition(":")
    views = {v.view for v in system.narration.views}
    here = view.strip() if colon and view.strip() in views else ""
    rest = rest if here else words
    for word, meaning in MEANING.items():
        rest = re.sub(rf"\b{word}\b", meaning, rest)
    asked = words_of(rest, names, IDLE)
    facts = [f for f in _facts(system) if not here or f.view == here]
    said = [(fact, words_of(fact.text, names, IDLE)) for fact in facts]
    found = [f for f, w in said if w == asked]
    found = found or [f for f, w in said if not f.denied and w[: len(asked)] == asked]
    found = found or [f for f, w in said if not f.denied and are_within(asked, w)]
    if not found or not asked:
        nearest = sorted(said, key=lambda pair: -likeness(asked, pair[1]))
        shown = dict.fromkeys(f"`{fact.view}: {fact.text}`" for fact, _ in nearest)
        near = ", ".join(list(shown)[:NEAREST])
        raise NoSuchStep(
            f"`{one_line(words, 200)}`: no state of {system.name} has these words; the nearest: {near}; or name a property that is violated, such as S-CAP"
        )
    first = found[0]  # the API server's view comes first
    same = [fact for fact in found if fact.variable == first.variable]
    told = listed(list(dict.fromkeys(fact.text for fact in same))).replace(" and ", " or ")
    return StateMeant(any_of(fact.where for fact in same), f"{first.view}: {told}")


def _violated(
    system: TransitionSystem, prop: type[Property], words: str, names: frozenset[str]
) -> StateMeant:
    broken = negate(system.views[prop.id])
    about = [word for word in words.split() if word in names]
    if not about:
        return StateMeant(broken, f"{prop.id} is violated: {prop.sentence()}")
    said = {**system.explainer.said_of(prop.id, "wrong"), **system.explainer.said_of(prop.id, "apart")}
    fitting = {t: w for t, w in said.items() if all(name in words_of(t, names) for name in about)}
    if not fitting:
        raise NoSuchStep(
            f"`{one_line(words, 200)}`: {prop.id} says nothing about {listed(about)} alone: write `{prop.id}` without a name"
        )
    return StateMeant(all_of((broken, any_of(fitting.values()))), "; or ".join(fitting))


def _facts(system: TransitionSystem) -> Iterator[_Fact]:
    variables = {v.name: v for v in system.variables}
    for view in system.narration.views:
        for name, subject, fact in view.cells:
            v = variables.get(name)
            if v is None or v.hi - v.lo > 64:
                continue
            for code in range(v.lo, v.hi + 1):
                value = system.universe.decode(v.sort, code)
                text = fact_text(system.narration.facts[fact], subject, value)
                if text:
                    yield _Fact(
                        view.view,
                        name,
                        text,
                        equal(variable(v), const(v.sort, code)),
                        not says_something(value),
                    )


def fact_text(words: FactWords, subject: str, value: object) -> str:
    """A fact about a subject, for example `p in unschedulableQ`; empty if nothing is said of this value."""
    word = words.values.get(getattr(value, "name", ""), named(value))
    says = says_something(value) and word != ""
    said = words.says.format(value=word) if says else words.denies
    return f"{subject} {said}" if said else ""


def fact_of(system: TransitionSystem, variable_name: str, value: object) -> str:
    """What the value of a variable says in the words of reports, with whose view it is; by its name where there are no words."""
    found = next(_cells_of(system.narration.views, variable_name), None)
    if found is not None:
        view, subject, fact = found
        text = fact_text(system.narration.facts[fact], subject, value)
        if text:
            return f"{view}: {text}"
    return f"{variable_name} is {named(value)}"


def _cells_of(views: Sequence[ViewCells], variable_name: str) -> Iterator[tuple[str, str, str]]:
    for view in views:
        for name, subject, fact in view.cells:
            if name == variable_name:
                yield view.view, subject, fact
