"""Random walks: which runs they can do something for, the walks, and the answer in the form that the reports read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..base.problems import UsageProblem
from ..checker.core.result import Seen
from ..checker.core.trace import plain_value
from ..checker.simulate import Walks as Walks
from ..checker.simulate import simulate
from ..reports.answers.walks_report import Values, Walked
from ..reports.verdict_words import verdict_words
from .altered_questions import with_question_noted
from .findings import asked_of, ignored_words, seen_of, silence_of
from .request.method import NOBODY, Watcher
from .request.options import scaled_down
from .request.plan import SAFETY, Run, Selection
from .shown.evidence import evidence_of
from .shown.steps import steps_of
from .systems import system_of


def walkable(runs: Sequence[Run], selection: Selection) -> list[Run]:
    """The runs that walks can do something for, and those that are ignored. Raises UsageProblem where nothing is left."""
    left_out = _left_out(runs)
    for run in runs:
        if run.property in left_out.get(run.scenario.name, ()) and (selection.properties or selection.own):
            raise UsageProblem(
                f"{run.property} is a {run.prop.kind}, and a walk that ends cannot violate it: use `podrace check`"
            )
    chosen = [run for run in runs if run.prop.kind in SAFETY or run.ignored]
    for name, properties in left_out.items():
        if not any(run.scenario.name == name and not run.ignored for run in chosen):
            raise UsageProblem(
                f"{name} asks for {', '.join(properties)}, which no walk that ends can violate: "
                "name a safety property (S-...) with --property, or use `podrace check`"
            )
    return chosen


def _left_out(runs: Sequence[Run]) -> dict[str, list[str]]:
    """Of each scenario, the properties that no walk that ends can violate."""
    found: dict[str, list[str]] = {}
    for run in runs:
        if run.prop.kind not in SAFETY and not run.ignored:
            found.setdefault(run.scenario.name, []).append(run.property)
    return found


def walk_all(
    runs: Sequence[Run], planned: Sequence[Run], walks: Walks, watcher: Watcher = NOBODY
) -> list[Walked]:
    """Walk for each run; each is told which of the `planned` ones in its scenario walks cannot decide."""
    left_out = _left_out(planned)
    found = []
    for number, run in enumerate(runs, 1):
        if run.ignored:
            found.append(ignored(run, walks))
            continue
        count = f"[{number}/{len(runs)}] " if len(runs) > 1 else ""
        watcher.start(f"{count}{run.scenario.name} {run.composition.label} {run.property}")
        others = ", ".join(left_out.get(run.scenario.name, ()))
        note = f"left to `podrace check`, since no walk that ends violates it: {others}"
        found.append(walk(run, walks, (note,) if others else (), _telling(watcher)))
    return found


def _telling(watcher: Watcher) -> Callable[[int, int, float], None]:
    def watch(done: int, steps: int, seconds: float) -> None:
        speed = scaled_down(steps / seconds) if seconds > 0 else "0"
        watcher.say(f"{done:,} walks  {steps:,} steps  {speed} steps/s  {seconds:.0f} s")

    return watch


def walk(
    run: Run,
    walks: Walks,
    notes: tuple[str, ...] = (),
    watch: Callable[[int, int, float], None] | None = None,
) -> Walked:
    """Walk for one property, in a system of its own."""
    system = system_of(run)
    run = with_question_noted(run)
    found = simulate(system, run.property, walks, watch)
    counts, seconds, seen = found.counts.walks, found.counts.seconds or 0.0, found.coverage
    assert counts is not None
    shown = None if found.trace is None else evidence_of(run.scenario.spec, system, found.trace, run.property)
    evidence = ("cluster", "memory", "causes", "counterfactuals")
    return Walked(
        **asked_of(run),
        **seen_of(run, found),
        **_options(walks),
        walks=counts.walks,
        steps=counts.steps,
        resting=counts.resting,
        longest=counts.longest,
        seconds=round(seconds, 3),
        steps_per_second=round(counts.steps / seconds) if seconds > 0 else 0,
        walk=counts.violating,
        met_after=None if counts.violating is None else counts.met_after,
        trace=None if found.trace is None else steps_of(system, found.trace),
        words=verdict_words(found) + silence_of(run),
        notes=(*run.composition.notes, *notes),
        steps_fired=dict(seen.fired),
        values=tuple(_values(one) for one in seen.values),
        **{name: getattr(shown, name) for name in evidence if shown is not None},
    )


def ignored(run: Run, walks: Walks) -> Walked:
    """What is reported of a run that the scenario says is not to be looked at: no walk was taken."""
    return Walked(
        **asked_of(run),
        **_options(walks),
        verdict="IGNORED",
        walks=0,
        steps=0,
        resting=0,
        longest=0,
        seconds=0.0,
        steps_per_second=0,
        words=ignored_words(run),
        notes=run.composition.notes,
    )


def _options(walks: Walks) -> dict[str, Any]:
    return {"seed": walks.seed, "by": walks.by, "max_walks": walks.count, "max_steps": walks.steps}


def _values(seen: Seen) -> Values:
    missing = () if seen.counted else tuple(plain_value(value) for value in seen.missing)
    return Values(seen.variable, len(seen.values), len(seen.values) + len(seen.missing), missing)
