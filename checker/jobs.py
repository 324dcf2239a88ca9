"""Many independent searches: in this process or in a pool of processes, with the same results."""

import multiprocessing
import multiprocessing.connection
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from threading import Thread
from typing import Any

from ..base.structs import Data

MOST_LOSSES = 3
"""How often a pool is set up again without any result in between."""


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


class Here:
    """This process, one job after the other."""

    def results(self, function: JobFunction, jobs: Iterable[Job]) -> Iterator[tuple[Job, Any]]:
        """The results of all jobs, one after the other. Raises whatever `function` raises."""
        for job in jobs:
            yield job, function(job.task)


class Processes:
    """So many processes, each started afresh. When one dies, all are replaced; finished jobs stay finished."""

    def __init__(self, count: int) -> None:
        self.count = count

    def results(self, function: JobFunction, jobs: Iterable[Job]) -> Iterator[tuple[Job, Any]]:
        """The results of all jobs, in any order; what a lost worker had in hand is done by another.

        Raises LostWorker, and whatever `function` raises.
        """
        left = list(jobs)
        losses = 0
        while left:
            done: set[str] = set()
            try:
                for job, result in self._some(function, left):
                    done.add(job.name)
                    losses = 0
                    yield job, result
            except BrokenProcessPool:
                losses += 1
                if losses == MOST_LOSSES:
                    raise LostWorker(
                        f"{MOST_LOSSES} times in a row worker processes were killed: use fewer with --jobs, or see what killed them"
                    ) from None
            left = [job for job in left if job.name not in done]

    def _some(self, function: JobFunction, jobs: list[Job]) -> Iterator[tuple[Job, Any]]:
        context = multiprocessing.get_context("spawn")  # forked copies of running threads would hang
        pool = ProcessPoolExecutor(self.count, context, initializer=_end_with_the_parent)
        try:
            waiting: dict[Future[Any], Job] = {pool.submit(function, job.task): job for job in jobs}
            while waiting:
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    job = waiting.pop(future)
                    yield job, future.result()
        except BaseException:  # nobody waits for what is in hand, which may take hours
            for process in list((pool._processes or {}).values()):
                process.terminate()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def pool_of(processes: int, jobs: int) -> Here | Processes:
    """Who works on so many jobs with at most so many processes."""
    return Processes(processes) if processes > 1 and jobs > 1 else Here()


def _end_with_the_parent() -> None:
    """Have this worker end as soon as the process that it works for is gone, however that ended: a job may take hours. Ctrl-C is for that process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None
    Thread(target=_end_after, args=(parent.sentinel,), daemon=True).start()


def _end_after(sentinel: int) -> None:
    multiprocessing.connection.wait([sentinel])
    os._exit(1)
