"""Many independent searches: in this process or in a pool of processes, with the same results."""

from .job import Job, JobFunction, LostWorker, run_jobs
from .journal import Journal, JournalProblem
from .local import Here, Processes, pool_of

__all__ = [
    "Here",
    "Job",
    "JobFunction",
    "Journal",
    "JournalProblem",
    "LostWorker",
    "Processes",
    "pool_of",
    "run_jobs",
]
