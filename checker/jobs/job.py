"""Batch jobs: what they are, and where they are worked on."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from ...base.structs import Data


class Job(Data):
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
