"""Which steps of the model may have happened in a turn of a record: a small superset, told by who moved, and past which calls.

An actor of the real scheduler stands for one or more of the model's. What it may have done is what these can do; of a goroutine that
belongs to a pod, for this pod only. A step that changes something within a call was not taken where the call was not passed. The
timers of the queue and of the cache are held by nobody, so they may have run in any turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from podrace.checker.core.trace import plain_value
from podrace.model.language import Transition, TransitionSystem
from podrace.reports.step import Value
from tests.tools.recorded.records import Turn

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


FILTERS = frozenset({
    "Cache.UpdateSnapshot", "Framework.RunFilterPluginsWithNominatedPods", "Queue.NominatedPodsForNode", "Framework.RunPostFilterPlugins",
    "FailureHandler", "Cache.AssumePod",
})  # fmt: skip
"""Where nodes may have been filtered: a PreFilter plugin can refuse some without a call for each."""

DRY_RUNS = frozenset(
    {"Framework.RunPostFilterPlugins", "Queue.NominatedPodsForNode", "Extender.ProcessPreemption"}
)
BINDS = frozenset({
    "Queue.DeleteNominatedPodIfExists", "Framework.RunReservePluginsReserve", "Framework.RunPermitPlugins", "NextPod",
})  # fmt: skip
WRITES = frozenset({"Client.Patch", "Queue.AddNominatedPod", "FailureHandler"})
"""Where the status may have been written: a patch without content is not sent."""

CALLS: Mapping[str, frozenset[str]] = {
    "scheduler.pop": frozenset({"NextPod"}),
    "scheduler.pop_amid_move": frozenset({"NextPod"}),
    "scheduler.skip": frozenset({"NextPod", "Queue.Done", "Cache.IsAssumedPod"}),
    "scheduler.take_snapshot": frozenset({"Cache.UpdateSnapshot"}),
    "scheduler.filter_nominated": FILTERS,
    "scheduler.filter": FILTERS,
    "scheduler.assume": frozenset({"Cache.AssumePod"}),
    "scheduler.start_binding": BINDS,
    # The model starts the binding cycle in the last of these, upstream once all plugins have been asked.
    "scheduler.reserve": frozenset(
        {"Framework.RunReservePluginsReserve", "Framework.RunPermitPlugins", "NextPod"}
    ),
    "scheduler.permit": frozenset({"Framework.RunPermitPlugins", "NextPod"}),
    "scheduler.forget": frozenset({"Cache.ForgetPod"}),
    "scheduler.reread_preemptor": frozenset({"Framework.RunPostFilterPlugins"}),
    "scheduler.dry_run": DRY_RUNS,
    "scheduler.choose_candidate": DRY_RUNS,
    "scheduler.fail": frozenset({"FailureHandler"}),
    "failure.read": frozenset({"FailureHandler", "Queue.Done", "Queue.AddUnschedulableIfNotPresent"}),
    "failure.requeue": frozenset({"Queue.AddUnschedulableIfNotPresent"}),
    "failure.requeue_too_soon": frozenset({"Queue.AddUnschedulableIfNotPresent"}),
    "failure.nominate": frozenset({"Queue.AddNominatedPod"}),
    "failure.patch": WRITES,
    "failure.lose_patch": frozenset({"Client.Patch"}),
    "failure.wake_others": frozenset({"Queue.MoveAllToActiveOrBackoffQueue"}),
    "updates.wake_queue": frozenset({"Queue.MoveAllToActiveOrBackoffQueue"}),
    "binding.fail_pre_flight": frozenset({"Framework.RunPreBindPreFlights"}),
    "binding.fail_to_announce": frozenset({"Client.Patch"}),
    "binding.wait_on_permit": frozenset({"Framework.WaitOnPermit"}),
    "binding.pre_bind": frozenset({"Framework.RunPreBindPlugins"}),
    "binding.stop_pre_bind": frozenset({"Framework.RunPreBindPlugins"}),
    "binding.bind": frozenset({"Client.Bind"}),
    "binding.finish": frozenset({"Cache.FinishBinding"}),
    "binding.forget": frozenset({"Cache.ForgetPod"}),
    "binding.wake_queue": frozenset({"Queue.MoveAllToActiveOrBackoffQueue"}),
    "binding.fail": frozenset({"FailureHandler"}),
}
"""The calls within or around which a step happens: it was not taken in a turn in which its actor passed none of them. Steps that are not here may
have been taken whenever their actor moved."""


@dataclass(frozen=True, slots=True)
class _Moved:
    """Actors of the model that moved, for which pod (None: for any), and past which calls (None: past any)."""

    actors: tuple[str, ...]
    pod: str | None = None
    calls: frozenset[str] | None = None

    def may_take(self, transition: Transition) -> bool:
        """Whether a transition is one of theirs."""
        if transition.actor not in self.actors:
            return False
        if self.pod is not None and dict(_plain(transition)).get("pod", self.pod) != self.pod:
            return False
        around = CALLS.get(f"{transition.part}.{transition.step}")
        return around is None or self.calls is None or not around.isdisjoint(self.calls)


class PossibleSteps:
    """The transitions of one system by what a turn says."""

    def __init__(self, system: TransitionSystem) -> None:
        self._transitions = system.transitions
        self._known: dict[_Moved, frozenset[int]] = {}
        self._steps: dict[tuple[str, frozenset[tuple[str, Value]]], int] = {
            (f"{t.part}.{t.step}", frozenset(_plain(t))): number for number, t in enumerate(self._transitions)
        }

    def of(self, turn: Turn) -> frozenset[int]:
        """What may have happened in this turn. Raises ValueError for a step that the system does not have."""
        found = [self._by(_Moved(TIMERS)), *map(self._by, _movers(turn))]
        if turn.do == "deliver":
            found.append(self._by(_Moved((INFORMERS[str(turn.args["kind"])],))))
        elif "." in turn.do:
            step = turn.do, frozenset(turn.args.items())
            if step not in self._steps:
                raise ValueError(f"the model has no step {turn.do}({_shown(turn.args)}) here")
            found.append(frozenset({self._steps[step]}))
        return frozenset().union(*found)

    def _by(self, moved: _Moved) -> frozenset[int]:
        if moved not in self._known:
            self._known[moved] = frozenset(n for n, t in enumerate(self._transitions) if moved.may_take(t))
        return self._known[moved]


def _movers(turn: Turn) -> list[_Moved]:
    """Who moved, each with the calls that it passed."""
    passed: dict[tuple[str, str], set[str]] = {}
    for point in turn.passed if turn.origin is None else [turn.origin, *turn.passed]:
        passed.setdefault((point.actor, point.of), set()).add(point.call)
    return [
        _Moved(ACTORS.get(actor, ()), of if actor in OWN_POD else None, frozenset(calls))
        for (actor, of), calls in passed.items()
    ]


def _plain(transition: Transition) -> Iterable[tuple[str, Value]]:
    return ((name, plain_value(value)) for name, value in transition.args)


def _shown(args: Mapping[str, Value]) -> str:
    return ", ".join(f"{name}={value}" for name, value in args.items())
