"""Synthesis: of systems with unknown parameters, the choices that break an invariant, the simplest first.

Simplest: the shortest run, then the least sum of all parameters, then the least parameters by name. Several systems can be
searched side by side, depth by depth: shapes of one size, such as the ways to place pods. After a choice was found, those that no
comparison tells apart from it are left out (`comparisons`), also under the renamings of its shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...model.language import Expr, TransitionSystem, negate, total
from ...model.language.expressions.expr import equal, fresh_graph, less, parameter
from ..core.trace import Trace
from ..parametric.grounding import Comparisons
from ..reduction.slicing import slice_system
from ..smt.solver import Undecided
from ..smt.theories import Theory
from .bounded import DEFAULT, Claim, Runs, confirmed

Renaming = Mapping[str, str]
"""For each parameter the one that takes its place."""


@dataclass(frozen=True)
class ChoiceShape:
    """A system with unknown parameters, and those of its choices that count.

    Under each of `renamings` the system is the same up to names, so that two choices that differ only by one are alike.
    """

    system: TransitionSystem
    assumption: Expr
    renamings: tuple[Renaming, ...] = ()


@dataclass(frozen=True, slots=True)
class Example:
    """A shape, by its number, with parameters for which a run breaks the invariant; the trace was executed."""

    shape: int
    parameters: Mapping[str, int]
    trace: Trace


class Synthesis:
    """Iterate over it for examples; then `clear` and `stopped` say how far the search went.

    `watch` is told the length of the runs that are asked about. `clear` is the depth within which no further example
    exists (-1: not even the initial states were decided),
    `stopped` is "steps" if that is the bound, "harmless" if no run of any length breaks the invariant, or why the
    solver gave up.
    """

    def __init__(
        self,
        shapes: Sequence[ChoiceShape],
        invariant: str,
        steps: int,
        *,
        deadline: float | None = None,
        theory: Theory = DEFAULT,
        watch: Callable[[int], None] = lambda depth: None,
    ) -> None:
        self.clear, self.stopped, self._watch = -1, "", watch
        self._shapes, self._invariant, self._steps = shapes, invariant, steps
        self._deadline, self._theory = deadline, theory

    def __iter__(self) -> Iterator[Example]:
        try:
            yield from self._examples()
        except Undecided as reason:
            self.stopped = str(reason)

    def _examples(self) -> Iterator[Example]:
        searches = []
        for number, shape in enumerate(self._shapes):
            runs = Runs(
                shape.system,
                self._invariant,
                assumption=shape.assumption,
                deadline=self._deadline,
                theory=self._theory,
            )
            if not runs.harmless:
                searches.append(_Search(number, shape, self._invariant, runs))
        for depth in range(self._steps + 1 if searches else 0):
            self._watch(depth)
            for search in searches:
                if depth:
                    search.runs.deepen()
                search.find()
            while found := [s for s in searches if s.found is not None]:
                simplest = min(found, key=_Search.weight)
                yield simplest.example()
                simplest.exclude()
                simplest.find()
            self.clear = depth
        self.stopped = "steps" if searches else "harmless"


class _Search:
    """The search in one shape, and the simplest violation of the present depth that is not excluded."""

    def __init__(self, number: int, shape: ChoiceShape, invariant: str, runs: Runs) -> None:
        self.number, self.shape, self.runs = number, shape, runs
        self.found: Claim | None = None
        self._invariant = invariant
        self._comparisons: Comparisons | None = None
        with fresh_graph():
            self._parameters = {name: parameter(q) for name, q in runs.parameters.known.items()}
            self._total = total(self._parameters.values())

    def weight(self) -> tuple[int, int]:
        """What makes an example simple, of those of one length."""
        assert self.found is not None
        return sum(self.found.parameters.values()), self.number

    def find(self) -> None:
        """Look for the simplest violation of this depth."""
        self.found = self.runs.violation()
        if self.found is None:
            return
        with fresh_graph():
            self._lower(self._total, sum(self.found.parameters.values()), ())
            settled = [equal(self._total, sum(self.found.parameters.values()))]
            for name, p in self._parameters.items():
                self._lower(p, self.found.parameters[name], settled)
                settled.append(equal(p, self.found.parameters[name]))

    def _lower(self, amount: Expr, value: int, settled: Sequence[Expr]) -> None:
        """Replace what was found by a violation with the least `amount`, which is now `value`."""
        while not (below := less(amount, value)).is_const:
            claim = self.runs.violation(below, *settled)
            if claim is None:
                return
            self.found = claim
            value = self._value(amount)

    def _value(self, amount: Expr) -> int:
        assert self.found is not None
        values = self.found.parameters
        return sum(values.values()) if amount is self._total else values[amount.value.name]

    def example(self) -> Example:
        """What was found, executed."""
        assert self.found is not None
        trace = confirmed(self.shape.system, self.found, self._invariant)
        return Example(self.number, self.found.parameters, trace)

    def exclude(self) -> None:
        """Leave out every choice that is like the one that was found."""
        assert self.found is not None
        if self._comparisons is None:
            wanted = [self._invariant]
            self._comparisons = Comparisons(
                slice_system(
                    self.shape.system, invariants=wanted, witnesses=(), resettabilities=(), livenesses=()
                )
            )
        values = self.found.parameters
        for renaming in ({}, *self.shape.renamings):
            renamed = {name: values[renaming.get(name, name)] for name in values}
            with fresh_graph():
                alike = self._comparisons.like(renamed)
                self.runs.require(negate(alike))
