"""Many independent searches: in this process, in a pool of processes, or on a Ray cluster; with the same results."""

from .chunk import Chunk, LostWorker, Work
from .journal import Journal, JournalProblem
from .local import Here, Processes
from .run import sweep

__all__ = ["Chunk", "Here", "Journal", "JournalProblem", "LostWorker", "Processes", "Work", "sweep"]
