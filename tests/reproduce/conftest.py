"""Go that builds nothing, and the ghost as a stored trace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.reproduce.fake_go import fake_go
from tests.reproduce.ghosts import GHOST


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a fake `go` that is the first on PATH; what is built goes into a cache of the test's own."""
    folder = fake_go(tmp_path)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PODRACE_CACHE", str(tmp_path / "cache"))
    return folder


@pytest.fixture
def ghost(tmp_path: Path) -> Path:
    """A stored trace of 1.36.3."""
    file = tmp_path / "ghost.json"
    file.write_text(GHOST, encoding="utf-8")
    return file
