"""Exhaustive exploration by the reference interpreter: the engine that the others are compared with.

It follows the counting rules of `exploration` to the letter, and is clear rather than fast.
"""

import sys
import time
from collections import deque
from collections.abc import Callable, Iterable

from ...model.language import Case, Expr, State, TransitionSystem
from ..core.exploration import Budget, Exploration, Lasso, OutOfBudget, Path, Progress
from ..core.interpreter import Interpreter
from .liveness.fair_cycles import Edge, FairRegion, fair_component, mask, obligations_of, shortest_found

Watcher = Callable[[Progress], None]

SECONDS_BETWEEN_REPORTS = 0.25
BYTES_BESIDE_A_STATE = 250  # its entries in the tables below, roughly


def explore(
    system: TransitionSystem, budget: Budget | None = None, progress: Watcher | None = None
) -> Exploration:
    """Visit every reachable state of `system`, or stop as `Exploration` and `Budget` say.

    The memory that counts against the budget is an estimate of what the stored states take.
    """
    return ReferenceSearch(system, budget or Budget(), progress).run()


class ReferenceSearch:
    """One exploration. A state is known by its number: its place in the order of discovery."""

    def __init__(self, system: TransitionSystem, budget: Budget, progress: Watcher | None) -> None:
        self.system, self.budget, self.progress = system, budget, progress
        # Two interpreters, as each remembers one state: the one being expanded, the one just found.
        self.acting, self.judging = Interpreter(system), Interpreter(system)
        self.states: list[State] = []
        self.number: dict[State, int] = {}
        self.parent: list[tuple[int, int]] = []  # from which state, and by which transition
        self.fair_edges: list[tuple[int, int]] = []  # kept only where resettabilities are asked
        self.edges: list[list[Edge]] = []  # kept only where livenesses are asked
        self.fired = [0] * len(system.transitions)
        self.constraints_hit: set[str] = set()
        self.violated: dict[str, int] = {}
        self.reached: dict[str, int] = {}
        self.depth = 0
        self.frontier = 1
        self.started = self.reported = time.monotonic()

    def run(self) -> Exploration:
        """Search level by level, until there is nothing left to do or to ask."""
        stopped: str | None = None
        self.find(self.acting.initial, parent=(0, -1))
        level = range(1)
        try:
            while level and stopped is None:
                if self.answered():
                    stopped = "answered"
                    break
                for number in level:
                    self.check_clock()
                    self.expand(number)
                level = range(level.stop, len(self.states))
                self.frontier = len(level)
                self.depth += 1 if level else 0
        except OutOfBudget as reason:
            stopped = reason.reason
            # The interrupted level counts if a state was found in it.
            self.depth += 1 if len(self.states) > level.stop else 0
        return self.result(stopped)

    def answered(self) -> bool:
        """Whether nothing is left to find out. Witnesses do not count, and resettabilities need every state."""
        asked = self.system.invariants
        return bool(asked) and not self.system.resettabilities and len(self.violated) == len(asked)

    def expand(self, number: int) -> None:
        """Take every enabled transition of one state."""
        state, acting = self.states[number], self.acting
        for index, transition in enumerate(self.system.transitions):
            if not acting.holds(transition.guard, state):
                continue
            blocking = acting.blocking(state, index)
            if blocking:
                self.constraints_hit.update(blocking)
                continue
            self.fired[index] += 1
            target = acting.successor(state, index)
            if target not in self.number:
                self.find(target, parent=(number, index))
            if self.system.livenesses:
                self.edges[number].append((index, self.number[target]))
            if self.system.resettabilities and transition.fair:
                self.fair_edges.append((number, self.number[target]))

    def find(self, state: State, parent: tuple[int, int]) -> None:
        """Store a new state and judge it."""
        number, budget = len(self.states), self.budget
        if number and budget.max_states is not None and number >= budget.max_states:
            raise OutOfBudget("states")
        if number and budget.max_memory is not None and self.memory > budget.max_memory:
            raise OutOfBudget("memory")
        self.number[state] = number
        self.states.append(state)
        self.parent.append(parent)
        self.edges.append([])
        for name, predicate in self.system.invariants.items():
            if name not in self.violated and not self.judging.holds(predicate, state):
                self.violated[name] = number
        for name, predicate in self.system.witnesses.items():
            if name not in self.reached and self.judging.holds(predicate, state):
                self.reached[name] = number

    @property
    def memory(self) -> int:
        """Roughly how many bytes the search holds."""
        each = sys.getsizeof(self.system.initial) + BYTES_BESIDE_A_STATE
        return each * len(self.states) + 100 * (len(self.fair_edges) + sum(map(len, self.edges)))

    def check_clock(self) -> None:
        """Stop when time is up; report now and then."""
        now = time.monotonic()
        if self.budget.timeout is not None and now - self.started > self.budget.timeout:
            raise OutOfBudget("timeout")
        if self.progress is not None and now - self.reported >= SECONDS_BETWEEN_REPORTS:
            self.reported = now
            self.progress(
                Progress(
                    states=len(self.states),
                    transitions=sum(self.fired),
                    depth=self.depth,
                    frontier=self.frontier,
                    seconds=now - self.started,
                    memory=self.memory,
                )
            )

    def path_to(self, number: int) -> Path:
        """The run by which a state was first found."""
        path: list[int] = []
        while number:
            number, index = self.parent[number]
            path.append(index)
        return tuple(reversed(path))

    def no_way_back(self, predicate: Expr) -> int | None:
        """The first state from which fair transitions alone never lead to the predicate."""
        before: list[list[int]] = [[] for _ in self.states]
        for source, target in self.fair_edges:
            before[target].append(source)
        good = [n for n, state in enumerate(self.states) if self.judging.holds(predicate, state)]
        can_recover = set(good)
        waiting = deque(good)
        while waiting:
            for source in before[waiting.popleft()]:
                if source not in can_recover:
                    can_recover.add(source)
                    waiting.append(source)
        return next((n for n in range(len(self.states)) if n not in can_recover), None)

    def lasso(self, cases: Iterable[Case]) -> Lasso | None:
        """A lasso of the first of these cases that has a fair cycle."""
        obligations = obligations_of(self.system)
        judge = self.judging
        sets = [
            [self.system.transitions[i].waits(f) for i in members]
            for f, members in self.system.fair_sets.items()
        ]
        for case in cases:
            keep = [n for n, s in enumerate(self.states) if judge.holds(case.persistent, s)]
            waiting, recurring = {}, {}
            for n in keep:
                waiting[n] = mask(any(judge.holds(e, self.states[n]) for e in guards) for guards in sets)
                recurring[n] = mask(judge.holds(e, self.states[n]) for e in case.recurrent)
            region = FairRegion(
                {n: [(t, to) for t, to in self.edges[n] if to in waiting] for n in keep},
                waiting,
                recurring,
                (1 << len(case.recurrent)) - 1,
            )
            component = fair_component(region, obligations)
            if component is not None:
                start, cycle = shortest_found(region.within(component), obligations)
                return Lasso(self.path_to(start), cycle, case.name)
        return None

    def result(self, stopped: str | None) -> Exploration:
        """What was found out."""
        no_way_back, lassos = {}, {}
        if stopped is None:
            lassos = {
                name: lasso
                for name, cases in self.system.livenesses.items()
                if (lasso := self.lasso(cases)) is not None
            }
            found = {
                name: self.no_way_back(predicate) for name, predicate in self.system.resettabilities.items()
            }
            no_way_back = {name: self.path_to(n) for name, n in found.items() if n is not None}
        return Exploration(
            states=len(self.states),
            transitions=sum(self.fired),
            depth=self.depth,
            seconds=time.monotonic() - self.started,
            complete=stopped is None,
            stopped=stopped,
            fired=tuple(self.fired),
            constraints_hit=frozenset(self.constraints_hit),
            violations={name: self.path_to(n) for name, n in self.violated.items()},
            witnesses={name: self.path_to(n) for name, n in self.reached.items()},
            no_way_back=no_way_back,
            lassos=lassos,
        )
