"""Property-directed reachability (IC3): an inductive invariant, or the length of a run that violates.

Bradley: SAT-Based Model Checking without Unrolling, VMCAI 2011; Een, Mishchenko, Brayton: Efficient Implementation of
Property Directed Reachability, FMCAD 2011. Frames F0 (the initial state), F1, ... over-approximate what can be reached within 0, 1,
... steps. A state that breaks the invariant is blocked by clauses, each inductive relative to the frame before, which
unsatisfiable cores make short. When two frames agree, they are the proof.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count

import z3

from ...model.language import Expr, TransitionSystem
from ..smt.theories import Term, Theory
from .cubes import Cube, Cubes, Literal, subsumes

TRIES = 3
"""How many literals in vain are tried to leave out of a clause."""


class Pdr:
    """One search; `clauses` are the cubes that the invariant excludes, once `run` has found it."""

    def __init__(
        self,
        system: TransitionSystem,
        invariant: Expr,
        theory: Theory,
        deadline: float | None = None,
        watch: Callable[[int, int], None] = lambda frames, clauses: None,
    ) -> None:
        self.cubes = Cubes(system, invariant, theory, deadline)
        self.clauses: tuple[Cube, ...] = ()
        self._watch = watch
        self._solver = self.cubes.solver
        self._starting, self._moving = z3.Bool("in the initial state"), z3.Bool("a step")
        self._bad = z3.Bool("bad")
        relation = self.cubes.relation
        self._solver.add(z3.Implies(self._starting, c) for c in relation.initial(self.cubes.before))
        step = relation.step(self.cubes.before, self.cubes.terms, self.cubes.after, self.cubes.choice)
        self._solver.add(z3.Implies(self._moving, c) for c in step)
        self._solver.add([self._bad == z3.Not(self.cubes.good)])
        # A cube stands in the last frame that excludes it. Dicts, because sets have no order to rely on.
        self._frames: list[dict[Cube, None]] = [{}]
        self._active: list[Term] = [self._starting]
        self._names, self._order = count(), count()

    @property
    def frames(self) -> int:
        """How many frames there are beside that of the initial state."""
        return len(self._frames) - 1

    def run(self) -> int | None:
        """None if the invariant holds in every reachable state, else the length of some run that breaks it.

        Raises Undecided when the time is up.
        """
        if self._solver.model(self._starting, self._bad) is not None:
            return 0
        while True:
            self._new_frame()
            top = len(self._frames) - 1
            while (model := self._solver.model(*self._frame(top), self._bad)) is not None:
                bad = self._lifted(self.cubes.state(model), z3.Not(self.cubes.good))
                length = self._block(bad, top)
                if length is not None:
                    return length
            self._watch(top, sum(map(len, self._frames)))
            if self._propagated():
                return None

    def _new_frame(self) -> None:
        self._frames.append({})
        self._active.append(z3.Bool(f"frame {len(self._frames)}"))

    def _frame(self, level: int) -> list[Term]:
        return [self._starting] if level == 0 else self._active[level:]

    def _block(self, bad: Cube, top: int) -> int | None:
        """Exclude a cube from the last frame; the length of a run if it can be reached."""
        waiting: list[tuple[int, int, int, Cube]] = [(top, next(self._order), 0, bad)]
        while waiting:
            level, _, after, cube = heappop(waiting)
            if self.cubes.meets_start(cube):
                return after
            if self._excluded(cube, level):
                continue
            found = self._predecessor(cube, level - 1)
            if isinstance(found, Reached):
                heappush(waiting, (level - 1, next(self._order), after + 1, found.cube))
                heappush(waiting, (level, next(self._order), after, cube))
                continue
            short = self._shortened(found, level)
            while level < top and not isinstance(self._predecessor(short, level, lift=False), Reached):
                level += 1
            self._exclude(short, level)
            if level < top:
                heappush(waiting, (level + 1, next(self._order), after, cube))
        return None

    def _excluded(self, cube: Cube, level: int) -> bool:
        return any(subsumes(c, cube) for frame in self._frames[level:] for c in frame)

    def _exclude(self, cube: Cube, level: int) -> None:
        for frame in self._frames[1 : level + 1]:
            for weaker in [c for c in frame if subsumes(cube, c)]:
                del frame[weaker]
        self._frames[level][cube] = None
        self._solver.add([z3.Implies(self._active[level], self.cubes.not_all(cube))])

    def _predecessor(self, cube: Cube, level: int, lift: bool = True) -> Reached | Cube:
        """A cube of states of a frame, outside of `cube`, from which one step leads into it; or the part of the cube that
        is already why there is none."""
        outside = z3.Bool(f"outside {next(self._names)}")
        self._solver.add([z3.Implies(outside, self.cubes.not_all(cube))])
        later = {self.cubes.literal(literal, later=True): literal for literal in cube}
        model = self._solver.model(*self._frame(level), outside, self._moving, *later)
        if model is None:
            core = self._solver.core()
            self._solver.add([z3.Not(outside)])
            return self._apart([literal for term, literal in later.items() if term in core], cube)
        if not lift:
            return Reached(())
        number = self.cubes.chosen(model)
        state = self.cubes.state(model)
        self._solver.add([z3.Not(outside)])
        return Reached(self._lifted(state, self.cubes.leads_to(number, cube)))

    def _lifted(self, state: Cube, fact: Term) -> Cube:
        """As few literals of a state as imply a fact about it."""
        name = z3.Bool(f"not so {next(self._names)}")
        self._solver.add([z3.Implies(name, z3.Not(fact))])
        literals = {self.cubes.literal(literal): literal for literal in state}
        impossible = self._solver.model(name, *literals)
        assert impossible is None
        core = self._solver.core()
        self._solver.add([z3.Not(name)])
        return tuple(literal for term, literal in literals.items() if term in core)

    def _apart(self, part: list[Literal], cube: Cube) -> Cube:
        """The part, with a literal more where it would otherwise include the initial state."""
        if self.cubes.meets_start(tuple(part)):
            part.append(next(literal for literal in cube if not self.cubes.meets_start((literal,))))
        return tuple(part)

    def _shortened(self, cube: Cube, level: int) -> Cube:
        """Leave literals out while the clause stays inductive relative to the frame before."""
        failed = 0
        for literal in cube:
            if literal not in cube or failed >= TRIES:
                continue
            shorter = tuple(other for other in cube if other is not literal)
            if self.cubes.meets_start(shorter):
                continue
            found = self._predecessor(shorter, level - 1, lift=False)
            if isinstance(found, Reached):
                failed += 1
            else:
                cube, failed = found, 0
        return cube

    def _propagated(self) -> bool:
        """Move clauses to later frames; whether a frame has become equal to the next."""
        for level in range(1, len(self._frames) - 1):
            for cube in sorted(self._frames[level], key=len):
                if cube not in self._frames[level]:
                    continue
                if not isinstance(self._predecessor(cube, level, lift=False), Reached):
                    self._exclude(cube, level + 1)
            if not self._frames[level]:
                self.clauses = tuple(c for frame in self._frames[level:] for c in frame)
                return True
        return False


class Reached:
    """That a cube can be entered, and a cube of states from which it can."""

    def __init__(self, cube: Cube) -> None:
        self.cube = cube
