"""The budget of a search, out of the options that limit it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analysis.options import parse_jobs, parse_memory, parse_states, parse_timeout

if TYPE_CHECKING:
    from ..checker.core.exploration import Budget


def budget_of(
    max_states: str | None, max_memory: str | None, timeout: str | None, jobs: str | None
) -> Budget:
    """The budget as the options give it: without them all cores, and the memory that is safe to use.

    Raises UsageProblem, before anything that takes time to load.
    """
    states = parse_states(max_states) if max_states is not None else None
    memory = parse_memory(max_memory) if max_memory is not None else None
    threads = parse_jobs(jobs) if jobs is not None else None
    seconds = parse_timeout(timeout) if timeout is not None else None
    from ..checker.core.exploration import Budget
    from ..checker.core.machine import cores, safe_memory

    return Budget(
        max_states=states,
        max_memory=safe_memory() if memory is None else memory,
        timeout=seconds,
        jobs=threads or cores(),
    )
