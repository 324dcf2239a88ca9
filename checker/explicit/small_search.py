"""Small searches without native code: to make code takes longer than these take, and to load what makes it as well.

The states of a level are expanded together, as sets (`core.many_states`). It follows the counting rules of `exploration`, as all
engines do; one that turns out to be large is left to the engine in native code, which begins anew.
"""

import time
from collections import deque
from collections.abc import Iterable
from functools import reduce
from operator import or_

from ...model.language import Case, Expr, TransitionSystem
from ..core.exploration import Budget, Exploration, Lasso, Path
from ..core.many_states import MOST_PAIRS, ManyStates, NotApplicable, PackedStates
from .liveness.fair_cycles import Edge, FairRegion, fair_component, obligations_of, shortest_found

MOST_STATES, MOST_WHILE_WIDENING = 32_000, 16_000
"""A search whose levels still become wider will come to several times what it has found."""
MOST_WHILE_MULTIPLYING, GROWTH, IN_A_ROW = 4_000, 1.15, 3
"""One in which each of so many levels in a row is wider than the one before by such a factor will come to many times that."""
MOST_LOOKS = 400_000
"""So many times is an expression evaluated, for all states of a level each; a search with many narrow levels would take long."""
MOST_SECONDS = 1.0
"""Of CPU: a set for each of many values that a variable has can take longer than what is known of it here would tell."""
LEAST_MEMORY = 1 << 28
LEAST_SECONDS = 1.0
"""With a tighter budget, a search is left to the engine that keeps to the last byte and millisecond."""


def explore_if_small(system: TransitionSystem, budget: Budget, patience: int = 1) -> Exploration | None:
    """What `explore` of any engine gives, if the search is a small one; None if it is not, or not of the kind that is done here. `patience` multiplies what is small."""
    if (budget.max_memory is not None and budget.max_memory < LEAST_MEMORY) or (
        budget.timeout is not None and budget.timeout < LEAST_SECONDS
    ):
        return None
    most = min(MOST_STATES * patience, budget.max_states or MOST_STATES * patience)
    try:
        return SmallSearch(system, most, patience).run()
    except (NotApplicable, RecursionError):
        return None


class SmallSearch:
    """One exploration. A state is known by its number: its place in the order of discovery."""

    def __init__(self, system: TransitionSystem, most: int, patience: int = 1) -> None:
        self.system, self.most, self.patience = system, most, patience
        self.packed = PackedStates(system)
        self.states = [self.packed.pack(system.initial)]
        self.number = {self.states[0]: 0}
        self.parent: list[tuple[int, int]] = [(0, -1)]
        self.edges: list[list[Edge]] = []  # of every expanded state, if anybody asks for them
        self.fired = [0] * len(system.transitions)
        self.constraints_hit: set[str] = set()
        self.violated: dict[str, int] = {}
        self.reached: dict[str, int] = {}
        self.depth = self.looked = 0
        self.began = 0.0
        place = self.packed.place
        self.updates = [
            [(v, 8 * place[v], e) for v, e in t.updates.items() if v in place] for t in system.transitions
        ]
        everything = (1 << 8 * self.packed.width) - 1
        self.kept = [everything ^ sum(0xFF << shift for _, shift, _ in new) for new in self.updates]

    def run(self) -> Exploration:
        """Search level by level, until there is nothing left to do or to ask. Raises NotApplicable."""
        started, self.began = time.monotonic(), time.thread_time()
        with_edges = bool(self.system.livenesses or self.system.resettabilities)
        done, complete, multiplied = 0, True, 0
        while done < len(self.states):
            level = self.states[done:]
            here = ManyStates(self.packed, level)
            self.depth += 1 if done else 0
            self._judge(here, done)
            if self._answered():
                complete = False
                break
            following = self._successors(here, level)
            for number, edges in enumerate(following, done):
                for index, target in edges:
                    if target not in self.number:
                        self.number[target] = len(self.states)
                        self.states.append(target)
                        self.parent.append((number, index))
            self.looked += here.looked
            found = len(self.states)
            width = found - done - len(level)
            multiplied = multiplied + 1 if width >= GROWTH * len(level) else 0
            most = MOST_WHILE_WIDENING * self.patience if width > len(level) else self.most
            if multiplied >= IN_A_ROW:
                most = MOST_WHILE_MULTIPLYING * self.patience
            if found > min(most, self.most) or self.looked > MOST_LOOKS * self.patience:
                raise NotApplicable
            if with_edges:
                self.edges += [[(index, self.number[to]) for index, to in edges] for edges in following]
            done += len(level)
        return self._result(complete, time.monotonic() - started)

    def _judge(self, here: ManyStates, first: int) -> None:
        """Note the first state that violates an invariant, or that reaches a witness."""
        for name, predicate in self.system.invariants.items():
            if name not in self.violated and (broken := here.all ^ here.where(predicate)):
                self.violated[name] = first + here.first(broken)
        for name, predicate in self.system.witnesses.items():
            if name not in self.reached and (there := here.where(predicate)):
                self.reached[name] = first + here.first(there)

    def _answered(self) -> bool:
        """Whether nothing is left to find out. Witnesses do not count, and resettabilities need every state."""
        asked = self.system.invariants
        return bool(asked) and not self.system.resettabilities and len(self.violated) == len(asked)

    def _successors(self, here: ManyStates, level: list[int]) -> list[list[Edge]]:
        """For each state of a level the transitions that are enabled there, in order, with the state to which each leads."""
        found: list[list[Edge]] = [[] for _ in level]
        for index, transition in enumerate(self.system.transitions):
            if time.thread_time() - self.began >= MOST_SECONDS * self.patience:
                raise NotApplicable
            enabled = here.where(transition.guard)
            if not enabled:
                continue
            allowed = enabled
            for name, constraint in transition.constraints:
                holds = here.where(constraint)
                if enabled & ~holds:
                    self.constraints_hit.add(name)
                allowed &= holds
            if not allowed:
                continue
            self.fired[index] += allowed.bit_count()
            kept = self.kept[index]
            for new, states in self._changes(here, index, allowed).items():
                for number in here.numbers(states):
                    found[number].append((index, level[number] & kept | new))
        return found

    def _changes(self, here: ManyStates, index: int, allowed: int) -> dict[int, int]:
        """What a transition writes into states, each with the states into which it writes that."""
        common, found = 0, {0: allowed}
        for variable, shift, update in self.updates[index]:
            values = [
                (value, there) for value, states in here.split(update).items() if (there := states & allowed)
            ]
            if any(not variable.lo <= value <= variable.hi for value, _ in values):
                raise NotApplicable  # a mistake in the system
            if len(values) == 1:  # as most are
                common |= values[0][0] - variable.lo << shift
                continue
            if len(found) * len(values) > MOST_PAIRS:
                raise NotApplicable
            found = {
                old | (value - variable.lo << shift): both
                for old, states in found.items()
                for value, there in values
                if (both := states & there)
            }
        return {new | common: states for new, states in found.items()}

    def _path_to(self, number: int) -> Path:
        """The run by which a state was first found."""
        path: list[int] = []
        while number:
            number, index = self.parent[number]
            path.append(index)
        return tuple(reversed(path))

    def _no_way_back(self, everywhere: ManyStates, predicate: Expr) -> int | None:
        """The first state from which fair transitions alone never lead to the predicate."""
        fair = [t.fair for t in self.system.transitions]
        before: list[list[int]] = [[] for _ in self.states]
        for source, edges in enumerate(self.edges):
            for index, target in edges:
                if fair[index]:
                    before[target].append(source)
        recovers = bytearray(len(self.states))
        waiting = deque(everywhere.numbers(everywhere.where(predicate)))
        for number in waiting:
            recovers[number] = 1
        while waiting:
            for source in before[waiting.popleft()]:
                if not recovers[source]:
                    recovers[source] = 1
                    waiting.append(source)
        found = recovers.find(0)
        return None if found < 0 else found

    def _lasso(self, everywhere: ManyStates, waits: list[int], cases: Iterable[Case]) -> Lasso | None:
        """A lasso of the first of these cases that has a fair cycle."""
        obligations = obligations_of(self.system)
        for case in cases:
            keep = [*everywhere.numbers(everywhere.where(case.persistent))]
            recurring = self._masks(everywhere, [everywhere.where(e) for e in case.recurrent])
            inside = {*keep}
            region = FairRegion(
                {n: [edge for edge in self.edges[n] if edge[1] in inside] for n in keep},
                {n: waits[n] for n in keep},
                {n: recurring[n] for n in keep},
                (1 << len(case.recurrent)) - 1,
            )
            component = fair_component(region, obligations)
            if component is not None:
                start, cycle = shortest_found(region.within(component), obligations)
                return Lasso(self._path_to(start), cycle, case.name)
        return None

    def _masks(self, everywhere: ManyStates, sets: list[int]) -> list[int]:
        """For each state the mask of the sets that it is in."""
        found = [0] * len(self.states)
        for bit, states in enumerate(sets):
            for number in everywhere.numbers(states):
                found[number] |= 1 << bit
        return found

    def _result(self, complete: bool, seconds: float) -> Exploration:
        system = self.system
        lassos, no_way_back = {}, {}
        if complete and (system.livenesses or system.resettabilities):
            everywhere = ManyStates(self.packed, self.states)
            waits = self._masks(
                everywhere,
                [
                    reduce(or_, (everywhere.where(system.transitions[i].waits(f)) for i in members), 0)
                    for f, members in system.fair_sets.items()
                ],
            )
            lassos = {
                name: lasso
                for name, cases in system.livenesses.items()
                if (lasso := self._lasso(everywhere, waits, cases)) is not None
            }
            found = {
                name: self._no_way_back(everywhere, predicate)
                for name, predicate in system.resettabilities.items()
            }
            no_way_back = {name: self._path_to(n) for name, n in found.items() if n is not None}
        return Exploration(
            states=len(self.states),
            transitions=sum(self.fired),
            depth=self.depth,
            seconds=seconds,
            complete=complete,
            stopped=None if complete else "answered",
            fired=tuple(self.fired),
            constraints_hit=frozenset(self.constraints_hit),
            violations={name: self._path_to(n) for name, n in self.violated.items()},
            witnesses={name: self._path_to(n) for name, n in self.reached.items()},
            no_way_back=no_way_back,
            lassos=lassos,
        )
