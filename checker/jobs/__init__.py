"""Many independent searches: in this process, in a pool of processes, or on a Ray cluster; with the same results."""

from .job import Job, JobFunction, LostWorker, run_jobs
from .journal import Journal, JournalProblem
from .local import Here, Processes

__all__ = [
    "Here",
    "Job",
    "JobFunction",
    "Journal",
    "JournalProblem",
    "LostWorker",
    "Processes",
    "run_jobs",
]
