"""What the words of a queue case mean: events, actions, admission checks and spans of time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..model.scheduler.framework.events import EVENTS, Action, ClusterEvent
from ..model.scheduler.queue.numbered import SECOND, Timing
from .outcome import NotTranslated


def nanoseconds(seconds: float | None) -> int:
    """A time of a case; an unset one is the start."""
    return round((seconds or 0) * SECOND)


# --- events ------------------------------------------------------------------------------------------


def event_of(said: str | Mapping[str, Any]) -> ClusterEvent:
    """An event by its label, or spelled out. An unknown label is an event that no plugin registers."""
    if isinstance(said, str):
        return EVENTS.get(said, ClusterEvent(said, said, Action.NONE))
    name = said.get("name") or said.get("label") or ""
    if "resource" not in said:
        return event_of(name)
    return ClusterEvent(name, said["resource"] or "", _action(said.get("action"), EVENTS.get(name)))


def registrations(said: Any) -> list[tuple[ClusterEvent, Sequence[str]]]:
    """Events with the plugins that registered them."""
    if isinstance(said, Mapping):
        return [(event_of(event), plugins) for event, plugins in said.items()]
    return [(event_of(entry["event"]), entry["plugins"]) for entry in said or ()]


def _action(said: str | Sequence[str] | None, known: ClusterEvent | None) -> Action:
    """An action such as `add`, `update node taint` or `add|delete`; else the one of a known event."""
    parts = re.split(r"[|,]", said) if isinstance(said, str) else said or ()
    result = Action.NONE
    for part in parts:
        plain = "".join(c for c in part if c.isalpha()).upper()
        if plain in ("", "NONE"):
            continue
        if plain in _ACTIONS:
            result |= _ACTIONS[plain]
        elif known is not None:
            return known.action
        else:
            raise NotTranslated(f"action {part}")
    return result


def _actions() -> dict[str, Action]:
    """Actions by their names, also without `update`, `update node` or with `change` in its place."""
    names = {}
    for name, action in Action.__members__.items():
        short = name.removeprefix("UPDATE_NODE_")
        names[name.replace("_", "")] = action
        if short != name:
            names |= dict.fromkeys((short, f"NODE{short}", f"UPDATE{short}", f"{short}CHANGE"), action)
    return names


_ACTIONS = _actions()


# --- admission checks --------------------------------------------------------------------------------


def admits(precheck: Any, priority: int) -> bool:
    """Whether a check of a case admits a pod of this priority: every condition that it names must hold."""
    if not isinstance(precheck, Mapping):
        raise NotTranslated(f"precheck {precheck}")
    return all(_holds(name, bound, priority) for name, bound in precheck.items() if name != "note")


def _holds(name: str, bound: Any, priority: int) -> bool:
    divisor, rest = bound if isinstance(bound, Sequence) and len(bound) == 2 else (bound, 0)
    conditions = {
        ("min", "at_least"): lambda: priority >= bound,
        ("max", "at_most"): lambda: priority <= bound,
        ("above", "min_exclusive", "greater_than", "gt"): lambda: priority > bound,
        ("below", "max_exclusive", "less_than", "lt"): lambda: priority < bound,
        ("even", "even_only"): lambda: (priority % 2 == 0) is bool(bound),
        ("odd", "odd_only"): lambda: (priority % 2 == 1) is bool(bound),
        ("parity",): lambda: priority % 2 == ("even", "odd").index(bound),
        ("multiple_of", "divisible_by", "mod", "modulo"): lambda: priority % divisor == rest,
        ("negative",): lambda: (priority < 0) is bool(bound),
    }
    plain = re.sub(r"_?priority_?", "_", name).strip("_")
    for names, condition in conditions.items():
        if plain in names:
            return bool(condition())
    raise NotTranslated(f"precheck {name}")


# --- time --------------------------------------------------------------------------------------------


def time_span(said: float | str, timing: Timing) -> int:
    """A span in nanoseconds: seconds, or one of the queue's own times, as in `max_in_unschedulable+1ns`."""
    if not isinstance(said, str):
        return nanoseconds(said)
    own = {
        "max_in_unschedulable": timing.max_parked,
        "initial_backoff": timing.initial_backoff,
        "max_backoff": timing.max_backoff,
    }
    name, _, more = said.replace(" ", "").partition("+")
    amount = re.fullmatch(r"(\d+)(ns|ms|s|)", more or "0")
    if name not in own or amount is None:
        raise NotTranslated(f"time span {said}")
    return own[name] + int(amount[1]) * {"ns": 1, "ms": 10**6}.get(amount[2], SECOND)
