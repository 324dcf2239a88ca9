"""Expectations that a case states anew from a release on: `expected_from_1_22`, beside the upstream row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .outcome import Case, version

_FROM = "expected_from_"


def restated(case: Case, release: str) -> tuple[Any] | None:
    """The newest such expectation that the release is late enough for, if there is one."""
    since = {_since(key): key for key in case if key.startswith(_FROM)}
    reached = [at for at in since if at <= version(release)]
    return (case[since[max(reached)]],) if reached else None


def _since(key: str) -> tuple[int, ...]:
    return version(key.removeprefix(_FROM).replace("_", "."))


def listed(value: Any) -> Any:
    """The list in a note such as `{candidates: [...], note: ...}`, or the value itself."""
    if not isinstance(value, Mapping):
        return value
    return next((v for v in value.values() if isinstance(v, list)), None)
