"""Where batch jobs are worked on: here, in processes, or on a Ray cluster, as the options say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..base.problems import UsageProblem
from ..checker.jobs import Here, Processes

if TYPE_CHECKING:
    from ..checker.jobs.job import Job, JobFunction, Pool


def pool_for(ray: str | None, processes: int, jobs: int) -> Pool:
    """The pool for so many jobs: `ray` is as `--ray` gives it, `processes` as `--jobs`. Raises UsageProblem."""
    if ray is not None:
        from ..checker.jobs.on_ray import OnRay, RayMissing

        try:
            return _Reached(OnRay(ray), RayMissing)
        except RayMissing as error:
            raise UsageProblem(f"--ray: {error}") from None
    return Processes(processes) if processes > 1 and jobs > 1 else Here()


class _Reached:
    """A cluster whose address was given by `--ray`: whether it is there shows when it is to work."""

    def __init__(self, pool: Pool, missing: type[Exception]) -> None:
        self.pool, self.missing = pool, missing

    def results(self, function: JobFunction, jobs: Iterable[Job]) -> Iterator[tuple[Job, Any]]:
        """As Pool says. Raises UsageProblem if there is no cluster."""
        try:
            yield from self.pool.results(function, jobs)
        except self.missing as error:
            raise UsageProblem(f"--ray: {error}") from None
