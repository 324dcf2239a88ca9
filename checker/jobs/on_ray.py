"""Work on a Ray cluster (`pip install podrace[ray]`)."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from typing import Any

from .job import Job, JobFunction, LostWorker


class RayMissing(Exception):
    """Ray is not installed, or there is no cluster at the address: one line that says so, and what to do."""


class OnRay:
    """A cluster at an address, or one that is started here (`local`). A job whose worker dies is run again."""

    def __init__(self, address: str) -> None:
        self.address = address
        try:
            import ray
        except ImportError:
            raise RayMissing("Ray is not installed: run `pip install podrace[ray]`") from None
        self._ray = ray

    def results(self, function: JobFunction, jobs: Iterable[Job]) -> Iterator[tuple[Job, Any]]:
        """As Pool says. What Ray has to say meanwhile, as that a worker died, goes to stderr: stdout is for results."""
        with redirect_stdout(sys.stderr):
            yield from self._results(function, jobs)

    def _results(self, function: JobFunction, jobs: Iterable[Job]) -> Iterator[tuple[Job, Any]]:
        ray = self._ray
        began = not ray.is_initialized()
        if began:
            local = self.address == "local"
            if not local and self.address != "auto":
                _knock(self.address)
            try:
                ray.init(address=None if local else self.address, log_to_driver=False, logging_level="error")
            except (ConnectionError, ValueError, RuntimeError) as error:
                line = " ".join(str(error).split())
                raise RayMissing(f"there is no Ray cluster at `{self.address}`: {line}") from None
        try:
            remote = ray.remote(function).options(max_retries=-1, num_cpus=1)
            waiting = {remote.remote(job.task): job for job in jobs}
            while waiting:
                done, _ = ray.wait(list(waiting), num_returns=1)
                for reference in done:
                    job = waiting.pop(reference)
                    try:
                        yield job, ray.get(reference)
                    except ray.exceptions.RayTaskError as error:
                        raise error.cause from None
                    except ray.exceptions.RayError as error:
                        raise LostWorker(
                            f"the cluster gave up on {job.name}: {type(error).__name__}"
                        ) from None
        finally:
            if began:
                ray.shutdown()


def _knock(address: str) -> None:
    """Ray itself tries for minutes, and then ends the process."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdecimal():
        raise RayMissing(f"`{address}` is no address of a Ray cluster: write HOST:PORT, `auto` or `local`")
    try:
        with socket.create_connection((host, int(port)), timeout=10):
            pass
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise RayMissing(f"there is no Ray cluster at `{address}`: {reason}") from None
