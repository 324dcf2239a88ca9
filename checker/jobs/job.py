"""Batch jobs: what they are, and the loop over all of them, wherever they are worked on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .journal import Journal, JournalProblem


@dataclass(frozen=True, slots=True)
class Job:
    """What one worker does in one go: a name that no other job of the batch has, and what it is about.

    `task` is pickled to be sent to another process.
    """

    name: str
    task: Any


JobFunction = Callable[[Any], Any]
"""What is done with the task of a job. It depends on nothing else, so that it can be done anywhere, and again."""


class LostWorker(Exception):
    """Workers kept dying, so that a batch cannot be finished."""


class Pool(Protocol):
    """Somewhere to work."""

    def results(self, function: JobFunction, jobs: Iterable[Job]) -> Iterator[tuple[Job, Any]]:
        """The results of all jobs, in any order; what a lost worker had in hand is done by another.

        Raises LostWorker, and whatever `function` raises.
        """
        ...


def run_jobs(
    function: JobFunction,
    jobs: Sequence[Job],
    pool: Pool,
    journal: Journal | None = None,
    is_final: Callable[[Any], bool] = lambda result: True,
) -> Iterator[tuple[Job, Any]]:
    """The result of every job, once, in any order; those that the journal has come first. What is not final is not noted, so a later run does it again.

    Raises JournalProblem if it has results of jobs that are none of these.
    """
    known = {} if journal is None else journal.results
    strange = [name for name in known if name not in {job.name for job in jobs}]
    if strange:
        assert journal is not None
        raise JournalProblem(
            f"{journal.path}: has the result of `{strange[0]}`, which is not asked for: remove it"
        )
    done = [(job, known[job.name]) for job in jobs if job.name in known]
    left = [job for job in jobs if job.name not in known]
    yield from done
    for job, result in pool.results(function, left):
        if journal is not None and is_final(result):
            journal.add(job.name, result)
        yield job, result
