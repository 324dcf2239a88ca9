"""What tests of commands begin with; some have a shell of their own, which starts in a prepared directory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from podrace.analysis import chain, systems
from podrace.analysis.compare import inquiry
from podrace.checker.core import in_memory
from podrace.checker.core.exploration import Budget
from podrace.reproduce import request
from tests.cli.helpers import TINY, Shell
from tests.traced import traced


@pytest.fixture(scope="module", autouse=True)
def _traced_once() -> Iterator[None]:
    """Many tests are about one race of the catalogue, and none is about how it is traced."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(systems, "instrument", traced)
        in_memory.forget()  # of what podrace.api noted when the tests were collected
        yield


SEARCHES = (
    (chain, "verdicts"),
    (request, "verdicts"),
    (inquiry, "with_changes"),
)
"""What commands ask for the documents that they tell."""
FOUND: dict[str, Any] = {}


@pytest.fixture
def searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of words: what one test of the session asked for is not searched again, in whatever form it is told.

    The same is asked for by the same names of files, so a test with a file of its own that others have, too, does without.
    """
    for module, name in SEARCHES:
        monkeypatch.setattr(module, name, partial(_once, getattr(module, name)))


def _once(search: Callable[..., Any], *arguments: Any) -> Any:
    *asked, _watcher = arguments
    # Without more, a search may take a share of the memory that is free now.
    known = [replace(one, max_memory=None) if isinstance(one, Budget) else one for one in asked]
    key = repr((search.__qualname__, known))
    if key not in FOUND:
        FOUND[key] = search(*arguments)
    return FOUND[key]


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    """Runs command lines in the test process."""
    return Shell(capsys)


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    """The file of a scenario with one pod and one node."""
    file = tmp_path / "tiny.yaml"
    file.write_text(TINY)
    return str(file)
