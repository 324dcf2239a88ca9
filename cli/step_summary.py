"""The summary of a step in GitHub Actions: a file that the runner names in the environment."""

from __future__ import annotations

import os
from pathlib import Path

from ..analysis.options import UsageProblem

VARIABLE = "GITHUB_STEP_SUMMARY"


def add_to_step_summary(markdown: str) -> None:
    """Append to the summary, where there is one. Raises UsageProblem."""
    name = os.environ.get(VARIABLE)
    if not name:
        return
    try:
        with Path(name).open("a", encoding="utf-8") as file:
            file.write(markdown)
    except OSError as error:
        raise UsageProblem(f"{VARIABLE}: cannot write `{name}`: {error.strerror}") from None
