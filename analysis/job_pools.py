"""Where batch jobs are worked on: here, in processes, or on a Ray cluster, as the options say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..checker.jobs import Here, Processes
from .asked.options import UsageProblem

if TYPE_CHECKING:
    from ..checker.jobs.job import Pool


def pool_for(ray: str | None, processes: int, jobs: int) -> Pool:
    """The pool for so many jobs: `ray` is as `--ray` gives it, `processes` as `--jobs`. Raises UsageProblem."""
    if ray is not None:
        from ..checker.jobs.on_ray import OnRay, RayMissing

        try:
            return OnRay(ray)
        except RayMissing as error:
            raise UsageProblem(f"--ray: {error}") from None
    return Processes(processes) if processes > 1 and jobs > 1 else Here()
