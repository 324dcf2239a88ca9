"""Work on this machine."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from .chunk import Chunk, LostWorker, Work

PATIENCE = 3
"""How often a pool is set up again without any result in between."""


class Here:
    """This process, one chunk after the other."""

    def results(self, work: Work, chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, Any]]:
        """As Pool says."""
        for chunk in chunks:
            yield chunk, work(chunk.task)


class Processes:
    """So many processes, each started afresh. When one dies, all are replaced; finished chunks stay finished."""

    def __init__(self, count: int) -> None:
        self.count = count

    def results(self, work: Work, chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, Any]]:
        """As Pool says."""
        left = list(chunks)
        losses = 0
        while left:
            done: set[str] = set()
            try:
                for chunk, result in self._some(work, left):
                    done.add(chunk.name)
                    losses = 0
                    yield chunk, result
            except BrokenProcessPool:
                losses += 1
                if losses == PATIENCE:
                    raise LostWorker(
                        f"{PATIENCE} times in a row worker processes were killed: use fewer with --jobs, or see what killed them"
                    ) from None
            left = [chunk for chunk in left if chunk.name not in done]

    def _some(self, work: Work, chunks: list[Chunk]) -> Iterator[tuple[Chunk, Any]]:
        context = multiprocessing.get_context("spawn")  # forked copies of running threads would hang
        pool = ProcessPoolExecutor(self.count, context)
        try:
            waiting: dict[Future[Any], Chunk] = {pool.submit(work, chunk.task): chunk for chunk in chunks}
            while waiting:
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    chunk = waiting.pop(future)
                    yield chunk, future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
