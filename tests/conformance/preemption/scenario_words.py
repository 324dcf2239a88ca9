"""What the words of a scenario row claim of a pod."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from tests.conformance.cases.cases import NotCovered


class Fate(Enum):
    """What a claim says of a pod."""

    BOUND = "is bound"
    NEVER_BOUND = "is never bound"
    NOMINATED = "is nominated"
    CLEARED = "is not nominated any more"
    EVICTED = "is evicted"
    SPARED = "is never evicted"
    NEVER_NOMINATED = "is never nominated"


_OPPOSITE = {
    Fate.BOUND: Fate.NEVER_BOUND, Fate.NOMINATED: Fate.NEVER_NOMINATED, Fate.EVICTED: Fate.SPARED,
}  # fmt: skip
OPPOSITE = {**_OPPOSITE, **{b: a for a, b in _OPPOSITE.items()}, Fate.CLEARED: Fate.NOMINATED}
SAFETY = (Fate.NEVER_BOUND, Fate.SPARED, Fate.NEVER_NOMINATED)

NO = {"never", "not", "no", "nobody", "none", "without"}
BOUND = {"bound", "bind", "binds", "scheduled", "schedule", "schedules", "placed", "assigned"}
UNBOUND = {"unbound", "unscheduled", "unschedulable", "pending", "waiting", "waits", "wait"}
_NOMINATED = {"nominated", "nominate", "nomination", "nominations", "nominatednodename"}
_CLEARED = {
    "cleared",
    "clear",
    "removed",
    "withdrawn",
    "dropped",
    "unset",
    "lost",
    "lose",
    "loses",
    "losing",
    "empty",
}
_EVICTED = {"evicted", "evict", "evictions", "preempted", "victims", "victim", "deleted", "terminating"}
_SPARED = {"spared", "kept", "survive", "survives", "surviving"}
CREATE = {"create", "creates", "created", "add", "adds", "submit", "run"}
OTHERS = {"others", "other", "rest", "lower"}
EXPECT = {"expect", "expects", "expected", "wait", "check", "assert", "verify"}
_ORDER = {"before", "after", "until", "then"}


def words(text: str) -> list[str]:
    """The words of a name or a phrase, in lower case."""
    return re.findall(r"[a-z0-9]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower())


def fate_of(said: Sequence[str]) -> Fate | None:
    """What these words claim; None if they claim nothing."""
    has, no = set(said), bool(set(said) & NO)
    if has & _NOMINATED:
        if has & _CLEARED:
            return None if no else Fate.CLEARED
        return Fate.NEVER_NOMINATED if no else Fate.NOMINATED
    if has & _SPARED:
        return Fate.SPARED
    if has & BOUND:
        return Fate.NEVER_BOUND if no else Fate.BOUND
    if has & _EVICTED:
        return Fate.SPARED if no else Fate.EVICTED
    if has & {"clear", "cleared"} and not no:
        return Fate.CLEARED
    return Fate.NEVER_BOUND if has & UNBOUND else None


def refuse_order(where: str, said: Sequence[str]) -> None:
    """Raises NotCovered if these words claim that one thing comes before another.

    `wait until` does not, nor does `then` with a creation.
    """
    for last, word in zip(("", *said), said, strict=False):
        if word == "then" and set(said) & CREATE:
            continue
        if word in _ORDER and (last, word) != ("wait", "until"):
            raise NotCovered(f"{where} claims an order (`{word}`)")
