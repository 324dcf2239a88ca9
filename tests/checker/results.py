"""What tests take from a result."""

from __future__ import annotations

from dataclasses import replace

from podrace.checker.core.result import Result, WalkCounts


def timeless(found: Result) -> Result:
    """Without what differs from run to run."""
    return replace(found, counts=replace(found.counts, seconds=None))


def walked(found: Result) -> WalkCounts:
    """What the walks came to."""
    assert found.counts.walks is not None
    return found.counts.walks
