"""Symmetry: entities that can change places without any difference to what is asked.

A candidate exchanges two entities of one kind: `x[p]` takes the value of `x[q]`, references to p become references
to q. It is used only if it is proved to be an automorphism: it maps every transition to a transition (guard, limits,
updates), and every invariant and every goal to itself. Then it suffices to explore one state of each orbit (Clarke,
Enders, Filkorn, Jha: Exploiting symmetry in temporal logic model checking, 1996; Ip, Dill: Better verification through
symmetry, 1996). The initial state need not be symmetric: a state and its image break the same invariants and reach
the same orbits, whichever of them is reachable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

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
from ..exploration import Exploration, Path
from ..interpreter import Interpreter
from .equality import Normal

LARGEST_GROUP = 24
"""How many permutations are tried in every state, at most: those of four equal nodes."""

_SEGMENT = re.compile(r"\[([^\[\]]*)\]")


@dataclass(frozen=True, slots=True)
class Move:
    """Where a variable's value comes from, and what becomes of each code on the way."""

    source: int
    codes: dict[int, int] | None = None

    def __call__(self, state: State) -> int:
        code = state[self.source]
        return code if self.codes is None else self.codes[code]


@dataclass(frozen=True, slots=True)
class Permutation:
    """A map of states: variable i of the image is `moves[i]` of the state."""

    moves: tuple[Move, ...]

    def __call__(self, state: State) -> State:
        """The image of a state."""
        return tuple(move(state) for move in self.moves)

    @property
    def is_identity(self) -> bool:
        """Whether it changes no state."""
        return all(m == Move(i) for i, m in enumerate(self.moves))

    def after(self, first: Permutation) -> Permutation:
        """This permutation applied to the image under `first`."""
        return Permutation(tuple(_composed(first.moves[m.source], m) for m in self.moves))


def _composed(first: Move, then: Move) -> Move:
    if first.codes is None:
        return Move(first.source, then.codes)
    if then.codes is None:
        return first
    return Move(first.source, {code: then.codes[new] for code, new in first.codes.items()})


@dataclass(frozen=True)
class Symmetry:
    """Classes of interchangeable entities, and the permutations among them other than the identity.

    Of an orbit, the state with the least `key` is the representative: engines choose what is cheap for them.
    """

    classes: tuple[tuple[Entity, ...], ...]
    permutations: tuple[Permutation, ...]
    key: Callable[[State], Any] = tuple

    @property
    def names(self) -> tuple[str, ...]:
        """For people: one phrase for each class."""
        return tuple(f"symmetry of {', '.join(e.name for e in members)}" for members in self.classes)

    def canonical(self, state: State) -> State:
        """The representative of the state's orbit."""
        return min((state, *(p(state) for p in self.permutations)), key=self.key)


def lifted(system: TransitionSystem, symmetry: Symmetry, answer: Exploration) -> Exploration:
    """The answer with real runs in place of runs between representatives; they have the same lengths."""
    return replace(
        answer,
        violations={n: lift(system, symmetry, path) for n, path in answer.violations.items()},
        goals={n: lift(system, symmetry, path) for n, path in answer.goals.items()},
    )


def lift(system: TransitionSystem, symmetry: Symmetry, path: Path) -> Path:
    """A run from the initial state through the orbits of the representatives between which `path` goes."""
    acting = Interpreter(system)
    state, representative = system.initial, symmetry.canonical(system.initial)
    run = []
    for step in path:
        representative = symmetry.canonical(acting.successor(representative, step))
        choices = ((i, acting.successor(state, i)) for i in acting.enabled(state))
        number, state = next((i, s) for i, s in choices if symmetry.canonical(s) == representative)
        run.append(number)
    return tuple(run)


def symmetry_of(system: TransitionSystem) -> Symmetry | None:
    """The symmetry that can be proved, or None; none is used where recoveries or livenesses are asked."""
    if system.recoveries or system.livenesses:
        return None
    classes: list[tuple[Entity, ...]] = []
    group = [Permutation(tuple(Move(i) for i in range(len(system.variables))))]
    for kind in system.universe.kinds():
        members = list(system.universe[kind])
        while members:
            first, *others = members
            candidates = ((e, proved_exchange(system, first, e)) for e in others)
            swaps = {e: p for e, p in candidates if p is not None}
            orbit: tuple[Entity, ...] = (first,)
            for entity, swap in swaps.items():
                if len(group) * (len(orbit) + 1) > LARGEST_GROUP:
                    break
                # Every permutation of k + 1 entities is one of the first k, then perhaps an exchange with the last.
                exchanges = [swap, *(swaps[e].after(swap).after(swaps[e]) for e in orbit[1:])]
                group += [exchange.after(p) for exchange in exchanges for p in group]
                orbit = (*orbit, entity)
            if len(orbit) > 1:
                classes.append(orbit)
            members = [e for e in others if e not in swaps]
    return Symmetry(tuple(classes), tuple(group[1:])) if classes else None


def proved_exchange(
    system: TransitionSystem, a: Entity, b: Entity, quantities: Mapping[Parameter, Parameter] | None = None
) -> Permutation | None:
    """The exchange of two entities of one kind, if it is proved to be an automorphism.

    `quantities` says which open quantity takes the place of which when the two are exchanged.
    """
    exchange = Exchange(system, a, b, quantities)
    if exchange.variables is None or exchange.permutation().is_identity or not exchange.is_automorphism():
        return None
    return exchange.permutation()


class Exchange:
    """The candidate that exchanges two entities, and the proof."""

    def __init__(
        self,
        system: TransitionSystem,
        a: Entity,
        b: Entity,
        quantities: Mapping[Parameter, Parameter] | None = None,
    ) -> None:
        self.system, self.a, self.b, self.quantities = system, a, b, quantities or {}
        self.names = {a.name: b.name, b.name: a.name}
        self.codes = {a.index + 1: b.index + 1, b.index + 1: a.index + 1}
        self.variables = self._images()

    def permutation(self) -> Permutation:
        """As a map of states. An exchange is its own inverse: what a variable goes to is where it comes from."""
        assert self.variables is not None
        moves = []
        for variable in self.system.variables:
            source, negated = self.variables[variable]
            codes = None
            if negated:
                codes = {0: 1, 1: 0}
            elif variable.sort.tag is type(self.a):
                mapped = {c: self.code(c) for c in range(source.lo, source.hi + 1)}
                codes = mapped if any(c != image for c, image in mapped.items()) else None
            moves.append(Move(self.system.position[source], codes))
        return Permutation(tuple(moves))

    def code(self, code: int) -> int:
        """The image of a reference."""
        return self.codes.get(code, code)

    def is_automorphism(self) -> bool:
        """Whether transitions go to transitions, and each predicate to itself."""
        assert self.variables is not None
        same = self._compare()
        system = self.system
        tables = (system.invariants, system.goals, system.recoveries)
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
        limits, expected = dict(t.limits), dict(image.limits)
        if t.fair != image.fair or limits.keys() != expected.keys() or not same(t.guard, image.guard):
            return False
        if not all(same(e, expected[name]) for name, e in limits.items()):
            return False
        updates = {v: e for v, e in t.updates.items() if v in self.variables}
        written = {v for v in image.updates if v in self.variables}
        if {self.variables[v][0] for v in updates} != written:
            return False
        places = ((e, *self.variables[v]) for v, e in updates.items())
        return all(same(e, image.updates[v], negated) for e, v, negated in places)

    def _compare(self) -> Callable[..., bool]:
        assert self.variables is not None
        normal = Normal()
        plain = normal.reader()
        kind = type(self.a)
        images = self.variables

        def code(e: Expr, value: int) -> int:
            return self.code(value) if e.sort.tag is kind else value

        moved = normal.reader(images.__getitem__, code, lambda q: self.quantities.get(q, q))

        def same(before: Expr, after: Expr, negated: bool = False) -> bool:
            image = moved(before)
            return (normal.negation(image) if negated else image) == plain(after)

        return same

    def _value(self, value: object) -> object:
        return {self.a: self.b, self.b: self.a}.get(value, value) if isinstance(value, Entity) else value

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
        name = self._renamed(v.name, [self.names.get(k, k) for k in keys])
        if name in named:
            return named[name], False
        # An order kept for one half of the pairs only: what is missing is the negation of the other half.
        if v.sort is BOOL and len(keys) > 1:
            *rest, one, other = (self.names.get(k, k) for k in keys)
            name = self._renamed(v.name, [*rest, other, one])
            if name in named:
                return named[name], True
        return None

    def _renamed(self, name: str, keys: Iterable[str]) -> str:
        left: Iterator[str] = iter(keys)
        return _SEGMENT.sub(lambda _: f"[{next(left)}]", name)

    def _fits(self, v: Variable, image: Variable) -> bool:
        if v.sort.tag is type(self.a):
            return {self.code(c) for c in range(v.lo, v.hi + 1)} == set(range(image.lo, image.hi + 1))
        return (v.lo, v.hi) == (image.lo, image.hi)


def _key(t: Transition, value: Callable[[object], object]) -> object:
    return t.part, t.step, tuple((name, value(v)) for name, v in t.args)
