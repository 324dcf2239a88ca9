"""What becomes of a counterexample where the property holds: its schedule, tried on the other release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from ...checker.trace.cross_system_replay import replay_across
from ...checker.trace.execution import replay
from ...reports.document import Finding
from ...reports.evidence import ShownReplay
from ...scenarios import Scenario
from ..every_cluster import settled_run
from ..request.plan import Run
from ..shown.steps import label_of, memory_of, steps_of
from ..systems import system_of


def with_replays_across_releases(runs: Sequence[Run], findings: Sequence[Finding]) -> list[Finding]:
    """The findings; each that holds knows what becomes of the last counterexample before it, if there was one.

    Only invariants: what a run leads to afterwards cannot be replayed_across. `findings[i]` is what `runs[i]` gave.
    """
    last: dict[tuple[str, str], tuple[Finding, Scenario]] = {}
    found = []
    for run, finding in zip(runs, findings, strict=True):
        key = run.scenario.file, run.property
        if (
            finding.verdict == "VIOLATED"
            and finding.trace
            and finding.no_way_back is None
            and finding.lasso is None
        ):
            last[key] = finding, settled_run(run, finding).scenario
        elif finding.verdict == "HOLDS" and key in last:
            violated, scenario = last[key]
            replayed_across = _replayed_across(replace(run, scenario=scenario), violated)
            finding = msgspec.structs.replace(finding, replayed_across=replayed_across)
        found.append(finding)
    return found


def _replayed_across(run: Run, violated: Finding) -> ShownReplay:
    system = system_of(run)
    tried = replay_across(system, [(label_of(step), step.actor) for step in violated.trace or ()])
    trace = replay(system, tried.path)
    return ShownReplay(
        of=violated.label,
        steps=steps_of(system, trace),
        follows=tuple(None if at is None else at + 1 for at in tried.follows),
        stopped_at=None if tried.stopped_at is None else tried.stopped_at + 1,
        memory=memory_of(system, system.initial),
    )
