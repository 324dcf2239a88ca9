"""Where verdicts are kept."""

from __future__ import annotations

import os
from pathlib import Path

from .options import UsageProblem

SWITCH = "PODRACE_NO_CACHE"
"""In the environment, and not empty: what --no-cache says."""


def cache_folder(named: Path | None, switched_off: bool) -> Path | None:
    """The directory that the options ask for, else one beside the compiled code; None if nothing is to be kept."""
    if switched_off:
        if named is not None:
            raise UsageProblem("--cache and --no-cache contradict each other: leave one of them out")
        return None
    if named is not None:
        if named.exists() and not named.is_dir():
            raise UsageProblem(f"--cache: `{named}` is no directory: name one")
        return named
    if os.environ.get(SWITCH):
        return None
    from ..checker.llvm.machine_code import cache_directory

    return cache_directory() / "verdicts"
