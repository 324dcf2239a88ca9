"""How fast the native engine is: distinct states and transitions a second, on one core.

A synthetic system of one word (tables per job, as in the scheduler's models), the same with states of two
and four words, and the seed scenarios. The first search of each compiles; the table shows the best of the
next RUNS, and what compiling added. Cold means an empty cache.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from enum import Enum
from typing import Any

from podrace.checker.core.exploration import Budget
from podrace.checker.explicit import explore
from podrace.model.language import (
    INT,
    Component,
    Entity,
    Model,
    TransitionSystem,
    Universe,
    Variable,
    all_of,
    build,
    clamp,
    count,
    enum,
    integer,
    per,
    ref,
    require,
    step,
    trace_system,
)

RUNS = 3
SECONDS = 60


class Job(Entity):
    """What workers take, run and give back."""


class Worker(Entity):
    """Runs one job at a time."""


class Stage(Enum):
    WAITING = 0
    TAKEN = 1
    RUNNING = 2
    DONE = 3


class Shop(Component):
    """Jobs are taken by idle workers, run, retried once, and taken away from slow workers."""

    stage = per(Job, enum(Stage))
    worker = per(Job, ref(Worker))
    tries = per(Job, integer(0, 1))

    @step(actor="worker")
    def take(self, job: Job, worker: Worker) -> None:
        require(self.stage[job] == Stage.WAITING)
        require(count(self.worker[j] == worker for j in self.universe[Job]) < 2)
        self.worker[job] = worker
        self.stage[job] = Stage.TAKEN

    @step(actor="worker")
    def start(self, job: Job) -> None:
        require(self.stage[job] == Stage.TAKEN)
        self.stage[job] = Stage.RUNNING

    @step(actor="worker")
    def finish(self, job: Job) -> None:
        require(self.stage[job] == Stage.RUNNING)
        self.stage[job] = Stage.DONE

    @step(actor="worker")
    def fail(self, job: Job) -> None:
        require((self.stage[job] == Stage.RUNNING) & (self.tries[job] < 1))
        self.worker[job] = None
        self.stage[job] = Stage.WAITING
        self.tries[job] = clamp(self.tries[job] + 1, 0, 1)

    @step(actor="clerk")
    def clear(self, job: Job) -> None:
        require(self.stage[job] == Stage.DONE)
        self.worker[job] = None


class Company(Model):
    shop: Shop


def synthetic(words: int = 1, jobs: int = 6) -> TransitionSystem:
    """A system of 5 bits and 6 transitions a job, spread over so many words; a job more has 13 times the states."""
    universe = Universe(
        {
            Job: [Job(i, f"j{i}") for i in range(jobs)],
            Worker: [Worker(i, f"w{i}") for i in range(2)],
        }
    )
    model = build(Company, universe)
    shop: Any = model.parts["shop"]
    system = trace_system(
        model,
        "synthetic",
        invariants={"two each": lambda: count(shop.worker[j].is_some for j in universe[Job]) < 5},
        witnesses={"done": lambda: all_of(shop.stage[j] == Stage.DONE for j in universe[Job])},
    )
    # Variables that never change, each with almost a word of its own.
    share = -(-len(system.variables) // words)
    spread: list[Variable] = []
    for word in range(words):
        mine = system.variables[word * share : (word + 1) * share]
        if words > 1:
            used = sum(v.bits for v in mine)
            spread.append(Variable(f"padding{word}", INT, 0, (1 << (64 - used)) - 1, 0))
        spread += mine
    return replace(system, name=f"synthetic, {words} word{'s' if words > 1 else ''}", variables=tuple(spread))


def seeds() -> Iterator[TransitionSystem]:
    """The seed scenarios, each as the search sees it: sliced for its property, and searched to the end."""
    from podrace.checker.reduction.slicing import slice_system
    from podrace.model.history import resolve
    from podrace.properties import PROPERTIES, instrument
    from podrace.scenarios import find_scenarios

    for name in ("72124", "53647"):
        (scenario,) = find_scenarios(name)
        assert scenario.release is not None
        composition = resolve(scenario.release, [], [])
        properties = [PROPERTIES[p] for p in scenario.properties]
        system = slice_system(instrument(scenario.spec, composition.classes, properties))
        # Without the invariants that it breaks, which would end the search early.
        yield replace(system, name=f"{name} on {scenario.release}", invariants={})


def measure(system: TransitionSystem) -> None:
    """Print one line of the table."""
    started = time.perf_counter()
    explore(system, Budget(max_states=1))
    compiled = time.perf_counter() - started
    budget = Budget(timeout=SECONDS)
    found = min((explore(system, budget) for _ in range(RUNS)), key=lambda e: e.seconds)
    end = "" if found.complete else f"  ({found.stopped})"
    print(
        f"{system.name:<20}{system.bits:>5}{found.states:>12,}{found.transitions:>14,}{found.seconds:>8.2f}"
        f"{found.states / found.seconds / 1e6:>10.2f}{found.transitions / found.seconds / 1e6:>10.1f}"
        f"{compiled:>10.2f}{end}",
        flush=True,
    )


def main() -> None:
    """Print the table."""
    print(
        f"{'system':<20}{'bits':>5}{'states':>12}{'transitions':>14}{'s':>8}{'M st/s':>10}{'M tr/s':>10}{'cold s':>10}"
    )
    with tempfile.TemporaryDirectory() as cache:
        os.environ["PODRACE_CACHE"] = cache
        for system in [
            *(synthetic(words) for words in (1, 2, 4)),
            *(seeds() if "--synthetic" not in sys.argv else ()),
        ]:
            measure(system)


if __name__ == "__main__":
    main()
