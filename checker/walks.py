"""After a search that ran out: more searches, from where random runs end.

A violation far from the initial state can lie behind more states than a search has room for. At the end of a random run most choices are made, so
a small search decides what is left. What it finds is executed again like every violation, but need not be the shortest. Where it finds nothing, nothing is known.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

from ..model.language import State, TransitionSystem
from .core.exploration import Budget, Exploration, Lasso, Path
from .core.interpreter import Interpreter
from .reduction.slicing import step_name
from .trace.shrinking import shrink

MOST_STATES = 1_000_000
"""Of one search from the end of a run."""

MOST_STEPS, AS_MANY_STEPS = 60_000, 60
"""So many steps are taken again to leave some out; a search counts as so many."""


def search_farther(system: TransitionSystem, answer: Exploration, budget: Budget) -> Exploration:
    """The answer of a search, with the violations that searches from `budget.walks` random runs find, if it ran out of states or memory."""
    if not budget.walks or answer.stopped not in ("states", "memory"):
        return answer
    return _Walks(system, answer, budget).searched()


class _Walks:
    """The answer so far. Each run depends on its number alone."""

    def __init__(self, system: TransitionSystem, answer: Exploration, budget: Budget) -> None:
        from .explicit.engine import Series  # loads numpy and LLVM, which a small check never needs

        self.system, self.answer, self.budget = system, answer, budget
        self.interpreter, self.series = Interpreter(system), Series(system)
        self.steps = [step_name(t) for t in system.transitions]
        self.left = MOST_STEPS

    def searched(self) -> Exploration:
        ends: set[State] = set()
        for number in range(1, self.budget.walks + 1):
            if not self._open or self._seconds == 0:
                break
            self.answer = replace(self.answer, walks=number)
            path, end = self._walk(Random(number))
            if end not in ends:
                ends.add(end)
                self._note(path, self.series.explore(end, self._room))
        return replace(self.answer, seconds=self.answer.seconds + self.series.seconds)

    @property
    def _open(self) -> list[str]:
        """The properties that no violation was found of."""
        system, answer = self.system, self.answer
        known = {*answer.violations, *answer.no_way_back, *answer.lassos}
        names = dict.fromkeys([*system.invariants, *system.resettabilities, *system.livenesses])
        return [name for name in names if name not in known]

    @property
    def _seconds(self) -> float | None:
        limit = self.budget.timeout
        return None if limit is None else max(0.0, limit - self.answer.seconds - self.series.seconds)

    @property
    def _room(self) -> Budget:
        most = min(MOST_STATES, self.budget.max_states or MOST_STATES)
        return replace(self.budget, max_states=most, timeout=self._seconds)

    def _walk(self, random: Random) -> tuple[Path, State]:
        """A run of at most as many steps as the search came to; one that violates an invariant ends there.

        Each has a taste of its own: a weight for each step. Where all weigh the same, all runs are alike, and what needs one to come late, such as a fault, is rare.
        """
        path, state = [], self.system.initial
        weight = {name: random.random() ** 4 for name in dict.fromkeys(self.steps)}
        asked = [self.system.invariants[name] for name in self._open if name in self.system.invariants]
        for _ in range(random.randint(1, max(1, self.answer.depth))):
            enabled = self.interpreter.enabled(state)
            if not enabled or not all(self.interpreter.holds(e, state) for e in asked):
                break
            path += random.choices(enabled, [weight[self.steps[i]] for i in enabled])
            state = self.interpreter.successor(state, path[-1])
        return tuple(path), state

    def _note(self, path: Path, found: Exploration) -> None:
        """Add what a search from the end of a run has found of the properties that are open."""
        new = [n for n in self._open if n in found.violations or n in found.no_way_back or n in found.lassos]
        before = self.answer
        paths = {n: self._shortened(n, path + found.violations[n]) for n in new if n in found.violations}
        back = {n: self._shortened(n, path + found.no_way_back[n]) for n in new if n in found.no_way_back}
        lassos = {n: _after(path, found.lassos[n]) for n in new if n in found.lassos}
        self.answer = replace(
            before,
            violations={**before.violations, **paths},
            no_way_back={**before.no_way_back, **back},
            lassos={**before.lassos, **lassos},
            walked=before.walked.union(new),
        )

    def _shortened(self, name: str, path: Path) -> Path:
        """A run with some of these steps that still ends in a violation; as it is, if that is a run at rest."""
        if name in self.system.livenesses:
            return path
        shown = self._to_violation(name) if name in self.system.invariants else self._to_dead_end(name)

        def shrunk(candidate: Path) -> Path | None:
            return shown(candidate) if self.left > 0 or candidate == path else None

        return shrink(path, shrunk)

    def _to_violation(self, name: str) -> Callable[[Path], Path | None]:
        broken = self.system.invariants[name]

        def shown(candidate: Path) -> Path | None:
            runs = self._run(candidate)
            return next((path for path, state in runs if not self.interpreter.holds(broken, state)), None)

        return shown

    def _to_dead_end(self, name: str) -> Callable[[Path], Path | None]:
        def shown(candidate: Path) -> Path | None:
            path, end = list(self._run(candidate))[-1]
            self.left -= AS_MANY_STEPS
            return path if self.series.explore(end, self._room).no_way_back.get(name) == () else None

        return shown

    def _run(self, candidate: Path) -> Iterator[tuple[Path, State]]:
        """Each state of a run of these steps, without those that cannot be taken any more, with the run to there."""
        path, state = [], self.system.initial
        yield (), state
        for step in candidate:
            self.left -= 1
            if self.interpreter.enabled(state, (step,)):
                path.append(step)
                state = self.interpreter.successor(state, step)
                yield tuple(path), state


def _after(path: Path, lasso: Lasso) -> Lasso:
    return replace(lasso, prefix=path + lasso.prefix)
