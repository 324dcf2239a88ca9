"""Jobs and workers: a system of one word, or of the same states spread over more, with tables per job as the scheduler's models have."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import Any

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
