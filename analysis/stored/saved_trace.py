"""From the finding of a run to a trace that can be stored."""

from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version

import msgspec

from ...checker.trace.fingerprint import fingerprint
from ...model.history.versions import exact
from ...reports.document import Finding
from ...reports.step import ShownStep
from ...reports.stored import StoredLasso, StoredScenario, StoredStep, StoredTrace
from ..ask.asked_property import AskedProperty
from ..every_cluster import settled_run
from ..findings import fixes_of
from ..request.plan import Run, at_any_time, race_fixes
from ..systems import system_of


def stored_trace(run: Run, finding: Finding) -> StoredTrace:
    """The counterexample of a violated finding. Raises ValueError if it has none.

    Of a resettability, the run into the state with no way back; what may follow is no part of the counterexample.
    """
    if finding.trace is None:
        raise ValueError(
            f"{finding.scenario}, {finding.label}: {finding.property} has no counterexample to store"
        )
    lasso = finding.lasso
    steps = finding.trace if lasso is None else (*finding.trace, *finding.cycle)
    return stored_run(
        settled_run(run, finding), steps, StoredLasso(lasso.case, lasso.turn) if lasso is not None else None
    )


def stored_run(run: Run, steps: Sequence[ShownStep], lasso: StoredLasso | None = None) -> StoredTrace:
    """These steps as a run of the system that the run is about, where minutes may pass at any moment."""
    run = replace(run, scenario=at_any_time(run.scenario))
    return StoredTrace(
        scenario=StoredScenario(
            name=run.scenario.name,
            file=run.scenario.file,
            text=run.scenario.text,
            fair_flush=run.scenario.spec.scope.fair_flush,
        ),
        release=exact(run.composition.release),
        fixes=fixes_of(run.composition),
        property=run.property,
        steps=tuple(StoredStep(f"{step.component}.{step.step}", step.args) for step in steps),
        lasso=lasso,
        fixed_by=_fixes(run),
        podrace=version("podrace"),
        fingerprint=fingerprint(system_of(run)),
        asks=run.prop.question.items if issubclass(run.prop, AskedProperty) else msgspec.UNSET,
    )


def _fixes(run: Run) -> tuple[str, ...]:
    """What is known to make this property hold in this scenario, less what is in already."""
    race = run.scenario.race
    if race is None:
        return ()
    known = race_fixes(run.scenario)
    if race.residual is not None and run.property == race.residual.property:
        known = (*known, *race.residual.closed_by)
    missing = {change.key for change in run.composition.missing}
    return tuple(key for key in known if key in missing)
