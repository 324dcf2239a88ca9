"""What tests of commands begin with; some have a shell of their own, which starts in a prepared directory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from podrace.analysis import systems
from tests.cli.helpers import TINY, Shell
from tests.traced import traced


@pytest.fixture(scope="module", autouse=True)
def _traced_once() -> Iterator[None]:
    """Many tests are about one race of the catalogue, and none is about how it is traced."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(systems, "instrument", traced)
        yield


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
