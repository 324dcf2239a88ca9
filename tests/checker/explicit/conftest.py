"""Compiled code goes to a directory of the test run, never to the user's cache."""

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    before = os.environ.get("PODRACE_CACHE")
    os.environ["PODRACE_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    if before is None:
        del os.environ["PODRACE_CACHE"]
    else:
        os.environ["PODRACE_CACHE"] = before
