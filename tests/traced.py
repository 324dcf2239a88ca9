"""Systems that are traced once, for all tests of a process that ask for the same one.

The same: of one scenario object (the catalogue is read once), the same changes and the same properties.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from podrace.model.environment.objects import ClusterSpec
from podrace.model.language import Component, TransitionSystem
from podrace.properties import Property, instrument

KEPT = 24
"""So many systems are kept, the last ones that were asked for: the largest has some megabytes."""


def traced(
    spec: ClusterSpec, classes: Sequence[type[Component]], properties: Sequence[type[Property]]
) -> TransitionSystem:
    """What `instrument` gives, traced anew only if it was not asked for lately."""
    return _traced(spec, tuple(classes), tuple(properties))


@lru_cache(maxsize=KEPT)
def _traced(
    spec: ClusterSpec, classes: tuple[type[Component], ...], properties: tuple[type[Property], ...]
) -> TransitionSystem:
    return instrument(spec, classes, properties)
