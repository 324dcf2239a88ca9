"""Exchanges of entities: the map of states that a candidate is, and the proof that it is an automorphism.

A candidate exchanges pairs of entities: `x[p]` takes the value of `x[q]`, references to p become references to q. The proof
compares normal forms (`normal_forms.py`). Where these differ, somebody else may settle whether the values are the same. As a map of states, an exchange
is a permutation: it gives each variable the value of one variable, perhaps another code of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...model.language import (
    BOOL,
    Entity,
    Expr,
    Parameter,
    State,
    Transition,
    TransitionSystem,
    Variable,
    variables_of,
)
from ...model.language.expressions.expr import fresh_graph, variable
from .normal_forms import Normal

Settle = Callable[[Expr, Expr, bool, Expr | None], bool]
"""`settle(e, f, negated, given)`: whether the image of e (its negation, if negated) is f wherever `given` holds.

It is proved only if the answer is true; e is read in a state, f and `given` in the image of that state.
"""

_SEGMENT = re.compile(r"\[([^\[\]]*)\]")


class EntityExchange:
    """The candidate that exchanges the entities of each pair, and the proof.

    `parameters` says which open parameter takes the place of which. `variables` tells where each variable goes, and
    whether it is negated there; it is None if there is no such map.
    """

    def __init__(
        self,
        system: TransitionSystem,
        pairs: Sequence[tuple[Entity, Entity]],
        parameters: Mapping[Parameter, Parameter] | None = None,
    ) -> None:
        self.system, self.parameters = system, parameters or {}
        self._entities = {one: other for a, b in pairs for one, other in ((a, b), (b, a))}
        self._names = {one.name: other.name for one, other in self._entities.items()}
        self._codes: dict[type, dict[int, int]] = {}
        for one, other in self._entities.items():
            self._codes.setdefault(type(one), {})[one.index + 1] = other.index + 1
        self.variables = self._images()

    def permutation(self) -> Permutation:
        """As a map of states. An exchange is its own inverse: what a variable goes to is where it comes from."""
        assert self.variables is not None
        moves = []
        for v in self.system.variables:
            source, negated = self.variables[v]
            codes = None
            if negated:
                codes = {0: 1, 1: 0}
            elif v.sort.tag in self._codes:
                mapped = {c: self.code(v.sort.tag, c) for c in range(source.lo, source.hi + 1)}
                codes = mapped if any(c != image for c, image in mapped.items()) else None
            moves.append(EntityMove(self.system.position[source], codes))
        return Permutation(tuple(moves))

    def code(self, kind: type | None, code: int) -> int:
        """The image of a value of a kind: that of a reference, or the value itself."""
        return code if kind is None else self._codes.get(kind, {}).get(code, code)

    def moved(self, kind: type | None) -> Mapping[int, int]:
        """The references to entities of a kind that change, with their images."""
        return {} if kind is None else self._codes.get(kind, {})

    def is_automorphism(self, settle: Settle | None = None) -> bool:
        """Whether transitions go to transitions, and each predicate to itself; `settle` is asked where forms differ."""
        assert self.variables is not None
        with fresh_graph():
            return self._is_automorphism(self._compare(settle))

    def _is_automorphism(self, same: Callable[..., bool]) -> bool:
        system = self.system
        tables = (system.invariants, system.witnesses, system.resettabilities)
        if not all(same(e, e) for table in tables for e in table.values()):
            return False
        known: dict[object, Transition] = {_key(t, lambda v: v): t for t in system.transitions}
        if len(known) < len(system.transitions):
            return False
        images = ((t, known.get(_key(t, self._value))) for t in system.transitions)
        return all(image is not None and self._maps(t, image, same) for t, image in images)

    def _maps(self, t: Transition, image: Transition, same: Callable[..., bool]) -> bool:
        """Whether the exchange maps one transition to the other."""
        assert self.variables is not None
        constraints, expected = dict(t.constraints), dict(image.constraints)
        if t.fair != image.fair or constraints.keys() != expected.keys() or not same(t.guard, image.guard):
            return False
        given = image.guard
        if not all(same(e, expected[name], given=given) for name, e in constraints.items()):
            return False
        for v, (place, negated) in self.variables.items():
            if v in t.updates or place in image.updates:
                before, after = t.updates.get(v), image.updates.get(place)
                before = variable(v) if before is None else before
                after = variable(place) if after is None else after
                if not same(before, after, negated, given):
                    return False
        return True

    def _compare(self, settle: Settle | None) -> Callable[..., bool]:
        assert self.variables is not None
        normal = Normal()
        plain = normal.reader()
        images = self.variables

        def code(e: Expr, value: int) -> int:
            return self.code(e.sort.tag, value)

        moved = normal.reader(images.__getitem__, code, lambda q: self.parameters.get(q, q))

        def same(before: Expr, after: Expr, negated: bool = False, given: Expr | None = None) -> bool:
            image = moved(before)
            image = normal.negation(image) if negated else image
            return image == plain(after) or (settle is not None and settle(before, after, negated, given))

        return same

    def _value(self, value: object) -> object:
        return self._entities.get(value, value) if isinstance(value, Entity) else value

    def _images(self) -> dict[Variable, tuple[Variable, bool]] | None:
        """Where each variable goes, and whether it is negated there; None if the names do not say."""
        named = {v.name: v for v in self.system.variables}
        found: dict[Variable, tuple[Variable, bool]] = {}
        for v in self.system.variables:
            image = self._image(v, named)
            if image is None or image[0].sort != v.sort or not self._fits(v, image[0]):
                return None
            found[v] = image
        is_exchange = all(found[image] == (v, negated) for v, (image, negated) in found.items())
        return found if is_exchange and variables_of(self.system.roots()) <= found.keys() else None

    def _image(self, v: Variable, named: dict[str, Variable]) -> tuple[Variable, bool] | None:
        keys = _SEGMENT.findall(v.name)
        name = self._renamed(v.name, [self._names.get(k, k) for k in keys])
        if name in named:
            return named[name], False
        # An order kept for one half of the pairs only: what is missing is the negation of the other half.
        if v.sort is BOOL and len(keys) > 1:
            *rest, one, other = (self._names.get(k, k) for k in keys)
            name = self._renamed(v.name, [*rest, other, one])
            if name in named:
                return named[name], True
        return None

    def _renamed(self, name: str, keys: Iterable[str]) -> str:
        left: Iterator[str] = iter(keys)
        return _SEGMENT.sub(lambda _: f"[{next(left)}]", name)

    def _fits(self, v: Variable, image: Variable) -> bool:
        if v.sort.tag in self._codes:
            return {self.code(v.sort.tag, c) for c in range(v.lo, v.hi + 1)} == set(
                range(image.lo, image.hi + 1)
            )
        return (v.lo, v.hi) == (image.lo, image.hi)


def _key(t: Transition, value: Callable[[object], object]) -> object:
    return t.part, t.step, tuple((name, value(v)) for name, v in t.args)


@dataclass(frozen=True, slots=True)
class EntityMove:
    """Where a variable's value comes from, and what becomes of each code on the way."""

    source: int
    codes: dict[int, int] | None = None

    def __call__(self, state: State) -> int:
        code = state[self.source]
        return code if self.codes is None else self.codes[code]


@dataclass(frozen=True, slots=True)
class Permutation:
    """A map of states: variable i of the image is `moves[i]` of the state."""

    moves: tuple[EntityMove, ...]

    def __call__(self, state: State) -> State:
        """The image of a state."""
        return tuple(move(state) for move in self.moves)

    @property
    def is_identity(self) -> bool:
        """Whether it changes no state."""
        return all(m == EntityMove(i) for i, m in enumerate(self.moves))
