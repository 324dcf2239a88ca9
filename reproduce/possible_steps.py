"""Which steps of the model may have happened in a turn of a record: a small superset, told by who moved.

An actor of the real scheduler stands for one or more of the model's. What it may have done is what these can do; of a goroutine that
belongs to a pod, for this pod only. The timers of the queue and of the cache are held by nobody, so they may have run in any turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..checker.core.trace import plain_value
from ..model.language import Transition, TransitionSystem
from ..reports.step import Value
from .records import Point, Turn

TIMERS = ("queue timers", "cache timers")

ACTORS: Mapping[str, tuple[str, ...]] = {
    "scheduler": ("scheduler", "failure handler"),
    "binding cycle": ("binding cycle", "failure handler"),
    "preemption goroutine": ("preemption goroutine",),
    "pod handler": ("cache handler", "queue handler"),
    "node handler": ("node handler",),
}
"""The model's actors that each of the driver's stands for. What a worker does, its scheduling cycle or preemption does."""

INFORMERS = {"pods": "pod informer", "nodes": "node informer"}

OWN_POD = ("binding cycle", "preemption goroutine")
"""Goroutines that belong to one pod."""


@dataclass(frozen=True, slots=True)
class _Who:
    """Actors of the model, and for which pod they acted (None: for any)."""

    actors: tuple[str, ...]
    pod: str | None = None

    def may_take(self, transition: Transition) -> bool:
        """Whether a transition is one of theirs."""
        if transition.actor not in self.actors:
            return False
        return self.pod is None or dict(_plain(transition)).get("pod", self.pod) == self.pod


class PossibleSteps:
    """The transitions of one system by what a turn says."""

    def __init__(self, system: TransitionSystem) -> None:
        self._transitions = system.transitions
        self._known: dict[_Who, frozenset[int]] = {}
        self._steps: dict[tuple[str, frozenset[tuple[str, Value]]], int] = {
            (f"{t.part}.{t.step}", frozenset(_plain(t))): number for number, t in enumerate(self._transitions)
        }

    def of(self, turn: Turn) -> frozenset[int]:
        """What may have happened in this turn. Raises ValueError for a step that the system does not have."""
        found = [self._by(_Who(TIMERS))]
        if turn.do == "deliver":
            found.append(self._by(_Who((INFORMERS[str(turn.args["kind"])],))))
        elif "." in turn.do:
            step = turn.do, frozenset(turn.args.items())
            if step not in self._steps:
                raise ValueError(f"the model has no step {turn.do}({_shown(turn.args)}) here")
            found.append(frozenset({self._steps[step]}))
        moved = turn.passed if turn.origin is None else [turn.origin, *turn.passed]
        found += [self._by(who) for who in dict.fromkeys(map(_who, moved))]
        return frozenset().union(*found)

    def _by(self, who: _Who) -> frozenset[int]:
        if who not in self._known:
            self._known[who] = frozenset(n for n, t in enumerate(self._transitions) if who.may_take(t))
        return self._known[who]


def _who(point: Point) -> _Who:
    return _Who(ACTORS.get(point.actor, ()), point.of if point.actor in OWN_POD else None)


def _plain(transition: Transition) -> Iterable[tuple[str, Value]]:
    return ((name, plain_value(value)) for name, value in transition.args)


def _shown(args: Mapping[str, Value]) -> str:
    return ", ".join(f"{name}={value}" for name, value in args.items())
