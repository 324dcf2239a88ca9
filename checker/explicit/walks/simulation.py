"""Random walks of one system on all cores: the buffers of the walkers, and what is counted on the way."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ....model.language import TransitionSystem, Variable
from ...codegen.program import Program, generate
from ...core.exploration import Path
from ...llvm.machine_code import MachineCode, compile_system
from ..states.search_state import bits_of
from ..states.successors import ALL, Batch
from ..states.workers import Workers
from .walk_kernel import (
    BROKEN_STEP,
    BROKEN_WALK,
    CONTROL_SIZE,
    END,
    LONGEST,
    NEXT,
    STEPS,
    STUCK,
    WALKS,
    Judge,
    Positions,
    WalkSeen,
    WalkSetting,
    Writes,
    follow,
    wander,
)

AT_ONCE = 32
"""Walkers that take their steps together: enough that one need not wait for what another computes."""

MOST_VALUES = 1 << 10
"""For variables of more values, nobody notes which they take."""

MOST_WALKS = 1 << 62

_QUANTUM = 1 << 15
"""Steps between two looks at the clock, about."""

_STRETCH = 1 << 19
"""Steps that one worker takes before the workers meet, about: those walked beyond a violation are lost."""


@dataclass(slots=True)
class Tally:
    """What was seen on some walks.

    `fired[i]` counts how often transition i was taken; `values` has a 1 for every value that was taken, variable by variable;
    `earliest` has the fewest steps to each witness, and the least walk that needs no more. `broken` is the violating walk
    of the least number, with its number of steps.
    """

    fired: np.ndarray
    hits: np.ndarray
    values: np.ndarray
    earliest: np.ndarray
    walks: int = 0
    steps: int = 0
    resting: int = 0
    longest: int = 0
    broken: tuple[int, int] | None = None

    @property
    def seen(self) -> WalkSeen:
        """What the kernel writes to."""
        return WalkSeen(self.fired, self.hits, self.values, self.earliest.reshape(-1))

    def add(self, other: Tally) -> None:
        """Take in what was seen on other walks, all of them of higher numbers."""
        self.fired += other.fired
        self.hits |= other.hits
        self.values |= other.values
        for witness in range(len(self.earliest)):
            self.earliest[witness] = min(tuple(self.earliest[witness]), tuple(other.earliest[witness]))
        self.walks += other.walks
        self.steps += other.steps
        self.resting += other.resting
        self.longest = max(self.longest, other.longest)
        self.broken = self.broken or other.broken


class Walkers:
    """Walks through one system, `at_once` at a time, and repeats single walks. For one thread."""

    def __init__(
        self,
        program: Program,
        code: MachineCode,
        seed: int,
        length: int,
        by_step: bool,
        at_once: int = AT_ONCE,
    ) -> None:
        system = program.system
        self.program, self.system = program, system
        self.length, self.at_once = length, at_once
        names = {
            name: i for i, name in enumerate(dict.fromkeys((t.part, t.step) for t in system.transitions))
        }
        order = [names[t.part, t.step] for t in system.transitions] if by_step else []
        initial = np.array(program.layout.pack(system.initial), np.uint64)
        self.setting = WalkSetting(
            (0,) * program.layout.words, initial, np.uint64(seed), length, np.array(order, np.int64)
        )
        self.places = Places(program)
        self.states = np.empty(at_once * program.layout.words, np.uint64)
        self.batch = Batch(program, code, at_once)
        nothing, found = np.zeros((2, program.predicate_words), np.uint64)
        self.judge = Judge(code.check, len(system.invariants), nothing, found)

    def walk(self, first: int, last: int, patient: Callable[[], bool] = lambda: True) -> Tally:
        """Take the walks of numbers first .. last - 1, as long as one is `patient`; of the violating, the first.

        When one violates an invariant, what is counted is that of this walk and those before it, whatever was
        walked at the same time.
        """
        tally = self._walk(first, last, patient)
        if tally.broken is not None:
            tally = self._walk(first, tally.broken[0] + 1, lambda: True)
        return tally

    def path(self, walk: int, steps: int) -> Path:
        """The first steps of one walk."""
        record = np.empty(max(1, self.length), np.int32)
        self._walk(walk, walk + 1, lambda: True, record)
        return tuple(map(int, record[:steps]))

    def shortened(self, path: Path) -> Path | None:
        """What can be taken of a path up to the first violation; None if there is none."""
        taken = np.empty(max(1, len(path)), np.int32)
        count = follow(
            self.setting, np.array(path, np.int32), self.states, self.batch.arrays, self.judge, taken
        )
        return None if count < 0 else tuple(map(int, taken[:count]))

    def tally(self) -> Tally:
        """Nothing seen yet but the initial state."""
        system, layout = self.system, self.program.layout
        earliest = np.full((len(system.witnesses), 2), ALL, np.int64)
        values = np.zeros(self.places.total, np.uint8)
        for variable, code in zip(layout.fields, system.initial, strict=True):
            if variable in self.places.of:
                values[self.places.of[variable] + code - variable.lo] = 1
        return Tally(
            np.zeros(max(1, len(system.transitions)), np.int64),
            np.zeros(self.program.constraint_words, np.uint64),
            values,
            earliest,
        )

    def _walk(
        self, first: int, last: int, patient: Callable[[], bool], record: np.ndarray | None = None
    ) -> Tally:
        tally = self.tally()
        control = np.zeros(CONTROL_SIZE, np.int64)
        control[NEXT], control[END], control[BROKEN_WALK] = first, last, -1
        walks, steps = np.zeros((2, self.at_once), np.int64)
        record = np.empty(0, np.int32) if record is None else record
        batch = self.batch.arrays
        walkers = Positions(control, walks, steps, self.states)
        while not wander(
            self.setting, walkers, batch, self.judge, tally.seen, self.places.writes, record, _QUANTUM
        ):
            if not patient():
                break
        tally.walks, tally.resting, tally.longest, tally.steps = (
            int(control[i]) for i in (WALKS, STUCK, LONGEST, STEPS)
        )
        if control[BROKEN_WALK] >= 0:
            tally.broken = int(control[BROKEN_WALK]), int(control[BROKEN_STEP])
        return tally

    def values_seen(self, tally: Tally) -> dict[Variable, frozenset[int]]:
        """The values that each variable took, as codes; without the variables of too many values."""
        return {
            v: frozenset(v.lo + int(i) for i in np.flatnonzero(tally.values[place : place + v.hi - v.lo + 1]))
            for v, place in self.places.of.items()
        }

    def constraints_hit(self, tally: Tally) -> frozenset[str]:
        """The constraints that stopped a transition whose guard held."""
        return frozenset(self.system.constraints[bit] for bit in bits_of(tally.hits))


class Places:
    """Where the walkers note the values of variables: `of` maps a variable to where its values begin.

    `writes` says which of them each transition writes.
    """

    def __init__(self, program: Program) -> None:
        rows: list[int] = []
        self.of: dict[Variable, int] = {}
        number: dict[Variable, int] = {}
        self.total = 0
        for variable, field in program.layout.fields.items():
            if variable.hi - variable.lo < MOST_VALUES:
                number[variable] = len(number)
                self.of[variable] = self.total
                rows += [field.word, field.shift, field.bits, self.total]
                self.total += variable.hi - variable.lo + 1
        written = [[number[v] for v in t.updates if v in number] for t in program.system.transitions]
        self.writes = Writes(
            np.array([v for row in written for v in row], np.int64),
            np.cumsum([0, *map(len, written)], dtype=np.int64),
            np.array(rows, np.uint64),
        )


def walk_at_random(
    system: TransitionSystem,
    *,
    seed: int,
    walks: int | None,
    length: int,
    by_step: bool,
    timeout: float | None = None,
    jobs: int = 1,
    at_once: int = AT_ONCE,
    progress: Callable[[Tally, float], None] | None = None,
) -> tuple[Tally, Walkers, float]:
    """Take random walks until one violates an invariant, or their number or the time is over.

    Gives what was seen, walkers that can repeat a walk, and the seconds of walking. Unless the time is over, what was seen
    depends neither on `jobs` nor on `at_once`.
    """
    program = generate(system)
    code = compile_system(program.ir)
    size = max(1, min(jobs, walks or jobs))
    walkers = [Walkers(program, code, seed, length, by_step, at_once) for _ in range(size)]
    total, end = walkers[0].walk(0, 0), MOST_WALKS if walks is None else walks
    began = time.monotonic()  # the inner loop is compiled by now
    stretch = max(AT_ONCE, min(_STRETCH // length, -(-end // size)))

    interrupted: list[bool] = []

    def in_time() -> bool:
        return not interrupted and (timeout is None or time.monotonic() - began < timeout)

    with Workers(size) as workers:
        first = 0
        while first < end and total.broken is None and in_time():
            found: list[Tally] = [total] * size

            def task(worker: int, first: int = first, found: list[Tally] = found) -> None:
                start = min(first + worker * stretch, end)
                found[worker] = walkers[worker].walk(start, min(start + stretch, end), in_time)

            try:
                workers.run(task)
            except BaseException:
                interrupted.append(True)  # the other threads need not walk to the end of their stretches
                raise
            for tally in found:
                if total.broken is None:
                    total.add(tally)
            first += size * stretch
            if progress is not None:
                progress(total, time.monotonic() - began)
    return total, walkers[0], time.monotonic() - began
