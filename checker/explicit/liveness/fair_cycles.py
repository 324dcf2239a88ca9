"""Fair cycles in a graph of numbered states, in plain Python: for the reference, and for printing.

A fair run that stays among some states repeats, from some point on, exactly the states and edges of a strongly
connected part of them; every state may also rest, which is an edge to itself without a transition. So there is such a
run if and only if some strongly connected part is fair: to a weak set if one of its edges belongs to the set or
the set does not wait in one of its states, to a strong set if one of its edges belongs to it or the set waits in
none of its states. Of a component that is unfair to strong sets only, a part may be fair: one
without the states in which these sets wait (Streett's condition; Emerson and Lei 1987).

Sets of fair sets are masks: bit i stands for the i-th fair set of the system.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import field
from functools import partial

from ....base.structs import Data
from ....model.language import TransitionSystem
from ...core.exploration import Path

Edge = tuple[int, int]
"""The number of a transition, and the state that it leads to."""

STARTS = 64
"""At how many states of a fair component the search for a short cycle begins, at most."""
MAX_LOOKS = 300_000
"""How many states these searches expand together, about, before they are content with what they have."""


class Owed(Data):
    """What a walk goes to: an edge that acts for one of `either`, a state in which one of `weak` does not wait or one of `recurrent` holds; nothing owed: `home`."""

    either: int = 0
    weak: int = 0
    recurrent: int = 0
    home: int = -1


Nearest = Callable[[int, Owed], tuple[list[Edge], int]]
"""From a state the shortest way to what is owed, and how many states were looked at for it."""


class Obligations(Data):
    """The weak and the strong fair sets, and the sets that each transition belongs to."""

    weak: int
    strong: int
    acting: Sequence[int]


class FairRegion(Data):
    """Some states: the edges among them, the sets that wait in each, which recurring conditions hold in each.

    `wanted` is the mask of all recurring conditions. `nearest` looks for what is nearest as `nearest_in` does, where the edges are stored for native code.
    """

    edges: Mapping[int, Sequence[Edge]]
    waiting: Mapping[int, int]
    recurring: Mapping[int, int] = field(default_factory=dict)
    wanted: int = 0
    nearest: Nearest | None = None

    def within(self, states: Set[int]) -> FairRegion:
        """Only these states, and only the edges among them."""
        edges = {s: [e for e in self.edges[s] if e[1] in states] for s in sorted(states)}
        return FairRegion(edges, self.waiting, self.recurring, self.wanted)


def mask(bits: Iterable[bool]) -> int:
    """The number whose bit i is the i-th of these."""
    return sum(1 << i for i, bit in enumerate(bits) if bit)


def obligations_of(system: TransitionSystem) -> Obligations:
    """What fairness asks of the runs of a system."""
    sets = list(system.fair_sets)
    number = {fairness: i for i, fairness in enumerate(sets)}
    return Obligations(
        weak=mask(not f.strong for f in sets),
        strong=mask(f.strong for f in sets),
        acting=[sum(1 << number[f] for f in set(t.fairness)) for t in system.transitions],
    )


def fair_component(region: FairRegion, fair: Obligations) -> set[int] | None:
    """Of the strongly connected parts that a fair run can repeat, the one with the least state."""
    best: set[int] | None = None
    waiting = [set(region.edges)]
    while waiting:
        for component in components(region, waiting.pop()):
            acts = calm = waits = recurs = 0
            for state in component:
                calm |= ~region.waiting[state]
                waits |= region.waiting[state]
                recurs |= region.recurring.get(state, 0)
                for transition, target in region.edges[state]:
                    if target in component:
                        acts |= fair.acting[transition]
            if fair.weak & ~(acts | calm) or region.wanted & ~recurs:
                continue  # smaller parts do no better
            unfair = fair.strong & waits & ~acts
            if unfair:
                waiting.append({s for s in component if not region.waiting[s] & unfair})
            elif best is None or min(component) < min(best):
                best = component
    return best


def components(region: FairRegion, states: Set[int]) -> Iterator[set[int]]:
    """The strongly connected components of these states (Kosaraju: depth first forwards, then backwards)."""
    before: dict[int, list[int]] = {s: [] for s in states}
    for s in states:
        for _, target in region.edges[s]:
            if target in before:
                before[target].append(s)
    finished: list[int] = []
    seen: set[int] = set()
    for root in sorted(states):
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, iter(region.edges[root]))]
        while stack:
            edges = stack[-1][1]
            onwards = next((t for _, t in edges if t in before and t not in seen), None)
            if onwards is None:
                finished.append(stack.pop()[0])
            else:
                seen.add(onwards)
                stack.append((onwards, iter(region.edges[onwards])))
    done: set[int] = set()
    for root in reversed(finished):
        if root in done:
            continue
        component, reached = {root}, [root]
        while reached:
            for source in before[reached.pop()]:
                if source not in done and source not in component:
                    component.add(source)
                    reached.append(source)
        done |= component
        yield component


def shortest_found(component: FairRegion, fair: Obligations) -> tuple[int, Path]:
    """A state of a fair component and a fair cycle from it; an empty one rests there.

    Among the STARTS least states, the one whose cycle is shortest (the first of several).
    """
    best: tuple[int, Path] | None = None
    looks = 0
    for start in sorted(component.edges)[:STARTS]:
        walk = _Walk(component, fair, start)
        cycle = walk.cycle()
        looks += walk.looks
        if best is None or len(cycle) < len(best[1]):
            best = start, cycle
        if not cycle or looks > MAX_LOOKS:
            break
    assert best is not None
    return best


class _Walk:
    """A walk through a fair component that goes to the nearest thing that it still owes, and home at the end."""

    def __init__(self, component: FairRegion, fair: Obligations, start: int) -> None:
        self.component, self.fair, self.start = component, fair, start
        self.at, self.path = start, list[int]()
        self.acted = self.calm = self.waited = self.recurred = 0
        self.looks = 0
        self._visit(start)

    def cycle(self) -> Path:
        """The transitions of the cycle."""
        while self._owes() or self.at != self.start:
            for transition, target in self._nearest(self._owes()):
                self.path.append(transition)
                self.acted |= self.fair.acting[transition]
                self._visit(target)
        return tuple(self.path)

    def _visit(self, state: int) -> None:
        self.at = state
        self.calm |= ~self.component.waiting[state]
        self.waited |= self.component.waiting[state]
        self.recurred |= self.component.recurring.get(state, 0)

    def _owes(self) -> bool:
        return bool(self._weak() | self._strong() | self._recurrent())

    def _weak(self) -> int:
        return self.fair.weak & ~(self.acted | self.calm)

    def _strong(self) -> int:
        return self.fair.strong & self.waited & ~self.acted

    def _recurrent(self) -> int:
        return self.component.wanted & ~self.recurred

    def _nearest(self, owing: bool) -> list[Edge]:
        """The shortest way that pays something off, or home if nothing is owed."""
        if owing:
            weak, recurrent = self._weak(), self._recurrent()
            owed = Owed(weak | self._strong(), weak, recurrent)
        else:
            owed = Owed(home=self.start)
        nearest = self.component.nearest or partial(nearest_in, self.component, self.fair)
        way, looks = nearest(self.at, owed)
        self.looks += looks
        if not way:
            raise AssertionError("a component that is not fair, or not strongly connected")
        return way


def nearest_in(region: FairRegion, fair: Obligations, start: int, owed: Owed) -> tuple[list[Edge], int]:
    """As `Nearest` says, breadth first; no way if there is none."""
    came: dict[int, tuple[int, int]] = {start: (-1, -1)}
    queue = deque([start])
    looks = 0
    while queue:
        state = queue.popleft()
        looks += 1
        for transition, target in region.edges[state]:
            if (
                target == owed.home
                or fair.acting[transition] & owed.either
                or owed.weak & ~region.waiting[target]
                or owed.recurrent & region.recurring.get(target, 0)
            ):
                way = [(transition, target)]
                while came[state][0] >= 0:
                    way.append((came[state][1], state))
                    state = came[state][0]
                return way[::-1], looks
            if target not in came:
                came[target] = (state, transition)
                queue.append(target)
    return [], looks
