"""Many independent searches: in this process or in a pool of processes, with the same results."""

from .job import Job, JobFunction, LostWorker
from .local import Here, Processes, pool_of

__all__ = ["Here", "Job", "JobFunction", "LostWorker", "Processes", "pool_of"]
