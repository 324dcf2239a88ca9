"""What the survey finds on a release: which properties fail with which fault in which cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from podrace.checker.core.exploration import Budget
from podrace.checker.core.result import Result, Verdict
from podrace.checker.search import check
from podrace.model.environment.objects import ClusterSpec
from podrace.model.history import Composition, resolve
from podrace.model.language import TransitionSystem
from podrace.properties import PROPERTIES, instrument
from tests.survey.clusters import FAULTS, clusters, disturbed

MOST_STATES = 300_000
"""A search that comes to this many states without a violation is passed over."""


@dataclass(frozen=True)
class Found:
    """A property that a release breaks; `steps` counts those of the counterexample, of a lasso with its cycle."""

    release: str
    property_id: str
    fault: str
    spec: ClusterSpec
    result: Result

    @property
    def steps(self) -> int:
        """How long the counterexample is."""
        trace = self.result.trace
        return 0 if trace is None else len(trace.steps)

    @property
    def schedule(self) -> list[tuple[str, str]]:
        """Who takes which step."""
        trace = self.result.trace
        return [] if trace is None else [(step.label, step.actor) for step in trace.steps]


def system_of(spec: ClusterSpec, composition: Composition, *names: str) -> TransitionSystem:
    """The cluster under this scheduler, with these properties."""
    return instrument(spec, composition.classes, [PROPERTIES[name] for name in names])


def decide(spec: ClusterSpec, composition: Composition, name: str, most_states: int = MOST_STATES) -> Result:
    """The verdict on one property."""
    (result,) = check(system_of(spec, composition, name), [name], Budget(max_states=most_states))
    return result


def survey(release: str) -> Iterator[Found]:
    """All that is found on a release: each property with each fault in each cluster."""
    for fault in FAULTS:
        for cluster in clusters():
            spec = disturbed(cluster, fault)
            system = system_of(spec, resolve(release), *PROPERTIES)
            for result in check(system, list(PROPERTIES), Budget(max_states=MOST_STATES)):
                if result.verdict is Verdict.VIOLATED:
                    yield Found(release, result.property_id, fault, spec, result)
