"""What comes out of one conformance case, whether it says anything about a release, and how it ends early."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..model.history import RELEASES

Case = Mapping[str, Any]
Status = Literal["PASS", "FAIL", "SKIP"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """`reason` is empty for PASS, else one line: what differs, or why the case was skipped."""

    status: Status
    reason: str = ""


Runner = Callable[[Case, str], Outcome]
"""Runs one case of a table on one release, such as "1.22"."""


class NotCovered(Exception):
    """The case needs an extender, topology spread or a plug-in of its own: it is skipped."""


class NotTranslated(Exception):
    """The case says something that its runner cannot put to the model: it fails."""


class Differs(Exception):
    """The model does not do what the case expects: it fails."""


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


def judged(case: Case, release: str, play: Callable[[], object]) -> Outcome:
    """What comes of playing a case, which raises one of the above if it does not come to a good end."""
    if not applies(case, release):
        return Outcome("SKIP", f"does not apply to {release}")
    if release not in RELEASES:
        return Outcome("SKIP", f"release {release} is not modelled")
    try:
        play()
    except NotCovered as error:
        return Outcome("SKIP", f"not covered: {error}")
    except NotTranslated as error:
        return Outcome("FAIL", f"not translated: {error}")
    except Differs as error:
        return Outcome("FAIL", str(error))
    return Outcome("PASS")


def check(what: str, found: object, expected: object) -> None:
    """Raises Differs unless both are equal."""
    if found != expected:
        raise Differs(f"{what}: {found}, expected {expected}")


def differ(what: str, expected: Any, found: Any) -> Outcome:
    """A failed comparison, or a pass."""
    if expected == found:
        return Outcome("PASS")
    return Outcome("FAIL", f"{what}: expected {shown(expected)}, the model gives {shown(found)}")


def any_of_these(what: str, expected: Sequence[str] | str | None, found: Sequence[str]) -> Outcome:
    """Every node that the model lets win is one of those expected, and there is one if any is."""
    allowed = {expected} if isinstance(expected, str) else set(expected or ())
    allowed.discard("")
    if set(found) <= allowed and bool(found) == bool(allowed):
        return Outcome("PASS")
    return Outcome("FAIL", f"{what}: expected {shown(allowed)}, the model lets {shown(set(found))} win")


def first_failure(outcomes: Sequence[Outcome]) -> Outcome:
    """The first that is no pass."""
    return next((o for o in outcomes if o.status != "PASS"), Outcome("PASS"))


def shown(value: Any) -> str:
    """A value in a reason; sets in order."""
    if isinstance(value, (set, frozenset)):
        return "{" + ", ".join(sorted(map(str, value))) + "}"
    return "none" if value is None else str(value)
