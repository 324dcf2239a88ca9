"""What reports say of the version of the scheduler that a verdict is about."""

import msgspec

from ..model.history import Composition
from ..model.history.versions import NOT_YET, Reading, exact, reading_of
from ..model.history.versions.gates import on_and_unmodelled
from ..reports.scheduler_version import ReadVersion


def version_of(composition: Composition) -> ReadVersion:
    """The version that a composition begins with."""
    return version_named(composition.release)


def version_named(release: str) -> ReadVersion:
    """What is known of a version by its name in the model."""
    return ReadVersion(
        exact(release),
        "whole" if reading_of(release) is Reading.WHOLE else "changes",
        on_and_unmodelled(release),
        NOT_YET.get(release, msgspec.UNSET),
    )
