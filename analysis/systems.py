"""The transition system that a run is about."""

import os
import re
from contextlib import nullcontext
from pathlib import Path

from ..base.problems import NotInRelease, Problem, UsageProblem
from ..checker.trace.fingerprint import fingerprint
from ..model.language import ModelError, TransitionSystem
from ..properties import instrument
from ..scenarios import Scenario
from .request.in_release import refusal_of
from .request.option_files import split_option
from .request.own_code import error_in_words, theirs, what_it_changed
from .request.own_modules import at_line, digest_of, sources_of
from .request.own_properties import file_of, line_of
from .request.plan import Run

_STEADY: set[tuple[str, str, str]] = set()
"""The digests of patches and properties that gave the same system twice, each with the property asked and the file of the scenario."""

MOST_STEADY = 200
"""So many are looked at; a proof has thousands of clusters."""


def system_of(run: Run) -> TransitionSystem:
    """The system of a run on one cluster. A mistake in a property or a patch of the user's own is a UsageProblem.

    Raises Problem for a scenario that leaves numbers open.
    """
    refuse_ranges(run.scenario)
    return traced(run)


def refuse_ranges(scenario: Scenario) -> None:
    """Refuse a scenario that leaves numbers open. Raises Problem."""
    for parameter in scenario.open:
        raise scenario.complaint(
            parameter.name,
            f"the range `{parameter.written}` is for `podrace check` and `podrace test`: write one number here",
            parameter.line,
        )


def traced(run: Run) -> TransitionSystem:
    """The system of a run, with the parameters that its scenario leaves open."""
    if refused := refusal_of(run.scenario, run.composition):
        raise NotInRelease(refused)
    try:
        of_the_user = run.composition.patches or run.own is not None
        with theirs() if of_the_user else nullcontext():
            found = instrument(run.scenario.spec, run.composition.classes, [run.prop])
            own = [] if run.own is None else [run.own]
            known = digest_of([*run.composition.classes, *own]), run.property, run.scenario.file
            if of_the_user and known not in _STEADY and len(_STEADY) < MOST_STEADY:
                again = instrument(run.scenario.spec, run.composition.classes, [run.prop])
                if fingerprint(again) != fingerprint(found):
                    what = run.property if own else "a patch"
                    raise UsageProblem(
                        f"{_files_of(run)}: {run.composition.label} is another system each time: {what} must not depend on chance, on time or on what ran before"
                    )
                _STEADY.add(known)
        if of_the_user and (changed := what_it_changed()):
            raise UsageProblem(f"{_files_of(run)}: {changed}")
        return found
    except (Problem, KeyboardInterrupt):
        raise
    except BaseException as error:
        patches = run.composition.patches
        where = next((at for p in patches if (at := at_line(split_option(p.source)[0], error))), None)
        what = str(error) if isinstance(error, ModelError) else error_in_words(error)
        if run.own is not None and where is None and sources_of(run.own):
            file = file_of(run.own)
            at = at_line(file, error) or line_of(run.own)
            said = re.sub(r"^\S+\.py:\d+: ", "", what)  # the place stands in front
            raise UsageProblem(
                f"--properties: {_shown(file)}: {at}{run.property} cannot be built: {said}"
            ) from error
        if not patches:
            raise
        sources = ", ".join(patch.place for patch in patches)
        raise UsageProblem(
            f"{sources}: {where or ''}{run.composition.label} cannot be built: {what}"
        ) from error


def _files_of(run: Run) -> str:
    own = [] if run.own is None else [f"--properties: {_shown(file_of(run.own))}"]
    return ", ".join([*own, *(patch.place for patch in run.composition.patches)])


def _shown(file: Path) -> str:
    """How messages name a file of the user's: relative to the working directory where it is below that."""
    relative = Path(os.path.relpath(file)).as_posix()
    return str(file) if relative.startswith("..") else relative
