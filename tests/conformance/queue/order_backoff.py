"""Conformance of activeQ's order and of the length of backoffs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from podrace.model.cluster import build_cluster
from podrace.model.environment.objects import ClusterSpec, Node, Pod
from podrace.model.history import resolve
from podrace.model.language import Concrete
from tests.conformance.cases.cases import Case, NotTranslated, Outcome, check, judged
from tests.conformance.queue.backoff_lengths import backoff_lengths
from tests.conformance.queue.cast import nanoseconds
from tests.conformance.queue.numbered import CountingClock, Timing, counted


def run(case: Case, release: str) -> Outcome:
    """Run a case of `order_backoff.json` on a release."""
    return judged(case, release, lambda: _play(case, release))


def _play(case: Case, release: str) -> None:
    found = {"less": _less, "backoff": _backoff, "options": _options}.get(case["kind"])
    if found is None:
        raise NotTranslated(f"kind {case['kind']}")
    check(case["kind"], *found(case, release))


def _model(
    release: str, timing: Timing, *priorities: int, changes: Sequence[type[CountingClock]] = ()
) -> tuple[Concrete, list[Pod]]:
    pods = [Pod(i, f"p{i}", 0, priority, exists=False) for i, priority in enumerate(priorities)]
    spec = ClusterSpec("order", tuple(pods), (Node(0, "n", 0),))
    return Concrete(build_cluster(spec, (*resolve(release).classes, *counted(timing), *changes))), pods


def _less(case: Case, release: str) -> tuple[Any, Any]:
    sides = [case["a"], case["b"]]
    model, (a, b) = _model(release, Timing(), *(side.get("priority") or 0 for side in sides))
    queue, clock = model.part("queue"), model.part("clock")

    def wait() -> None:
        for pod, side in zip((a, b), sides, strict=True):
            clock.timestamp[pod] = nanoseconds(side.get("queued_at"))

    model.do(wait)
    return model.get(lambda: queue.precedes(a, b)), case["expected_a_first"]


def _backoff(case: Case, release: str) -> tuple[Any, Any]:
    changes = backoff_lengths(release)
    model, _ = _model(release, Timing(case["initial_ns"], case["max_ns"]), 0, changes=changes)
    clock = model.part("clock")
    return model.get(lambda: clock.backoff(case["attempts"])), case["expected_ns"]


def _options(case: Case, release: str) -> tuple[Any, Any]:
    default = Timing()
    initial, maximum = case.get("initial_s"), case.get("max_s")
    timing = Timing(
        default.initial_backoff if initial is None else nanoseconds(initial),
        default.max_backoff if maximum is None else nanoseconds(maximum),
    )
    model, _ = _model(release, timing, 0)
    kept = model.part("clock").timing
    expected = [nanoseconds(case["expected_initial_s"]), nanoseconds(case["expected_max_s"])]
    return [kept.initial_backoff, kept.max_backoff], expected
