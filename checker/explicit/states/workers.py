"""The workers of a search: threads, as many as may run at once, kept from one slice of work to the next."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from types import TracebackType
from typing import Any

_WORTH_SHARING = 1 << 15
"""Fewer items than this are done before other threads have even been told."""


class Workers:
    """`size` threads that wait for work. Closed at the end of the search; compiled code runs without the GIL."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._threads = ThreadPoolExecutor(size, "podrace") if size > 1 else None

    def run(self, task: Callable[[int], Any]) -> None:
        """Call task(0), .. task(size - 1), all at once, and wait for all of them.

        All or none are called: the tasks may wait for one another, also when an interrupt comes here.
        """
        if self._threads is None:
            task(0)
            return
        gate = Lock()
        complete: list[bool] = []

        def worker(number: int) -> None:
            with gate:
                pass
            if complete:
                task(number)

        gate.acquire()
        try:
            calls = [self._threads.submit(worker, number) for number in range(self.size)]
            complete.append(True)
        finally:
            gate.release()
        for call in calls:
            call.result()

    def share_out(self, items: int, task: Callable[[int, int], Any]) -> None:
        """Call task(first, last) for ranges that make up 0 .. items - 1, one for each thread."""
        if self._threads is None or items < _WORTH_SHARING:
            task(0, items)
        else:
            ends = [items * worker // self.size for worker in range(self.size + 1)]
            self.run(lambda worker: task(ends[worker], ends[worker + 1]))

    def close(self) -> None:
        """End the threads."""
        if self._threads is not None:
            self._threads.shutdown()

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
