"""What a sweep is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Chunk:
    """Work that one worker does in one go: a name that no other chunk of the sweep has, and what it is about.

    `task` is pickled to be sent to another process.
    """

    name: str
    task: Any


Work = Callable[[Any], Any]
"""What is done with the task of a chunk. It depends on nothing else, so that it can be done anywhere, and again."""


class LostWorker(Exception):
    """Workers kept dying, so that a sweep cannot be finished."""


class Pool(Protocol):
    """Somewhere to work."""

    def results(self, work: Work, chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, Any]]:
        """The results of all chunks, in any order; what a lost worker had in hand is done by another.

        Raises LostWorker, and whatever `work` raises.
        """
        ...
