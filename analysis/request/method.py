"""How runs are to be searched: the engine, the verdict cache, the budget, and who watches."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ...base.problems import UsageProblem
from ...base.structs import Data
from .option_files import refuse_links
from .options import parse_jobs, parse_memory, parse_states, parse_timeout

if TYPE_CHECKING:
    from ...checker.core.exploration import Budget
    from ...checker.core.exploration import Progress as Progress

Engine = Literal["native", "reference"]

CACHE_SWITCH = "PODRACE_NO_CACHE"
"""In the environment, and not empty: what --no-cache says."""


class Method(Data):
    """How to search. `cache` is the directory of the verdict cache; without, no verdict is looked up or kept.

    With `whole_findings`, also findings are, for a process that runs podrace as its files say: a program may have changed it in memory.
    """

    engine: Engine = "native"
    cache: Path | None = None
    whole_findings: bool = False


USUAL = Method()
"""The native engine, and no cache."""


class Watcher:
    """Where the progress of the work is shown: nowhere, unless a display says more."""

    def start(self, what: str) -> None:
        """Work on something else begins."""

    def watch(self, progress: Progress) -> None:
        """A search stands here."""

    def say(self, text: str) -> None:
        """Other work stands here."""


NOBODY = Watcher()
"""Shows nothing."""


def budget_of(
    max_states: str | None, max_memory: str | None, timeout: str | None, jobs: str | None, walks: int = 0
) -> Budget:
    """The budget as the options give it: without them all cores, and the memory that is safe to use.

    Raises UsageProblem, before anything that takes time to load.
    """
    states = parse_states(max_states) if max_states is not None else None
    memory = parse_memory(max_memory) if max_memory is not None else None
    threads = parse_jobs(jobs) if jobs is not None else None
    seconds = parse_timeout(timeout) if timeout is not None else None
    return budget_for(states, memory, seconds, threads, walks)


def budget_for(
    max_states: int | None = None,
    max_memory: int | None = None,
    timeout: float | None = None,
    jobs: int | None = None,
    walks: int = 0,
) -> Budget:
    """The same in numbers: bytes and seconds."""
    from ...checker.core.exploration import Budget
    from ...checker.core.machine import cores, safe_memory

    return Budget(
        max_states=max_states,
        max_memory=safe_memory() if max_memory is None else max_memory,
        timeout=timeout,
        jobs=jobs or cores(),
        walks=walks,
    )


def threads_of(jobs: str | None) -> int:
    """How many threads or processes `--jobs` asks for: all cores without it. Raises UsageProblem."""
    asked = parse_jobs(jobs) if jobs is not None else None
    from ...checker.core.machine import cores

    return asked or cores()


def cache_folder(named: Path | None, switched_off: bool) -> Path | None:
    """The directory that the options ask for, else one beside the compiled code; None if nothing is to be kept.

    Raises UsageProblem for one into which others may write, and for a secret that is none.
    """
    found = _cache_folder(named, switched_off)
    if found is None:
        return None
    from ...checker.core.signing import LEAST, VARIABLE, others_may_write

    if 0 < len(os.environ.get(VARIABLE, "")) < LEAST:
        raise UsageProblem(f"{VARIABLE}: a secret has at least {LEAST} characters: write a longer one")
    for folder in (found,) if named is not None else (found.parent, found):
        if others_may_write(folder):
            what = "--cache" if named is not None else "the cache"
            raise UsageProblem(
                f"{what}: others may write into `{folder}`: run `chmod go-w {folder}`, name another, or use --no-cache"
            )
    return found


def _cache_folder(named: Path | None, switched_off: bool) -> Path | None:
    if switched_off:
        if named is not None:
            raise UsageProblem("--cache and --no-cache contradict each other: leave one of them out")
        return None
    if named is not None:
        refuse_links("--cache", named)
        if named.exists() and not named.is_dir():
            raise UsageProblem(f"--cache: `{named}` is no directory: name one")
        return named
    if os.environ.get(CACHE_SWITCH):
        return None
    from ...checker.core.kept import cache_directory

    return cache_directory() / "verdicts"
