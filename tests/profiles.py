"""How much a run of the tests tries: `PODRACE_TESTS` names one of four profiles.

fast      what `make test` runs: the same assertions as ci on fewer random examples, without the tests marked `ci`, and with few cases
          of those that take long (tests/durations.py)
ci        every test but the campaign and what is left to the night, with a third of the examples, the same ones in every run
nightly   every test but the campaign, with all examples, other ones in each run
campaign  what takes hours: the tests marked `campaign`
"""

from __future__ import annotations

import os
from typing import TypeVar

from hypothesis import settings

PROFILES = ("fast", "ci", "nightly", "campaign")
PART = {"fast": 10, "ci": 3}
"""One of how many random examples a profile tries; the others try all."""
LEAST = 3
"""A random test with fewer examples than this would hardly be one."""

T = TypeVar("T")


def chosen_profile() -> str:
    """The profile that the environment names, `fast` if it names none. Raises ValueError."""
    name = os.environ.get("PODRACE_TESTS") or "fast"
    if name not in PROFILES:
        raise ValueError(f"PODRACE_TESTS: there is no profile `{name}`: use {', '.join(PROFILES)}")
    return name


PROFILE = chosen_profile()


def load_profile() -> None:
    """Timings vary too much between machines for deadlines; in CI every run tries the same examples."""
    same = PROFILE == "ci" or bool(os.environ.get("CI"))
    settings.register_profile(
        PROFILE, deadline=None, max_examples=examples(100), derandomize=same, print_blob=same
    )
    settings.load_profile(PROFILE)


def examples(full: int) -> int:
    """How many of a test's random examples this profile tries: in fast a tenth, in ci a third, at least three (or all, if fewer)."""
    return max(full // PART.get(PROFILE, 1), min(full, LEAST))


def by_profile(*, fast: T, full: T) -> T:
    """What a test takes in the fast profile, and in the others."""
    return fast if PROFILE == "fast" else full
