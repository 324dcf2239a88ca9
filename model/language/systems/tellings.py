"""Every sentence that can describe a transition, with the states before the transition in which the sentence applies.

`Narration.sentence` picks the sentence of a step that was taken; this is the same choice over symbolic state.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from string import Formatter
from typing import Any

from ....base.structs import Data
from ..declarations.narration import ANYTHING, Changes, Sentence
from ..expressions.expr import Expr, Variable, all_of, any_of, as_expr, const, equal, negate, variable
from .system import Transition, TransitionSystem
from .telling import Arguments, agrees, named

MOST_VALUES = 64
"""Up to so many values, a sentence that names a value becomes one sentence for each value. Beyond that, the value is left open."""


class Telling(Data):
    """A sentence of a transition, without its reasons: the `template` with names and values. `where` gives the states before the step in which it is told so."""

    template: str
    text: str
    where: Callable[[], Expr]


def tellings(system: TransitionSystem, transition: Transition) -> Iterator[Telling]:
    """All sentences of one transition, in the order in which they are tried."""
    said = _Sentences(system, transition)
    sentences = system.narration.sentences.get(f"{transition.part}.{transition.step}", ())
    for number, sentence in enumerate(sentences):
        yield from said.of(sentence, sentences[:number])


class _Sentences:
    def __init__(self, system: TransitionSystem, transition: Transition) -> None:
        self.system, self.transition = system, transition
        self.args = dict(transition.args)
        self.names = Arguments((name, named(value)) for name, value in self.args.items())
        self.names["why"] = ""
        self.variables = {v.name: v for v in system.variables}
        self.changed = sorted(
            (v for v in transition.updates if v in system.position), key=system.position.__getitem__
        )

    def of(self, sentence: Sentence, before: Sequence[Sentence]) -> Iterator[Telling]:
        def not_before() -> Expr:
            return negate(any_of(self._met(one) for one in before))

        if not isinstance(sentence.when, Changes):
            text = Formatter().vformat(sentence.text, (), self.names)
            yield Telling(sentence.text, text, lambda: all_of((not_before(), self._met(sentence))))
            return
        wanted = sentence.when
        cells = self._cells(wanted)
        for number, v in enumerate(cells):
            for old, new in self._values(sentence, v):
                told = self._filled(sentence, v, old, new)

                def where(
                    v: Variable = v, number: int = number, old: int | None = old, new: int | None = new
                ) -> Expr:
                    first = negate(any_of(self._changes(earlier, wanted) for earlier in cells[:number]))
                    here = [not_before(), first, self._changes(v, wanted)]
                    if old is not None:
                        here.append(equal(variable(v), const(v.sort, old)))
                    if new is not None:
                        here.append(equal(self.transition.updates[v], const(v.sort, new)))
                    return all_of(here)

                yield Telling(sentence.text, told, where)

    def _filled(self, sentence: Sentence, v: Variable, old: int | None, new: int | None) -> str:
        values = {
            name: "..." if code is None else named(self._decoded(v, code))
            for name, code in (("before", old), ("after", new))
        }
        keys = [named(key) for key in self.system.narration.addresses[v.name].keys]
        return Formatter().vformat(sentence.text, keys, Arguments({**self.names, **values}))

    def _values(self, sentence: Sentence, v: Variable) -> Iterator[tuple[int | None, int | None]]:
        """Codes before and after that the sentence names; None for what it does not name."""
        fields = {name for _, name, _, _ in Formatter().parse(sentence.text) if name}
        update = self.transition.updates[v]
        assert isinstance(sentence.when, Changes)
        olds = self._codes(v, v.lo, v.hi, sentence.when.before) if "before" in fields else [None]
        lo, hi = max(v.lo, update.lo), min(v.hi, update.hi)
        news = self._codes(v, lo, hi, sentence.when.after) if "after" in fields else [None]
        yield from ((old, new) for old, new in product(olds, news) if old is None or old != new)

    def _codes(self, v: Variable, lo: int, hi: int, wanted: Any) -> list[int | None]:
        if hi - lo >= MOST_VALUES:
            return [None]
        return [code for code in range(lo, hi + 1) if agrees(self._decoded(v, code), wanted)]

    def _cells(self, wanted: Changes) -> list[Variable]:
        addresses = self.system.narration.addresses
        return [
            v
            for v in self.changed
            if v.name in addresses and f"{addresses[v.name].state}.".startswith(f"{wanted.state}.")
        ]

    def _changes(self, v: Variable, wanted: Changes) -> Expr:
        old, new = variable(v), self.transition.updates[v]
        return all_of(
            (negate(equal(old, new)), self._agrees(v, old, wanted.before), self._agrees(v, new, wanted.after))
        )

    def _met(self, sentence: Sentence) -> Expr:
        wanted = sentence.when
        if wanted is None:
            return as_expr(True)
        if isinstance(wanted, Changes):
            return any_of(self._changes(v, wanted) for v in self._cells(wanted))
        keys = (self.args.get(wanted.of),)
        found = next(
            (
                n
                for n, a in self.system.narration.addresses.items()
                if (a.state, a.keys) == (wanted.state, keys)
            ),
            None,
        )
        v = self.variables.get(found or "")
        return as_expr(False) if v is None else self._agrees(v, variable(v), wanted.value)

    def _agrees(self, v: Variable, value: Expr, wanted: Any) -> Expr:
        if wanted is ANYTHING:
            return as_expr(True)
        lo, hi = max(v.lo, value.lo), min(v.hi, value.hi)
        fitting = [code for code in range(lo, hi + 1) if agrees(self._decoded(v, code), wanted)]
        if len(fitting) > (hi - lo + 1) // 2:  # the fewer are named
            other = [code for code in range(lo, hi + 1) if code not in fitting]
            return negate(any_of(equal(value, const(v.sort, code)) for code in other))
        return any_of(equal(value, const(v.sort, code)) for code in fitting)

    def _decoded(self, v: Variable, code: int) -> Any:
        return self.system.universe.decode(v.sort, code)
