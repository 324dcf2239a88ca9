"""`podrace synthesize`: the smallest cluster that breaks a property, found with Z3, as a scenario and a counterexample."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..analysis.execute import scope_of, steps_of
from ..analysis.files import beside, write_text
from ..analysis.narration.words import SCHEDULER_WORDS
from ..analysis.options import UsageProblem, parse_fix, parse_property, parse_release
from ..analysis.plan import compose
from ..analysis.scopes import parse_scope
from ..checker.symbolic.synthesis import Example, Shape, Synthesis
from ..checker.verdict import counted
from ..model.environment.objects import Scope
from ..model.history import CHANGES, RELEASES, Composition
from ..model.language import all_of
from ..model.language.expr import fresh_graph
from ..properties import PROPERTIES, instrument
from ..reports.document import Finding, Fixes, Step, Word
from ..reports.synthesis import print_coverage, print_example
from ..scenarios.template import (
    ClusterTemplate,
    Limits,
    ParametricCluster,
    concrete,
    instantiate,
    sizes,
    templates,
)
from ..scenarios.writing import scenario_text
from .console import message_console, result_console, tolerant_of_closed_pipes
from .progress import ProgressDisplay
from .simulate import WALKABLE

VIOLATED, INCONCLUSIVE = 1, 3


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
) -> Wanted:
    """What the options ask for. Raises UsageProblem or ScenarioError."""
    identifier = parse_property(property_, list(PROPERTIES))
    kind = PROPERTIES[identifier].kind
    if kind not in WALKABLE:
        raise UsageProblem(
            f"{identifier} is a {kind}, and no run that ends can violate it: name a safety property (S-...)"
        )
    composition = compose(
        parse_release(release, RELEASES) if release is not None else RELEASES[-1],
        [parse_fix(name, list(CHANGES)) for name in with_fixes],
        [parse_fix(name, list(CHANGES)) for name in without_fixes],
    )
    return Wanted(pods, nodes, composition, identifier, steps, parse_scope(bounds))


def synthesize(asked: Wanted, output: Path | None, no_color: bool) -> int:
    """Carry out a whole `podrace synthesize`; gives the exit code."""
    if output is not None and (output.is_dir() or not output.parent.is_dir()):
        raise UsageProblem(f"-o: cannot write `{output}`: name a file in a directory that exists")
    found = 0
    started = time.monotonic()
    console, messages = result_console(no_color), message_console(no_color)
    with tolerant_of_closed_pipes(), ProgressDisplay(messages) as display:
        search = Search(asked, display)
        for template, example in search:
            found += 1
            text = search.scenario(template, example, found)
            if output is not None:
                target = beside(output, found)
                write_text("-o", target, text)
                messages.print(f"wrote {target}: `podrace check` runs it", soft_wrap=True)
            cluster = [line for line in text.splitlines() if not line.startswith(("#", "name:", "title:"))]
            print_example(console, search.finding(template, example), cluster, SCHEDULER_WORDS)
        if not found or asked.every:
            print_coverage(console, search.coverage(found, time.monotonic() - started))
    return VIOLATED if found else INCONCLUSIVE


class Search:
    """Size by size, the smaller first; of the first size with a violation, one cluster or every kind of cluster."""

    def __init__(self, asked: Wanted, display: ProgressDisplay) -> None:
        self.asked, self._display = asked, display
        self._deadline = None if asked.timeout is None else time.monotonic() + asked.timeout
        self._traced: dict[int, Shape] = {}
        self.cleared: list[tuple[tuple[int, int], int, str]] = []

    def __iter__(self) -> Iterator[tuple[ClusterTemplate, Example]]:
        for size in sizes(self.asked.pods, self.asked.nodes):
            like = ClusterTemplate(
                (), 0, graceful=False, limits=Limits.small(size[0]), scope=self.asked.scope
            )
            found = list(templates(*size, like))
            self._display.start(f"{counted(size[0], 'pod')}, {counted(size[1], 'node')}")
            shapes = [self._shape(instantiate(template)) for template in found]
            search = Synthesis(
                shapes,
                self.asked.property,
                self.asked.steps,
                deadline=self._deadline,
                watch=lambda depth: self._display.say(f"runs of {depth} steps"),
            )
            some = False
            for example in search:
                some = True
                self._traced[id(example)] = shapes[example.shape]
                yield found[example.shape], example
                if not self.asked.every:
                    return
            self.cleared.append((size, search.clear, search.stopped))
            if some or search.stopped not in ("steps", "harmless"):
                return

    def _shape(self, unknown: ParametricCluster) -> Shape:
        system = instrument(unknown.spec, self.asked.composition.classes, [PROPERTIES[self.asked.property]])
        with fresh_graph():
            assumed = all_of([*unknown.assumptions(), *(~e for e in unknown.oversize())])
        return Shape(system, assumed, tuple(unknown.renamings()))

    def scenario(self, template: ClusterTemplate, example: Example, number: int) -> str:
        """The scenario file of an example."""
        steps = counted(len(example.trace.steps), "step")
        composition, prop = self.asked.composition, self.asked.property
        options = [f" --with-fix {key}" for key in composition.added]
        options += [f" --without-fix {key}" for key in composition.removed]
        return scenario_text(
            concrete(template, example.quantities),
            name=f"{prop.lower()}-{template.pods}-pods-{len(template.bound)}-nodes-{number}",
            title=f"{prop} is violated after {steps}",
            release=composition.release,
            properties=[prop],
            comment=f"Found by podrace synthesize on {composition.label}. To see it: podrace check FILE{''.join(options)}",
        )

    def finding(self, template: ClusterTemplate, example: Example) -> Finding:
        """An example as the reports know it."""
        trace = example.trace
        steps = counted(len(trace.steps), "step")
        size = f"{counted(template.pods, 'pod')} and {counted(len(template.bound), 'node')}"
        words = f"Violated after {steps}. With {size}, no run is shorter, whatever the sizes and priorities"
        words += (
            ", except in the clusters above."
            if self.asked.every
            else ", and of the clusters with one as short none has a smaller sum of all numbers."
        )
        return self._finding(
            "VIOLATED",
            words,
            scenario=f"{size}",
            trace=steps_of(self._traced[id(example)].system, trace),
            depth=len(trace.steps),
        )

    def coverage(self, found: int, seconds: float) -> Finding:
        """How far the search went."""
        said = []
        for (pods, nodes), clear, stopped in self.cleared:
            size = f"{counted(pods, 'pod')} and {counted(nodes, 'node')}"
            more = "no further violation" if found else "no violation"
            if stopped == "harmless":
                said.append(f"{size}: no run of any length can violate it")
            elif clear < 0:
                said.append(f"{size}: nothing is known ({stopped})")
            else:
                ended = "" if stopped == "steps" else f", then stopped ({stopped})"
                said.append(f"{size}: {more} within {counted(clear, 'step')}{ended}")
        ranges = Limits.small(self.asked.pods).words
        said.append(f"Covered are all {ranges}, and nothing beyond these steps.")
        return self._finding(
            "VIOLATED" if found else "INCONCLUSIVE", "; ".join(said[:-1]) + ". " + said[-1], seconds=seconds
        )

    def _finding(
        self,
        verdict: Word,
        words: str,
        *,
        scenario: str = "",
        trace: tuple[Step, ...] | None = None,
        depth: int = 0,
        seconds: float = 0.0,
    ) -> Finding:
        composition, prop = self.asked.composition, PROPERTIES[self.asked.property]
        return Finding(
            scenario=scenario,
            release=composition.release,
            fixes=Fixes(composition.added, composition.removed),
            property=self.asked.property,
            verdict=verdict,
            states=0,
            transitions=0,
            depth=depth,
            seconds=round(seconds, 3),
            trace=trace,
            words=words,
            notes=composition.notes,
            sentence=prop.sentence(),
            issues=prop.issues,
            scope=scope_of(self.asked.scope),
        )
