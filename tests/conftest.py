"""Settings shared by all tests."""

import gc
import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.durations import cpu, for_the_night, left_out, read
from tests.profiles import PROFILE, load_profile

# Tests look at searches, not at what earlier ones found.
os.environ["PODRACE_NO_CACHE"] = "1"
os.environ["PODRACE_CLOSING"] = "0"  # tests of what closes a race ask for it

# Parallel test runners give their workers a width; what is tested is what a pipe gets, unless a test says otherwise.
os.environ.pop("COLUMNS", None)

load_profile()

STARTED = pytest.StashKey[float]()


@pytest.fixture(autouse=True)
def _as_in_a_process_of_its_own() -> Iterator[None]:
    """What a test executes as a user's file is nothing to the next one."""
    yield
    if (in_memory := sys.modules.get("podrace.checker.core.in_memory")) is not None:
        in_memory.forget()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Of many cases that show the same, some are left to the night; what takes long is left to CI by the fast profile (tests/durations.py)."""
    for item in for_the_night(items):
        item.add_marker(pytest.mark.nightly)
    if PROFILE == "fast":
        for item in left_out(
            [i for i in items if not any(map(i.get_closest_marker, ("ci", "nightly")))], read()
        ):
            item.add_marker(pytest.mark.ci)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """How long a test and its fixtures take is in the report that tests/durations.py reads."""
    item.stash[STARTED] = cpu()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Said last, as reports take what is known when they are made."""
    result = yield
    item.user_properties.append(("cpu", f"{cpu() - item.stash[STARTED]:.2f}"))
    return result


def pytest_collection_finish() -> None:
    """Python looks for circles among all objects of a process each time some hundred survive: that took a fifth of the tests' time."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
