"""What tests of commands begin with; some have a shell of their own, which starts in a prepared directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.helpers import TINY, Shell


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
