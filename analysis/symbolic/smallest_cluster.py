"""The smallest cluster that breaks a property, found with Z3, as a scenario and a counterexample."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ...base.problems import UsageProblem
from ...base.text import counted
from ...checker.symbolic.synthesis import ChoiceShape, Example, Synthesis
from ...model.environment.objects import Scope
from ...model.history import CHANGES, Composition
from ...model.history.versions import exact
from ...model.language import TransitionSystem, all_of
from ...model.language.expressions.expr import fresh_graph
from ...properties import PROPERTIES, instrument
from ...reports.answers.synthesis_report import SmallestCluster, SynthesisCoverage
from ...scenarios.template import (
    ClusterTemplate,
    Limits,
    ParametricCluster,
    concrete,
    instantiate,
    sizes,
    templates,
)
from ...scenarios.writing import Unwritable, scenario_text
from ..request.method import NOBODY, Watcher
from ..request.options import parse_fix, parse_gates, parse_property
from ..request.plan import SAFETY, compose, parse_scope, release_of
from ..scheduler_version import version_of
from ..shown.steps import steps_of


@dataclass(frozen=True)
class Wanted:
    """What is to be found: in which clusters, on what release, breaking what, within how many steps."""

    pods: int
    nodes: int
    composition: Composition
    property: str
    steps: int
    scope: Scope = field(default_factory=Scope)
    every: bool = False
    timeout: float | None = None


def wanted(
    pods: int,
    nodes: int,
    release: str | None,
    with_fixes: Sequence[str],
    without_fixes: Sequence[str],
    property_: str,
    steps: int,
    bounds: Sequence[str],
    gates: Sequence[str] = (),
) -> Wanted:
    """What the options ask for. Raises Problem."""
    identifier = parse_property(property_, list(PROPERTIES))
    kind = PROPERTIES[identifier].kind
    if kind not in SAFETY:
        raise UsageProblem(
            f"{identifier} is a {kind}, and no run that ends can violate it: name a safety property (S-...)"
        )
    composition = compose(
        release_of(release),
        [parse_fix(name, list(CHANGES)) for name in with_fixes],
        [parse_fix(name, list(CHANGES)) for name in without_fixes],
        parse_gates(gates),
    )
    return Wanted(pods, nodes, composition, identifier, steps, parse_scope(bounds))


class ClusterSearch:
    """Size by size, the smaller first; of the first size with a violation, one cluster or every kind of cluster.

    Iterate over it for the clusters; `found` counts them, and afterwards `coverage` says how far the search went.
    """

    def __init__(self, asked: Wanted, watcher: Watcher = NOBODY) -> None:
        self.asked, self._watcher = asked, watcher
        self._began = time.monotonic()
        self._deadline = None if asked.timeout is None else self._began + asked.timeout
        self._cleared: list[tuple[str, int, str]] = []
        self.found = 0

    def __iter__(self) -> Iterator[SmallestCluster]:
        for pods, nodes in sizes(self.asked.pods, self.asked.nodes):
            like = ClusterTemplate((), 0, graceful=False, limits=Limits.small(pods), scope=self.asked.scope)
            found = list(templates(pods, nodes, like))
            self._watcher.start(f"{counted(pods, 'pod')}, {counted(nodes, 'node')}")
            shapes = [self._shape(instantiate(template)) for template in found]
            search = Synthesis(
                shapes,
                self.asked.property,
                self.asked.steps,
                deadline=self._deadline,
                watch=lambda depth: self._watcher.say(f"runs of {depth} steps"),
            )
            some = False
            for example in search:
                some = True
                self.found += 1
                yield self._example(found[example.shape], shapes[example.shape].system, example)
                if not self.asked.every:
                    return
            self._cleared.append((_size(pods, nodes), search.clear, search.stopped))
            if some or search.stopped not in ("steps", "harmless"):
                return

    def _shape(self, unknown: ParametricCluster) -> ChoiceShape:
        system = instrument(unknown.spec, self.asked.composition.classes, [PROPERTIES[self.asked.property]])
        with fresh_graph():
            assumed = all_of([*unknown.assumptions(), *(~e for e in unknown.oversize())])
        return ChoiceShape(system, assumed, tuple(unknown.renamings()))

    def _example(
        self, template: ClusterTemplate, system: TransitionSystem, example: Example
    ) -> SmallestCluster:
        steps = counted(len(example.trace.steps), "step")
        size = _size(template.pods, len(template.bound))
        composition, prop = self.asked.composition, self.asked.property
        smallest = (
            "except in the clusters above."
            if self.asked.every
            else "and of the clusters with one as short none has a smaller sum of all numbers."
        )
        return SmallestCluster(
            heading=f"{size}, {composition.label}: {prop}",
            sentence=f"{prop}: {PROPERTIES[prop].sentence()}",
            issues=PROPERTIES[prop].issues,
            words=f"Violated after {steps}. With {size}, no run is shorter, whatever the sizes and priorities, {smallest}",
            steps=steps_of(system, example.trace),
            version=version_of(composition),
            scenario=self._written(template, example, steps),
        )

    def _written(self, template: ClusterTemplate, example: Example, steps: str) -> str:
        composition, prop = self.asked.composition, self.asked.property
        options = [f" --with-fix {key}" for key in composition.added]
        options += [f" --without-fix {key}" for key in composition.removed]
        try:
            return scenario_text(
                concrete(template, example.parameters),
                name=f"{prop.lower()}-{template.pods}-pods-{len(template.bound)}-nodes-{self.found}",
                title=f"{prop} is violated after {steps}",
                release=exact(composition.release),
                properties=[prop],
                gates=composition.gates,
                comment=f"Found by podrace synthesize on {composition.label}. To see it: podrace check FILE{''.join(options)}",
            )
        except Unwritable as problem:
            raise UsageProblem(str(problem)) from None

    def coverage(self) -> SynthesisCoverage:
        """How far the search went."""
        said = []
        for size, clear, stopped in self._cleared:
            more = "no further violation" if self.found else "no violation"
            if stopped == "harmless":
                said.append(f"{size}: no run of any length can violate it")
            elif clear < 0:
                said.append(f"{size}: nothing is known ({stopped})")
            else:
                ended = "" if stopped == "steps" else f", then stopped ({stopped})"
                said.append(f"{size}: {more} within {counted(clear, 'step')}{ended}")
        ranges = Limits.small(self.asked.pods).words
        composition = self.asked.composition
        return SynthesisCoverage(
            heading=f"{composition.label}: {self.asked.property}",
            verdict="VIOLATED" if self.found else "INCONCLUSIVE",
            words=f"{'; '.join(said)}. Covered are all {ranges}, and nothing beyond these steps.",
            seconds=round(time.monotonic() - self._began, 3),
            notes=composition.notes,
            version=version_of(composition),
        )


def _size(pods: int, nodes: int) -> str:
    return f"{counted(pods, 'pod')} and {counted(nodes, 'node')}"
