"""What comes out of one conformance case, and whether it says anything about a release."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Case = Mapping[str, Any]
Status = Literal["PASS", "FAIL", "SKIP"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """`reason` is empty for PASS, else one line: what differs, or why the case was skipped."""

    status: Status
    reason: str = ""


Runner = Callable[[Case, str], Outcome]
"""Runs one case of a table on one release, such as "1.22"."""


def version(text: str) -> tuple[int, ...]:
    """`1.22.5` as numbers that compare."""
    return tuple(int(part) for part in text.split("."))


def applies(case: Case, release: str) -> bool:
    """Whether a case's `applies_to` covers the first version of a release."""
    bounds = case.get("applies_to") or {}
    at, low, high = version(release), bounds.get("min"), bounds.get("max")
    if low is not None and at < version(low):
        return False
    return high is None or at <= version(high)
