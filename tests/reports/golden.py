"""Comparison with stored texts. PODRACE_UPDATE_GOLDEN=1 stores them anew; look at the difference before committing."""

from __future__ import annotations

import os

from tests.reports.samples import GOLDEN


def assert_golden(name: str, text: str) -> None:
    """The text is, byte for byte, the one stored under this name."""
    path = GOLDEN / name
    if os.environ.get("PODRACE_UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode())
    assert text == path.read_bytes().decode()
