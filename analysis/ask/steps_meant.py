"""Which steps of a system the words of a question mean: by a sentence, by the name of a step, or by a function of upstream's."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from ...base.problems import NoSuchStep, UsageProblem
from ...base.structs import Data
from ...base.text import listed, one_line
from ...model.language import Entity, Expr, Transition, TransitionSystem
from ...model.language.expressions.expr import any_of, as_expr
from ...model.language.systems.tellings import Telling, tellings
from .calls import calls_of, go_function, go_names, is_about, is_named
from .monitor import Events
from .words import are_together, are_within, head_of, likeness, stem, words_of

NEAREST = 5
_NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)(?:\(([^()]*)\))?")
_KINDS = frozenset({"pod", "nod"})
"""Stems of kinds in the names of steps, which need not be said: an object of the kind is named."""


class Meant(Data):
    """The steps that are meant, and how each is told; `names` are those of the steps."""

    events: Events
    told: tuple[str, ...]
    names: tuple[str, ...]


class _Said(Data):
    """A sentence of a transition, in words that can be compared."""

    number: int
    telling: Telling
    words: tuple[str, ...]
    head: tuple[str, ...]


class StepsMeant:
    """The steps of one system, by what they are called."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system = system
        kinds = system.universe.kinds()
        self.names = frozenset(
            entity.name for kind in kinds for entity in system.universe[kind] if entity.name
        )

    def of(self, words: str) -> Meant:
        """What these words mean. Raises UsageProblem if that is no step, or several."""
        named = _NAME.fullmatch(words)
        found = self._by_name(named[1], _arguments(named[2]), words) if named else None
        found = found or self._by_sentence(words)
        if found is None:
            raise NoSuchStep(
                f"`{one_line(words, 200)}`: no step of {self.system.name} has these words; the nearest: {self._nearest(words)}"
            )
        return found

    @cached_property
    def _said(self) -> tuple[_Said, ...]:
        return tuple(self._sentences())

    def _sentences(self) -> Iterator[_Said]:
        for number, t in enumerate(self.system.transitions):
            told = list(tellings(self.system, t))
            if not told:
                summary = t.doc.partition("\n")[0].rstrip(".")
                text = f"{t.actor}: {call_of(t)}" + (f" ({summary})" if summary else "")
                told = [Telling(t.label, text, lambda: as_expr(True))]
            for telling in told:
                words = words_of(telling.text, self.names)
                yield _Said(number, telling, words, words_of(head_of(telling.text), self.names))

    def _by_sentence(self, words: str) -> Meant | None:
        asked = words_of(words, self.names)
        if not asked:
            return None
        tests = (
            lambda said: said.words == asked,
            lambda said: said.head == asked,
            lambda said: len(asked) > 1 and said.words[: len(asked)] == asked,
            lambda said: len(asked) > 1 and are_together(asked, said.words),
            lambda said: are_within(asked, said.words) and self._names_step(asked, said),
        )
        for test in tests:
            if found := [said for said in self._said if test(said)]:
                return self._one(words, found)
        if by_step := self._by_words_of_name(asked):
            return self._all(words, by_step)
        found = [said for said in self._said if are_within(asked, said.words)]
        return self._one(words, found) if found else None

    def _names_step(self, asked: Sequence[str], said: _Said) -> bool:
        step = self.system.transitions[said.number].step
        return all(stem(word) in asked for word in step.split("_"))

    def _by_words_of_name(self, asked: Sequence[str]) -> list[int]:
        """The transitions whose part, step and arguments these words name, such as `users update p`."""
        found = []
        for number, t in enumerate(self.system.transitions):
            step = {stem(word) for word in t.step.split("_")}
            whose = {stem(word) for word in (*t.part.split("_"), *re.split(r"[\s-]", t.actor.lower()))}
            values = [value for _, value in t.args]
            rest = [w for w in asked if w not in step | whose | {"to", "on", "for", "of"}]
            if step - _KINDS <= {*asked} and all(any(is_named(v, w) for v in values) for w in rest):
                found.append(number)
        return found

    def _one(self, words: str, found: Sequence[_Said]) -> Meant:
        by_template: dict[str, list[_Said]] = {}
        for said in found:
            by_template.setdefault(said.telling.template, []).append(said)
        if len(by_template) > 1:
            self._refuse_several(words, [members[0] for members in by_template.values()])
        events: dict[int, list[Expr]] = {}
        for said in found:
            events.setdefault(said.number, []).append(said.telling.where())
        told = tuple(dict.fromkeys(said.telling.text for said in found))
        return self._meant({n: any_of(where) for n, where in events.items()}, told)

    def _refuse_several(self, words: str, found: Sequence[_Said]) -> None:
        asked = words_of(words, self.names)
        found = sorted(found, key=lambda said: -likeness(asked, said.words))
        more = f"; and {len(found) - NEAREST} more" if len(found) > NEAREST else ""
        raise UsageProblem(
            f"`{one_line(words, 200)}`: {len(found)} steps have these words: {self._quoted(found[:NEAREST])}{more}: say more of its words, or its name"
        )

    def _nearest(self, words: str) -> str:
        asked = words_of(words, self.names)
        nearest: dict[str, _Said] = {}
        for said in sorted(self._said, key=lambda said: -likeness(asked, said.words)):
            nearest.setdefault(said.telling.text, said)
            if len(nearest) == NEAREST:
                break
        return self._quoted(nearest.values())

    def _quoted(self, found: Iterable[_Said]) -> str:
        return "; ".join(
            f"`{said.telling.text.rstrip('.')}` ({call_of(self.system.transitions[said.number])})"
            for said in found
        )

    def _by_name(self, name: str, arguments: Sequence[str], words: str) -> Meant | None:
        transitions = self.system.transitions
        steps = [n for n, t in enumerate(transitions) if name in (f"{t.part}.{t.step}", t.step)]
        parts = list(dict.fromkeys(transitions[n].part for n in steps))
        if len(parts) > 1:
            said = listed([f"`{part}.{name}`" for part in parts])
            raise UsageProblem(
                f"`{one_line(words, 200)}`: {len(parts)} steps have this name: write {said.replace(' and ', ' or ')}"
            )
        if steps:
            fitting = [n for n in steps if _has(transitions[n], arguments)]
            if not fitting:
                known = listed([f"`{call_of(transitions[n])}`" for n in steps[:NEAREST]])
                raise NoSuchStep(f"`{one_line(words, 200)}`: no such arguments: this step is {known}")
            return self._all(words, fitting)
        return self._by_function(name, arguments, words)

    def _by_function(self, name: str, arguments: Sequence[str], words: str) -> Meant | None:
        function = go_function(name)
        if function is None:
            near = [
                known
                for known in go_names()
                if known.rpartition(".")[2].lower() == name.rpartition(".")[2].lower()
            ]
            if near:
                raise UsageProblem(
                    f"`{one_line(words, 200)}`: docs/notebook/functions.md has `{near[0]}`: write it so"
                )
            return None
        if not function.elements:
            raise UsageProblem(
                f"`{one_line(words, 200)}`: the model has no step for {function.places[0]}: {function.reason.rstrip('.')}"
            )
        found: dict[int, list[Expr]] = {}
        for call in calls_of(self.system, function.elements):
            where = is_about(self.system, call, arguments)
            if not where.is_const or where.value:
                found.setdefault(call.transition, []).append(where)
        if not found:
            raise NoSuchStep(
                f"`{one_line(words, 200)}`: no step of {self.system.name} does this: {listed([f'`{e}`' for e in function.elements[:3]])} in the model"
            )
        events = {number: any_of(where) for number, where in found.items()}
        return self._meant(
            events, tuple(f"{function.places[0]}, in {call_of(self.system.transitions[n])}" for n in found)
        )

    def _all(self, words: str, numbers: Sequence[int]) -> Meant:
        steps = dict.fromkeys(
            (self.system.transitions[n].part, self.system.transitions[n].step) for n in numbers
        )
        if len(steps) > 1:
            first = [next(s for s in self._said if s.number == n) for n in numbers]
            unlike = {
                (self.system.transitions[s.number].part, self.system.transitions[s.number].step): s
                for s in first
            }
            self._refuse_several(words, list(unlike.values()))
        told = tuple(call_of(self.system.transitions[n]) for n in numbers)
        return self._meant({number: as_expr(True) for number in numbers}, told)

    def _meant(self, events: Mapping[int, Expr], told: tuple[str, ...]) -> Meant:
        steps = dict.fromkeys(f"{t.part}.{t.step}" for t in (self.system.transitions[n] for n in events))
        return Meant(events, told, tuple(steps))


def call_of(t: Transition) -> str:
    """For example `scheduler.assume(q, n1)`."""
    return f"{t.part}.{t.step}({', '.join(str(getattr(value, 'name', value)) for _, value in t.args)})"


def _arguments(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def _has(t: Transition, arguments: Sequence[str]) -> bool:
    """Whether the step has these arguments, in this order, with others between them; each by its value, or as name=value."""
    left = iter(t.args)
    return all(any(_is(name, value, wanted) for name, value in left) for wanted in arguments)


def _is(name: str, value: object, wanted: str) -> bool:
    key, equals, rest = wanted.partition("=")
    if equals:
        return key.strip() == name and str(getattr(value, "name", value)) == rest.strip()
    return (
        str(value) == wanted
        or (isinstance(value, Entity) and is_named(value, wanted))
        or getattr(value, "name", None) == wanted
    )
